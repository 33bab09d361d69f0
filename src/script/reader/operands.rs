//! Variables that read as iterators, in the text of a script.

use rhai::{AST, ASTNode, Expr, FnCallExpr, Position, Stmt, Token};

/// Whether a name that nobody declared is taken as an iterator: one or two lowercase letters,
/// then digits, then any number of suffixes such as `_o` or `_2`.
pub fn is_iterator_name(name: &str) -> bool {
    let mut parts = name.split('_');
    let first = parts.next().unwrap_or("");
    let letters = first.bytes().take_while(u8::is_ascii_lowercase).count();
    let rest_is_digits = first.bytes().skip(letters).all(|b| b.is_ascii_digit());
    let is_suffix = |part: &str| {
        !part.is_empty()
            && part
                .bytes()
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
    };
    (1..=2).contains(&letters) && rest_is_digits && parts.all(is_suffix)
}

/// The position of an operator or a call. For each operand or argument, the receiver of a method
/// included, the position of a variable in it that reads as an iterator.
pub type Operands = (Position, Vec<Option<Position>>);

/// The first variable that reads as an iterator in arithmetic: `n` in `2 * n + 1`, none in `f(n)`.
pub fn variable(expr: &Expr) -> Option<Position> {
    match expr {
        Expr::Variable(variable, _, position) => {
            let is_bare = variable.2.is_empty() && is_iterator_name(&variable.1);
            is_bare.then_some(*position)
        }
        Expr::FnCall(call, _) if is_arithmetic(call) => call.args.iter().find_map(variable),
        _ => None,
    }
}

/// The variable, if it reads as an iterator and is all that there is.
fn alone(expr: &Expr) -> Option<Position> {
    variable(expr).filter(|_| matches!(expr, Expr::Variable(..)))
}

fn is_arithmetic(call: &FnCallExpr) -> bool {
    use Token as T;
    let op = call.op_token.as_ref();
    op.is_some_and(|op| {
        matches!(
            op,
            T::Plus
                | T::Minus
                | T::Multiply
                | T::Divide
                | T::Modulo
                | T::PowerOf
                | T::UnaryPlus
                | T::UnaryMinus
        )
    })
}

/// The operators and calls of a script whose operands have such variables.
pub fn operands(ast: &AST) -> Vec<Operands> {
    let mut found: Vec<Operands> = Vec::new();
    ast.walk(&mut |nodes| {
        match nodes.last() {
            Some(ASTNode::Expr(Expr::FnCall(call, position))) => {
                let operand = if is_arithmetic(call) { variable } else { alone };
                found.push((*position, call.args.iter().map(operand).collect()));
            }
            Some(ASTNode::Expr(Expr::MethodCall(call, position))) => {
                let arguments = call.args.iter().map(alone);
                found.push((*position, std::iter::once(None).chain(arguments).collect()));
            }
            Some(ASTNode::Stmt(Stmt::Assignment(assignment))) => {
                let (op, sides) = &**assignment;
                found.push((op.position(), vec![None, variable(&sides.rhs)]));
            }
            _ => {}
        }
        true
    });
    found.retain(|(_, places)| places.iter().any(Option::is_some));
    found
}

/// The variables that read as iterators in the ranges of maps that calls have as their last
/// argument, each with the key of its range. By the position of the call.
pub fn in_ranges(ast: &AST) -> Vec<(Position, Vec<(String, Position)>)> {
    let mut found = Vec::new();
    ast.walk(&mut |nodes| {
        if let Some(ASTNode::Expr(Expr::FnCall(call, at) | Expr::MethodCall(call, at))) =
            nodes.last()
            && let Some(Expr::Map(entries, _)) = call.args.last()
        {
            let mut of_call = Vec::new();
            for (key, value) in &entries.0 {
                let key = key.name.to_string();
                collect(value, &mut |position| of_call.push((key.clone(), position)));
            }
            if !of_call.is_empty() {
                found.push((*at, of_call));
            }
        }
        true
    });
    found
}

fn collect(expr: &Expr, found: &mut dyn FnMut(Position)) {
    match expr {
        Expr::Variable(variable, _, position)
            if variable.2.is_empty() && is_iterator_name(&variable.1) =>
        {
            found(*position);
        }
        Expr::FnCall(call, _) if call.name != "value" => {
            call.args.iter().for_each(|arg| collect(arg, found));
        }
        _ => {}
    }
}
#[cfg(test)]
mod tests {
    use super::is_iterator_name;

    #[test]
    fn which_names_are_iterators() {
        for name in ["i", "kh", "i1", "i_o", "i1_o_2", "j_i"] {
            assert!(is_iterator_name(name), "{name}");
        }
        for name in ["", "A", "naive", "i_", "_i", "i_O", "1i", "iB", "i1a", "é"] {
            assert!(!is_iterator_name(name), "{name}");
        }
    }
}
