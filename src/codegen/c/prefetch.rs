//! Prints prefetches.

use super::printer::Printer;
use super::value::at;
use crate::analysis::prefetch_address::Touch;
use crate::analysis::prefetch_plan::{Lines, Slice};
use crate::ir::{Affine, Lookup, Tensor};
use crate::kernel::Header;

/// The most cache lines that are prefetched in an unrolled loop.
const MAX_UNROLLED_LINES: i64 = 32;

impl Printer<'_> {
    /// Prefetches an element; an index outside of the tensor is moved to the closest element.
    pub(super) fn prefetch(&mut self, touch: &Touch) {
        let Touch { tensor, index, .. } = touch;
        let dims = tensor.shape().dims();
        let last: Vec<Affine> = dims.iter().map(|extent| extent.plus_constant(-1)).collect();
        let Some(text) = self.inside(tensor, index, &last) else {
            return;
        };
        let write = if touch.write { ", 1" } else { "" };
        let lines = touch.lines.min(MAX_UNROLLED_LINES);
        if lines == 1 {
            return self.line(&format!("__builtin_prefetch(&{text}{write});"));
        }
        let bytes = self.target.line;
        let fetch =
            format!("__builtin_prefetch((const char *)&{text} + {bytes}*teml_line{write});");
        self.for_each_line(lines, &fetch);
    }

    /// Prefetches `count` lines, each at the number `teml_line` if there are several.
    fn for_each_line(&mut self, count: i64, fetch: &str) {
        if count == 1 {
            return self.line(fetch);
        }
        self.values.headers.insert(Header::Integers);
        // Processors mispredict the end of so short a loop, and restart the code after it.
        if count <= MAX_UNROLLED_LINES {
            self.unroll(count);
        }
        self.line(&format!(
            "for (int64_t teml_line = 0; teml_line < {count}; teml_line++) {{"
        ));
        self.depth += 1;
        self.line(fetch);
        self.depth -= 1;
        self.line("}");
    }

    /// Prefetches a share, line by line.
    pub(super) fn prefetch_slice(&mut self, share: &Slice) {
        let bytes = self.target.line.cast_signed();
        let Some((row, lines)) = lines(share, bytes).filter(|(_, lines)| *lines > 0) else {
            return;
        };
        let each = (lines + share.shares - 1) / share.shares;
        // Count bytes in a single row, and lines in several rows.
        let several = share.rows.count > 1;
        let (unit, end) = if several {
            (1, lines)
        } else {
            (bytes, row.bytes)
        };
        // If a line has several shares, all shares advance at the same pace: lines that are fetched
        // at once wait for each other.
        let pace = match share.shares / lines {
            2.. if !several => (end + share.shares - 3) / (share.shares - 1),
            _ => each * unit,
        };
        let from = share.number.times(pace);
        if !from.is_in_limits() {
            return;
        }
        let line = if several {
            "teml_line".to_owned()
        } else {
            format!("{bytes}*teml_line")
        };
        let mut at = match (from.as_constant(), each > 1) {
            (Some(0), true) => line,
            (_, true) => format!("{from} + {line}"),
            (_, false) => from.to_string(),
        };
        self.values.headers.insert(Header::Integers);
        let last = pace.saturating_mul(share.shares - 1);
        if last.saturating_add((each - 1).saturating_mul(unit)) >= end {
            self.values.headers.insert(Header::Support);
            at = format!("teml_min64({at}, {})", end - 1);
        }
        let mut row_of = None;
        if several {
            if !at.starts_with("teml_min64") {
                at = format!("({at})");
            }
            row_of = Some(format!(" + {at}/{}", row.lines));
            at = format!("{bytes}*({at}%{})", row.lines);
        }
        let Some(first) = self.first_element(share, row_of.as_deref()) else {
            return;
        };
        let write = if share.write { ", 1" } else { "" };
        let fetch = match at.as_str() {
            "0" => format!("__builtin_prefetch({first}{write});"),
            _ => format!("__builtin_prefetch((const char *){first} + {at}{write});"),
        };
        self.for_each_line(each, &fetch);
    }

    /// Prefetches the lines of an iteration, up to the last one.
    pub(super) fn prefetch_lines(&mut self, lines: &Lines) {
        let dims = lines.tensor.shape().dims();
        let last: Vec<Affine> = dims.iter().map(|extent| extent.plus_constant(-1)).collect();
        let Some(mut index) = self.inside_each(&lines.first, &last) else {
            return;
        };
        index.resize(dims.len(), "0".to_owned());
        let first = at(&lines.tensor, &index);
        let (line, each) = (self.target.line, lines.each);
        self.values.headers.insert(Header::Support);
        self.values.headers.insert(Header::Integers);
        let mut number = String::new();
        for (own, trips) in &lines.number {
            number = match number.as_str() {
                "" => own.to_string(),
                outer => format!("({outer})*({trips}) + {own}"),
            };
        }
        let size = lines.tensor.elem().size();
        let bytes = lines.extents.iter();
        let bytes = bytes.fold(size.to_string(), |product, e| format!("{product}*({e})"));
        let number = if each == 1 {
            number
        } else {
            format!("{each}*({number}) + teml_line")
        };
        let write = if lines.write { ", 1" } else { "" };
        let fetch = format!(
            "__builtin_prefetch((const char *)&{first} + \
             {line}*teml_min64({number}, ({bytes} - 1)/{line}){write});"
        );
        self.for_each_line(each, &fetch);
    }

    /// The address of the first element of a share, with `row_of` added if rows are counted.
    fn first_element(&mut self, share: &Slice, row_of: Option<&str>) -> Option<String> {
        let Some(next) = share.next.as_ref().filter(|next| next.later.is_in_limits()) else {
            return self.address(share, &share.first, row_of);
        };
        let iterator = Affine::iterator(next.of.clone());
        let ahead = next.later.minus(&iterator).as_constant();
        let last = ahead.map(|ahead| next.end.saturating_sub(ahead));
        let around = self.bounds.clone();
        if let Some(last) = last {
            self.bounds = around.within(&next.of, (i64::MIN, last.saturating_sub(1)));
        }
        let first = self.address(share, &share.first, row_of);
        if let Some(last) = last {
            self.bounds = around.within(&next.of, (last, i64::MAX));
        }
        let begun = self.address(share, &next.first, row_of);
        self.bounds = around;
        let (later, end) = (&next.later, next.end);
        Some(format!("({later} < {end} ? {} : {})", first?, begun?))
    }

    fn address(&mut self, share: &Slice, first: &[Affine], row_of: Option<&str>) -> Option<String> {
        let last: Vec<Affine> = share.last.iter().copied().map(Affine::constant).collect();
        let mut index = self.inside_each(first, &last)?;
        if let Some(row_of) = row_of {
            index[share.rows.dimension].push_str(row_of);
        }
        Some(format!("&{}", at(&share.tensor, &index)))
    }

    /// The element at an index that is clamped to `0..=last`.
    fn inside(&mut self, tensor: &Tensor, index: &[Affine], last: &[Affine]) -> Option<String> {
        Some(at(tensor, &self.inside_each(index, last)?))
    }

    fn inside_each(&mut self, index: &[Affine], last: &[Affine]) -> Option<Vec<String>> {
        if !index.iter().all(Affine::is_in_limits) {
            return None;
        }
        let mut texts = Vec::new();
        for (at, last) in index.iter().zip(last) {
            // Entries are in the bounds of what they index, as their facts say.
            if let Some(read) = Lookup::of(at) {
                let dims = read.tensor.shape().dims();
                let last: Vec<Affine> =
                    dims.iter().map(|extent| extent.plus_constant(-1)).collect();
                let entry = self.inside(&read.tensor, &read.index, &last)?;
                texts.push(match read.plus.to_string() {
                    none if none == "0" => entry,
                    plus => format!("{entry} + ({plus})"),
                });
                continue;
            }
            let (low, _) = self.bounds.interval(at).unwrap_or((i64::MIN, i64::MAX));
            let beyond = self.bounds.interval(&at.minus(last));
            let mut at = vec![at.clone()];
            if beyond.is_none_or(|(_, most)| most > 0) {
                at.push(last.clone());
            }
            let mut inside = self.bound("min", &at);
            if low < 0 {
                self.values.headers.insert(Header::Support);
                inside = format!("teml_max64({inside}, 0)");
            }
            texts.push(inside);
        }
        Some(texts)
    }
}

/// Elements that are contiguous in memory.
struct Row {
    bytes: i64,
    lines: i64,
}

/// A row of a share, and the number of cache lines in all of its rows.
fn lines(share: &Slice, line: i64) -> Option<(Row, i64)> {
    let size = share.tensor.elem().size() as i64;
    let bytes = i64::try_from(share.elements).ok()?.checked_mul(size)?;
    let lines = bytes.checked_add(line - 1)? / line;
    let rows = i64::try_from(share.rows.count).ok()?;
    Some((Row { bytes, lines }, lines.checked_mul(rows)?))
}
