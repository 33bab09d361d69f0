//! Lists in versions: each version shares the unchanged items with the previous one, so that many
//! versions take little more memory than one.

use std::sync::Arc;

/// How many items a leaf has, and how many children an inner node.
const WIDTH: usize = 16;

#[derive(Debug)]
enum Node<T> {
    Leaf(Vec<T>),
    Inner(Vec<Arc<Node<T>>>),
}

/// A version of a list.
#[derive(Debug)]
pub struct Version<T> {
    /// None for an empty list.
    root: Option<Arc<Node<T>>>,
    len: usize,
}

impl<T> Default for Version<T> {
    fn default() -> Version<T> {
        Version { root: None, len: 0 }
    }
}

impl<T> Clone for Version<T> {
    fn clone(&self) -> Version<T> {
        Version {
            root: self.root.clone(),
            len: self.len,
        }
    }
}

impl<T> Version<T> {
    /// The number of items.
    pub fn len(&self) -> usize {
        self.len
    }

    /// The items in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &T> {
        let leaves = self.levels().into_iter().next().unwrap_or_default();
        leaves.into_iter().flat_map(items)
    }

    /// Whether both are one version.
    pub fn is(&self, other: &Version<T>) -> bool {
        match (&self.root, &other.root) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (None, None) => true,
            _ => false,
        }
    }

    /// The nodes of each level, the leaves first and the root last.
    fn levels(&self) -> Vec<Vec<&Arc<Node<T>>>> {
        let mut levels: Vec<Vec<&Arc<Node<T>>>> = self.root.iter().map(|r| vec![r]).collect();
        while let Some(lowest) = levels.last() {
            let below: Vec<&Arc<Node<T>>> = lowest.iter().flat_map(|node| children(node)).collect();
            if below.is_empty() {
                break;
            } else {
                levels.push(below)
            }
        }
        levels.reverse();
        levels
    }
}

impl<T: Clone> Version<T> {
    /// The next version, of `len` items. `changed` returns the new value of item `k`; `None` keeps
    /// the item of this version, which has to exist.
    pub fn next(&self, len: usize, changed: impl Fn(usize, Option<&T>) -> Option<T>) -> Version<T> {
        let old = self.levels();
        let leaves = old.first();
        let mut level: Vec<Arc<Node<T>>> = Vec::with_capacity(len.div_ceil(WIDTH));
        for first in (0..len).step_by(WIDTH) {
            let known = leaves.and_then(|leaves| leaves.get(first / WIDTH)).copied();
            let before = known.map_or(&[][..], |known| items(known));
            let range = first..len.min(first + WIDTH);
            let new: Vec<Option<T>> = range
                .clone()
                .map(|k| changed(k, before.get(k - first)))
                .collect();
            let is_same = before.len() == range.len() && new.iter().all(Option::is_none);
            level.push(match known.filter(|_| is_same) {
                Some(known) => known.clone(),
                None => {
                    let old = before.iter().map(Some).chain(std::iter::repeat(None));
                    let items = new.into_iter().zip(old);
                    let items = items.filter_map(|(new, old)| new.or_else(|| old.cloned()));
                    Arc::new(Node::Leaf(items.collect()))
                }
            });
        }
        let mut height = 1;
        while level.len() > 1 {
            let known = old.get(height);
            let group = |(k, group): (usize, &[Arc<Node<T>>])| {
                let known = known.and_then(|known| known.get(k)).copied();
                let same = |known: &&Arc<Node<T>>| {
                    let before = children(known);
                    let pairs = before.iter().zip(group);
                    before.len() == group.len() && pairs.clone().all(|(a, b)| Arc::ptr_eq(a, b))
                };
                match known.filter(same) {
                    Some(known) => known.clone(),
                    None => Arc::new(Node::Inner(group.to_vec())),
                }
            };
            level = level.chunks(WIDTH).enumerate().map(group).collect();
            height += 1;
        }
        Version {
            root: level.pop(),
            len,
        }
    }
}

fn items<T>(node: &Arc<Node<T>>) -> &[T] {
    match &**node {
        Node::Leaf(items) => items,
        Node::Inner(_) => &[],
    }
}

fn children<T>(node: &Arc<Node<T>>) -> &[Arc<Node<T>>] {
    match &**node {
        Node::Inner(children) => children,
        Node::Leaf(_) => &[],
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use std::collections::HashSet;

    /// How many places for items and children the nodes of versions have together.
    pub fn places<'v, T: 'v>(versions: impl IntoIterator<Item = &'v Version<T>>) -> usize {
        let mut known = HashSet::new();
        let mut places = 0;
        for version in versions {
            for node in version.levels().into_iter().flatten() {
                if known.insert(Arc::as_ptr(node)) {
                    places += items(node).len() + children(node).len();
                }
            }
        }
        places
    }

    #[test]
    fn versions_are_lists_and_share_what_did_not_change() {
        let mut versions: Vec<Version<usize>> = vec![Version::default()];
        let mut lists: Vec<Vec<usize>> = vec![Vec::new()];
        for step in 0..3000usize {
            let (version, list) = (&versions[step], &lists[step]);
            let mut new = list.clone();
            match step % 7 {
                0 => new.truncate(step * 31 % (list.len() + 1) + list.len() / 2),
                1 if !list.is_empty() => new[step * 17 % list.len()] = step,
                _ => new.push(step),
            }
            let next = version.next(new.len(), |k, old| (old != Some(&new[k])).then(|| new[k]));
            assert_eq!(next.len(), new.len());
            assert!(next.iter().eq(&new), "step {step}");
            assert!(next.iter().rev().eq(new.iter().rev()));
            versions.push(next);
            lists.push(new);
        }
        // The older versions are unchanged.
        let equal = |(version, list): (&Version<usize>, &Vec<usize>)| version.iter().eq(list);
        assert!(versions.iter().zip(&lists).all(equal));
        // One change copies one leaf and the nodes above it.
        let last = &versions[3000];
        let same = last.next(last.len(), |_, _| None);
        assert!(same.is(last));
        let other = last.next(last.len(), |k, _| (k == 40).then_some(0));
        let more = places([last, &other]) - places([last]);
        assert!(more <= 4 * WIDTH, "{more}");
    }
}
