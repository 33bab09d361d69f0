"""`tune`: the fastest of the variants that a Python function makes."""

import random

from .engine import Refusal
from .values import Record, evaluate

_MOST = 2000


def tune(space, variant, **options):
    """Searches a space of parameters for the fastest variant:
    `teml.tune({"rows": [2, 4, 8]}, lambda p: naive.tile(["i"], [p.rows]))`.

    A space is a map of lists, or of functions of the parameters before. `variant` makes a nest or
    a list of nests of a point; None and refusals leave it out. The search is that of scripts, with
    its options: `trials`, `seconds`, `search`, `seed`. Of a space with more than 2000 points, some
    are drawn.
    """
    points, nests, refused = [], [], {}
    for point in _points(space, options.get("seed", 1)):
        try:
            made = variant(point)
        except Refusal as refusal:
            refused[refusal.message] = refused.get(refusal.message, 0) + 1
            continue
        if made is not None:
            points.append(point)
            nests.append(made)
    if not points:
        why = "; ".join(refused) or "the variant function returned None for all points"
        raise Refusal(f"tune: no point of the space has a variant: {why}")
    labels = [", ".join(f"{name} = {value}" for name, value in point.items()) for point in points]
    by_label = dict(zip(labels, nests))
    found = evaluate(
        "tune(#{{point: {}}}, |p| {}[p.point], {})",
        list(by_label),
        by_label,
        options,
        variable="found",
    )
    chosen = [found["parameters"]["point"], *(tie["point"] for tie in found["ties"])]
    parameters, *ties = [points[labels.index(label)] for label in chosen]
    refused.update(found["refused"])
    return Record(found, parameters=parameters, ties=ties, refused=Record(refused))


def _points(space, seed):
    """The points of a space, in its order."""
    count, points = 0, [Record()]
    for name, values in space.items():
        points = [
            Record(point, **{name: value})
            for point in points
            for value in (values(point) if callable(values) else values)
        ]
        count = len(points)
        if count > 50 * _MOST:
            break
    if len(points) <= _MOST:
        return points
    first, *others = points
    drawn = random.Random(seed).sample(range(len(others)), _MOST - 1)
    return [first, *(others[k] for k in sorted(drawn))]
