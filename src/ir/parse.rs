//! Reads the canonical text of nests back.

use super::affine::Affine;
use super::elem::Elem;
use super::expr::{BinaryOp, Expr, Index, MAX_DEPTH, Node};
use super::name::Name;
use super::nest::{Fill, Loop, Nest, Range, Stmt, Tree};
use super::tensor::{Shape, Tensor};
use super::text::precedence;
use std::sync::Arc;

/// Where a text stops being a nest, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct ParseError {
    /// Counted from 1.
    pub line: usize,
    /// What was expected or found.
    pub what: String,
}

/// The nest that `text`, as `Display` writes it, stands for. The text tells nothing of the
/// definition, so that of the result is empty.
///
/// # Errors
/// [`ParseError`] names the first line that does not fit.
pub fn parse_nest(text: &str) -> Result<Nest, ParseError> {
    let mut tensors = Vec::new();
    let mut lines = Vec::new();
    for (k, line) in text.lines().enumerate() {
        let trimmed = line.trim_start_matches(' ');
        if trimmed.is_empty() {
            continue;
        }
        let declares = Elem::ALL.iter().any(|e| starts_with(trimmed, e.name()));
        if declares && lines.is_empty() {
            declarations(trimmed, &mut tensors).map_err(|what| ParseError { line: k + 1, what })?;
        } else {
            lines.push((k + 1, line.len() - trimmed.len(), trimmed));
        }
    }
    let (trees, rest) = block(&lines, 0, &tensors)?;
    match rest.first() {
        None => Ok(Nest::new(trees, Arc::new([]))),
        Some((line, ..)) => Err(ParseError {
            line: *line,
            what: "the indentation fits no loop".to_owned(),
        }),
    }
}

/// Whether `text` is a line of this kind. The keyword alone does not tell: tensors may be named
/// like it, but after such a name comes no other name.
fn starts_with(text: &str, keyword: &str) -> bool {
    let rest = text.strip_prefix(keyword).and_then(|t| t.strip_prefix(' '));
    rest.is_some_and(|t| t.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'))
}

/// For each line its number, its indentation and its text.
type Lines<'a> = [(usize, usize, &'a str)];

fn block<'a, 'l>(
    mut lines: &'l Lines<'a>,
    depth: usize,
    tensors: &[Tensor],
) -> Result<(Vec<Tree>, &'l Lines<'a>), ParseError> {
    let mut trees = Vec::new();
    while let [(line, indent, text), rest @ ..] = lines
        && *indent == 2 * depth
    {
        let at = |what: String| ParseError { line: *line, what };
        if depth > MAX_DEPTH as usize {
            return Err(at(too_deep()));
        }
        lines = rest;
        let is = |keyword: &&str| starts_with(text, keyword);
        let tree = if is(&"fill") {
            Tree::Fill(Arc::new(whole(text, tensors, Cursor::fill).map_err(at)?))
        } else if ["for", "parallel", "vector"].iter().any(is) {
            let mut l = whole(text, tensors, Cursor::head).map_err(at)?;
            (l.body, lines) = block(lines, depth + 1, tensors)?;
            Tree::of_loop(l)
        } else {
            Tree::Stmt(Arc::new(whole(text, tensors, Cursor::stmt).map_err(at)?))
        };
        trees.push(tree);
    }
    Ok((trees, lines))
}

fn too_deep() -> String {
    format!("deeper than {MAX_DEPTH} levels")
}

/// What `parse` makes of the whole line.
fn whole<'a, T>(
    text: &'a str,
    tensors: &'a [Tensor],
    parse: fn(&mut Cursor<'a>) -> Result<T, String>,
) -> Result<T, String> {
    let mut cursor = Cursor {
        rest: text,
        tensors,
        depth: 0,
    };
    let result = parse(&mut cursor)?;
    cursor.end()?;
    Ok(result)
}

/// Adds the tensors that a line declares.
fn declarations(text: &str, tensors: &mut Vec<Tensor>) -> Result<(), String> {
    for tensor in whole(text, &[], Cursor::declarations)? {
        if tensors.iter().any(|t| t.name() == tensor.name()) {
            return Err(format!("tensor {} is declared twice", tensor.label()));
        }
        tensors.push(tensor);
    }
    Ok(())
}

struct Cursor<'a> {
    rest: &'a str,
    tensors: &'a [Tensor],
    /// How many parentheses are open.
    depth: u32,
}

impl Cursor<'_> {
    fn eat(&mut self, token: &str) -> bool {
        let rest = self.rest.trim_start();
        match rest.strip_prefix(token) {
            Some(after) => {
                self.rest = after;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, token: &str) -> Result<(), String> {
        match self.eat(token) {
            true => Ok(()),
            false => Err(format!("expected `{token}` before `{}`", self.rest.trim())),
        }
    }

    fn end(&self) -> Result<(), String> {
        match self.rest.trim() {
            "" => Ok(()),
            rest => Err(format!("`{rest}` is left over")),
        }
    }

    fn word(&mut self) -> Result<String, String> {
        let rest = self.rest.trim_start();
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let length = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(length);
        match word {
            "" => Err(format!("expected a name before `{rest}`")),
            _ => {
                self.rest = after;
                Ok(word.to_owned())
            }
        }
    }

    fn integer(&mut self) -> Result<i64, String> {
        let negative = self.eat("-");
        let word = self.word()?;
        let value: i64 = word
            .parse()
            .map_err(|_| format!("`{word}` is no integer"))?;
        Ok(if negative { -value } else { value })
    }

    fn declarations(&mut self) -> Result<Vec<Tensor>, String> {
        let word = self.word()?;
        let elem = Elem::from_name(&word).ok_or_else(|| format!("`{word}` is no element type"))?;
        let mut tensors = vec![self.declaration(elem)?];
        while self.eat(",") {
            tensors.push(self.declaration(elem)?);
        }
        Ok(tensors)
    }

    fn declaration(&mut self, elem: Elem) -> Result<Tensor, String> {
        let name = self.name()?;
        let mut extents = Vec::new();
        let mut scalar = true;
        while self.eat("[") {
            scalar = false;
            if self.eat("]") {
                break;
            }
            extents.push(self.integer()?);
            self.expect("]")?;
        }
        let tensor = match scalar {
            true => Tensor::scalar(elem),
            false => Tensor::new(Shape::new(&extents, elem).map_err(|e| e.to_string())?, elem),
        };
        Ok(tensor.named(name))
    }

    fn name(&mut self) -> Result<Name, String> {
        Name::new(&self.word()?).map_err(|e| e.to_string())
    }

    fn tensor(&mut self) -> Result<Tensor, String> {
        let name = self.word()?;
        let known = self.tensors.iter().find(|t| t.label() == name);
        known
            .cloned()
            .ok_or_else(|| format!("tensor {name} is not declared"))
    }

    fn affine(&mut self) -> Result<Affine, String> {
        let mut sum = Affine::default();
        let mut sign = if self.eat("-") { -1 } else { 1 };
        loop {
            let term = self.term()?;
            sum = sum.plus(&term.times(sign));
            sign = match (self.eat("+"), self.rest.trim_start().starts_with("- ")) {
                (true, _) => 1,
                (false, true) if self.eat("-") => -1,
                _ => return Ok(sum),
            };
        }
    }

    fn term(&mut self) -> Result<Affine, String> {
        let is_digit = |c: char| c.is_ascii_digit();
        if !self.rest.trim_start().starts_with(is_digit) {
            return Ok(Affine::iterator(self.name()?));
        }
        let number = self.integer()?;
        match self.eat("*") {
            true => Ok(Affine::iterator(self.name()?).times(number)),
            false => Ok(Affine::constant(number)),
        }
    }

    fn head(&mut self) -> Result<Loop, String> {
        let parallel = self.eat("parallel ");
        let vector = self.eat("vector ");
        self.expect("for ")?;
        let name = self.name()?;
        self.expect("in ")?;
        let lower = self.bounds("max")?;
        self.expect("..")?;
        let upper = self.bounds("min")?;
        let step = match self.eat("step ") {
            true => self.integer()?,
            false => 1,
        };
        if step < 1 {
            return Err(format!("the step {step} is not positive"));
        }
        let range = Range { lower, upper, step };
        Ok(Loop {
            name,
            range,
            parallel,
            vector,
            body: Vec::new(),
            made_by: None,
        })
    }

    fn bounds(&mut self, function: &str) -> Result<Vec<Affine>, String> {
        if !self.eat(&format!("{function}(")) {
            return Ok(vec![self.affine()?]);
        }
        let mut bounds = vec![self.affine()?];
        while self.eat(",") {
            bounds.push(self.affine()?);
        }
        self.expect(")")?;
        Ok(bounds)
    }

    fn index(&mut self, tensor: &Tensor) -> Result<Vec<Affine>, String> {
        let mut index = Vec::new();
        while self.eat("[") {
            if self.eat("]") {
                break;
            }
            index.push(self.affine()?);
            self.expect("]")?;
        }
        has_rank(tensor, index.len())?;
        Ok(index)
    }

    fn fill(&mut self) -> Result<Fill, String> {
        self.expect("fill ")?;
        let target = self.tensor()?;
        let mut region = Vec::new();
        while self.eat("[") {
            if self.eat("]") {
                break;
            }
            let low = self.affine()?;
            self.expect("..")?;
            let extent = match (self.eat("+"), low.as_constant()) {
                (true, _) => self.integer()?,
                (false, Some(low)) => {
                    let distance = self.integer()?.checked_sub(low);
                    distance.ok_or_else(|| "the region is too large".to_owned())?
                }
                (false, None) => return Err("expected `+` and a number of elements".to_owned()),
            };
            self.expect("]")?;
            match u64::try_from(extent) {
                Ok(extent) if extent > 0 => region.push((low, extent)),
                _ => return Err("an empty region".to_owned()),
            }
        }
        has_rank(&target, region.len())?;
        self.expect("=")?;
        Ok(Fill {
            target,
            region,
            value: self.integer()?,
        })
    }

    fn stmt(&mut self) -> Result<Stmt, String> {
        let target = self.tensor()?;
        let index = self.index(&target)?;
        let update = BinaryOp::ALL.into_iter().find(|op| self.eat(op.symbol()));
        self.expect("=")?;
        Ok(Stmt {
            target,
            index,
            update,
            value: self.value(1)?,
        })
    }

    /// An expression of operators that bind at least as tightly as `level`.
    fn value(&mut self, level: u8) -> Result<Expr, String> {
        if level > 2 {
            return self.primary();
        }
        let mut left = self.value(level + 1)?;
        loop {
            let ops = BinaryOp::ALL
                .into_iter()
                .filter(|op| precedence(*op) == level);
            let Some(op) = ops.into_iter().find(|op| self.eat(op.symbol())) else {
                return Ok(left);
            };
            let right = self.value(level + 1)?;
            left = Expr::new(Node::Binary {
                op,
                shape: Shape::of_extents([]),
                left,
                right,
            });
            if !left.is_in_limits() {
                return Err(too_deep());
            }
        }
    }

    fn primary(&mut self) -> Result<Expr, String> {
        if self.eat("(") {
            self.depth += 1;
            if self.depth > MAX_DEPTH {
                return Err(too_deep());
            }
            let value = self.value(1)?;
            self.expect(")")?;
            self.depth -= 1;
            return Ok(value);
        }
        let tensor = self.tensor()?;
        let index = match tensor.is_scalar() {
            true => Index::Forbidden,
            false => Index::At(self.index(&tensor)?),
        };
        Ok(Expr::access(tensor, index))
    }
}

fn has_rank(tensor: &Tensor, given: usize) -> Result<(), String> {
    match tensor.shape().rank() {
        rank if rank == given => Ok(()),
        rank => Err(format!("{} takes {rank} indices", tensor.label())),
    }
}
