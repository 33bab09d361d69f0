//! Plans that passes could have made by mistake, one change each.

use std::sync::Arc;
use teml::codegen::planned::{
    Block, Entry, Loop, Mode, Node, Part, PartialVector, Plan, Statement, Trips, VectorPlan,
};
use teml::ir::{Affine, Expr, Index, Node as Value, Range, Stmt, Tensor};

/// A changed plan, and what changed.
pub struct Mutant {
    pub change: String,
    pub plan: Plan,
}

/// All mutants of a plan.
pub fn mutants(plan: &Plan) -> Vec<Mutant> {
    let mut found = Vec::new();
    for (k, part) in plan.parts.iter().enumerate() {
        for (change, nodes) in of_sequence(&part.nodes) {
            let mut parts = plan.parts.clone();
            parts[k] = Part {
                nodes,
                ..part.clone()
            };
            found.push(Mutant {
                change,
                plan: Plan { parts },
            });
        }
    }
    found
}

type Changes<T> = Vec<(String, T)>;

/// The sequences that differ from this one by one change.
fn of_sequence(nodes: &[Node]) -> Changes<Vec<Node>> {
    let mut found = Vec::new();
    let with = |k: usize, new: &[Node]| -> Vec<Node> {
        let (before, after) = (nodes[..k].iter(), nodes[k + 1..].iter());
        before.chain(new).chain(after).cloned().collect()
    };
    for (k, node) in nodes.iter().enumerate() {
        let means = !matches!(node, Node::Fetch(_) | Node::InOrder | Node::LoadFence);
        if means {
            found.push((format!("without {}", kind(node)), with(k, &[])));
        }
        if let (true, Some(next)) = (means, nodes.get(k + 1)) {
            let mut swapped = nodes.to_vec();
            swapped.swap(k, k + 1);
            let what = format!("{} behind {}", kind(node), kind(next));
            found.push((what, swapped));
        }
        if let Node::Stmt(s) = node
            && s.of.update.is_some()
        {
            found.push((
                "a statement twice".to_owned(),
                with(k, &[node.clone(), node.clone()]),
            ));
        }
        if let Node::Region(region) = node {
            found.push(("no region".to_owned(), with(k, &region.body)));
        }
        if let Node::Loop(l) = node
            && let Some(Node::Local(_)) = l.body.first()
        {
            let inner = Node::Loop(Arc::new(Loop {
                body: l.body[1..].to_vec(),
                ..(**l).clone()
            }));
            let moved = with(k, &[l.body[0].clone(), inner]);
            found.push(("a local tensor outside of its loop".to_owned(), moved));
        }
        let own = of_node(node).into_iter();
        found.extend(own.map(|(change, new)| (change, with(k, &[new]))));
    }
    found
}

fn kind(node: &Node) -> &'static str {
    match node {
        Node::Loop(_) => "a loop",
        Node::Stmt(_) => "a statement",
        Node::Fill(_) => "a fill",
        Node::Local(_) => "a local tensor",
        Node::Region(_) => "a region",
        Node::Outlined(_) => "a function",
        Node::Copy(_) => "a copy",
        Node::Fetch(_) => "a fetch",
        Node::Fence => "a fence",
        Node::Barrier => "a barrier",
        Node::InOrder | Node::LoadFence => "an order",
    }
}

fn of_node(node: &Node) -> Changes<Node> {
    match node {
        Node::Loop(l) => {
            let inside = of_sequence(&l.body).into_iter().map(|(change, body)| {
                let l = Loop {
                    body,
                    ..(**l).clone()
                };
                (change, l)
            });
            let all = inside.chain(of_loop(l));
            all.map(|(change, l)| (change, Node::Loop(Arc::new(l))))
                .collect()
        }
        Node::Stmt(s) => of_statement(s)
            .into_iter()
            .map(|(change, s)| (change, Node::Stmt(s)))
            .collect(),
        Node::Fill(fill) => {
            let one = |d: usize| {
                let mut less = (**fill).clone();
                let (_, extent) = &mut less.region[d];
                *extent = extent.plus_constant(-1);
                ("a shorter fill".to_owned(), Node::Fill(Arc::new(less)))
            };
            (0..fill.region.len()).map(one).collect()
        }
        Node::Local(local) => {
            let Some(last) = local.tensor.shape().extents().last().filter(|e| **e > 1) else {
                return Vec::new();
            };
            let shorter = local.tensor.with_rows(last - 1).into_iter().map(|tensor| {
                let mut shorter = local.clone();
                shorter.tensor = tensor;
                ("a shorter local tensor".to_owned(), Node::Local(shorter))
            });
            shorter.collect()
        }
        Node::Region(region) => of_sequence(&region.body)
            .into_iter()
            .map(|(change, body)| {
                let mut new = region.clone();
                new.body = body;
                (change, Node::Region(new))
            })
            .collect(),
        Node::Outlined(outlined) => of_sequence(&outlined.body)
            .into_iter()
            .map(|(change, body)| {
                let mut new = outlined.clone();
                new.body = body;
                (change, Node::Outlined(new))
            })
            .collect(),
        Node::Copy(block) => {
            let size = block.to.0.elem().size() as i64;
            let lengths = [-size, size, block.bytes].map(|more| Block {
                bytes: block.bytes + more,
                ..block.clone()
            });
            let starts = [1, -1].map(|by| Block {
                from: (block.from.0.clone(), moved(&block.from.1, by)),
                ..block.clone()
            });
            let lengths = lengths.map(|b| ("a copy of another length".to_owned(), Node::Copy(b)));
            let starts = starts.map(|b| ("a copy of other elements".to_owned(), Node::Copy(b)));
            lengths.into_iter().chain(starts).collect()
        }
        Node::Fetch(_) | Node::Fence | Node::Barrier | Node::InOrder | Node::LoadFence => {
            Vec::new()
        }
    }
}

/// An index whose last coordinate is so much greater.
fn moved(index: &[Affine], by: i64) -> Vec<Affine> {
    let mut index = index.to_vec();
    if let Some(last) = index.last_mut() {
        *last = last.plus_constant(by);
    }
    index
}

fn of_statement(s: &Statement) -> Changes<Statement> {
    let with = |stmt: Stmt| Statement {
        of: Arc::new(stmt),
        ..s.clone()
    };
    let mut found = Vec::new();
    for by in [-1, 1] {
        let target = Stmt {
            index: moved(&s.of.index, by),
            ..(*s.of).clone()
        };
        found.push(("a statement that sets a neighbor".to_owned(), with(target)));
        let mut left = true;
        let value = Stmt {
            value: shifted(&s.of.value, by, &mut left),
            ..(*s.of).clone()
        };
        if !left {
            found.push(("a statement that reads a neighbor".to_owned(), with(value)));
        }
    }
    if s.of.update.is_some() {
        let set = Stmt {
            update: None,
            ..(*s.of).clone()
        };
        found.push(("a statement that does not add".to_owned(), with(set)));
    }
    if !s.past && s.of.update.is_none() {
        let past = Statement {
            past: true,
            ..s.clone()
        };
        found.push(("a store past the caches".to_owned(), past));
    }
    found
}

/// A value whose first access reads a neighbor.
fn shifted(e: &Expr, by: i64, left: &mut bool) -> Expr {
    let node = match e.node() {
        Value::Access {
            tensor,
            index: Index::At(index),
        } if *left && !index.is_empty() => {
            *left = false;
            Value::Access {
                tensor: tensor.clone(),
                index: Index::At(moved(index, by)),
            }
        }
        Value::Binary {
            op,
            shape,
            left: a,
            right: b,
        } => Value::Binary {
            op: *op,
            shape: shape.clone(),
            left: shifted(a, by, left),
            right: shifted(b, by, left),
        },
        other => other.clone(),
    };
    Expr::new(node)
}

fn of_loop(l: &Loop) -> Changes<Loop> {
    let mut found = Vec::new();
    let with = |mode: Mode| Loop { mode, ..l.clone() };
    let ranged = |range: Range| Loop {
        of: Arc::new(teml::ir::Loop {
            range,
            ..(*l.of).clone()
        }),
        ..l.clone()
    };
    let range = &l.of.range;
    let mut ranges = vec![
        ("a loop that begins later", vec![1], vec![0]),
        ("a loop that begins earlier", vec![-1], vec![0]),
        ("a loop that ends earlier", vec![0], vec![-1]),
        ("a loop that ends later", vec![0], vec![1]),
    ];
    if matches!(&l.mode, Mode::Vector(plan) if !matches!(plan.trips, Trips::Any { .. })) {
        // The trips say where it begins and ends.
        ranges.clear();
    }
    for (change, low, high) in ranges {
        let add = |bounds: &[Affine], by: &[i64]| -> Vec<Affine> {
            bounds.iter().map(|a| a.plus_constant(by[0])).collect()
        };
        let new = Range {
            lower: add(&range.lower, &low),
            upper: add(&range.upper, &high),
            ..range.clone()
        };
        found.push((change.to_owned(), ranged(new)));
    }
    for k in 0..range.upper.len() {
        if range.upper.len() > 1 {
            let mut new = range.clone();
            new.upper.remove(k);
            found.push(("a loop without one of its ends".to_owned(), ranged(new)));
        }
    }
    let statements = l.body.iter().all(|node| matches!(node, Node::Stmt(_)));
    let modes: Vec<(&str, Mode)> = match &l.mode {
        Mode::Serial | Mode::Rolled | Mode::Unrolled(_) => vec![
            (
                "a loop on threads",
                Mode::Parallel {
                    entry: Entry::Call,
                    simd: false,
                },
            ),
            ("a loop in lanes", Mode::Simd),
        ],
        Mode::Parallel { entry, simd } => {
            let others = [Entry::Call, Entry::Join, Entry::JoinWithoutWaiting];
            let others = others.into_iter().filter(|other| other != entry);
            let others =
                others.map(|entry| ("other threads", Mode::Parallel { entry, simd: *simd }));
            others
                .chain([("a loop on one thread", Mode::Serial)])
                .collect()
        }
        Mode::Collapsed { .. } | Mode::Simd => vec![("a serial loop", Mode::Serial)],
        Mode::Vector(plan) => {
            let modes = of_vectors(l, plan).into_iter();
            let modes = modes.map(|(change, plan)| (change, Mode::Vector(plan)));
            modes.chain([("a serial loop", Mode::Serial)]).collect()
        }
    };
    let vectors = || {
        let Some(Node::Stmt(s)) = l.body.first() else {
            return None;
        };
        Some(Mode::Vector(VectorPlan {
            elem: s.of.target.elem(),
            lanes: None,
            unrolled: false,
            trips: Trips::Any { align: None },
        }))
    };
    let new = (statements && !l.is_vector()).then(vectors).flatten();
    let modes = modes
        .into_iter()
        .chain(new.map(|mode| ("a loop in vectors", mode)));
    found.extend(modes.map(|(change, mode)| (change.to_owned(), with(mode))));
    found
}

fn of_vectors(l: &Loop, plan: &VectorPlan) -> Vec<(&'static str, VectorPlan)> {
    let with = |trips: Trips| VectorPlan {
        trips,
        ..plan.clone()
    };
    let mut found = Vec::new();
    let widest = 64 / plan.elem.size() as i64;
    let parts = |part: &PartialVector| -> Vec<(&'static str, PartialVector)> {
        let mut parts = Vec::new();
        for k in 0..part.reads.len() {
            let mut new = part.clone();
            new.reads.remove(k);
            parts.push(("a read under a mask", new));
        }
        for k in 0..part.writes.len() {
            let mut new = part.clone();
            new.writes.remove(k);
            parts.push(("a store under a mask", new));
        }
        for node in &l.body {
            let Node::Stmt(s) = node else { continue };
            let mut new = part.clone();
            new.writes.push((s.of.target.clone(), s.of.index.clone()));
            parts.push(("a store without a mask", new));
            let mut new = part.clone();
            s.of.value.for_each_access(&mut |tensor, index| {
                if let Index::At(index) = index {
                    new.reads.push((tensor.clone(), index.clone()));
                }
            });
            parts.push(("reads without a mask", new));
        }
        parts
    };
    match &plan.trips {
        Trips::Constant { count, part } => {
            let whole = count - count % widest;
            for other in [count - 1, count + 1, whole, whole + widest] {
                if other != *count {
                    let trips = Trips::Constant {
                        count: other,
                        part: part.clone(),
                    };
                    found.push(("other vectors", with(trips)));
                }
            }
            for (change, part) in part.iter().flat_map(&parts) {
                let trips = Trips::Constant {
                    count: *count,
                    part: Some(part),
                };
                found.push((change, with(trips)));
            }
            if part.is_none() && *count % widest != 0 {
                // All rows have room, and nothing reads it.
                let mut new = PartialVector {
                    rest: count % widest,
                    one_by_one: false,
                    reads: Vec::new(),
                    writes: Vec::new(),
                };
                let whole = |new: PartialVector| Trips::Constant {
                    count: *count,
                    part: Some(new),
                };
                found.push(("a partial vector", with(whole(new.clone()))));
                for node in &l.body {
                    let Node::Stmt(s) = node else { continue };
                    new.writes.push((s.of.target.clone(), s.of.index.clone()));
                }
                found.push(("a partial vector without masks", with(whole(new))));
            }
        }
        Trips::Block { lanes, rows } => {
            for other in [lanes / 2, lanes * 2] {
                let trips = Trips::Block {
                    lanes: other,
                    rows: rows.clone(),
                };
                found.push(("other blocks", with(trips)));
            }
        }
        Trips::Masked { most, part } => {
            for other in [most - widest, most + widest] {
                let trips = Trips::Masked {
                    most: other,
                    part: part.clone(),
                };
                found.push(("other masked vectors", with(trips)));
            }
            for (change, part) in parts(part) {
                let trips = Trips::Masked { most: *most, part };
                found.push((change, with(trips)));
            }
            let trips = Trips::Constant {
                count: *most,
                part: None,
            };
            found.push(("vectors without an end", with(trips)));
        }
        Trips::Any { .. } => {
            for count in [widest, 2 * widest] {
                let trips = Trips::Constant { count, part: None };
                found.push(("a number of vectors", with(trips)));
            }
            if let Some(Node::Stmt(s)) = l.body.first()
                && s.of.target.shape().rank() > 0
            {
                let part = PartialVector {
                    rest: widest,
                    one_by_one: false,
                    reads: Vec::new(),
                    writes: accesses(l),
                };
                let trips = Trips::Masked { most: widest, part };
                found.push(("masked vectors", with(trips)));
            }
        }
    }
    let lanes = match plan.lanes {
        Some(lanes) => Some(2 * lanes).filter(|n| *n <= widest),
        None => Some(2),
    };
    if lanes.is_some() {
        let other = VectorPlan {
            lanes,
            ..plan.clone()
        };
        found.push(("other lanes", other));
    }
    found
}

fn accesses(l: &Loop) -> Vec<(Tensor, Vec<Affine>)> {
    let statements = l.body.iter().filter_map(|node| match node {
        Node::Stmt(s) => Some((s.of.target.clone(), s.of.index.clone())),
        _ => None,
    });
    statements.collect()
}
