//! The canonical text of expressions and nests: what `print` shows and [`super::parse`] reads.
//!
//! ```text
//! f64 A[4][4], B[4][4]
//! fill A[0..4][0..4] = 0
//! parallel for i in 0..4
//!   for k in 0..4
//!     for j_o in 0..2
//!       vector for j_i in 3*j_o..min(3*j_o + 3, 4)
//!         A[i][j_i] += B[i][k] * B[k][j_i]
//! ```

use super::affine::Affine;
use super::domain::Domain;
use super::elem::Elem;
use super::expr::{Expr, Index, Node};
use super::function::{BinaryOp, Function};
use super::name::{Name, Size};
use super::nest::{Loop, Nest, Tree};
use super::operator::Operator;
use super::range::Range;
use super::segment::Segment;
use super::statement::{Fill, Stmt};
use super::tensor::{Space, Tensor};
use std::fmt::{self, Display, Formatter};

impl Display for Expr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut tensors = Vec::new();
        self.for_each_tensor(&mut |tensor| {
            if !tensors.contains(tensor) {
                tensors.push(tensor.clone());
            }
        });
        // A tensor's text is its own declaration.
        let is_declaration = matches!(
            self.node(),
            Node::Access {
                index: Index::Unset | Index::Forbidden,
                ..
            }
        );
        write_sizes(f, &self.sizes(), is_declaration)?;
        write_declarations(f, &tensors)?;
        match is_declaration {
            true => Ok(()),
            false => write!(f, "\n{}", Infix(self)),
        }
    }
}

impl Display for Operator {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let operand = |tensors: &[Tensor]| {
            let parts = tensors
                .iter()
                .map(|t| format!("{} {}", t.elem(), t.label()));
            format!("({})", parts.collect::<Vec<_>>().join(", "))
        };
        let values: Vec<String> = self.values.iter().map(|v| Infix(v).to_string()).collect();
        let identity: Vec<String> = self.identity.iter().map(ToString::to_string).collect();
        write!(
            f,
            "{}({}, {}) = ({}), identity ({})",
            self.name,
            operand(&self.left),
            operand(&self.right),
            values.join(", "),
            identity.join(", ")
        )
    }
}

/// The declarations of sizes: those without facts together, and a line for each other one. Likely
/// values are not a part of the meaning. Declarations of tensors have them, so that a text into
/// which these are put knows them.
fn write_sizes(f: &mut Formatter<'_>, sizes: &[Name], with_likely: bool) -> fmt::Result {
    let facts = |name: &Name| facts(name, with_likely);
    let (plain, others): (Vec<&Name>, Vec<&Name>) =
        sizes.iter().partition(|name| facts(name).is_empty());
    let plain: Vec<&str> = plain.into_iter().map(Name::as_str).collect();
    if !plain.is_empty() {
        writeln!(f, "size {}", plain.join(", "))?;
    }
    for name in others {
        writeln!(f, "size {name}{}", facts(name))?;
    }
    Ok(())
}

/// The declaration of a size, after its name.
fn facts(name: &Name, with_likely: bool) -> String {
    let Some(size) = name.size() else {
        return String::new();
    };
    if let Some(quotient) = &size.of {
        return format!(" = {quotient}");
    }
    let usual = size.with_likely(Size::default().likely).likely;
    let is_unusual = with_likely && size.likely != usual;
    let facts = size.facts().into_iter();
    let facts = facts.filter(|(fact, _)| *fact != "likely" || is_unusual);
    facts
        .map(|(fact, value)| format!(" {fact} {value}"))
        .collect()
}

impl Display for Nest {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write_sizes(f, &self.sizes(), false)?;
        write_declarations(f, &self.tensors())?;
        if self.variants().is_empty() {
            let lines = self.lines();
            return lines.iter().try_for_each(|line| write!(f, "\n{line}"));
        }
        for (condition, variant) in self.choices() {
            write!(f, "\nwhere {condition}:")?;
            let declared = self.sizes();
            for size in variant
                .sizes()
                .iter()
                .filter(|size| !declared.contains(size))
            {
                write!(f, "\n  size {size}{}", facts(size, false))?;
            }
            write_plan(f, variant)?;
        }
        f.write_str("\notherwise:")?;
        write_plan(f, self)
    }
}

/// One of several plans of a nest.
fn write_plan(f: &mut Formatter<'_>, plan: &Nest) -> fmt::Result {
    plan.lines().into_iter().try_for_each(|line| {
        let depth = line.depth + 1;
        write!(f, "\n{}", Line { depth, ..line })
    })
}

/// A line of a printed nest.
#[derive(Clone, Debug)]
pub struct Line<'a> {
    /// The number of loops around it.
    pub depth: usize,
    pub tree: &'a Tree,
}

impl Display for Line<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{:indent$}", "", indent = 2 * self.depth)?;
        match self.tree {
            Tree::Loop(l) => write!(f, "{l}"),
            Tree::Stmt(s) => write!(f, "{s}"),
            Tree::Fill(fill) => write!(f, "{fill}"),
            Tree::Local(tensor) => {
                let space = tensor.space().map_or("", Space::word);
                let between = if space.is_empty() { "" } else { " " };
                write!(f, "local {space}{between}{} {tensor}", tensor.elem())
            }
        }
    }
}

impl Nest {
    /// The lines of the printed nest, after the declarations.
    pub fn lines(&self) -> Vec<Line<'_>> {
        fn walk<'a>(trees: &'a [Tree], depth: usize, lines: &mut Vec<Line<'a>>) {
            for tree in trees {
                lines.push(Line { depth, tree });
                if let Tree::Loop(l) = tree {
                    walk(&l.body, depth + 1, lines);
                }
            }
        }
        let mut lines = Vec::new();
        walk(self.trees(), 0, &mut lines);
        lines
    }
}

fn write_declarations(f: &mut Formatter<'_>, tensors: &[Tensor]) -> fmt::Result {
    let mut first = true;
    for elem in Elem::ALL {
        let of_type = tensors.iter().filter(|t| t.elem() == elem);
        let text = |tensor: &Tensor| match (tensor.strided_in(), tensor.entries()) {
            (Some(strides), _) => format!("{} {tensor}", strides.word()),
            (None, Some(entries)) => format!("{tensor} {entries}"),
            (None, None) => tensor.to_string(),
        };
        let texts: Vec<String> = of_type.map(text).collect();
        if !texts.is_empty() {
            let separator = if first { "" } else { "\n" };
            write!(f, "{separator}{elem} {}", texts.join(", "))?;
            first = false;
        }
    }
    Ok(())
}

/// `A[4][5]`; `A[4 x 5]` if both dimensions are read as one; `s` for a scalar; `s[]` for a tensor of
/// rank 0, which takes an empty list.
impl Display for Tensor {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(self.label())?;
        for dims in self.dims_as_given() {
            let extents: Vec<String> = dims.iter().map(Affine::to_string).collect();
            write!(f, "[{}]", extents.join(" x "))?;
        }
        if self.shape().rank() == 0 && !self.is_scalar() {
            f.write_str("[]")
        } else {
            Ok(())
        }
    }
}

impl Display for Loop {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(sharing) = self.sharing() {
            f.write_str("parallel ")?;
            if sharing.collapse > 1 {
                write!(f, "collapse({}) ", sharing.collapse)?;
            }
            if let Some(schedule) = sharing.schedule {
                f.write_str(schedule.word())?;
                if let Some(chunk) = sharing.chunk {
                    write!(f, "({chunk})")?;
                }
                f.write_str(" ")?;
            }
            if let Some(threshold) = sharing.threshold {
                write!(f, "from({threshold}) ")?;
            }
            if let Some(work) = sharing.work {
                write!(f, "work({work}) ")?;
            }
            if sharing.atomic {
                f.write_str("atomic ")?;
            }
        }
        if self.is_vector() {
            f.write_str("vector ")?;
            if let Some(lanes) = self.lanes() {
                write!(f, "lanes({lanes}) ")?;
            }
        }
        if let Some(axis) = self.axis() {
            write!(f, "{axis} ")?;
        }
        match self.range.single().filter(|_| self.is_serial()) {
            Some(lookup) => write!(f, "let {} = {lookup}", self.name)?,
            None => write!(f, "for {} in {}", self.name, self.range)?,
        }
        for fetch in &self.hints.prefetch {
            write!(f, " prefetch({}, {}", fetch.tensor, fetch.distance)?;
            if fetch.further > 0 {
                write!(f, " by {}", fetch.further)?;
            }
            match &fetch.of {
                Some(of) => write!(f, " of {of})")?,
                None => f.write_str(")")?,
            }
        }
        for tensor in &self.hints.stream {
            write!(f, " stream({tensor})")?;
        }
        match &self.hints.remark {
            Some(remark) => write!(f, " // {remark}"),
            None => Ok(()),
        }
    }
}

impl Display for Range {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.within {
            Some(Segment {
                lower: Some(lower),
                upper,
                ..
            }) => write!(f, "{lower}..{upper}")?,
            _ => {
                write_bound(f, "max", &self.lower)?;
                f.write_str("..")?;
                write_bound(f, "min", &self.written_upper())?;
            }
        }
        match self.stride() {
            1 => Ok(()),
            step => write!(f, " step {step}"),
        }
    }
}

fn write_bound(f: &mut Formatter<'_>, function: &str, bounds: &[Affine]) -> fmt::Result {
    if let [bound] = bounds {
        return write!(f, "{bound}");
    }
    let texts: Vec<String> = bounds.iter().map(Affine::to_string).collect();
    write!(f, "{function}({})", texts.join(", "))
}

impl Display for Stmt {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write_access(f, &self.target, &self.index)?;
        let update = self.update.map_or("", BinaryOp::symbol);
        write!(f, " {update}= {}", Infix(&self.value))
    }
}

impl Display for Fill {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "fill {}", self.target.label())?;
        for values in region_texts(self) {
            write!(f, "[{values}]")?;
        }
        if self.region.is_empty() && !self.target.is_scalar() {
            f.write_str("[]")?;
        }
        write!(f, " = {}", self.value)
    }
}

/// The interval that a fill sets, per dimension: `0..4`, or `i..+4` if it varies.
pub(super) fn region_texts(fill: &Fill) -> Vec<String> {
    let text = |(low, extent): &(Affine, Affine)| {
        let end = low.plus(extent);
        if low.is_fixed() && end.is_in_limits() {
            format!("{low}..{end}")
        } else {
            format!("{low}..+{extent}")
        }
    };
    fill.region.iter().map(text).collect()
}

fn write_access(f: &mut Formatter<'_>, tensor: &Tensor, index: &[Affine]) -> fmt::Result {
    f.write_str(tensor.label())?;
    for a in index {
        write!(f, "[{a}]")?;
    }
    if index.is_empty() && !tensor.is_scalar() {
        f.write_str("[]")?;
    }
    Ok(())
}

/// An expression in infix notation, without declarations.
pub struct Infix<'a>(pub &'a Expr);

impl Display for Infix<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0.node() {
            Node::Access { tensor, index } => match index {
                Index::Unset | Index::Forbidden => f.write_str(tensor.label()),
                Index::At(index) => write_access(f, tensor, index),
            },
            Node::Constant(value) => write!(f, "{value}"),
            Node::Index(index) => write!(f, "index({index})"),
            Node::Binary {
                op, left, right, ..
            } => {
                let Some(precedence) = op.precedence() else {
                    return write!(f, "{}({}, {})", op.symbol(), Infix(left), Infix(right));
                };
                operand(f, left, precedence)?;
                write!(f, " {} ", op.symbol())?;
                // Operators associate to the left, so a right operand of equal precedence needs
                // parentheses.
                operand(f, right, precedence + 1)
            }
            Node::Apply { function, args, .. } => {
                let args: Vec<String> = args.iter().map(|a| Infix(a).to_string()).collect();
                match (function, args.as_slice()) {
                    (Function::Select(comparison), [left, right, rest @ ..]) => {
                        let (symbol, rest) = (comparison.symbol(), rest.join(", "));
                        write!(f, "select({left} {symbol} {right}, {rest})")
                    }
                    (function, args) => write!(f, "{}({})", function.name(), args.join(", ")),
                }
            }
            Node::Reduce {
                reduction,
                over,
                within,
                body,
                ..
            } => {
                let own: Vec<String> = over.iter().map(|n| ranged(n, within)).collect();
                write!(f, "{}({}", reduction.name(), own.join(", "))?;
                let others = within.iter().filter(|(name, _)| !over.contains(name));
                for (k, (name, _)) in others.enumerate() {
                    let before = if k == 0 { " where" } else { "," };
                    write!(f, "{before} {}", ranged(name, within))?;
                }
                write!(f, ": {})", Infix(body))
            }
            Node::Virtual { formals, body, .. } => {
                write!(f, "[{}] -> {}", list(formals), Infix(body))
            }
            Node::Assign {
                target,
                value,
                within,
                elsewhere,
            } => {
                write!(f, "{} = {}", Infix(target), Infix(value))?;
                if !within.is_empty() {
                    let ranges = within.iter().map(|(name, _)| ranged(name, within));
                    write!(f, " where {}", ranges.collect::<Vec<_>>().join(", "))?;
                }
                match elsewhere {
                    Some(constant) => write!(f, " elsewhere {constant}"),
                    None => Ok(()),
                }
            }
            Node::Pieces { pieces, otherwise } => {
                for (k, piece) in pieces.iter().enumerate() {
                    let separator = if k == 0 { "" } else { "\n" };
                    write!(f, "{separator}{}", Infix(piece))?;
                }
                match otherwise.as_ref().map(Expr::node) {
                    Some(Node::Assign { target, value, .. }) => {
                        write!(f, "\n{} = {} otherwise", Infix(target), Infix(value))
                    }
                    _ => Ok(()),
                }
            }
        }
    }
}

fn operand(f: &mut Formatter<'_>, expr: &Expr, at_least: u8) -> fmt::Result {
    match expr.node() {
        Node::Binary { op, .. } if op.precedence().is_some_and(|p| p < at_least) => {
            write!(f, "({})", Infix(expr))
        }
        _ => write!(f, "{}", Infix(expr)),
    }
}

/// `k in 0..i + 1`, or `k` without a given range.
pub(super) fn ranged(name: &Name, within: &Domain) -> String {
    match within.get(name) {
        Some(range) => format!("{name} in {range}"),
        None => name.to_string(),
    }
}

fn list(names: &[Name]) -> String {
    let texts: Vec<&str> = names.iter().map(Name::as_str).collect();
    texts.join(", ")
}

/// The values of iterators or sizes: `i = 1, j = 2`.
pub fn point_text(at: &[(Name, i64)]) -> String {
    let values = at.iter().map(|(name, value)| format!("{name} = {value}"));
    values.collect::<Vec<_>>().join(", ")
}
