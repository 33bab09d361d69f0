//! Strongly connected components, and topological orders of them.

/// The strongly connected components of a graph of `count` nodes, in Pluto's order. A depth-first
/// search visits each node in turn. A second one runs in the reversed graph, from the node that was
/// finished last. All edges between components lead forward. The nodes of a component are sorted.
///
/// Source: `ddg.c` of Pluto, which is Kosaraju's algorithm.
pub(super) fn components(count: usize, edges: &[(usize, usize)]) -> Vec<Vec<usize>> {
    let [mut next, mut back] = [vec![Vec::new(); count], vec![Vec::new(); count]];
    for (from, to) in edges {
        next[*from].push(*to);
        back[*to].push(*from);
    }
    for list in next.iter_mut().chain(&mut back) {
        list.sort_unstable();
    }
    let finished = forest(&next, 0..count).concat();
    let mut found = forest(&back, finished.into_iter().rev());
    found.iter_mut().for_each(|nodes| nodes.sort_unstable());
    found
}

/// The nodes reachable from each of `roots` and from no earlier root, in the order in which they
/// are finished.
fn forest(next: &[Vec<usize>], roots: impl Iterator<Item = usize>) -> Vec<Vec<usize>> {
    let mut seen = vec![false; next.len()];
    let mut trees = Vec::new();
    for root in roots {
        if seen[root] {
            continue;
        }
        seen[root] = true;
        let (mut finished, mut open) = (Vec::new(), vec![(root, 0)]);
        while let Some((node, at)) = open.last_mut() {
            match next[*node].get(*at) {
                Some(&to) => {
                    *at += 1;
                    if !seen[to] {
                        seen[to] = true;
                        open.push((to, 0));
                    }
                }
                None => {
                    finished.push(*node);
                    open.pop();
                }
            }
        }
        trees.push(finished);
    }
    trees
}

/// Components as intervals in the order of the nodes, for statements that must not change places.
/// Each interval includes the nodes between those of a component.
pub(super) fn intervals(count: usize, edges: &[(usize, usize)]) -> Vec<Vec<usize>> {
    let mut ends: Vec<usize> = (0..count).collect();
    for component in components(count, edges) {
        if let (Some(&first), Some(&last)) = (component.first(), component.last()) {
            ends[first] = last;
        }
    }
    let mut found: Vec<Vec<usize>> = Vec::new();
    let mut end = 0;
    for (k, last) in ends.into_iter().enumerate() {
        match found.last_mut() {
            Some(open) if k <= end => open.push(k),
            _ => found.push(vec![k]),
        }
        end = end.max(last);
    }
    found
}

/// Sorts groups of statements topologically. Ties keep the order of their first statements.
pub(super) fn in_order(mut groups: Vec<Vec<usize>>, edges: &[(usize, usize)]) -> Vec<Vec<usize>> {
    let mut sorted = Vec::with_capacity(groups.len());
    groups.sort_by_key(|group| group.iter().min().copied());
    while !groups.is_empty() {
        let waits = |group: &Vec<usize>| {
            let after = |(from, to): &(usize, usize)| {
                let elsewhere = |g: &Vec<usize>| g != group && g.contains(from);
                group.contains(to) && groups.iter().any(elsewhere)
            };
            edges.iter().any(after)
        };
        let next = groups.iter().position(|group| !waits(group)).unwrap_or(0);
        sorted.push(groups.remove(next));
    }
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_are_numbered_as_in_pluto() {
        // 2mm: both initializations, then both products, as in Pluto's test.
        let edges = [(0, 1), (1, 3), (2, 3)];
        assert_eq!(components(4, &edges), [[2], [0], [1], [3]]);
        assert_eq!(components(3, &[]), [[2], [1], [0]]);
        assert_eq!(
            components(3, &[(0, 1), (1, 0), (1, 2)]),
            [vec![0, 1], vec![2]]
        );
    }

    #[test]
    fn what_need_not_move_stays() {
        let groups = vec![vec![2], vec![0, 3], vec![1]];
        assert_eq!(
            in_order(groups.clone(), &[]),
            [vec![0, 3], vec![1], vec![2]]
        );
        assert_eq!(
            in_order(groups, &[(2, 3), (1, 2)]),
            [vec![1], vec![2], vec![0, 3]]
        );
    }
}
