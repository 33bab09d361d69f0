//! The rewrite rules, and the limits of their application.

use super::language::{Algebra, Facts, Graph, Item, Over};
use super::pattern::Rule;
use crate::ir::{Constant, Elem, Expr, Name, Node};
use egg::{Id, Rewrite, Runner, SimpleScheduler, rewrite};
use std::time::Duration;

/// Rounds in which all rules are applied.
const ROUNDS: usize = 8;
/// Nodes after which no further round begins.
const MAX_NODES: usize = 4000;

/// Applies the rules and those of a user until nothing changes or a limit is reached. The limits do
/// not depend on the machine.
pub(super) fn saturated(mut graph: Graph, own: &[Rule]) -> Graph {
    for _ in 0..ROUNDS {
        let mut rules = arithmetic();
        for rule in own {
            rules.extend(rule.rewrites(&mut graph.analysis));
        }
        let before = (graph.total_number_of_nodes(), graph.number_of_classes());
        of_sums(&mut graph);
        graph.rebuild();
        if graph.total_number_of_nodes() > MAX_NODES {
            break;
        }
        let runner = Runner::<Algebra, Facts>::new(graph.analysis.clone())
            .with_egraph(graph)
            .with_iter_limit(1)
            .with_node_limit(4 * MAX_NODES)
            .with_time_limit(Duration::MAX)
            .with_scheduler(SimpleScheduler)
            .run(&rules);
        graph = runner.egraph;
        let after = (graph.total_number_of_nodes(), graph.number_of_classes());
        if before == after || after.0 > MAX_NODES {
            break;
        }
    }
    graph
}

/// Rules of element-wise operations; items 0, 1 and 2 are the numbers 0, 1 and 2.
fn arithmetic() -> Vec<Rewrite<Algebra, Facts>> {
    vec![
        rewrite!("add-comm"; "(+ ?a ?b)" => "(+ ?b ?a)"),
        rewrite!("add-assoc"; "(+ (+ ?a ?b) ?c)" => "(+ ?a (+ ?b ?c))"),
        rewrite!("mul-comm"; "(* ?a ?b)" => "(* ?b ?a)"),
        rewrite!("mul-assoc"; "(* (* ?a ?b) ?c)" => "(* ?a (* ?b ?c))"),
        rewrite!("distribute"; "(* ?a (+ ?b ?c))" => "(+ (* ?a ?b) (* ?a ?c))"),
        rewrite!("factor"; "(+ (* ?a ?b) (* ?a ?c))" => "(* ?a (+ ?b ?c))"),
        rewrite!("factor-sub"; "(- (* ?a ?b) (* ?a ?c))" => "(* ?a (- ?b ?c))"),
        rewrite!("factor-div"; "(+ (/ ?b ?a) (/ ?c ?a))" => "(/ (+ ?b ?c) ?a)"),
        rewrite!("twice"; "(+ ?a ?a)" => "(* #2 ?a)"),
        rewrite!("mul-one"; "(* #1 ?a)" => "?a"),
        rewrite!("div-one"; "(/ ?a #1)" => "?a"),
        rewrite!("sub-zero"; "(- ?a #0)" => "?a"),
        rewrite!("neg-neg"; "(neg (neg ?a))" => "?a"),
        rewrite!("add-neg"; "(+ ?a (neg ?b))" => "(- ?a ?b)"),
        rewrite!("sub-neg"; "(- ?a (neg ?b))" => "(+ ?a ?b)"),
        rewrite!("mul-div"; "(* ?a (/ ?b ?c))" => "(/ (* ?a ?b) ?c)"),
    ]
}

/// Rules of sums: they depend on the iterators of the operands.
fn of_sums(graph: &mut Graph) {
    let mut found: Vec<(Id, Over, Id)> = Vec::new();
    for class in graph.classes() {
        for node in &class.nodes {
            if let Algebra::Sum(over, body) = node {
                found.push((class.id, *over, *body));
            }
        }
    }
    for (sum, over, body) in found {
        let names = graph.analysis.overs[over.0].clone();
        // A factor that leaves an empty sum is multiplied by 0, which loses a NaN or an infinity,
        // or adds one.
        if graph.analysis.points(&names) == 0.0 {
            continue;
        }
        let bodies = graph[body].nodes.clone();
        idle(graph, sum, &names, body);
        for node in bodies {
            match node {
                Algebra::Mul([a, b]) => factors(graph, sum, &names, [a, b]),
                Algebra::Div([a, b]) => divisor(graph, sum, &names, [a, b]),
                Algebra::Add([a, b]) => {
                    let [left, right] = [a, b].map(|of| graph.add(Algebra::Sum(over, of)));
                    let made = graph.add(Algebra::Add([left, right]));
                    graph.union(sum, made);
                }
                Algebra::Sum(inner, of) => nested(graph, sum, &names, (inner, of)),
                _ => {}
            }
        }
    }
    joined(graph);
}

fn sum(graph: &mut Graph, names: Vec<Name>, of: Id) -> Id {
    if names.is_empty() {
        return of;
    }
    let over = graph.analysis.over(names);
    graph.add(Algebra::Sum(over, of))
}

/// Splits `names` into the iterators that a class depends on and the others.
fn apart(graph: &Graph, names: &[Name], of: Id) -> (Vec<Name>, Vec<Name>) {
    let free = &graph[of].data.free;
    names.iter().cloned().partition(|name| free.contains(name))
}

/// A factor leaves the sums over iterators that it does not depend on.
fn factors(graph: &mut Graph, whole: Id, names: &[Name], [a, b]: [Id; 2]) {
    for (factor, other) in [(a, b), (b, a)] {
        let (stay, leave) = apart(graph, names, factor);
        if leave.is_empty() {
            continue;
        }
        let inner = sum(graph, leave, other);
        let product = graph.add(Algebra::Mul([factor, inner]));
        let made = sum(graph, stay, product);
        graph.union(whole, made);
    }
}

/// A divisor leaves the sums over iterators that it does not depend on.
fn divisor(graph: &mut Graph, whole: Id, names: &[Name], [a, b]: [Id; 2]) {
    let (stay, leave) = apart(graph, names, b);
    if leave.is_empty() {
        return;
    }
    let inner = sum(graph, leave, a);
    let quotient = graph.add(Algebra::Div([inner, b]));
    let made = sum(graph, stay, quotient);
    graph.union(whole, made);
}

/// A sum over iterators that its operand does not depend on is a multiple (TeIL eq. 5).
fn idle(graph: &mut Graph, whole: Id, names: &[Name], body: Id) {
    let (stay, leave) = apart(graph, names, body);
    if leave.is_empty() {
        return;
    }
    let count = graph.analysis.points(&leave);
    let Some(count) = constant(graph.analysis.elem, count) else {
        return;
    };
    let item: Item = graph.analysis.item(&count);
    let count = graph.add(Algebra::Leaf(item));
    let inner = sum(graph, stay, body);
    let made = graph.add(Algebra::Mul([count, inner]));
    graph.union(whole, made);
}

fn constant(elem: Elem, value: f64) -> Option<Expr> {
    let constant = if elem.is_float() {
        Constant::of_float(elem, value)
    } else {
        Constant::of_integer(elem, value as i64)
    };
    Some(Expr::new(Node::Constant(constant?)))
}

/// A sum of sums is one sum.
fn nested(graph: &mut Graph, whole: Id, names: &[Name], (inner, of): (Over, Id)) {
    let inner = graph.analysis.overs[inner.0].clone();
    if inner.iter().any(|name| names.contains(name)) {
        return;
    }
    let made = sum(graph, [names, &inner].concat(), of);
    graph.union(whole, made);
}

/// The sum of two sums over the same iterators is the sum of both operands.
fn joined(graph: &mut Graph) {
    let mut found: Vec<(Id, Over, [Id; 2])> = Vec::new();
    for class in graph.classes() {
        for node in &class.nodes {
            let Algebra::Add([a, b]) = node else { continue };
            for left in &graph[*a].nodes {
                let Algebra::Sum(over, l) = left else {
                    continue;
                };
                for right in &graph[*b].nodes {
                    match right {
                        Algebra::Sum(other, r) if other == over => {
                            found.push((class.id, *over, [*l, *r]));
                        }
                        _ => {}
                    }
                }
            }
        }
    }
    for (both, over, operands) in found {
        let added = graph.add(Algebra::Add(operands));
        let made = graph.add(Algebra::Sum(over, added));
        graph.union(both, made);
    }
}
