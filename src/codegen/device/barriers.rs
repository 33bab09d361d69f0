//! Places barriers between the phases of a block.
//!
//! The innermost sequences come first: a barrier there also serves exchanges around it. In a
//! sequence, each exchange in one iteration is an interval of places. Intervals are stabbed in the
//! order of their ends, which takes the fewest places. Then come exchanges with a later iteration
//! of the loop. Barriers that others made needless are dropped at the end. Exchanges between lanes
//! of one warp come last, as a barrier of the block also serves them.
//!
//! `legality` decides whether a barrier lies between two accesses ([`Exchange::is_ordered`]), and is
//! asked about all of them at the end.

use crate::legality::{Barrier, Exchange, Waiting};

/// The barriers, in order.
pub(super) fn barriers(exchanges: &[Exchange]) -> Vec<Barrier> {
    let mut found: Vec<Barrier> = Vec::new();
    let mut order: Vec<&Exchange> = exchanges.iter().collect();
    order.sort_by_key(|e| {
        let (depth, at) = before(e);
        (e.is_in_warp, usize::MAX - depth, e.carried.is_some(), at)
    });
    for exchange in order {
        if !exchange.is_ordered(&found) {
            let (depth, _) = before(exchange);
            found.push(Barrier {
                at: exchange.to[..=depth].to_vec(),
                of: match exchange.is_in_warp {
                    true => Waiting::Warp,
                    false => Waiting::Block,
                },
            });
        }
    }
    found.sort();
    let mut k = 0;
    while k < found.len() {
        let mut fewer = found.clone();
        fewer.remove(k);
        match exchanges.iter().all(|e| e.is_ordered(&fewer)) {
            true => found = fewer,
            false => k += 1,
        }
    }
    found
}

/// The place right before the second access, in the outermost sequence where a barrier helps: the
/// depth of the sequence, and the position.
fn before(exchange: &Exchange) -> (usize, Vec<usize>) {
    let depth = match exchange.carried {
        Some(depth) => depth + 1,
        None => {
            let same = exchange.from.iter().zip(&exchange.to);
            same.take_while(|(a, b)| a == b).count()
        }
    };
    (
        depth,
        exchange.to.get(..=depth).unwrap_or_default().to_vec(),
    )
}
