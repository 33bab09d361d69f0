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
    /// How many tensors were declared or computed.
    named: u64,
    made: Vec<Made>,
    /// The tensors that [`Definitions::operand`] named, by number.
    unbound: Vec<u64>,
    /// The tensors that got another name than their declaration says, by number.
    renamed: Vec<(u64, Name)>,
    /// Virtual tensors that variables hold, the latest last.
    held: Vec<Held>,
    /// The tensors that `init` set, each with the number of assignments before it.
    given: Vec<(Name, usize)>,
}

/// A virtual tensor that a variable holds.
struct Held {
    expression: Expr,
    name: Name,
    /// How many assignments were made before.
    after: usize,
}

struct Made {
    assignment: Expr,
    site: Option<Site>,
}

/// A tensor that the script assigns and nests do not compute.
pub struct LeftOut {
    pub tensor: Tensor,
    /// Where it is assigned, each place once.
    pub sites: Vec<Site>,
    /// How many of its assignments are left out.
    pub times: usize,
}

impl Definitions {
    /// The number of the next tensor.
    pub fn name(&mut self) -> u64 {
        self.named += 1;
        self.named
    }

    /// Notes an assignment whose target has no name yet, and numbers the target. So its place
    /// among all assignments is known even if it gets a name much later.
    pub fn computed(&mut self, assignment: &Expr, site: Option<Site>) -> Expr {
        let number = self.name();
        let assignment = assignment.fill_placeholder_with(&|tensor| tensor.declared_as(number));
        self.made(&assignment, site);
        assignment
    }

    /// The number of the target, if [`Definitions::computed`] noted this assignment, and the
    /// assignment itself once its target has a name.
    pub fn of_result(&self, assignment: &Expr) -> Option<(u64, Option<&Expr>)> {
        let tensor = assignment.tensor()?;
        if tensor.name().is_some() || tensor.declared() == 0 {
            return None;
        }
        let made = self.with_number(tensor.declared())?;
        let is_named = made.assignment.tensor().is_some_and(|t| t.name().is_some());
        Some((tensor.declared(), is_named.then_some(&made.assignment)))
    }

    fn with_number(&self, number: u64) -> Option<&Made> {
        let is_it = |made: &&Made| made.assignment.tensor().map(Tensor::declared) == Some(number);
        self.made.iter().rev().find(is_it)
    }

    /// Gives the target of an assignment that [`Definitions::computed`] noted its name. `site` is
    /// where a variable gives it.
    pub fn bound(&mut self, assignment: &Expr, site: Option<Site>) {
        let number = assignment.tensor().map(Tensor::declared);
        let is_it = |made: &&mut Made| made.assignment.tensor().map(Tensor::declared) == number;
        match self.made.iter_mut().rev().find(is_it) {
            Some(made) => {
                made.assignment = assignment.clone();
                made.site = site.or(made.site.take());
            }
            None => self.made(assignment, site),
        }
    }

    /// The assignment with a name for its target, which an operation reads before a variable names
    /// it: the first of `t`, `t_2`, … that is not in use.
    pub fn operand(&mut self, assignment: &Expr, is_used: &dyn Fn(&Name) -> bool) -> Option<Expr> {
        let number = match self.of_result(assignment) {
            Some((_, Some(named))) => return Some(named.clone()),
            Some((number, None)) => number,
            None => self.name(),
        };
        let name = self.free(&Name::new(OPERAND).ok()?, is_used)?;
        let named = |tensor: &Tensor| tensor.named(name.clone()).declared_as(number);
        let assignment = assignment.fill_placeholder_with(&named);
        self.bound(&assignment, None);
        self.unbound.push(number);
        Some(assignment)
    }

    /// Notes that a variable holds a virtual tensor, which has the name of the variable if it is
    /// stored.
    pub fn held(&mut self, expression: &Expr, name: Name) {
        self.held.retain(|held| held.expression != *expression);
        if self.held.len() == MOST_HELD {
            self.held.remove(0);
        }
        let (expression, after) = (expression.clone(), self.made.len());
        self.held.push(Held {
            expression,
            name,
            after,
        });
    }

    /// The variable that holds a virtual tensor, and a tensor that this one reads and that was
    /// assigned since.
    pub fn outlived(&self, expression: &Expr) -> Option<(&Name, &Tensor)> {
        let mut holders = self.held.iter().rev();
        let held = holders.find(|held| held.expression == *expression)?;
        let since = self.made.get(held.after..)?;
        let mut targets = since.iter().filter_map(|made| made.assignment.tensor());
        let assigned = targets.find(|target| {
            let mut is_read = false;
            expression.for_each_tensor(&mut |tensor| is_read |= is_same(tensor, target));
            is_read
        });
        Some((&held.name, assigned?))
    }

    /// The assignment that stores a virtual tensor. The one that stored it before is taken again,
    /// unless an operand was assigned since. Otherwise it is `assignment`, with the name of the
    /// variable that holds the tensor.
    pub fn stored(
        &mut self,
        expression: &Expr,
        assignment: &Expr,
        is_used: &dyn Fn(&Name) -> bool,
        site: Option<Site>,
    ) -> Option<Expr> {
        let target = |of: &Tensor| {
            assignment.fill_placeholder_with(&|t| match of.name() {
                Some(name) => t.named(name.clone()).declared_as(of.declared()),
                None => t.clone(),
            })
        };
        let mut reads: Vec<&Tensor> = Vec::new();
        expression.for_each_tensor(&mut |tensor| reads.push(tensor));
        let known = self.made.iter().rposition(|made| {
            let tensor = made.assignment.tensor();
            tensor.is_some_and(|t| t.name().is_some() && target(t) == made.assignment)
        });
        if let Some(k) = known {
            let mut since = self.made[k..].iter().skip(1);
            let is_read = |tensor: &Tensor| reads.iter().any(|read| is_same(read, tensor));
            if !since.any(|made| made.assignment.tensor().is_some_and(is_read)) {
                return Some(self.made[k].assignment.clone());
            }
        }
        let is_read = |name: &Name| reads.iter().any(|read| read.name() == Some(name));
        let mut holders = self.held.iter().rev();
        let holder = holders.find(|held| held.expression == *expression);
        let holder = holder.map(|held| held.name.clone());
        let name = match holder {
            Some(own) if !is_read(&own) => own,
            Some(own) => self.free(&own, &|name| is_read(name) || is_used(name))?,
            None => self.free(&Name::new(OPERAND).ok()?, is_used)?,
        };
        let number = self.name();
        let named = |tensor: &Tensor| tensor.named(name.clone()).declared_as(number);
        let assignment = assignment.fill_placeholder_with(&named);
        self.made(&assignment, site);
        Some(assignment)
    }

    /// The first of `name`, `name_2`, … that no assigned tensor has and that is not in use.
    pub fn free(&self, name: &Name, is_used: &dyn Fn(&Name) -> bool) -> Option<Name> {
        let assigned = |name: &Name| {
            let mut targets = self.made.iter().filter_map(|made| made.assignment.tensor());
            targets.any(|tensor| tensor.name() == Some(name))
        };
        let renamed = |name: &Name| self.renamed.iter().any(|(_, known)| known == name);
        let mut names = numbered(name);
        names.find(|name| !assigned(name) && !renamed(name) && !is_used(name))
    }

    /// Gives tensors names of their own if expressions that are used together have several tensors
    /// of one name. The first declaration keeps the name.
    pub fn tell_apart(&mut self, expressions: &[Expr], is_used: &dyn Fn(&Name) -> bool) {
        let mut known: Vec<Tensor> = Vec::new();
        for expression in expressions {
            expression.for_each_tensor(&mut |tensor| {
                if !known.iter().any(|k| is_same(k, tensor)) {
                    known.push(tensor.clone());
                }
            });
        }
        known.sort_by_key(Tensor::declared);
        let before = self.renamed.len();
        for (k, tensor) in known.iter().enumerate() {
            let is_namesake = |other: &Tensor| other.name() == tensor.name();
            let Some(name) = tensor.name().filter(|_| known[..k].iter().any(is_namesake)) else {
                continue;
            };
            if let Some(own) = self.free(name, &|n| n == name || is_used(n)) {
                self.renamed.push((tensor.declared(), own));
            }
        }
        if self.renamed.len() > before {
            self.rename_made();
        }
    }

    /// The assignment, whose target gets another name if an assigned tensor has its name already.
    pub fn with_own_name(&mut self, assignment: &Expr, is_used: &dyn Fn(&Name) -> bool) -> Expr {
        let target = assignment.tensor().cloned();
        let Some((target, name)) = target.and_then(|t| Some((t.clone(), t.name()?.clone()))) else {
            return assignment.clone();
        };
        let mut others = self.made.iter().filter_map(|made| made.assignment.tensor());
        let is_taken = others.any(|t| t.name() == Some(&name) && !is_same(t, &target));
        if let Some(own) = self.free(&name, is_used).filter(|_| is_taken) {
            self.renamed.push((target.declared(), own));
            self.rename_made();
        }
        self.current(assignment)
    }

    fn rename_made(&mut self) {
        let made = std::mem::take(&mut self.made).into_iter();
        let current = made.map(|Made { assignment, site }| {
            let assignment = self.current(&assignment);
            Made { assignment, site }
        });
        self.made = current.collect();
    }

    /// The expression with the names that its tensors have now.
    pub fn current(&self, expression: &Expr) -> Expr {
        if self.renamed.is_empty() {
            return expression.clone();
        }
        expression.map_tensors(&|tensor| {
            let own = self.new_name(tensor)?;
            Some(tensor.named(own.clone()))
        })
    }

    /// The first tensor of a nest that has another name now, with that name.
    pub fn outdated(&self, nest: &Nest) -> Option<(Tensor, Name)> {
        let mut found = None;
        for assignment in nest.definition().iter() {
            assignment.for_each_tensor(&mut |tensor| {
                if let (None, Some(name)) = (&found, self.new_name(tensor)) {
                    found = Some((tensor.clone(), name.clone()));
                }
            });
        }
        found
    }

    /// Whether a tensor has another name than its declaration says.
    pub fn is_renamed(&self, tensor: &Tensor) -> bool {
        let mut renamed = self.renamed.iter();
        renamed.any(|(number, _)| *number == tensor.declared())
    }

    fn new_name(&self, tensor: &Tensor) -> Option<&Name> {
        let mut renamed = self.renamed.iter();
        let (_, name) = renamed.find(|(number, _)| *number == tensor.declared())?;
        (tensor.name() != Some(name)).then_some(name)
    }

    /// The assignments to tensors without a variable that an assignment needs, in order: the nest
    /// of the assignment computes them as well.
    pub fn brought_along(&self, assignment: &Expr) -> Vec<Expr> {
        let mut found: Vec<usize> = Vec::new();
        let mut wanted = needs(assignment);
        while let Some(tensor) = wanted.pop() {
            if !self.unbound.contains(&tensor.declared()) {
                continue;
            }
            let mut of_tensor = self.made.iter().enumerate().rev();
            let is_it = |made: &Made| {
                made.assignment
                    .tensor()
                    .is_some_and(|t| is_same(t, &tensor))
            };
            if let Some((k, made)) = of_tensor.find(|(_, made)| is_it(made))
                && !found.contains(&k)
            {
                found.push(k);
                wanted.extend(needs(&made.assignment));
            }
        }
        found.sort_unstable();
        let found = found.into_iter();
        found.map(|k| self.made[k].assignment.clone()).collect()
    }

    /// Notes an assignment.
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
        self.needed_by(std::slice::from_ref(assignment))
    }

    /// The assignments that compute what several ones assign, in the order of the script.
    /// Assignments that the script did not make come last.
    pub fn needed_by(&self, outputs: &[Expr]) -> Vec<Expr> {
        let place = |output: &Expr| {
            let is_it = |made: &Made| is_same_assignment(&made.assignment, output);
            self.made.iter().rposition(is_it)
        };
        let places: Vec<Option<usize>> = outputs.iter().map(place).collect();
        let mut found: Vec<Expr> = Vec::new();
        let mut wanted: Vec<Tensor> = Vec::new();
        for (output, _) in outputs
            .iter()
            .zip(&places)
            .rev()
            .filter(|(_, p)| p.is_none())
        {
            found.push(output.clone());
            wanted.extend(needs(output));
        }
        let last = if found.is_empty() {
            places.iter().flatten().copied().max().unwrap_or(0)
        } else {
            self.made.len()
        };
        for (k, Made { assignment, .. }) in self.made.iter().enumerate().take(last + 1).rev() {
            let Some(tensor) = assignment.tensor() else {
                continue;
            };
            let is_wanted = wanted.iter().any(|w| is_same(w, tensor));
            let is_output = places.contains(&Some(k));
            if !is_output && (!is_wanted || k < self.start(tensor, last)) {
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

/// The number of virtual tensors whose variables are known.
const MOST_HELD: usize = 256;

/// The name of the first operand that no variable names.
const OPERAND: &str = "t";

/// A name, and that name with the numbers from 2 on.
fn numbered(name: &Name) -> impl Iterator<Item = Name> {
    let own = name.clone();
    std::iter::once(name.clone()).chain((2..).map(move |number| own.derived(number)))
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
            Node::Assign { value, .. } => value.for_each_tensor(&mut |tensor| {
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
pub(super) fn needs(assignment: &Expr) -> Vec<Tensor> {
    let target = assignment.tensor().filter(|_| !assigns_all(assignment));
    let needed = operands(assignment).into_iter().chain(target);
    needed.cloned().collect()
}

/// The first of the tensors in an expression that have the name of another one.
pub fn namesake(expr: &Expr) -> Option<(Tensor, Tensor)> {
    namesakes(std::slice::from_ref(expr))
}

/// The first of the tensors in expressions that have the name of another one.
pub fn namesakes(expressions: &[Expr]) -> Option<(Tensor, Tensor)> {
    let mut known: Vec<Tensor> = Vec::new();
    let mut found = None;
    for expression in expressions {
        expression.for_each_tensor(&mut |tensor| {
            let is_namesake = |k: &&Tensor| k.name() == tensor.name() && !is_same(k, tensor);
            match known.iter().find(is_namesake) {
                Some(other) if found.is_none() => found = Some((other.clone(), tensor.clone())),
                _ => known.push(tensor.clone()),
            }
        });
    }
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
            let own = numbered(name).find(|name| !is_taken(name));
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
