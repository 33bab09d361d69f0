//! Kernels that belong together, and how a caller uses their tensors.

use crate::codegen::symbol::from_label;
use crate::codegen::{Kernel, Param, Preamble, Role, unit_after};
use crate::ir::{Affine, Name, Nest, Order, Tensor};
use crate::target::Target;

/// A kernel that a script exports.
#[derive(Clone, Debug)]
pub struct Exported {
    /// The kernel; its symbol is the name that the script gives.
    pub kernel: Kernel,
    /// The nests that it computes.
    pub nests: Vec<Nest>,
    /// The function whose arguments it takes in another layout.
    pub view: Option<View>,
}

/// A function whose arrays another one takes as transposes, or with all other strides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    /// The symbol of the function.
    pub of: String,
    /// The labels of the tensors that are transposed: their dimensions are reversed. None for the
    /// kernel that takes all other strides.
    pub transposed: Vec<String>,
}

/// Kernels that belong together.
#[derive(Clone, Debug)]
pub struct Package {
    /// The name of the library and of the Python package: an identifier.
    pub name: String,
    /// The kernels, at least one.
    pub kernels: Vec<Exported>,
    /// The beginning of the C.
    pub preamble: Preamble,
    /// The same kernels for several instruction sets, the widest first. The library chooses when it is
    /// loaded. None: the kernels are for one.
    pub versions: Vec<Version>,
}

/// The kernels of a package for one instruction set.
#[derive(Clone, Debug)]
pub struct Version {
    /// The name of the instruction set.
    pub name: &'static str,
    /// The machine that the C is for.
    pub target: Target,
    /// The features that it needs, as `__builtin_cpu_supports` calls them.
    pub features: &'static [&'static str],
    /// The kernels, in the order of the package. Their symbols are those of this version.
    pub kernels: Vec<Exported>,
}

impl Version {
    /// Kernels that are generated for an instruction set, under symbols of their own. `None` if
    /// programs cannot ask processors for it.
    pub fn new(target: Target, kernels: Vec<Exported>) -> Option<Version> {
        let name = target.instructions.name();
        let of = |exported: Exported| {
            let symbol = format!("teml_{name}_{}", exported.kernel.symbol);
            let before = format!("void {}(", exported.kernel.symbol);
            let function = &exported.kernel.function;
            let function = function.replacen(&before, &format!("void {symbol}("), 1);
            let kernel = Kernel {
                symbol,
                function,
                ..exported.kernel
            };
            Exported { kernel, ..exported }
        };
        Some(Version {
            name,
            features: target.instructions.features()?,
            target,
            kernels: kernels.into_iter().map(of).collect(),
        })
    }

    /// The C of its kernels after a preamble. Only the library calls them.
    pub fn source(&self, preamble: &Preamble) -> String {
        let kernels: Vec<Kernel> = self.kernels.iter().map(|e| e.kernel.clone()).collect();
        // The file has flags of its own, and says only what ran of its kernels.
        let has_own = |note: &&String| kernels.iter().any(|k| note.contains(&k.symbol));
        let notes = preamble.notes.iter().filter(has_own).cloned();
        let flags = format!("Compiled with {}", self.target.flags().join(" "));
        let preamble = Preamble {
            notes: notes.chain([flags]).collect(),
            ..preamble.clone()
        };
        unit_after(&preamble, &kernels)
    }
}

/// A text to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// The path, relative to the directory of the package.
    pub path: String,
    pub text: String,
}

/// How the caller of a kernel uses one of its tensors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// It is read.
    Input,
    /// It is written; its initial contents do not matter.
    Result,
    /// It is read and written.
    Update,
    /// It is space that callers do not see, except in C.
    Workspace,
}

impl Use {
    /// The qualifier of its pointer in C.
    pub(super) fn constant(self) -> &'static str {
        match self {
            Use::Input => "const ",
            Use::Result | Use::Update | Use::Workspace => "",
        }
    }
}

/// A tensor of a kernel as its function in Python takes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// The tensor's name.
    pub label: String,
    /// The name in Python.
    pub name: String,
    /// Whether it is an argument that callers have to give, in the order of these tensors.
    pub is_given: bool,
    /// Whether the function returns it.
    pub is_returned: bool,
}

impl Exported {
    /// The derived sizes in the shapes of its tensors, each after what it is made of.
    pub(super) fn derived_sizes(&self) -> Vec<Name> {
        let mut found: Vec<Name> = Vec::new();
        fn add(name: &Name, found: &mut Vec<Name>) {
            let Some(of) = name.size().and_then(|size| size.of.as_ref()) else {
                return;
            };
            if found.contains(name) {
                return;
            }
            of.terms.iter().for_each(|(part, _)| add(part, found));
            found.push(name.clone());
        }
        for param in &self.kernel.params {
            let shape = param.tensor.shape();
            shape.for_each_size(&mut |name| add(name, &mut found));
        }
        found
    }

    /// The tensors whose entries are sorted in rows, each with the tensor of where rows begin. Proofs use
    /// no other ones.
    pub(super) fn sorted(&self) -> impl Iterator<Item = (&Tensor, &Tensor)> {
        let tensors = || self.kernel.params.iter().map(|param| &param.tensor);
        let is_of_rows = |rows: &&Tensor| {
            let increases = rows
                .entries()
                .is_some_and(|of| of.order == Order::Increasing);
            increases && rows.shape().rank() == 1
        };
        let of_one_dimension = tensors().filter(|tensor| tensor.shape().rank() == 1);
        of_one_dimension.filter_map(move |tensor| {
            let name = tensor.entries()?.rows.as_ref()?;
            let mut found = tensors().filter(is_of_rows);
            Some((tensor, found.find(|rows| rows.name() == Some(name))?))
        })
    }

    /// The function that checks arguments, and gets what is known of entries that nothing can change.
    /// Without entries, it is the public one.
    pub(super) fn checked_with_known(&self) -> String {
        let symbol = &self.kernel.symbol;
        match self.known().next() {
            None => format!("{symbol}_checked"),
            Some(_) => format!("teml_checked_{symbol}"),
        }
    }

    /// The names of what is known of entries, one for each of their tensors.
    pub(super) fn known(&self) -> impl Iterator<Item = String> {
        let tensors = self.parameters().map(|(param, _)| &param.tensor);
        let in_memory = tensors.filter(|tensor| !tensor.is_by_value());
        let with_entries = in_memory.filter(|tensor| tensor.entries().is_some());
        with_entries.map(|tensor| format!("{}_known", from_label(tensor.label())))
    }

    /// The sizes that callers give. The distances between rows come after them, and functions that
    /// check arguments take those from arrays.
    pub(super) fn sizes(&self) -> impl Iterator<Item = &Name> {
        let sizes = self.kernel.sizes.len() - self.kernel.strides().len();
        self.kernel.sizes.iter().take(sizes).map(|(name, _)| name)
    }

    /// The parameter of that label.
    pub(super) fn parameter(&self, label: &str) -> Option<(&Param, Use)> {
        let mut all = self.parameters();
        all.find(|(param, _)| param.tensor.label() == label)
    }

    /// The tensors that callers give.
    pub(super) fn parameters(&self) -> impl Iterator<Item = (&Param, Use)> {
        let all = self.all_parameters();
        all.filter(|(_, used)| *used != Use::Workspace)
    }

    /// The tensors that callers do not see.
    pub(super) fn workspace(&self) -> impl Iterator<Item = &Param> {
        let all = self.kernel.params.iter();
        all.filter(|param| param.role == Role::Workspace)
    }

    /// All tensors, as the kernel itself takes them.
    pub(super) fn all_parameters(&self) -> impl Iterator<Item = (&Param, Use)> {
        self.kernel.params.iter().map(|param| {
            let used = match param.role {
                Role::In => Use::Input,
                Role::InOut => Use::Update,
                Role::Out => Use::Result,
                Role::Workspace => Use::Workspace,
            };
            (param, used)
        })
    }

    /// The function that callers know: for other layouts, the one that calls it.
    pub(super) fn caller(&self) -> &str {
        let view = self.view.as_ref();
        view.map_or(&self.kernel.symbol, |view| &view.of)
    }
}

impl Package {
    /// The kernels for arguments of another one in other layouts, with the labels of the transposed
    /// ones.
    pub(super) fn views_of(&self, exported: &Exported) -> Vec<(&Exported, &[String])> {
        let views = self.kernels.iter().filter_map(|other| {
            let view = other.view.as_ref()?;
            let is_of = view.of == exported.kernel.symbol;
            is_of.then_some((other, view.transposed.as_slice()))
        });
        views.collect()
    }

    /// The name of the C file.
    pub fn source_name(&self) -> String {
        format!("{}.c", self.name)
    }

    pub fn header_name(&self) -> String {
        format!("{}.h", self.name)
    }
}

/// A dimension of an array that a caller gives, which tells a size, and by how much it is larger.
pub(super) fn place_of<'p>(
    size: &Name,
    all: &[(&'p Param, Use)],
) -> Option<(&'p Param, usize, i64)> {
    let given = all.iter().filter(|(_, used)| *used != Use::Result);
    given.into_iter().find_map(|(param, _)| {
        let dims = param.tensor.shape().dims().into_iter().enumerate();
        let mut places = dims.filter_map(|(d, dim)| {
            let [(name, factor)] = dim.terms() else {
                return None;
            };
            let of = name.size().and_then(|facts| facts.of.as_ref());
            // A multiple is its own quotient.
            let is_multiple = of.is_some_and(|of| {
                let is_it = of.terms.as_slice() == [(size.clone(), 1)] && of.offset == 0;
                is_it
                    && size
                        .size()
                        .is_some_and(|facts| facts.multiple % of.divisor == 0)
                    && *factor == of.divisor
            });
            let offset = dim.offset();
            (name == size && *factor == 1 || is_multiple).then_some((d, offset))
        });
        let (d, offset) = places.next()?;
        Some((*param, d, offset))
    })
}

/// `64 x 32`, as people read it.
pub(super) fn extents(tensor: &Tensor) -> String {
    joined(tensor, " x ")
}

/// The extents of a tensor, with a text between them.
pub(super) fn joined(tensor: &Tensor, between: &str) -> String {
    let dims = tensor.shape().dims();
    let texts: Vec<String> = dims.iter().map(Affine::to_string).collect();
    texts.join(between)
}
