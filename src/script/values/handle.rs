//! Handles: loops and local tensors as values, which follow them through later steps.
//!
//! A handle keeps the birth of its loop (`ir/nest/lineage.rs`), and finds the loop of that birth in a
//! later nest. If a step ended the loop, the error names the step and the loops made of it.

use super::index::Index;
use super::shown::Shown;
use crate::ir::{Birth, Effects, Name, Nest, Role, Step};
use crate::messages::fail::Failure;
use rhai::{Array, Dynamic, Engine, EvalAltResult, NativeCallContext};
use std::sync::Arc;

/// A loop or a local tensor of a nest, wherever later steps bring it.
#[derive(Clone, Debug)]
pub enum Handle {
    Loop {
        /// Identifies the loop across steps.
        birth: Arc<Birth>,
        /// Its name where the handle was taken.
        name: Name,
    },
    /// A local tensor.
    Tensor {
        /// The step that made it.
        step: Arc<Step>,
        name: Name,
    },
}

impl Handle {
    /// The name where the handle was taken.
    pub fn name(&self) -> &Name {
        match self {
            Handle::Loop { name, .. } | Handle::Tensor { name, .. } => name,
        }
    }

    /// In a user's words, with its article.
    pub fn describe(&self) -> String {
        match self {
            Handle::Loop { name, .. } => format!("the loop `{name}`"),
            Handle::Tensor { name, .. } => format!("the local tensor `{name}`"),
        }
    }

    /// Its name in the first of `nests` that has it. The error completes a sentence that begins
    /// "the loop is".
    ///
    /// # Errors
    /// A step ended it, or it belongs to another nest.
    pub fn find(&self, nests: &[Nest]) -> Result<Name, String> {
        let found = nests.iter().find_map(|nest| match self {
            Handle::Loop { birth, .. } => nest.born(birth).map(|l| l.name.clone()),
            Handle::Tensor { step, name } => {
                let is_there = nest.locals().iter().any(|t| t.name() == Some(name));
                (is_there && nest.path().has(step)).then(|| name.clone())
            }
        });
        found.ok_or_else(|| self.why_not(nests))
    }

    fn why_not(&self, nests: &[Nest]) -> String {
        let name = self.name();
        let ended = nests.iter().find_map(|nest| match self {
            Handle::Loop { birth, .. } => nest.path().ended(birth),
            Handle::Tensor { step, .. } if nest.path().has(step) => nest.path().gone(name),
            Handle::Tensor { .. } => None,
        });
        let made_by = match self {
            Handle::Loop { birth, .. } => &birth.step,
            Handle::Tensor { step, .. } => step,
        };
        let Some((step, effects)) = ended else {
            let step = asked(made_by);
            return format!("{} of another nest, which {step} made", self.describe());
        };
        let became = self.successors(effects);
        const SHOWN: usize = 4;
        let became = match became.as_slice() {
            [] => String::new(),
            [first @ .., _] if first.len() >= SHOWN => format!(
                ": it became {} and {} more",
                became[..SHOWN].join(", "),
                became.len() - SHOWN
            ),
            [one] => format!(": it became {one}"),
            [all @ .., last] => format!(": it became {} and {last}", all.join(", ")),
        };
        format!("{}, which {} ended{became}", self.describe(), asked(step))
    }

    fn successors(&self, effects: &Effects) -> Vec<String> {
        match self {
            Handle::Loop { birth, .. } => {
                let made = effects.made.iter();
                let made = made.filter(|b| b.of.iter().any(|old| old.same(birth)));
                let made = made.map(|b| format!("`{}` ({})", b.name, b.role.word()));
                made.collect()
            }
            Handle::Tensor { .. } => {
                let made = effects.tensors.iter();
                made.map(|name| format!("`{name}`")).collect()
            }
        }
    }
}

/// A step, and where a script asked for it.
fn asked(step: &Step) -> String {
    match &step.site {
        Some(site) => format!("`{step}` at {site}"),
        None => format!("`{step}`"),
    }
}

impl Shown for Handle {
    const NAME: &'static str = "handle";

    fn full(&self) -> String {
        self.name().to_string()
    }

    fn brief(&self) -> String {
        self.full()
    }

    fn members(engine: &mut Engine) {
        engine
            .register_get("name", |handle: &mut Handle| handle.name().to_string())
            .register_fn("iter", |handle: &mut Handle| {
                Index::iterator(handle.name().clone(), false)
            })
            .register_fn("==", |a: Handle, b: Handle| same(&a, &b))
            .register_fn("!=", |a: Handle, b: Handle| !same(&a, &b))
            .register_fn("==", |a: Handle, b: &str| a.name().as_str() == b)
            .register_fn("!=", |a: Handle, b: &str| a.name().as_str() != b)
            .register_fn("==", |a: &str, b: Handle| b.name().as_str() == a)
            .register_fn("!=", |a: &str, b: Handle| b.name().as_str() != a)
            .register_fn("==", |a: Index, b: Handle| {
                a.affine.as_iterator() == Some(b.name())
            })
            .register_fn("!=", |a: Index, b: Handle| {
                a.affine.as_iterator() != Some(b.name())
            });
    }
}

/// The handles of everything that the last step made.
#[derive(Clone, Debug)]
pub struct Made {
    step: String,
    loops: Vec<(Arc<Birth>, Name)>,
    tensors: Vec<Handle>,
}

impl Made {
    /// Those of the steps with these effects.
    pub fn of(nest: &Nest, all: &[&Effects]) -> Made {
        let is_new = |birth: &Birth| {
            let mut made = all.iter().flat_map(|effects| &effects.made);
            made.any(|b| b.same(birth))
        };
        let loops = nest.loops().into_iter().filter_map(|(_, l)| {
            let birth = l.birth()?;
            is_new(birth).then(|| (birth.clone(), l.name.clone()))
        });
        let locals = nest.locals();
        let steps = nest.path().steps();
        let first = steps.len().saturating_sub(all.len());
        let tensors = all.iter().zip(&steps[first..]).flat_map(|(effects, step)| {
            let there = |name: &&Name| locals.iter().any(|t| t.name() == Some(*name));
            let made = effects.tensors.iter().filter(there);
            made.map(|name| Handle::Tensor {
                step: step.clone(),
                name: name.clone(),
            })
        });
        Made {
            step: steps.last().map(|s| s.to_string()).unwrap_or_default(),
            loops: loops.collect(),
            tensors: tensors.collect(),
        }
    }

    fn loops(&self, test: impl Fn(&Birth) -> bool) -> Array {
        let made = self.loops.iter().filter(|(birth, _)| test(birth));
        let handles = made.map(|(birth, name)| {
            Dynamic::from(Handle::Loop {
                birth: birth.clone(),
                name: name.clone(),
            })
        });
        handles.collect()
    }

    fn get(&self, word: &str) -> Option<Dynamic> {
        let one_of = |role: Role| one(self.loops(|b| b.role == role));
        let all = |role: Role| Dynamic::from_array(self.loops(|b| b.role == role));
        let buffers = || self.tensors.iter().cloned().map(Dynamic::from).collect();
        Some(match word {
            "outer" => one_of(Role::Outer),
            "inner" => one_of(Role::Inner),
            "tail" => one_of(Role::Tail),
            "peeled" => one_of(Role::Peeled),
            "fused" => one_of(Role::Fused),
            "buffer" => one(buffers()),
            "buffers" => Dynamic::from_array(buffers()),
            "copies" => all(Role::Copy),
            "parts" => all(Role::Part),
            "guards" => all(Role::Guard),
            "placed" => all(Role::Placed),
            "loads" => all(Role::Load),
            "stores" => all(Role::Store),
            "loops" => Dynamic::from_array(self.loops(|_| true)),
            _ => return None,
        })
    }
}

/// The handles in a value, each as text behind the value's name and the name of its loop or tensor:
/// nothing for a handle itself, `.outer` and the like for what a step made. With nests, only
/// handles of those.
pub fn handles_in(value: &Dynamic, nests: &[Nest]) -> Vec<(String, Name)> {
    let name_in = |handle: &Handle| {
        if nests.is_empty() {
            Some(handle.name().clone())
        } else {
            handle.find(nests).ok()
        }
    };
    if let Some(handle) = value.read_lock::<Handle>() {
        let name = name_in(&handle);
        return name.map(|name| (String::new(), name)).into_iter().collect();
    }
    let Some(made) = value.read_lock::<Made>() else {
        return Vec::new();
    };
    let single = HANDLES.iter().filter_map(|word| {
        let handle = made.get(word)?.try_cast::<Handle>()?;
        Some((format!(".{word}"), name_in(&handle)?))
    });
    single.collect()
}

/// Nothing for none, the only one, or the list.
fn one(mut handles: Array) -> Dynamic {
    match handles.len() {
        0 => Dynamic::UNIT,
        1 => handles.remove(0),
        _ => handles.into(),
    }
}

impl Shown for Made {
    const NAME: &'static str = "handles";

    fn full(&self) -> String {
        let loops = self.loops.iter();
        let loops = loops.map(|(birth, name)| format!("{}: {name}", birth.role.word()));
        let tensors = self.tensors.iter().map(|t| format!("buffer: {}", t.name()));
        let all: Vec<String> = tensors.chain(loops).collect();
        all.join(", ")
    }

    fn brief(&self) -> String {
        self.full()
    }

    fn members(engine: &mut Engine) {
        type Fallible = Result<Dynamic, Box<EvalAltResult>>;
        engine
            .register_fn("copy_of", |made: &mut Made, of: Handle| -> Dynamic {
                let Handle::Loop { birth: old, .. } = &of else {
                    return Dynamic::UNIT;
                };
                one(made.loops(|birth| birth.of.iter().any(|b| b.same(old))))
            })
            .register_indexer_get(
                |context: NativeCallContext, made: &mut Made, word: &str| -> Fallible {
                    made.get(word).ok_or_else(|| {
                        let message = format!("no step makes a `{word}`");
                        let words = HANDLES.map(|word| format!("`{word}`"));
                        let (last, others) = (&words[words.len() - 1], &words[..words.len() - 1]);
                        let failure = Failure::new(message).help(format!(
                            "steps make {} and {last}; `{}` made {}",
                            others.join(", "),
                            made.step,
                            made.full()
                        ));
                        failure.raise(context.call_position())
                    })
                },
            );
    }
}

/// The properties of the handles of a step.
pub const HANDLES: [&str; 14] = [
    "outer", "inner", "tail", "peeled", "fused", "buffer", "buffers", "loads", "stores", "copies",
    "parts", "guards", "placed", "loops",
];

/// Whether both are of one loop or one tensor.
fn same(a: &Handle, b: &Handle) -> bool {
    match (a, b) {
        (Handle::Loop { birth: a, .. }, Handle::Loop { birth: b, .. }) => a.same(b),
        (Handle::Tensor { step: a, name: x }, Handle::Tensor { step: b, name: y }) => {
            Arc::ptr_eq(a, b) && x == y
        }
        _ => false,
    }
}
