//! From maps and lists to expressions and nests.
//!
//! Each part that does not fit is an error with its place. An expression is built by the rules of the
//! operations that make expressions. A nest becomes a text, which `nest` reads: what a changed tree
//! computes is proved like any other text.

use super::kinds;
use super::place::{Place, Wrong};
use crate::ir::{
    Affine, Axis, BinaryOp, Comparison, Constant, Domain, Elem, Expr, Fill, Function, Hints, Index,
    Lineage, Loop, Mode, Name, Nest, Node, Number, Prefetch, Range, Reduction, Schedule, Shape,
    Sharing, Stmt, Tensor, Tree,
};
use crate::transform::Error;
use crate::transform::tensor::partition::retarget;
use crate::transform::tensor::with_shape_of_root;
use crate::values;
use rhai::{Array, Dynamic, ImmutableString, Map};
use std::sync::Arc;

/// The expression or the nest of a tree.
#[derive(Clone, Debug)]
pub enum Closed {
    /// An expression.
    Expr(Expr),
    /// The nest that was opened, since nothing was changed.
    Nest(Nest),
    /// A nest as a text.
    Text {
        text: String,
        /// The place of each line after the declarations, as far as lines are loops, statements,
        /// fills or local tensors.
        places: Vec<String>,
    },
}

/// Reads a tree. Tensors and numbers without a type have elements of type `elem`.
///
/// # Errors
/// The first part that does not fit.
pub fn closed(value: &Dynamic, elem: Elem) -> Result<Closed, Wrong> {
    let root = Place::Root;
    let mut reader = Reader {
        elem,
        ..Reader::default()
    };
    let is_nest = value.read_lock::<Map>().is_some_and(|map| {
        let kind = map.get("kind").and_then(text_of);
        kind.is_some_and(|kind| kind == kinds::NEST)
    });
    if !is_nest {
        return match reader.part(value, &root)? {
            Part::Expr(expr) => Ok(Closed::Expr(expr)),
            Part::Number(number) => typed(number, elem, &root)
                .map(|constant| Closed::Expr(Expr::new(Node::Constant(constant)))),
        };
    }
    let map = value.read_lock::<Map>();
    let map = map.ok_or_else(|| root.wrong("must be a map"))?;
    let fields = Fields::of(&map, &root, &["body", "of"])?;
    reader.is_nest = true;
    let trees = reader.body(&fields)?;
    let written = Nest::of_trees(trees).to_string();
    let of = match fields.get("of") {
        None => None,
        Some(value) => Some(nest_of(value, &Place::Field(&root, "of"))?),
    };
    // A text has all of a tree but the names of steps.
    let is_same = |nest: &Nest| Nest::of_trees(nest.trees().to_vec()).to_string() == written;
    match of.filter(is_same) {
        Some(nest) => Ok(Closed::Nest(nest)),
        None => Ok(Closed::Text {
            text: written,
            places: reader.places,
        }),
    }
}

fn nest_of(value: &Dynamic, place: &Place) -> Result<Nest, Wrong> {
    let nest = value.read_lock::<Nest>().map(|nest| nest.clone());
    nest.ok_or_else(|| expected(place, "the nest that was opened", value))
}

/// An expression, or a number whose element type is that of the operands beside it.
enum Part {
    Expr(Expr),
    Number(Number),
}

#[derive(Default)]
struct Reader {
    /// Whether values are those of statements, which have no reductions and no shapes.
    is_nest: bool,
    /// The type of elements where nothing names one.
    elem: Elem,
    /// The tensors so far.
    known: Vec<Tensor>,
    /// The places of loops, statements, fills and local tensors so far.
    places: Vec<String>,
}

impl Reader {
    fn part(&mut self, value: &Dynamic, place: &Place) -> Result<Part, Wrong> {
        if let Some(expr) = value.read_lock::<Expr>() {
            let mut tensors = Vec::new();
            expr.for_each_tensor(&mut |tensor| tensors.push(tensor.clone()));
            for tensor in tensors {
                self.know(&tensor, place)?;
            }
            return Ok(Part::Expr(expr.clone()));
        }
        if let Some(number) = number_of(value) {
            return Ok(Part::Number(number));
        }
        let Some(map) = value.read_lock::<Map>() else {
            return Err(expected(
                place,
                "the tree of an expression, a tensor or a number",
                value,
            ));
        };
        match kind_of(&map, place)?.as_str() {
            kinds::NUMBER => {
                let fields = Fields::of(&map, place, &["value", "elem"])?;
                let number = fields.need("value", "a number", number_of)?;
                match fields.elem()? {
                    None => Ok(Part::Number(number)),
                    Some(elem) => {
                        let constant = typed(number, elem, &fields.at("value"))?;
                        Ok(Part::Expr(Expr::new(Node::Constant(constant))))
                    }
                }
            }
            kinds::INDEX => {
                let fields = Fields::of(&map, place, &["index", "elem"])?;
                let index = fields.need("index", INDEX, affine_of)?;
                self.node(Node::Index(index), place).map(Part::Expr)
            }
            kinds::ACCESS | kinds::TARGET => self.access(&map, place).map(Part::Expr),
            kinds::OP => self.op(&map, place).map(Part::Expr),
            kinds::REDUCTION => self.reduction(&map, place).map(Part::Expr),
            kinds::VIRTUAL => self.abstraction(&map, place).map(Part::Expr),
            kinds::ASSIGNMENT => self.assignment(&map, place).map(Part::Expr),
            kinds::PIECES => self.pieces(&map, place).map(Part::Expr),
            kind => {
                let field = Place::Field(place, "kind");
                let known = EXPRESSIONS.join("`, `");
                let what = format!("must be the kind of an expression, not `{kind}`");
                Err(field
                    .wrong(what)
                    .help(Some(format!("expressions have the kinds `{known}`"))))
            }
        }
    }

    /// A value of this element type.
    fn value(&mut self, value: &Dynamic, elem: Elem, place: &Place) -> Result<Expr, Wrong> {
        let expr = match self.part(value, place)? {
            Part::Expr(expr) => expr,
            Part::Number(number) => Expr::new(Node::Constant(typed(number, elem, place)?)),
        };
        is_value(&expr, place)?;
        Ok(expr)
    }

    /// The only one of the operands.
    fn operand(&mut self, fields: &Fields) -> Result<Expr, Wrong> {
        let list = fields.need("operands", "a list of one operand", list_of)?;
        match list.as_slice() {
            [operand] => {
                let place = fields.at("operands");
                self.value(operand, self.elem, &Place::Item(&place, 0))
            }
            other => {
                let what = format!("must have one operand, not {}", other.len());
                Err(fields.at("operands").wrong(what))
            }
        }
    }

    fn op(&mut self, map: &Map, place: &Place) -> Result<Expr, Wrong> {
        let allowed = ["op", "operands", "comparison", "elem", "shape"];
        let fields = Fields::of(map, place, &allowed)?;
        let word = fields.need("op", "a string such as \"+\" or \"sqrt\"", text_of)?;
        let comparison = match word.as_str() {
            kinds::SELECT => Some(fields.need("comparison", COMPARISON, comparison_of)?),
            _ => None,
        };
        let Some(operation) = Operation::of(&word, comparison) else {
            let what = format!("must be an operation, not `{word}`");
            let binary = BinaryOp::ALL.map(BinaryOp::symbol);
            let plain = Function::PLAIN.map(Function::name);
            let casts = Elem::ALL.map(Elem::name);
            let all = binary.into_iter().chain(plain).chain(casts);
            let all: Vec<&str> = all.chain([kinds::SELECT]).collect();
            let help = format!("operations are `{}`", all.join("`, `"));
            return Err(fields.at("op").wrong(what).help(Some(help)));
        };
        if comparison.is_none() && fields.get("comparison").is_some() {
            let what = format!("belongs to `select`, not to `{word}`");
            return Err(fields.at("comparison").wrong(what));
        }
        let list = fields.need("operands", "a list of operands", list_of)?;
        let count = operation.arity();
        if list.len() != count {
            let s = if count == 1 { "" } else { "s" };
            let what = format!(
                "must have {count} operand{s} for `{word}`, not {}",
                list.len()
            );
            return Err(fields.at("operands").wrong(what));
        }
        let at = fields.at("operands");
        let mut parts = Vec::with_capacity(count);
        for (k, operand) in list.iter().enumerate() {
            parts.push(self.part(operand, &Place::Item(&at, k))?);
        }
        // The operands that `select` compares may have another type than the operands that it chooses.
        let compared = if comparison.is_some() { 2 } else { 0 };
        let of = |parts: &[Part]| {
            parts.iter().find_map(|part| match part {
                Part::Expr(expr) => Some(expr.elem()),
                Part::Number(_) => None,
            })
        };
        let own = of(&parts[compared..]).or(of(&parts)).unwrap_or_default();
        let others = of(&parts[..compared]).unwrap_or(own);
        let mut operands = Vec::with_capacity(count);
        for (k, part) in parts.into_iter().enumerate() {
            let elem = if k < compared { others } else { own };
            let place = Place::Item(&at, k);
            let operand = match part {
                Part::Expr(expr) => expr,
                Part::Number(number) => Expr::new(Node::Constant(typed(number, elem, &place)?)),
            };
            is_value(&operand, &place)?;
            operands.push(operand);
        }
        let shape = Shape::of_extents([]);
        let node = match (operation, operands.as_slice()) {
            (Operation::Binary(op), [left, right]) => Node::Binary {
                op,
                shape,
                left: left.clone(),
                right: right.clone(),
            },
            (Operation::Binary(_), _) => return Err(at.wrong("must have 2 operands")),
            (Operation::Apply(function), _) => Node::Apply {
                function,
                shape,
                args: operands,
            },
        };
        self.node(node, place)
    }

    fn reduction(&mut self, map: &Map, place: &Place) -> Result<Expr, Wrong> {
        let allowed = ["op", "iterators", "ranges", "operands", "elem", "shape"];
        let fields = Fields::of(map, place, &allowed)?;
        let words = "one of \"sum\", \"prod\", \"min\" and \"max\"";
        let reduction = fields.need("op", words, |value| {
            let word = text_of(value)?;
            Reduction::ALL.into_iter().find(|r| r.name() == word)
        })?;
        let over = fields.names("iterators")?;
        if over.is_empty() {
            let what = "must have an iterator to reduce over";
            return Err(fields.at("iterators").wrong(what));
        }
        let within = fields.ranges(&over)?;
        let body = self.operand(&fields)?;
        let free = body.iterators();
        for (k, name) in over.iter().enumerate() {
            if !free.contains(name) && within.get(name).is_none() {
                let at = fields.at("iterators");
                let what = format!("is `{name}`, which the operand does not have");
                let help = format!("without it, `{name}` needs one of the `ranges`");
                return Err(Place::Item(&at, k).wrong(what).help(Some(help)));
            }
        }
        let shape = Shape::of_extents([]);
        self.node(
            Node::Reduce {
                reduction,
                over,
                within,
                shape,
                body,
            },
            place,
        )
    }

    fn abstraction(&mut self, map: &Map, place: &Place) -> Result<Expr, Wrong> {
        let allowed = ["iterators", "operands", "elem", "shape"];
        let fields = Fields::of(map, place, &allowed)?;
        let formals = fields.names("iterators")?;
        let body = self.operand(&fields)?;
        if let Some(free) = body.iterators().iter().find(|n| !formals.contains(n)) {
            let what = format!("must list `{free}`, which the operand has");
            return Err(fields.at("iterators").wrong(what));
        }
        let shape = Shape::of_extents([]);
        self.node(
            Node::Virtual {
                formals,
                shape,
                body,
            },
            place,
        )
    }

    fn assignment(&mut self, map: &Map, place: &Place) -> Result<Expr, Wrong> {
        let fields = Fields::of(map, place, &["target", "value", "ranges", "elsewhere"])?;
        let (tensor, index) = self.target(&fields)?;
        let at = fields.at("value");
        let value = fields.need("value", "the tree of an expression", |v| Some(v.clone()))?;
        let value = self.value(&value, tensor.elem(), &at)?;
        let target = Expr::element(&tensor, index);
        let mut names = target.iterators();
        names.extend(value.iterators());
        let within = fields.ranges(&names)?;
        let elsewhere = match fields.optional("elsewhere", "a number or `()`", number_of)? {
            None => None,
            Some(number) => Some(typed(number, tensor.elem(), &fields.at("elsewhere"))?),
        };
        let assignment = Expr::new(Node::Assign {
            target,
            value,
            within,
            elsewhere,
        });
        retarget(&assignment, &tensor).map_err(|error| unfit(&error, place))
    }

    fn pieces(&mut self, map: &Map, place: &Place) -> Result<Expr, Wrong> {
        let fields = Fields::of(map, place, &["pieces", "otherwise"])?;
        let list = fields.need("pieces", "a list of assignments", list_of)?;
        let at = fields.at("pieces");
        let mut pieces: Vec<Expr> = Vec::with_capacity(list.len());
        for (k, piece) in list.iter().enumerate() {
            pieces.push(self.piece(piece, pieces.first(), &Place::Item(&at, k))?);
        }
        let Some(tensor) = pieces.first().and_then(Expr::tensor).cloned() else {
            return Err(at.wrong("must have an assignment"));
        };
        let otherwise = match fields.get("otherwise") {
            None => None,
            Some(value) => {
                let at = fields.at("otherwise");
                let rest = self.piece(value, pieces.first(), &at)?;
                has_own_iterators(&rest, &Place::Field(&at, "target"))?;
                Some(rest)
            }
        };
        let whole = Expr::new(Node::Pieces { pieces, otherwise });
        // A tensor without a name gets its extents, and is checked, when it is bound to a variable.
        match tensor.name() {
            None => Ok(whole),
            Some(_) => retarget(&whole, &tensor).map_err(|error| unfit(&error, place)),
        }
    }

    /// An assignment to the tensor that the first piece assigns.
    fn piece(
        &mut self,
        value: &Dynamic,
        first: Option<&Expr>,
        place: &Place,
    ) -> Result<Expr, Wrong> {
        let piece = match self.part(value, place)? {
            Part::Expr(piece) if matches!(piece.node(), Node::Assign { .. }) => piece,
            Part::Expr(_) | Part::Number(_) => {
                return Err(expected(place, "an assignment", value));
            }
        };
        if let Node::Assign {
            elsewhere: Some(_), ..
        } = piece.node()
        {
            let at = Place::Field(place, "elsewhere");
            return Err(at.wrong("must be `()` in a piece"));
        }
        match first.and_then(Expr::tensor) {
            Some(tensor) if piece.tensor() != Some(tensor) => {
                let at = Place::Field(place, "target");
                Err(at.wrong(format!(
                    "must be {}, which the first piece assigns",
                    tensor.label()
                )))
            }
            _ => Ok(piece),
        }
    }

    /// Makes an expression of a node.
    fn node(&self, node: Node, place: &Place) -> Result<Expr, Wrong> {
        let expr = Expr::new(node);
        if !expr.is_in_limits() {
            return Err(place.wrong("is too large or too deep"));
        }
        if self.is_nest {
            return Ok(expr);
        }
        with_shape_of_root(&expr).map_err(|error| unfit(&error, place))
    }

    fn access(&mut self, map: &Map, place: &Place) -> Result<Expr, Wrong> {
        let fields = Fields::of(map, place, &["indices", "name", "elem", "shape", "tensor"])?;
        let tensor = self.tensor(&fields)?;
        let Some(indices) = fields.optional("indices", INDICES, list_of)? else {
            return Ok(Expr::of_tensor(tensor));
        };
        let index = fields.affines("indices", &indices)?;
        let rank = tensor.shape().rank();
        if index.len() != rank {
            let what = format!(
                "must have one index for each dimension of {}: {rank}, not {}",
                tensor.label(),
                index.len()
            );
            return Err(fields.at("indices").wrong(what));
        }
        Ok(Expr::element(&tensor, index))
    }

    /// The field `target`: a tensor and the index written.
    fn target(&mut self, fields: &Fields) -> Result<(Tensor, Vec<Affine>), Wrong> {
        let what = "the tree of what is written, of the kind `target`";
        let value = fields.need("target", what, |v| Some(v.clone()))?;
        let place = fields.at("target");
        let expr = match self.part(&value, &place)? {
            Part::Expr(expr) => expr,
            Part::Number(_) => return Err(expected(&place, what, &value)),
        };
        match expr.node() {
            Node::Access { tensor, index } => match index {
                Index::At(index) => Ok((tensor.clone(), index.clone())),
                Index::Forbidden => Ok((tensor.clone(), Vec::new())),
                Index::Unset => {
                    let what = format!("must be {INDICES}");
                    Err(Place::Field(&place, "indices").wrong(what))
                }
            },
            Node::Constant(_)
            | Node::Index(_)
            | Node::Binary { .. }
            | Node::Apply { .. }
            | Node::Reduce { .. }
            | Node::Virtual { .. }
            | Node::Assign { .. }
            | Node::Pieces { .. } => Err(expected(&place, what, &value)),
        }
    }

    /// The tensor that `name`, `elem` and `shape` describe: the `tensor` that they came from, if
    /// nothing was changed.
    fn tensor(&mut self, fields: &Fields) -> Result<Tensor, Wrong> {
        let origin = fields.optional("tensor", "a tensor", |value| {
            let expr = value.read_lock::<Expr>()?;
            expr.tensor().cloned()
        })?;
        let name = fields.optional("name", NAME, text_of)?;
        let name = match name {
            None => origin.as_ref().and_then(Tensor::name).cloned(),
            Some(text) => {
                let name = Name::new(&text);
                let wrong = |error| fields.at("name").wrong(format!("must be {NAME}: {error}"));
                Some(name.map_err(wrong)?)
            }
        };
        if name.is_none() && origin.is_none() {
            return Err(fields.missing("name", NAME));
        }
        let elem = fields.elem()?.or(origin.as_ref().map(Tensor::elem));
        let elem = elem.unwrap_or(self.elem);
        let extents = fields.optional("shape", EXTENTS, |value| {
            let list = value.read_lock::<Array>()?;
            list.iter().map(int_of).collect::<Option<Vec<i64>>>()
        })?;
        let shape = match (extents, &origin) {
            (Some(extents), _) => {
                let shape = Shape::new(&extents, elem);
                let wrong = |error| {
                    fields
                        .at("shape")
                        .wrong(format!("must be {EXTENTS}: {error}"))
                };
                shape.map_err(wrong)?
            }
            (None, Some(tensor)) => tensor.shape().clone(),
            (None, None) => return Err(fields.missing("shape", EXTENTS)),
        };
        let tensor = match origin {
            Some(tensor)
                if tensor.name() == name.as_ref()
                    && tensor.elem() == elem
                    && *tensor.shape() == shape =>
            {
                tensor
            }
            origin => {
                let is_scalar = origin.is_some_and(|t| t.is_scalar()) && shape.rank() == 0;
                let tensor = if is_scalar {
                    Tensor::scalar(elem)
                } else {
                    Tensor::new(shape, elem)
                };
                name.map_or(tensor.clone(), |name| tensor.named(name))
            }
        };
        self.know(&tensor, &fields.at("name"))?;
        Ok(tensor)
    }

    /// Refuses two tensors of one name.
    fn know(&mut self, tensor: &Tensor, place: &Place) -> Result<(), Wrong> {
        if tensor.name().is_none() {
            return Ok(());
        }
        match self.known.iter().find(|k| k.name() == tensor.name()) {
            None => {
                self.known.push(tensor.clone());
                Ok(())
            }
            Some(known) if known == tensor => Ok(()),
            Some(known) => {
                let declared = |t: &Tensor| format!("{} {t}", t.elem());
                Err(place.wrong(format!(
                    "must not be the name of two tensors, `{}` and `{}`",
                    declared(known),
                    declared(tensor)
                )))
            }
        }
    }

    fn body(&mut self, fields: &Fields) -> Result<Vec<Tree>, Wrong> {
        let list = fields.need("body", "a list of loops and statements", list_of)?;
        let at = fields.at("body");
        let mut trees = Vec::with_capacity(list.len());
        for (k, tree) in list.iter().enumerate() {
            trees.push(self.tree(tree, &Place::Item(&at, k))?);
        }
        Ok(trees)
    }

    fn tree(&mut self, value: &Dynamic, place: &Place) -> Result<Tree, Wrong> {
        let what = "the tree of a loop, a statement, a fill or a local tensor";
        let Some(map) = value.read_lock::<Map>() else {
            return Err(expected(place, what, value));
        };
        self.places.push(place.to_string());
        match kind_of(&map, place)?.as_str() {
            kinds::LOOP => self.loop_of(&map, place).map(Tree::of_loop),
            kinds::STATEMENT => self.statement(&map, place).map(|s| Tree::Stmt(Arc::new(s))),
            kinds::FILL => self.fill(&map, place).map(|f| Tree::Fill(Arc::new(f))),
            kinds::LOCAL => {
                let fields = Fields::of(&map, place, &["name", "elem", "shape", "tensor"])?;
                self.named(&fields).map(Tree::Local)
            }
            kind => {
                let field = Place::Field(place, "kind");
                let wrong = field.wrong(format!("must be the kind of a tree, not `{kind}`"));
                let help = format!(
                    "a body has the kinds `{}`",
                    [kinds::LOOP, kinds::STATEMENT, kinds::FILL, kinds::LOCAL].join("`, `")
                );
                Err(wrong.help(Some(help)))
            }
        }
    }

    /// A tensor that has a name.
    fn named(&mut self, fields: &Fields) -> Result<Tensor, Wrong> {
        let tensor = self.tensor(fields)?;
        match tensor.name() {
            Some(_) => Ok(tensor),
            None => Err(fields.missing("name", NAME)),
        }
    }

    fn loop_of(&mut self, map: &Map, place: &Place) -> Result<Loop, Wrong> {
        let allowed = [
            "name",
            "lower",
            "upper",
            "step",
            "mode",
            "collapse",
            "schedule",
            "chunk",
            "threshold",
            "work",
            "atomic",
            "lanes",
            "prefetch",
            "stream",
            "remark",
            "body",
        ];
        let fields = Fields::of(map, place, &allowed)?;
        let name = fields.need("name", ITERATOR, name_of)?;
        let range = fields.range()?;
        let mode = mode_of(&fields)?;
        let hints = hints_of(&fields)?;
        Ok(Loop {
            name,
            range,
            mode,
            hints,
            body: self.body(&fields)?,
            lineage: Lineage::default(),
        })
    }

    fn statement(&mut self, map: &Map, place: &Place) -> Result<Stmt, Wrong> {
        let fields = Fields::of(map, place, &["target", "update", "value"])?;
        let (target, index) = self.target(&fields)?;
        let at = fields.at("target");
        if target.name().is_none() {
            return Err(Place::Field(&at, "name").wrong(format!("is missing; it must be {NAME}")));
        }
        let update = fields.optional("update", "a string such as \"+\", or `()`", |value| {
            let word = text_of(value)?;
            BinaryOp::ALL.into_iter().find(|op| op.symbol() == word)
        })?;
        let value = fields.need("value", "the tree of an expression", |v| Some(v.clone()))?;
        let at = fields.at("value");
        let value = self.value(&value, target.elem(), &at)?;
        is_elementwise(&value, &at)?;
        Ok(Stmt {
            target,
            index,
            update,
            value,
            origin: None,
        })
    }

    fn fill(&mut self, map: &Map, place: &Place) -> Result<Fill, Wrong> {
        let allowed = ["name", "elem", "shape", "tensor", "region", "value"];
        let fields = Fields::of(map, place, &allowed)?;
        let target = self.named(&fields)?;
        let list = fields.need("region", "a list of `#{first, extent}`", list_of)?;
        let at = fields.at("region");
        let mut region = Vec::with_capacity(list.len());
        for (k, side) in list.iter().enumerate() {
            let place = Place::Item(&at, k);
            let Some(map) = side.read_lock::<Map>() else {
                return Err(expected(
                    &place,
                    "a map such as `#{first: 0, extent: 4}`",
                    side,
                ));
            };
            let side = Fields::of(&map, &place, &["first", "extent"])?;
            let extent = Affine::constant(side.need("extent", POSITIVE, positive)?);
            region.push((side.need("first", INDEX, affine_of)?, extent));
        }
        if region.len() != target.shape().rank() {
            let rank = target.shape().rank();
            let what = format!(
                "must have one side for each dimension of {}: {rank}, not {}",
                target.label(),
                region.len()
            );
            return Err(at.wrong(what));
        }
        let number = fields.need("value", "a number", number_of)?;
        let value = typed(number, target.elem(), &fields.at("value"))?;
        Ok(Fill {
            target,
            region,
            value,
            origin: None,
        })
    }
}

/// An operation on elements.
enum Operation {
    Binary(BinaryOp),
    Apply(Function),
}

impl Operation {
    fn of(word: &str, comparison: Option<Comparison>) -> Option<Operation> {
        if let Some(comparison) = comparison {
            return Some(Operation::Apply(Function::Select(comparison)));
        }
        if let Some(op) = BinaryOp::ALL.into_iter().find(|op| op.symbol() == word) {
            return Some(Operation::Binary(op));
        }
        let casts = Elem::ALL.map(Function::Cast);
        let mut functions = Function::PLAIN.into_iter().chain(casts);
        functions.find(|f| f.name() == word).map(Operation::Apply)
    }

    fn arity(&self) -> usize {
        match self {
            Operation::Binary(_) => 2,
            Operation::Apply(function) => function.arity(),
        }
    }
}

fn mode_of(fields: &Fields) -> Result<Mode, Wrong> {
    let words = [
        kinds::SERIAL,
        kinds::PARALLEL,
        kinds::VECTOR,
        kinds::PARALLEL_VECTOR,
    ];
    let words = [&words, Axis::WORDS].concat();
    let what = format!("one of \"{}\"", words.join("\", \""));
    let word = fields.optional("mode", &what, |value| {
        text_of(value).filter(|word| words.contains(&word.as_str()))
    })?;
    let word = word.unwrap_or_else(|| kinds::SERIAL.to_owned());
    let is_parallel = [kinds::PARALLEL, kinds::PARALLEL_VECTOR].contains(&word.as_str());
    let is_vector = [kinds::VECTOR, kinds::PARALLEL_VECTOR].contains(&word.as_str());
    let of_others = [
        (is_parallel, "parallel", "collapse"),
        (is_parallel, "parallel", "schedule"),
        (is_parallel, "parallel", "chunk"),
        (is_parallel, "parallel", "threshold"),
        (is_parallel, "parallel", "work"),
        (is_parallel, "parallel", "atomic"),
        (is_vector, "vector", "lanes"),
    ];
    for (fits, mode, field) in of_others {
        if !fits && fields.get(field).is_some() {
            let what = format!("belongs to {mode} loops, and the mode is `{word}`");
            return Err(fields.at(field).wrong(what));
        }
    }
    let mut mode = Axis::from_word(&word).map_or(Mode::Serial, |axis| Mode::Bound { axis });
    if is_vector {
        mode = mode.with_lanes(fields.optional("lanes", POSITIVE, positive)?);
    }
    if is_parallel {
        let collapse = fields
            .optional("collapse", POSITIVE, positive)?
            .unwrap_or(1);
        let what = format!("one of \"{}\"", Schedule::WORDS.join("\", \""));
        let schedule = fields.optional("schedule", &what, |value| {
            Schedule::from_word(&text_of(value)?)
        })?;
        let chunk = fields.optional("chunk", POSITIVE, positive)?;
        if chunk.is_some() && schedule.is_none() {
            return Err(fields.at("chunk").wrong("needs a `schedule`"));
        }
        mode = mode.with_threads(Sharing {
            collapse: usize::try_from(collapse).unwrap_or(usize::MAX),
            schedule,
            chunk,
            threshold: fields.optional("threshold", POSITIVE, positive)?,
            work: fields.optional("work", POSITIVE, positive)?,
            atomic: fields
                .optional("atomic", "true or false", |value| value.as_bool().ok())?
                .unwrap_or_default(),
        });
    }
    Ok(mode)
}

fn hints_of(fields: &Fields) -> Result<Hints, Wrong> {
    let mut hints = Hints::default();
    let what = "a list of `#{tensor, distance, further, of}`";
    let prefetch = fields
        .optional("prefetch", what, list_of)?
        .unwrap_or_default();
    let at = fields.at("prefetch");
    for (k, fetch) in prefetch.iter().enumerate() {
        let place = Place::Item(&at, k);
        let Some(map) = fetch.read_lock::<Map>() else {
            return Err(expected(
                &place,
                "a map such as `#{tensor: \"A\", distance: 4}`",
                fetch,
            ));
        };
        let fetch = Fields::of(&map, &place, &["tensor", "distance", "further", "of"])?;
        let count = |value: &Dynamic| int_of(value).filter(|n| *n >= 0);
        hints.prefetch.push(Prefetch {
            tensor: fetch.need("tensor", NAME, name_of)?,
            distance: fetch.need("distance", "an integer, 0 or more", count)?,
            further: fetch
                .optional("further", "an integer, 0 or more", count)?
                .unwrap_or(0),
            of: fetch.optional("of", ITERATOR, name_of)?,
        });
    }
    let stream = fields.optional("stream", "a list of names", list_of)?;
    let at = fields.at("stream");
    for (k, tensor) in stream.unwrap_or_default().iter().enumerate() {
        let place = Place::Item(&at, k);
        let name = name_of(tensor);
        hints
            .stream
            .push(name.ok_or_else(|| expected(&place, NAME, tensor))?);
    }
    let what = "a string of letters, digits and punctuation on one line";
    let remark = fields.optional("remark", what, |value| {
        text_of(value).filter(|text| Hints::is_remark(text))
    })?;
    hints.remark = remark.map(|text| text.into());
    Ok(hints)
}

/// Refuses what has no value at an element.
fn is_value(expr: &Expr, place: &Place) -> Result<(), Wrong> {
    let what = match expr.node() {
        Node::Access { tensor, .. } if tensor.name().is_none() => "is a tensor without a name",
        Node::Access {
            index: Index::Unset,
            ..
        } => "is a tensor without `indices`",
        Node::Virtual { .. } => "is a virtual tensor, whose iterators are not given",
        Node::Assign { .. } | Node::Pieces { .. } => "is an assignment, not a value",
        Node::Access { .. }
        | Node::Constant(_)
        | Node::Index(_)
        | Node::Binary { .. }
        | Node::Apply { .. }
        | Node::Reduce { .. } => return Ok(()),
    };
    let help = match expr.tensor() {
        Some(tensor) if tensor.name().is_some() => Some(format!(
            "an access to its elements is `vat({}, [i, j])`, with one index per dimension",
            tensor.label()
        )),
        _ => None,
    };
    Err(place.wrong(what).help(help))
}

/// Refuses reductions in the values of statements.
fn is_elementwise(value: &Expr, place: &Place) -> Result<(), Wrong> {
    let is_reduction = matches!(value.node(), Node::Reduce { .. });
    if is_reduction {
        let help = "loop over the values, and update the target".to_owned();
        let what = "has a reduction, and values of statements have none";
        return Err(place.wrong(what).help(Some(help)));
    }
    let mut children = value.children().into_iter();
    children.try_for_each(|child| is_elementwise(child, place))
}

/// Refuses other elements that are not indexed by one iterator per dimension.
fn has_own_iterators(rest: &Expr, place: &Place) -> Result<(), Wrong> {
    let Node::Assign { target, .. } = rest.node() else {
        return Ok(());
    };
    let Node::Access {
        index: Index::At(index),
        ..
    } = target.node()
    else {
        return Ok(());
    };
    let mut seen: Vec<&Name> = Vec::new();
    for (k, one) in index.iter().enumerate() {
        match one.as_iterator() {
            Some(name) if !seen.contains(&name) => seen.push(name),
            _ => {
                let at = Place::Field(place, "indices");
                let what = format!("must be an iterator of its own, not `{one}`");
                return Err(Place::Item(&at, k).wrong(what));
            }
        }
    }
    Ok(())
}

const EXPRESSIONS: [&str; 8] = [
    kinds::ACCESS,
    kinds::NUMBER,
    kinds::INDEX,
    kinds::OP,
    kinds::REDUCTION,
    kinds::VIRTUAL,
    kinds::ASSIGNMENT,
    kinds::PIECES,
];
const NAME: &str = "the name of a tensor";
const ITERATOR: &str = "an iterator or its name";
const INDEX: &str = "an index expression such as `2*i + j`";
const INDICES: &str = "a list of index expressions such as `[i, j + 1]`";
const EXTENTS: &str = "a list of extents such as `[4, 5]`";
const POSITIVE: &str = "an integer, 1 or more";
const COMPARISON: &str = "one of \"<\", \"<=\", \">\", \">=\", \"==\" and \"!=\"";

/// A map and its place.
struct Fields<'a> {
    map: &'a Map,
    place: &'a Place<'a>,
}

impl<'a> Fields<'a> {
    /// A map with these fields and `kind`, and no others.
    fn of(map: &'a Map, place: &'a Place<'a>, allowed: &[&str]) -> Result<Fields<'a>, Wrong> {
        let is_known = |field: &str| field == "kind" || allowed.contains(&field);
        let unknown = map.keys().find(|field| !is_known(field));
        match unknown {
            None => Ok(Fields { map, place }),
            Some(field) => {
                let what = "is not a field here";
                let help = format!("the fields here are `{}`", allowed.join("`, `"));
                let at = Place::Field(place, field);
                Err(at.wrong(what).help(Some(help)))
            }
        }
    }

    fn at(&self, field: &'a str) -> Place<'a> {
        Place::Field(self.place, field)
    }

    /// The value of a field; `None` if it is missing or `()`.
    fn get(&self, field: &str) -> Option<&Dynamic> {
        self.map.get(field).filter(|value| !value.is_unit())
    }

    fn missing(&self, field: &'a str, what: &str) -> Wrong {
        let what = format!("is missing; it must be {what}");
        self.at(field).wrong(what)
    }

    /// A field that must be there.
    fn need<T>(
        &self,
        field: &'a str,
        what: &str,
        read: impl FnOnce(&Dynamic) -> Option<T>,
    ) -> Result<T, Wrong> {
        let found = self.optional(field, what, read)?;
        found.ok_or_else(|| self.missing(field, what))
    }

    /// A field that may be missing.
    fn optional<T>(
        &self,
        field: &'a str,
        what: &str,
        read: impl FnOnce(&Dynamic) -> Option<T>,
    ) -> Result<Option<T>, Wrong> {
        let Some(value) = self.get(field) else {
            return Ok(None);
        };
        let found = read(value);
        found
            .map(Some)
            .ok_or_else(|| expected(&self.at(field), what, value))
    }

    fn elem(&self) -> Result<Option<Elem>, Wrong> {
        let what = format!("one of \"{}\"", Elem::ALL.map(Elem::name).join("\", \""));
        self.optional("elem", &what, |value| Elem::from_name(&text_of(value)?))
    }

    fn affines(&self, field: &'a str, list: &[Dynamic]) -> Result<Vec<Affine>, Wrong> {
        let at = self.at(field);
        let one = |(k, value): (usize, &Dynamic)| {
            let index = affine_of(value);
            index.ok_or_else(|| expected(&Place::Item(&at, k), INDEX, value))
        };
        list.iter().enumerate().map(one).collect()
    }

    /// A list of iterators, all different.
    fn names(&self, field: &'a str) -> Result<Vec<Name>, Wrong> {
        let list = self.need(field, "a list of iterators", list_of)?;
        let at = self.at(field);
        let mut names: Vec<Name> = Vec::with_capacity(list.len());
        for (k, value) in list.iter().enumerate() {
            let place = Place::Item(&at, k);
            let name = name_of(value).ok_or_else(|| expected(&place, ITERATOR, value))?;
            if names.contains(&name) {
                return Err(place.wrong(format!("must not be `{name}` again")));
            }
            names.push(name);
        }
        Ok(names)
    }

    /// `lower`, `upper` and `step`.
    fn range(&self) -> Result<Range, Wrong> {
        let bounds = |field: &'a str| {
            let what = "a list of bounds, at least one";
            let list = self.need(field, what, |value| {
                list_of(value).filter(|list| !list.is_empty())
            })?;
            self.affines(field, &list)
        };
        let (lower, upper) = (bounds("lower")?, bounds("upper")?);
        let step = self.optional("step", POSITIVE, positive)?.unwrap_or(1);
        Range::written(lower, upper, step).map_err(|read| {
            let what = format!("is read from {read}, of whose entries nothing is known");
            self.at("lower").wrong(what)
        })
    }

    /// The ranges of some of these iterators.
    fn ranges(&self, names: &[Name]) -> Result<Domain, Wrong> {
        let what = "a list of `#{iterator, lower, upper, step}`";
        let list = self.optional("ranges", what, list_of)?.unwrap_or_default();
        let at = self.at("ranges");
        let mut ranges: Vec<(Name, Range)> = Vec::with_capacity(list.len());
        for (k, value) in list.iter().enumerate() {
            let place = Place::Item(&at, k);
            let Some(map) = value.read_lock::<Map>() else {
                return Err(expected(&place, "a map", value));
            };
            let fields = Fields::of(&map, &place, &["iterator", "lower", "upper", "step"])?;
            let name = fields.need("iterator", ITERATOR, name_of)?;
            let wrong = |what: String| Err(fields.at("iterator").wrong(what));
            let range = fields.range()?;
            if !names.contains(&name) && range.within.is_none() {
                return wrong(format!("is `{name}`, which has no range here"));
            }
            if range.is_part() || range.within.is_some() && range.stride() != 1 {
                return wrong(format!("is `{name}`, which has a part of what is read"));
            }
            if ranges.iter().any(|(n, _)| *n == name) {
                return wrong(format!("must not be `{name}` again"));
            }
            ranges.push((name, range));
        }
        let domain = Domain::new(ranges);
        match domain.nested(names) {
            Some(_) => Ok(domain),
            None => Err(at.wrong("must not depend on each other in a circle")),
        }
    }
}

fn kind_of(map: &Map, place: &Place) -> Result<String, Wrong> {
    let field = Place::Field(place, "kind");
    let what = "a string such as \"op\" or \"loop\"";
    match map.get("kind").filter(|value| !value.is_unit()) {
        None => Err(field.wrong(format!("is missing; it must be {what}"))),
        Some(value) => text_of(value).ok_or_else(|| expected(&field, what, value)),
    }
}

fn expected(place: &Place, what: &str, value: &Dynamic) -> Wrong {
    place.wrong(format!("must be {what}, not {}", values::describe(value)))
}

/// The error for a node that its operands do not make.
fn unfit(error: &Error, place: &Place) -> Wrong {
    let wrong = place.wrong(format!("makes no expression: {error}"));
    wrong.help(error.help.clone())
}

fn typed(number: Number, elem: Elem, place: &Place) -> Result<Constant, Wrong> {
    let constant = match number {
        Number::Int(value) => Constant::of_integer(elem, value),
        Number::Float(value) => Constant::of_float(elem, value),
    };
    constant.ok_or_else(|| place.wrong(format!("must be a value of type {elem}, not {number}")))
}

fn text_of(value: &Dynamic) -> Option<String> {
    let text = value.read_lock::<ImmutableString>();
    text.map(|text| text.to_string())
}

fn int_of(value: &Dynamic) -> Option<i64> {
    value.read_lock::<i64>().map(|n| *n)
}

fn positive(value: &Dynamic) -> Option<i64> {
    int_of(value).filter(|n| *n >= 1)
}

fn number_of(value: &Dynamic) -> Option<Number> {
    let float = || value.read_lock::<f64>().map(|x| Number::Float(*x));
    int_of(value).map(Number::Int).or_else(float)
}

fn list_of(value: &Dynamic) -> Option<Array> {
    value.read_lock::<Array>().map(|list| list.clone())
}

fn affine_of(value: &Dynamic) -> Option<Affine> {
    let index = value.read_lock::<values::Index>();
    let index = index.map(|index| index.affine.clone());
    let affine = index.or_else(|| int_of(value).map(Affine::constant));
    affine.filter(Affine::is_in_limits)
}

fn name_of(value: &Dynamic) -> Option<Name> {
    if let Some(index) = value.read_lock::<values::Index>() {
        return index.affine.as_iterator().cloned();
    }
    Name::new(&text_of(value)?).ok()
}

fn comparison_of(value: &Dynamic) -> Option<Comparison> {
    let word = text_of(value)?;
    let mut all = Comparison::ALL.into_iter();
    all.find(|comparison| comparison.symbol() == word)
}
