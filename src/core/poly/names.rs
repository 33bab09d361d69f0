//! Escapes names as identifiers that isl accepts.

/// Keywords of isl, in any case.
const KEYWORDS: [&str; 18] = [
    "and", "ceil", "ceild", "exists", "false", "floor", "floord", "implies", "infinity", "infty",
    "max", "min", "mod", "nan", "not", "or", "rat", "true",
];

/// A unique identifier of isl for this name.
///
/// Identifiers are unchanged, unless they start with `_` or are keywords. All other names get a
/// leading `_`, and every character except letters and digits becomes its code in hexadecimal.
pub(super) fn escape(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric();
    if name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| plain(c) || c == '_')
        && !KEYWORDS.iter().any(|k| k.eq_ignore_ascii_case(name))
    {
        return name.to_owned();
    }
    let mut escaped = "_".to_owned();
    for c in name.chars() {
        if plain(c) {
            escaped.push(c)
        } else {
            escaped.push_str(&format!("_{:x}_", u32::from(c)))
        }
    }
    escaped
}

/// The name behind an identifier of [`escape`]; other identifiers are unchanged.
pub(super) fn unescape(identifier: &str) -> String {
    let Some(rest) = identifier.strip_prefix('_') else {
        return identifier.to_owned();
    };
    let parts = rest.split('_').enumerate().map(|(k, part)| match k % 2 {
        0 => part.to_owned(),
        _ => u32::from_str_radix(part, 16)
            .ok()
            .and_then(char::from_u32)
            .map(String::from)
            .unwrap_or_default(),
    });
    let name: String = parts.collect();
    if escape(&name) == identifier {
        name
    } else {
        identifier.to_owned()
    }
}
