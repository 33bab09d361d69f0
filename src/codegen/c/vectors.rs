//! Prints loops with explicit vectors.

use super::lanes::{End, Vectors, Width};
use super::printer::{Printer, origin};
use super::value::copied;
use crate::ir::{Name, Stmt};
use crate::kernel::Header;
use crate::plan::lanes::{of_entry, widest};
use crate::plan::tree::{Loop, Node, PartialVector, Statement, Trips, VectorPlan};
use std::mem::{replace, take};
use std::sync::Arc;

/// The bytes of the smallest vector register: C for wider registers is also compiled for these.
const SMALLEST: i64 = 16;

/// The most consecutive vectors that are unrolled.
const MAX_UNROLLED_VECTORS: i64 = 8;

/// The variable for the end of a loop. Scripts cannot use this name, so it hides nothing.
const END: &str = "teml_end";

/// The pieces of a vector loop's `for`.
struct Head<'a> {
    name: &'a Name,
    /// The elements of the widest vectors.
    block: i64,
    /// The elements of a vector of the target machine, as C.
    lanes: String,
    origin: String,
}

impl Printer<'_> {
    /// Prints a loop with vectors.
    pub(super) fn vector_loop(&mut self, l: &Loop, plan: &VectorPlan) {
        self.values
            .headers
            .extend([Header::Integers, Header::Vectors]);
        let (elem, widest) = (plan.elem, widest(self.target));
        let mut vectors = Vectors {
            iterator: l.of.name.clone(),
            elem,
            width: plan.lanes.map_or(Width::Natural, Width::Fixed),
            at: None,
            end: None,
            shorter: false,
            part: None,
            multiple: 1,
            widest,
        };
        let head = Head {
            name: &l.of.name,
            // A natural width divides the largest one.
            block: plan.lanes.unwrap_or(widest / elem.size() as i64),
            lanes: match plan.lanes {
                Some(lanes) => lanes.to_string(),
                None => format!("TEML_{}XN", elem.to_string().to_uppercase()),
            },
            origin: origin(&l.of),
        };
        match &plan.trips {
            Trips::Constant { count, part } => {
                self.constant_trips(l, &head, &mut vectors, *count, part.as_ref());
            }
            Trips::Masked { most, part } => {
                vectors.part = Some(part.clone());
                self.masked_trips(l, &head, &mut vectors, *most);
            }
            Trips::Block { lanes, rows } => self.block_trips(l, &head, &mut vectors, *lanes, rows),
            Trips::Any { align } => self.any_trips(l, &head, &mut vectors, align.as_deref()),
        }
    }

    /// Whole vectors, and then the remainder: one partial vector, or several shorter ones.
    fn constant_trips(
        &mut self,
        l: &Loop,
        head: &Head<'_>,
        vectors: &mut Vectors,
        trips: i64,
        part: Option<&PartialVector>,
    ) {
        let Head {
            name,
            block,
            lanes,
            origin,
        } = head;
        let whole = trips - trips % block;
        if whole > 0 {
            if whole / block <= MAX_UNROLLED_VECTORS {
                self.unroll(whole / block);
            }
            vectors.multiple = *block;
            let head =
                format!("for (int64_t {name} = 0; {name} < {whole}; {name} += {lanes}) {{{origin}");
            self.block(&head, l, Some(vectors));
        }
        if let Some(part) = part {
            let rest = part.rest;
            self.values.headers.insert(Header::Parts);
            let narrowest = SMALLEST / vectors.elem.size() as i64;
            self.unroll((rest + narrowest - 1) / narrowest);
            vectors.part = Some(part.clone());
            vectors.end = Some(End::At(trips));
            let head =
                format!("for (int64_t {name} = {whole}; {name} < {trips}; {name} += {lanes}) {{");
            return self.block(&head, l, Some(vectors));
        }
        let (mut done, mut lanes) = (whole, block / 2);
        vectors.shorter = true;
        while done < trips {
            if lanes <= trips - done {
                vectors.at = Some(done);
                vectors.width = Width::Fixed(lanes);
                self.lanes(l, Some(vectors));
                done += lanes;
            } else {
                lanes /= 2;
            }
        }
    }

    /// All vectors. Each may have dead lanes.
    fn masked_trips(&mut self, l: &Loop, head: &Head<'_>, vectors: &mut Vectors, most: i64) {
        let Head {
            name,
            lanes,
            origin,
            ..
        } = head;
        let end = self.bound("min", &l.of.range.upper);
        self.line("{");
        self.depth += 1;
        let before = take(&mut self.text);
        vectors.end = Some(End::Before(END));
        vectors.multiple = head.block;
        let narrowest = SMALLEST / vectors.elem.size() as i64;
        self.unroll(most / narrowest);
        let head =
            format!("for (int64_t {name} = 0; {name} < {most}; {name} += {lanes}) {{{origin}");
        self.block(&head, l, Some(vectors));
        let block = replace(&mut self.text, before);
        // Whole rows have no end.
        if block.contains(END) {
            self.values.headers.insert(Header::Parts);
            self.line(&format!("const int64_t {END} = {end};"));
        }
        self.text.push_str(&block);
        self.depth -= 1;
        self.line("}");
    }

    /// One vector if all lanes run, and otherwise one lane after the other.
    fn block_trips(
        &mut self,
        l: &Loop,
        head: &Head<'_>,
        vectors: &mut Vectors,
        lanes: i64,
        rows: &[Name],
    ) {
        let Head { name, origin, .. } = head;
        let Some(segment) = &l.of.range.within else {
            return;
        };
        let end = self.read(&segment.upper);
        self.line("{");
        self.depth += 1;
        self.line(&format!("const int64_t {END} = {end};{origin}"));
        vectors.width = Width::Fixed(lanes);
        self.line(&format!("if ({END} >= {lanes}) {{"));
        self.depth += 1;
        vectors.at = Some(0);
        self.values.vectors = Some(vectors.clone());
        self.nodes(&with_entries(&l.body));
        self.values.vectors = None;
        self.depth -= 1;
        self.line("} else {");
        self.depth += 1;
        // Compilers keep a vector in registers if nothing accesses parts of it in memory.
        let copies: Vec<(String, String)> = rows
            .iter()
            .map(|row| (copied(row), vectors.of(&format!("{row}[0]"), vectors.elem)))
            .collect();
        for (copy, row) in &copies {
            self.line(&format!(
                "teml_{} {copy} = {row};",
                vectors.name_of(vectors.elem)
            ));
        }
        self.values.one_by_one = Some((l.of.name.clone(), rows.to_vec()));
        let fewer = lanes - 1;
        self.unroll(fewer);
        self.line(&format!(
            "for (int64_t {name} = 0; {name} < {fewer}; {name}++) {{"
        ));
        self.depth += 1;
        self.block(&format!("if ({name} < {END}) {{"), l, None);
        self.values.one_by_one = None;
        self.depth -= 1;
        self.line("}");
        for (copy, row) in &copies {
            self.line(&format!("{row} = {copy};"));
        }
        self.depth -= 1;
        self.line("}");
        self.depth -= 1;
        self.line("}");
    }

    /// Whole vectors, and then shorter ones while enough elements remain.
    fn any_trips(
        &mut self,
        l: &Loop,
        head: &Head<'_>,
        vectors: &mut Vectors,
        align: Option<&Stmt>,
    ) {
        let Head {
            name,
            block,
            lanes,
            origin,
        } = head;
        let range = &l.of.range;
        let lower = self.bound("max", &range.lower);
        let upper = self.bound("min", &range.upper);
        self.line("{");
        self.depth += 1;
        self.line(&format!("int64_t {name} = {lower};{origin}"));
        let upper = match range.upper.len() {
            1 => upper,
            _ => {
                self.line(&format!("const int64_t {END} = {upper};"));
                END.to_owned()
            }
        };
        if let Some(s) = align {
            self.values.vectors = Some(vectors.clone());
            let target = self.values.access(&s.target, &s.index);
            let head = format!("for (; {name} < {upper} && !TEML_ALIGNED({target}); {name}++) {{");
            self.block(&head, l, None);
        }
        let head = format!("for (; {name} + {lanes} <= {upper}; {name} += {lanes}) {{");
        self.block(&head, l, Some(vectors));
        let mut lanes = block / 2;
        vectors.shorter = true;
        while lanes > 1 {
            vectors.width = Width::Fixed(lanes);
            let head = format!("for (; {name} + {lanes} <= {upper}; {name} += {lanes}) {{");
            self.block(&head, l, Some(vectors));
            lanes /= 2;
        }
        self.block(&format!("if ({name} < {upper}) {{"), l, None);
        self.depth -= 1;
        self.line("}");
    }

    /// The statements of a loop, after its `for`.
    fn block(&mut self, head: &str, l: &Loop, vectors: Option<&Vectors>) {
        self.line(head);
        self.depth += 1;
        self.lanes(l, vectors);
        self.depth -= 1;
        self.line("}");
    }

    /// The statements of a loop, as vectors or element by element.
    fn lanes(&mut self, l: &Loop, vectors: Option<&Vectors>) {
        self.values.vectors = vectors.cloned();
        self.nodes(&l.body);
        self.values.vectors = None;
    }

    /// The value of a statement, loaded here if a register copy serves several statements.
    pub(super) fn held(&mut self, s: &Statement) -> String {
        let value = self.values.value(&s.of.value, 0);
        match &self.values.vectors {
            Some(v) if v.width == Width::Natural && s.held && v.has(s.of.target.elem()) => {
                self.values.headers.insert(Header::Registers);
                format!("teml_{}_held({value})", v.name_of(s.of.target.elem()))
            }
            _ => value,
        }
    }
}

/// The statements among nodes, with entries that are read in place of their iterators.
fn with_entries(nodes: &[Node]) -> Vec<Node> {
    let mut found = Vec::new();
    for node in nodes {
        match node {
            Node::Loop(l) => {
                let entry = of_entry(&l.of);
                let at = |name: &Name| entry.clone().filter(|_| *name == l.of.name);
                for inside in with_entries(&l.body) {
                    found.push(match inside {
                        Node::Stmt(s) => Node::Stmt(Statement {
                            of: Arc::new(s.of.substitute(&at)),
                            ..s
                        }),
                        other => other,
                    });
                }
            }
            other => found.push(other.clone()),
        }
    }
    found
}
