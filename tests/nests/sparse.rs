//! Bounds that are read from tensors: random computations, random steps and random entries, against
//! the reference and symbolic execution; facts that are false; and proofs that use facts.

use crate::config::config;
use crate::dialog;
use dialog::nest;
use proptest::prelude::*;
use std::collections::HashMap;
use teml::interp::store::{Data, Store};
use teml::interp::symbolic::{Answer, Policy, compare_at};
use teml::interp::{definition, execute};
use teml::ir::{Affine, Entries, Loop, Mode, Nest, Order, Segment, Tensor, Tree};
use teml::runtime::{self, RuntimeError, Scalar, Values};
use teml::transform::nest::reverse::reverse;
use teml::{LoopRef, legality};

/// The tensors of all computations, of tiny extents.
fn declared(order: &str, rows: i64, entries: i64, columns: i64) -> String {
    let col = match order {
        "sorted" => "sorted(indices([Z], N), ptr)".to_owned(),
        order => format!("indices([Z], N, \"{order}\")"),
    };
    format!(
        "reductions(\"reassoc\");
         let R = {rows}; let Z = {entries}; let N = {columns};
         let ptr = indices([R + 1], Z + 1, \"increasing\");
         let col = {col}; let row = indices([Z], R);
         let q = indices([N + 1], Z + 1, \"increasing\");
         let of = indices([N], R);
         let V = tensor([Z]); let x = tensor([N]); let X = tensor([N, 5]); let P = tensor([R, 5]);"
    )
}

/// Computations: rows of sparse matrices, gathers, scatters, and entries with the pattern of an
/// operand.
const COMPUTED: [&str; 12] = [
    "sum(V[e] * x[col[e]], [e], #{e: ptr[i]..ptr[i + 1]})",
    "sum(V[e] * vat(X, [col[e], k]), [e], #{e: ptr[i]..ptr[i + 1]})",
    "eq(V[e] * vat(X, [col[e], k]) + 1.0, [e, k])",
    "max(V[e] * x[col[e]], [e], #{e: ptr[i]..ptr[i + 1]})",
    "scatter(V[e], [col[e]])",
    "scatter(V[e] * vat(P, [row[e], k]), [col[e], k])",
    "scatter(V[e] * vat(P, [i, k]) * vat(X, [col[e], k]), [e], #{e: ptr[i]..ptr[i + 1]})",
    "eq(vabs(vat(P, [of[col[e]], k])) * V[e], [e, k])",
    "einsum(\"ijk,jr->ir\", coo([row, col, row], V), X)",
    "scatter(V[e], [i, col[e]], #{e: ptr[i]..ptr[i + 1]})",
    "scatter(V[e] * vat(P, [i, k]), [col[e], k], #{e: ptr[i]..ptr[i + 1]})",
    "einsum(\"ij,jk->ik\", csr(ptr, col, V), csr(q, row, V))",
];

/// Steps, which may be refused.
const STEPS: [&str; 22] = [
    "n.interchange(1, 2)",
    "n.interchange(2, 3)",
    "n.interchange(3, 4)",
    "n.stripmine(1, 3)",
    "n.stripmine(2, 2)",
    "n.stripmine(depth(n), 2)",
    "n.stripmine(2, 2).rfactor(3)",
    "n.stripmine(2, 3).rfactor(3).vectorize(3)",
    "n.vectorize(3)",
    "n.parallelize(1)",
    "n.parallelize(2)",
    "n.parallelize(1, #{schedule: \"balanced\"})",
    "n.vectorize(2)",
    "n.stripmine(2, 2).vectorize(3)",
    "n.parallelize(1, #{atomic: true})",
    "n.parallelize(depth(n), #{atomic: true})",
    "n.vectorize(depth(n))",
    "n.reverse(1)",
    "n.rfactor(1)",
    "n.place_init(1)",
    "n.unroll_and_jam(1, 2)",
    "schedules::sparse(n, #{threads: 2, lanes: 4, region: 1})",
];

/// Entries that are as the facts say, from a seed. Of sorted ones, rows begin at `begins`, and longer
/// rows than there are values are left as they are.
fn entries(entries: &Entries, count: usize, seed: u64, begins: &[i64]) -> Vec<i64> {
    let bound = |bound: &teml::ir::Affine| bound.as_constant().unwrap();
    let (low, high) = (bound(&entries.low), bound(&entries.high));
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut random = move |values: i64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        low + (state % values.unsigned_abs()).cast_signed()
    };
    let mut all: Vec<i64> = (0..count).map(|_| random(high - low)).collect();
    match entries.order {
        Order::Any => {}
        Order::Increasing => all.sort_unstable(),
        Order::Distinct => {
            let mut left: Vec<i64> = (low..high).collect();
            for entry in &mut all {
                let k = usize::try_from(random(left.len().cast_signed() as i64) - low).unwrap();
                *entry = left.remove(k);
            }
        }
    }
    for row in begins.windows(2) {
        let row = &mut all[row[0] as usize..row[1] as usize];
        let free = high - low - row.len() as i64;
        let mut next = low;
        for (k, entry) in row.iter_mut().enumerate() {
            // The entries to come need some of the values that are left.
            let spare = (low + free + k as i64 - next).max(0);
            *entry = (next + (*entry - low) % (spare + 1)).min(high - 1);
            next = *entry + 1;
        }
    }
    all
}

/// Where rows begin, so that no row is longer than `most`.
fn shortened(begins: &mut [i64], most: i64) {
    for k in 1..begins.len() {
        begins[k] = begins[k].min(begins[k - 1] + most);
    }
}

/// Small positive numbers, with which sums in any order are exact and every term shows, and entries.
fn store(nest: &Nest, seed: u64) -> Store<'static> {
    let mut store: Store = HashMap::new();
    let targets = nest.definition().iter().filter_map(|e| e.tensor().cloned());
    let all: Vec<Tensor> = nest.tensors().into_iter().chain(targets).collect();
    let sorted = all.iter().find_map(|tensor| {
        let facts = tensor.entries()?;
        let (rows, values) = (facts.rows.as_ref()?, facts.high.as_constant()?);
        Some((rows.clone(), values))
    });
    // Where the rows of sorted entries begin.
    let mut begins: Vec<i64> = Vec::new();
    let values_of = |k: usize, tensor: &Tensor, begins: &[i64]| {
        let facts = tensor.entries()?;
        let count = usize::try_from(tensor.shape().elements()).unwrap();
        let begins = if facts.rows.is_some() { begins } else { &[] };
        let mut own = entries(facts, count, seed + k as u64, begins);
        match &sorted {
            Some((rows, values)) if tensor.name() == Some(rows) => shortened(&mut own, *values),
            _ => {}
        }
        Some(own)
    };
    for (k, tensor) in all.iter().enumerate() {
        if sorted
            .as_ref()
            .is_some_and(|(rows, _)| tensor.name() == Some(rows))
        {
            begins = values_of(k, tensor, &[]).unwrap();
        }
    }
    for (k, tensor) in all.iter().enumerate() {
        let name = tensor.name().unwrap().clone();
        let own = values_of(k, tensor, &begins);
        let value = move |x: u64| match &own {
            Some(entries) => entries[usize::try_from(x).unwrap()] as f64,
            None => ((x * 7 + k as u64 * 5 + seed) % 9) as f64 + 1.0,
        };
        store.insert(name, Data::generate(tensor, value));
    }
    store
}

/// Trees with other bounds in the loop whose bounds are read that `countdown` reaches 0 at: none,
/// those of one entry alone, one entry more, or blocks that are longer by one.
fn damaged(trees: &[Tree], kind: u8, countdown: &mut usize) -> Vec<Tree> {
    let mut of_loop = |l: &Loop| {
        let mut range = l.range.clone();
        if let Some(read) = &l.range.within {
            if *countdown == 0 {
                range.within = match kind {
                    0 => None,
                    1 => Some(Segment::at(
                        read.lower.as_ref().unwrap_or(&read.upper).clone(),
                    )),
                    2 => Some(Segment {
                        step: read.step + 1,
                        ..read.clone()
                    }),
                    _ => Some(Segment {
                        upper: read.upper.plus(&Affine::constant(1)),
                        ..read.clone()
                    }),
                };
            }
            *countdown = countdown.wrapping_sub(1);
        }
        let body = damaged(&l.body, kind, countdown);
        Tree::of_loop(Loop {
            range,
            body,
            ..l.clone()
        })
    };
    let of_tree = |tree: &Tree| match tree {
        Tree::Loop(l) => of_loop(l),
        other => other.clone(),
    };
    trees.iter().map(of_tree).collect()
}

/// The nest with parallel loops of affine bounds run backwards, which must not matter.
fn backwards(nest: &Nest) -> Nest {
    let parallel = |nest: &Nest, after: usize| {
        let loops = nest.loops().into_iter().map(|(_, l)| l).skip(after);
        let mut loops = loops.enumerate();
        let found = loops.find(|(_, l)| !matches!(l.mode, Mode::Serial));
        found.map(|(k, l)| (k + after, l.name.clone()))
    };
    let (mut made, mut after) = (nest.clone(), 0);
    while let Some((k, name)) = parallel(&made, after) {
        if let Ok(reversed) = reverse(&made, &LoopRef::Name(name.to_string())) {
            made = reversed;
        }
        after = k + 1;
    }
    made
}

proptest! {
    #![proptest_config(config(60))]

    /// Nests that are proved compute their definition, on any entries that are as the facts say.
    /// The order of loops that run in parallel does not matter, and symbolic execution agrees. Bounds
    /// that were damaged are noticed.
    #[test]
    fn legal_steps_keep_what_is_computed(
        computed in proptest::sample::select(&COMPUTED[..]),
        order in proptest::sample::select(&["any", "distinct", "increasing", "sorted"][..]),
        (rows, count, spare) in (1..5i64, 1..8i64, 1..4i64),
        steps in proptest::collection::vec(proptest::sample::select(&STEPS[..]), 0..5),
        seed in 0..1000u64,
        (is_damaged, kind, at) in (any::<bool>(), 0..4u8, 0..4usize),
    ) {
        let declared = declared(order, rows, count, count + spare);
        let steps: Vec<String> = steps
            .iter()
            .map(|step| format!("try {{ n = {step}; }} catch {{ }}"))
            .collect();
        let script = format!(
            "let T = {computed}; let n = build(T); {} n",
            steps.join("\n")
        );
        let mut nest = nest(&format!("{declared}\n"), &format!("{{ {script} }}"));
        if is_damaged {
            nest = nest.with_trees(damaged(nest.trees(), kind, &mut at.clone()));
        }
        let reductions = legality::Reductions::Reassociate;
        if legality::check(std::slice::from_ref(&nest), reductions) != legality::Verdict::Legal {
            return Ok(());
        }
        let before = store(&nest, seed);
        let policy = Policy::Reassociate;
        let answer = compare_at(std::slice::from_ref(&nest), &before, policy, &|| false);
        let is_equal = matches!(answer, Ok(Answer::Equal { .. }));
        prop_assert!(is_equal, "{:?}: {}\n{}", answer, computed, nest);
        let mut expected = before.clone();
        definition::run(nest.definition(), &mut expected).unwrap();
        for order in [nest.clone(), backwards(&nest)] {
            let mut found = before.clone();
            execute::run(&order, &mut found).unwrap();
            for tensor in nest.tensors() {
                let name = tensor.name().unwrap();
                prop_assert_eq!(&found[name], &expected[name], "{}: {}\n{}", name, computed, order);
            }
        }
    }

    /// Entries that are not as the facts say are refused, with the first place that shows it.
    #[test]
    fn false_facts_are_noticed(
        order in proptest::sample::select(&["any", "distinct", "increasing"][..]),
        count in 2..9i64,
        seed in 0..1000u64,
        (at, kind) in (0..9i64, 0..3u8),
    ) {
        let shown = nest(
            &format!("let p = indices([{count}], {count} + 3, \"{order}\"); let x = tensor([{count} + 3]);
                      let y = eq(x[p[i]], [i]);"),
            "build(y)",
        );
        let tensor: Tensor = shown.tensors().into_iter().find(|t| t.entries().is_some()).unwrap();
        let facts = tensor.entries().unwrap();
        let mut all = entries(facts, usize::try_from(count).unwrap(), seed, &[]);
        let check = |all: &[i64]| {
            let numbers: Vec<Scalar> = all.iter().map(|x| Scalar::Integer(*x)).collect();
            let values = Values::new(&tensor, &numbers).unwrap();
            runtime::Data::Values(std::sync::Arc::new(values)).check(&tensor)
        };
        prop_assert_eq!(check(&all), Ok(()));
        let at = usize::try_from(at % count).unwrap();
        let other = (at + 1) % all.len();
        match (kind, facts.order) {
            (0, _) => all[at] = -1,
            (1, _) => all[at] = count + 3,
            (_, Order::Any) => return Ok(()),
            (_, Order::Distinct) => all[at] = all[other],
            (_, Order::Increasing) => {
                let last = all.len() - 1;
                (all[last - 1], all[last]) = (3, 2);
            }
        }
        prop_assert!(matches!(check(&all), Err(RuntimeError::FalseFact(_))), "{all:?}");
    }
}

/// Threads get neighboring rows with equal numbers of entries, and rows that entries name are fetched line
/// by line, from entries that exist.
#[test]
fn shares_of_rows_and_fetched_rows_in_c() {
    let text = "f64 Y[400][16], V[9000], X[70][16]\\ni64 ptr[401] increasing in 0..9001\\n\
                i32 col[9000] in 0..70\\nparallel balanced from(9) for i in 2..399\\n  \
                for e in ptr[i]..ptr[i + 1] prefetch(X, 4)\\n    let c = col[e]\\n      \
                for k in 0..16\\n        Y[i][k] += V[e] * X[c][k]\\n";
    let shown = dialog::shown("", &format!("`${{codegen(nest(\"{text}\"))}}`"));
    let shown = shown.unwrap();
    let line = "teml_first = 2 + teml_first_row_i64(&ptr[2], 397, teml_share, teml_shares)";
    for part in [
        line,
        "#pragma omp parallel for schedule(static, 1)",
        "const int64_t teml_first = 2, teml_end = 399;",
        "&X[col[teml_min64(e + 4, 8999)]][0] + 64*teml_line",
    ] {
        assert!(
            shown.contains(part),
            "{part}: {}",
            shown.replace("\\n", "\n")
        );
    }
}

/// Sorted entries that do not increase in a row are refused, with the row.
#[test]
fn unsorted_rows_are_noticed() {
    let shown = nest(
        "let ptr = indices([4], 7, \"increasing\"); let col = sorted(indices([6], 5), ptr);
         let V = tensor([6]);
         let A = scatter(V[e], [i, col[e]], #{e: ptr[i]..ptr[i + 1]});",
        "build(A)",
    );
    let tensors = shown.tensors();
    let named = |name: &str| tensors.iter().find(|t| t.label() == name).unwrap();
    let data = |name: &str, all: &[i64]| {
        let numbers: Vec<Scalar> = all.iter().map(|x| Scalar::Integer(*x)).collect();
        let values = Values::new(named(name), &numbers).unwrap();
        runtime::Data::Values(std::sync::Arc::new(values))
    };
    let ptr = data("ptr", &[0, 2, 2, 6]);
    let check = |col: &[i64]| {
        let of = |_: &teml::ir::Name| Some((named("ptr"), &ptr));
        data("col", col).check_rows(named("col"), &of)
    };
    assert_eq!(check(&[3, 4, 0, 1, 2, 4]), Ok(()));
    for (col, why) in [
        ([3, 3, 0, 1, 2, 4], "row 0 has col[0] = 3 and col[1] = 3"),
        ([3, 4, 0, 1, 4, 2], "row 2 has col[4] = 4 and col[5] = 2"),
    ] {
        let error = check(&col).unwrap_err().to_string();
        assert!(
            error.contains("sorted(ptr) in 0..5") && error.contains(why),
            "{error}"
        );
    }
}

/// Each fact is needed: without it, the same step is refused.
#[test]
fn facts_make_steps_legal() {
    let cases = [
        (
            "distinct",
            "scatter(V[e], [col[e]])",
            "parallelize(\"e\")",
            true,
        ),
        (
            "any",
            "scatter(V[e], [col[e]])",
            "parallelize(\"e\")",
            false,
        ),
        (
            "increasing",
            "scatter(V[e], [col[e]])",
            "parallelize(\"e\")",
            false,
        ),
        (
            "any",
            COMPUTED[4],
            "parallelize(\"e\", #{atomic: true})",
            true,
        ),
        (
            "any",
            COMPUTED[0],
            "parallelize(\"e\", #{atomic: true})",
            true,
        ),
        (
            "any",
            COMPUTED[3],
            "parallelize(\"e\", #{atomic: true})",
            false,
        ),
        ("any", COMPUTED[9], "vectorize(\"e\")", false),
        ("sorted", COMPUTED[9], "vectorize(\"e\")", true),
        ("sorted", COMPUTED[9], "parallelize(\"e\")", true),
        (
            "sorted",
            COMPUTED[9],
            "stripmine(\"e\", 2).vectorize(3)",
            true,
        ),
        (
            "any",
            COMPUTED[9],
            "stripmine(\"e\", 2).vectorize(3)",
            false,
        ),
        ("sorted", COMPUTED[10], "vectorize(\"e\")", true),
        ("sorted", COMPUTED[10], "parallelize(\"i\")", false),
        (
            "sorted",
            "scatter(V[e], [col[e]])",
            "parallelize(\"e\")",
            false,
        ),
        ("any", COMPUTED[6], "parallelize(\"i\")", true),
        ("any", COMPUTED[6], "parallelize(\"e\")", true),
        ("any", COMPUTED[0], "parallelize(\"e\")", false),
        ("any", COMPUTED[0], "parallelize(\"i\")", true),
    ];
    for (order, computed, step, expected) in cases {
        let declared = declared(order, 4, 7, 9);
        let legal = format!("let T = {computed}; check(build(T).{step}).legal");
        let shown = dialog::shown(&declared, &format!("{{ {legal} }}"));
        assert_eq!(
            shown.unwrap(),
            format!("=> {expected}"),
            "{order} {computed} {step}"
        );
    }
}

/// Sums of floating-point numbers by atomic operations need the policy, and nothing may read an
/// element that others update.
#[test]
fn atomic_updates_are_sums_that_nothing_reads() {
    let declared = "let bin = indices([9], 4); let w = tensor([9]); let k = tensor([9], \"i64\");";
    let answer = |made: &str| {
        let shown = dialog::shown(declared, &format!("{{ {made} }}")).unwrap();
        shown.replace("\\n", "\n")
    };
    let strict =
        "let h = scatter(w[e], [bin[e]]); `${check(build(h).parallelize(\"e\", #{atomic: true}))}`";
    assert!(
        answer(strict).contains("combined in another order"),
        "{}",
        answer(strict)
    );
    let integers =
        "let h = scatter(k[e], [bin[e]]); `${check(build(h).parallelize(\"e\", #{atomic: true}))}`";
    assert!(answer(integers).contains("legal") && !answer(integers).contains("illegal"));
    let read = "reductions(\"reassoc\");
        let n = nest(\"f64 h[4], w[9], t[9]\\nfill h[0..4] = 0\\nfor e in 0..9\\n  h[0] += w[e]\\n  t[e] = h[0]\\n\");
        `${check(n.parallelize(\"e\", #{atomic: true}))}`";
    assert!(answer(read).contains("illegal"), "{}", answer(read));
}

/// Rows of a matrix whose pointers need not increase may share entries.
#[test]
fn rows_that_overlap_are_found() {
    let shown = dialog::shown(
        "let ptr = indices([5], 8); let V = tensor([7]); let a = tensor([4]);",
        "{ let T = scatter(V[e] * a[i], [e], #{e: ptr[i]..ptr[i + 1]});
           `${check(build(T).parallelize(\"i\"))}` }",
    );
    assert!(shown.unwrap().contains("both update T["));
}

/// Definitions that read different entries are not equal, although their iterations look alike.
#[test]
fn definitions_that_read_other_entries_are_not_called_equal() {
    let shown = dialog::shown(
        "let p = indices([5], 7); let q = indices([5], 7); let x = tensor([7]); let y = tensor([5]);",
        "{ let a = eq(x[p[i]] * y[i], [i]); let b = eq(x[q[i]] * y[i], [i]); `${equal(a, b)}` }",
    );
    let shown = shown.unwrap();
    assert!(!shown.contains("are the same expressions"), "{shown}");
}

/// The comprehensions of SaC gather as definitions do.
#[test]
fn comprehensions_gather() {
    let declared = "let col = indices([9], 6); let of = indices([6], 4); let x = tensor([6]); let t = tensor([4]);";
    for (comprehension, definition) in [
        (
            "{ [e] -> x[col[e]] * 2.0 | [0] <= [e] < [9] }",
            "eq(x[col[e]] * 2.0, [e])",
        ),
        (
            "{ [e] -> t[of[col[e]]] | [0] <= [e] < [9] }",
            "eq(t[of[col[e]]], [e])",
        ),
    ] {
        let both =
            format!("{{ let a = sac {comprehension}; let b = {definition}; `${{build(a)}}` }}");
        let shown = dialog::shown(declared, &both).unwrap();
        let built = dialog::shown(
            declared,
            &format!("{{ let a = {definition}; `${{build(a)}}` }}"),
        );
        assert_eq!(shown, built.unwrap());
    }
    for (wrong, why) in [
        (
            "{ [e] -> t[col[e]] | [0] <= [e] < [9] }",
            "takes the values 0 to 5, and the extent is 4",
        ),
        (
            "{ [e] -> x[x[e]] | [0] <= [e] < [6] }",
            "an index must be affine in index variables",
        ),
        (
            "{ [e] -> { [i] -> x[i] + i | [0] <= [i] < [6] }[col[e]] | [0] <= [e] < [9] }",
            "an entry indexes an array",
        ),
    ] {
        let error = dialog::shown(declared, &format!("{{ let a = sac {wrong}; 1 }}")).unwrap_err();
        assert!(error.contains(why), "{error}");
    }
}

/// Conditions on data become choices between values, which keep proofs as they are.
#[test]
fn conditions_in_texts_are_choices() {
    let text = "f64 y[9], x[9], s[]\\ni64 m[9]\\nfor i in 0..9\\n  if m[i] > 2 && x[i] < 1.5\\n    y[i] = x[i]\\n    s[] += x[i]\\n";
    let shown = dialog::shown(
        "",
        &format!("{{ let n = nest(\"{text}\"); `${{n}} ${{check(n.parallelize(\"i\")).legal}}` }}"),
    );
    let shown = shown.unwrap();
    for line in [
        "y[i] = select(m[i] > 2, select(x[i] < 1.5, x[i], y[i]), y[i])",
        "s[] += select(m[i] > 2, select(x[i] < 1.5, x[i], 0), 0)",
    ] {
        assert!(shown.contains(line), "{shown}");
    }
    let refused = [
        (
            "fill y[0..9] = 0",
            "`fill y[0..9] = 0` cannot depend on data",
        ),
        (
            "m[i] = 3\\n    y[i] = x[i]",
            "`m[i] = 3` changes what the condition reads",
        ),
        ("break", "is not supported"),
    ];
    for (line, message) in refused {
        let text =
            format!("f64 y[9], x[9]\\ni64 m[9]\\nfor i in 0..9\\n  if m[i] > 2\\n    {line}\\n");
        let error = dialog::shown("", &format!("nest(\"{text}\")")).unwrap_err();
        assert!(error.contains(message), "{error}");
    }
}
