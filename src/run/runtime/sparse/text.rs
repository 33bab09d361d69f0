//! Sparse tensors as text: a line for each entry, with its indices from 1 and its value.
//!
//! Source: Boisvert, Pozo, Remington, *The Matrix Market Exchange Formats*, 1996; FROSTT, *The File
//! Format*, 2017.

use super::coordinates::Coordinates;
use crate::runtime::Values;
use std::fs::File;
use std::io::{BufRead, BufReader, Lines};
use std::path::Path;

/// The lines of a file with their numbers from 1, without comments and empty ones.
struct Numbered {
    lines: Lines<BufReader<File>>,
    number: usize,
    comment: char,
}

impl Numbered {
    fn open(file: &Path, comment: char) -> Result<Numbered, String> {
        let opened = File::open(file).map_err(|e| e.to_string())?;
        Ok(Numbered {
            lines: BufReader::new(opened).lines(),
            number: 0,
            comment,
        })
    }

    /// The next line, with comments. `None` at the end.
    fn line(&mut self) -> Result<Option<String>, String> {
        self.number += 1;
        let line = self.lines.next().transpose();
        line.map_err(|_| self.wrong("it is not text"))
    }

    fn next(&mut self) -> Result<Option<String>, String> {
        while let Some(line) = self.line()? {
            let begun = line.trim_start();
            if !begun.is_empty() && !begun.starts_with(self.comment) {
                return Ok(Some(line));
            }
        }
        Ok(None)
    }

    fn wrong(&self, what: impl AsRef<str>) -> String {
        format!("line {}: {}", self.number, what.as_ref())
    }

    fn number<T: std::str::FromStr>(&self, word: &str, what: &str) -> Result<T, String> {
        let number = word.parse();
        number.map_err(|_| match word {
            "" => self.wrong(format!("{what} is missing")),
            _ => self.wrong(format!("`{word}` is not {what}")),
        })
    }

    /// An index from 1, counted from 0.
    fn index(&self, word: &str, d: usize, extent: u64) -> Result<u64, String> {
        let index: u64 = self.number(word, "an index, which counts from 1")?;
        match index.checked_sub(1) {
            Some(from_0) if from_0 < extent => Ok(from_0),
            _ => Err(self.wrong(match extent {
                u64::MAX => format!("index {} is 0, but counts from 1", d + 1),
                _ => format!("index {} is {index}, outside of 1 to {extent}", d + 1),
            })),
        }
    }
}

/// How the elements above the diagonal follow from those below.
#[derive(Clone, Copy, PartialEq)]
enum Symmetry {
    None,
    Same,
    Negated,
}

/// Reads a matrix in the coordinate format of Matrix Market.
pub(super) fn matrix_market(file: &Path) -> Result<Coordinates, String> {
    let mut lines = Numbered::open(file, '%')?;
    let header = lines.line()?.unwrap_or_default().to_lowercase();
    let words: Vec<&str> = header.split_ascii_whitespace().collect();
    let ["%%matrixmarket", "matrix", kind, field, symmetry] = words[..] else {
        let what = "a header is `%%MatrixMarket matrix coordinate real general`";
        return Err(lines.wrong(what));
    };
    if kind != "coordinate" {
        return Err(lines.wrong(format!("`{kind}` lists all elements, not entries")));
    }
    let is_pattern = match field {
        "real" | "double" | "integer" => false,
        "pattern" => true,
        _ => return Err(lines.wrong(format!("`{field}` numbers cannot be read"))),
    };
    let symmetry = match symmetry {
        "general" => Symmetry::None,
        "symmetric" => Symmetry::Same,
        "skew-symmetric" => Symmetry::Negated,
        _ => return Err(lines.wrong(format!("`{symmetry}` matrices cannot be read"))),
    };
    let sizes = lines.next()?.unwrap_or_default();
    let sizes: Vec<&str> = sizes.split_ascii_whitespace().collect();
    let [rows, columns, count] = sizes[..] else {
        return Err(lines.wrong("the numbers of rows, of columns and of entries are missing"));
    };
    let shape = [rows, columns].map(|word| lines.number::<u64>(word, "an extent"));
    let [rows, columns] = shape;
    let shape = [rows?, columns?];
    let count: usize = lines.number(count, "a number of entries")?;
    let (mut index, mut values) = ([Vec::new(), Vec::new()], Vec::new());
    let mut read = 0;
    while let Some(line) = lines.next()? {
        let mut words = line.split_ascii_whitespace();
        let mut place = [0; 2];
        for (d, at) in place.iter_mut().enumerate() {
            let word = words.next().unwrap_or_default();
            *at = lines.index(word, d, shape[d])?;
        }
        let value: f64 = match is_pattern {
            true => 1.0,
            false => lines.number(words.next().unwrap_or_default(), "a number")?,
        };
        if let Some(more) = words.next() {
            return Err(lines.wrong(format!("`{more}` follows the entry")));
        }
        read += 1;
        if read > count {
            return Err(lines.wrong(format!("an entry beyond the {count} that are announced")));
        }
        let mut add = |[row, column]: [u64; 2], value| {
            index[0].push(row);
            index[1].push(column);
            values.push(value);
        };
        add(place, value);
        let mirrored = [place[1], place[0]];
        if symmetry != Symmetry::None && place != mirrored {
            if mirrored[0] >= shape[0] || mirrored[1] >= shape[1] {
                return Err(lines.wrong("a symmetric matrix has as many rows as columns"));
            }
            add(
                mirrored,
                if symmetry == Symmetry::Same {
                    value
                } else {
                    -value
                },
            );
        }
    }
    if read < count {
        let what = format!("the file ends after {read} of {count} entries");
        return Err(lines.wrong(what));
    }
    Coordinates::of(shape.to_vec(), &index, &Values::F64(values))
}

/// Reads a tensor in FROSTT's format. Its extents are the greatest indices.
pub(super) fn frostt(file: &Path) -> Result<Coordinates, String> {
    let mut lines = Numbered::open(file, '#')?;
    let (mut index, mut values): (Vec<Vec<u64>>, Vec<f64>) = (Vec::new(), Vec::new());
    while let Some(line) = lines.next()? {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let Some((value, place)) = words.split_last().filter(|(_, place)| !place.is_empty()) else {
            return Err(lines.wrong("an entry has its indices and its value"));
        };
        if values.is_empty() {
            index = vec![Vec::new(); place.len()];
        }
        if place.len() != index.len() {
            return Err(lines.wrong(format!(
                "an entry with {} indices, but the first one has {}",
                place.len(),
                index.len()
            )));
        }
        for (d, (word, of)) in place.iter().zip(&mut index).enumerate() {
            of.push(lines.index(word, d, u64::MAX)?);
        }
        values.push(lines.number(value, "a number")?);
    }
    let extents = index
        .iter()
        .map(|of| of.iter().max().map_or(0, |max| max + 1));
    Coordinates::of(extents.collect(), &index, &Values::F64(values))
}
