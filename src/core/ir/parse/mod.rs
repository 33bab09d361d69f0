//! Reads the canonical text of nests and expressions back.

mod cursor;
mod guard;
mod line;
mod pieces;
mod types;
mod unsupported;
mod value;
mod wrong;

use super::affine::Affine;
use super::elem::Elem;
use super::expr::{Expr, MAX_DEPTH};
use super::function::BinaryOp;
use super::mode::Axis;
use super::name::Name;
use super::nest::{Loop, Nest, Tree};
use super::tensor::Tensor;
use cursor::Cursor;
use guard::{Guard, guarded};
use line::{Line, whole};
use pieces::pieces;
use std::sync::Arc;
use wrong::Wrong;

pub use line::ParseError;

/// Parses the text of a nest, as `Display` writes it. The text has no definition, so that of the
/// result is empty.
///
/// # Errors
/// [`ParseError`] names the first line that does not fit.
pub fn parse_nest(text: &str) -> Result<Nest, ParseError> {
    let read = read(text, None);
    match read.errors.into_iter().next() {
        Some(first) => Err(first),
        None => Ok(read.nest),
    }
}

/// The readable part of a text, with the places of its trees.
#[derive(Clone, Debug)]
pub struct Read {
    /// The loops and statements outside of loops that cannot be read.
    pub nest: Nest,
    /// The line of each tree of the nest, counted from 1, in the order of the text.
    pub lines: Vec<usize>,
    /// The trees in lines that cannot be read, with the line of each tree.
    pub inside: Vec<(Vec<Tree>, Vec<usize>)>,
    /// One error per line that cannot be read, in the order of the text.
    pub errors: Vec<ParseError>,
}

/// Parses a nest, and goes on after lines that cannot be read. Indices and bounds consist of
/// iterators of loops around them.
pub fn read_nest(text: &str) -> Read {
    read(text, Some(Vec::new()))
}

/// Parses a nest in loops over `iterators`, if these are known.
fn read(text: &str, iterators: Option<Vec<Name>>) -> Read {
    let Split {
        sizes,
        tensors,
        lines,
        errors,
        unread,
    } = split(text);
    let iterators = iterators.map(|known| known.into_iter().chain(sizes.iter().cloned()).collect());
    let mut reader = Reader {
        tensors: &tensors,
        iterators,
        lines: Vec::new(),
        inside: Vec::new(),
        errors,
    };
    let (trees, _) = reader.block(&lines, 0);
    let named = |tree: &Tree| tree.substitute(&|name| of_size(&sizes, name));
    let trees = match sizes.is_empty() {
        true => trees,
        false => trees.iter().map(named).collect(),
    };
    let mut errors = reader.errors;
    // A tensor whose declaration is malformed is unknown, which is reported once.
    errors.retain(|error| {
        let name = error.what.strip_prefix("tensor ");
        let name = name.and_then(|what| what.strip_suffix(" is not declared"));
        let mut words = unread.iter().flat_map(|line| line.split(|c| !is_part(c)));
        name.is_none_or(|name| !words.any(|word| word == name))
    });
    errors.sort_by_key(|error| error.line);
    errors.dedup_by_key(|error| error.line);
    Read {
        nest: Nest::of_trees(trees),
        lines: reader.lines,
        inside: reader.inside,
        errors,
    }
}

/// Parses an index expression, as `Display` writes it.
///
/// # Errors
/// The text names the token that was expected or found.
pub fn parse_affine(text: &str) -> Result<Affine, String> {
    whole(text, Cursor::affine)
}

/// Parses an expression, as `Display` writes it. The text has no shapes of operations, so these
/// stay empty. `transform::tensor::with_shapes` infers them.
///
/// # Errors
/// [`ParseError`] names the first line that does not fit.
pub fn parse_expr(text: &str) -> Result<Expr, ParseError> {
    let Split {
        sizes,
        tensors,
        lines,
        errors,
        ..
    } = split(text);
    if let Some(error) = errors.into_iter().next() {
        return Err(error);
    }
    let expr = match (lines.as_slice(), tensors.as_slice()) {
        ([], [tensor]) => Ok(Expr::of_tensor(tensor.clone())),
        ([line], _) if line.indent == 0 => line.read(&tensors, Cursor::root),
        ([_, _, ..], _) => pieces(&lines, &tensors),
        _ => {
            let first = lines.get(1).copied().unwrap_or_else(|| line(1, ""));
            Err(first.wrong("expected declarations and an expression".to_owned()))
        }
    };
    Ok(expr?.substitute(&|name| of_size(&sizes, name)))
}

/// A line without indentation.
fn line(number: usize, text: &str) -> Line<'_> {
    Line {
        number,
        indent: 0,
        text,
    }
}

/// The keyword of a declaration of sizes.
const SIZE: &str = "size";

/// The keyword of a local tensor's declaration.
const LOCAL: &str = "local";

/// The size of this name, with its facts.
fn of_size(sizes: &[Name], name: &Name) -> Option<Affine> {
    let size = sizes.iter().find(|size| *size == name)?;
    Some(Affine::iterator(size.clone()))
}

/// The parts of a text.
struct Split<'t> {
    /// The declared sizes.
    sizes: Vec<Name>,
    /// The declared tensors.
    tensors: Vec<Tensor>,
    /// The lines after the declarations.
    lines: Vec<Line<'t>>,
    /// The errors in declarations.
    errors: Vec<ParseError>,
    /// The declarations with errors.
    unread: Vec<&'t str>,
}

fn split(text: &str) -> Split<'_> {
    let mut sizes: Vec<Name> = Vec::new();
    let mut tensors = Vec::new();
    let mut lines = Vec::new();
    let mut errors = Vec::new();
    let mut unread = Vec::new();
    let numbered = text.lines().zip(1..).map(|(whole, number)| {
        let whole = without_comment(whole);
        let text = whole.trim_start_matches(' ');
        let indent = whole.len() - text.len();
        Line {
            number,
            indent,
            text,
        }
    });
    let (of_sizes, others): (Vec<Line>, Vec<Line>) = numbered
        .filter(|line| !line.text.is_empty())
        .partition(|line| starts_with(line.text, SIZE));
    // Extents may have sizes that are declared behind them.
    for line in of_sizes {
        let help = "sizes are `size M, N` or `size K least 1 most 4096 multiple 8`";
        match line.read(&[], |cursor| cursor.sizes(&sizes)) {
            Ok(declared) => sizes.extend(declared),
            Err(error) => {
                unread.push(line.text);
                errors.push(error.or_help(help));
            }
        }
    }
    for line in others {
        let trimmed = line.text;
        let declares = Elem::ALL.iter().any(|e| starts_with(trimmed, e.name()));
        let error = if declares {
            let error = declarations(line, &sizes, &mut tensors);
            let late = || (!lines.is_empty()).then(|| line.wrong_word(late(trimmed)));
            error.or_else(late)
        } else if let Some(wrong) = misspelt(trimmed) {
            Some(line.wrong_word(wrong))
        } else {
            lines.push(line);
            let is_local = starts_with(trimmed, LOCAL);
            is_local.then(|| local(line, &mut tensors)).flatten()
        };
        unread.extend(error.is_some().then_some(trimmed));
        errors.extend(error);
    }
    // Declarations that a script puts into the text need not have the indentation of the loops.
    let indent = lines.iter().map(|line| line.indent).min().unwrap_or(0);
    lines.iter_mut().for_each(|line| line.indent -= indent);
    Split {
        sizes,
        tensors,
        lines,
        errors,
        unread,
    }
}

/// The error for a declaration after a loop or statement.
fn late(text: &str) -> Wrong {
    let wrong = Wrong::from("a declaration comes before all loops and statements".to_owned());
    wrong.label("a declaration").help(format!(
        "move it up, or declare a tensor of each iteration: `{LOCAL} {text}`"
    ))
}

/// The error for a declaration whose first word is not an element type.
fn misspelt(text: &str) -> Option<Wrong> {
    let (word, rest) = text.split_at(text.find(|c| !is_part(c))?);
    let keywords = ["for", "let", "parallel", "vector", "fill", LOCAL];
    if keywords.contains(&word) || unsupported::opens(word) || !starts_with(text, word) {
        return None;
    }
    let is_tensor = |declared: &str| {
        let declared = declared.trim();
        let (name, extents) = declared.split_at(declared.find('[').unwrap_or(declared.len()));
        let is_extent = |c: char| c.is_ascii_digit() || matches!(c, '[' | ']');
        !name.is_empty() && name.chars().all(is_part) && extents.chars().all(is_extent)
    };
    let declares = rest.split(',').all(is_tensor);
    declares.then(|| unsupported::declaration(word, rest))
}

const fn is_part(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Whether a line begins a loop.
fn is_loop(text: &str) -> bool {
    let is_bound = |axis: &&str| {
        text.strip_prefix(*axis)
            .is_some_and(|rest| rest.starts_with(' '))
    };
    let mut words = ["for", "let", "parallel", "vector"].iter();
    words.any(|word| starts_with(text, word)) || Axis::WORDS.iter().any(is_bound)
}

/// A line without its trailing comment. The comment of a loop is its remark, separated by one
/// space.
fn without_comment(line: &str) -> &str {
    let own = line.trim_start();
    let comment = if is_loop(own) {
        line.find("  //")
            .or_else(|| line.find("//").filter(|at| !line[..*at].ends_with(' ')))
    } else {
        line.find("//")
    };
    comment.map_or(line, |at| line[..at].trim_end())
}

/// Whether `text` is a line of this kind. The keyword alone does not decide, since tensors may have
/// the same name. But such a name is followed by no other name, only by an update such as `min=`.
fn starts_with(text: &str, keyword: &str) -> bool {
    let rest = text.strip_prefix(keyword).and_then(|t| t.strip_prefix(' '));
    let updates = |t: &str| {
        let after = BinaryOp::ALL
            .into_iter()
            .find_map(|op| t.strip_prefix(op.symbol()));
        after.is_some_and(|t| t.starts_with('='))
    };
    rest.is_some_and(|t| {
        t.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && !updates(t)
    })
}

/// Reads lines and collects errors.
struct Reader<'t> {
    tensors: &'t [Tensor],
    /// The iterators of the loops around, if they are known.
    iterators: Option<Vec<Name>>,
    /// The lines of the trees.
    lines: Vec<usize>,
    /// The trees in lines that cannot be read, with the line of each tree.
    inside: Vec<(Vec<Tree>, Vec<usize>)>,
    errors: Vec<ParseError>,
}

impl<'t> Reader<'t> {
    /// The trees of the lines at level `depth`, up to the first shallower line.
    fn block<'l>(
        &mut self,
        mut lines: &'l [Line<'t>],
        depth: usize,
    ) -> (Vec<Tree>, &'l [Line<'t>]) {
        let mut trees = Vec::new();
        while let [line, rest @ ..] = lines
            && line.indent >= 2 * depth
        {
            if line.indent > 2 * depth {
                lines = self.astray(*line, lines);
                continue;
            }
            lines = rest;
            if depth > MAX_DEPTH as usize {
                self.errors.push(line.wrong(line::too_deep()));
                return (trees, &[]);
            }
            match self.tree(*line) {
                Some(Head::Loop(mut l)) => {
                    self.lines.push(line.number);
                    let around = self.enter(Some(l.name.clone()));
                    (l.body, lines) = self.block(lines, depth + 1);
                    self.iterators = around;
                    trees.push(Tree::of_loop(*l));
                }
                Some(Head::If(guards)) => {
                    let outside = std::mem::take(&mut self.lines);
                    let (body, after) = self.block(lines, depth + 1);
                    let own = std::mem::replace(&mut self.lines, outside);
                    lines = after;
                    match guarded(&body, &guards) {
                        Ok(guarded) => {
                            self.lines.extend(own);
                            trees.extend(guarded);
                        }
                        Err(wrong) => {
                            self.errors.push(line.wrong(wrong));
                            self.inside.push((body, own));
                        }
                    }
                }
                Some(Head::Tree(tree)) => {
                    self.lines.push(line.number);
                    trees.push(tree);
                }
                None if lines.first().is_some_and(|next| next.indent > line.indent) => {
                    let first = line.text.split(|c| !is_part(c)).next();
                    let around = match first {
                        Some(word) if unsupported::opens(word) => self.iterators.clone(),
                        _ => self.enter(looped(line.text)),
                    };
                    let outside = std::mem::take(&mut self.lines);
                    let (body, after) = self.block(lines, depth + 1);
                    let own = std::mem::replace(&mut self.lines, outside);
                    self.inside.push((body, own));
                    (self.iterators, lines) = (around, after);
                }
                None => {}
            }
        }
        (trees, lines)
    }

    /// Enters a loop over the iterator `name`, if that is known. Returns the iterators around it.
    fn enter(&mut self, name: Option<Name>) -> Option<Vec<Name>> {
        let around = self.iterators.clone();
        match (&mut self.iterators, name) {
            (Some(iterators), Some(name)) => iterators.push(name),
            (_, None) => self.iterators = None,
            (None, Some(_)) => {}
        }
        around
    }

    /// Reads the errors of lines that are too deep, from `line` on. Returns the lines after them.
    fn astray<'l>(&mut self, line: Line<'t>, lines: &'l [Line<'t>]) -> &'l [Line<'t>] {
        let wrong =
            Wrong::from("the indentation fits no loop".to_owned()).label("belongs to no loop");
        let help = "lines in a loop have one indentation, deeper than that of the loop";
        self.errors.push(line.wrong(wrong.help(help)));
        let deep = |other: &&Line| other.indent >= line.indent;
        let count = lines.iter().take_while(deep).count();
        let around = self.iterators.take();
        for line in &lines[..count] {
            self.tree(*line);
        }
        self.iterators = around;
        &lines[count..]
    }

    /// Parses a line. `None` if it is malformed.
    fn tree(&mut self, line: Line<'t>) -> Option<Head> {
        let is = |keyword: &&str| starts_with(line.text, keyword);
        let iterators = self.iterators.as_deref();
        let read = if is(&"fill") {
            let fill = line.read_in(self.tensors, iterators, Cursor::fill);
            let fill = fill.map(|fill| Head::Tree(Tree::Fill(Arc::new(fill))));
            fill.map_err(|error| error.or_help("a fill is `fill x[0..8] = 0`"))
        } else if is(&LOCAL) {
            // The declaration was read before, and its errors reported.
            let local = line.read(&[], Cursor::local).ok()?;
            Ok(Head::Tree(Tree::Local(local)))
        } else if is_loop(line.text) || line.text.starts_with("for (") {
            let head = line.read_in(self.tensors, iterators, Cursor::head);
            let head = head.map(|l| Head::Loop(Box::new(l)));
            head.map_err(|error| error.or_help("a loop is `for i in 0..8`"))
        } else if is(&"if") {
            let guards = line.read_in(self.tensors, iterators, Cursor::guards);
            let guards = guards.map(Head::If);
            guards.map_err(|error| error.or_help("a condition is `if x[i] > 0 && x[i] < y[i]`"))
        } else if let Some(wrong) = self.unknown(line.text) {
            Err(line.wrong_word(wrong))
        } else {
            let stmt = line.read_in(self.tensors, iterators, Cursor::stmt);
            stmt.map(|stmt| Head::Tree(Tree::Stmt(Arc::new(stmt))))
        };
        read.map_err(|error| self.errors.push(error)).ok()
    }

    /// The error for a line that begins with a word that is neither a keyword nor a tensor, and
    /// another word.
    fn unknown(&self, text: &str) -> Option<Wrong> {
        let (word, rest) = text.split_at(text.find(|c| !is_part(c))?);
        let is_tensor = self.tensors.iter().any(|tensor| tensor.label() == word);
        let is_unknown = !is_tensor && starts_with(text, word);
        is_unknown.then(|| unsupported::keyword(word, rest))
    }
}

/// The iterator of a loop that cannot be read: the word before `in`, or else the word after `for`.
fn looped(text: &str) -> Option<Name> {
    let words: Vec<&str> = text.split(' ').filter(|word| !word.is_empty()).collect();
    let before = words.windows(2).find(|pair| pair[1] == "in");
    let after = words.windows(2).find(|pair| pair[0] == "for");
    let name = before.map(|pair| pair[0]).or(after.map(|pair| pair[1]))?;
    Name::new(name).ok()
}

/// A parsed line: a loop or conditions, whose body follows, or a whole tree.
enum Head {
    Loop(Box<Loop>),
    If(Vec<Guard>),
    Tree(Tree),
}

/// Adds the local tensor that a line declares. Parts of a loop may each declare the same tensor.
fn local(line: Line<'_>, tensors: &mut Vec<Tensor>) -> Option<ParseError> {
    match line.read(&[], Cursor::local) {
        Ok(tensor) => match tensors.iter().find(|t| t.name() == tensor.name()) {
            Some(known) if *known != tensor => Some(twice(line, &tensor)),
            Some(_) => None,
            None => {
                tensors.push(tensor);
                None
            }
        },
        Err(error) => Some(error.or_help("a declaration is `local f64 t[8]` or `local f64 s[]`")),
    }
}

/// Adds the tensors that a line declares.
fn declarations(line: Line<'_>, sizes: &[Name], tensors: &mut Vec<Tensor>) -> Option<ParseError> {
    let declared = match line.read(&[], |cursor| cursor.declarations(sizes)) {
        Ok(declared) => declared,
        Err(error) => return Some(error.or_help("a declaration is `f64 x[8], A[8][9], s[]`")),
    };
    let mut error = None;
    for tensor in declared {
        if tensors.iter().any(|t| t.name() == tensor.name()) {
            error = error.or_else(|| Some(twice(line, &tensor)))
        } else {
            tensors.push(tensor)
        }
    }
    error
}

fn twice(line: Line<'_>, tensor: &Tensor) -> ParseError {
    let wrong = Wrong::from(format!("tensor {} is declared twice", tensor.label()));
    line.wrong(wrong.help("remove one of the declarations, or give the tensor another name"))
}
