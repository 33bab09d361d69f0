//! The assignments of a script so far. They tell values that the script computes from inputs.
//!
//! `build(y)` is the nest of one assignment, whose operands are inputs, also where the script
//! assigned them. Whoever runs such a nest is told ([`Definitions::left_out`]), and `compare(y)`
//! takes all assignments that `y` needs ([`Definitions::needed`]).

use crate::ir::{Expr, Name, Nest, Node, Site, Tensor};
use crate::legality::assigns_all;

/// The assignments of a script, in the order in which they were made.
#[derive(Default)]
pub struct Definitions {
    /// How many tensors got a name.
    named: u64,
    made: Vec<Made>,
    /// The tensors that `init` set, each with the number of assignments before it.
    given: Vec<(Name, usize)>,
}

struct Made {
    assignment: Expr,
    site: Option<Site>,
}

/// A tensor that the script assigns and nests do not compute.
pub struct LeftOut {
    /// The tensor.
    pub tensor: Tensor,
    /// Where it is assigned, each place once.
    pub sites: Vec<Site>,
    /// How many of its assignments are left out.
    pub times: usize,
}

impl Definitions {
    /// The number of the next tensor that gets a name.
    pub fn name(&mut self) -> u64 {
        self.named += 1;
        self.named
    }

    /// Notes an assignment to a tensor that has a name.
    pub fn made(&mut self, assignment: &Expr, site: Option<Site>) {
        if assignment.is_assignment() {
            let assignment = assignment.clone();
            self.made.push(Made { assignment, site });
        }
    }

    /// Notes that `init` set a tensor: its earlier assignments no longer count.
    pub fn given(&mut self, name: &Name) {
        self.given.retain(|(known, _)| known != name);
        self.given.push((name.clone(), self.made.len()));
    }

    /// The assignments of a tensor before the `end`th of all, with their numbers.
    fn of<'a>(
        &'a self,
        tensor: &'a Tensor,
        end: usize,
    ) -> impl Iterator<Item = (usize, &'a Made)> + 'a {
        let made = self.made[..end].iter().enumerate();
        let made = made.skip(self.start(tensor, end));
        made.filter(|(_, made)| made.assignment.tensor().is_some_and(|t| is_same(t, tensor)))
    }

    /// The first of the assignments before the `end`th that count for a tensor.
    fn start(&self, tensor: &Tensor, end: usize) -> usize {
        let is_it = |(name, at): &&(Name, usize)| tensor.name() == Some(name) && *at <= end;
        self.given.iter().find(is_it).map_or(0, |(_, at)| *at)
    }

    /// Whether an assignment was made.
    pub fn has(&self, assignment: &Expr) -> bool {
        let mut made = self.made.iter();
        made.any(|made| is_same_assignment(&made.assignment, assignment))
    }

    /// How many assignments were made.
    pub fn count(&self) -> usize {
        self.made.len()
    }

    /// Forgets all but the first ones.
    pub fn truncate(&mut self, len: usize) {
        self.made.truncate(len);
        self.given.retain(|(_, at)| *at <= len);
    }

    /// The assignments that compute what `assignment` assigns, it being the last one, back to
    /// tensors that nothing assigns. Tensors of one name have names of their own.
    pub fn needed(&self, assignment: &Expr) -> Vec<Expr> {
        let mut found = vec![assignment.clone()];
        let is_it = |made: &Made| is_same_assignment(&made.assignment, assignment);
        let known = self.made.iter().rposition(is_it);
        let last = known.unwrap_or(self.made.len());
        let mut wanted = needs(assignment);
        for (k, Made { assignment, .. }) in self.made[..last].iter().enumerate().rev() {
            let Some(tensor) = assignment.tensor() else {
                continue;
            };
            let is_wanted = wanted.iter().any(|w| is_same(w, tensor));
            if !is_wanted || k < self.start(tensor, last) {
                continue;
            }
            wanted.retain(|w| !is_same(w, tensor));
            wanted.extend(needs(assignment));
            found.push(assignment.clone());
        }
        found.reverse();
        apart(&found)
    }

    /// The tensors that nests read before they assign them although the script does, in the order
    /// of the script.
    pub fn left_out(&self, nests: &[Nest]) -> Vec<LeftOut> {
        let computed: Vec<&Expr> = nests.iter().flat_map(|n| n.definition().iter()).collect();
        let mut is_computed = vec![false; self.made.len()];
        let mut places: Vec<Option<usize>> = vec![None; computed.len()];
        for (assignment, place) in computed.iter().zip(&mut places).rev() {
            let found = self.made.iter().enumerate().rev().find(|(k, made)| {
                let is_partition = matches!(made.assignment.node(), Node::Pieces { .. });
                match (is_partition, made.assignment.tensor(), assignment.tensor()) {
                    (true, Some(tensor), Some(own)) => is_same(tensor, own),
                    _ => !is_computed[*k] && is_same_assignment(&made.assignment, assignment),
                }
            });
            if let Some((k, _)) = found {
                is_computed[k] = true;
                *place = Some(k);
            }
        }
        let mut left_out: Vec<(usize, LeftOut)> = Vec::new();
        // A text is its own definition of all tensors that it assigns.
        let is_text = |nest: &&Nest| nest.originals().iter().any(|part| part.is_program);
        let of_texts = nests
            .iter()
            .filter(is_text)
            .flat_map(|n| n.definition().iter());
        let mut known: Vec<&Tensor> = of_texts.filter_map(Expr::tensor).collect();
        for (assignment, place) in computed.iter().zip(places) {
            for tensor in operands(assignment) {
                if known.iter().any(|k| is_same(k, tensor)) {
                    continue;
                }
                known.push(tensor);
                let end = place.unwrap_or(self.made.len());
                let missing = self.of(tensor, end).filter(|(k, _)| !is_computed[*k]);
                let missing: Vec<(usize, &Made)> = missing.collect();
                if let Some((first, _)) = missing.first() {
                    let mut sites: Vec<Site> = Vec::new();
                    for site in missing.iter().filter_map(|(_, made)| made.site.as_ref()) {
                        if !sites
                            .iter()
                            .any(|s| (&s.source, s.line) == (&site.source, site.line))
                        {
                            sites.push(site.clone());
                        }
                    }
                    let (tensor, times) = (tensor.clone(), missing.len());
                    left_out.push((
                        *first,
                        LeftOut {
                            tensor,
                            sites,
                            times,
                        },
                    ));
                }
            }
            known.extend(assignment.tensor());
        }
        left_out.sort_by_key(|(first, _)| *first);
        left_out.into_iter().map(|(_, found)| found).collect()
    }
}

/// Whether two tensors are one: of one name, and of one declaration where that is known of both.
pub fn is_same(a: &Tensor, b: &Tensor) -> bool {
    let (of_a, of_b) = (a.declared(), b.declared());
    a.name() == b.name() && (of_a == of_b || of_a == 0 || of_b == 0)
}

fn is_same_assignment(a: &Expr, b: &Expr) -> bool {
    match (a.tensor(), b.tensor()) {
        (Some(of_a), Some(of_b)) => is_same(of_a, of_b) && a == b,
        _ => false,
    }
}

/// The tensors in the value of an assignment.
fn operands(assignment: &Expr) -> Vec<&Tensor> {
    let mut found: Vec<&Tensor> = Vec::new();
    let mut open: Vec<&Expr> = vec![assignment];
    while let Some(expr) = open.pop() {
        match expr.node() {
            Node::Pieces { pieces, otherwise } => open.extend(pieces.iter().chain(otherwise)),
            Node::Assign { value, .. } => value.for_each_access(&mut |tensor, _| {
                if !found.iter().any(|known| is_same(known, tensor)) {
                    found.push(tensor);
                }
            }),
            _ => {}
        }
    }
    found
}

/// The tensors whose contents an assignment needs: its operands, and its target, if it keeps some
/// of that.
fn needs(assignment: &Expr) -> Vec<Tensor> {
    let target = assignment.tensor().filter(|_| !assigns_all(assignment));
    let needed = operands(assignment).into_iter().chain(target);
    needed.cloned().collect()
}

/// The first of the tensors in an expression that have the name of another one.
pub fn namesake(expr: &Expr) -> Option<(Tensor, Tensor)> {
    let mut known: Vec<Tensor> = Vec::new();
    let mut found = None;
    expr.for_each_access(&mut |tensor, _| {
        let namesake = known
            .iter()
            .find(|k| k.name() == tensor.name() && !is_same(k, tensor));
        match namesake {
            Some(other) if found.is_none() => found = Some((other.clone(), tensor.clone())),
            _ => known.push(tensor.clone()),
        }
    });
    found
}

/// The assignments, with a unique name for each tensor. The first tensor of a name keeps it.
fn apart(assignments: &[Expr]) -> Vec<Expr> {
    let mut known: Vec<(Tensor, Name)> = Vec::new();
    for assignment in assignments {
        let tensors = operands(assignment).into_iter().chain(assignment.tensor());
        for tensor in tensors {
            if known.iter().any(|(k, _)| is_same(k, tensor)) {
                continue;
            }
            let Some(name) = tensor.name() else { continue };
            let is_taken = |name: &Name| known.iter().any(|(_, taken)| taken == name);
            let numbered = (2..).filter_map(|k| Name::new(&format!("{name}_{k}")).ok());
            let mut names = std::iter::once(name.clone()).chain(numbered);
            let own = names.find(|name| !is_taken(name));
            known.extend(own.map(|own| (tensor.clone(), own)));
        }
    }
    let renamed = |tensor: &Tensor| {
        let (_, own) = known.iter().find(|(k, _)| is_same(k, tensor))?;
        (tensor.name() != Some(own)).then(|| tensor.named(own.clone()))
    };
    let all = assignments.iter();
    all.map(|assignment| assignment.map_tensors(&renamed))
        .collect()
}
