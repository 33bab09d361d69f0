#!/usr/bin/env python3
"""How fast `tune` tries variants, and whether it finds the same winner again.

    python3 benches/tuning.py rate TEML [--old TEML] [--rounds N]
    python3 benches/tuning.py winners TEML [--rounds N] [--trials N] [FILE ...]
    python3 benches/tuning.py against TEML [--trials N] [FILE ...]

`rate` times 48 tilings of a matrix product and of mttkrp with `measure` and with `tune`, in turn, each
time from an empty compile cache. `--old` names another build for `measure`. Times are of whole
processes: start, reference, compiler, finals.

`winners` runs each search twice a round, with seeds that no other run has, and compares what they name:
one winner, a tie that one of them declares, or two. Without files, they search the same 48 tilings.
With files, such as benches/spaces/mm.rhai, searches may try other points. It ends with status 1 if two
winners differ.

`against` compares what `autotune` finds for the nest `naive` of each script with
`schedules::optimize(naive)`, both in one run. Without files, these are the scripts in scripts/autotune
and some of PolyBench. It ends with status 1 if `autotune` finds another nest that is slower by more than
the spread of its times, and by more than 2 %.
"""

import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

PRODUCT = """
let A = tensor([512, 512]);
let B = tensor([512, 512]);
init(A, random(1));
init(B, random(2));
let C = contract(A, B, [2, 1]);
let naive = build(C);
let space = #{rows: [2, 4, 6, 8], columns: [64, 128, 256], terms: [64, 256], unrolled: [4, 8]};
let tiled = |p| naive
    .stripmine("i1", p.rows)
    .stripmine("i2", p.columns)
    .stripmine("i3", p.terms)
    .stripmine("i3_i", p.unrolled)
    .reorder(["i2_o", "i3_o", "i1_o", "i3_i_o", "i2_i", "i1_i", "i3_i_i"])
    .parallelize("i2_o")
    .vectorize("i2_i");
"""

MTTKRP = """
let B = tensor([96, 96, 96]);
let C = tensor([96, 96]);
let D = tensor([96, 96]);
init(B, random(1));
init(C, random(2));
init(D, random(3));
let A = einsum("ikl,lj,kj->ij", B, D, C);
let naive = build(A);
reductions("reassoc");
let space = #{rows: [2, 4, 6, 8], columns: [16, 32, 96], terms: [16, 32], unrolled: [2, 4]};
let tiled = |p| naive
    .stripmine("i", p.rows)
    .stripmine("j", p.columns)
    .stripmine("l", p.terms)
    .stripmine("l_i", p.unrolled)
    .reorder(["i_o", "j_o", "k", "l_o", "l_i_o", "j_i", "i_i", "l_i_i"])
    .parallelize("i_o")
    .vectorize("j_i");
"""

MEASURE = """
let all = [];
for a in space.rows { for b in space.columns { for c in space.terms { for d in space.unrolled {
    all.push(tiled.call(#{rows: a, columns: b, terms: c, unrolled: d}));
} } } }
print(measure(all).len());
"""

TUNE = """
tune(space, tiled, #{search: "exhaustive", trials: 48});
"""


def run(teml, arguments, cache):
    """What a run prints, and how long it takes."""
    environment = dict(os.environ, TEML_CACHE_DIR=str(cache))
    begun = time.monotonic()
    done = subprocess.run(
        [teml, *arguments], env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        sys.exit(f"{' '.join(arguments)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout, time.monotonic() - begun


def rate(options):
    print("| kernel | search | seconds | variants per second | of the search | compiling |")
    print("|---|---|---|---|---|---|")
    for name, kernel in [("mm", PRODUCT), ("mttkrp", MTTKRP)]:
        found = {"measure": [], "tune": []}
        told = []
        for _ in range(options.rounds):
            for search, how in [("measure", MEASURE), ("tune", TUNE)]:
                teml = (options.old or options.teml) if search == "measure" else options.teml
                with tempfile.TemporaryDirectory() as place:
                    script = pathlib.Path(place) / "script.rhai"
                    script.write_text(kernel + how)
                    printed, seconds = run(teml, ["run", str(script)], f"{place}/cache")
                found[search].append(seconds)
                line = re.search(r"tuned: 48 trials in .*\((.*)/s, (.*) % of it", printed)
                if line:
                    told.append((float(line[1]), float(line[2])))
        for search, times in found.items():
            middle = statistics.median(times)
            ends = [f"{statistics.median(k):.1f}" for k in zip(*told)] if search == "tune" else ["", ""]
            share = f"{ends[1]} %" if ends[1] else ""
            print(f"| {name} | `{search}` | {middle:.1f} | {48 / middle:.1f} | {ends[0]} | {share} |")
        ratio = [old / new for old, new in zip(found["measure"], found["tune"])]
        rates = [rate * old / 48 for (rate, _), old in zip(told, found["measure"])]
        print()
        for what, ratios in [("the search", rates), ("with start, reference and finals, `tune`", ratio)]:
            ends = f"{min(ratios):.1f} to {max(ratios):.1f} in {options.rounds} rounds"
            print(f"{name}: {what} is {statistics.median(ratios):.1f} times as fast ({ends})")
        print(flush=True)


def winner(options, file, seed, place):
    """The winner of a search, as it was recorded."""
    records = place / f"{seed}.jsonl"
    # What one run has found must not be known to the next.
    (place / "winners.jsonl").unlink(missing_ok=True)
    arguments = ["tune", str(file), "--search", "model", "--seed", str(seed)]
    arguments += ["--trials", str(options.trials), "--records", str(records)]
    run(options.teml, arguments + options.more, place)
    lines = [json.loads(line) for line in records.read_text().splitlines()]
    return next(line for line in lines if line["kind"] == "winner")


def winners(options):
    differ = 0
    seed = options.seed
    for file in options.files or [PRODUCT, MTTKRP]:
        with tempfile.TemporaryDirectory() as directory:
            if not options.files:
                name = "mttkrp" if file == MTTKRP else "mm"
                text, file = file, pathlib.Path(directory) / f"{name}.rhai"
                file.write_text(text + TUNE)
            for number in range(options.rounds):
                pair = [winner(options, file, seed + k, pathlib.Path(directory)) for k in range(2)]
                seed += 2
                first, second = pair
                tied = second["parameters"] in first.get("ties", [])
                tied |= first["parameters"] in second.get("ties", [])
                if first["variant"] == second["variant"]:
                    verdict = "same winner"
                elif tied:
                    verdict = "declared tie"
                else:
                    verdict = "two winners"
                    differ += 1
                print(f"{pathlib.Path(file).stem} {number + 1}: {verdict}")
                for one in pair:
                    least = 1e3 * min(one["runs"])
                    ties = len(one.get("ties", []))
                    print(f"    seed {one['seed']}: {least:.3f} ms, {ties} ties, {one['parameters']}")
                sys.stdout.flush()
    sys.exit(1 if differ else 0)


HERE = pathlib.Path(__file__).resolve().parent.parent / "scripts"


def against(options):
    files = [pathlib.Path(file) for file in options.files] or [
        *sorted((HERE / "autotune").glob("*.rhai")),
        *[HERE / "polybench" / f"{name}.rhai" for name in ["2mm", "doitgen", "gemver", "jacobi-2d"]],
    ]
    print("| script | naive | optimize | autotune | autotune is faster by | trials per second |")
    print("|---|---|---|---|---|---|")
    slower = 0
    for file in files:
        lines = file.read_text().splitlines()
        # Only what makes the nest.
        last = max(k for k, line in enumerate(lines) if line.startswith("let naive = "))
        end = next(k for k in range(last, len(lines)) if lines[k].rstrip().endswith(";"))
        kept = lines[: end + 1] + [line for line in lines[end:] if line.startswith("reductions(")]
        kept += [
            f"let best = autotune(naive, #{{trials: {options.trials}}}).nest.named(\"tuned\");",
            'let known = schedules::optimize(naive).named("optimized");',
            "let told = |rows| for row in rows { print(`row ${row.name} ${row.min} ${row.spread}`); };",
            "let text = |n| if type_of(n) == \"array\" { n.map(|one| `${one}`) } else { [`${n}`] };",
            "print(`found ${if text.call(best) == text.call(known) { \"that\" } else { \"another\" }}`);",
            "told.call(compare([named(naive, \"naive\"), known, best]));",
            # Each comparison has other memory, which makes a tenth of difference for some kernels.
            f"for k in 1..{options.times} {{ told.call(compare([known, best])); }}",
        ]
        with tempfile.TemporaryDirectory() as place:
            script = pathlib.Path(place) / file.name
            script.write_text("\n".join(kept))
            printed, _ = run(options.teml, ["run", str(script)], f"{place}/cache")
        rows = {}
        for line in printed.splitlines():
            found = re.match(r"row (\w+) (\S+) (\S+)", line)
            if found:
                rows.setdefault(found[1], []).append((float(found[2]), float(found[3])))
        ratios = [old[0] / new[0] for old, new in zip(rows["optimized"], rows["tuned"])]
        rows = {name: sorted(times)[len(times) // 2] for name, times in rows.items()}
        told = re.search(r"tuned: .*\((.*)/s", printed)
        naive, known, best = (rows[name] for name in ["naive", "optimized", "tuned"])
        faster = statistics.median(ratios)
        same = "found that" in printed
        slower += not same and 1 / faster > 1.02 + max(best[1], known[1])
        times = " | ".join(f"{1e3 * time:.2f} ms" for time, _ in [naive, known, best])
        rate = told[1] if told else ""
        shown = f"{faster:.2f} ({min(ratios):.2f} to {max(ratios):.2f})" + ", the same nest" * same
        print(f"| {file.stem} | {times} | {shown} | {rate} |", flush=True)
    sys.exit(1 if slower else 0)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True)
    rates = commands.add_parser("rate")
    rates.add_argument("teml")
    rates.add_argument("--old")
    rates.add_argument("--rounds", type=int, default=3)
    rates.set_defaults(call=rate)
    names = commands.add_parser("winners")
    names.add_argument("teml")
    names.add_argument("files", nargs="*", metavar="FILE")
    names.add_argument("--rounds", type=int, default=5)
    names.add_argument("--trials", type=int, default=100)
    names.add_argument("--seed", type=int, default=1)
    names.add_argument("--more", nargs="*", default=[], help="more options of `teml tune`")
    names.set_defaults(call=winners)
    both = commands.add_parser("against")
    both.add_argument("teml")
    both.add_argument("files", nargs="*", metavar="FILE")
    both.add_argument("--trials", type=int, default=200)
    both.add_argument("--times", type=int, default=5, help="how often the two are compared")
    both.set_defaults(call=against)
    options = parser.parse_args()
    options.call(options)


if __name__ == "__main__":
    main()
