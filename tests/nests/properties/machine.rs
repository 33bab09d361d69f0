//! Executes plans, element by element, as the C does: with threads, lanes and masks.
//!
//! It shares no code with the proof of plans, and tests it. Everything undefined ends it with a
//! [`Fault`]: two threads or lanes that touch one element, accesses outside of memory, stores past the
//! caches that no fence follows. Unset elements, and results of dead lanes, are not
//! numbers. All elements are `f64`.

use std::collections::{HashMap, HashSet};
use teml::codegen::planned::{
    Block, Entry, Fetch, Loop, Mode, Node, PartialVector, Plan, Statement, Trips, VectorPlan,
};
use teml::interp::store::Number;
use teml::ir::{
    Affine, Comparison, Constant, Expr, Fill, Function, Index, Name, Nest, Node as Value, Stmt,
    Tensor, Tree,
};

/// Why the results are not known.
pub type Fault = String;

/// The elements of the tensors that are not local, by name.
pub type Memory = HashMap<Name, Vec<f64>>;

/// The first elements of a tensor: small numbers that differ.
fn initial(tensor: &Tensor) -> Vec<f64> {
    let seed = tensor.label().bytes().map(u64::from).sum::<u64>();
    let element = |k: u64| ((k * 7 + seed) % 11) as f64 + 1.0;
    (0..tensor.shape().elements()).map(element).collect()
}

/// The initial elements of all tensors that nests do not declare themselves.
pub fn inputs(nests: &[Nest]) -> Memory {
    let tensors = nests.iter().flat_map(Nest::tensors);
    let tensors = tensors.filter_map(|t| Some((t.name()?.clone(), initial(&t))));
    tensors.collect()
}

/// The results of the assignments of nests, in order.
///
/// # Errors
/// [`Fault`]
pub fn reference(nests: &[Nest]) -> Result<Memory, Fault> {
    let originals: Vec<Nest> = nests.iter().flat_map(Nest::untransformed).collect();
    let mut memory = inputs(&originals);
    memory.extend(inputs(nests));
    let mut machine = Machine::new(memory, 0);
    for nest in &originals {
        machine.trees(nest.trees())?;
    }
    Ok(machine.results())
}

/// The results of a plan on vectors of so many bytes.
///
/// # Errors
/// [`Fault`]
pub fn results(plan: &Plan, inputs: Memory, bytes: i64) -> Result<Memory, Fault> {
    let mut machine = Machine::new(inputs, bytes);
    for part in &plan.parts {
        machine.sequence(&part.nodes)?;
        machine.meet()?;
    }
    Ok(machine.results())
}

/// A local tensor: its name, its extents and its buffer.
struct Local {
    name: Name,
    extents: Vec<i64>,
    buffer: usize,
}

/// Tasks that may run at the same time, and who touched which element.
struct Crew {
    task: u32,
    /// How many iterations are apart that do not run at the same time.
    lanes: Option<u32>,
    touched: HashMap<(usize, i64), (Option<u32>, Vec<u32>)>,
    /// Whether the threads of a region run it.
    is_team: bool,
}

struct Machine {
    bytes: i64,
    globals: HashMap<Name, usize>,
    buffers: Vec<Vec<f64>>,
    locals: Vec<Local>,
    point: Vec<(Name, i64)>,
    crews: Vec<Crew>,
    /// Whether all threads of the innermost crew execute the current nodes.
    all: bool,
    /// Elements with stores past the caches that are not fenced.
    streamed: HashSet<(usize, i64)>,
    tasks: u32,
}

impl Machine {
    fn new(inputs: Memory, bytes: i64) -> Machine {
        let (names, buffers): (Vec<Name>, Vec<Vec<f64>>) = inputs.into_iter().unzip();
        Machine {
            bytes,
            globals: names.into_iter().zip(0..).collect(),
            buffers,
            locals: Vec::new(),
            point: Vec::new(),
            crews: Vec::new(),
            all: false,
            streamed: HashSet::new(),
            tasks: 0,
        }
    }

    fn results(mut self) -> Memory {
        let globals = std::mem::take(&mut self.globals).into_iter();
        globals
            .map(|(name, k)| (name, std::mem::take(&mut self.buffers[k])))
            .collect()
    }

    /// Threads meet: all stores have to be visible.
    fn meet(&mut self) -> Result<(), Fault> {
        match self.streamed.is_empty() {
            true => Ok(()),
            false => Err("a store past the caches is not fenced".to_owned()),
        }
    }

    fn value(&self, a: &Affine) -> i64 {
        let value = |name: &Name| {
            let known = self.point.iter().rev().find(|(known, _)| known == name);
            known.map(|(_, value)| *value)
        };
        a.evaluate(&value).unwrap_or_else(|| panic!("{a}"))
    }

    /// The buffer of a tensor and the place of an element in it.
    fn place(&self, tensor: &Tensor, index: &[Affine]) -> Result<(usize, i64), Fault> {
        let name = tensor.name().ok_or("no name")?;
        let local = self.locals.iter().rev().find(|local| local.name == *name);
        let (extents, buffer) = match (local, self.globals.get(name)) {
            (Some(local), _) => (local.extents.clone(), local.buffer),
            (None, Some(buffer)) => {
                let extents = tensor.shape().extents().iter();
                (extents.map(|e| *e as i64).collect(), *buffer)
            }
            (None, None) => return Err(format!("{name} is not declared")),
        };
        if extents.len() != index.len() {
            return Err(format!("{name} has other dimensions"));
        }
        let flat = index.iter().zip(&extents);
        let flat = flat.fold(0, |at, (a, extent)| at * extent + self.value(a));
        match (0..self.buffers[buffer].len() as i64).contains(&flat) {
            true => Ok((buffer, flat)),
            false => Err(format!("{name} is left")),
        }
    }

    /// Notes that the current task touches an element.
    fn touch(&mut self, at: (usize, i64), writes: bool) -> Result<(), Fault> {
        for crew in &mut self.crews {
            let (task, lanes) = (crew.task, crew.lanes);
            let meets =
                |other: u32| other != task && lanes.is_none_or(|n| other.abs_diff(task) < n);
            let (writer, readers) = crew.touched.entry(at).or_default();
            if writer.is_some_and(meets) || writes && readers.iter().any(|r| meets(*r)) {
                return Err("two tasks touch one element".to_owned());
            }
            if writes {
                *writer = Some(task);
            } else if !readers.contains(&task) && (lanes.is_some() || readers.len() < 2) {
                readers.push(task);
            }
        }
        Ok(())
    }

    fn read(&mut self, tensor: &Tensor, index: &[Affine]) -> Result<f64, Fault> {
        let (buffer, k) = self.place(tensor, index)?;
        self.touch((buffer, k), false)?;
        Ok(self.buffers[buffer][k as usize])
    }

    fn write(&mut self, (tensor, index): (&Tensor, &[Affine]), value: f64) -> Result<(), Fault> {
        let (buffer, k) = self.place(tensor, index)?;
        self.touch((buffer, k), true)?;
        self.buffers[buffer][k as usize] = value;
        Ok(())
    }

    fn eval(&mut self, e: &Expr) -> Result<f64, Fault> {
        let failed = |error: teml::interp::Fault| error.to_string();
        match e.node() {
            Value::Access { tensor, index } => match index {
                Index::At(index) => self.read(tensor, index),
                _ => self.read(tensor, &[]),
            },
            Value::Constant(constant) => Ok(match constant {
                Constant::F64(x) => *x,
                Constant::F32(x) => f64::from(*x),
                Constant::I32(x) => f64::from(*x),
                Constant::I64(x) => *x as f64,
            }),
            Value::Index(index) => Ok(self.value(index) as f64),
            Value::Binary {
                op, left, right, ..
            } => {
                let (left, right) = (self.eval(left)?, self.eval(right)?);
                left.apply(*op, right).map_err(failed)
            }
            Value::Apply { function, args, .. } => {
                let args: Vec<f64> = args
                    .iter()
                    .map(|a| self.eval(a))
                    .collect::<Result<_, _>>()?;
                match (function, args.as_slice()) {
                    (Function::Select(comparison), [a, b, yes, no]) => {
                        let holds = match comparison {
                            Comparison::Less => a < b,
                            Comparison::LessEqual => a <= b,
                            Comparison::Greater => a > b,
                            Comparison::GreaterEqual => a >= b,
                            Comparison::Equal => a == b,
                            Comparison::NotEqual => a != b,
                        };
                        Ok(if holds { *yes } else { *no })
                    }
                    (Function::Cast(_), [x]) => Ok(*x),
                    (function, [x]) => Ok(f64::call(*function, *x).ok_or("no value")?),
                    _ => Err("no value".to_owned()),
                }
            }
            _ => Err("no value".to_owned()),
        }
    }

    fn execute(&mut self, s: &Stmt) -> Result<(), Fault> {
        let mut value = self.eval(&s.value)?;
        if let Some(op) = s.update {
            let old = self.read(&s.target, &s.index)?;
            value = old.apply(op, value).map_err(|e| e.to_string())?;
        }
        self.write((&s.target, &s.index), value)
    }

    fn fill(&mut self, fill: &Fill) -> Result<(), Fault> {
        let value = self.eval(&Expr::new(Value::Constant(fill.value)))?;
        let region = fill.region.iter();
        let sides: Vec<(i64, i64)> = region
            .map(|(low, extent)| (self.value(low), self.value(extent)))
            .collect();
        let mut points: Vec<Vec<Affine>> = vec![Vec::new()];
        for (low, extent) in sides {
            let side = (low..low + extent).map(Affine::constant);
            let side: Vec<Affine> = side.collect();
            let longer = points.iter().flat_map(|point| {
                let add = |a: &Affine| point.iter().cloned().chain([a.clone()]).collect();
                side.iter().map(add).collect::<Vec<Vec<Affine>>>()
            });
            points = longer.collect();
        }
        for point in points {
            self.write((&fill.target, &point), value)?;
        }
        Ok(())
    }

    /// The trees of a definition, in order.
    fn trees(&mut self, trees: &[Tree]) -> Result<(), Fault> {
        let outside = self.locals.len();
        for tree in trees {
            match tree {
                Tree::Stmt(s) => self.execute(s)?,
                Tree::Fill(fill) => self.fill(fill)?,
                Tree::Local(tensor) => self.declare(tensor, false),
                Tree::Loop(l) => {
                    for value in self.values(&l.range) {
                        self.point.push((l.name.clone(), value));
                        self.trees(&l.body)?;
                        self.point.pop();
                    }
                }
            }
        }
        self.end(outside);
        Ok(())
    }

    fn values(&self, range: &teml::ir::Range) -> Vec<i64> {
        assert!(range.within.is_none());
        let lower = range.lower.iter().map(|a| self.value(a)).max().unwrap();
        let upper = range.upper.iter().map(|a| self.value(a)).min().unwrap();
        (lower..upper).step_by(range.step as usize).collect()
    }

    fn declare(&mut self, tensor: &Tensor, zeros: bool) {
        let unset = if zeros { 0.0 } else { f64::NAN };
        let extents = tensor.shape().extents().iter().map(|e| *e as i64);
        self.buffers
            .push(vec![unset; tensor.shape().elements() as usize]);
        self.locals.push(Local {
            name: tensor.name().unwrap().clone(),
            extents: extents.collect(),
            buffer: self.buffers.len() - 1,
        });
    }

    fn sequence(&mut self, nodes: &[Node]) -> Result<(), Fault> {
        let outside = self.locals.len();
        nodes.iter().try_for_each(|node| self.node(node))?;
        self.end(outside);
        Ok(())
    }

    /// Ends the local tensors from number `outside` on.
    fn end(&mut self, outside: usize) {
        for local in self.locals.drain(outside..) {
            self.buffers[local.buffer] = Vec::new();
        }
    }

    /// An act of one thread. In a region, two threads do it.
    fn once(&mut self, act: &dyn Fn(&mut Machine) -> Result<(), Fault>) -> Result<(), Fault> {
        if self.all {
            self.next_task();
            act(self)?;
            self.next_task();
        }
        act(self)
    }

    fn next_task(&mut self) {
        self.tasks += 1;
        if let Some(crew) = self.crews.last_mut() {
            crew.task = self.tasks;
        }
    }

    fn node(&mut self, node: &Node) -> Result<(), Fault> {
        match node {
            Node::Loop(l) => self.run_loop(l),
            Node::Stmt(s) => self.once(&|m| m.statement(s)),
            Node::Fill(fill) => self.once(&|m| m.fill(fill)),
            Node::Local(local) => {
                self.declare(&local.tensor, local.zeros);
                Ok(())
            }
            Node::Region(region) => {
                self.meet()?;
                self.enter(None, true);
                let all = std::mem::replace(&mut self.all, true);
                self.sequence(&region.body)?;
                self.all = all;
                self.crews.pop();
                self.meet()
            }
            Node::Outlined(outlined) => self.sequence(&outlined.body),
            Node::Copy(block) => self.once(&|m| m.copy(block)),
            Node::Fetch(Fetch::Touch(_) | Fetch::Share(_)) | Node::InOrder | Node::LoadFence => {
                Ok(())
            }
            Node::Fence => {
                self.streamed.clear();
                Ok(())
            }
            Node::Barrier if self.crews.is_empty() => Ok(()),
            Node::Barrier if !self.all => Err("a barrier that not all threads reach".to_owned()),
            Node::Barrier => self.barrier(),
        }
    }

    fn barrier(&mut self) -> Result<(), Fault> {
        self.meet()?;
        if let Some(crew) = self.crews.last_mut() {
            crew.touched.clear();
        }
        Ok(())
    }

    fn enter(&mut self, lanes: Option<u32>, is_team: bool) {
        self.tasks += 1;
        self.crews.push(Crew {
            task: self.tasks,
            lanes,
            touched: HashMap::new(),
            is_team,
        });
    }

    fn statement(&mut self, s: &Statement) -> Result<(), Fault> {
        self.execute(&s.of)?;
        if s.past {
            self.stored_past(&s.of.target, &s.of.index)?;
        }
        Ok(())
    }

    fn stored_past(&mut self, tensor: &Tensor, index: &[Affine]) -> Result<(), Fault> {
        let at = self.place(tensor, index)?;
        self.streamed.insert(at);
        Ok(())
    }

    fn copy(&mut self, block: &Block) -> Result<(), Fault> {
        let size = block.to.0.elem().size() as i64;
        let (to, first) = self.place(&block.to.0, &block.to.1)?;
        let (from, start) = self.place(&block.from.0, &block.from.1)?;
        for k in 0..block.bytes / size {
            let inside = first + k < self.buffers[to].len() as i64;
            if !inside || start + k >= self.buffers[from].len() as i64 {
                return Err("a copy leaves its tensor".to_owned());
            }
            self.touch((from, start + k), false)?;
            self.touch((to, first + k), true)?;
            self.buffers[to][(first + k) as usize] = self.buffers[from][(start + k) as usize];
            self.streamed.insert((to, first + k));
        }
        Ok(())
    }

    fn run_loop(&mut self, l: &Loop) -> Result<(), Fault> {
        let lanes = l.of.lanes().map(|n| n as u32);
        match &l.mode {
            Mode::Vector(plan) => self.once(&|m| m.vectors(l, plan)),
            Mode::Serial | Mode::Rolled | Mode::Unrolled(_) | Mode::Collapsed { simd: false } => {
                self.iterations(l, false)
            }
            Mode::Simd | Mode::Collapsed { simd: true } => {
                self.enter(lanes, false);
                let result = self.iterations(l, true);
                self.crews.pop();
                result
            }
            Mode::Parallel {
                entry: Entry::Call, ..
            } => self.once(&|m| {
                m.meet()?;
                m.enter(None, false);
                let all = std::mem::replace(&mut m.all, false);
                let result = m.band(l, l.of.collapse());
                m.all = all;
                m.crews.pop();
                result?;
                m.meet()
            }),
            Mode::Parallel { entry, .. } => {
                // Without a region, one thread runs it.
                let in_team = self.all && self.crews.last().is_some_and(|crew| crew.is_team);
                let all = std::mem::replace(&mut self.all, false);
                match in_team {
                    true => self.band(l, l.of.collapse())?,
                    false => self.iterations(l, false)?,
                }
                self.all = all;
                match *entry == Entry::Join && in_team {
                    true => self.barrier(),
                    false => Ok(()),
                }
            }
        }
    }

    /// The iterations of a parallel loop and of the loops collapsed with it: each is a task.
    fn band(&mut self, l: &Loop, collapse: usize) -> Result<(), Fault> {
        for value in self.values(&l.of.range) {
            self.point.push((l.of.name.clone(), value));
            match (&l.body[..], collapse) {
                ([Node::Loop(inner)], 2..) => self.band(inner, collapse - 1)?,
                _ => {
                    self.next_task();
                    self.sequence(&l.body)?;
                }
            }
            self.point.pop();
        }
        Ok(())
    }

    fn iterations(&mut self, l: &Loop, are_tasks: bool) -> Result<(), Fault> {
        for value in self.values(&l.of.range) {
            self.point.push((l.of.name.clone(), value));
            if are_tasks {
                self.next_task();
            }
            self.sequence(&l.body)?;
            self.point.pop();
        }
        Ok(())
    }

    /// The vectors of a loop, as `c/vectors.rs` prints them.
    fn vectors(&mut self, l: &Loop, plan: &VectorPlan) -> Result<(), Fault> {
        let size = plan.elem.size() as i64;
        let lanes = plan.lanes.unwrap_or(self.bytes / size);
        let range = &l.of.range;
        match &plan.trips {
            Trips::Constant { count, part } => {
                let whole = count - count % plan.lanes.unwrap_or(64 / size);
                let mut at = 0;
                while at < whole {
                    self.vector(l, (at, lanes), None)?;
                    at += lanes;
                }
                match part {
                    Some(part) => {
                        while at < *count {
                            self.vector(l, (at, lanes), Some((part, *count)))?;
                            at += lanes;
                        }
                    }
                    None => self.shorter(l, (at, lanes), *count)?,
                }
                Ok(())
            }
            Trips::Masked { most, part } => {
                let end = range.upper.iter().map(|a| self.value(a)).min().unwrap();
                let mut at = 0;
                while at < *most {
                    self.vector(l, (at, lanes), Some((part, end)))?;
                    at += lanes;
                }
                Ok(())
            }
            Trips::Block { .. } => self.iterations(l, false),
            Trips::Any { align } => {
                let lower = range.lower.iter().map(|a| self.value(a)).max().unwrap();
                let upper = range.upper.iter().map(|a| self.value(a)).min().unwrap();
                let mut at = lower;
                // Where it is aligned is not known.
                if align.is_some() && at < upper {
                    self.vector(l, (at, 1), None)?;
                    at += 1;
                }
                while at + lanes <= upper {
                    self.vector(l, (at, lanes), None)?;
                    at += lanes;
                }
                self.shorter(l, (at, lanes), upper)
            }
        }
    }

    fn shorter(&mut self, l: &Loop, from: (i64, i64), end: i64) -> Result<(), Fault> {
        let (mut at, mut lanes) = from;
        while at < end {
            while lanes > end - at {
                lanes /= 2;
            }
            self.vector(l, (at, lanes), None)?;
            at += lanes;
        }
        Ok(())
    }

    /// One vector. With an end, lanes from there on are dead.
    fn vector(
        &mut self,
        l: &Loop,
        (at, lanes): (i64, i64),
        part: Option<(&PartialVector, i64)>,
    ) -> Result<(), Fault> {
        let name = &l.of.name;
        let moves = |index: &[Affine]| index.iter().any(|a| a.mentions(name));
        let are_neighbors = |index: &[Affine]| {
            let split = index.split_last();
            split.is_some_and(|(last, outer)| !moves(outer) && last.coefficient(name) == 1)
        };
        let lane = |index: &[Affine], k: i64| -> Vec<Affine> {
            let value = |n: &Name| (n == name).then(|| Affine::constant(at + k));
            index.iter().map(|a| a.substitute(&value)).collect()
        };
        for node in &l.body {
            let Node::Stmt(statement) = node else {
                return Err("something else than statements in vectors".to_owned());
            };
            let s = &*statement.of;
            let known = |accesses: &[(Tensor, Vec<Affine>)], tensor: &Tensor, index: &[Affine]| {
                accesses.iter().any(|(t, i)| t == tensor && i == index)
            };
            let is_row = are_neighbors(&s.index)
                && part.is_some_and(|(part, _)| known(&part.writes, &s.target, &s.index));
            let mut values: Vec<(Vec<Affine>, f64)> = Vec::new();
            for k in 0..lanes {
                let is_live = part.is_none_or(|(_, end)| at + k < end);
                // The reads of a dead lane. The others are under masks, or apart in memory.
                let dead = |tensor: &Tensor, index: &[Affine]| {
                    let whole = || part.is_none_or(|(part, _)| known(&part.reads, tensor, index));
                    let reads = !moves(index) || are_neighbors(index) && whole();
                    reads.then(|| lane(index, k))
                };
                if !moves(&s.index) {
                    return Err("all lanes write one element".to_owned());
                }
                let target = lane(&s.index, k);
                self.point.push((name.clone(), at + k));
                if is_live {
                    let value = self.eval(&s.value)?;
                    let masked = part.is_some() && !is_row && are_neighbors(&s.index);
                    let value = match s.update.filter(|_| !masked) {
                        None => value,
                        Some(op) => {
                            let old = self.read(&s.target, &target)?;
                            old.apply(op, value).map_err(|e| e.to_string())?
                        }
                    };
                    values.push((target, value));
                } else {
                    self.reads_inside(&s.value, dead)?;
                    if is_row {
                        let (buffer, at) = self.place(&s.target, &target)?;
                        if self.globals.values().any(|own| *own == buffer) {
                            return Err("a dead lane writes a result".to_owned());
                        }
                        self.buffers[buffer][at as usize] = f64::NAN;
                    }
                }
                self.point.pop();
            }
            for (target, value) in values {
                self.write((&s.target, &target), value)?;
                if statement.past {
                    self.stored_past(&s.target, &target)?;
                }
            }
        }
        Ok(())
    }

    /// Whether a dead lane reads only elements.
    fn reads_inside<F>(&mut self, e: &Expr, at: F) -> Result<(), Fault>
    where
        F: Fn(&Tensor, &[Affine]) -> Option<Vec<Affine>>,
    {
        let mut result = Ok(());
        e.for_each_access(&mut |tensor, index| {
            let index = match index {
                Index::At(index) => at(tensor, index),
                _ => Some(Vec::new()),
            };
            if let (Ok(()), Some(index)) = (&result, index) {
                result = self.place(tensor, &index).map(|_| ());
            }
        });
        result
    }
}
