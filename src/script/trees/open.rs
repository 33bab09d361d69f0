//! From expressions and nests to maps and lists.

use super::kinds;
use crate::ir::{
    Affine, Constant, Domain, Elem, Expr, Fill, Function, Index, Loop, Name, Nest, Node, Prefetch,
    Range, Shape, Stmt, Tensor, Tree,
};
use crate::values;
use rhai::{Array, Dynamic, Map};

/// The form of the operands of an expression.
#[derive(Clone, Copy)]
enum Parts {
    Trees,
    Expressions,
}

impl Parts {
    fn of(self, expr: &Expr) -> Dynamic {
        match self {
            Parts::Trees => of_expr(expr),
            Parts::Expressions => Dynamic::from(expr.clone()),
        }
    }

    fn of_target(self, target: &Expr) -> Dynamic {
        match self {
            Parts::Trees => target_of(target),
            Parts::Expressions => Dynamic::from(target.clone()),
        }
    }
}

/// The tree of an expression.
pub fn of_expr(expr: &Expr) -> Dynamic {
    fields(expr, Parts::Trees).0.into()
}

/// A field of an expression as its tree has it, whose operands are expressions; `None` if this
/// kind of expression has no such field.
pub(super) fn field_of_expr(expr: &Expr, field: &str) -> Option<Dynamic> {
    let map = fields(expr, Parts::Expressions).0;
    let own = map.get(field).cloned();
    own.or_else(|| {
        fields_of(Fields(Map::new()), expr.tensor()?)
            .0
            .remove(field)
    })
}

/// The names of the fields of an expression, with those of its tensor.
pub(super) fn fields_of_expr(expr: &Expr) -> Vec<String> {
    let mut map = fields(expr, Parts::Expressions).0;
    if let Some(tensor) = expr.tensor() {
        map.extend(fields_of(Fields(Map::new()), tensor).0);
    }
    map.into_keys().map(String::from).collect()
}

fn fields(expr: &Expr, parts: Parts) -> Fields {
    let part = |expr: &Expr| parts.of(expr);
    match expr.node() {
        Node::Access { tensor, index } => access(kinds::ACCESS, tensor, index),
        Node::Constant(value) => of_kind(kinds::NUMBER)
            .with("value", number(*value))
            .with("elem", elem(value.elem())),
        Node::Index(index) => of_kind(kinds::INDEX)
            .with("index", affine(index))
            .with("elem", elem(expr.elem())),
        Node::Binary {
            op,
            shape,
            left,
            right,
        } => of_kind(kinds::OP)
            .with("op", text(op.symbol()))
            .with("operands", list([left, right], part))
            .with("elem", elem(expr.elem()))
            .with("shape", extents(shape)),
        Node::Apply {
            function,
            shape,
            args,
        } => {
            let map = of_kind(kinds::OP)
                .with("op", text(function.name()))
                .with("operands", list(args, part))
                .with("elem", elem(expr.elem()))
                .with("shape", extents(shape));
            match function {
                Function::Select(comparison) => map.with("comparison", text(comparison.symbol())),
                Function::Neg
                | Function::Abs
                | Function::Sqrt
                | Function::Exp
                | Function::Log
                | Function::Tanh
                | Function::Sin
                | Function::Cos
                | Function::Floor
                | Function::Ceil
                | Function::Round
                | Function::Erf
                | Function::Cast(_) => map,
            }
        }
        Node::Reduce {
            reduction,
            over,
            within,
            shape,
            body,
        } => of_kind(kinds::REDUCTION)
            .with("op", text(reduction.name()))
            .with("iterators", list(over, iterator))
            .with("ranges", ranges(within))
            .with("operands", list([body], part))
            .with("elem", elem(expr.elem()))
            .with("shape", extents(shape)),
        Node::Virtual {
            formals,
            shape,
            body,
        } => of_kind(kinds::VIRTUAL)
            .with("iterators", list(formals, iterator))
            .with("operands", list([body], part))
            .with("elem", elem(expr.elem()))
            .with("shape", extents(shape)),
        Node::Assign {
            target,
            value,
            within,
            elsewhere,
        } => of_kind(kinds::ASSIGNMENT)
            .with("target", parts.of_target(target))
            .with("value", part(value))
            .with("ranges", ranges(within))
            .with("elsewhere", maybe(elsewhere.map(number))),
        Node::Pieces { pieces, otherwise } => of_kind(kinds::PIECES)
            .with("pieces", list(pieces, part))
            .with("otherwise", maybe(otherwise.as_ref().map(part))),
    }
}

/// The tree of a number, which takes the element type of the operands beside it.
fn of_number(value: &Dynamic) -> Dynamic {
    of_kind(kinds::NUMBER).with("value", value.clone()).0.into()
}

/// The tree in which tensor expressions and numbers in the place of trees became trees.
pub fn opened(value: &Dynamic) -> Dynamic {
    if let Some(expr) = value.read_lock::<Expr>() {
        return of_expr(&expr);
    }
    if value.is_int() || value.is_float() {
        return of_number(value);
    }
    if let Some(items) = value.read_lock::<Array>() {
        return list(items.iter(), opened);
    }
    let Some(map) = value.read_lock::<Map>() else {
        return value.clone();
    };
    let kind = map
        .get("kind")
        .and_then(|kind| kind.clone().into_string().ok());
    let fields: &[&str] = match kind.as_deref().unwrap_or("") {
        kinds::OP | kinds::REDUCTION | kinds::VIRTUAL => &["operands"],
        kinds::ASSIGNMENT | kinds::STATEMENT => &["target", "value"],
        kinds::PIECES => &["pieces", "otherwise"],
        kinds::NEST | kinds::LOOP => &["body"],
        _ => &[],
    };
    let mut map = map.clone();
    for field in fields {
        if let Some(part) = map.get_mut(*field) {
            *part = opened(part);
        }
    }
    map.into()
}

/// The tree of a nest. It keeps the nest, which it is until it is changed.
pub fn of_nest(nest: &Nest) -> Dynamic {
    of_kind(kinds::NEST)
        .with("body", list(nest.trees(), of_tree))
        .with("of", Dynamic::from(nest.clone()))
        .0
        .into()
}

fn of_tree(tree: &Tree) -> Dynamic {
    let map = match tree {
        Tree::Loop(l) => of_loop(l),
        Tree::Stmt(s) => of_statement(s),
        Tree::Fill(fill) => of_fill(fill),
        Tree::Local(tensor) => fields_of(of_kind(kinds::LOCAL), tensor),
    };
    map.0.into()
}

fn of_loop(l: &Loop) -> Fields {
    let mut map = of_kind(kinds::LOOP)
        .with("name", name(&l.name))
        .with("lower", bounds(&l.range, false))
        .with("upper", bounds(&l.range, true))
        .with("step", l.range.stride().into())
        .with("mode", text(kinds::mode(l.mode)))
        .with("body", list(&l.body, of_tree));
    if let Some(sharing) = l.sharing() {
        let collapse = i64::try_from(sharing.collapse).unwrap_or(i64::MAX);
        let schedule = sharing.schedule.map(|schedule| text(schedule.word()));
        map = map
            .with("collapse", collapse.into())
            .with("schedule", maybe(schedule))
            .with("chunk", maybe(sharing.chunk.map(Dynamic::from_int)))
            .with("threshold", maybe(sharing.threshold.map(Dynamic::from_int)))
            .with("work", maybe(sharing.work.map(Dynamic::from_int)))
            .with("atomic", sharing.atomic.into());
    }
    if l.is_vector() {
        map = map.with("lanes", maybe(l.lanes().map(Dynamic::from_int)));
    }
    if !l.hints.prefetch.is_empty() {
        map = map.with("prefetch", list(&l.hints.prefetch, of_prefetch));
    }
    if !l.hints.stream.is_empty() {
        map = map.with("stream", list(&l.hints.stream, name));
    }
    match &l.hints.remark {
        Some(remark) => map.with("remark", text(remark)),
        None => map,
    }
}

fn of_prefetch(fetch: &Prefetch) -> Dynamic {
    let map = Fields(Map::new())
        .with("tensor", name(&fetch.tensor))
        .with("distance", fetch.distance.into())
        .with("further", fetch.further.into())
        .with("of", maybe(fetch.of.as_ref().map(name)));
    map.0.into()
}

fn of_statement(s: &Stmt) -> Fields {
    let target = Expr::element(&s.target, s.index.clone());
    of_kind(kinds::STATEMENT)
        .with("target", target_of(&target))
        .with("update", maybe(s.update.map(|op| text(op.symbol()))))
        .with("value", of_expr(&s.value))
}

fn of_fill(fill: &Fill) -> Fields {
    let side = |(first, extent): &(Affine, Affine)| -> Dynamic {
        Fields(Map::new())
            .with("first", affine(first))
            .with("extent", affine(extent))
            .0
            .into()
    };
    fields_of(of_kind(kinds::FILL), &fill.target)
        .with("region", list(&fill.region, side))
        .with("value", number(fill.value))
}

/// The tree of what an assignment writes.
fn target_of(target: &Expr) -> Dynamic {
    match target.node() {
        Node::Access { tensor, index } => access(kinds::TARGET, tensor, index).0.into(),
        Node::Constant(_)
        | Node::Index(_)
        | Node::Binary { .. }
        | Node::Apply { .. }
        | Node::Reduce { .. }
        | Node::Virtual { .. }
        | Node::Assign { .. }
        | Node::Pieces { .. } => of_expr(target),
    }
}

fn access(kind: &str, tensor: &Tensor, index: &Index) -> Fields {
    let indices = match index {
        Index::Unset => Dynamic::UNIT,
        Index::Forbidden => Array::new().into(),
        Index::At(indices) => list(indices, affine),
    };
    fields_of(of_kind(kind), tensor).with("indices", indices)
}

/// A tensor and what is known of it.
fn fields_of(map: Fields, tensor: &Tensor) -> Fields {
    map.with("name", maybe(tensor.name().map(name)))
        .with("elem", elem(tensor.elem()))
        .with("shape", extents(tensor.shape()))
        .with("tensor", Dynamic::from(Expr::of_tensor(tensor.clone())))
}

/// The lower or the upper bounds, or the one that is read in their place.
fn bounds(range: &Range, is_upper: bool) -> Dynamic {
    match is_upper {
        false => list(&range.written_lower(), affine),
        true => list(&range.written_upper(), affine),
    }
}

fn ranges(domain: &Domain) -> Dynamic {
    let one = |(of, range): &(Name, Range)| -> Dynamic {
        Fields(Map::new())
            .with("iterator", iterator(of))
            .with("lower", bounds(range, false))
            .with("upper", bounds(range, true))
            .with("step", range.step.into())
            .0
            .into()
    };
    list(domain.iter(), one)
}

/// A map under construction.
struct Fields(Map);

fn of_kind(kind: &str) -> Fields {
    Fields(Map::new()).with("kind", text(kind))
}

impl Fields {
    fn with(mut self, field: &str, value: Dynamic) -> Fields {
        self.0.insert(field.into(), value);
        self
    }
}

fn list<T>(items: impl IntoIterator<Item = T>, one: impl Fn(T) -> Dynamic) -> Dynamic {
    items.into_iter().map(one).collect::<Array>().into()
}

fn maybe(value: Option<Dynamic>) -> Dynamic {
    value.unwrap_or(Dynamic::UNIT)
}

fn text(text: &str) -> Dynamic {
    text.to_owned().into()
}

fn name(name: &Name) -> Dynamic {
    text(name.as_str())
}

fn elem(elem: Elem) -> Dynamic {
    text(elem.name())
}

fn iterator(name: &Name) -> Dynamic {
    Dynamic::from(values::Index::iterator(name.clone(), false))
}

/// An index: a number if it is one.
fn affine(affine: &Affine) -> Dynamic {
    match affine.as_constant() {
        Some(number) => number.into(),
        None => Dynamic::from(values::Index {
            affine: affine.clone(),
            undeclared: false,
        }),
    }
}

fn extents(shape: &Shape) -> Dynamic {
    list(shape.extents(), |extent| extent.cast_signed().into())
}

fn number(value: Constant) -> Dynamic {
    match value {
        Constant::F64(value) => value.into(),
        Constant::F32(value) => f64::from(value).into(),
        Constant::I32(value) => i64::from(value).into(),
        Constant::I64(value) => value.into(),
    }
}
