//! A cursor in a line, and the tokens that it reads.

use super::wrong::Wrong;
use crate::ir::affine::Affine;
use crate::ir::closest::closest;
use crate::ir::constant::Constant;
use crate::ir::elem::Elem;
use crate::ir::entries::{Entries, Order};
use crate::ir::function::BinaryOp;
use crate::ir::mode::{Axis, Mode, Schedule, Sharing};
use crate::ir::name::{Name, Size};
use crate::ir::nest::Loop;
use crate::ir::range::{Hints, Prefetch, Range};
use crate::ir::segment::{Lookup, Segment};
use crate::ir::statement::{Fill, Stmt};
use crate::ir::tensor::{Shape, Space, Strides, Tensor};
use std::ops::Range as Bytes;

pub(super) struct Cursor<'a> {
    pub(super) rest: &'a str,
    pub(super) tensors: &'a [Tensor],
    /// The number of open parentheses.
    pub(super) depth: u32,
    /// The type of numbers, given by the value around them.
    pub(super) elem: Elem,
    /// The start of the last word read, or of a missing token.
    pub(super) at: &'a str,
    /// The iterators of the loops around, if they are known.
    pub(super) iterators: Option<Vec<Name>>,
}

impl<'a> Cursor<'a> {
    /// A cursor at the start of `text`, with the declared tensors.
    pub(super) fn new(text: &'a str, tensors: &'a [Tensor]) -> Cursor<'a> {
        Cursor {
            rest: text,
            tensors,
            depth: 0,
            elem: tensors.first().map_or_else(Elem::default, Tensor::elem),
            at: text,
            iterators: None,
        }
    }

    /// The bytes of `text` at fault. The cursor is in `text`.
    pub(super) fn at_fault(&self, text: &str) -> Bytes<usize> {
        let start = text.len().saturating_sub(self.at.len());
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let word = self.at.find(|c| !is_part(c)).unwrap_or(self.at.len());
        let first = self.at.chars().next().map_or(0, char::len_utf8);
        start..start + word.max(first)
    }

    /// Whether `token` comes next.
    pub(super) fn is_next(&self, token: &str) -> bool {
        self.rest.trim_start().starts_with(token)
    }

    pub(super) fn eat(&mut self, token: &str) -> bool {
        let rest = self.rest.trim_start();
        match rest.strip_prefix(token) {
            Some(after) => {
                self.rest = after;
                true
            }
            None => false,
        }
    }

    pub(super) fn expect(&mut self, token: &str) -> Result<(), Wrong> {
        if self.eat(token) {
            Ok(())
        } else {
            Err(self.expected(&format!("`{token}`")))
        }
    }

    /// The error that `what` is missing here.
    pub(super) fn expected(&mut self, what: &str) -> Wrong {
        self.at = self.rest.trim_start();
        let wrong = match self.rest.trim() {
            "" => format!("expected {what} at the end"),
            rest => format!("expected {what} before `{rest}`"),
        };
        Wrong::from(wrong).label(format!("{what} is missing"))
    }

    pub(super) fn end(&mut self) -> Result<(), Wrong> {
        self.at = self.rest.trim_start();
        match self.rest.trim() {
            "" => Ok(()),
            rest => Err(super::unsupported::left_over(rest).unwrap_or_else(|| {
                Wrong::from(format!("`{rest}` is left over")).label("the line should end here")
            })),
        }
    }

    pub(super) fn word(&mut self) -> Result<String, Wrong> {
        let rest = self.rest.trim_start();
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let length = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(length);
        self.at = rest;
        match word {
            "" => Err(self.expected("a name")),
            _ => {
                self.rest = after;
                Ok(word.to_owned())
            }
        }
    }

    fn integer(&mut self) -> Result<i64, Wrong> {
        let negative = self.eat("-");
        let word = self.word()?;
        let value: i64 = word
            .parse()
            .map_err(|_| format!("`{word}` is not an integer"))
            .map_err(|what| Wrong::from(what).label("an integer is expected here"))?;
        Ok(if negative { -value } else { value })
    }

    /// A number of the current element type.
    pub(super) fn number(&mut self) -> Result<Constant, Wrong> {
        let rest = self.rest.trim_start();
        let mut before = ' ';
        let ends = |c: char| {
            let in_exponent = before == 'e' && c == '-';
            before = c;
            !(c.is_ascii_alphanumeric() || c == '.' || c == '∞' || in_exponent)
        };
        self.at = rest;
        let sign = usize::from(rest.starts_with('-'));
        let length = rest[sign..].find(ends).unwrap_or(rest.len() - sign);
        let (text, after) = rest.split_at(sign + length);
        self.rest = after;
        Constant::parse(self.elem, text)
            .ok_or_else(|| format!("`{text}` is not a value of type {}", self.elem).into())
    }

    pub(super) fn declarations(&mut self, sizes: &[Name]) -> Result<Vec<Tensor>, Wrong> {
        let elem = self.elem_name()?;
        let mut tensors = vec![self.stored(elem, sizes)?];
        while self.eat(",") {
            tensors.push(self.stored(elem, sizes)?);
        }
        Ok(tensors)
    }

    /// Sizes, each with its facts, or derived from `known` ones: `size M, N least 1`,
    /// `size M_8 = M / 8`. A size may be declared once more as in a line before: each tensor that is
    /// put into a text brings its sizes.
    pub(super) fn sizes(&mut self, known: &[Name]) -> Result<Vec<Name>, Wrong> {
        self.word()?;
        let mut found = Vec::new();
        loop {
            let name = self.name()?;
            let twice = || Wrong::from(format!("the size {name} is declared twice"));
            if found.contains(&name) {
                return Err(twice());
            }
            let size = if self.eat("=") {
                self.quotient(&name, known)?
            } else {
                name.with_size(self.facts()?)
            };
            match known.iter().find(|other| **other == name) {
                Some(other) if other.size() != size.size() => return Err(twice()),
                Some(_) => {}
                None => found.push(size),
            }
            if !self.eat(",") {
                return Ok(found);
            }
        }
    }

    fn quotient(&mut self, name: &Name, known: &[Name]) -> Result<Name, Wrong> {
        let sum = if self.eat("(") {
            let sum = self.affine()?;
            self.expect(")")?;
            sum
        } else {
            // Elsewhere, `/` after a name is refused.
            let sign = if self.eat("-") { -1 } else { 1 };
            let mut factor = sign;
            if self
                .rest
                .trim_start()
                .starts_with(|c: char| c.is_ascii_digit())
            {
                factor *= self.integer()?;
                self.expect("*")?;
            }
            Affine::iterator(self.name()?).times(factor)
        };
        self.expect("/")?;
        let divisor = self.integer()?;
        let size = |name: &Name| known.iter().find(|size| *size == name).cloned();
        let sum = sum.substitute(&|name| size(name).map(Affine::iterator));
        let quotient = (divisor >= 2)
            .then(|| sum.quotient_of_sizes(divisor))
            .flatten();
        let derived = quotient.as_ref().and_then(Affine::as_iterator);
        derived
            .filter(|derived| *derived == name)
            .cloned()
            .ok_or_else(|| {
                Wrong::from(format!(
                    "`{name}` is not the name of a quotient of declared sizes"
                ))
            })
    }

    fn facts(&mut self) -> Result<Size, Wrong> {
        let mut size = Size::default();
        loop {
            let words = ["least ", "most ", "multiple ", "likely "];
            let fact = words.into_iter().find(|word| self.eat(word));
            match fact.map(str::trim_end) {
                Some("least") => size.least = self.integer()?,
                Some("most") => size.most = self.integer()?,
                Some("multiple") => size.multiple = self.integer()?,
                Some(_) => size.likely = self.integer()?,
                None => break,
            }
        }
        if size.least < 0 || size.most < size.least || size.multiple < 1 {
            return Err(
                "a size needs 0 <= least <= most and a multiple of at least 1"
                    .to_owned()
                    .into(),
            );
        }
        Ok(size.with_likely(size.likely))
    }

    pub(super) fn local(&mut self) -> Result<Tensor, Wrong> {
        self.word()?;
        let mut words = Space::WORDS.iter();
        let word = words.find(|word| self.eat(&format!("{word} ")));
        let space = word.and_then(|word| Space::from_word(word));
        let elem = self.elem_name()?;
        let tensor = self.declaration(elem, &[])?;
        Ok(space.map_or(tensor.clone(), |space| tensor.in_space(space)))
    }

    fn elem_name(&mut self) -> Result<Elem, Wrong> {
        let word = self.word()?;
        Elem::from_name(&word).ok_or_else(|| super::unsupported::elem(&word))
    }

    /// `A[4][5]`, `strided A[4][5]` or `strided(all) A[4][5]`.
    fn stored(&mut self, elem: Elem, sizes: &[Name]) -> Result<Tensor, Wrong> {
        let mut words = [Strides::Rows, Strides::All].into_iter();
        let strides = words.find(|strides| self.eat(&format!("{} ", strides.word())));
        let tensor = self.declaration(elem, sizes)?;
        match strides {
            Some(strides) => Ok(tensor.strided(strides)),
            None => self.entries(tensor, sizes),
        }
    }

    /// The tensor with the facts about its entries, if they come next: `increasing in 0..n`, or
    /// `sorted(ptr) in 0..n`.
    fn entries(&mut self, tensor: Tensor, sizes: &[Name]) -> Result<Tensor, Wrong> {
        let follows = |word: &str, next: &str| self.is_next(&format!("{word} {next}"));
        let is_given = |word: &&&str| ["in ", "sorted("].iter().any(|next| follows(word, next));
        let order = Order::WORDS.iter().find(is_given);
        let order = order.and_then(|word| Order::from_word(word));
        if order.is_some() {
            self.word()?;
        }
        let rows = if self.eat("sorted(") {
            let name = self.name()?;
            self.expect(") ")?;
            Some(name)
        } else {
            None
        };
        if order.is_none() && rows.is_none() && !self.is_next("in ") {
            return Ok(tensor);
        }
        if tensor.elem().is_float() {
            let wrong = format!("`{}` has no integers", tensor.label());
            return Err(Wrong::from(wrong).help("bounds are read from tensors of i32 or i64"));
        }
        self.expect("in ")?;
        let low = self.extent(sizes)?;
        self.expect("..")?;
        let high = self.extent(sizes)?;
        Ok(tensor.with_entries(Entries {
            low,
            high,
            order: order.unwrap_or_default(),
            rows,
        }))
    }

    fn declaration(&mut self, elem: Elem, sizes: &[Name]) -> Result<Tensor, Wrong> {
        let name = self.name()?;
        let (mut extents, mut joined) = (Vec::new(), Vec::new());
        let mut scalar = true;
        while self.eat("[") {
            scalar = false;
            if self.eat("]") {
                break;
            }
            extents.push(self.extent(sizes)?);
            while self.eat("x") {
                joined.push(extents.len() - 1);
                extents.push(self.extent(&[])?);
            }
            self.expect("]")?;
        }
        let tensor = if scalar {
            Tensor::scalar(elem)
        } else {
            Tensor::new(
                Shape::of_dims(extents, elem).map_err(|e| e.to_string())?,
                elem,
            )
        };
        if !joined.is_empty() && tensor.shape().is_sized() {
            let text =
                format!("{name} has sizes, and dimensions that are read as one have numbers");
            return Err(Wrong::from(text));
        }
        let in_order = joined.iter().rev();
        let tensor = in_order.fold(tensor, |tensor, d| tensor.with_joined(*d));
        Ok(tensor.named(name))
    }

    fn extent(&mut self, sizes: &[Name]) -> Result<Affine, Wrong> {
        if sizes.is_empty() || self.is_next("-") {
            return Ok(Affine::constant(self.integer()?));
        }
        let around = self.iterators.replace(sizes.to_vec());
        let extent = self.affine();
        self.iterators = around;
        let size = |name: &Name| sizes.iter().find(|size| *size == name).cloned();
        let extent = extent?.substitute(&|name| size(name).map(Affine::iterator));
        if let Some(name) = extent.iterators().next() {
            return Err(Wrong::from(format!("{name} is not a size")));
        }
        Ok(extent)
    }

    fn name(&mut self) -> Result<Name, Wrong> {
        Ok(Name::new(&self.word()?).map_err(|e| e.to_string())?)
    }

    /// An iterator, possibly a generated one.
    pub(super) fn iterator(&mut self) -> Result<Name, Wrong> {
        let word = self.word()?;
        match word.strip_prefix('_').and_then(|n| n.parse().ok()) {
            Some(number) => Ok(Name::generated(number)),
            None => Ok(Name::new(&word).map_err(|e| e.to_string())?),
        }
    }

    pub(super) fn tensor(&mut self) -> Result<Tensor, Wrong> {
        let name = self.word()?;
        let known = self.tensors.iter().find(|t| t.label() == name);
        match known {
            Some(tensor) if self.is_next("(") => Err(super::unsupported::called(tensor)),
            Some(tensor) => Ok(tensor.clone()),
            None => Err(super::unsupported::word(&name, self.rest)
                .unwrap_or_else(|| self.undeclared(&name))),
        }
    }

    /// The error for a name that no declaration has.
    fn undeclared(&self, name: &str) -> Wrong {
        let wrong = Wrong::from(format!("tensor {name} is not declared")).label("unknown tensor");
        let mut iterators = self.iterators.iter().flatten();
        if iterators.any(|iterator| iterator.as_str() == name) {
            return wrong.help(format!("`index({name})` is the value of the iterator"));
        }
        wrong.suggest(
            closest(name, self.tensors.iter().map(Tensor::label)),
            "declare it above the loops: `f64 x[8]`, or `${x}` for a tensor `x` of the script",
        )
    }

    /// Checks that `name`, which was read last, is the iterator of a loop around.
    fn has_loop(&self, name: &Name) -> Result<(), Wrong> {
        let Some(iterators) = self.iterators.as_ref().filter(|all| !all.contains(name)) else {
            return Ok(());
        };
        let wrong = Wrong::from(format!("`{name}` is not the iterator of a loop around it"));
        Err(wrong.label("unknown iterator").suggest(
            closest(name.as_str(), iterators.iter().map(Name::as_str)),
            "indices and bounds are sums of iterators of the loops around and numbers; a line \
             `size N` declares a size; `${n}` is the number `n` of the script",
        ))
    }

    pub(super) fn affine(&mut self) -> Result<Affine, Wrong> {
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

    fn term(&mut self) -> Result<Affine, Wrong> {
        let is_digit = |c: char| c.is_ascii_digit();
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if !self.rest.trim_start().starts_with(is_part) {
            return Err(self.expected("an iterator or a number"));
        }
        if !self.rest.trim_start().starts_with(is_digit) {
            let iterator = self.iterator()?;
            if let Some(wrong) = super::unsupported::after_iterator(&iterator, self.rest) {
                return Err(wrong);
            }
            self.has_loop(&iterator)?;
            let factor = if self.eat("*") { self.integer()? } else { 1 };
            return Ok(Affine::iterator(iterator).times(factor));
        }
        let number = self.integer()?;
        if self.eat("*") {
            let iterator = self.iterator()?;
            match super::unsupported::after_iterator(&iterator, self.rest) {
                Some(wrong) => Err(wrong),
                None => self
                    .has_loop(&iterator)
                    .map(|()| Affine::iterator(iterator).times(number)),
            }
        } else {
            Ok(Affine::constant(number))
        }
    }

    pub(super) fn head(&mut self) -> Result<Loop, Wrong> {
        let mut mode = Mode::Serial;
        if self.eat("parallel ") {
            mode = mode.with_threads(self.sharing()?);
        }
        if self.eat("vector ") {
            mode = mode.with_lanes(self.count("lanes")?);
        }
        for word in Axis::WORDS {
            if mode == Mode::Serial && self.eat(&format!("{word} ")) {
                mode = Axis::from_word(word).map_or(mode, |axis| Mode::Bound { axis });
            }
        }
        let is_single = mode == Mode::Serial && self.eat("let ");
        if !is_single {
            self.expect("for ")?;
        }
        let name = self.name()?;
        let range = if is_single {
            self.expect("=")?;
            self.single()?
        } else {
            self.expect("in ")?;
            self.range()?
        };
        let hints = self.hints()?;
        Ok(Loop {
            name,
            range,
            mode,
            hints,
            body: Vec::new(),
            lineage: crate::ir::Lineage::default(),
        })
    }

    /// Reads `col[e]`, the only value of an iterator.
    fn single(&mut self) -> Result<Range, Wrong> {
        if !self.is_lookup() {
            return Err(super::unsupported::keyword("let", self.rest));
        }
        let lookup = self.lookup()?;
        let range = Range::of_segment(&Segment::at(lookup.clone()));
        range.ok_or_else(|| unknown_entries(lookup.tensor.label()))
    }

    /// Whether an element of a tensor comes next.
    fn is_lookup(&self) -> bool {
        let rest = self.rest.trim_start();
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        after.starts_with('[') && self.tensors.iter().any(|t| t.label() == word)
    }

    /// Reads `ptr[i + 1]`, or the same with an affine expression added.
    fn lookup(&mut self) -> Result<Lookup, Wrong> {
        let tensor = self.tensor()?;
        let mut index = Vec::new();
        while self.eat("[") {
            index.push(self.affine()?);
            self.expect("]")?;
        }
        if index.len() != tensor.shape().rank() {
            let rank = tensor.shape().rank();
            return Err(Wrong::from(format!(
                "`{}` has {rank} indices",
                tensor.label()
            )));
        }
        let is_less = self.rest.trim_start().starts_with("- ");
        let plus = match is_less || self.eat("+") {
            true => self.affine()?,
            false => Affine::default(),
        };
        Ok(Lookup::new(tensor, index).plus(&plus))
    }

    /// Reads `0..n step 2`, with `max(…)` and `min(…)` for several bounds.
    pub(super) fn range(&mut self) -> Result<Range, Wrong> {
        if self.is_next("..") {
            return Err(self.no_bound("lower"));
        }
        let is_read = self.is_lookup();
        let lower = match is_read {
            true => vec![self.lookup()?.as_index()],
            false => self.bounds("max")?,
        };
        self.expect("..")?;
        if is_read && !self.is_lookup() {
            return Err(self.expected("a bound that is read, such as `ptr[i + 1]`"));
        }
        // An iterator may be called `step`: only a number after it makes it the keyword.
        let after = self.rest.trim_start().strip_prefix("step ");
        let is_step = after.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        if self.rest.trim().is_empty() || is_step {
            return Err(self.no_bound("upper"));
        }
        let upper = self.bounds("min")?;
        let step = if self.eat("step ") {
            self.integer()?
        } else {
            1
        };
        if step < 1 {
            Err(Wrong::from(format!("the step {step} is not positive")).label("at least 1"))
        } else {
            Range::written(lower, upper, step).map_err(|unknown| unknown_entries(&unknown))
        }
    }

    /// The error for a range without its lower or upper bound, which is missing here.
    fn no_bound(&mut self, which: &str) -> Wrong {
        self.at = self.rest.trim_start();
        Wrong::from(format!("the range has no {which} bound"))
            .label("a bound is missing")
            .help("a range has two bounds, such as `0..8`, `i + 1..8` or `0..min(i + 2, 8)`")
    }

    fn sharing(&mut self) -> Result<Sharing, Wrong> {
        let mut sharing = Sharing::default();
        if let Some(number) = self.count("collapse")? {
            let collapse = usize::try_from(number).map_err(|e| e.to_string())?;
            sharing.collapse = collapse;
        }
        for word in Schedule::WORDS {
            let plain = self.eat(&format!("{word} "));
            let chunk = if plain { None } else { self.count(word)? };
            if plain || chunk.is_some() {
                sharing.schedule = Schedule::from_word(word);
                sharing.chunk = chunk;
            }
        }
        sharing.threshold = self.count("from")?;
        sharing.work = self.count("work")?;
        sharing.atomic = self.eat("atomic ");
        Ok(sharing)
    }

    /// Reads `keyword(n) `, with n at least 1, if present.
    fn count(&mut self, keyword: &str) -> Result<Option<i64>, Wrong> {
        if !self.eat(&format!("{keyword}(")) {
            return Ok(None);
        }
        let number = self.integer()?;
        if number < 1 {
            return Err(format!("`{keyword}` takes a positive number, not {number}").into());
        }
        self.expect(") ")?;
        Ok(Some(number))
    }

    fn hints(&mut self) -> Result<Hints, Wrong> {
        let mut hints = Hints::default();
        while self.eat("prefetch(") {
            let tensor = self.name()?;
            self.expect(",")?;
            let distance = self.integer()?;
            if distance < 1 {
                return Err(format!("{distance} iterations ahead is not a later iteration").into());
            }
            let further = if self.eat("by ") { self.integer()? } else { 0 };
            let of = if self.eat("of ") {
                Some(self.name()?)
            } else {
                None
            };
            if further < 0 || further > 0 && of.is_none() {
                return Err(
                    format!("{further} iterations further are not in a loop around").into(),
                );
            }
            self.expect(")")?;
            hints.prefetch.push(Prefetch {
                tensor,
                distance,
                further,
                of,
            });
        }
        while self.eat("stream(") {
            hints.stream.push(self.name()?);
            self.expect(")")?;
        }
        if self.eat("// ") {
            let remark = std::mem::take(&mut self.rest);
            if !Hints::is_remark(remark) {
                return Err(format!("`{remark}` is not a remark").into());
            }
            hints.remark = Some(remark.into());
        }
        Ok(hints)
    }

    fn bounds(&mut self, function: &str) -> Result<Vec<Affine>, Wrong> {
        if !self.eat(&format!("{function}(")) {
            return Ok(vec![self.bound(function)?]);
        }
        let mut bounds = vec![self.bound(function)?];
        while self.eat(",") {
            bounds.push(self.bound(function)?);
        }
        self.expect(")")?;
        Ok(bounds)
    }

    /// Reads an affine bound. An upper one may be an entry that is read.
    fn bound(&mut self, function: &str) -> Result<Affine, Wrong> {
        match function == "min" && self.is_lookup() {
            true => Ok(self.lookup()?.as_index()),
            false => self.affine(),
        }
    }

    /// The indices of a tensor whose name was read last.
    pub(super) fn index(&mut self, tensor: &Tensor) -> Result<Vec<Affine>, Wrong> {
        let (name, mut index) = (self.at, Vec::new());
        while self.eat("[") {
            if self.eat("]") {
                break;
            }
            index.push(self.affine()?);
            if self.is_next(",") {
                self.at = self.rest.trim_start();
                return Err(super::unsupported::comma(tensor));
            }
            self.expect("]")?;
        }
        self.at = name;
        has_rank(tensor, index.len())?;
        Ok(index)
    }

    pub(super) fn fill(&mut self) -> Result<Fill, Wrong> {
        self.expect("fill ")?;
        let target = self.tensor()?;
        let (name, mut region) = (self.at, Vec::new());
        while self.eat("[") {
            if self.eat("]") {
                break;
            }
            let low = self.affine()?;
            self.expect("..")?;
            let extent = match (self.eat("+"), low.as_constant()) {
                (true, _) => self.affine()?,
                (false, Some(_)) => self.affine()?.minus(&low),
                (false, None) => return Err(self.expected("`+` and a number of elements")),
            };
            self.expect("]")?;
            if !extent.is_in_limits() {
                return Err("the region is too large".to_owned().into());
            }
            if extent.as_constant().is_some_and(|extent| extent <= 0) {
                return Err("an empty region".to_owned().into());
            }
            region.push((low, extent));
        }
        self.at = name;
        has_rank(&target, region.len())?;
        self.expect("=")?;
        self.elem = target.elem();
        Ok(Fill {
            target,
            region,
            value: self.number()?,
            origin: None,
        })
    }

    pub(super) fn stmt(&mut self) -> Result<Stmt, Wrong> {
        let target = self.tensor()?;
        let index = self.index(&target)?;
        self.elem = target.elem();
        if let Some(wrong) = super::unsupported::update(self.rest) {
            self.at = self.rest.trim_start();
            return Err(wrong);
        }
        let update = BinaryOp::ALL.into_iter().find(|op| self.eat(op.symbol()));
        if !self.eat("=") {
            let wrong = self.expected("`=`");
            return Err(wrong.help("a statement is an assignment: `x[i] = …`, `x[i] += …`"));
        }
        Ok(Stmt {
            target,
            index,
            update,
            value: self.value(1)?,
            origin: None,
        })
    }
}

/// The error for a bound that is read from a tensor without facts about its entries.
fn unknown_entries(tensor: &str) -> Wrong {
    Wrong::from(format!("nothing is known of the entries of `{tensor}`"))
        .label("a bound is read from it")
        .help(format!(
            "declare which values they have: `i64 {tensor}[8] in 0..9`"
        ))
}

fn has_rank(tensor: &Tensor, given: usize) -> Result<(), Wrong> {
    match tensor.shape().rank() {
        rank if rank == given => Ok(()),
        rank => {
            let count = |count| match count {
                1 => "1 index".to_owned(),
                _ => format!("{count} indices"),
            };
            let name = tensor.label();
            let wrong = Wrong::from(format!("{name} takes {}, not {given}", count(rank)));
            let extents = tensor.shape().extents().iter();
            let extents: String = extents.map(|extent| format!("[{extent}]")).collect();
            Err(wrong.label(count(given)).help(format!(
                "its declaration is `{} {name}{extents}`: an element is `{}`",
                tensor.elem(),
                super::unsupported::element(tensor)
            )))
        }
    }
}
