//! Trees in which an iterator, a tensor or an expression has been replaced.

use super::kinds;
use super::open::opened;
use crate::ir::{Affine, Expr, Name};
use crate::values::Index;
use rhai::{Array, Dynamic, Map};

/// The part that goes, and the part that comes.
#[derive(Clone, Debug)]
pub enum Replacement {
    /// An iterator by an index.
    Iterator(Name, Affine),
    /// A tensor by another one, with the same indices.
    Tensor { old: String, new: Map },
    /// Each part with the tree of `old` by the tree of `new`.
    Part { old: String, new: Dynamic },
}

impl Replacement {
    /// The replacement of a tree, or of a part, by another one.
    pub fn of_part(old: &Expr, new: &Dynamic) -> Replacement {
        let old = opened(&Dynamic::from(old.clone()));
        if let (Some(old), Some(new)) = (whole(&old), whole(&opened(new))) {
            let old = old.get("name").map(text).unwrap_or_default();
            return Replacement::Tensor { old, new };
        }
        Replacement::Part {
            old: text(&old),
            new: opened(new),
        }
    }
}

/// A tree, a list of trees or an index with the replacement. A part that binds the iterator hides it.
pub fn replaced(value: &Dynamic, by: &Replacement) -> Dynamic {
    if let Some(index) = value.read_lock::<Index>() {
        return Dynamic::from(of_index(&index, by));
    }
    if let Some(items) = value.read_lock::<Array>() {
        return items
            .iter()
            .map(|item| replaced(item, by))
            .collect::<Array>()
            .into();
    }
    let Some(map) = value.read_lock::<Map>() else {
        return value.clone();
    };
    match by {
        Replacement::Part { old, new } if map.contains_key("kind") && text(value) == *old => {
            return new.clone();
        }
        Replacement::Iterator(name, _) if bound(&map).contains(name) => return value.clone(),
        Replacement::Tensor { old, new } if map.get("name").map(text).as_ref() == Some(old) => {
            let mut map = map.clone();
            if of_kind(&map, kinds::ACCESS) {
                let parts = new.iter().filter(|(key, _)| *key != "indices");
                map.extend(parts.map(|(key, part)| (key.clone(), part.clone())));
            }
            return map.into();
        }
        Replacement::Part { .. } | Replacement::Tensor { .. } | Replacement::Iterator(..) => {}
    }
    let map = apart(map.clone(), by);
    let parts = map.iter().map(|(key, part)| {
        // The nest that a tree was opened from is not a part of it.
        let part = if key == "of" {
            part.clone()
        } else {
            replaced(part, by)
        };
        (key.clone(), part)
    });
    parts.collect::<Map>().into()
}

fn of_index(index: &Index, by: &Replacement) -> Index {
    match by {
        Replacement::Iterator(name, value) => Index {
            affine: index
                .affine
                .substitute(&|own| (own == name).then(|| value.clone())),
            ..index.clone()
        },
        Replacement::Part { .. } | Replacement::Tensor { .. } => index.clone(),
    }
}

fn of_kind(map: &Map, kind: &str) -> bool {
    map.get("kind").is_some_and(|own| text(own) == kind)
}

/// The fields of a tensor without indices.
fn whole(tree: &Dynamic) -> Option<Map> {
    let map = tree.read_lock::<Map>()?;
    let is_whole = map.get("indices").is_some_and(Dynamic::is_unit);
    (is_whole && of_kind(&map, kinds::ACCESS)).then(|| map.clone())
}

/// The iterators that a tree binds.
fn bound(map: &Map) -> Vec<Name> {
    let kind = map
        .get("kind")
        .and_then(|kind| kind.clone().into_string().ok());
    let text = match kind.as_deref() {
        Some(kinds::REDUCTION | kinds::VIRTUAL) => {
            let own = map
                .get("iterators")
                .and_then(|own| own.read_lock::<Array>());
            own.map_or_else(Vec::new, |own| own.iter().map(text).collect())
        }
        Some(kinds::LOOP) => map.get("name").map(text).into_iter().collect(),
        _ => Vec::new(),
    };
    text.iter()
        .filter_map(|name| Name::new(name).ok())
        .collect()
}

/// A reduction or a virtual expression whose iterators are not those in the new index: what is put
/// into it must not be captured.
fn apart(map: Map, by: &Replacement) -> Map {
    let Replacement::Iterator(_, value) = by else {
        return map;
    };
    if of_kind(&map, kinds::LOOP) {
        return map;
    }
    let captured = bound(&map).into_iter().filter(|name| value.mentions(name));
    captured.fold(map, |map, name| {
        let whole = text(&map.clone().into());
        let numbered = (2..).map(|k: u32| name.derived(k));
        let is_free = |new: &Name| !whole.contains(new.as_str()) && !value.mentions(new);
        let fresh = numbered
            .clone()
            .find(is_free)
            .unwrap_or_else(|| name.clone());
        let rename = Replacement::Iterator(name, Affine::iterator(fresh));
        let parts = map
            .iter()
            .map(|(key, part)| (key.clone(), replaced(part, &rename)));
        parts.collect()
    })
}

fn text(value: &Dynamic) -> String {
    match value.read_lock::<Map>() {
        Some(map) => {
            // Tensors are compared by their names, since their values have numbers of their own.
            let parts = map
                .iter()
                .filter(|(key, _)| *key != "tensor" && *key != "of");
            let parts = parts.map(|(key, part)| format!("{key}: {}", text(part)));
            format!("#{{{}}}", parts.collect::<Vec<_>>().join(", "))
        }
        None => match value.read_lock::<Array>() {
            Some(items) => {
                let items = items.iter().map(text);
                format!("[{}]", items.collect::<Vec<_>>().join(", "))
            }
            None => match value.read_lock::<Index>() {
                Some(index) => index.to_string(),
                None => value.to_string(),
            },
        },
    }
}
