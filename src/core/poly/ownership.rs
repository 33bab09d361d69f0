//! Tests that all references are released, by isl's own count before and after.

use super::context::Context;
use super::*;
use std::cell::RefCell;

/// Uses every function of this directory, rightly and wrongly. Stops when the budget is exhausted.
fn everything() -> Result<(), Error> {
    let stop = |error: Error| match error {
        Error::Quota { .. } => Err(error),
        _ => Ok(()),
    };
    let set = Set::read("{ S[i, j] : 0 <= i < j < 5; S[i, 7] : 0 <= i < 3 }")?;
    let other = Set::read("{ S[i, j] : i < 2 and (exists k : j = 2 k) and 0 <= j }")?;
    let map = Map::read("{ S[i, j] -> S[i + 1, j]; S[i, j] -> S[i, j + i] }")?;
    let piece = Piece::set("S", ["i", "j"]).parameter("n").exists("k");
    let piece = piece.constrain("i", Relation::Less, Linear::new([(3, "k")], i64::MAX));
    let made = UnionSet::new(&[piece.clone(), Piece::set("T", [])])?;
    let to = piece.clone().to("T", ["j".into(), 7.into()]);
    let _ = (
        made,
        Set::new(&[piece.clone(), piece])?,
        Map::new(std::slice::from_ref(&to))?,
    );
    for wrong in [
        to.constrain("l", Relation::Less, 3),
        Piece::set("\0", ["i"]),
    ] {
        UnionMap::new(std::slice::from_ref(&wrong))
            .map(drop)
            .or_else(stop)?;
        UnionSet::new(&[wrong]).map(drop).or_else(stop)?;
    }
    for one in [&set, &other] {
        for result in [
            one.intersect(&set),
            one.union(&set),
            one.subtract(&set),
            one.gist(&set),
            one.apply(&map),
            one.lexmin(),
            one.lexmax(),
            one.project_out(0..1),
            one.project_out(1..5),
            map.domain(),
            map.range(),
            map.deltas(),
            map.wrap(),
        ] {
            if let Ok(set) = &result {
                set.points(5).map(drop).or_else(stop)?;
                set.count(1000).map(drop).or_else(stop)?;
                set.sample()?;
                set.parts()?;
                set.nowhere_negative()?;
            }
            result.map(drop).or_else(stop)?;
        }
        let _ = (one.is_empty()?, one.is_bounded()?, one.is_subset(&set)?);
        let _ = (one.is_equal(&set)?, one.identity()?, one.text()?);
        let _ = (one.tuple(), one.clone());
        let (union, unions) = (one.to_union()?, map.to_union()?);
        let _ = (union.to_set()?, union.apply(&unions)?, union.sample()?);
        union.points(3).map(drop).or_else(stop)?;
    }
    let part = map.intersect_domain(&set)?;
    for result in [
        map.intersect(&part),
        map.union(&part),
        map.subtract(&part),
        map.gist(&part),
        map.intersect_range(&set),
        map.apply_domain(&map),
        map.apply_range(&map),
        map.reverse(),
        map.lexmin(),
        map.lexmax(),
        map.project_out_domain(0..1),
        map.project_out_range(1..2),
        map.project_out_range(1..9),
    ] {
        if let Ok(map) = &result {
            map.pairs(5).map(drop).or_else(stop)?;
            map.count(1000).map(drop).or_else(stop)?;
            map.sample()?;
            map.parts()?;
        }
        result.map(drop).or_else(stop)?;
    }
    let _ = (
        map.is_single_valued()?,
        map.is_injective()?,
        map.is_bijective()?,
    );
    let union = part.to_union()?;
    let _ = (union.sample()?, union.maps()?, union.to_map()?);
    union.pairs(5).map(drop).or_else(stop)?;
    let _ = union.transitive_closure()?;
    for order in [
        union.lex_lt(&union)?,
        union.lex_le(&union)?,
        union.lex_gt(&union)?,
        union.lex_ge(&union)?,
    ] {
        order.count(10).map(drop).or_else(stop)?;
        order.is_empty()?;
    }
    let flow = Accesses {
        sink: &union,
        must_source: Some(&union),
        may_source: Some(&union),
        kill: Some(&union),
        schedule: &UnionMap::read("{ S[i, j] -> [i, j] }")?,
    };
    flow.flow().map(drop)
}

#[test]
fn every_reference_is_given_back() {
    let context = Context::current().unwrap();
    assert_eq!(context.references(), 0);
    let set = Set::read("{ S[i] : 0 <= i < 5 }").unwrap();
    let one = context.references();
    assert!(one > 0);
    let copy = set.clone();
    drop(set);
    assert_eq!(copy.count(9), Ok(5));
    assert_eq!(context.references(), one);
    drop(copy);
    assert_eq!(context.references(), 0);
    everything().unwrap();
    assert_eq!(context.references(), 0);
    for wrong in [
        "{ S[i",
        "{ S[i] -> }",
        "{ S[q] : r < 0 }",
        "",
        "[n] -> { [i, }",
    ] {
        assert!(
            matches!(Set::read(wrong), Err(Error::Text { .. })),
            "{wrong}"
        );
        assert!(UnionMap::read(wrong).is_err(), "{wrong}");
    }
    assert_eq!(context.references(), 0);
}

#[test]
fn a_computation_that_is_cut_off_leaves_nothing_behind() {
    let context = Context::current().unwrap();
    let mut cut = 0;
    for operations in (1..).step_by(499) {
        let result = bounded(operations, everything);
        assert_eq!(context.references(), 0, "after {operations} operations");
        match result {
            Ok(()) => break,
            Err(error) => assert_eq!(error, Error::Quota { operations }),
        }
        cut += 1;
    }
    assert!(cut > 30, "cut off {cut} times only");
    assert_eq!(Set::read("{ S[i] : 0 <= i < 5 }").unwrap().count(9), Ok(5));
}

/// Dropped after the thread's reference to its context, since it was created later.
struct Late(RefCell<Option<Set>>);

impl Drop for Late {
    fn drop(&mut self) {
        let set = self.0.take().unwrap();
        assert!(
            Set::read("{ [i] }").is_err(),
            "the thread still holds its context"
        );
        assert_eq!(set.union(&set).unwrap().count(9), Ok(5));
    }
}

#[test]
fn sets_keep_their_context_alive() {
    thread_local! {
        static LATE: Late = const { Late(RefCell::new(None)) };
    }
    let thread = std::thread::spawn(|| {
        LATE.with(|late| {
            *late.0.borrow_mut() = Some(Set::read("{ S[i] : 0 <= i < 5 }").unwrap());
        });
    });
    thread.join().unwrap();
}
