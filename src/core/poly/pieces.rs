//! Sets and maps made of pieces. isl gets matrices of coefficients, which is many times faster than
//! parsing text.

use super::context::Context;
use super::contradiction::contradict;
use super::error::Error;
use super::handle::Handle;
use super::library::{RawMatrix, RawSpace, RawValue};
use super::map::{Map, UnionMap};
use super::minimum::{First, first};
use super::names::escape;
use super::notation::{Piece, Rows, text};
use super::point::{CONSTANT, DIVISIONS, DOMAIN, PARAMETERS, Point, RANGE};
use super::set::{Set, UnionSet};
use std::ffi::{CString, c_int, c_uint};
use std::rc::Rc;

impl Piece {
    /// Whether there is no point or pair. isl decides if the quick test does not.
    pub fn is_empty(&self) -> Result<bool, Error> {
        let parameters = parameters(std::slice::from_ref(self));
        let plain = rows(self, &parameters)?;
        for selection in self.selections() {
            let mut rows = plain.clone();
            let added = rows.extend(selection.iter().copied());
            added.map_err(|name| undeclared(self, name))?;
            if contradict(&rows) {
                continue;
            }
            let piece = self.selected(&selection);
            let is_empty = match piece.range {
                Some(_) => Map::new(&[piece])?.is_empty()?,
                None => Set::new(&[piece])?.is_empty()?,
            };
            if !is_empty {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether the quick test shows that there is no point or pair, whatever is chosen.
    pub fn is_contradictory(&self) -> Result<bool, Error> {
        let parameters = parameters(std::slice::from_ref(self));
        Ok(contradict(&rows(self, &parameters)?))
    }

    /// The lexicographically first point of a set, if any. isl decides if a variable has no lower
    /// bound, or if numbers become too large.
    ///
    /// # Errors
    /// The set is unbounded in this direction.
    pub fn first(&self) -> Result<Option<Point>, Error> {
        let chosen = self.chosen();
        if let ([piece], None, true) =
            (&chosen[..], &self.range, self.parameters().next().is_none())
        {
            let mut found = match first(&rows(piece, &[])?) {
                First::Point(values) => Some(values),
                First::Empty => return Ok(None),
                First::Unknown => None,
            };
            let (_, (tuple, coordinates)) = self.tuples();
            if let Some(values) = &mut found {
                values.truncate(coordinates.len());
            }
            if let Some(coordinates) = found {
                let tuple = (!tuple.is_empty()).then(|| tuple.clone());
                return Ok(Some(Point { tuple, coordinates }));
            }
        }
        Set::new(std::slice::from_ref(self))?.lexmin()?.sample()
    }
}

impl Set {
    /// The union of the pieces.
    pub fn new(pieces: &[Piece]) -> Result<Set, Error> {
        let all = union(sets(pieces)?, Set::union)?;
        all.map_or_else(|| Set::read("{ }"), Ok)
    }
}

impl Map {
    /// The union of the pieces.
    pub fn new(pieces: &[Piece]) -> Result<Map, Error> {
        let all = union(maps(pieces)?, Map::union)?;
        all.map_or_else(|| Map::read("{ }"), Ok)
    }
}

impl UnionSet {
    /// The union of the pieces.
    pub fn new(pieces: &[Piece]) -> Result<UnionSet, Error> {
        let sets: Result<_, _> = sets(pieces)?.iter().map(Set::to_union).collect();
        let all = union(sets?, UnionSet::union)?;
        all.map_or_else(|| UnionSet::read("{ }"), Ok)
    }
}

impl UnionMap {
    /// The union of the pieces.
    pub fn new(pieces: &[Piece]) -> Result<UnionMap, Error> {
        let maps: Result<_, _> = maps(pieces)?.iter().map(Map::to_union).collect();
        let all = union(maps?, UnionMap::union)?;
        all.map_or_else(|| UnionMap::read("{ }"), Ok)
    }
}

/// The union as a balanced tree, since isl copies the lists that it joins.
fn union<T>(
    mut parts: Vec<T>,
    join: impl Fn(&T, &T) -> Result<T, Error>,
) -> Result<Option<T>, Error> {
    while parts.len() > 1 {
        let mut joined = Vec::with_capacity(parts.len().div_ceil(2));
        let mut rest = parts.into_iter();
        while let Some(one) = rest.next() {
            joined.push(match rest.next() {
                Some(other) => join(&one, &other)?,
                None => one,
            });
        }
        parts = joined;
    }
    Ok(parts.pop())
}

/// A set for each of the pieces.
fn sets(pieces: &[Piece]) -> Result<Vec<Set>, Error> {
    if let Some(piece) = pieces.iter().find(|p| p.range.is_some()) {
        return Err(refused(piece, "a map is not a set"));
    }
    let parameters = parameters(pieces);
    let pieces = pieces.iter().flat_map(Piece::chosen);
    let sets = pieces.map(|p| map(&p, &parameters)?.range());
    sets.collect()
}

/// A map for each of the pieces.
fn maps(pieces: &[Piece]) -> Result<Vec<Map>, Error> {
    if let Some(piece) = pieces.iter().find(|p| p.range.is_none()) {
        return Err(refused(piece, "a set is not a map"));
    }
    let parameters = parameters(pieces);
    let pieces = pieces.iter().flat_map(Piece::chosen);
    pieces.map(|p| map(&p, &parameters)).collect()
}

fn refused(piece: &Piece, reason: &str) -> Error {
    Error::Text {
        text: text(std::slice::from_ref(piece)),
        reason: reason.to_owned(),
    }
}

/// The parameters of all pieces, without duplicates.
fn parameters(pieces: &[Piece]) -> Vec<&str> {
    let mut found: Vec<&str> = Vec::new();
    for name in pieces.iter().flat_map(Piece::parameters) {
        if !found.contains(&name.as_str()) {
            found.push(name);
        }
    }
    found
}

/// The rows of a piece without its choices.
fn rows<'a>(piece: &'a Piece, parameters: &[&'a str]) -> Result<Rows<'a>, Error> {
    Rows::of(piece, parameters).map_err(|name| undeclared(piece, name))
}

fn undeclared(piece: &Piece, name: &str) -> Error {
    let reason = format!("the variable `{name}` is not introduced");
    refused(piece, &reason)
}

/// The map of a piece. A set becomes a map from the point without coordinates.
///
/// Source: `isl_basic_map_from_constraint_matrices`.
fn map(piece: &Piece, parameters: &[&str]) -> Result<Map, Error> {
    let rows = rows(piece, parameters)?;
    let context = &Context::current()?;
    let library = context.library;
    let space = space(context, piece, parameters)?;
    let equations = matrix(context, &rows.equations, rows.columns)?;
    let inequalities = matrix(context, &rows.inequalities, rows.columns)?;
    // SAFETY: the functions take their arguments, return owned results, and null for null. Each
    // kind of columns is named once.
    unsafe {
        let basic = (library.basic_map_from_constraint_matrices)(
            space.take(),
            equations.take(),
            inequalities.take(),
            PARAMETERS,
            DOMAIN,
            RANGE,
            DIVISIONS,
            CONSTANT,
        );
        let raw = (library.map_from_basic_map)(basic);
        Handle::own(context, "basic_map_from_constraint_matrices", raw).map(Map)
    }
}

/// The tuples of a piece.
fn space(
    context: &Rc<Context>,
    piece: &Piece,
    parameters: &[&str],
) -> Result<Handle<RawSpace>, Error> {
    let library = context.library;
    let (domain, range) = piece.tuples();
    let count = |k: usize| c_uint::try_from(k).unwrap_or(c_uint::MAX);
    let name = |name: &str| {
        let escaped = CString::new(escape(name));
        escaped.map_err(|_| refused(piece, "a name contains a zero byte"))
    };
    let names = parameters.iter().map(|p| name(p));
    let names = names.collect::<Result<Vec<CString>, Error>>()?;
    let tuple_name = |tuple: &str| match tuple {
        "" => Ok(None),
        tuple => name(tuple).map(Some),
    };
    let coordinates = domain.map_or(0, |(_, values)| values.len());
    let tuples = [
        (
            DOMAIN,
            domain.map_or(Ok(None), |(tuple, _)| tuple_name(tuple))?,
        ),
        (RANGE, tuple_name(&range.0)?),
    ];
    // SAFETY: the context and the names are alive; isl copies the names. The functions take the
    // space, return an owned result, and null for null.
    unsafe {
        let mut raw = (library.space_alloc)(
            context.raw(),
            count(names.len()),
            count(coordinates),
            count(range.1.len()),
        );
        for (k, name) in names.iter().enumerate() {
            raw = (library.space_set_dim_name)(raw, PARAMETERS, count(k), name.as_ptr());
        }
        for (kind, name) in &tuples {
            if let Some(name) = name {
                raw = (library.space_set_tuple_name)(raw, *kind, name.as_ptr());
            }
        }
        Handle::own(context, "space_alloc", raw)
    }
}

fn matrix(
    context: &Rc<Context>,
    rows: &[Vec<i128>],
    columns: usize,
) -> Result<Handle<RawMatrix>, Error> {
    let library = context.library;
    let count = |k: usize| c_uint::try_from(k).unwrap_or(c_uint::MAX);
    let at = |k: usize| c_int::try_from(k).unwrap_or(c_int::MAX);
    // SAFETY: the context is alive. The functions take the matrix and the value, return an owned
    // result, and null for null; isl checks the position. A new matrix is uninitialized, but each
    // element is set here.
    unsafe {
        let mut raw = (library.mat_alloc)(context.raw(), count(rows.len()), count(columns));
        for (r, row) in rows.iter().enumerate() {
            for (c, number) in row.iter().enumerate() {
                raw = match c_int::try_from(*number) {
                    Ok(small) => (library.mat_set_element_si)(raw, at(r), at(c), small),
                    Err(_) => {
                        let value = large(context, *number)?;
                        (library.mat_set_element_val)(raw, at(r), at(c), value.take())
                    }
                };
            }
        }
        Handle::own(context, "mat_alloc", raw)
    }
}

/// A value of any size.
fn large(context: &Rc<Context>, number: i128) -> Result<Handle<RawValue>, Error> {
    let digits = CString::new(number.to_string()).unwrap_or_default();
    // SAFETY: the context and the text are alive; isl keeps no pointer to the text.
    unsafe {
        let raw = (context.library.val_read_from_str)(context.raw(), digits.as_ptr());
        Handle::own(context, "val_read_from_str", raw)
    }
}
