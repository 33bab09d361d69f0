//! Names: the variables that values are bound to (TeML eqs. 17 and 18), and iterators that
//! need no declaration.

use crate::binding::captured;
use crate::binding::function_values;
use crate::binding::operand_names;
use crate::binding::state::Shared;
use crate::ir::{self, Elem, Name, Nest, Node, Tensor};
use crate::lang::{self, Variable};
use crate::messages::fail::{Failure, Unread};
use crate::messages::unused;
use crate::reader::dropped::UNUSED;
use crate::reader::lists::ITEM;
use crate::reader::operands;
use crate::reader::places::LIBRARY;
use crate::reader::rewrite::{BIND, IS_METHOD, SAC, SET};
use crate::transform::tensor::partition::{check_complete, retarget};
use crate::values::{self, Index};
use rhai::{Dynamic, Engine, EvalAltResult, EvalContext, Expr, Expression, ParseError, Position};
use std::collections::{BTreeMap, HashSet};

type Result<T> = std::result::Result<T, Box<EvalAltResult>>;

/// Registers the syntax that [`crate::reader::rewrite`] inserts, `@C : expr`, and undeclared iterators.
///
/// # Errors
/// A keyword clashes with one of Rhai's.
pub fn register(engine: &mut Engine, shared: &Shared) -> std::result::Result<(), ParseError> {
    let state = shared.clone();
    engine.register_custom_syntax([BIND, "$ident$", ":", "$expr$"], false, move |c, i| {
        bind(c, i, &state)
    })?;
    let state = shared.clone();
    engine.register_custom_syntax([SET, "$ident$", ":", "$expr$"], false, move |c, i| {
        set(c, i, &state)
    })?;
    engine.register_custom_syntax([ITEM, "$expr$"], false, |context, inputs| {
        let value = evaluated(context, &inputs[0])?;
        Ok(captured::marked(value, &inputs[0]))
    })?;
    let state = shared.clone();
    engine.register_custom_syntax([UNUSED, "$expr$"], false, move |context, inputs| {
        let value = inputs[0].eval_with_context(context)?;
        let mut state = state.lock();
        if let Some((position, warning)) = unused::warning(&value, &inputs[0], &state.places) {
            state.warn(position, warning);
        }
        Ok(value)
    })?;
    engine.register_custom_syntax([IS_METHOD], false, |context, _| {
        Ok(context.this_ptr().is_some().into())
    })?;
    let state = shared.clone();
    engine.register_custom_syntax([SAC, "$string$"], false, move |context, inputs| {
        array_expression(context, inputs, &state)
    })?;
    let state = shared.clone();
    engine.register_custom_syntax(["@", "$expr$", ":", "$expr$"], false, move |c, i| {
        assign_to(c, i, &state)
    })?;
    // Rhai marks callbacks as deprecated to say that their form may change.
    #[allow(deprecated)]
    engine.on_var(|name, index, context| {
        // An index means that the compiler saw the declaration.
        if index > 0 {
            return Ok(None);
        }
        // `double` and `float` are element types, as the paper writes them.
        let elem = Elem::ALL.into_iter().find(|e| e.name_in_teml() == name);
        if let Some(error) = function_values::is_a_name(name)
            && !context.scope().contains(name)
            && is_function(&context, name)
        {
            return Err(error);
        }
        let means_something = elem.is_some() || operands::is_iterator_name(name);
        if !means_something || context.scope().contains(name) {
            return Ok(None);
        }
        if is_function(&context, name) {
            return Ok(None);
        }
        if let Some(elem) = elem {
            return Ok(Some(elem.to_string().into()));
        }
        let iterator = Name::new(name).ok();
        Ok(iterator.map(|name| Dynamic::from(Index::iterator(name, true))))
    });
    Ok(())
}

fn is_function(context: &EvalContext, name: &str) -> bool {
    let mut namespaces = context.iter_namespaces();
    namespaces.any(|m| m.iter_script_fn_info().any(|(_, _, f, _, _)| f == name))
}

fn bind(context: &mut EvalContext, inputs: &[Expression], shared: &Shared) -> Result<Dynamic> {
    let (name, position) = (inputs[0].get_string_value(), inputs[0].position());
    let value = evaluated(context, &inputs[1])?;
    if is_library(context) && stays_nameless(&value) {
        Ok(value)
    } else {
        named(
            value,
            name.unwrap_or(""),
            &Bound::of(context, &inputs[1], position),
            shared,
        )
    }
}

/// Where a value is bound to a variable.
struct Bound {
    position: Position,
    /// Where the value is.
    value: Position,
    /// In a function, whose variables end with it.
    is_inner: bool,
    /// Whether the value is the result of a call, rather than another variable or an element.
    is_result: bool,
}

impl Bound {
    fn of(context: &EvalContext, value: &Expression, position: Position) -> Bound {
        Bound {
            position,
            value: value.position(),
            is_inner: context.call_level() > 0,
            is_result: matches!(
                **value,
                Expr::FnCall(..) | Expr::MethodCall(..) | Expr::Dot(..)
            ),
        }
    }
}

/// `sac { … }`: an array expression, whose variables are those of the script.
fn array_expression(
    context: &mut EvalContext,
    inputs: &[Expression],
    shared: &Shared,
) -> Result<Dynamic> {
    let text = inputs[0].get_string_value().unwrap_or("");
    let position = inputs[0].position();
    let variables = captured_by(text, context, shared).map_err(|f| f.raise(position))?;
    let (place, site) = {
        let state = shared.lock();
        (state.places.span(position), state.site(position))
    };
    let elem = shared.bench().lock().elem;
    let made = lang::array_expression(text, variables, elem);
    let made = made.map(|expr| operand_names::noted(expr, site, shared));
    made.map(Dynamic::from).map_err(|problems| {
        let mut unread = Unread::new("sac", text, problems);
        unread.place = place.map(|span| (span.source, span.range.start));
        Failure::unread(unread).raise(position)
    })
}

/// The variables of the script, the innermost of each name. Those that an array expression mentions
/// hold operands, with names as the operands of operations have them.
fn captured_by(
    text: &str,
    context: &EvalContext,
    shared: &Shared,
) -> std::result::Result<BTreeMap<String, Variable>, Failure> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let words: HashSet<&str> = text.split(|c| !is_part(c)).collect();
    let innermost: BTreeMap<&str, Dynamic> = (context.scope().iter())
        .map(|(name, _, value)| (name, value))
        .collect();
    let mut operands: BTreeMap<&str, ir::Expr> = BTreeMap::new();
    for (name, value) in &innermost {
        if let Some(expr) = value
            .read_lock::<ir::Expr>()
            .filter(|_| words.contains(name))
        {
            operands.insert(*name, operand_names::operand(expr.clone(), shared)?);
        }
    }
    let used: Vec<ir::Expr> = operands.values().filter_map(read).collect();
    operand_names::tell_apart(&used, shared);
    let bench = shared.bench().lock();
    let variable = |name: &str, value: &Dynamic| match (operands.get(name), value.as_int()) {
        (Some(expr), _) => match bench.definitions.current(expr).tensor() {
            Some(tensor) if expr.is_assignment() || is_declaration(expr) => {
                Variable::Tensor(tensor.clone())
            }
            _ => Variable::Other("an expression without memory".to_owned()),
        },
        (None, Ok(number)) => Variable::Integer(number),
        (None, Err(_)) => Variable::Other(values::describe(value)),
    };
    let all = innermost.iter();
    Ok(all
        .map(|(name, value)| ((*name).to_owned(), variable(name, value)))
        .collect())
}

/// A read of the tensor of an expression.
fn read(expr: &ir::Expr) -> Option<ir::Expr> {
    expr.tensor().cloned().map(ir::Expr::of_tensor)
}

/// The value that a variable is bound to.
fn evaluated(context: &mut EvalContext, input: &Expression) -> Result<Dynamic> {
    let mut value = input.eval_with_context(context)?;
    if value.tag() == values::NAMED && matches!(**input, Expr::Variable(..)) {
        // This is another variable than the one that was declared with the tensor.
        value.set_tag(0);
    }
    Ok(value)
}

/// Whether a function of the library is running, whose variables name no nests of the script.
fn is_library(context: &EvalContext) -> bool {
    context.source().is_some_and(|s| s.starts_with(LIBRARY))
}

/// Whether a value gets no name from a variable of the library: it is the user's.
fn stays_nameless(value: &Dynamic) -> bool {
    let expr = value.read_lock::<ir::Expr>();
    value.is::<Nest>() || expr.is_some_and(|expr| expr.is_assignment())
}

fn set(context: &mut EvalContext, inputs: &[Expression], shared: &Shared) -> Result<Dynamic> {
    let name = inputs[0].get_string_value().unwrap_or("");
    let position = inputs[0].position();
    if !context.scope().contains(name) {
        let failure = Failure::new(format!(
            "`{name}` is assigned to, but no variable of that name was declared here"
        ))
        .help(format!(
            "a new variable is declared with `let {name} = ...`"
        ));
        let failure = match context.call_level() {
            0 => failure,
            _ => failure.note("functions see only their parameters and their own variables"),
        };
        return Err(failure.raise(position));
    }
    let value = evaluated(context, &inputs[1])?;
    let old = context.scope().get(name);
    let keeps_name = old.is_some_and(|old| old.tag() == values::NAMED);
    let old = old.and_then(|old| old.read_lock::<ir::Expr>().map(|e| e.clone()));
    if let (Some(old), Some(new)) = (old, value.read_lock::<ir::Expr>())
        && let (Some(tensor), Ok(label)) = (old.tensor(), Name::new(name))
        // Declaring a tensor anew replaces it; only an assignment to its elements must fit.
        && new.is_assignment()
        && is_unnamed(&new)
    {
        let is_renamed = shared.bench().lock().definitions.is_renamed(tensor);
        let is_alias = tensor.name().is_some_and(|own| *own != label) && !keeps_name && !is_renamed;
        let target = if keeps_name || is_renamed {
            tensor.clone()
        } else if is_alias {
            // Another variable named the old tensor, which stays as it is.
            let number = shared.bench().lock().definitions.name();
            tensor.named(label).declared_as(number)
        } else {
            tensor.named(label)
        };
        let assignment = match onto(name, &target, &new) {
            Ok(assignment) => assignment,
            // The old value is a result, whose shape nobody stated: the new one is another tensor.
            Err(_) if is_alias || (old.is_assignment() && !keeps_name && reads(&new, tensor)) => {
                let bound = Bound::of(context, &inputs[1], position);
                let new = named(value.clone(), name, &bound, shared)?;
                let own = new.read_lock::<ir::Expr>().map(|expr| expr.clone());
                return Ok(match own {
                    Some(own) => Dynamic::from(operand_names::with_own_name(&own, shared)),
                    None => new,
                });
            }
            Err(failure) => return Err(failure.raise(position)),
        };
        let mut assignment = Dynamic::from(made(assignment, position, shared));
        if keeps_name {
            assignment.set_tag(values::NAMED);
        }
        return Ok(assignment);
    }
    if is_library(context) && stays_nameless(&value) {
        Ok(value)
    } else {
        named(
            value,
            name,
            &Bound::of(context, &inputs[1], position),
            shared,
        )
    }
}

/// `@C : expr`.
fn assign_to(context: &mut EvalContext, inputs: &[Expression], shared: &Shared) -> Result<Dynamic> {
    let position = inputs[0].position();
    let name = inputs[0].get_string_value().unwrap_or("the target");
    let introduce = format!("introduce it first: let {name} = tensor([...]);");
    if !context.scope().contains(name) {
        return Err(Failure::new(format!(
            "`@{name} :` needs a tensor, and nothing is named `{name}` here"
        ))
        .help(introduce)
        .raise(position));
    }
    let target = inputs[0].eval_with_context(context)?;
    let tensor = target
        .read_lock::<ir::Expr>()
        .and_then(|target| target.tensor().cloned());
    let Some(tensor) = tensor.filter(|t| t.name().is_some()) else {
        let given = values::describe(&target);
        let given = match target.read_lock::<ir::Expr>() {
            Some(_) => "a virtual expression, which has no memory".to_owned(),
            None => given,
        };
        return Err(Failure::new(format!(
            "`@{name} :` needs a tensor that was introduced before, but `{name}` is {given}",
        ))
        .help(introduce)
        .raise(position));
    };
    let value = inputs[1].eval_with_context(context)?;
    let assignment = {
        let Some(expr) = value.read_lock::<ir::Expr>().filter(|e| e.is_assignment()) else {
            return Err(Failure::new(format!(
                "`@{name} :` must be followed by an assignment, not {}",
                values::describe(&value)
            ))
            .help("assignments are made by eq, add, sub, mul, div and the like")
            .raise(inputs[1].position()));
        };
        onto(name, &tensor, &expr)
    };
    let assignment = assignment.map_err(|failure| failure.raise(position))?;
    Ok(Dynamic::from(made(assignment, position, shared)))
}

/// Notes an assignment, whose tensors get names that tell them apart.
fn made(assignment: ir::Expr, position: Position, shared: &Shared) -> ir::Expr {
    operand_names::tell_apart(std::slice::from_ref(&assignment), shared);
    let site = shared.lock().site(position);
    let mut bench = shared.bench().lock();
    let assignment = bench.definitions.current(&assignment);
    bench.definitions.made(&assignment, site);
    assignment
}

/// The same for the result of an operation, which was noted before it had a name.
fn noted_as(assignment: ir::Expr, position: Position, shared: &Shared) -> ir::Expr {
    operand_names::tell_apart(std::slice::from_ref(&assignment), shared);
    let site = shared.lock().site(position);
    let mut bench = shared.bench().lock();
    let assignment = bench.definitions.current(&assignment);
    bench.definitions.bound(&assignment, site);
    assignment
}

/// The value under the name, if it has none yet.
fn named(mut value: Dynamic, name: &str, bound: &Bound, shared: &Shared) -> Result<Dynamic> {
    let is_labelled_inside = value.tag() == values::INNER;
    if value.tag() != values::NAMED && !is_labelled_inside {
        value.set_tag(0);
    }
    if let Some(expr) = value.read_lock::<ir::Expr>() {
        if is_unnamed(&expr) {
            let name = Name::new(name).map_err(|error| {
                Failure::new(format!("a tensor cannot have this name: {error}"))
                    .help("the variable that a tensor is bound to names it in the generated code")
                    .raise(bound.position)
            })?;
            let noted = {
                let bench = shared.bench().lock();
                let noted = bench.definitions.of_result(&expr);
                noted.map(|(number, named)| (number, named.cloned()))
            };
            if let Some((_, Some(named))) = noted {
                return Ok(Dynamic::from(named));
            }
            // An expression that reads a tensor of its own name and shape overwrites that tensor.
            let old = overwritten(&expr, &name);
            let number = match (&old, noted) {
                (Some(tensor), _) => tensor.declared(),
                (None, Some((number, _))) => number,
                (None, None) => shared.bench().lock().definitions.name(),
            };
            let declared = |tensor: &Tensor| tensor.named(name.clone()).declared_as(number);
            let expr = expr.fill_placeholder_with(&declared);
            let complete = check_complete(&expr);
            complete.map_err(|error| Failure::operation(error).raise(bound.value))?;
            let expr = match old {
                Some(_) => made(expr, bound.position, shared),
                None => noted_as(expr, bound.position, shared),
            };
            return Ok(Dynamic::from(expr));
        }
        if is_declaration(&expr) && expr.tensor().is_some_and(|t| t.declared() == 0) {
            // It was declared with its name.
            let number = shared.bench().lock().definitions.name();
            let declared = |tensor: &Tensor| Some(tensor.declared_as(number));
            let mut declared = Dynamic::from(expr.map_tensors(&declared));
            declared.set_tag(value.tag());
            return Ok(declared);
        }
        if let (true, Ok(name)) = (operand_names::is_virtual(&expr), Name::new(name)) {
            shared.bench().lock().definitions.held(&expr, name);
        }
    } else if let Some(nest) = value.read_lock::<Nest>() {
        // A nest keeps working without a label, so a name that C rejects is not an error.
        let is_free = nest.label().is_none() || (is_labelled_inside && bound.is_result);
        if let (true, Ok(name)) = (is_free, Name::new(name)) {
            let mut labelled = Dynamic::from(nest.labelled(name));
            if bound.is_inner {
                labelled.set_tag(values::INNER);
            }
            return Ok(labelled);
        }
    }
    Ok(value)
}

/// The tensor of a name that the value of an assignment reads, if it has the shape of the target.
fn overwritten(assignment: &ir::Expr, name: &Name) -> Option<Tensor> {
    let target = assignment.tensor()?.named(name.clone());
    let mut found = None;
    assignment.for_each_tensor(&mut |tensor| {
        if *tensor == target {
            found = Some(tensor.clone());
        }
    });
    found
}

/// Whether an expression reads a tensor.
fn reads(expr: &ir::Expr, tensor: &Tensor) -> bool {
    let mut found = false;
    expr.for_each_tensor(&mut |read| found |= read == tensor);
    found
}

/// Whether it is a tensor, and neither an assignment nor one with iterators.
fn is_declaration(expr: &ir::Expr) -> bool {
    matches!(
        expr.node(),
        Node::Access {
            index: ir::Index::Unset | ir::Index::Forbidden,
            ..
        }
    )
}

fn is_unnamed(expr: &ir::Expr) -> bool {
    expr.tensor().is_some_and(|tensor| tensor.name().is_none())
}

/// The assignment `new` with the elements of `tensor` as its target, which was declared before.
fn onto(name: &str, tensor: &Tensor, new: &ir::Expr) -> std::result::Result<ir::Expr, Failure> {
    retarget(new, tensor).map_err(|error| {
        let other = format!("`let {name} = ...` makes a new tensor instead");
        let help = error.help.as_ref();
        let help = help.map_or(other.clone(), |help| format!("{help}; {other}"));
        let what = format!("the assignment does not fit `{name}`: {error}");
        Failure::new(what).help(help)
    })
}
