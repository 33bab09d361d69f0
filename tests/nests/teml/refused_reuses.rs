//! Values that are not kept in the place of others.

use crate::teml::refusals::Case;
use crate::teml::trees::{eq, it, name, nest, tensor, vop, word};
use teml::ir::BinaryOp::Add;
use teml::ir::{Elem, Nest};
use teml::lower::build::build;
use teml::transform::nest::avoid_copy::AVOID_COPY;
use teml::transform::nest::donate::{DONATE, donate};
use teml::transform::nest::fuse_outer::fuse_outer;
use teml::transform::nest::localize::localize;
use teml::transform::nest::redefine::REDEFINE;
use teml::transform::nest::reduce_cache_miss::REDUCE_CACHE_MISS;
use teml::transform::nest::reuse_buffer::REUSE_BUFFER;
use teml::transform::tensor::declare;
use teml::transform::tensor::vop::vop as entrywise;
use teml::transform::{Arg, Op};

/// Doubles x into y, y into z, and adds z to itself from its other end into v; w is longer.
fn program() -> Nest {
    let doubled = |name: &str, of: &str| {
        let of = tensor(of, &[6]);
        build(&eq(name, &vop(Add, &of, &of, ["i", "i"]), "ε", "i")).unwrap()
    };
    let turned = || {
        let of = tensor("z", &[6]);
        let last = it("i").times(-1).plus_constant(5);
        let ends = [Some(vec![it("i")]), Some(vec![last])];
        build(&eq(
            "v",
            &entrywise(Add, &of, &of, &ends).unwrap(),
            "ε",
            "i",
        ))
        .unwrap()
    };
    let long = tensor("w", &[7]);
    let longer = build(&eq("u", &long, "i", "i")).unwrap();
    let nests = [doubled("y", "x"), doubled("z", "y"), turned(), longer];
    let joined = nests
        .into_iter()
        .reduce(|a, b| fuse_outer(&a, &b, 0).unwrap());
    joined.unwrap()
}

pub fn reuses() -> Vec<Case> {
    let plain = program();
    let donated = donate(&plain, "x").unwrap();
    let local = localize(&plain, "y").unwrap();
    let read = nest(&["f64 x[6], y[6]", "for i in 0..6", "  y[i] = x[i]"]);
    let case = |op: &'static Op, nest: &Nest, tensors: &[&str], kind: String| {
        let tensors = tensors.iter().map(|t| word(t));
        let args = [Arg::Nest(nest.clone())].into_iter().chain(tensors);
        Case::new(op, args.collect(), kind)
    };
    let unnamed = || Arg::Expr(declare::tensor(&[4], Elem::F64).unwrap());
    let of = |tensor: &str| tensor.to_owned();
    let not_temporary = |tensor: &str| {
        format!(
            "{} is not computed for later parts of the nest alone",
            of(tensor)
        )
    };
    let pair = |tensor: &str, buffer: &str| (of(tensor), of(buffer));
    let differs = |tensor: &str, buffer: &str| {
        let (tensor, buffer) = pair(tensor, buffer);
        format!("{buffer} is not a tensor like {tensor}")
    };
    let needed = |tensor: &str, buffer: &str| {
        let (tensor, buffer) = pair(tensor, buffer);
        format!("{buffer} is used while {tensor} is needed")
    };
    let not_read = |tensor: &str, buffer: &str| {
        let (tensor, buffer) = pair(tensor, buffer);
        format!("{tensor} is not computed of {buffer}")
    };
    let not_spent =
        |buffer: &str| format!("what {} holds may be needed after the nest", of(buffer));
    let none = |tensor: &str, when| {
        let tensor = of(tensor);
        format!("no tensor like {tensor} is free {when}")
    };
    let computed = |tensor: &str| format!("the nest computes {}", of(tensor));
    let not_used = "the nest does not use q: it uses y, x, z, v, u, w";
    let spend_unused = vec![Arg::Nest(plain.clone()), word("q")];
    let spend_unnamed = vec![Arg::Nest(plain.clone()), unnamed()];
    let keep_in_unnamed = vec![Arg::Nest(plain.clone()), word("y"), unnamed()];
    let one = |to: &str, of: &str| build(&eq(to, &tensor(of, &[6]), "i", "i")).unwrap();
    let (copied, longer) = (one("p", "w"), one("p", "x"));
    let of_other = |nest: &Nest, other: &Nest, kind: &str| {
        let args = vec![Arg::Nest(nest.clone()), Arg::Nest(other.clone())];
        Case::new(&REDEFINE, args, kind)
    };
    vec![
        case(&AVOID_COPY, &plain, &["v"], not_temporary("v")).at(1),
        case(&AVOID_COPY, &plain, &["x"], not_temporary("x")).at(1),
        case(&AVOID_COPY, &plain, &["q"], not_temporary("q")).at(1),
        case(
            &AVOID_COPY,
            &plain.declaring(name("y"), true),
            &["y"],
            "y is an output of the program, not a temporary".to_owned(),
        )
        .at(1),
        // Other nests may need it.
        case(&AVOID_COPY, &read, &["x"], not_temporary("x")).at(1),
        case(
            &AVOID_COPY,
            &plain,
            &["y"],
            format!("{} is not copied to a tensor like it", of("y")),
        )
        .at(1),
        case(&REDUCE_CACHE_MISS, &plain, &["y", "x"], not_spent("x")).at(2),
        case(&REDUCE_CACHE_MISS, &plain, &["z", "y"], not_spent("y")).at(2),
        case(&REDUCE_CACHE_MISS, &donated, &["y", "w"], differs("y", "w")).at(2),
        case(&REDUCE_CACHE_MISS, &donated, &["y", "y"], differs("y", "y")).at(2),
        case(&REDUCE_CACHE_MISS, &donated, &["y", "q"], differs("y", "q")).at(2),
        case(
            &REDUCE_CACHE_MISS,
            &donated,
            &["y", "v"],
            not_read("y", "v"),
        )
        .at(2),
        case(&REDUCE_CACHE_MISS, &donated, &["y", "z"], needed("y", "z")).at(2),
        case(&REDUCE_CACHE_MISS, &donated, &["v"], not_temporary("v")).at(1),
        case(
            &REDUCE_CACHE_MISS,
            &plain,
            &["y"],
            none("y", "where it is computed"),
        )
        .at(1),
        case(&REUSE_BUFFER, &donated, &["y", "x"], needed("y", "x")).at(2),
        case(&REUSE_BUFFER, &plain, &["z", "x"], not_spent("x")).at(2),
        // Local tensors are still needed, and the free one is an input.
        case(
            &REUSE_BUFFER,
            &local,
            &["z"],
            none("z", "while it is needed"),
        )
        .at(1),
        of_other(
            &plain,
            &Nest::of_trees(read.trees().to_vec()),
            "the other nest has no definition",
        )
        .at(1),
        of_other(
            &plain,
            &copied,
            "the nest computes 4 statements, and the definition has 1",
        )
        .at(1),
        of_other(&copied, &longer, "the definition does not have w").at(0),
        case(&DONATE, &plain, &["v"], computed("v")).at(1),
        case(&DONATE, &local, &["y"], computed("y")).at(1),
        Case::new(&DONATE, spend_unused, not_used).at(1),
        Case::new(
            &DONATE,
            spend_unnamed,
            "this tensor has no name yet".to_owned(),
        )
        .at(1),
        Case::new(
            &REUSE_BUFFER,
            keep_in_unnamed,
            "this tensor has no name yet".to_owned(),
        )
        .at(2),
    ]
}
