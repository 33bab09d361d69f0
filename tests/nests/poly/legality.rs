//! The purpose of this room: dependences of real kernels, and the orders that keep them.

use super::regions::{Pairs, point};
use std::collections::BTreeMap;
use std::slice::from_ref;
use teml::poly::Relation::{Equal, Less, LessOrEqual};
use teml::poly::{Accesses, Error, Linear, Piece, Point, Set, UnionMap};

const STEPS: i64 = 3;
const SIZE: i64 = 6;
const LIMIT: usize = 100_000;
/// The offsets that a point of the stencil reads.
const STAR: [[i64; 2]; 5] = [[0, 0], [0, -1], [0, 1], [-1, 0], [1, 0]];
/// The two statements of jacobi-2d, with what they write and read.
const STATEMENTS: [(&str, &str, &str); 2] = [("S", "B", "A"), ("T", "A", "B")];

fn listed(map: &UnionMap) -> Pairs {
    map.pairs(LIMIT).unwrap().into_iter().collect()
}

fn offset(name: &str, constant: i64) -> Linear {
    Linear::new([(1, name)], constant)
}

fn statement(name: &str) -> Piece {
    let inside = |piece: Piece, i| {
        piece
            .constrain(1, LessOrEqual, i)
            .constrain(i, Less, SIZE - 1)
    };
    let piece = Piece::set(name, ["t", "i", "j"])
        .constrain(0, LessOrEqual, "t")
        .constrain("t", Less, STEPS);
    inside(inside(piece, "i"), "j")
}

/// Writes and reads.
fn accesses() -> Result<[UnionMap; 2], Error> {
    let writes = STATEMENTS.map(|(name, to, _)| statement(name).to(to, ["i".into(), "j".into()]));
    let reads: Vec<Piece> = STATEMENTS
        .iter()
        .flat_map(|(name, _, from)| {
            STAR.map(|[di, dj]| statement(name).to(from, [offset("i", di), offset("j", dj)]))
        })
        .collect();
    Ok([UnionMap::new(&writes)?, UnionMap::new(&reads)?])
}

/// A schedule: for each statement its time.
fn schedule(times: [Vec<Linear>; 2]) -> UnionMap {
    let pieces = STATEMENTS.iter().zip(times);
    let pieces: Vec<Piece> = pieces
        .map(|((name, ..), time)| statement(name).to("", time))
        .collect();
    UnionMap::new(&pieces).unwrap()
}

fn original() -> UnionMap {
    let time = |place: i64| vec!["t".into(), place.into(), "i".into(), "j".into()];
    schedule([time(0), time(1)])
}

/// All that must stay in order: pairs of accesses to one element, one of them a write.
fn dependences() -> UnionMap {
    let [writes, reads] = accesses().unwrap();
    let meet = |a: &UnionMap, b: &UnionMap| a.apply_range(&b.reverse().unwrap()).unwrap();
    let all = meet(&writes, &reads).union(&meet(&reads, &writes)).unwrap();
    let all = all.union(&meet(&writes, &writes)).unwrap();
    let order = original().lex_lt(&original()).unwrap();
    all.intersect(&order).unwrap()
}

fn instances() -> impl Iterator<Item = (&'static str, &'static str, &'static str, [i64; 3])> {
    let inner = 1..SIZE - 1;
    (0..STEPS).flat_map(move |t| {
        let inner = inner.clone();
        STATEMENTS.into_iter().flat_map(move |(name, to, from)| {
            let inner = inner.clone();
            inner.clone().flat_map(move |i| {
                let at = move |j| (name, to, from, [t, i, j]);
                inner.clone().map(at)
            })
        })
    })
}

#[test]
fn the_flow_of_jacobi_2d_is_that_of_its_execution() {
    let [writes, reads] = accesses().unwrap();
    let flow = Accesses {
        sink: &reads,
        must_source: Some(&writes),
        may_source: None,
        kill: None,
        schedule: &original(),
    };
    let flow = flow.flow().unwrap();
    let mut last: BTreeMap<(&str, i64, i64), Point> = BTreeMap::new();
    let (mut expected, mut unwritten) = (Pairs::new(), Pairs::new());
    for (name, to, from, at) in instances() {
        let [_, i, j] = at;
        let sink = point(name, &at);
        for [di, dj] in STAR {
            match last.get(&(from, i + di, j + dj)) {
                Some(source) => expected.insert((source.clone(), sink.clone())),
                None => unwritten.insert((sink.clone(), point(from, &[i + di, j + dj]))),
            };
        }
        last.insert((to, i, j), sink);
    }
    assert_eq!(listed(&flow.must), expected);
    assert_eq!(listed(&flow.may), expected);
    assert_eq!(listed(&flow.must_no_source), unwritten);
    // Each iteration reads what the half step before it wrote, at five places.
    let apart = |from: &str, to: &str| {
        let pairs = format!("{{ {from}[t, i, j] -> {to}[t, i, j] }}");
        let renamed = UnionMap::read(&pairs).unwrap();
        let same = flow.must.apply_range(&renamed).unwrap();
        same.deltas().unwrap().points(LIMIT).unwrap()
    };
    let star = |name: &str, dt: i64| {
        let mut points = STAR.map(|[i, j]| point(name, &[dt, i, j]));
        points.sort_unstable();
        points.to_vec()
    };
    assert_eq!(apart("T", "S"), star("S", 0));
    assert_eq!(apart("S", "T"), star("T", 1));
}

/// The pairs of the dependences that a schedule executes in the wrong order, or at once.
fn violated(schedule: &UnionMap) -> UnionMap {
    let order = schedule.lex_ge(schedule).unwrap();
    dependences().intersect(&order).unwrap()
}

#[test]
fn jacobi_2d_may_be_skewed_and_tiled_but_not_otherwise() {
    assert_eq!(violated(&original()).is_empty(), Ok(true));
    let skewed = |place: i64| {
        let entry = |name| Linear::new([(2, "t"), (1, name)], place);
        vec!["t".into(), entry("i"), entry("j"), place.into()]
    };
    let skewed = schedule([skewed(0), skewed(1)]);
    assert_eq!(violated(&skewed).is_empty(), Ok(true));
    // All distances are non-negative, so the loops are permutable.
    let permuted = UnionMap::read("{ [t, i, j, s] -> [j, i, t, s] }").unwrap();
    let permuted = skewed.apply_range(&permuted).unwrap();
    assert_eq!(violated(&permuted).is_empty(), Ok(true));

    let time = |place: i64| vec!["i".into(), "t".into(), "j".into(), place.into()];
    let interchanged = schedule([time(0), time(1)]);
    let violations = violated(&interchanged);
    let time = |p: &Point| {
        let [t, i, j] = p.coordinates[..] else {
            panic!("{p:?}");
        };
        (i, t, j, p.tuple.as_deref() == Some("T"))
    };
    let dependences = listed(&dependences());
    let expected = dependences.into_iter().filter(|(a, b)| time(a) >= time(b));
    let expected: Pairs = expected.collect();
    assert_eq!(listed(&violations), expected);
    // The first violation, of those from S to T.
    let of = |map: &teml::poly::Map| map.sample().unwrap().is_some_and(|(a, b)| a < b);
    let map = violations.maps().unwrap().into_iter().find(of).unwrap();
    let source = map.domain().unwrap().lexmin().unwrap();
    let first = map.intersect_domain(&source).unwrap().lexmin().unwrap();
    let (a, b) = first.sample().unwrap().unwrap();
    let from_s = |(a, b): &&(Point, Point)| a.tuple.as_deref() < b.tuple.as_deref();
    assert_eq!(Some(&(a, b)), expected.iter().find(from_s));
}

#[test]
fn what_runs_twice_or_never_is_seen() {
    // A loop of 10 in blocks of 4, without and with a guard.
    let blocks = || {
        Piece::set("B", ["o", "i"])
            .to("S", [Linear::new([(4, "o"), (1, "i")], 0)])
            .constrain(0, LessOrEqual, "o")
            .constrain("o", Less, 3)
            .constrain(0, LessOrEqual, "i")
            .constrain("i", Less, 4)
    };
    let all = Piece::set("S", ["i"])
        .constrain(0, LessOrEqual, "i")
        .constrain("i", Less, 10);
    let all = Set::new(&[all]).unwrap().to_union().unwrap();
    let unguarded = UnionMap::new(&[blocks()]).unwrap();
    assert_eq!(unguarded.is_bijective(), Ok(true));
    let beyond = unguarded.range().unwrap().subtract(&all).unwrap();
    assert_eq!(
        beyond.points(5).unwrap(),
        [point("S", &[10]), point("S", &[11])]
    );
    let guard = blocks().constrain(Linear::new([(4, "o"), (1, "i")], 0), Less, 10);
    let guarded = UnionMap::new(from_ref(&guard)).unwrap();
    assert_eq!(guarded.range().unwrap().is_equal(&all), Ok(true));
    // A remainder that starts too early.
    let rest = Piece::set("R", ["i"])
        .to("S", ["i".into()])
        .constrain("i", Equal, 9);
    let twice = UnionMap::new(&[guard, rest]).unwrap();
    assert_eq!(twice.is_single_valued(), Ok(true));
    assert_eq!(twice.is_injective(), Ok(false));
}

#[test]
fn lexmin_solves_integer_programs() {
    // The hyperplane of jacobi-1d with the least distance bound: u >= c·d for all distances d,
    // c·d >= 0, and c not zero; as in Bondhugula et al., PLDI 2008.
    let product = |[dt, di]: [i64; 2]| Linear::new([(dt, "ct"), (di, "ci")], 0);
    let mut piece = Piece::set("", ["u", "ct", "ci"])
        .constrain(0, LessOrEqual, "ct")
        .constrain(0, LessOrEqual, "ci")
        .constrain(1, LessOrEqual, Linear::new([(1, "ct"), (1, "ci")], 0));
    for distance in [[1, -1], [1, 0], [1, 1]] {
        piece = piece
            .constrain(0, LessOrEqual, product(distance))
            .constrain(product(distance), LessOrEqual, "u");
    }
    let best = |piece: &Piece| {
        let best = Set::new(from_ref(piece)).unwrap().lexmin().unwrap();
        best.sample().unwrap().unwrap().coordinates
    };
    assert_eq!(best(&piece), [1, 1, 0]);
    // The second one is independent of the first: skewed by one.
    assert_eq!(best(&piece.constrain(1, LessOrEqual, "ci")), [2, 1, 1]);
}
