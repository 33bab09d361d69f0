"""Random steps, as calls in a script whose loops and tensors are picked where the script runs."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from .definitions import Program
from .expressions import Reduce


@dataclass(frozen=True)
class Step:
    """A call. In its text, `@0`, `@1`, … are picks: a loop or a tensor of the nest as it is then."""

    op: str
    # On one nest (`nest`), on two that follow each other (`first`, `second`), or on all (`nests`).
    arity: str
    text: str
    picks: tuple[tuple[str, int], ...] = ()
    # Which of the nests.
    place: int = 0

    def line(self, names: list[str] | None = None) -> str:
        """The script's line. Picks are the names given, if there are enough of them."""
        text = self.text
        for k, (kind, number) in reversed(list(enumerate(self.picks))):
            if names is not None and k < len(names):
                pick = f'"{names[k]}"' if kind != "whole" else names[k]
            else:
                nest = {"one": "nest", "two": "second", "all": "nests[0]"}[self.arity]
                if kind.endswith("first"):
                    nest, kind = "first", kind.removesuffix("-first")
                pick = f"pick_{kind}({nest}, {number})"
            text = text.replace(f"@{k}", pick)
        match self.arity:
            case "one":
                return f'PLAN = on_one(PLAN, {self.place}, CHECKED, "{self.op}", |nest| {text});'
            case "two":
                return (
                    f'PLAN = on_two(PLAN, {self.place}, CHECKED, "{self.op}", |first, second| {text});'
                )
            case _:
                return f'PLAN = on_all(PLAN, CHECKED, "{self.op}", |nests| {text});'


# Functions that the script has.
PRELUDE = """
fn pick_loop(nest, number) {
    let names = find_loops(nest);
    if names.is_empty() { throw "nothing to pick"; }
    let name = names[number % names.len()];
    print("@pick " + name);
    name
}
fn pick_inner(nest, number) {
    let names = find_loops(nest, "innermost");
    if names.is_empty() { throw "nothing to pick"; }
    let name = names[number % names.len()];
    print("@pick " + name);
    name
}
fn pick_tensor(nest, number) {
    let names = [];
    for access in accesses(nest) {
        if !names.contains(access.tensor) { names.push(access.tensor); }
    }
    if names.is_empty() { throw "nothing to pick"; }
    let name = names[number % names.len()];
    print("@pick " + name);
    name
}
fn pick_written(nest, number) {
    let names = [];
    for access in accesses(nest) {
        if access.write && !names.contains(access.tensor) { names.push(access.tensor); }
    }
    if names.is_empty() { throw "nothing to pick"; }
    let name = names[number % names.len()];
    print("@pick " + name);
    name
}
fn pick_local(nest, number) {
    let names = [];
    for access in accesses(nest) {
        let known = access.tensor;
        // Tensors of this script have names with two capitals and an underscore.
        let is_local = known.contains("_pack") || known.contains("_tile") || known.len() > 6;
        if is_local && !names.contains(known) { names.push(known); }
    }
    if names.is_empty() { throw "nothing to pick"; }
    let name = names[number % names.len()];
    print("@pick " + name);
    name
}
fn pick_reduced(nest, number) {
    let moved = [];
    for access in accesses(nest) {
        if access.update { for dimension in access.loops { moved += dimension; } }
    }
    let names = find_loops(nest).filter(|name| !moved.contains(name));
    if names.is_empty() { throw "nothing to pick"; }
    let name = names[number % names.len()];
    print("@pick " + name);
    name
}
fn pick_passed(nest, number) {
    let names = [];
    let written = [];
    for access in accesses(nest) {
        if access.write { written.push(access.tensor); }
        else if written.contains(access.tensor) && !names.contains(access.tensor) { names.push(access.tensor); }
    }
    if names.is_empty() { throw "nothing to pick"; }
    let name = names[number % names.len()];
    print("@pick " + name);
    name
}
fn neighbors(nest) {
    let last = #{};
    let found = [];
    for name in find_loops(nest) {
        let around = loops(nest, name);
        let outside = "/" + if around.len() > 1 { around[around.len() - 2] } else { "" };
        if outside in last { found.push([last[outside], name]); }
        last[outside] = name;
    }
    found
}
fn pick_neighbor(nest, number) {
    let found = neighbors(nest);
    if found.is_empty() { throw "nothing to pick"; }
    let name = found[number / 2 % found.len()][number % 2];
    print("@pick " + name);
    name
}
fn pick_branching(nest, number) {
    let found = neighbors(nest).filter(|pair| loops(nest, pair[0]).len() > 1);
    if found.is_empty() { throw "nothing to pick"; }
    let around = loops(nest, found[number % found.len()][0]);
    let name = around[around.len() - 2];
    print("@pick " + name);
    name
}
fn said(failure) {
    let text = if type_of(failure) == "string" { failure } else { `${failure}` };
    text.replace("\\n", " | ");
    text
}
fn judged(plan, changed, checked, op) {
    if checked {
        let verdict = check(changed);
        if verdict.legal != true {
            let message = verdict.message;
            message.replace("\\n", " | ");
            print(`@illegal ${op} ${message}`);
            return plan;
        }
    }
    print(`@ok ${op}`);
    changed
}
fn on_one(plan, place, checked, op, action) {
    print(`@step ${op}`);
    try {
        let changed = plan;
        let at = place % plan.len();
        changed[at] = action.call(plan[at]);
        return judged(plan, changed, checked, op);
    } catch (failure) {
        print(`@no ${op} ${said(failure)}`);
    }
    plan
}
fn on_two(plan, place, checked, op, action) {
    print(`@step ${op}`);
    if plan.len() < 2 {
        print(`@no ${op} nothing to pick`);
        return plan;
    }
    try {
        let at = place % (plan.len() - 1);
        let joined = action.call(plan[at], plan[at + 1]);
        let changed = plan;
        changed.remove(at + 1);
        changed[at] = joined;
        return judged(plan, changed, checked, op);
    } catch (failure) {
        print(`@no ${op} ${said(failure)}`);
    }
    plan
}
fn on_all(plan, checked, op, action) {
    print(`@step ${op}`);
    try {
        let made = action.call(plan);
        let changed = if type_of(made) == "array" { made } else { [made] };
        return judged(plan, changed, checked, op);
    } catch (failure) {
        print(`@no ${op} ${said(failure)}`);
    }
    plan
}
fn finish(label, plan, before) {
    let plans = before;
    plans.push(plan);
    while plans.len() > 1 && check(plans[-1]).legal != true {
        plans.pop();
        print("@undone");
    }
    for nest in plans[-1] {
        try {
            let steps = path(nest);
            if replay(json(steps)) != nest { print("@bad its path makes another nest"); }
            paper(steps);
            if label.ends_with("7") && plans[-1].len() == 1 {
                // Some of them: each is proved anew, and a proof may take seconds.
                let listed = moves(nest).filter(|one| one.op != "tile");
                for k in 0..min(listed.len(), 4) {
                    let one = listed[k * listed.len() / 4 % listed.len()];
                    if !check(one.apply(nest)).legal { print(`@bad ${one.text} is no legal move`); }
                }
            }
        } catch (failure) {
            print(`@bad path: ${said(failure)}`);
        }
    }
    print("@run");
    try {
        results(label, plans[-1]);
        print("@ran");
    } catch (failure) {
        print(`@failed ${said(failure)}`);
    }
}
"""

# What becomes of a schedule.
RUN = """
fn results(label, plan) {
    let found = run(plan);
    for name in found.keys() { save(found[name], `${label}_${name}.npy`); }
}
"""
BUNDLE = """
fn results(label, plan) { bundle([plan], label); }
"""

FACTORS = [1, 2, 3, 4, 4, 5, 7, 8, 8, 16]
# What no one means, and what may overflow.
HOSTILE = [0, -1, -7, 41, 1000, 2**31, 2**40, 2**40 + 1, 2**62, 2**63 - 1, -(2**63) + 1]
TAILS = ["guard", "guard", "cut", "cut", "grid", "aligned", "exact"]


class Schedule:
    """Random steps for a program."""

    def __init__(self, rng: random.Random, program: Program):
        self.rng = rng
        self.program = program
        self.nests = 1 if program.repeat or program.text else len(program.assignments)
        self.hostile = rng.random() < 0.04

    def number(self, most: int = 12) -> int:
        return self.rng.randrange(most)

    def loop(self) -> tuple[str, int]:
        return ("loop", self.number())

    def inner(self) -> tuple[str, int]:
        return ("inner", self.number(4))

    def tensor(self) -> tuple[str, int]:
        return ("tensor", self.number(6))

    def written(self) -> tuple[str, int]:
        return ("written", self.number(4))

    def factor(self) -> int:
        return self.amount(FACTORS)

    def amount(self, usual: list[int]) -> int:
        """One of the usual numbers, or any."""
        if self.hostile and self.rng.random() < 0.5:
            return self.rng.choice(HOSTILE)
        return self.rng.choice(usual)

    def one(self, op: str, text: str, *picks: tuple[str, int]) -> Step:
        return Step(op, "one", text, picks, self.number(8))

    def two(self, op: str, text: str, *picks: tuple[str, int]) -> Step:
        return Step(op, "two", text, picks, self.number(8))

    # Steps

    def stripmine(self) -> Step:
        tail = self.rng.choice(["", f', "{self.rng.choice(TAILS)}"'])
        return self.one("stripmine", f"nest.stripmine(@0, {self.factor()}{tail})", self.loop())

    def tile(self) -> Step:
        rng = self.rng
        kind = rng.random()
        if kind < 0.2:
            return self.one("tile", f"nest.tile({self.factor()})")
        count = rng.choice([1, 2, 2, 3])
        sizes = ", ".join(str(self.factor()) for _ in range(count))
        if kind < 0.6:
            return self.one("tile", f"nest.tile([{sizes}])")
        at = self.number()
        loops = ", ".join(f"@{k}" for k in range(count))
        picks = [("loop", at + k) for k in range(count)]
        if rng.random() < 0.3:
            rng.shuffle(picks)
        return self.one("tile", f"nest.tile([{loops}], [{sizes}])", *picks)

    def interchange(self) -> Step:
        at = self.number()
        other = at + self.rng.choice([1, 1, 2, 3])
        return self.one("interchange", "nest.interchange(@0, @1)", ("loop", at), ("loop", other))

    def reorder(self) -> Step:
        at, count = self.number(6), self.rng.choice([2, 3, 3, 4])
        picks = [("loop", at + k) for k in range(count)]
        self.rng.shuffle(picks)
        loops = ", ".join(f"@{k}" for k in range(count))
        return self.one("reorder", f"nest.reorder([{loops}])", *picks)

    def double_buffer(self) -> Step:
        way = self.rng.choice(["", ', "direct"', ', "registers"'])
        return self.one("double_buffer", f"nest.double_buffer(@0{way})", self.loop())

    def reverse(self) -> Step:
        return self.one("reverse", "nest.reverse(@0)", self.loop())

    def shift(self) -> Step:
        return self.one("shift", f"nest.shift(@0, {self.amount(list(range(-4, 6)))})", self.loop())

    def skew(self) -> Step:
        at = self.number(5)
        by = self.amount([1, 1, -1, 2])
        inner = ("loop", at + self.rng.choice([1, 1, 2]))
        return self.one("skew", f"nest.skew(@0, @1, {by})", inner, ("loop", at))

    def slabs(self) -> Step:
        at = self.number(4)
        rng = self.rng
        picks = [("loop", at), ("loop", at + rng.choice([0, 1])), ("loop", at + rng.choice([1, 2, 3]))]
        text = f"cut_slabs(nest, @1, @2, @0, {self.amount([1, -1, 2, -2])}, {self.factor()})"
        return self.one("slabs", text, *picks)

    def peel(self) -> Step:
        end = self.rng.choice(["front", "back", "rest"])
        return self.one("peel", f'nest.peel(@0, {self.amount([1, 1, 2, 3])}, "{end}")', self.loop())

    def pad(self) -> Step:
        return self.one("pad", f"nest.pad(@0, {self.factor()})", self.loop())

    def distribute(self) -> Step:
        pick = ("branching", self.number()) if self.rng.random() < 0.7 else self.loop()
        return self.one("distribute", "nest.distribute(@0)", pick)

    def fuse(self) -> Step:
        at = 2 * self.number(4)
        ends = self.rng.choice(["", ', "peel"', ', "guard"', ', "guard"'])
        picks = (("neighbor", at), ("neighbor", at + 1))
        return self.one("fuse", f"nest.fuse(@0, @1{ends})", *picks)

    def fuse_inner(self) -> Step:
        return self.one("fuse_inner", "nest.fuse_inner(@0)", ("neighbor", self.number(6)))

    def separate(self) -> Step:
        return self.one("separate", "nest.separate(@0)", self.loop())

    def isolate(self) -> Step:
        return self.one("isolate", "nest.isolate(@0)", self.loop())

    def tighten(self) -> Step:
        return self.one("tighten", "nest.tighten()")

    def unroll(self) -> Step:
        if self.rng.random() < 0.35:
            return self.one("unroll", "unroll_short(nest, @0)", self.loop())
        return self.one("unroll", f"nest.unroll(@0, {self.amount([1, 2, 3, 4])})", self.loop())

    def unroll_and_jam(self) -> Step:
        by = self.amount([1, 2, 2, 3, 4])
        return self.one("unroll_and_jam", f"nest.unroll_and_jam(@0, {by})", self.loop())

    def place_init(self) -> Step:
        kind = self.rng.random()
        if kind < 0.1:
            return self.one("place_init", "nest.place_init(0)")
        if kind < 0.25:
            at = self.number()
            picks = (("loop", at), ("loop", at + self.rng.randint(1, 3)))
            return self.one("place_init", "nest.place_init([@0, @1])", *picks)
        if kind < 0.45:
            return self.one("place_init", "nest.place_init(@0, @1)", self.loop(), self.written())
        return self.one("place_init", "nest.place_init(@0)", self.loop())

    def order(self) -> str:
        if self.rng.random() < 0.6:
            return ""
        rank = self.rng.choice([1, 2, 2, 3])
        return f", [{', '.join(map(str, self.rng.sample(range(1, rank + 1), rank)))}]"

    def pack(self) -> Step:
        order = self.order()
        if order and self.rng.random() < 0.1:
            order += f", {self.rng.choice([1, 2])}"
        if self.rng.random() < 0.15:
            return self.one("pack", f"nest.pack(0, @0{order})", self.tensor())
        return self.one("pack", f"nest.pack(@0, @1{order})", self.loop(), self.tensor())

    def stage(self) -> Step:
        if self.rng.random() < 0.1:
            return self.one("stage", f"nest.stage(0, @0{self.order()})", self.written())
        return self.one("stage", f"nest.stage(@0, @1{self.order()})", self.loop(), self.written())

    def localize(self) -> Step:
        return self.one("localize", "nest.localize(@0)", ("passed", self.number(4)))

    def pad_buffer(self) -> Step:
        rng = self.rng
        how = [f"multiple: {self.amount([1, 3, 4, 8, 16])}", f"extra: {self.amount([0, 1, 2, 5])}"]
        how = rng.sample(how, rng.choice([1, 2]))
        return self.one(
            "pad_buffer", f"nest.pad_buffer(@0, #{{{', '.join(how)}}})", ("local", self.number(4))
        )

    def panels(self) -> Step:
        text = f"nest.panels(@0, {self.amount([1, 1, 2, 3])}, {self.factor()})"
        return self.one("panels", text, ("local", self.number(4)))

    def rfactor(self) -> Step:
        return self.one("rfactor", "nest.rfactor(@0)", ("reduced", self.number(4)))

    def scan(self) -> Step:
        return self.one("scan", "nest.scan(@0)", self.loop())

    def parallelize(self) -> Step:
        rng = self.rng
        if rng.random() < 0.5:
            return self.one("parallelize", "nest.parallelize(@0)", self.loop())
        how = [
            f"collapse: {self.amount([1, 2, 2, 3])}",
            f'schedule: "{rng.choice(["static", "dynamic", "guided"])}"',
            f"chunk: {self.amount([1, 2, 3])}",
            f"threshold: {self.amount([1, 5, 100])}",
        ]
        how = rng.sample(how, rng.randint(1, 4))
        return self.one("parallelize", f"nest.parallelize(@0, #{{{', '.join(how)}}})", self.loop())

    def vectorize(self) -> Step:
        lanes = self.rng.choice(["", "", "", ", 2", ", 4", ", 8", ", 16"])
        pick = self.inner() if self.rng.random() < 0.8 else self.loop()
        return self.one("vectorize", f"nest.vectorize(@0{lanes})", pick)

    def prefetch(self) -> Step:
        distance = self.amount([1, 1, 2, 4, 9])
        if self.rng.random() < 0.5:
            text = f"nest.prefetch(@0, @1, {distance})"
            return self.one("prefetch", text, self.loop(), self.tensor())
        at = self.number()
        further = self.rng.choice(["", "", ", 2"])
        picks = (("loop", at), self.tensor(), ("loop", at + self.rng.randint(0, 3)))
        return self.one("prefetch", f"nest.prefetch(@0, @1, {distance}, @2{further})", *picks)

    def stream(self) -> Step:
        return self.one("stream", "nest.stream(@0, @1)", self.loop(), self.written())

    def rename(self) -> Step:
        new = self.rng.choice(["", ', "row"', ', "step_1"'])
        return self.one("rename", f"nest.rename(@0{new})", self.loop())

    def split_at(self) -> Step:
        at = self.number()
        constant = self.amount([1, 2, 3, 5, 8])
        if self.rng.random() < 0.6:
            return self.one("split_at", f'nest.split_at(@0, "{constant}")', ("loop", at))
        by = self.rng.choice(["", "", "2*", "4*"])
        text = f"nest.split_at(@0, `{by}${{@1}} + {constant}`)"
        return self.one("split_at", text, ("loop", at + 1), ("loop", at))

    def move_before(self) -> Step:
        at = 2 * self.number(4)
        return self.one("move_before", "nest.move_before(@1, @0)", ("neighbor", at), ("neighbor", at + 1))

    def plain_loops(self) -> Step:
        return self.one("plain_loops", "nest.plain_loops()")

    def assume(self) -> Step:
        return self.one("assume", "assumed(nest)")

    def annotate(self) -> Step:
        return self.one("annotate", 'nest.annotate(@0, "a remark, 2 * 3")', self.loop())

    def at(self) -> Step:
        inner = self.rng.choice(
            [
                f"nest.at(@0, |part| part.stripmine(1, {self.factor()}))",
                "nest.at(@0, |part| part.interchange(1, 2))",
                f"nest.at(@0, |part| part.tile([{self.factor()}]))",
                "nest.at(@0, |part| part.vectorize(1))",
            ]
        )
        return self.one("at", inner, self.loop())

    def composed(self) -> Step:
        rng = self.rng
        return rng.choice(
            [
                self.one("stripmine_n", f"stripmine_n(nest, {rng.choice([1, 2])}, {self.factor()})"),
                self.one("interchange_n", f"interchange_n(nest, @0, {rng.choice([1, 2])})", self.loop()),
                self.one(
                    "transpose_layout",
                    f"transpose_layout(nest, @0, {rng.choice(['[2, 1]', '[3, 1, 2]', '[1, 3, 2]'])})",
                    self.tensor(),
                ),
                self.one("innermost", "innermost(|part, l| part.vectorize(l)).call(nest)"),
                self.one(
                    "everywhere", f"everywhere(|part, l| part.stripmine(l, {self.factor()})).call(nest)"
                ),
                self.one("outermost", "outermost(|part, l| part.parallelize(l)).call(nest)"),
            ]
        )

    def memory(self) -> Step:
        rng = self.rng
        other = rng.choice(["", "", ", @1"])
        passed = ("passed", self.number(4))
        next_passed = ("passed", passed[1] + 1)
        picks = [passed] + ([self.tensor()] if other else [])
        return rng.choice(
            [
                self.one("avoid_copy", "nest.avoid_copy(@0)", passed),
                self.one("reduce_cache_miss", f"nest.reduce_cache_miss(@0{other})", *picks),
                # What may be overwritten is most often a local tensor.
                self.one("reduce_cache_miss", "nest.localize(@0).reduce_cache_miss(@1)", passed, next_passed),
                self.one("reuse_buffer", f"nest.reuse_buffer(@0{other})", *picks),
                self.one("donate", "nest.donate(@0)", self.tensor()),
                self.localize(),
            ]
        )

    # Steps on several nests

    def fuse_outer(self) -> Step:
        forms = ["first.fuse_outer(second, 0)"] * 2 + ["first.fuse_outer(second, 1)", "fuse(first, second)"]
        forms += [self.rng.choice(["first.fuse_outer(second, 2)", "first.fuse(second, 2)"])]
        return self.two("fuse_outer", self.rng.choice(forms))

    def compute_at(self) -> Step:
        kind = self.rng.random()
        if kind < 0.15:
            return self.two("compute_at", "first.compute_at(second, 0)")
        return self.two("compute_at", "first.compute_at(second, @0)", self.loop())

    def inline(self) -> Step:
        return self.two("inline", "first.inline(second)")

    def reverse_compute_at(self) -> Step:
        if self.rng.random() < 0.15:
            return self.two("reverse_compute_at", "first.reverse_compute_at(second, 0)")
        pick = ("loop-first", self.number())
        return self.two("reverse_compute_at", "first.reverse_compute_at(second, @0)", pick)

    # The library's schedules

    def facts(self) -> str:
        """Options of the library's schedules: another machine, in which little is much."""
        rng = self.rng
        options = []
        if rng.random() < 0.5:
            options.append(f"lanes: {rng.choice([2, 4, 8, 16])}")
        if rng.random() < 0.3:
            options.append(f"registers: {rng.choice([8, 16, 32])}")
        if rng.random() < 0.5:
            caches = rng.choice([(256, 512, 1024), (1024, 2048, 2048), (4096, 16384, 65536)])
            options += [f"l{k + 1}: {size}" for k, size in enumerate(caches)]
        if rng.random() < 0.4:
            options.append(f"threads: {rng.choice([1, 2, 3])}")
        return options

    def library(self) -> Step:
        rng = self.rng
        options = self.facts()
        fitting = {
            "contraction": ["gemm", "gemm", "small_gemm", "optimize", "reduction", "pluto"],
            "windows": ["conv", "filters", "optimize", "pluto", "gemm"],
            "stencil": ["stencil", "optimize", "pointwise", "pluto"],
            "pointwise": ["pointwise", "pointwise", "optimize", "pluto"],
            "library": ["conv", "filters", "pointwise", "stencil", "optimize", "pluto"],
            "reduction": ["reduction", "reduction", "optimize", "pluto"],
            "several": ["rows", "optimize", "gemm_at", "stencil", "pluto", "gemm"],
            "pattern": ["rows", "optimize", "optimize", "gemm_at", "stencil", "element_operators", "pluto"],
        }
        every = [name for names in fitting.values() for name in names]
        usual = fitting.get(self.program.family, ["pluto", "optimize"])
        name = rng.choice(every if rng.random() < 0.1 else usual)
        tiles = {"gemm": ["mr", "nr", "mc", "nc", "kc"], "gemm_at": ["mr", "nr", "mc", "nc", "kc"]}
        tiles |= {k: ["mr", "nr"] for k in ("small_gemm", "conv", "filters")} | {"stencil": ["rows"]}
        if name in tiles and rng.random() < 0.5:
            sizes = {"mr": [1, 2, 3, 4, 6], "nr": [4, 8, 16, 5], "rows": [1, 2, 3, 5, 8]}
            for option in rng.sample(tiles[name], rng.randint(1, len(tiles[name]))):
                options.append(f"{option}: {self.amount(sizes.get(option, [4, 8, 12, 20]))}")
        given = f", #{{{', '.join(options)}}}" if options else ""
        match name:
            case "optimize":
                return Step("schedules::optimize", "all", "schedules::optimize(nests)")
            case "pluto":
                return Step("pluto", "all", f"pluto(nests{self.pluto_options()})")
            case "stencil" | "rows":
                return Step(f"schedules::{name}", "all", f"schedules::{name}(nests{given})")
            case "element_operators":
                iterator = rng.choice([name for a in self.program.assignments for name in a.ranges] or ["i"])
                text = f'schedules::element_operators(nests, "{iterator}"{given})'
                return Step("schedules::element_operators", "all", text)
            case "gemm_at":
                return self.two("schedules::gemm_at", f"schedules::gemm_at(first, second{given})")
            case _:
                return self.one(f"schedules::{name}", f"schedules::{name}(nest{given})")

    def pluto_options(self) -> str:
        rng = self.rng

        def word() -> str:
            return rng.choice(["true", "false"])

        options = [
            f"tile: {word()}",
            f"tile_sizes: [{self.amount([2, 4, 5, 8])}, {self.amount([3, 4, 16])}]",
            f"second_level_tile: {word()}",
            f"second_level_tile_sizes: [{self.amount([2, 3, 8])}]",
            f"parallel: {word()}",
            f"multipar: {word()}",
            f"prevector: {word()}",
            f"intratileopt: {word()}",
            f"unrolljam: {word()}",
            f"ufactor: {self.amount([1, 2, 3, 8])}",
            f'fuse: "{rng.choice(["nofuse", "smartfuse", "maxfuse", "typedfuse", "hybridfuse"])}"',
            f"rar: {word()}",
            "diamondtile: false",
            f'code: "{rng.choice(["teml", "pluto"])}"',
        ]
        chosen = rng.sample(options, rng.choice([0, 0, 1, 2, 3, 5, 9]))
        return f", #{{{', '.join(chosen)}}}" if chosen else ""

    # Sequences that lead somewhere

    def register_tile(self) -> list[Step]:
        """A tile of the result stays in registers."""
        rng = self.rng
        place = self.number(8)
        rows, columns = rng.choice([1, 2, 3, 4, 6]), rng.choice([4, 5, 8, 12, 16])
        tail = rng.choice(["guard", "guard", "cut"])
        steps = [
            ("stripmine", f'nest.stripmine(@0, {rows}, "{tail}")', [("loop", 0)]),
            ("stripmine", f'nest.stripmine(@0, {columns}, "{tail}")', [("loop", 2)]),
            ("reorder", "nest.reorder([@0, @1, @2, @3])", [("loop", k) for k in (0, 2, 1, 3)]),
            ("interchange", "nest.interchange(@0, @1)", [("loop", 2), ("loop", 4)]),
            ("interchange", "nest.interchange(@0, @1)", [("loop", 3), ("loop", 4)]),
            ("place_init", "nest.place_init(@0)", [("loop", 1)]),
            ("stage", "nest.stage(@0, @1)", [("loop", 1), ("written", 0)]),
            ("vectorize", "nest.vectorize(@0)", [("inner", rng.choice([0, 1, 2]))]),
            ("parallelize", "nest.parallelize(@0)", [("loop", 0)]),
        ]
        kept = [step for step in steps if rng.random() < 0.9]
        return [Step(op, "one", text, tuple(picks), place) for op, text, picks in kept]

    def partial_sums(self) -> list[Step]:
        place, inner = self.number(8), self.number(3)
        tail = self.rng.choice(["", ', "cut"'])
        steps = [
            ("stripmine", f"nest.stripmine(@0, {self.factor()}{tail})", [("inner", inner)]),
            ("rfactor", "nest.rfactor(@0)", [("inner", inner)]),
            ("vectorize", "nest.vectorize(@0)", [("inner", inner)]),
        ]
        return [Step(op, "one", text, tuple(picks), place) for op, text, picks in steps]

    def packed(self) -> list[Step]:
        rng = self.rng
        place, at = self.number(8), self.number(5)
        tensor = self.tensor()
        order = self.order()
        steps = [
            self.tile(),
            Step("pack", "one", f"nest.pack(@0, @1{order})", (("loop", at), tensor), place),
        ]
        if rng.random() < 0.5:
            steps.append(self.pad_buffer())
        if rng.random() < 0.4:
            steps.append(self.panels())
        return [Step(s.op, s.arity, s.text, s.picks, place) for s in steps]

    def wavefront(self) -> list[Step]:
        place, at = self.number(8), self.number(2)
        by = self.rng.choice([1, 1, 2])
        sizes = f"{self.factor()}, {self.factor()}"
        steps = [
            ("skew", f"nest.skew(@0, @1, {by})", [("loop", at + 1), ("loop", at)]),
            ("tile", f"nest.tile([@0, @1], [{sizes}])", [("loop", at), ("loop", at + 1)]),
            ("interchange", "nest.interchange(@0, @1)", [("loop", at), ("loop", at + 1)]),
        ]
        kept = [step for step in steps if self.rng.random() < 0.8]
        return [Step(op, "one", text, tuple(picks), place) for op, text, picks in kept]

    def joined(self) -> list[Step]:
        """All nests in one, with what they compute for each other local."""
        rng = self.rng
        steps = [self.fuse_outer() for _ in range(rng.choice([1, 2, 3]))]
        for _ in range(rng.choice([1, 2, 3, 4])):
            steps.append(rng.choice([self.fuse, self.memory, self.memory, self.shift, self.localize])())
        return steps

    def steps(self) -> list[Step]:
        """Up to about ten steps."""
        rng = self.rng
        found: list[Step] = []
        kind = rng.random()
        if kind < (0.5 if self.program.family == "pattern" else 0.24):
            found.append(self.library())
        elif kind < 0.34:
            found += self.register_tile()
        elif kind < 0.42:
            found += self.packed()
        elif kind < 0.48:
            found += self.wavefront()
        if self.nests > 1 and rng.random() < 0.6:
            found += [self.choice(BINARY) for _ in range(rng.randint(0, 2))]
            found += self.joined() if rng.random() < 0.5 else []
        count = rng.choice([0, 1, 2, 3, 4, 5, 6, 8, 10, 16])
        while len(found) < count:
            found.append(self.choice(self.weights(found)))
        if rng.random() < 0.15:
            found += self.partial_sums()
        if rng.random() < 0.45:
            found += [self.vectorize() for _ in range(rng.choice([1, 1, 2]))]
        if rng.random() < 0.3:
            found.append(self.parallelize())
        if rng.random() < 0.2:
            found.append(self.stream())
        if rng.random() < 0.03:
            found.append(self.assume())
        return found

    def weights(self, before: list[Step]) -> dict[str, float]:
        """How likely steps are: those that need something are seldom taken where it is missing."""
        ops = {step.op for step in before}
        reduces = any(isinstance(a.value, Reduce) for a in self.program.assignments)
        joined = "fuse_outer" in ops or self.program.repeat or self.program.text
        present = {
            "place_init": reduces,
            "rfactor": reduces,
            "pad_buffer": ops & {"pack", "stage"},
            "panels": ops & {"pack", "stage"},
            "distribute": joined or ops & {"unroll", "unroll_and_jam", "fuse", "place_init"},
            "fuse": joined or ops & {"unroll", "peel", "stripmine", "distribute"},
            "fuse_inner": joined or ops & {"unroll", "distribute"},
            "separate": ops & {"fuse", "pad"},
            "localize": joined,
            "memory": joined,
            "stream": not reduces,
            "move_before": joined or self.program.text or ops & {"unroll", "distribute", "peel", "split_at"},
        }
        return {name: weight if present.get(name, True) else weight / 15 for name, weight in SINGLE.items()}

    def choice(self, weights: dict[str, float]) -> Step:
        name = self.rng.choices(list(weights), list(weights.values()))[0]
        make: Callable[[], Step] = getattr(self, name)
        return make()


SINGLE = {
    "stripmine": 5, "tile": 4, "interchange": 3, "reorder": 3, "reverse": 3, "double_buffer": 2, "shift": 2, "skew": 2,
    "slabs": 2, "peel": 3, "pad": 2, "distribute": 2, "fuse": 3, "fuse_inner": 2, "separate": 2, "isolate": 1, "tighten": 1,
    "unroll": 3, "unroll_and_jam": 4, "place_init": 3, "pack": 5, "stage": 5, "localize": 2, "pad_buffer": 2,
    "panels": 3, "rfactor": 3, "scan": 1, "parallelize": 4, "vectorize": 5, "prefetch": 3, "stream": 2,
    "annotate": 0.5, "rename": 0.7, "split_at": 3, "move_before": 2, "plain_loops": 0.5, "at": 1, "composed": 2, "memory": 2,
}  # fmt: skip
BINARY = {"fuse_outer": 3, "compute_at": 4, "inline": 2, "reverse_compute_at": 3}

PRELUDE += """
fn assumed(nest) {
    if check(nest).legal != true { throw "not legal"; }
    nest.assume("it was proved")
}
fn cut_slabs(nest, outer, inside, factor_of, factor, size) {
    let factors = #{};
    factors[factor_of] = factor;
    nest.slabs(outer, [inside], factors, size)
}
fn unroll_short(nest, name) {
    let range = bounds(nest, name);
    if !range.iterators.is_empty() { throw "nothing to pick"; }
    let trips = parse_int(`${range.upper[0]}`) - parse_int(`${range.lower[0]}`);
    if trips > 16 { throw "nothing to pick"; }
    nest.unroll(name)
}
"""
