//! Relations between integer points, and what they do with sets.

use super::error::Error;
use super::handle::{self, Handle, notation, operations};
use super::library::{RawBasicMap, RawMap, RawUnionMap};
use super::point::{DOMAIN, Point, RANGE, tuple_name};
use super::set::{Set, UnionSet, range, whole};
use std::ffi::c_uint;
use std::fmt;
use std::ops::Range;

/// A relation from one tuple to another, as in `{ S[i, j] -> A[i, j + 1] : 0 <= i < 4 }`.
pub struct Map(pub(super) Handle<RawMap>);

/// A relation between any tuples.
pub struct UnionMap(pub(super) Handle<RawUnionMap>);

notation!(Map, map_read_from_str, map_to_str);
notation!(UnionMap, union_map_read_from_str, union_map_to_str);

impl Map {
    operations! {
        /// The pairs in both.
        intersect(other: Map) -> Map = map_intersect;
        /// The pairs in either.
        union(other: Map) -> Map = map_union;
        /// The pairs that are not in `other`.
        subtract(other: Map) -> Map = map_subtract;
        /// The same within `context`, simplified.
        gist(context: Map) -> Map = map_gist;
        /// The pairs from points of the set.
        intersect_domain(set: Set) -> Map = map_intersect_domain;
        /// The pairs to points of the set.
        intersect_range(set: Set) -> Map = map_intersect_range;
        /// Maps the first points through `other`.
        apply_domain(other: Map) -> Map = map_apply_domain;
        /// Maps the second points through `other`.
        apply_range(other: Map) -> Map = map_apply_range;
        /// The inverse relation.
        reverse() -> Map = map_reverse;
        /// From each point to its lexicographically first image.
        lexmin() -> Map = map_lexmin;
        /// From each point to its lexicographically last image.
        lexmax() -> Map = map_lexmax;
        /// The first points of all pairs.
        domain() -> Set = map_domain;
        /// The second points of all pairs.
        range() -> Set = map_range;
        /// The differences of all pairs, the second point minus the first.
        deltas() -> Set = map_deltas;
        /// The pairs as points of a nested tuple.
        wrap() -> Set = map_wrap;
        /// The same as a relation between any tuples.
        to_union() -> UnionMap = union_map_from_map;
        /// Whether there is no pair.
        is_empty() -> bool = map_is_empty;
        /// Whether every pair is in `other`.
        is_subset(other: Map) -> bool = map_is_subset;
        /// Whether the pairs are the same.
        is_equal(other: Map) -> bool = map_is_equal;
        /// Whether no point is related to two.
        is_single_valued() -> bool = map_is_single_valued;
        /// Whether no two points are related to the same one.
        is_injective() -> bool = map_is_injective;
        /// Whether it is single-valued and injective.
        is_bijective() -> bool = map_is_bijective;
    }

    /// The relation without some coordinates of the first points. Their tuple loses its name.
    ///
    /// Source: `isl_map_project_out`.
    pub fn project_out_domain(&self, coordinates: Range<usize>) -> Result<Map, Error> {
        self.project_out(DOMAIN, coordinates)
    }

    /// The relation without some coordinates of the second points. Their tuple loses its name.
    ///
    /// Source: `isl_map_project_out`.
    pub fn project_out_range(&self, coordinates: Range<usize>) -> Result<Map, Error> {
        self.project_out(RANGE, coordinates)
    }

    fn project_out(&self, side: c_uint, coordinates: Range<usize>) -> Result<Map, Error> {
        let context = &self.0.context;
        let (first, count) = range(coordinates);
        // SAFETY: the object is alive; the function takes a reference, returns an owned result and
        // checks the range.
        unsafe {
            let raw = (context.library.map_project_out)(self.0.take(), side, first, count);
            Handle::own(context, "map_project_out", raw).map(Map)
        }
    }

    /// Basic maps (without alternatives) whose union this is. They may overlap.
    ///
    /// Source: `isl_map_foreach_basic_map`.
    pub fn parts(&self) -> Result<Vec<Map>, Error> {
        let mut parts = Vec::new();
        let context = &self.0.context;
        let visit = context.library.map_foreach_basic_map;
        let step = |part: Handle<RawBasicMap>| {
            // SAFETY: the function takes a reference to the part and returns an owned result.
            let part = unsafe {
                let raw = (context.library.map_from_basic_map)(part.take());
                Handle::own(context, "map_from_basic_map", raw)?
            };
            parts.push(Map(part));
            Ok(())
        };
        // SAFETY: the function keeps its argument and gives the parts.
        unsafe { self.0.each("map_foreach_basic_map", visit, step) }?;
        Ok(parts)
    }

    /// The names of the tuples of the first and of the second points, if any.
    pub fn tuples(&self) -> (Option<String>, Option<String>) {
        // SAFETY: the object is alive and keeps its names alive; the function keeps it.
        let name = |side| unsafe {
            tuple_name((self.0.context.library.map_get_tuple_name)(
                self.0.keep(),
                side,
            ))
        };
        (name(DOMAIN), name(RANGE))
    }

    /// One of the pairs, or `None` if there is none.
    pub fn sample(&self) -> Result<Option<(Point, Point)>, Error> {
        let split = self.splitter()?;
        Ok(self.wrap()?.sample()?.map(split))
    }

    /// All pairs in lexicographic order, at most `limit`.
    pub fn pairs(&self, limit: usize) -> Result<Vec<(Point, Point)>, Error> {
        let split = self.splitter()?;
        let pairs = self.wrap()?.points(limit)?;
        Ok(pairs.into_iter().map(split).collect())
    }

    /// The number of pairs, at most `limit`. Counts them one by one.
    pub fn count(&self, limit: usize) -> Result<usize, Error> {
        self.wrap()?.count(limit)
    }

    /// The number of coordinates of the first points.
    fn dimensions(&self) -> Result<usize, Error> {
        let context = &self.0.context;
        // SAFETY: the object is alive; the function keeps it.
        let count = unsafe { (context.library.map_dim)(self.0.keep(), DOMAIN) };
        context.number("map_dim", count)
    }

    /// Splits the points of [`Map::wrap`] into pairs.
    fn splitter(&self) -> Result<impl Fn(Point) -> (Point, Point) + use<>, Error> {
        let (first, second) = self.tuples();
        let count = self.dimensions()?;
        Ok(move |pair: Point| {
            let (one, two) = pair.coordinates.split_at(count);
            let point = |tuple: &Option<String>, coordinates: &[i64]| Point {
                tuple: tuple.clone(),
                coordinates: coordinates.to_vec(),
            };
            (point(&first, one), point(&second, two))
        })
    }
}

impl UnionMap {
    operations! {
        /// The pairs in both.
        intersect(other: UnionMap) -> UnionMap = union_map_intersect;
        /// The pairs in either.
        union(other: UnionMap) -> UnionMap = union_map_union;
        /// The pairs that are not in `other`.
        subtract(other: UnionMap) -> UnionMap = union_map_subtract;
        /// The same within `context`, simplified.
        gist(context: UnionMap) -> UnionMap = union_map_gist;
        /// The pairs from points of the set.
        intersect_domain(set: UnionSet) -> UnionMap = union_map_intersect_domain;
        /// The pairs to points of the set.
        intersect_range(set: UnionSet) -> UnionMap = union_map_intersect_range;
        /// Maps the first points through `other`.
        apply_domain(other: UnionMap) -> UnionMap = union_map_apply_domain;
        /// Maps the second points through `other`.
        apply_range(other: UnionMap) -> UnionMap = union_map_apply_range;
        /// The inverse relation.
        reverse() -> UnionMap = union_map_reverse;
        /// From each point to its lexicographically first image in each tuple.
        lexmin() -> UnionMap = union_map_lexmin;
        /// From each point to its lexicographically last image in each tuple.
        lexmax() -> UnionMap = union_map_lexmax;
        /// From the points that this map sends before those of `other`. Between two schedules:
        /// which instances run before which.
        lex_lt(other: UnionMap) -> UnionMap = union_map_lex_lt_union_map;
        /// From the points that this map sends before those of `other`, or to the same.
        lex_le(other: UnionMap) -> UnionMap = union_map_lex_le_union_map;
        /// From the points that this map sends after those of `other`.
        lex_gt(other: UnionMap) -> UnionMap = union_map_lex_gt_union_map;
        /// From the points that this map sends after those of `other`, or to the same. If both maps
        /// are the schedule, a dependence in this relation is violated. With many tuples another
        /// way is cheaper: send the dependences through the schedule first, then intersect the
        /// result with the `lex_ge` of the identity.
        lex_ge(other: UnionMap) -> UnionMap = union_map_lex_ge_union_map;
        /// The first points of all pairs.
        domain() -> UnionSet = union_map_domain;
        /// The second points of all pairs.
        range() -> UnionSet = union_map_range;
        /// The differences of all pairs within a tuple, the second point minus the first.
        deltas() -> UnionSet = union_map_deltas;
        /// The map of the pairs, if they are between two tuples. For an empty relation isl may not
        /// know the tuples.
        to_map() -> Map = map_from_union_map;
        /// Whether there is no pair.
        is_empty() -> bool = union_map_is_empty;
        /// Whether every pair is in `other`.
        is_subset(other: UnionMap) -> bool = union_map_is_subset;
        /// Whether the pairs are the same.
        is_equal(other: UnionMap) -> bool = union_map_is_equal;
        /// Whether no point is related to two.
        is_single_valued() -> bool = union_map_is_single_valued;
        /// Whether no two points are related to the same one.
        is_injective() -> bool = union_map_is_injective;
        /// Whether it is single-valued and injective.
        is_bijective() -> bool = union_map_is_bijective;
    }

    /// The pairs that chains of pairs connect, and perhaps others: isl does not find the exact
    /// relation of all chains.
    ///
    /// Source: `isl_union_map_transitive_closure`.
    pub fn transitive_closure(&self) -> Result<UnionMap, Error> {
        let context = &self.0.context;
        let close = context.library.union_map_transitive_closure;
        // SAFETY: the function takes the reference and returns an owned result. Without a place for
        // it, isl does not say whether the result is exact.
        unsafe {
            let raw = close(self.0.take(), std::ptr::null_mut());
            Handle::own(context, "union_map_transitive_closure", raw).map(UnionMap)
        }
    }

    /// The maps between its tuples, in arbitrary order.
    ///
    /// Source: `isl_union_map_foreach_map`.
    pub fn maps(&self) -> Result<Vec<Map>, Error> {
        let mut maps = Vec::new();
        let visit = self.0.context.library.union_map_foreach_map;
        let step = |map: Handle<RawMap>| {
            maps.push(Map(map));
            Ok(())
        };
        // SAFETY: the function keeps its argument and gives the parts.
        unsafe { self.0.each("union_map_foreach_map", visit, step) }?;
        Ok(maps)
    }

    /// One of the pairs, or `None` if there is none.
    pub fn sample(&self) -> Result<Option<(Point, Point)>, Error> {
        for map in self.maps()? {
            if let Some(pair) = map.sample()? {
                return Ok(Some(pair));
            }
        }
        Ok(None)
    }

    /// All pairs, at most `limit`, by tuple and in lexicographic order.
    pub fn pairs(&self, limit: usize) -> Result<Vec<(Point, Point)>, Error> {
        let mut pairs = Vec::new();
        for map in self.maps()? {
            pairs.extend(
                map.pairs(limit - pairs.len())
                    .map_err(|e| whole(e, limit))?,
            );
        }
        pairs.sort_unstable();
        Ok(pairs)
    }

    /// The number of pairs, at most `limit`. Counts them one by one.
    pub fn count(&self, limit: usize) -> Result<usize, Error> {
        self.maps()?.iter().try_fold(0, |count, map| {
            let more = map.count(limit - count).map_err(|e| whole(e, limit))?;
            Ok(count + more)
        })
    }
}

impl Set {
    operations! {
        /// Maps the points.
        apply(map: Map) -> Set = set_apply;
        /// From each point to itself.
        identity() -> Map = set_identity;
    }
}

impl UnionSet {
    operations! {
        /// Maps the points.
        apply(map: UnionMap) -> UnionSet = union_set_apply;
        /// From each point to itself.
        identity() -> UnionMap = union_set_identity;
    }
}
