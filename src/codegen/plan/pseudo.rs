//! Prints plans as pseudo-code: what each thread executes, and in which lanes.

use super::tree::{
    Entry, Fetch, Local, Loop, Mode, Node, Outlined, Plan, Region, Space, Statement, Trips,
};
use crate::analysis::prefetch_plan::Prefetched;
use crate::ir::{Affine, Name, Tensor};
use std::fmt::{self, Display, Formatter};

impl Display for Plan {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.parts
            .iter()
            .try_for_each(|part| write(f, &part.nodes, 0))
    }
}

fn write(f: &mut Formatter<'_>, nodes: &[Node], depth: usize) -> fmt::Result {
    for node in nodes {
        writeln!(f, "{:indent$}{}", "", head(node), indent = 2 * depth)?;
        write(f, node.body(), depth + 1)?;
    }
    Ok(())
}

/// The line of a node, without its body.
pub(super) fn head(node: &Node) -> String {
    match node {
        Node::Loop(l) => of_loop(l),
        Node::Stmt(s) => stmt(s),
        Node::Fill(fill) => fill.to_string(),
        Node::Local(l) => local(l),
        Node::Region(region) => on_all_threads(region),
        Node::Outlined(outlined) => function(outlined),
        Node::Copy(block) => {
            let [to, from] = [&block.to, &block.from].map(|(tensor, index)| element(tensor, index));
            format!(
                "copy {} bytes to {to} from {from}, past the caches",
                block.bytes
            )
        }
        Node::Fetch(fetch) => fetched(fetch),
        Node::Fence => "fence: other threads see stores past the caches".to_owned(),
        Node::Barrier => "barrier".to_owned(),
        Node::InOrder => "no statements are combined across this".to_owned(),
        Node::LoadFence => "no load is moved above this".to_owned(),
    }
}

fn of_loop(l: &Loop) -> String {
    let of = &l.of;
    let (name, range) = (&of.name, &of.range);
    let head = match l.mode {
        Mode::Parallel {
            entry: Entry::Call, ..
        } => format!("parallel for {name} in {range}"),
        Mode::Parallel { .. } => format!("shared for {name} in {range}"),
        Mode::Collapsed { .. } => format!("with it for {name} in {range}"),
        _ => format!("for {name} in {range}"),
    };
    let mut says: Vec<String> = Vec::new();
    match &l.mode {
        Mode::Serial => {}
        Mode::Rolled => says.push("not unrolled".to_owned()),
        Mode::Unrolled(copies) => says.push(format!("unrolled {copies} times")),
        Mode::Parallel { entry, simd } => {
            let sharing = of.sharing().unwrap_or_default();
            if let Some(schedule) = sharing.schedule {
                says.push(schedule.word().to_owned());
            }
            if let Some(threshold) = sharing.threshold {
                says.push(format!("if it has {threshold} iterations"));
            }
            if let Some(work) = sharing.work {
                says.push(format!("if a statement of the nest runs {work} times"));
            }
            if sharing.atomic {
                says.push("with atomic updates".to_owned());
            }
            if *entry == Entry::JoinWithoutWaiting {
                says.push("without a barrier".to_owned());
            }
            says.extend(simd.then(|| IN_LANES.to_owned()));
        }
        Mode::Collapsed { simd } => says.extend(simd.then(|| IN_LANES.to_owned())),
        Mode::Simd => says.push(IN_LANES.to_owned()),
        Mode::Vector(plan) => {
            let lanes = plan
                .lanes
                .map_or(String::new(), |lanes| format!("{lanes} "));
            says.push(format!("in vectors of {lanes}{}", plan.elem));
            match &plan.trips {
                Trips::Constant {
                    part: Some(part), ..
                } => {
                    let how = if part.one_by_one {
                        "one by one"
                    } else {
                        "in part"
                    };
                    says.push(format!("the last {} {how}", part.rest));
                }
                Trips::Any { align: Some(s) } => {
                    let target = element(&s.target, &s.index);
                    says.push(format!("one by one until {target} is aligned"));
                }
                Trips::Block { lanes, .. } => {
                    says.push(format!("fewer than {lanes} one by one"));
                }
                Trips::Masked { .. } => says.push("each in part".to_owned()),
                Trips::Constant { .. } | Trips::Any { .. } => {}
            }
        }
    }
    let says: String = says.iter().map(|text| format!(", {text}")).collect();
    match &l.why {
        Some(why) => format!("{head}{says}  // no vectors: {why}"),
        None => format!("{head}{says}"),
    }
}

const IN_LANES: &str = "in lanes of the compiler";

fn stmt(s: &Statement) -> String {
    let mut text = s.of.to_string();
    if s.held {
        text.push_str(", loaded once");
    }
    if s.atomic {
        text.push_str(", atomically");
    }
    if s.past {
        text.push_str(", past the caches");
    }
    text
}

fn local(local: &Local) -> String {
    let tensor = &local.tensor;
    let extents: String = tensor
        .shape()
        .dims()
        .iter()
        .map(|e| format!("[{e}]"))
        .collect();
    let space = match local.space {
        Space::Register => "in registers",
        Space::Stack => "on the stack",
        Space::Thread => "one for each thread",
    };
    let zeros = if local.zeros { ", zeros at first" } else { "" };
    format!(
        "local {} {}{extents} {space}{zeros}",
        tensor.elem(),
        tensor.label()
    )
}

fn on_all_threads(region: &Region) -> String {
    let around = region.around.as_ref();
    let around = around.and_then(|l| Some((&l.name, l.sharing()?)));
    let mut text = "on all threads".to_owned();
    if let Some((name, sharing)) = around {
        if let Some(threshold) = sharing.threshold {
            text.push_str(&format!(", if {name} has {threshold} iterations"));
        }
        if let Some(work) = sharing.work {
            text.push_str(&format!(", if a statement of the nest runs {work} times"));
        }
    }
    text
}

fn function(outlined: &Outlined) -> String {
    let iterators = outlined.iterators.iter().map(Name::as_str);
    let names: Vec<&str> = iterators
        .chain(outlined.tensors.iter().map(Tensor::label))
        .collect();
    format!("function of {}", names.join(", "))
}

fn fetched(fetch: &Fetch) -> String {
    match fetch {
        Fetch::Touch(touch) => {
            let lines = match touch.lines {
                1 => String::new(),
                lines => format!(", {lines} lines"),
            };
            format!("fetch {}{lines}", element(&touch.tensor, &touch.index))
        }
        Fetch::Share(Prefetched::Lines(lines)) => {
            let extents: Vec<String> = lines.extents.iter().map(Affine::to_string).collect();
            let whole = element(&lines.tensor, &lines.first);
            format!(
                "fetch lines of the {} elements of {whole}",
                extents.join(" * ")
            )
        }
        Fetch::Share(Prefetched::Slice(share)) => {
            let first = element(&share.tensor, &share.first);
            let elements = share.elements * share.rows.count;
            format!(
                "fetch 1/{} of {elements} elements from {first} on",
                share.shares
            )
        }
    }
}

fn element(tensor: &Tensor, index: &[Affine]) -> String {
    let index: String = index.iter().map(|a| format!("[{a}]")).collect();
    format!("{}{index}", tensor.label())
}
