//! For which sizes nests are legal.
//!
//! A violation names the sizes at which it exists. Conditions that exclude these sizes are tried,
//! and what is answered is proved.

use super::check::check;
use super::reassociation::Reductions;
use super::verdict::Verdict;
use super::violation::Violation;
use crate::ir::{Accepted, Condition, Name, Nest};

/// A condition excludes one violation after another, at most so many.
const VIOLATIONS: usize = 4;

/// A condition on sizes under which nests compute their definition. It is empty if they always do.
///
/// # Errors
/// The verdict on nests for which no condition was found.
pub fn needs(nests: &[Nest], reductions: Reductions) -> Result<Condition, Verdict> {
    let mut condition = Condition::default();
    let mut verdict = check(nests, reductions);
    for _ in 0..VIOLATIONS {
        if verdict == Verdict::Legal {
            return Ok(condition);
        }
        let excluding = excluding(nests, &verdict);
        let mut better = None;
        for more in excluding {
            let Some(narrower) = condition.and(&more) else {
                continue;
            };
            let plan = nests.iter().map(|nest| nest.narrowed(&narrower));
            let Ok(plan) = plan.collect::<Result<Vec<Nest>, Name>>() else {
                continue;
            };
            let next = check(&plan, reductions);
            if next == Verdict::Legal {
                return Ok(narrower);
            }
            if better.is_none() && next != verdict {
                better = Some((narrower, next));
            }
        }
        match better {
            Some(next) => (condition, verdict) = next,
            None => break,
        }
    }
    Err(verdict)
}

/// Conditions that may exclude a violation, the ones that hold at likely sizes first.
fn excluding(nests: &[Nest], verdict: &Verdict) -> Vec<Condition> {
    let Verdict::Illegal(violation) = verdict else {
        return Vec::new();
    };
    let Violation::AtSizes { when, at, .. } = &**violation else {
        return Vec::new();
    };
    let mut found: Vec<Condition> = Vec::new();
    let sizes = nests.iter().flat_map(Nest::sizes);
    let mut sizes: Vec<Name> = sizes
        .filter(|name| name.size().is_some_and(|size| size.of.is_none()))
        .collect();
    // Of several sizes, the violation is the least likely where the largest is limited.
    let least = |name: &Name| {
        at.iter()
            .find(|(known, _)| known == name)
            .map_or(0, |(_, v)| *v)
    };
    sizes.sort_by_key(|name| std::cmp::Reverse(least(name)));
    let mut add = |name: &Name, accepted: Accepted| {
        let condition = Condition::on(name.clone(), accepted);
        if !found.contains(&condition) {
            found.push(condition);
        }
    };
    let numbers = numbers(when);
    for name in &sizes {
        if least(name) > 0 {
            let most = Some(least(name) - 1);
            add(
                name,
                Accepted {
                    most,
                    ..Accepted::ALL
                },
            );
        }
        for number in &numbers {
            for least in [*number, number + 1] {
                add(
                    name,
                    Accepted {
                        least,
                        ..Accepted::ALL
                    },
                );
            }
            if *number > 1 {
                add(
                    name,
                    Accepted {
                        multiple: *number,
                        ..Accepted::ALL
                    },
                );
            }
        }
    }
    let is_likely = |condition: &Condition| {
        condition.holds(&|name| {
            let mut sizes = sizes.iter();
            let found = sizes.find(|known| *known == name)?;
            Some(found.size()?.likely)
        })
    };
    found.sort_by_key(|condition| !is_likely(condition));
    found
}

/// The numbers in a condition, such as `M <= 7`.
fn numbers(when: &str) -> Vec<i64> {
    let words = when.split(|c: char| !c.is_ascii_digit());
    let mut found: Vec<i64> = words.filter_map(|word| word.parse().ok()).collect();
    found.sort_unstable();
    found.dedup();
    found
}
