//! Barriers on devices: the ones that are placed suffice, each of them is needed, and proof and
//! execution agree on plans from which some were taken away.

use crate::config::config;
use crate::dialog::{nest, string};
use proptest::prelude::*;
use teml::analysis::launches::launches;
use teml::codegen::{Phases, phases};
use teml::interp::threads::{Race, Run, race};
use teml::ir::{Affine, Loop, Name, Nest, Tensor, Tree};
use teml::legality::{Barrier, Exchange, Waiting, exchanges};
use teml::target::Device;
use teml::transform::trace;

/// Computations with schedules for devices, at sizes that blocks do not divide.
const SCHEDULED: &[(&str, &str)] = &[
    (
        "product",
        "let A = tensor([37, 21]); let B = tensor([21, 19]); let C = einsum(\"ik,kj->ij\", A, B);
         let n = build(C); let p = schedules::device_gemm(n, #{rows: 2, columns: 1, terms: 4});",
    ),
    (
        "products",
        "let A = tensor([3, 17, 9]); let B = tensor([3, 9, 18]); let C = einsum(\"bik,bkj->bij\", A, B);
         let p = schedules::on_device(build(C));",
    ),
    (
        "product ahead",
        "let A = tensor([37, 21]); let B = tensor([21, 19]); let C = einsum(\"ik,kj->ij\", A, B);
         let n = build(C);
         let p = schedules::device_gemm(n, #{rows: 2, columns: 1, terms: 4, ahead: \"registers\"});",
    ),
    (
        "product ahead without registers",
        "let A = tensor([37, 21]); let B = tensor([21, 19]); let C = einsum(\"ik,kj->ij\", A, B);
         let n = build(C);
         let p = schedules::device_gemm(n, #{rows: 2, columns: 1, terms: 4, ahead: \"direct\"});",
    ),
    (
        "itself",
        "let A = tensor([18, 9]); let C = einsum(\"ik,jk->ij\", A, A);
         let p = schedules::on_device(build(C));",
    ),
    (
        "transposition",
        "let A = tensor([40, 35]); let T = transpose(A, [2, 1]); let p = schedules::on_device(build(T));",
    ),
    (
        "elements",
        "let A = tensor([40, 35]); let R = stored(2*A + 1); let p = schedules::on_device(build(R));",
    ),
    (
        "sums",
        "reductions(\"reassoc\"); let A = tensor([3, 70]); let y = sum(A, [2]);
         let p = schedules::on_device(build(y));",
    ),
    (
        "softmax",
        "reductions(\"reassoc\"); let A = tensor([3, 70]); let s = max(A, [2]);
         let e = exp(vsub(A, s, [[i, j], [i]]), () -> [i, j]); let t = sum(e, [2]);
         let R = eq(vdiv(e, t, [[i, j], [i]]), [i, j]);
         let p = schedules::on_device([build(s), build(e), build(t), build(R)]);",
    ),
    (
        "softmax in shared memory",
        "reductions(\"reassoc\"); let A = tensor([3, 70]); let s = max(A, [2]);
         let e = exp(vsub(A, s, [[i, j], [i]]), () -> [i, j]); let t = sum(e, [2]);
         let R = eq(vdiv(e, t, [[i, j], [i]]), [i, j]);
         let p = schedules::on_device([build(s), build(e), build(t), build(R)]).place(\"e\", \"shared\");",
    ),
    (
        "softmax of whole accesses",
        "reductions(\"reassoc\"); let A = tensor([3, 2048]); let s = max(A, [2]);
         let e = exp(vsub(A, s, [[i, j], [i]]), () -> [i, j]); let t = sum(e, [2]);
         let R = eq(vdiv(e, t, [[i, j], [i]]), [i, j]);
         let p = schedules::on_device([build(s), build(e), build(t), build(R)]);",
    ),
    (
        "steps in time",
        "let p = nest(`
           f64 A[40], B[40]
           for t in 0..3
             grid.x for b in 0..1
               block.x for i in 1..39
                 B[i] = A[i - 1] + A[i + 1]
               block.x for j in 1..39
                 A[j] = B[j]`);",
    ),
    (
        "neighbors in a row",
        "let p = nest(`
           f64 A[4][32], B[4][32]
           grid.x for b in 0..4
             local f64 row[32]
             block.x for i in 0..32
               row[i] = A[b][i]
             for t in 0..5
               local f64 next[32]
               block.x for i2 in 1..31
                 next[i2] = row[i2 - 1] + row[i2 + 1]
               block.x for i3 in 1..31
                 row[i3] = next[i3]
             block.x for i4 in 0..32
               B[b][i4] = row[i4]`);",
    ),
    (
        "two dimensions",
        "let p = nest(`
           f64 A[16][16], B[16][16]
           grid.x for b in 0..1
             local f64 tile[8][8]
             for o in 0..2
               block.y for i in 8*o..8*o + 8
                 block.x for j in 0..8
                   tile[i - 8*o][j] = A[i][j]
               block.x for k in 0..8
                 for l in 0..8
                   B[8*o + l][k] = tile[k][l]`);",
    ),
    (
        "sums on lanes",
        "reductions(\"reassoc\"); let A = tensor([3, 300]); let y = sum(A, [2]);
         let p = schedules::device_sums(build(y), #{lanes: 32});",
    ),
    (
        "softmax on lanes",
        "reductions(\"reassoc\"); let A = tensor([3, 512]); let s = max(A, [2]);
         let e = exp(vsub(A, s, [[i, j], [i]]), () -> [i, j]); let t = sum(e, [2]);
         let R = eq(vdiv(e, t, [[i, j], [i]]), [i, j]);
         let p = schedules::device_rows([build(s), build(e), build(t), build(R)], #{lanes: 16});",
    ),
    (
        "lanes in shared memory",
        "let p = nest(`
           f64 A[4][8][16], B[4][8][16]
           grid.x for b in 0..4
             local f64 rows[8][16]
             block.x for i in 0..8
               lane for j in 0..16
                 rows[i][j] = A[b][i][j]
             for t in 0..3
               block.x for i2 in 0..8
                 lane for j2 in 0..8
                   rows[i2][j2] = rows[i2][15 - j2] + 1
               block.x for i3 in 0..8
                 lane for j3 in 8..16
                   rows[i3][j3] = rows[i3][15 - j3]
             block.x for i4 in 0..8
               lane for j4 in 0..16
                 B[b][i4][j4] = rows[i4][j4]`);",
    ),
    (
        "first thread",
        "let p = nest(`
           f64 A[8][16], B[8][16]
           grid.x for b in 0..8
             local f64 first[]
             first[] = A[b][3]
             block.x for i in 0..16
               B[b][i] = A[b][i] + first[]`);",
    ),
];

struct Case {
    nest: Nest,
    phases: Phases,
}

fn case(script: &str) -> Case {
    Case::of(nest(script, "p"))
}

impl Case {
    fn of(nest: Nest) -> Case {
        let phases = phases(&nest, &Device::default());
        let phases = phases.unwrap_or_else(|why| panic!("{nest}\n{why}"));
        Case { nest, phases }
    }

    fn race(&self, barriers: &[Barrier]) -> Option<Race> {
        let of = |waiting: Waiting| {
            let of = barriers.iter().filter(move |barrier| barrier.of == waiting);
            of.map(|barrier| barrier.at.clone()).collect::<Vec<_>>()
        };
        let run = Run {
            barriers: &of(Waiting::Block),
            of_warps: &of(Waiting::Warp),
            distributed: &self.phases.distributed,
            passed: &self.phases.passed,
            sizes: &[],
        };
        race(&self.phases.trees, &run).unwrap()
    }

    /// The exchanges between threads, as `legality` finds them.
    fn exchanges(&self) -> Vec<Exchange> {
        let context: Vec<&Loop> = self.nest.context().iter().collect();
        let trees = &self.phases.trees;
        let Phases {
            distributed,
            passed,
            ..
        } = &self.phases;
        let own = |name: &Name| distributed.contains(name) || passed.contains(name);
        let is_shared = |tensor: &Tensor| !tensor.name().is_some_and(own);
        let launches = launches(trees, &context).unwrap();
        let all = launches
            .iter()
            .flat_map(|launch| exchanges(&self.nest, trees, launch, &is_shared, false));
        all.collect()
    }
}

/// Whether all exchanges are ordered.
fn is_ordered(exchanges: &[Exchange], barriers: &[Barrier]) -> bool {
    exchanges.iter().all(|e| e.is_ordered(barriers))
}

#[test]
fn barriers_suffice_and_none_is_needless() {
    let mut count = 0;
    for (name, script) in SCHEDULED {
        let case = case(script);
        let barriers = &case.phases.barriers;
        assert_eq!(case.race(barriers), None, "{name}: {:?}", case.phases);
        let exchanges = case.exchanges();
        assert!(is_ordered(&exchanges, barriers), "{name}");
        for k in 0..barriers.len() {
            let mut fewer = barriers.clone();
            fewer.remove(k);
            let race = case.race(&fewer);
            assert!(race.is_some(), "{name} does not need {:?}", barriers[k]);
            assert!(!is_ordered(&exchanges, &fewer), "{name}: {race:?}");
            count += 1;
            // A barrier of each warp alone is refused where other threads wait.
            fewer.push(Barrier {
                of: Waiting::Warp,
                ..barriers[k].clone()
            });
            let race = case.race(&fewer);
            assert!(race.is_none() || !is_ordered(&exchanges, &fewer), "{name}");
            assert_eq!(
                race.is_none(),
                is_ordered(&exchanges, &fewer),
                "{name}: {race:?}"
            );
        }
    }
    assert!(count >= 25, "{count} barriers");
}

/// The ten kernels and six others, as the schedules for devices choose, at sizes that blocks do not
/// divide.
const KERNELS: &[&str] = &[
    "mm(\"f64\", [19, 17, 37])",
    "tmm(\"f64\", [19, 17, 37])",
    "bmm(\"f64\", [2, 19, 17, 33])",
    "mttkrp(\"f64\", [5, 3, 17, 19])",
    "sddmm(\"f64\", [17, 19, 21])",
    "helm(\"f64\", [2, 3])",
    "interp(\"f64\", [2, 3])",
    "blur(\"f64\", [7, 19])",
    "coars(\"f64\", [7, 19])",
    "gconv(\"f64\", [1, 2, 3, 5, 2])",
    "transposition(\"f64\", [37, 35])",
    "softmax_rows(\"f64\", [2, 601])",
    "normed(\"f64\", [2, 601])",
    "time_steps(\"f64\", [6, 7, 8])",
    "reduction(\"f64\", [3, 601])",
    "bmm(\"f64\", [5, 3, 5, 7])",
];

/// The plans of a kernel, one for each start of the device or several.
fn plans(kernel: &str) -> Vec<Case> {
    let computations = include_str!("../code/device/computations.rhai");
    let script = format!(
        "{computations}\nreductions(\"reassoc\"); let all = \"\"; for nests in {kernel} {{
           let made = schedules::on_device(nests);
           for plan in if type_of(made) == \"array\" {{ made }} else {{ [made] }} {{ all += json(plan) + \"\\n\\n\"; }}
         }}"
    );
    let texts = string(&script, "all");
    let texts = texts.split("\n\n").filter(|text| !text.is_empty());
    let nests = texts.map(|text| trace::from_json(text).unwrap());
    nests.map(Case::of).collect()
}

/// The positions of the code of blocks where all threads can wait, each with the number of times that a
/// block comes there.
fn places(trees: &[Tree]) -> Vec<(Vec<usize>, i64)> {
    let mut found = Vec::new();
    visit(
        trees,
        &mut Vec::new(),
        &mut Vec::new(),
        (false, 1),
        &mut found,
    );
    found
}

fn visit(
    trees: &[Tree],
    position: &mut Vec<usize>,
    point: &mut Vec<(Name, i64)>,
    (in_block, times): (bool, i64),
    found: &mut Vec<(Vec<usize>, i64)>,
) {
    for k in 0..=trees.len() {
        position.push(k);
        if in_block {
            found.push((position.clone(), times));
        }
        if let Some(Tree::Loop(l)) = trees.get(k)
            && !l.is_block()
        {
            let value = |bound: &Affine| {
                let known = |name: &Name| point.iter().find(|(n, _)| n == name).map(|(_, v)| *v);
                bound.evaluate(&known).unwrap()
            };
            let lower = l.range.lower.iter().map(value).max().unwrap();
            let upper = l.range.upper.iter().map(value).min().unwrap();
            // Blocks are alike, and so are the iterations around their barriers.
            let count = if l.is_grid() { 1 } else { upper - lower };
            point.push((l.name.clone(), lower));
            let inside = (in_block || l.is_grid(), times * count);
            visit(&l.body, position, point, inside, found);
            point.pop();
        }
        position.pop();
    }
}

/// The least number of waits that order all exchanges. Each exchange needs one of some places.
fn least(needs: &[Vec<usize>], costs: &[i64], chosen: &mut Vec<usize>, spent: i64, best: &mut i64) {
    if spent >= *best {
        return;
    }
    let is_open = |need: &&Vec<usize>| !need.iter().any(|place| chosen.contains(place));
    let Some(open) = needs.iter().find(is_open) else {
        *best = spent;
        return;
    };
    for place in open {
        chosen.push(*place);
        least(needs, costs, chosen, spent + costs[*place], best);
        chosen.pop();
    }
}

/// Barriers of the sixteen kernels are as few as can be: no other places would make blocks wait less
/// often. And whatever else is done to a barrier is refused where it changes the result.
#[test]
fn kernels_wait_as_seldom_as_they_can() {
    let (mut waits, mut needless, mut mutants, mut wrong) = (0, 0, 0, 0);
    for kernel in KERNELS {
        for case in plans(kernel) {
            let barriers = &case.phases.barriers;
            assert_eq!(case.race(barriers), None, "{kernel}");
            let exchanges = case.exchanges();
            let places = places(&case.phases.trees);
            let at = |place: &[usize], of: Waiting| Barrier {
                at: place.to_vec(),
                of,
            };
            let mut needs: Vec<Vec<usize>> = Vec::new();
            for exchange in &exchanges {
                let helps = |k: &usize| exchange.is_ordered(&[at(&places[*k].0, Waiting::Block)]);
                let need: Vec<usize> = (0..places.len()).filter(helps).collect();
                if !needs.contains(&need) {
                    needs.push(need);
                }
            }
            needs.sort_by_key(Vec::len);
            let costs: Vec<i64> = places.iter().map(|(_, times)| *times).collect();
            let cost = |barrier: &Barrier| {
                let place = places.iter().find(|(place, _)| *place == barrier.at);
                place.map(|(_, times)| *times).unwrap()
            };
            let placed: i64 = barriers.iter().map(cost).sum();
            let mut best = placed + 1;
            least(&needs, &costs, &mut Vec::new(), 0, &mut best);
            waits += placed;
            needless += placed - best;
            for k in 0..barriers.len() {
                let moved = places
                    .iter()
                    .map(|(place, _)| Some(at(place, Waiting::Block)));
                let weak = Some(at(&barriers[k].at, Waiting::Warp));
                for other in moved.chain([None, weak]) {
                    let mut mutant = barriers.clone();
                    mutant.remove(k);
                    mutant.extend(other);
                    let is_wrong = case.race(&mutant).is_some();
                    let is_refused = !is_ordered(&exchanges, &mutant);
                    assert!(is_refused || !is_wrong, "{kernel}: {mutant:?}");
                    mutants += 1;
                    wrong += i32::from(is_wrong);
                }
            }
        }
    }
    assert_eq!(needless, 0, "of {waits} waits");
    assert!(
        mutants >= 1000 && wrong >= 500,
        "{wrong} of {mutants} mutants are wrong"
    );
}

#[test]
fn copies_ahead_of_use_need_one_barrier_in_each_iteration() {
    let of = |name: &str| {
        let (_, script) = SCHEDULED.iter().find(|(known, _)| *known == name).unwrap();
        case(script).phases
    };
    let inside = |phases: &Phases| {
        let depths = phases.barriers.iter().map(|barrier| barrier.at.len());
        let deepest = depths.clone().max().unwrap();
        depths.filter(|depth| *depth == deepest).count()
    };
    assert_eq!(inside(&of("product")), 2);
    for ahead in ["product ahead", "product ahead without registers"] {
        assert_eq!(inside(&of(ahead)), 1, "{ahead}: {:?}", of(ahead));
    }
    let own = of("product ahead").distributed;
    let own: Vec<&str> = own.iter().map(|name| name.as_str()).collect();
    assert_eq!(own, ["C_tile", "B_pack_next", "A_pack_next"]);
}

#[test]
fn lanes_pass_on_what_they_have_and_wait_for_their_warp_alone() {
    let of = |name: &str| {
        let (_, script) = SCHEDULED.iter().find(|(known, _)| *known == name).unwrap();
        case(script).phases
    };
    let sums = of("sums on lanes");
    assert_eq!(sums.passed.len(), 5, "{:?}", sums.passed);
    assert_eq!(sums.barriers.len(), 1, "{:?}", sums.barriers);
    let softmax = of("softmax on lanes");
    assert_eq!(softmax.passed.len(), 8, "{:?}", softmax.passed);
    assert!(softmax.distributed.iter().any(|name| name.as_str() == "e"));
    let shared = of("lanes in shared memory");
    assert!(shared.passed.is_empty());
    let waiting: Vec<Waiting> = shared.barriers.iter().map(|barrier| barrier.of).collect();
    assert!(
        !waiting.is_empty() && !waiting.contains(&Waiting::Block),
        "{shared:?}"
    );
}

#[test]
fn elements_of_one_thread_are_in_its_registers() {
    let all = |name: &str| {
        let (_, script) = SCHEDULED.iter().find(|(known, _)| *known == name).unwrap();
        let own = case(script).phases.distributed;
        own.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(all("product"), ["C_tile"]);
    assert_eq!(all("softmax"), ["e"]);
    assert_eq!(all("softmax in shared memory"), Vec::<String>::new());
    assert_eq!(all("softmax of whole accesses"), ["e"]);
    assert_eq!(all("transposition"), Vec::<String>::new());
}

/// Plans from which a barrier was taken away, or made one of each warp alone: proof and execution agree
/// about each of them, and each missing barrier is found.
#[test]
fn a_thousand_plans_without_a_barrier_are_each_found() {
    let shifts = [(-1, 0), (0, 1), (1, -1), (2, 0)];
    let mut texts = Vec::new();
    for first in shifts {
        for second in shifts {
            for third in shifts {
                let phase =
                    |(read, write): (i64, i64), k: usize| (read, write, k.is_multiple_of(2));
                let phases = [first, second, third, first].into_iter().zip(0..);
                let phases: Vec<_> = phases.map(|(shift, k)| phase(shift, k)).collect();
                texts.push(rows(&phases, 2));
                let of_lanes = |(read, write): (i64, i64)| (read + 1, write == 0);
                texts.push(lanes(
                    &[of_lanes(first), of_lanes(second), of_lanes(third)],
                    2,
                ));
            }
        }
    }
    let mut mutants = 0;
    for text in &texts {
        let case = case(&format!("let p = nest(`{text}`);"));
        let all = &case.phases.barriers;
        assert_eq!(case.race(all), None, "{text}");
        let exchanges = case.exchanges();
        for k in 0..all.len() {
            let mut fewer = all.clone();
            let barrier = fewer.remove(k);
            assert!(
                case.race(&fewer).is_some(),
                "{text} does not need {barrier:?}"
            );
            assert!(!is_ordered(&exchanges, &fewer), "{text} {barrier:?}");
            fewer.push(Barrier {
                of: Waiting::Warp,
                ..barrier
            });
            let agrees = case.race(&fewer).is_none() == is_ordered(&exchanges, &fewer);
            assert!(agrees, "{text} {fewer:?}");
            mutants += 2;
        }
    }
    assert!(mutants >= 1000, "{mutants} mutants");
}

/// A block that reads and writes rows of shared memory, `shift` apart, in some phases.
fn rows(phases: &[(i64, i64, bool)], repeats: i64) -> String {
    let mut text = "f64 A[64], B[64]\ngrid.x for b in 0..1\n  local f64 row[64]\n  \
                    block.x for i0 in 0..64\n    row[i0] = A[i0]\n"
        .to_owned();
    text.push_str(&format!("  for t in 0..{repeats}\n"));
    for (k, (read, write, in_place)) in phases.iter().enumerate() {
        let i = format!("i{}", k + 1);
        let at = |shift: i64| match shift {
            0.. => format!("{i} + {shift}"),
            _ => format!("{i} - {}", -shift),
        };
        let (to, from) = match in_place {
            true => (format!("row[{}]", at(*write)), format!("B[{}]", at(*read))),
            false => (format!("B[{}]", at(*write)), format!("row[{}]", at(*read))),
        };
        text.push_str(&format!(
            "    block.x for {i} in 4..60\n      {to} = {from} + 1\n"
        ));
    }
    text
}

/// Rows with an element for each lane, and some phases that read elements of other lanes.
fn lanes(phases: &[(i64, bool)], repeats: i64) -> String {
    let mut text = "f64 A[2][8], B[2][8]\ngrid.x for b in 0..1\n  local f64 row[2][8]\n  \
                    block.x for i0 in 0..2\n    lane for j0 in 0..8\n      row[i0][j0] = A[i0][j0]\n"
        .to_owned();
    text.push_str(&format!("  for t in 0..{repeats}\n"));
    for (k, (shift, is_other)) in phases.iter().enumerate() {
        let (i, j, next) = (k * 3 + 1, k * 3 + 2, k * 3 + 3);
        // The row of the same lanes, or that of other ones.
        let row = if *is_other {
            format!("1 - i{i}")
        } else {
            format!("i{i}")
        };
        text.push_str(&format!(
            "    local f64 next{next}[2][8]\n    block.x for i{i} in 0..2\n      lane for j{j} in 0..4\n        \
             next{next}[i{i}][j{j}] = row[{row}][j{j} + {shift}]\n    \
             block.x for i{next} in 0..2\n      lane for j{next} in 0..4\n        \
             row[i{next}][j{next}] = next{next}[i{next}][j{next}] + 1\n"
        ));
    }
    text.push_str("  block.x for i in 0..2\n    lane for j in 0..8\n      B[i][j] = row[i][j]\n");
    text
}

proptest! {
    #![proptest_config(config(150))]

    /// The same with lanes, whose elements are passed on, or in memory that warps share.
    #[test]
    fn proof_and_execution_agree_about_lanes(
        phases in prop::collection::vec((0i64..5, any::<bool>()), 1..4),
        repeats in 1i64..3,
        keep in any::<u16>(),
        of_warps in any::<u16>(),
    ) {
        let text = lanes(&phases, repeats);
        let case = case(&format!("let p = nest(`{text}`);"));
        let all = &case.phases.barriers;
        prop_assert_eq!(case.race(all), None, "{}", text);
        let exchanges = case.exchanges();
        let kept = all.iter().enumerate().filter(|(k, _)| keep >> k & 1 == 1);
        let kept: Vec<Barrier> = kept
            .map(|(k, barrier)| match of_warps >> k & 1 {
                1 => Barrier { of: Waiting::Warp, ..barrier.clone() },
                _ => barrier.clone(),
            })
            .collect();
        prop_assert_eq!(case.race(&kept).is_none(), is_ordered(&exchanges, &kept), "{} {:?}", text, kept);
        for k in 0..all.len() {
            let mut fewer = all.clone();
            let barrier = fewer.remove(k);
            prop_assert!(repeats == 1 || case.race(&fewer).is_some(), "{} does not need {:?}", text, barrier);
            prop_assert_eq!(case.race(&fewer).is_none(), is_ordered(&exchanges, &fewer), "{}", text);
            fewer.push(Barrier { of: Waiting::Warp, ..barrier });
            prop_assert_eq!(case.race(&fewer).is_none(), is_ordered(&exchanges, &fewer), "{}", text);
        }
    }

    /// Where execution finds a race, the proof refuses; and what the proof accepts has no race.
    #[test]
    fn proof_and_execution_agree(
        phases in prop::collection::vec((-2i64..3, -2i64..3, any::<bool>()), 1..5),
        repeats in 1i64..3,
        keep in any::<u16>(),
    ) {
        let text = rows(&phases, repeats);
        let case = case(&format!("let p = nest(`{text}`);"));
        let all = &case.phases.barriers;
        prop_assert_eq!(case.race(all), None, "{}", text);
        let kept = all.iter().enumerate().filter(|(k, _)| keep >> k & 1 == 1);
        let kept: Vec<Barrier> = kept.map(|(_, barrier)| barrier.clone()).collect();
        let exchanges = case.exchanges();
        if case.race(&kept).is_some() {
            prop_assert!(!is_ordered(&exchanges, &kept), "{} {:?}", text, kept);
        }
        for k in 0..all.len() {
            let mut fewer = all.clone();
            fewer.remove(k);
            let is_needed = case.race(&fewer).is_some();
            prop_assert!(!is_needed || !is_ordered(&exchanges, &fewer), "{}", text);
            prop_assert!(repeats == 1 || is_needed, "{} does not need {:?}", text, all[k]);
        }
    }
}
