//! Prints values: numbers, accesses, operators, functions.

use super::lanes::{End, Vectors};
use crate::elem::c_type;
use crate::ir::{
    Affine, BinaryOp, Constant, Elem, Expr, Function, Index, Name, Node, Stmt, Tensor,
};
use crate::kernel::Header;
use crate::plan::lanes::{affine, is_uniform, mask};
use crate::plan::power::halves;
use std::collections::{BTreeSet, HashSet};

/// Prints values, and collects the headers that they need.
#[derive(Default)]
pub(crate) struct Values {
    /// The headers that declare the functions and macros used.
    pub headers: BTreeSet<Header>,
    /// The vectors of the current loop.
    pub vectors: Option<Vectors>,
    /// The iterators of loops that compilers are told to unroll.
    pub unrolled: HashSet<Name>,
    /// Whether the value is added to an element.
    pub adds: bool,
    /// Whether iterators have fewer bits than the values of indices, which have 64.
    pub are_narrow: bool,
    /// The iterator of lanes that run one by one, and the local tensors that are a copied vector.
    pub one_by_one: Option<(Name, Vec<Name>)>,
}

/// The precedence of a unary minus; that of operators is lower, everything else higher.
const UNARY: u8 = 3;

/// The precedence of text that needs no parentheses.
pub(super) const ATOM: u8 = UNARY + 1;

impl Values {
    /// Reads an element; reads a vector if the lanes move through the tensor.
    fn read(&mut self, tensor: &Tensor, index: &[Affine]) -> String {
        if let Some(v) = self.apart(index)
            && index.iter().any(|a| a.reads_at(&v.iterator))
        {
            let element = v.gathered(tensor.elem(), index, &|index| element(tensor, index));
            self.headers.extend([Header::Apart, Header::Loops]);
            return format!("TEML_GATHER({element})");
        }
        if let Some(v) = self.apart(index) {
            let elements = v.apart(tensor.elem(), index, &|index| self.operand(tensor, index));
            let read = match self.end(index) {
                Some((v, end)) => format!("TEML_APART_PART({elements}, {})", v.live(end)),
                None => format!("TEML_APART({elements})"),
            };
            self.headers.extend([Header::Apart, Header::Loops]);
            return read;
        }
        match self.end(index) {
            Some((v, end)) if !v.reads_row(tensor, index) => {
                v.part(&self.operand(tensor, index), tensor.elem(), end)
            }
            _ => self.neighbors(tensor, index, &|index| self.operand(tensor, index)),
        }
    }

    /// The vectors of an access whose lanes are apart in memory.
    pub(super) fn apart(&self, index: &[Affine]) -> Option<&Vectors> {
        self.vectors.as_ref().filter(|v| v.are_apart(index))
    }

    /// Sets elements whose lanes are apart in memory.
    pub(super) fn set_apart(&mut self, v: &Vectors, s: &Stmt, value: &str) -> String {
        let elements = v.apart(s.target.elem(), &s.index, &|index| {
            element(&s.target, index)
        });
        let set = match self.end(&s.index) {
            Some((v, end)) => {
                format!("TEML_APART_PART_SET({elements}, {}, {value});", v.live(end))
            }
            None => format!("TEML_APART_SET({elements}, {value});"),
        };
        self.headers.extend([Header::Apart, Header::Loops]);
        set
    }

    /// The operand of a read. The copies of an unrolled sum address several rows relative to the
    /// first, `(&A[8*i_o])[i_i]`: gcc would multiply each whole index, and keep one pointer per
    /// row.
    fn operand(&self, tensor: &Tensor, index: &[Affine]) -> String {
        let unrolled = |name: &Name| self.unrolled.contains(name);
        let first = |a: &Affine| a.substitute(&|name| unrolled(name).then(Affine::default));
        let moves = |a: &Affine| first(a) != *a && first(a).as_constant().is_none();
        match index.iter().position(moves) {
            Some(row) if self.adds && row + 1 < index.len() => {
                let text = |index: &[Affine]| -> String {
                    index.iter().map(|a| format!("[{a}]")).collect()
                };
                let first = first(&index[row]);
                let (label, from) = (tensor.label(), index[row].minus(&first));
                if is_flat(tensor) {
                    let texts = |index: &[Affine]| -> Vec<String> {
                        index.iter().map(Affine::to_string).collect()
                    };
                    let (mut outer, mut inner) = (index.to_vec(), index.to_vec());
                    outer[row] = first;
                    outer[row + 1..].fill(Affine::default());
                    inner[..row].fill(Affine::default());
                    inner[row] = from;
                    let [outer, inner] = [outer, inner].map(|i| offset(tensor, &texts(&i)));
                    return format!("(&{label}[{outer}])[{inner}]");
                }
                let (outer, inner) = (text(&index[..row]), text(&index[row + 1..]));
                format!("(&{label}{outer}[{first}])[{from}]{inner}")
            }
            _ => element(tensor, index),
        }
    }

    /// The vectors, and the number of live lanes, of a store that must not touch dead lanes.
    pub(super) fn part(&self, target: &Tensor, index: &[Affine]) -> Option<(&Vectors, &End)> {
        self.end(index)
            .filter(|(v, _)| !v.writes_row(target, index))
    }

    /// The vectors, and the number of live lanes, of an access in a partial vector.
    fn end(&self, index: &[Affine]) -> Option<(&Vectors, &End)> {
        let v = self.vectors.as_ref()?;
        let end = v.end.as_ref()?;
        let moves = index.iter().any(|a| a.mentions(&v.iterator));
        moves.then_some((v, end))
    }

    /// An element; a vector if the lanes move through the tensor.
    pub(crate) fn access(&mut self, tensor: &Tensor, index: &[Affine]) -> String {
        match self.apart(index) {
            Some(_) => self.read(tensor, index),
            None => self.neighbors(tensor, index, &|index| element(tensor, index)),
        }
    }

    /// The text of `element` at an index; a vector that begins there if the lanes move with the
    /// index.
    fn neighbors(
        &self,
        tensor: &Tensor,
        index: &[Affine],
        element: &dyn Fn(&[Affine]) -> String,
    ) -> String {
        match &self.vectors {
            Some(v) if index.iter().any(|a| a.mentions(&v.iterator)) => {
                let index: Vec<Affine> = index.iter().map(|a| v.first(a)).collect();
                v.of(&element(&index), tensor.elem())
            }
            _ => self.lane(tensor, index).unwrap_or_else(|| element(index)),
        }
    }

    /// One lane of a copied vector.
    fn lane(&self, tensor: &Tensor, index: &[Affine]) -> Option<String> {
        let (lane, rows) = self.one_by_one.as_ref()?;
        let row = rows.iter().find(|row| tensor.name() == Some(*row))?;
        (*index == [Affine::iterator(lane.clone())]).then(|| format!("{}[{lane}]", copied(row)))
    }

    /// An expression, in parentheses if its precedence is below `at_least`.
    pub(crate) fn value(&mut self, expr: &Expr, at_least: u8) -> String {
        let (text, own) = match expr.node() {
            Node::Access { tensor, index } => {
                let index: &[Affine] = match index {
                    Index::At(index) => index,
                    _ => &[],
                };
                self.needs_types(tensor.elem());
                return self.read(tensor, index);
            }
            Node::Index(index) => return self.index(index),
            Node::Constant(value) => {
                let own = if value.is_negative() {
                    UNARY
                } else {
                    UNARY + 1
                };
                (self.constant(*value), own)
            }
            Node::Binary {
                op, left, right, ..
            } => match op
                .precedence()
                .filter(|_| !is_guarded(*op, expr.elem(), Some(right)))
            {
                None if *op == BinaryOp::Pow
                    && let Some(halves) = halves(right) =>
                {
                    let lanes = self.has_lanes(expr);
                    let base = self.value(left, ATOM);
                    self.power(base, halves, expr.elem(), lanes)
                }
                None if *op == BinaryOp::Mod
                    && let Some(bits) = mask(right) =>
                {
                    let left = self.value(left, ATOM);
                    return format!("({left} & {})", self.constant(bits));
                }
                None => {
                    let lanes = self.has_lanes(expr);
                    let args = [left, right].map(|e| self.argument(e, lanes));
                    return self.combined(*op, expr.elem(), args, lanes);
                }
                Some(own) => {
                    let (left, right) = (self.value(left, own), self.value(right, own + 1));
                    (format!("{left} {} {right}", op.symbol()), own)
                }
            },
            Node::Apply { function, args, .. } => match (function, args.as_slice()) {
                (Function::Neg, [arg]) => (format!("-{}", self.value(arg, UNARY + 1)), UNARY),
                (Function::Select(comparison), [left, right, yes, no]) => {
                    let symbol = comparison.symbol();
                    if self.has_lanes(expr) {
                        let [yes, no] = [yes, no].map(|e| self.argument(e, true));
                        if let Some(condition) = self.compared([left, right], symbol, expr.elem()) {
                            let name = self.vector_function(function.name(), expr.elem());
                            return format!("{name}({condition}, {yes}, {no})");
                        }
                        // At least one side of a comparison has to be a vector.
                        let left = if self.has_lanes(right) {
                            self.value(left, 1)
                        } else {
                            format!("({})", self.argument(left, true))
                        };
                        let right = self.value(right, 1);
                        let name = self.vector_function(function.name(), expr.elem());
                        let condition = format!("{left} {symbol} {right}");
                        let condition = self.as_wide(condition, args[0].elem(), expr.elem());
                        return format!("{name}({condition}, {yes}, {no})");
                    }
                    let [left, right, yes, no] = [left, right, yes, no].map(|e| self.value(e, 1));
                    return format!("({left} {symbol} {right} ? {yes} : {no})");
                }
                (Function::Cast(elem), [arg]) => return self.cast(arg, *elem, at_least),
                (function, args) => {
                    let lanes = self.has_lanes(expr);
                    let args: Vec<String> = args.iter().map(|a| self.argument(a, lanes)).collect();
                    let name = if lanes {
                        self.vector_function(function.name(), expr.elem())
                    } else {
                        self.function(*function, expr.elem())
                    };
                    return format!("{name}({})", args.join(", "));
                }
            },
            // Verified nests have no other values.
            _ => return String::new(),
        };
        if own < at_least {
            format!("({text})")
        } else {
            text
        }
    }

    /// The value of an index.
    fn index(&mut self, index: &Affine) -> String {
        if let Some(v) = self.vectors.clone() {
            if v.is_several() && index.mentions(&v.iterator) {
                self.needs_types(Elem::I64);
                return v.index(index);
            }
            return self.single(&v.first(index));
        }
        self.single(index)
    }

    fn single(&mut self, index: &Affine) -> String {
        match (index.as_constant(), index.as_iterator()) {
            (Some(value), _) if value < 0 => format!("({})", self.constant(Constant::I64(value))),
            (Some(value), _) => self.constant(Constant::I64(value)),
            (None, _) if self.are_narrow => format!("(int64_t)({index})"),
            (None, Some(name)) => name.to_string(),
            (None, None) => format!("({index})"),
        }
    }

    /// Converts a value to another type.
    fn cast(&mut self, arg: &Expr, elem: Elem, at_least: u8) -> String {
        let from = arg.elem();
        if from == elem {
            return self.value(arg, at_least);
        }
        if self.has_lanes(arg) {
            self.needs_types(elem);
            if let (Elem::I32, Some(index), Some(v)) = (elem, affine(arg), &self.vectors) {
                self.headers.extend([Header::Integers, Header::Casts]);
                return v.short_index(&index);
            }
            let value = self.value(arg, 0);
            let vectors = self.vectors.as_ref();
            return vectors.map_or_else(String::new, |v| v.converted(&value, from, elem));
        }
        let narrows = from == Elem::F64 && elem == Elem::F32;
        if narrows || from.is_float() && !elem.is_float() {
            self.headers.extend([Header::Integers, Header::Numbers]);
            return format!("teml_to_{elem}({})", self.value(arg, 0));
        }
        if !elem.is_float() {
            self.headers.insert(Header::Integers);
        }
        let value = self.value(arg, UNARY);
        if UNARY < at_least {
            format!("(({}){value})", c_type(elem))
        } else {
            format!("({}){value}", c_type(elem))
        }
    }

    /// The mask of a comparison of two indices in a selection between lanes.
    fn compared(&mut self, compared: [&Expr; 2], symbol: &str, elem: Elem) -> Option<String> {
        let [left, right] = compared.map(affine);
        let (left, right) = (left?, right?);
        let vectors = self.vectors.as_ref()?;
        let condition = vectors.compared((&left, symbol, &right), elem)?;
        self.headers
            .extend([Header::Integers, Header::Vectors, Header::Casts]);
        Some(condition)
    }

    /// Converts the mask of a comparison to a mask for lanes of another type.
    fn as_wide(&mut self, condition: String, of: Elem, values: Elem) -> String {
        if of.size() == values.size() {
            return condition;
        }
        let mask = |elem: Elem| match elem.size() {
            8 => Elem::I64,
            _ => Elem::I32,
        };
        self.needs_types(mask(values));
        let vectors = self.vectors.as_ref();
        let wide = |v: &Vectors| v.converted(&condition, mask(of), mask(values));
        vectors.map_or(condition.clone(), wide)
    }

    /// Declares the vectors of a type other than the loop's.
    fn needs_types(&mut self, elem: Elem) {
        if self.vectors.as_ref().is_some_and(|v| v.elem != elem) {
            let headers = [Header::Integers, Header::Vectors, Header::Casts];
            self.headers.extend(headers);
        }
    }

    /// Whether values are vectors.
    pub(super) fn are_vectors(&self) -> bool {
        self.vectors.as_ref().is_some_and(Vectors::is_several)
    }

    /// Whether an expression is a vector where values are vectors.
    fn has_lanes(&self, expr: &Expr) -> bool {
        let vectors = self.vectors.as_ref().filter(|v| v.is_several());
        vectors.is_some_and(|v| !is_uniform(expr, &v.iterator))
    }

    /// An argument of a function of `lanes` or of single numbers.
    fn argument(&mut self, expr: &Expr, lanes: bool) -> String {
        match self.vectors.clone() {
            Some(v) if lanes && !self.has_lanes(expr) => {
                v.spread(&self.value(expr, ATOM), expr.elem())
            }
            _ => self.value(expr, 0),
        }
    }

    /// `left op right` as a call, if C needs a function for it, of `lanes` or of single numbers.
    pub(crate) fn combined(
        &mut self,
        op: BinaryOp,
        elem: Elem,
        args: [String; 2],
        lanes: bool,
    ) -> String {
        let [left, right] = args;
        let name = match (op, elem) {
            (op, _) if lanes => self.vector_function(op.symbol(), elem),
            (BinaryOp::Pow, _) => self.library("pow", elem),
            (_, Elem::F64 | Elem::F32) => {
                self.headers.extend([Header::Integers, Header::Numbers]);
                let suffix = if elem == Elem::F32 { "f" } else { "" };
                format!("teml_f{}{suffix}", op.symbol())
            }
            (op, Elem::I32 | Elem::I64) => {
                let (header, name) = match op {
                    BinaryOp::Div | BinaryOp::Mod => (
                        Header::Numbers,
                        if op == BinaryOp::Div { "div" } else { "mod" },
                    ),
                    op => (Header::Support, op.symbol()),
                };
                self.headers.extend([Header::Integers, header]);
                let suffix = if elem == Elem::I64 { "64" } else { "" };
                format!("teml_{name}{suffix}")
            }
        };
        format!("{name}({left}, {right})")
    }

    /// The name of a function of vectors. Selections are the same for all types.
    pub(super) fn vector_function(&mut self, name: &str, elem: Elem) -> String {
        self.headers.extend([Header::Math, Header::Functions]);
        let of_integers = !elem.is_float() && name != "select";
        format!("teml_v{}{name}", if of_integers { "i" } else { "" })
    }

    fn function(&mut self, function: Function, elem: Elem) -> String {
        match (function, elem) {
            (Function::Abs, Elem::I32 | Elem::I64) => {
                self.headers.extend([Header::Integers, Header::Numbers]);
                let suffix = if elem == Elem::I64 { "64" } else { "" };
                format!("teml_abs{suffix}")
            }
            (Function::Abs, _) => self.library("fabs", elem),
            (Function::Round, _) => self.library("rint", elem),
            (function, _) => self.library(function.name(), elem),
        }
    }

    /// A function of `<math.h>` for this element type.
    fn library(&mut self, name: &str, elem: Elem) -> String {
        let suffix = if elem == Elem::F32 { "f" } else { "" };
        self.headers.insert(Header::Math);
        format!("{name}{suffix}")
    }

    /// A number, with the C type of its elements.
    pub(crate) fn constant(&mut self, value: Constant) -> String {
        let sign = if value.is_negative() { "-" } else { "" };
        if !value.elem().is_float() {
            self.headers.insert(Header::Integers);
        }
        match value {
            _ if value.is_infinite() => {
                self.headers.insert(Header::Math);
                format!("{sign}INFINITY")
            }
            Constant::F64(x) => format!("{x:?}"),
            Constant::F32(x) => format!("{x:?}f"),
            Constant::I32(i32::MIN) => "INT32_MIN".to_owned(),
            Constant::I32(x) => x.to_string(),
            Constant::I64(i64::MIN) => "INT64_MIN".to_owned(),
            Constant::I64(x) => format!("{sign}INT64_C({})", x.unsigned_abs()),
        }
    }
}

/// Whether C's operator traps for some operands: an integer division, unless the divisor is a known
/// number other than -1.
pub(crate) fn is_guarded(op: BinaryOp, elem: Elem, divisor: Option<&Expr>) -> bool {
    let harmless = |e: &Expr| match e.node() {
        Node::Constant(Constant::I32(x)) => *x != -1,
        Node::Constant(Constant::I64(x)) => *x != -1,
        _ => false,
    };
    op == BinaryOp::Div && !elem.is_float() && !divisor.is_some_and(harmless)
}

/// The C variable for a copied vector. Scripts cannot use this name.
pub(super) fn copied(row: &Name) -> String {
    format!("teml_of_{row}")
}

pub(crate) fn element(tensor: &Tensor, index: &[Affine]) -> String {
    let index: Vec<String> = index.iter().map(Affine::to_string).collect();
    at(tensor, &index)
}

/// The element at indices in C. The only element of rank 0 has an index if it is in memory. Tensors
/// with sizes or strides have one dimension there: C++ has no arrays of variable length.
pub(crate) fn at(tensor: &Tensor, index: &[String]) -> String {
    let label = tensor.label();
    if tensor.is_by_value() {
        return label.to_string();
    }
    if is_flat(tensor) || index.is_empty() {
        return format!("{label}[{}]", offset(tensor, index));
    }
    let index: String = index.iter().map(|a| format!("[{a}]")).collect();
    format!("{label}{index}")
}

/// Whether a tensor has one dimension in C.
fn is_flat(tensor: &Tensor) -> bool {
    tensor.shape().is_sized() || tensor.is_strided()
}

/// The distance of an element from the first one, in elements.
fn offset(tensor: &Tensor, index: &[String]) -> String {
    let grouped = |text: &str| match text.contains(' ') || text.starts_with('-') {
        true => format!("({text})"),
        false => text.to_owned(),
    };
    let sum = |terms: Vec<String>| match terms.is_empty() {
        true => "0".to_owned(),
        false => terms.join(" + "),
    };
    let negative = |text: &String| match text.starts_with('-') {
        true => format!("({text})"),
        false => text.clone(),
    };
    let last = index.last().filter(|last| *last != "0").map(negative);
    if tensor.is_strided() {
        let strides = tensor.strides().into_iter();
        let rows = index.iter().zip(strides).filter(|(index, _)| *index != "0");
        let rows = rows.map(|(index, stride)| format!("{}*{stride}", grouped(index)));
        return sum(rows.chain(last).collect());
    }
    let dims = tensor.shape().dims();
    let mut flat = "0".to_owned();
    for (index, extent) in index.iter().zip(&dims) {
        let row = match flat.as_str() {
            "0" => None,
            flat => Some(format!(
                "{}*{}",
                grouped(flat),
                grouped(&extent.to_string())
            )),
        };
        let own = Some(index).filter(|index| *index != "0");
        let own = own.map(|own| {
            if row.is_some() {
                negative(own)
            } else {
                own.clone()
            }
        });
        flat = sum(row.into_iter().chain(own).collect());
    }
    flat
}
