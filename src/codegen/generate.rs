//! From nests to one C function. That of nests with variants chooses a plan when it is called.

use super::function::{NoCode, check, emit, of_all_sizes};
use super::kernel::{Header, Kernel, Param, Role, Vectors, parameter, passed, spelled};
use super::symbol;
use crate::ir::{Condition, Name, Nest, Tensor};
use crate::legality::{Proof, Reductions};
use crate::target::Target;
use std::collections::BTreeSet;
use std::fmt::Write;

/// The C function `symbol` that runs `nests` in order, for the machine that this program runs on.
///
/// The function allocates nothing: every tensor that is not local is a parameter, results before
/// operands. It is C11 with OpenMP pragmas, and compiles without warnings under `-Wall -Wextra`.
///
/// # Errors
/// [`NoCode`]; the nests must be proved to compute what their definition says, or assumed to.
pub fn generate(nests: &[Nest], symbol: &str, reductions: Reductions) -> Result<Kernel, NoCode> {
    generate_for(nests, symbol, reductions, &Target::native())
}

/// As [`generate`], for another machine, or for this one with more facts about it.
///
/// # Errors
/// As [`generate`].
pub fn generate_for(
    nests: &[Nest],
    symbol: &str,
    reductions: Reductions,
    target: &Target,
) -> Result<Kernel, NoCode> {
    generate_with_own(nests, symbol, reductions, target, &|_| false)
}

/// As [`generate_for`], but the function has space for some tensors itself, one for each thread that
/// calls it: those for which `is_own` holds. Their contents before and after do not matter.
///
/// # Errors
/// As [`generate`].
pub fn generate_with_own(
    nests: &[Nest],
    symbol: &str,
    reductions: Reductions,
    target: &Target,
    is_own: &dyn Fn(&Param) -> bool,
) -> Result<Kernel, NoCode> {
    if let Some((sized, values)) = of_all_sizes(nests) {
        let kernel = generate_with_own(&sized, symbol, reductions, target, is_own)?;
        return Ok(kernel.at_sizes(&values));
    }
    symbol::check(symbol).map_err(NoCode::Symbol)?;
    if nests.iter().any(|nest| !nest.variants().is_empty()) {
        return dispatch(nests, symbol, reductions, target, is_own);
    }
    let proof = check(nests, reductions)?;
    emit(nests, ("", symbol), (proof, reductions), target, is_own)
}

/// The function `symbol`, which runs the first plan whose condition holds. Each plan is a static
/// function before it.
fn dispatch(
    nests: &[Nest],
    symbol: &str,
    reductions: Reductions,
    target: &Target,
    is_own: &dyn Fn(&Param) -> bool,
) -> Result<Kernel, NoCode> {
    let mut plans: Vec<(Condition, Kernel)> = Vec::new();
    for (condition, plan) in Nest::plans(nests) {
        let proof = check(&plan, reductions)?;
        // Scripts cannot use this name.
        let name = format!("teml_{symbol}_v{}", plans.len() + 1);
        let kernel = emit(
            &plan,
            ("static ", &name),
            (proof, reductions),
            target,
            is_own,
        )?;
        plans.push((condition, kernel));
    }
    let Some((_, fallback)) = plans.last() else {
        return Err(NoCode::Nothing);
    };
    let sizes = fallback.sizes.clone();
    let params = params(&plans);
    let spelled = spelled(&params);
    let mut function = String::new();
    let (mut headers, mut plan): (BTreeSet<Header>, String) =
        ([Header::Integers].into(), "".into());
    for (condition, kernel) in &plans {
        let _ = writeln!(function, "{}", kernel.function);
        headers.extend(&kernel.headers);
        let when = match condition.is_empty() {
            true => "otherwise:".to_owned(),
            false => format!("where {condition}:"),
        };
        let _ = writeln!(plan, "{when}");
        for line in kernel.plan.lines() {
            let _ = writeln!(plan, "  {line}");
        }
    }
    let numbers = sizes.iter().map(|(size, _)| format!("int64_t {size}"));
    let tensors = params.iter().zip(&spelled);
    let tensors = tensors.map(|(param, spelled)| parameter(spelled, param.role == Role::In));
    let arguments: Vec<String> = numbers.chain(tensors).collect();
    let _ = write!(
        function,
        "// {symbol} runs one of them.\nvoid {symbol}(\n    {})\n{{\n",
        arguments.join(",\n    ")
    );
    let label = |name: &Name| {
        let place = params.iter().position(|p| p.tensor.name() == Some(name))?;
        spelled[place].name().cloned()
    };
    for (condition, kernel) in &plans {
        let condition = condition.renamed(&label);
        let call = call(kernel, &params, &spelled);
        let _ = match condition.is_empty() {
            true => writeln!(function, "    {call};"),
            false => writeln!(
                function,
                "    if ({condition}) {{\n        {call};\n        return;\n    }}"
            ),
        };
    }
    function.push_str("}\n");
    let proofs = plans.iter().map(|(_, kernel)| kernel.proof.clone());
    Ok(Kernel {
        symbol: symbol.to_owned(),
        headers,
        function,
        sizes,
        params,
        proof: proofs.fold(Proof::Proved, Proof::and),
        vectors: Vectors::of(target),
        plan,
    })
}

/// The arguments of all plans, results first.
fn params(plans: &[(Condition, Kernel)]) -> Vec<Param> {
    let mut params: Vec<Param> = Vec::new();
    for param in plans.iter().rev().flat_map(|(_, kernel)| &kernel.params) {
        match params.iter_mut().find(|p| is_same(p, param)) {
            Some(known) => {
                known.role = both(known.role, param.role);
                if known.role != Role::In && known.tensor.is_by_value() {
                    known.tensor = known.tensor.dense();
                }
            }
            None => params.push(param.clone()),
        }
    }
    params.sort_by_key(|param| match param.role {
        Role::Out | Role::InOut => 0,
        Role::In => 1,
        Role::Workspace => 2,
    });
    params
}

fn is_same(one: &Param, other: &Param) -> bool {
    one.tensor.name() == other.tensor.name()
}

/// How a function uses an argument that two plans use so.
fn both(one: Role, other: Role) -> Role {
    if one == other { one } else { Role::InOut }
}

/// The call of a plan's function.
fn call(kernel: &Kernel, params: &[Param], spelled: &[Tensor]) -> String {
    let sizes = kernel.sizes.iter().map(|(size, _)| size.to_string());
    let tensors = kernel.params.iter().filter_map(|own| {
        let place = params.iter().position(|param| is_same(param, own))?;
        let name = spelled[place].label();
        let (wanted, given) = (passed(own), passed(&params[place]));
        Some(match own.tensor.is_by_value() {
            _ if wanted == given => name.to_string(),
            true => format!("*{name}"),
            false => format!("({wanted}){name}"),
        })
    });
    let arguments: Vec<String> = sizes.chain(tensors).collect();
    format!("{}({})", kernel.symbol, arguments.join(", "))
}
