//! Suggestions for misspelled names.

/// The candidate that `word` is most likely a misspelling of.
pub fn closest<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let length = word.chars().count();
    let allowed = match length {
        0..=4 => 1,
        5..=7 => 2,
        _ => 3,
    };
    candidates
        .into_iter()
        .filter(|c| *c != word)
        // Two short words that share nothing are not alike.
        .filter(|c| {
            let shares = || {
                c.to_lowercase()
                    .chars()
                    .any(|x| word.to_lowercase().contains(x))
            };
            c.chars().count().max(length) > 2 || shares()
        })
        .map(|c| (distance(word, c), c))
        .filter(|(d, c)| *d <= allowed && *d < c.chars().count().max(2))
        .min()
        .map(|(_, c)| c)
}

/// The number of insertions, deletions, replacements and swaps of neighbors between two words;
/// a change of case alone counts as one.
fn distance(a: &str, b: &str) -> usize {
    if a.to_lowercase() == b.to_lowercase() {
        return usize::from(a != b);
    }
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for (i, row) in rows.iter_mut().enumerate() {
        row[0] = i;
    }
    for (j, cell) in rows[0].iter_mut().enumerate() {
        *cell = j;
    }
    for i in 1..=a.len() {
        for j in 1..=b.len() {
            let same = usize::from(a[i - 1] != b[j - 1]);
            let mut best = (rows[i - 1][j - 1] + same)
                .min(rows[i - 1][j] + 1)
                .min(rows[i][j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            rows[i][j] = best;
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggests_what_is_near() {
        let words = ["interchange", "unroll", "naive", "A", "n", "stripmine"];
        assert_eq!(closest("intercahnge", words), Some("interchange"));
        assert_eq!(closest("nive", words), Some("naive"));
        assert_eq!(closest("strip_mine", words), Some("stripmine"));
        assert_eq!(closest("a", words), Some("A"));
        assert_eq!(closest("quicksort", words), None);
        assert_eq!(closest("B", words), None);
    }
}
