//! The scattering functions of the baseline, in Pluto's notation, statement by statement, after
//! tiling and the order within tiles. They equal those of Pluto 0.13.

use super::polybench::{definition, values};
use std::collections::HashMap;
use std::path::PathBuf;
use teml::ir::{Affine, Loop, Name, Nest, Stmt, Tree};
use teml::transform::trace;
use teml::verbs::Size;

/// Kernels, each with its nests and the options beside those of the test, and what its statements
/// become; lines that begin with `#` are remarks.
fn expected() -> String {
    let file =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/nests/baseline/scattering.txt");
    std::fs::read_to_string(file).unwrap()
}

#[test]
fn kernels_have_plutos_scattering_functions() {
    let (mut wrong, mut count) = (String::new(), 0);
    for block in expected().split("\n\n") {
        let source = block.lines().find_map(|line| line.strip_prefix("# "));
        let sources = ["Pluto's ", "By hand: ", "Scattering functions"];
        let has_source = source.is_some_and(|text| sources.iter().any(|s| text.starts_with(s)));
        assert!(has_source, "no source:\n{block}");
        let lines = block.lines().filter(|line| !line.starts_with('#'));
        let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
        let [kernel, expected @ ..] = lines.as_slice() else {
            continue;
        };
        count += 1;
        let parts: Vec<&str> = kernel.split("; ").collect();
        let [script, nests, options] = parts.as_slice() else {
            panic!("{kernel}");
        };
        let call = format!("json(pluto({nests}, #{{unrolljam: false, {options}}}))");
        let shown = values(Size::Bench, &definition(script), &[call]);
        let json: String = serde_json::from_str(shown[0].trim_start_matches("=> ")).unwrap();
        let nest = with_guards(&trace::from_json(&json).unwrap());
        let found = scattering(&nest);
        if found != expected {
            wrong += &format!("{kernel}\n{}\n\n", found.join("\n"));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(count >= 24, "{count}");
}

/// The nest before guards and empty iterations were taken out of its loops, which cuts these into
/// parts.
fn with_guards(nest: &Nest) -> Nest {
    let steps = nest.path().steps();
    let cuts = ["separate", "tighten"];
    match steps.iter().position(|step| cuts.contains(&step.op)) {
        Some(k) => trace::undo(nest, i64::try_from(steps.len() - k).unwrap()).unwrap(),
        None => nest.clone(),
    }
}

/// `S1(i, j): (i/32, j/32, i, j)` for each statement of the definition.
fn scattering(nest: &Nest) -> Vec<String> {
    let names = iterators(nest);
    let mut found: Vec<Option<String>> = vec![None; names.len()];
    walk(nest.trees(), &mut Vec::new(), &mut |around, stmt| {
        let Some(origin) = &stmt.origin else { return };
        let own = &names[origin.assignment];
        let text = format!(
            "S{}({}): ({})",
            origin.assignment + 1,
            own.join(", "),
            dimensions(around, &origin.point, own).join(", ")
        );
        // Copies at the ends of ranges, which guards make, have less information.
        let unknown = |text: &String| text.matches('?').count();
        let best = &mut found[origin.assignment];
        if best
            .as_ref()
            .is_none_or(|best| unknown(&text) < unknown(best))
        {
            *best = Some(text);
        }
    });
    found.into_iter().flatten().collect()
}

/// The iterators of each statement of the definition.
fn iterators(nest: &Nest) -> Vec<Vec<String>> {
    let mut names = Vec::new();
    for part in nest.originals() {
        walk(&part.trees, &mut Vec::new(), &mut |around, _| {
            let loops = around.iter().filter_map(|at| match at {
                At::Loop(l) => Some(short(&l.name)),
                At::Place(_) => None,
            });
            names.push(loops.collect());
        });
    }
    names
}

/// The name without the number that makes it differ from those of other nests.
fn short(name: &Name) -> String {
    let name = name.as_str();
    match name.rsplit_once('_') {
        Some((first, number)) if number.chars().all(|c| c.is_ascii_digit()) => first.to_owned(),
        _ => name.to_owned(),
    }
}

/// A level around a statement.
#[derive(Clone)]
enum At<'a> {
    /// Which of several trees.
    Place(usize),
    Loop(&'a Loop),
}

fn walk<'a>(
    trees: &'a [Tree],
    around: &mut Vec<At<'a>>,
    each: &mut dyn FnMut(&[At<'a>], &'a Stmt),
) {
    let inner = trees
        .iter()
        .filter(|t| matches!(t, Tree::Loop(_) | Tree::Stmt(_)));
    let inner: Vec<&Tree> = inner.collect();
    let places = places(&inner);
    let several = places.iter().any(|place| *place > 0);
    for (tree, place) in inner.iter().zip(places) {
        if several {
            around.push(At::Place(place));
        }
        match tree {
            Tree::Loop(l) => {
                around.push(At::Loop(l));
                walk(&l.body, around, each);
                around.pop();
            }
            Tree::Stmt(s) => each(around, s),
            _ => {}
        }
        if several {
            around.pop();
        }
    }
}

/// The position of each tree in the sequence. Trees that share a statement have one position, as do
/// all trees between them.
fn places(trees: &[&Tree]) -> Vec<usize> {
    let mut places: Vec<usize> = Vec::new();
    let mut executed: Vec<Vec<usize>> = Vec::new();
    for tree in trees {
        let own = statements(tree);
        let shares = |other: &Vec<usize>| other.iter().any(|s| own.contains(s));
        let place = match executed.iter().position(shares) {
            Some(k) => places[k],
            None => places.last().map_or(0, |last| last + 1),
        };
        // Trees between copies of a statement share their position.
        let after = places.iter_mut().filter(|p| **p > place);
        after.for_each(|p| *p = place);
        places.push(place);
        executed.push(own);
    }
    places
}

/// The statements of the definition that a tree executes.
fn statements(tree: &Tree) -> Vec<usize> {
    match tree {
        Tree::Loop(l) => l.body.iter().flat_map(statements).collect(),
        Tree::Stmt(s) => s.origin.iter().map(|origin| origin.assignment).collect(),
        _ => Vec::new(),
    }
}

/// The size of tiles by default. Bounds with other multiples follow from several tile loops.
const SIZE: i64 = 32;

/// Each level in terms of the iterators of the definition. `point` has these as affine functions of
/// the loops.
fn dimensions(around: &[At], point: &[Affine], names: &[String]) -> Vec<String> {
    let loops: Vec<&Loop> = around
        .iter()
        .filter_map(|at| match at {
            At::Loop(l) => Some(*l),
            At::Place(_) => None,
        })
        .collect();
    let mut known: HashMap<Name, Vec<i64>> = HashMap::new();
    // Single-trip loops say nothing about the iterators.
    let mut point = point.to_vec();
    for l in loops.iter().rev() {
        if let Some(value) = only(l, &loops) {
            let old = |name: &Name| (*name == l.name).then(|| value.clone());
            point = point.iter().map(|a| a.substitute(&old)).collect();
        }
    }
    let own: Vec<&Loop> = loops
        .iter()
        .copied()
        .filter(|l| point.iter().any(|a| a.mentions(&l.name)))
        .collect();
    for (l, row) in own.iter().zip(inverse(&point, &own).unwrap_or_default()) {
        known.insert(l.name.clone(), row);
    }
    for l in &loops {
        // One tile is a loop over tiles.
        let value = only(l, &loops).filter(|value| value.as_constant().is_none());
        if let Some(row) = value.and_then(|value| row_of(&value, &known, names)) {
            known.entry(l.name.clone()).or_insert(row);
        }
    }
    // A guard has the iteration of a surrounding loop, or none.
    let is_guard = |l: &Loop, outer: &Loop| {
        let iterator = Affine::iterator(outer.name.clone());
        let next = iterator.plus_constant(1);
        l.range.lower.contains(&iterator) && l.range.upper.contains(&next)
    };
    let mut guards: Vec<&Name> = Vec::new();
    for l in loops.iter().rev() {
        if let Some(outer) = loops.iter().rev().find(|outer| is_guard(l, outer)) {
            guards.push(&l.name);
            if let Some(row) = known.get(&l.name).cloned() {
                known.insert(outer.name.clone(), row);
            }
        }
    }
    // Loops over tiles, by the bounds of those within.
    let mut tiles: HashMap<Name, String> = HashMap::new();
    // Some bounds mention several tile loops, which other bounds identify.
    let all = loops.iter().rev().cycle();
    for (round, l) in all.take(loops.len() * loops.len()).enumerate() {
        let most = if round < loops.len() { 1 } else { loops.len() };
        let Some(row) = known.get(&l.name) else {
            continue;
        };
        let text = sum(row, names);
        for bound in &l.range.lower {
            let outer = bound.terms().iter().filter(|(n, _)| !known.contains_key(n));
            let outer: Vec<&(Name, i64)> = outer.collect();
            if outer.len() > most {
                continue;
            }
            let new: Vec<_> = outer
                .iter()
                .filter(|(n, _)| !tiles.contains_key(n))
                .collect();
            let ([(new, size)], true) =
                (new.as_slice(), outer.iter().all(|(_, c)| c.abs() == SIZE))
            else {
                continue;
            };
            let simple = !text.contains(['+', '-']);
            let own = if simple {
                text.clone()
            } else {
                format!("({text})")
            };
            let mut tile = format!("{own}/{size}");
            for (name, c) in outer.iter().filter(|(n, _)| n != new) {
                let sign = if *c < 0 { "+" } else { "-" };
                tile += &format!("{sign}{}", tiles[name]);
            }
            tiles.insert(new.clone(), tile);
        }
    }
    let text = |at: &At| match at {
        At::Place(k) => k.to_string(),
        At::Loop(l) => match (known.get(&l.name), tiles.get(&l.name)) {
            (Some(row), _) => sum(row, names),
            (None, Some(tile)) => tile.clone(),
            (None, None) => "?".to_owned(),
        },
    };
    let is_level = |at: &&At| match at {
        At::Place(_) => true,
        At::Loop(l) => !guards.contains(&&l.name),
    };
    around.iter().filter(is_level).map(text).collect()
}

/// The only value of a loop. That of a guard is the iterator of a surrounding loop, preferably the
/// one with more information.
fn only(l: &Loop, loops: &[&Loop]) -> Option<Affine> {
    let place = |b: &&Affine| {
        let is_iterator = |o: &&Loop| **b == Affine::iterator(o.name.clone());
        loops.iter().position(is_iterator).map_or(0, |k| k + 1)
    };
    let only = |b: &&Affine| l.range.upper.contains(&b.plus_constant(1));
    let values = l.range.lower.iter().filter(only);
    values.min_by_key(place).cloned()
}

/// A value in terms of the iterators of the definition.
fn row_of(value: &Affine, known: &HashMap<Name, Vec<i64>>, names: &[String]) -> Option<Vec<i64>> {
    let mut row = vec![0; names.len() + 1];
    row[names.len()] = value.offset();
    for (name, c) in value.terms() {
        for (sum, own) in row.iter_mut().zip(known.get(name)?) {
            *sum += c * own;
        }
    }
    Some(row)
}

/// For each loop the coefficients of the iterators of the definition, and a constant.
fn inverse(point: &[Affine], loops: &[&Loop]) -> Option<Vec<Vec<i64>>> {
    let (rows, count) = (point.len(), loops.len());
    // Each iterator minus its constant is a sum of multiples of loops.
    let mut matrix: Vec<Vec<i64>> = point
        .iter()
        .enumerate()
        .map(|(k, a)| {
            let left = loops.iter().map(|l| a.coefficient(&l.name));
            let right = (0..=rows).map(|q| match q {
                q if q == k => 1,
                q if q == rows => -a.offset(),
                _ => 0,
            });
            left.chain(right).collect()
        })
        .collect();
    for k in 0..count {
        let pivot = (k..rows).find(|r| matrix[*r][k].abs() == 1)?;
        matrix.swap(k, pivot);
        let sign = matrix[k][k];
        matrix[k].iter_mut().for_each(|c| *c *= sign);
        let base = matrix[k].clone();
        for (r, row) in matrix.iter_mut().enumerate() {
            let factor = row[k];
            if r != k {
                row.iter_mut()
                    .zip(&base)
                    .for_each(|(c, b)| *c -= factor * b);
            }
        }
    }
    Some(matrix.iter().map(|row| row[count..].to_vec()).collect())
}

/// `2t+i+1`.
fn sum(row: &[i64], names: &[String]) -> String {
    let mut text = String::new();
    for (k, c) in row.iter().enumerate() {
        let sign = if *c < 0 { "-" } else { "+" };
        match (names.get(k), c.abs()) {
            (_, 0) => {}
            (Some(name), 1) => text += &format!("{sign}{name}"),
            (Some(name), c) => text += &format!("{sign}{c}{name}"),
            (None, c) => text += &format!("{sign}{c}"),
        }
    }
    match text.trim_start_matches('+') {
        "" => "0".to_owned(),
        text => text.to_owned(),
    }
}
