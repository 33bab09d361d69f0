//! Exact dataflow: the access that produces each value.

use super::error::Error;
use super::handle::Handle;
use super::library::{RawFlow, RawUnionMap};
use super::map::UnionMap;

/// Accesses in an order. Maps lead from instances to the accessed elements. The schedule maps
/// instances to points whose lexicographic order is the order of execution.
#[derive(Clone, Copy, Debug)]
pub struct Accesses<'a> {
    /// The accesses whose sources are wanted.
    pub sink: &'a UnionMap,
    /// Sources that certainly access their element: they hide earlier sources.
    pub must_source: Option<&'a UnionMap>,
    /// Sources that possibly access it. No tuple may be both here and in `must_source`: isl 0.25
    /// then misses dependences.
    pub may_source: Option<&'a UnionMap>,
    /// Accesses that hide earlier sources without being sources.
    pub kill: Option<&'a UnionMap>,
    /// The times of instances.
    pub schedule: &'a UnionMap,
}

/// The last sources before each access of the sink.
#[derive(Clone, Debug)]
pub struct Flow {
    /// From sources to the sinks that certainly get their value.
    pub must: UnionMap,
    /// From sources to the sinks that possibly or certainly get their value.
    pub may: UnionMap,
    /// The accesses of the sink that certainly have no source. Accesses to killed elements are
    /// excluded.
    pub must_no_source: UnionMap,
    /// The accesses of the sink that possibly or certainly have no source. Accesses to killed
    /// elements are excluded.
    pub may_no_source: UnionMap,
}

impl Accesses<'_> {
    /// The last sources before each access of the sink.
    ///
    /// Source: `isl_union_access_info_compute_flow`; Feautrier, *Dataflow Analysis of Array and
    /// Scalar References*, 1991.
    pub fn flow(&self) -> Result<Flow, Error> {
        let context = &self.sink.0.context;
        let library = context.library;
        // SAFETY: all maps are alive and in one context. Each function takes its arguments and
        // returns an owned result; on null it frees the rest and returns null.
        let flow: Handle<RawFlow> = unsafe {
            let mut info = (library.union_access_info_from_sink)(self.sink.0.take());
            if let Some(map) = self.must_source {
                info = (library.union_access_info_set_must_source)(info, map.0.take());
            }
            if let Some(map) = self.may_source {
                info = (library.union_access_info_set_may_source)(info, map.0.take());
            }
            if let Some(map) = self.kill {
                info = (library.union_access_info_set_kill)(info, map.0.take());
            }
            info = (library.union_access_info_set_schedule_map)(info, self.schedule.0.take());
            let raw = (library.union_access_info_compute_flow)(info);
            Handle::own(context, "union_access_info_compute_flow", raw)?
        };
        let get = |function, get: unsafe extern "C" fn(*mut RawFlow) -> *mut RawUnionMap| {
            // SAFETY: the flow is alive; the function keeps it and gives its result.
            unsafe { Handle::own(context, function, get(flow.keep())) }.map(UnionMap)
        };
        Ok(Flow {
            must: get(
                "union_flow_get_must_dependence",
                library.union_flow_get_must_dependence,
            )?,
            may: get(
                "union_flow_get_may_dependence",
                library.union_flow_get_may_dependence,
            )?,
            must_no_source: get(
                "union_flow_get_must_no_source",
                library.union_flow_get_must_no_source,
            )?,
            may_no_source: get(
                "union_flow_get_may_no_source",
                library.union_flow_get_may_no_source,
            )?,
        })
    }
}
