//! The C function of nests without variants, and the checks before it.
//!
//! The C allocates nothing. A tensor that is not local is a parameter, results before inputs, or has
//! space of its own in the function. Nests that are not proved to compute their definition are
//! refused.

use super::c::printer::{Printed, asked, comment, print};
use super::derived::definition_of_size;
use super::device::{self, NoDevice};
use super::kernel::{Header, Kernel, Param, Role, Vectors, parameter, passed};
use super::plan::tree::Context;
use super::plan::{self, Plan, Stage};
use super::proof::{self, Faulty};
use super::symbol::{self, Spelling, SymbolError};
use crate::analysis::mixed_radix;
use crate::analysis::shape;
use crate::analysis::verify::{self, Invalid};
use crate::ir::{Expr, Index, Infix, Loop, Name, Nest, Node, Tensor, Tree};
use crate::legality::independence::Race;
use crate::legality::partition::{assigned, hole};
use crate::legality::{self, Proof, Reductions, Refused, Undecided, Violation};
use crate::target::{Device, Target};
use std::collections::HashSet;
use std::fmt::Write;

/// Why nests have no C.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoCode {
    /// There is nothing to generate.
    #[error("codegen needs at least one nest")]
    Nothing,
    /// A parallel or vector loop has dependent iterations.
    #[error("{race}")]
    Race {
        /// The nest, counted from 0.
        nest: usize,
        /// The dependent iterations.
        race: Race,
    },
    /// The nests do not compute what their definition says.
    #[error("{}", .0.summary())]
    Illegal(Box<Violation>),
    /// The proof is undecided.
    #[error("there is no proof that the nests are legal: {0}")]
    Undecided(Undecided),
    /// Two tensors share a name.
    #[error("two tensors are named {name}: {first} and {second}")]
    TensorsDiffer {
        name: Name,
        /// One declaration.
        first: String,
        /// The other one.
        second: String,
        /// Whether they differ only in dimensions that are read as one.
        is_joined: bool,
    },
    /// The name of the function is not valid.
    #[error("the kernel cannot have this name: {0}")]
    Symbol(SymbolError),
    /// A part of a nest, without its outer loops.
    #[error("this is a part of a nest, inside loop `{outer}`")]
    Part {
        /// The loop directly around it.
        outer: Name,
    },
    /// Two sizes share a name.
    #[error("two sizes are named `{name}`")]
    SizesDiffer { name: Name },
    /// A size has a name with another meaning in C.
    #[error("a size cannot be called `{name}`: a tensor or C itself uses the name")]
    SizeIsTaken { name: Name },
    /// The distance between rows has the name of something else.
    #[error(
        "`{name}` is the distance between rows of a strided tensor, and something else has the name"
    )]
    StrideIsTaken { name: Name },
    /// A nest with bound loops that no device can run.
    #[error("{why}")]
    Device {
        /// The nest, counted from 0.
        nest: usize,
        why: NoDevice,
    },
    /// The plan of proved nests is not proved.
    #[error("the code of a nest that is proved is not proved itself: {why}")]
    Plan {
        why: Faulty,
        /// The plan, as pseudo-code.
        plan: String,
    },
    /// The user stopped it.
    #[error("interrupted")]
    Stopped,
    /// A nest that violates an invariant.
    #[error(transparent)]
    Invalid(#[from] Invalid),
}

impl NoCode {
    /// A legal alternative.
    pub fn help(&self) -> Option<String> {
        let help = match self {
            NoCode::Race { race, .. } if race.reduction.is_some() => {
                return Some(format!(
                    "`{}` carries a reduction, whose order is kept; parallelize or vectorize a \
                     loop that indexes the target, or regroup the reduction with rfactor",
                    race.name
                ));
            }
            NoCode::Race { .. } => "choose a loop whose iterations touch different elements",
            NoCode::TensorsDiffer {
                is_joined: true, ..
            } => "collapse the same loops of all nests that run together",
            NoCode::TensorsDiffer { .. } => {
                "give one of them another name, for example with `@name:`"
            }
            NoCode::Illegal(violation) => return violation.help(),
            NoCode::Undecided(why) => return why.help().map(str::to_owned),
            NoCode::Part { .. } => "generate the whole nest",
            NoCode::Device { why, .. } => why.help(),
            NoCode::Plan { plan, .. } => {
                return Some(format!(
                    "this is an error of teml: please report it, with the script and this plan:\n{plan}"
                ));
            }
            NoCode::StrideIsTaken { .. } => "rename the tensor, the loop or the size of that name",
            _ => return None,
        };
        Some(help.to_owned())
    }
}

/// The function of proved nests without variants, after its linkage.
pub(super) fn emit(
    nests: &[Nest],
    (linkage, symbol): (&str, &str),
    (proof, reductions): (Proof, Reductions),
    target: &Target,
    is_own: &dyn Fn(&Param) -> bool,
) -> Result<Kernel, NoCode> {
    let nests = &*Nest::alike(nests);
    let mut params = params(nests)?;
    let on_device = device::is_on_device(nests);
    for param in params.iter_mut().filter(|param| is_own(param)) {
        param.tensor = param.tensor.dense();
        // A function has no space whose size is known only when it is called.
        if on_device || param.tensor.shape().is_sized() {
            param.role = Role::Workspace;
        }
    }
    params.sort_by_key(|param| param.role == Role::Workspace);
    let nests = &as_passed(nests, &params);
    let spelling = {
        let loops = nests.iter().flat_map(Nest::loops).map(|(_, l)| &l.name);
        let locals = nests.iter().flat_map(Nest::locals);
        let tensors = params.iter().map(|p| &p.tensor).chain(locals);
        let names: Vec<&Name> = tensors.filter_map(Tensor::name).collect();
        let loops: Vec<&Name> = loops.collect();
        let spelling = Spelling::of(names.iter().copied(), loops.iter().copied(), on_device);
        let is_joined = |param: &&Param| param.tensor.is_joined() && !on_device && !is_own(param);
        let joined = params.iter().filter(is_joined);
        let joined = joined.filter_map(|param| param.tensor.name());
        spelling.joining(joined, &[names, loops].concat())
    };
    let spelled: Vec<Param> = params
        .iter()
        .map(|param| Param {
            tensor: spelling.tensor(&param.tensor),
            role: param.role,
        })
        .collect();
    let in_rows = |param: &Param| Param {
        tensor: param.tensor.in_rows(),
        role: param.role,
    };
    let stored: Vec<Param> = spelled.iter().map(in_rows).collect();
    let sizes = sizes(nests, &spelled)?;
    if on_device {
        let nests: Vec<Nest> = nests.iter().map(|nest| spelling.nest(nest)).collect();
        let of = device::Nests {
            nests: &nests,
            params: &stored,
            sizes: &sizes.of_caller,
            derived: &sizes.derived,
            comments: &comments(&nests, symbol, &params, &spelling, &proof),
        };
        let text = device::emit(&of, (linkage, symbol), target);
        let text = text.map_err(|(nest, why)| NoCode::Device { nest, why })?;
        let kernel = Kernel {
            symbol: symbol.to_owned(),
            headers: text.headers,
            function: text.function,
            sizes: with_likely(&sizes.of_caller),
            params: as_given(params),
            proof,
            vectors: Vectors::of(target),
            plan: text.plan,
        };
        return Ok(kernel.with_gaps(0));
    }
    let plan = {
        let inputs = stored.iter().filter(|p| p.role == Role::In);
        let inputs = inputs.filter_map(|p| p.tensor.name().cloned()).collect();
        let context = Context {
            target,
            inputs: &inputs,
        };
        let nests: Vec<Nest> = nests.iter().map(|nest| spelling.nest(nest)).collect();
        plan::plan(&nests, &context).ok_or(NoCode::Stopped)?
    };
    if matches!(proof, Proof::Proved | Proof::Given(_)) {
        let tensors: Vec<Tensor> = stored.iter().map(|param| param.tensor.clone()).collect();
        proved(&plan, &tensors, reductions, target)?;
    }
    let (mut own, mut given, mut kept) = (Vec::new(), Vec::new(), Vec::new());
    let mut rows = String::new();
    for (param, spelled) in params.iter().zip(&spelled) {
        if is_own(param) && param.role != Role::Workspace {
            own.push(spelled.tensor.clone());
            continue;
        }
        let known = spelling.given(&param.tensor);
        if param.tensor.is_joined() {
            let declared = parameter(&spelled.tensor, param.role == Role::In);
            let _ = writeln!(
                rows,
                "    {declared} = ({}){};",
                passed(spelled),
                known.label()
            );
        }
        given.push(Param {
            tensor: known,
            role: param.role,
        });
        kept.push(param.clone());
    }
    let kept = as_given(kept);
    let printed = print((&plan, nests), symbol, &stored, &own, target);
    let mut headers = printed.values.headers.clone();
    if params.iter().any(|p| !p.tensor.elem().is_float()) || !sizes.of_caller.is_empty() {
        headers.insert(Header::Integers);
    }
    let comments = comments(nests, symbol, &params, &spelling, &proof);
    let kernel = Kernel {
        symbol: symbol.to_owned(),
        headers,
        function: function(
            (linkage, symbol),
            &sizes,
            (&given, &rows),
            &comments,
            &printed,
        ),
        sizes: with_likely(&sizes.of_caller),
        params: kept,
        proof,
        vectors: Vectors::of(target),
        plan: plan.to_string(),
    };
    Ok(kernel.with_gaps(0))
}

/// Checks everything for which `generate` refuses nests, except for the name of the function.
///
/// # Errors
/// As `generate`, except for the name of the function.
pub fn check(nests: &[Nest], reductions: Reductions) -> Result<Proof, NoCode> {
    if nests.is_empty() {
        return Err(NoCode::Nothing);
    }
    if let Some((sized, _)) = of_all_sizes(nests) {
        return check(&sized, reductions);
    }
    if nests.iter().any(|nest| !nest.variants().is_empty()) {
        let plans = Nest::plans(nests).into_iter();
        let mut proofs = plans.map(|(_, plan)| check(&plan, reductions));
        return proofs.try_fold(Proof::Proved, |weakest, proof| Ok(weakest.and(proof?)));
    }
    for nest in nests {
        if let Some(l) = nest.outer_loops().last() {
            let outer = l.name.clone();
            return Err(NoCode::Part { outer });
        }
        verify::verify(nest)?;
    }
    for (k, nest) in nests.iter().enumerate() {
        device::check(nest).map_err(|why| NoCode::Device { nest: k, why })?;
    }
    let proof = legality::prove(nests, reductions).map_err(|refused| match refused {
        Refused::Violation(violation) => NoCode::Illegal(violation),
        Refused::Race(nest, race) => NoCode::Race { nest, race },
        Refused::Undecided(why) => NoCode::Undecided(why),
    })?;
    params(&Nest::alike(nests))?;
    Ok(proof)
}

/// Why a device cannot run nests for which [`check`] finds no fault: it has too few threads, or too
/// little memory. `None` for nests of the processor.
pub fn limit(nests: &[Nest], device: &Device) -> Option<NoCode> {
    if !device::is_on_device(nests) {
        return None;
    }
    let plans = Nest::plans(nests);
    let fits = |plan: &[Nest]| {
        let mut all = plan.iter().enumerate();
        all.try_for_each(|(nest, of)| {
            device::fits(of, device).map_err(|why| NoCode::Device { nest, why })
        })
    };
    plans.iter().find_map(|(_, plan)| fits(plan).err())
}

/// The values of sizes.
type Values = Vec<(Name, i64)>;

/// The nests with sizes that nests are instances of, and the values of the sizes. `None` if no nest is
/// an instance, or if they are at different sizes.
pub(super) fn of_all_sizes(nests: &[Nest]) -> Option<(Vec<Nest>, Values)> {
    let mut values = Values::new();
    for (_, own) in nests.iter().filter_map(Nest::instance_of) {
        for (name, value) in own {
            match values.iter().find(|(known, _)| known == name) {
                Some((_, known)) if known != value => return None,
                Some(_) => {}
                None => values.push((name.clone(), *value)),
            }
        }
    }
    let sized = nests.iter().map(|nest| nest.with_sizes().clone());
    (!values.is_empty()).then(|| (sized.collect(), values))
}

/// The plan of nests with variants for which [`check`] refuses code. Other nests are their own.
pub fn at_fault(nests: &[Nest], reductions: Reductions) -> Vec<Nest> {
    if nests.iter().all(|nest| nest.variants().is_empty()) {
        return nests.to_vec();
    }
    let plans = Nest::plans(nests).into_iter();
    let mut plans = plans.map(|(_, plan)| plan);
    let fault = plans.find(|plan| check(plan, reductions).is_err());
    fault.unwrap_or_else(|| nests.to_vec())
}

/// The plans of nests after each pass, for readers. Nothing is proved.
///
/// # Errors
/// [`NoCode`], for nests that are not well-formed.
pub fn stages(nests: &[Nest], target: &Target) -> Result<Vec<Stage>, NoCode> {
    nests
        .iter()
        .try_for_each(|nest| Ok::<_, NoCode>(verify::verify(nest)?))?;
    let inputs = inputs(nests)?;
    let context = Context {
        target,
        inputs: &inputs,
    };
    Ok(plan::stages(nests, &context))
}

/// Proves that a plan computes the definition of nests, which are proved and have no variants.
///
/// # Errors
/// [`NoCode`]: the plan is not proved, tensors share a name, or the user stopped it.
pub fn prove_plan(
    plan: &Plan,
    nests: &[Nest],
    reductions: Reductions,
    target: &Target,
) -> Result<(), NoCode> {
    let params = params(&Nest::alike(nests))?;
    let tensors: Vec<Tensor> = params.into_iter().map(|p| p.tensor).collect();
    proved(plan, &tensors, reductions, target)
}

fn proved(
    plan: &Plan,
    params: &[Tensor],
    reductions: Reductions,
    target: &Target,
) -> Result<(), NoCode> {
    let result = proof::prove(plan, params, reductions, target);
    if legality::is_stopped() {
        return Err(NoCode::Stopped);
    }
    result.map_err(|why| NoCode::Plan {
        why,
        plan: plan.to_string(),
    })
}

/// The plan, without hints, of nests that operations made, for predictions. Nothing is proved.
///
/// # Errors
/// [`NoCode`]: tensors share a name, or the user stopped it.
pub fn unproved(nests: &[Nest], target: &Target) -> Result<Plan, NoCode> {
    let nests = &*Nest::alike(nests);
    let (inputs, nests) = (inputs(nests)?, &as_passed(nests, &params(nests)?));
    let context = Context {
        target,
        inputs: &inputs,
    };
    plan::without_hints(nests, &context).ok_or(NoCode::Stopped)
}

/// The vector loops that are left to compilers since they have loops inside, and the reasons.
pub fn outer_vectors(nests: &[Nest], target: &Target) -> Vec<(Name, String)> {
    let is_outer = |l: &Loop| l.is_vector() && l.body.iter().any(|t| matches!(t, Tree::Loop(_)));
    let mut loops = nests.iter().flat_map(Nest::loops);
    if !loops.any(|(_, l)| is_outer(l)) {
        return Vec::new();
    }
    unproved(nests, target).map_or_else(|_| Vec::new(), |plan| plan.outer_vectors())
}

/// The names of the tensors that nests only read.
fn inputs(nests: &[Nest]) -> Result<HashSet<Name>, NoCode> {
    let params = params(nests)?;
    let inputs = params.iter().filter(|p| p.role == Role::In);
    Ok(inputs.filter_map(|p| p.tensor.name().cloned()).collect())
}

/// The tensors of all nests in order of appearance, targets first, with their roles.
fn params(nests: &[Nest]) -> Result<Vec<Param>, NoCode> {
    let mut tensors: Vec<Tensor> = Vec::new();
    for tensor in nests.iter().flat_map(Nest::tensors) {
        let known = tensors.iter().find(|t| t.name() == tensor.name());
        match (known, tensor.name()) {
            (Some(known), Some(name)) if *known != tensor => {
                return Err(NoCode::TensorsDiffer {
                    name: name.clone(),
                    first: format!("{} {known}", known.elem()),
                    second: format!("{} {tensor}", tensor.elem()),
                    is_joined: known.as_given() == tensor.as_given(),
                });
            }
            (Some(_), Some(_)) => {
                if let Some(strides) = tensor.strided_in() {
                    let same = tensors.iter_mut().filter(|t| **t == tensor);
                    same.for_each(|known| *known = known.strided(strides));
                }
            }
            (None, Some(_)) => tensors.push(tensor),
            _ => {}
        }
    }
    let definition: Vec<&Expr> = nests.iter().flat_map(|n| n.definition().iter()).collect();
    let written = |tensor: &Tensor| {
        let mut trees = nests.iter().flat_map(Nest::lines).map(|line| line.tree);
        trees.any(|tree| match tree {
            Tree::Stmt(s) => s.target == *tensor,
            Tree::Fill(fill) => fill.target == *tensor,
            Tree::Loop(_) | Tree::Local(_) => false,
        })
    };
    let role = |tensor: &Tensor| match role(tensor, &definition) {
        // Statements that run in order may read elements that a later one assigns.
        Role::Out if in_turn(nests, tensor) => Role::InOut,
        // The nest overwrites a donated input.
        Role::In if written(tensor) => Role::InOut,
        role => role,
    };
    let param = |tensor: Tensor| match role(&tensor) {
        Role::In if tensor.shape().rank() == 0 => Param {
            role: Role::In,
            tensor: tensor.by_value(),
        },
        role => Param { role, tensor },
    };
    let mut params: Vec<Param> = tensors.into_iter().map(param).collect();
    // Results come first, and each group in the order of the script's declarations, so that all
    // variants of a computation have one signature.
    params.sort_by_key(|param| (param.role == Role::In, param.tensor.declared()));
    Ok(params)
}

/// The arguments as callers know them.
fn as_given(params: Vec<Param>) -> Vec<Param> {
    let given = params.into_iter().map(|param| Param {
        tensor: param.tensor.as_given(),
        role: param.role,
    });
    given.collect()
}

/// Nests in which all accesses know how their tensors are passed. Local tensors lie in memory, row
/// after row.
fn as_passed(nests: &[Nest], params: &[Param]) -> Vec<Nest> {
    let is_other = |tensor: &Tensor| tensor.is_strided() || tensor.is_by_value();
    let others = params.iter().map(|param| &param.tensor);
    let others: Vec<&Tensor> = others.filter(|tensor| is_other(tensor)).collect();
    if others.is_empty() {
        return nests.to_vec();
    }
    let in_nest = |tensor: &Tensor| {
        let passed = others.iter().find(|other| other.name() == tensor.name());
        match passed {
            Some(other) => match other.strided_in() {
                Some(strides) => tensor.strided(strides),
                None => tensor.by_value(),
            },
            None => tensor.dense(),
        }
    };
    let passed = |tree: &Tree| tree.map_tensors(&in_nest).in_rows();
    let trees = |nest: &Nest| nest.trees().iter().map(passed).collect();
    nests
        .iter()
        .map(|nest| nest.with_trees(trees(nest)))
        .collect()
}

/// Whether a program assigns `tensor`: its statements run one after the other.
fn in_turn(nests: &[Nest], tensor: &Tensor) -> bool {
    let parts = nests.iter().flat_map(Nest::originals);
    let mut programs = parts.filter(|part| part.is_program);
    programs.any(|part| part.assigned().contains(&tensor))
}

/// How the statements of a definition use `tensor`, in order.
fn role(tensor: &Tensor, definition: &[&Expr]) -> Role {
    let mut parts: Vec<&Expr> = Vec::new();
    for assignment in definition {
        let Node::Assign { target, value, .. } = assignment.node() else {
            continue;
        };
        let mut read = false;
        value.for_each_tensor(&mut |t| read |= t.name() == tensor.name());
        let assigns = target.tensor().is_some_and(|t| t.name() == tensor.name());
        match (read, assigns) {
            (true, _) if together(tensor, &parts) => return Role::Out,
            // Its old contents are read, or an incomplete assignment keeps them.
            (true, true) => return Role::InOut,
            (true, false) => {
                return if writes_later(tensor, definition) {
                    Role::InOut
                } else {
                    Role::In
                };
            }
            (false, true) if covers(assignment) => return Role::Out,
            (false, true) => parts.push(assignment),
            (false, false) => {}
        }
    }
    match parts.is_empty() {
        true => Role::In,
        false if together(tensor, &parts) => Role::Out,
        false => Role::InOut,
    }
}

/// Whether several assignments together set every element of a tensor, as pieces of it do.
fn together(tensor: &Tensor, parts: &[&Expr]) -> bool {
    let pieces = parts.iter().map(|part| assigned(part).ok().flatten());
    let pieces: Option<Vec<_>> = pieces.collect();
    let pieces = pieces.filter(|pieces| pieces.len() > 1);
    pieces.is_some_and(|pieces| matches!(hole(tensor, &pieces), Ok(None)))
}

fn writes_later(tensor: &Tensor, definition: &[&Expr]) -> bool {
    definition
        .iter()
        .any(|e| e.tensor().is_some_and(|t| t.name() == tensor.name()))
}

/// Whether an assignment sets every element of its target.
fn covers(assignment: &Expr) -> bool {
    let Node::Assign {
        target, elsewhere, ..
    } = assignment.node()
    else {
        return false;
    };
    if elsewhere.is_some() {
        return true;
    }
    let (Node::Access { tensor, index }, Ok(ranges)) = (target.node(), shape::ranges(assignment))
    else {
        return false;
    };
    let Index::At(index) = index else {
        return true;
    };
    let mut seen: Vec<&Name> = Vec::new();
    index
        .iter()
        .zip(tensor.shape().dims())
        .all(|(index, extent)| {
            let names = index.terms().iter().map(|(name, _)| name);
            let fresh = !names.clone().any(|name| seen.contains(&name));
            seen.extend(names);
            fresh && mixed_radix::covers(index, &extent, &ranges)
        })
}

/// The comments above a function: what it computes, the steps, and notes for callers and readers.
fn comments(
    nests: &[Nest],
    symbol: &str,
    params: &[Param],
    spelling: &Spelling,
    proof: &Proof,
) -> String {
    let mut c = format!("// {symbol} computes\n");
    for part in nests.iter().flat_map(Nest::untransformed) {
        for line in definition_lines(&part) {
            let _ = writeln!(c, "//   {line}");
        }
    }
    let donated: Vec<&Name> = nests.iter().flat_map(Nest::donated).collect();
    for param in params.iter().filter(|p| p.role == Role::InOut) {
        if param
            .tensor
            .name()
            .is_some_and(|name| donated.contains(&name))
        {
            let _ = writeln!(c, "// and overwrites {}", param.tensor.label());
        }
    }
    c.push_str("// by\n");
    for step in nests.iter().flat_map(path_lines) {
        let _ = writeln!(c, "//   {step}");
    }
    for (name, spelled, why) in spelling.changes() {
        let _ = writeln!(c, "// `{name}` is spelled `{spelled}`: {why}");
    }
    if *proof != Proof::Proved {
        let _ = writeln!(c, "// {}", comment(&proof.to_string()));
    }
    c
}

/// The function, after its comments and the functions that it calls. `rows` declares arguments once more,
/// with the dimensions that its code reads as one.
fn function(
    (linkage, symbol): (&str, &str),
    sizes: &Sizes,
    (params, rows): (&[Param], &str),
    comments: &str,
    printed: &Printed,
) -> String {
    let Printed {
        attributes, body, ..
    } = printed;
    let mut c = comments.to_owned();
    for function in &printed.functions {
        let _ = write!(c, "\n{function}\n");
    }
    let mut promises = String::new();
    for param in params {
        if let Some(bytes) = param.tensor.alignment() {
            let (name, to) = (param.tensor.label(), passed(param));
            let _ = writeln!(
                promises,
                "    {name} = ({to})__builtin_assume_aligned({name}, {bytes});"
            );
        }
    }
    let numbers = sizes.of_caller.iter().map(|size| format!("int64_t {size}"));
    let params = params.iter();
    let params = params.map(|p| parameter(&p.tensor, p.role == Role::In));
    let params: Vec<String> = numbers.chain(params).collect();
    let params = params.join(",\n    ");
    let mut derived = String::new();
    for size in &sizes.derived {
        let _ = writeln!(derived, "    {}", definition_of_size(size));
    }
    let _ = write!(
        c,
        "{linkage}{attributes}void {symbol}(\n    {params})\n{{\n{derived}{promises}{rows}{body}}}\n"
    );
    c
}

/// An assignment, or the loops that order the assignments of elements.
fn definition_lines(part: &Nest) -> Vec<String> {
    if part.originals().iter().any(|p| p.in_order) {
        part.lines().iter().map(ToString::to_string).collect()
    } else {
        part.definition()
            .iter()
            .map(|e| Infix(e).to_string())
            .collect()
    }
}

/// The sizes that callers give to a function, and the sizes that it derives from them.
struct Sizes {
    of_caller: Vec<Name>,
    derived: Vec<Name>,
}

fn sizes(nests: &[Nest], params: &[Param]) -> Result<Sizes, NoCode> {
    let mut all: Vec<Name> = Vec::new();
    for size in nests.iter().flat_map(Nest::sizes) {
        if all
            .iter()
            .any(|known| *known == size && known.size() != size.size())
        {
            return Err(NoCode::SizesDiffer { name: size });
        }
        if !all.contains(&size) {
            all.push(size);
        }
    }
    let locals = nests.iter().flat_map(Nest::locals);
    let tensors = params.iter().map(|p| &p.tensor).chain(locals);
    let tensors: HashSet<&Name> = tensors.filter_map(Tensor::name).collect();
    let is_derived = |name: &Name| name.size().is_some_and(|size| size.of.is_some());
    // A derived size ends with a number, and no name of C does that begins like one of them.
    let is_taken = |name: &Name| !is_derived(name) && symbol::is_taken(name.as_str());
    if let Some(name) = all
        .iter()
        .find(|name| tensors.contains(name) || is_taken(name))
    {
        return Err(NoCode::SizeIsTaken { name: name.clone() });
    }
    let strides = params.iter().flat_map(|p| p.tensor.strides());
    let strides: Vec<Name> = strides.collect();
    let loops = nests.iter().flat_map(Nest::loops);
    let loops: HashSet<&Name> = loops.map(|(_, l)| &l.name).collect();
    let is_used =
        |name: &Name| tensors.contains(name) || loops.contains(name) || all.contains(name);
    if let Some(name) = strides.iter().find(|name| is_used(name) || is_taken(name)) {
        return Err(NoCode::StrideIsTaken { name: name.clone() });
    }
    let (derived, of_caller): (Vec<Name>, Vec<Name>) = all.into_iter().partition(is_derived);
    let of_caller = of_caller.into_iter().chain(strides).collect();
    Ok(Sizes { of_caller, derived })
}

pub(super) fn with_likely(sizes: &[Name]) -> Vec<(Name, i64)> {
    let sizes = sizes.iter();
    let likely = sizes.filter_map(|name| Some((name.clone(), name.size()?.likely)));
    likely.collect()
}

/// The most steps of a path that the C spells out.
const MAX_STEPS: usize = 40;

fn path_lines(nest: &Nest) -> Vec<String> {
    let entries = nest.path().entries();
    let skipped = entries.len().saturating_sub(MAX_STEPS);
    let shown = entries.iter().skip(skipped).map(asked);
    let more = (skipped > 0).then(|| format!("… {skipped} earlier steps"));
    more.into_iter().chain(shown).collect()
}
