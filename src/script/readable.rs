//! Lists and maps over several lines, where one is too short.

use crate::values::show;
use rhai::Dynamic;

/// More items of one list are counted, not shown.
const MOST: usize = 200;

/// A value as text of at most `width` columns, where its parts allow that.
pub fn readable(value: &Dynamic, width: usize) -> String {
    nested(value, width, 0)
}

fn nested(value: &Dynamic, width: usize, indent: usize) -> String {
    let flat = show(value);
    // `=> ` comes before the first line.
    if flat.chars().count() + indent + 3 <= width {
        return flat;
    }
    let (open, items, close) = if let Ok(list) = value.as_array_ref() {
        let items = list.iter().take(MOST);
        let items: Vec<String> = items.map(|v| nested(v, width, indent + 2)).collect();
        (("[", list.len()), items, "]")
    } else if let Ok(map) = value.as_map_ref() {
        let items = map.iter().take(MOST);
        let items = items.map(|(key, v)| format!("{key}: {}", nested(v, width, indent + 2)));
        (("#{", map.len()), items.collect(), "}")
    } else {
        return flat;
    };
    let ((open, count), room) = (open, width.saturating_sub(indent + 2));
    let mut lines: Vec<String> = Vec::new();
    for item in items {
        let fits = |line: &String| {
            !item.contains('\n') && !line.contains('\n') && line.len() + item.len() + 3 <= room
        };
        // Short items share lines, maps have one for each key.
        match lines.last_mut().filter(|line| open == "[" && fits(line)) {
            Some(line) => {
                line.push(' ');
                line.push_str(&item);
                line.push(',');
            }
            None => lines.push(format!("{item},")),
        }
    }
    if count > MOST {
        lines.push(format!("… {} more", count - MOST));
    }
    let (outer, inner) = (" ".repeat(indent), " ".repeat(indent + 2));
    let lines: String = lines.iter().map(|l| format!("{inner}{l}\n")).collect();
    format!("{open}\n{lines}{outer}{close}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lists_are_cut_into_lines() {
        let numbers: rhai::Array = (0..30).map(|n| Dynamic::from_int(n * 100)).collect();
        let mut map = rhai::Map::new();
        map.insert("short".into(), Dynamic::from_int(1));
        map.insert("list".into(), numbers.into());
        let shown = readable(&map.into(), 40);
        assert!(shown.lines().all(|l| l.chars().count() <= 40), "{shown}");
        assert!(
            shown.starts_with("#{\n  list: [\n    0, 100, 200,"),
            "{shown}"
        );
        assert!(shown.ends_with("\n  ],\n  short: 1,\n}"), "{shown}");
        assert_eq!(readable(&Dynamic::from_int(7), 3), "7");
    }
}
