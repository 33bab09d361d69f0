//! Sets of integer points.

use super::assumed::{Parameters, assumed};
use super::error::Error;
use super::handle::{self, Handle, notation, operations};
use super::library::{RawBasicSet, RawPoint, RawSet, RawUnionSet};
use super::notation::Piece;
use super::point::{PARAMETERS, Point, RANGE, coordinates, tuple_name};
use std::ffi::c_uint;
use std::fmt;
use std::ops::Range;

/// A set of points of one tuple, as in `{ S[i, j] : 0 <= i < j < 10 }`.
pub struct Set(pub(super) Handle<RawSet>);

/// A set of points of any tuples, as in `{ S[i] : 0 <= i < 10; T[i, j] : 0 <= i < j < 10 }`.
pub struct UnionSet(pub(super) Handle<RawUnionSet>);

notation!(Set, set_read_from_str, set_to_str);
notation!(UnionSet, union_set_read_from_str, union_set_to_str);

impl Set {
    operations! {
        /// The points in both.
        intersect(other: Set) -> Set = set_intersect;
        /// The points in either.
        union(other: Set) -> Set = set_union;
        /// The points that are not in `other`.
        subtract(other: Set) -> Set = set_subtract;
        /// The same within `context`, simplified.
        gist(context: Set) -> Set = set_gist;
        /// The set of the lexicographically first point. It is an error if the set is unbounded in
        /// this direction.
        lexmin() -> Set = set_lexmin;
        /// The set of the lexicographically last point.
        lexmax() -> Set = set_lexmax;
        /// The values of the parameters for which there are points.
        params() -> Set = set_params;
        /// The set of one point for these values of the parameters.
        of_params() -> Set = set_from_params;
        /// The same set in fewer parts.
        coalesce() -> Set = set_coalesce;
        /// The same as a set of any tuples.
        to_union() -> UnionSet = union_set_from_set;
        /// Whether there is no point.
        is_empty() -> bool = set_is_empty;
        /// Whether there are finitely many points for given parameters.
        is_bounded() -> bool = set_is_bounded;
        /// Whether every point is in `other`.
        is_subset(other: Set) -> bool = set_is_subset;
        /// Whether the points are the same.
        is_equal(other: Set) -> bool = set_is_equal;
    }

    /// Projects out some of the coordinates. The tuple loses its name.
    ///
    /// Source: `isl_set_project_out`.
    pub fn project_out(&self, coordinates: Range<usize>) -> Result<Set, Error> {
        let context = &self.0.context;
        let (first, count) = range(coordinates);
        // SAFETY: the object is alive; the function takes a reference, returns an owned result and
        // checks the range.
        unsafe {
            let raw = (context.library.set_project_out)(self.0.take(), RANGE, first, count);
            Handle::own(context, "set_project_out", raw).map(Set)
        }
    }

    /// Basic sets (without alternatives) whose union this is. They may overlap.
    ///
    /// Source: `isl_set_foreach_basic_set`.
    pub fn parts(&self) -> Result<Vec<Set>, Error> {
        let mut parts = Vec::new();
        let context = &self.0.context;
        let visit = context.library.set_foreach_basic_set;
        let step = |part: Handle<RawBasicSet>| {
            // SAFETY: the function takes a reference to the part and returns an owned result.
            let part = unsafe {
                let raw = (context.library.set_from_basic_set)(part.take());
                Handle::own(context, "set_from_basic_set", raw)?
            };
            parts.push(Set(part));
            Ok(())
        };
        // SAFETY: the function keeps its argument and gives the parts.
        unsafe { self.0.each("set_foreach_basic_set", visit, step) }?;
        Ok(parts)
    }

    /// One of the points, or `None` if there is none.
    ///
    /// Source: `isl_set_sample_point`.
    pub fn sample(&self) -> Result<Option<Point>, Error> {
        if !assumed().is_empty() && self.count_of(PARAMETERS)? > 0 {
            return match self.depends_on()? {
                None => Ok(None),
                Some(parameters) => Err(Error::Depends(parameters)),
            };
        }
        let count = self.dimensions()?;
        let context = &self.0.context;
        // SAFETY: the object is alive; the function takes a reference and returns an owned result.
        let point = unsafe {
            let raw = (context.library.set_sample_point)(self.0.take());
            Handle::own(context, "set_sample_point", raw)?
        };
        let coordinates = coordinates(&point, count)?;
        let tuple = self.tuple();
        Ok(coordinates.map(|coordinates| Point { tuple, coordinates }))
    }

    /// All points in lexicographic order, at most `limit`.
    ///
    /// Source: `isl_set_foreach_point`.
    pub fn points(&self, limit: usize) -> Result<Vec<Point>, Error> {
        let count = self.dimensions()?;
        let tuple = self.tuple();
        let mut points = Vec::new();
        self.each_point(limit, |point| {
            let tuple = tuple.clone();
            let coordinates = coordinates(point, count)?;
            points.extend(coordinates.map(|coordinates| Point { tuple, coordinates }));
            Ok(())
        })?;
        points.sort_unstable();
        Ok(points)
    }

    /// The number of points, at most `limit`. Counts them one by one.
    ///
    /// Source: `isl_set_foreach_point`.
    pub fn count(&self, limit: usize) -> Result<usize, Error> {
        self.dimensions()?;
        self.each_point(limit, |_| Ok(()))
    }

    /// Visits at most `limit` points and counts them.
    fn each_point(
        &self,
        limit: usize,
        mut each: impl FnMut(&Handle<RawPoint>) -> Result<(), Error>,
    ) -> Result<usize, Error> {
        if !self.is_bounded()? {
            return Err(Error::Unbounded);
        }
        let mut count = 0;
        let visit = self.0.context.library.set_foreach_point;
        let step = |point: Handle<RawPoint>| {
            if count == limit {
                return Err(Error::TooMany { limit });
            }
            count += 1;
            each(&point)
        };
        // SAFETY: the function keeps its argument and gives the parts.
        unsafe { self.0.each("set_foreach_point", visit, step) }?;
        Ok(count)
    }

    /// The number of coordinates of the points. It is an error if there are parameters.
    fn dimensions(&self) -> Result<usize, Error> {
        match self.count_of(PARAMETERS)? {
            0 => self.count_of(RANGE),
            _ => Err(Error::Parameters),
        }
    }

    fn count_of(&self, kind: c_uint) -> Result<usize, Error> {
        let context = &self.0.context;
        // SAFETY: the object is alive; the function keeps it.
        let count = unsafe { (context.library.set_dim)(self.0.keep(), kind) };
        context.number("set_dim", count)
    }

    /// For which values of the assumed parameters there are points. `None` if there are none.
    ///
    /// # Errors
    /// isl has no answer.
    pub fn depends_on(&self) -> Result<Option<Parameters>, Error> {
        if self.is_empty()? {
            return Ok(None);
        }
        let own = self.params()?;
        let all = Set::new(&[Piece::set("", [])])?.params()?;
        let when = own.gist(&all)?.coalesce()?.text()?;
        let count = own.count_of(PARAMETERS)?;
        let names = (0..count).map(|k| own.parameter(k));
        let names = names.collect::<Result<Vec<String>, Error>>()?;
        let context = &self.0.context;
        let moved = own.of_params()?;
        let (_, count) = range(0..count);
        // SAFETY: the object is alive; the function takes a reference, returns an owned result and
        // checks the range.
        let moved = unsafe {
            let raw =
                (context.library.set_move_dims)(moved.0.take(), RANGE, 0, PARAMETERS, 0, count);
            Handle::own(context, "set_move_dims", raw).map(Set)?
        };
        let least = moved.lexmin()?.sample()?;
        Ok(least.map(|point| Parameters {
            at: names.into_iter().zip(point.coordinates).collect(),
            when: Parameters::condition(&when),
        }))
    }

    /// The name of a parameter.
    fn parameter(&self, k: usize) -> Result<String, Error> {
        let (k, _) = range(k..k);
        // SAFETY: the object is alive and keeps the name alive.
        let name = unsafe {
            tuple_name((self.0.context.library.set_get_dim_name)(
                self.0.keep(),
                PARAMETERS,
                k,
            ))
        };
        name.ok_or(Error::Parameters)
    }

    /// The name of the tuple, if any.
    pub fn tuple(&self) -> Option<String> {
        // SAFETY: the object is alive and keeps the name alive.
        unsafe { tuple_name((self.0.context.library.set_get_tuple_name)(self.0.keep())) }
    }
}

impl UnionSet {
    operations! {
        /// The points in both.
        intersect(other: UnionSet) -> UnionSet = union_set_intersect;
        /// The points in either.
        union(other: UnionSet) -> UnionSet = union_set_union;
        /// The points that are not in `other`.
        subtract(other: UnionSet) -> UnionSet = union_set_subtract;
        /// The same within `context`, simplified.
        gist(context: UnionSet) -> UnionSet = union_set_gist;
        /// The lexicographically first point of each tuple.
        lexmin() -> UnionSet = union_set_lexmin;
        /// The lexicographically last point of each tuple.
        lexmax() -> UnionSet = union_set_lexmax;
        /// The set of points, if they have one tuple. For an empty set isl may not know the tuple.
        to_set() -> Set = set_from_union_set;
        /// Whether there is no point.
        is_empty() -> bool = union_set_is_empty;
        /// Whether every point is in `other`.
        is_subset(other: UnionSet) -> bool = union_set_is_subset;
        /// Whether the points are the same.
        is_equal(other: UnionSet) -> bool = union_set_is_equal;
    }

    /// The sets of its tuples, in arbitrary order.
    ///
    /// Source: `isl_union_set_foreach_set`.
    pub fn sets(&self) -> Result<Vec<Set>, Error> {
        let mut sets = Vec::new();
        let visit = self.0.context.library.union_set_foreach_set;
        let step = |set: Handle<RawSet>| {
            sets.push(Set(set));
            Ok(())
        };
        // SAFETY: the function keeps its argument and gives the parts.
        unsafe { self.0.each("union_set_foreach_set", visit, step) }?;
        Ok(sets)
    }

    /// One of the points, or `None` if there is none.
    pub fn sample(&self) -> Result<Option<Point>, Error> {
        for set in self.sets()? {
            if let Some(point) = set.sample()? {
                return Ok(Some(point));
            }
        }
        Ok(None)
    }

    /// All points, at most `limit`, by tuple and in lexicographic order.
    pub fn points(&self, limit: usize) -> Result<Vec<Point>, Error> {
        let mut points = Vec::new();
        for set in self.sets()? {
            points.extend(
                set.points(limit - points.len())
                    .map_err(|e| whole(e, limit))?,
            );
        }
        points.sort_unstable();
        Ok(points)
    }

    /// The number of points, at most `limit`. Counts them one by one.
    pub fn count(&self, limit: usize) -> Result<usize, Error> {
        self.sets()?.iter().try_fold(0, |count, set| {
            let more = set.count(limit - count).map_err(|e| whole(e, limit))?;
            Ok(count + more)
        })
    }
}

/// Replaces the rest of a shared limit, which one part exceeded, by the whole limit.
pub(super) fn whole(error: Error, limit: usize) -> Error {
    match error {
        Error::TooMany { .. } => Error::TooMany { limit },
        other => other,
    }
}

/// A range in isl's form: first and count. Too large numbers stay too large.
pub(super) fn range(range: Range<usize>) -> (c_uint, c_uint) {
    let number = |n: usize| c_uint::try_from(n).unwrap_or(c_uint::MAX);
    (number(range.start), number(range.len()))
}
