//! Dataflow against brute force, and its use: whether another order is legal.

use super::config::config;
use super::regions::{Pairs, point};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use teml::poly::Relation::{Less, LessOrEqual};
use teml::poly::{Accesses, Error, Flow, Linear, Piece, UnionMap};

const LIMIT: usize = 100_000;

fn listed(map: &UnionMap) -> Result<Pairs, Error> {
    Ok(map.pairs(LIMIT)?.into_iter().collect())
}

/// The kinds of accesses.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Sink,
    Must,
    May,
    Kill,
}

/// A statement `name[i]` for `i` in `0..extent`, executed at time `[step * i + start, place]`.
#[derive(Clone, Debug)]
struct Statement {
    name: &'static str,
    extent: i64,
    step: i64,
    start: i64,
    /// Each accesses `A[factor * i + offset]`.
    accesses: Vec<(Kind, i64, i64)>,
}

fn statement(name: &'static str) -> impl Strategy<Value = Statement> {
    let kind = prop_oneof![
        3 => Just(Kind::Sink),
        3 => Just(Kind::Must),
        1 => Just(Kind::May),
        1 => Just(Kind::Kill),
    ];
    let access = (kind, -1..=2i64, -2..=2i64);
    (
        1..6i64,
        prop_oneof![Just(-1i64), Just(1), Just(2)],
        -2..3i64,
        prop::collection::vec(access, 1..4),
    )
        .prop_map(move |(extent, step, start, mut accesses)| {
            // A statement cannot be a source of both kinds, see `Accesses::may_source`.
            if accesses.iter().any(|(kind, ..)| *kind == Kind::Must) {
                accesses.retain(|(kind, ..)| *kind != Kind::May);
            }
            Statement {
                name,
                extent,
                step,
                start,
                accesses,
            }
        })
}

impl Statement {
    fn piece(&self) -> Piece {
        Piece::set(self.name, ["i"])
            .constrain(0, LessOrEqual, "i")
            .constrain("i", Less, self.extent)
    }

    fn accesses(&self, wanted: Kind) -> impl Iterator<Item = Piece> {
        let accesses = self
            .accesses
            .iter()
            .filter(move |(kind, ..)| *kind == wanted);
        accesses.map(|(_, factor, offset)| {
            let index = Linear::new([(*factor, "i")], *offset);
            self.piece().to("A", [index])
        })
    }
}

/// The flow that isl computes, in its four parts.
fn flow(statements: &[Statement]) -> Result<Flow, Error> {
    let union = |kind| {
        let pieces: Vec<Piece> = statements.iter().flat_map(|s| s.accesses(kind)).collect();
        UnionMap::new(&pieces)
    };
    let times: Vec<Piece> = (0..)
        .zip(statements)
        .map(|(place, s)| {
            let time = Linear::new([(s.step, "i")], s.start);
            s.piece().to("", [time, Linear::from(place)])
        })
        .collect();
    Accesses {
        sink: &union(Kind::Sink)?,
        must_source: Some(&union(Kind::Must)?),
        may_source: Some(&union(Kind::May)?),
        kill: Some(&union(Kind::Kill)?),
        schedule: &UnionMap::new(&times)?,
    }
    .flow()
}

/// Walks back from each access of the sink.
fn walked(statements: &[Statement]) -> [Pairs; 4] {
    let mut events = BTreeMap::new();
    for (place, s) in statements.iter().enumerate() {
        for i in 0..s.extent {
            let accesses = s.accesses.iter().map(|(kind, f, o)| (*kind, f * i + o));
            let event = (point(s.name, &[i]), accesses.collect::<Vec<_>>());
            events.insert((s.step * i + s.start, place), event);
        }
    }
    let mut result = [const { Pairs::new() }; 4];
    let [must, may, must_no_source, may_no_source] = &mut result;
    for (time, (sink, accesses)) in &events {
        for (_, element) in accesses.iter().filter(|(kind, _)| *kind == Kind::Sink) {
            let access = (sink.clone(), point("A", &[*element]));
            let (mut sure, mut found, mut killed) = (None, BTreeSet::new(), false);
            for (_, (source, accesses)) in events.range(..time).rev() {
                let does = |kind| accesses.contains(&(kind, *element));
                if does(Kind::May) && !does(Kind::Must) {
                    found.insert(source.clone());
                }
                if does(Kind::Must) || does(Kind::Kill) {
                    sure = does(Kind::Must).then(|| source.clone());
                    killed = !does(Kind::Must);
                    break;
                }
            }
            if sure.is_none() && !killed {
                may_no_source.insert(access.clone());
                if found.is_empty() {
                    must_no_source.insert(access.clone());
                }
            }
            if let (Some(source), true) = (&sure, found.is_empty()) {
                must.insert((source.clone(), sink.clone()));
            }
            let sources = found.into_iter().chain(sure);
            may.extend(sources.map(|source| (source, sink.clone())));
        }
    }
    result
}

proptest! {
    #![proptest_config(config(400))]

    #[test]
    fn dataflow(one in statement("S"), two in statement("T")) {
        let statements = [one, two];
        let flow = flow(&statements)?;
        let [must, may, must_no_source, may_no_source] = walked(&statements);
        prop_assert_eq!(listed(&flow.may)?, may, "may");
        prop_assert_eq!(listed(&flow.must)?, must, "must");
        prop_assert_eq!(listed(&flow.must_no_source)?, must_no_source, "must_no_source");
        prop_assert_eq!(listed(&flow.may_no_source)?, may_no_source, "may_no_source");
    }
}
