//! Shares of a limit, as reports print them.

/// A higher share shows that the limit is wrong.
const BEATEN: f64 = 1.1;

/// Whether a time is below its limit by more than a tenth.
pub fn is_doubtful(share: f64) -> bool {
    share > BEATEN
}

/// The share in a table, such as `94.8 %`. A mark shows a doubtful limit, as in `130.0 % !`.
pub fn percent_of_limit(share: f64) -> String {
    let mark = if is_doubtful(share) { " !" } else { "" };
    format!("{:.1} %{mark}", 100.0 * share)
}

/// The share in a sentence, such as `95 % of the limit`.
pub fn of_limit(share: f64) -> String {
    let doubt = if is_doubtful(share) {
        ", which is doubtful"
    } else {
        ""
    };
    format!("{:.0} % of the limit{doubt}", 100.0 * share)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubtful_limits_are_marked() {
        assert_eq!(percent_of_limit(1.1), "110.0 %");
        assert_eq!(percent_of_limit(1.8), "180.0 % !");
        assert_eq!(of_limit(0.5), "50 % of the limit");
        assert_eq!(of_limit(1.8), "180 % of the limit, which is doubtful");
    }
}
