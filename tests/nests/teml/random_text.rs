//! Random nests are printed and read back; damaged texts are refused without a panic.

use crate::teml::text::TEXTS;
use crate::teml::trees::name;
use proptest::prelude::*;
use proptest::sample::select;
use std::sync::Arc;
use teml::ir::{
    Affine, BinaryOp, Comparison, Constant, Elem, Expr, Fill, Function, Hints, Index, Loop, Mode,
    Name, Nest, Node, Prefetch, Range, Schedule, Shape, Sharing, Stmt, Tensor, Tree, parse_nest,
};
use teml::script::trees::{Closed, closed, of_nest};

fn names() -> impl Strategy<Value = Name> {
    select(
        &[
            "i", "j_i", "k2", "in", "min", "max", "step", "fill", "vector", "f64",
        ][..],
    )
    .prop_map(name)
}

fn affine() -> impl Strategy<Value = Affine> {
    let term = (names(), -3i64..=3);
    let offset = prop_oneof![Just(0), -9i64..=9, Just((1 << 40) - 1)];
    (prop::collection::vec(term, 0..3), offset).prop_map(|(terms, offset)| {
        let sum = terms.iter().fold(Affine::constant(0), |sum, (name, c)| {
            sum.plus(&Affine::iterator(name.clone()).times(*c))
        });
        sum.plus_constant(offset)
    })
}

fn tensors() -> BoxedStrategy<Tensor> {
    tensors_of(Elem::ALL.to_vec())
}

fn tensors_of(elems: Vec<Elem>) -> BoxedStrategy<Tensor> {
    // One shape per name, so that a name identifies a tensor.
    let of: &'static [(&str, Elem, Option<&[i64]>)] = &[
        ("A", Elem::F64, Some(&[4, 5])),
        ("B", Elem::F32, Some(&[7])),
        ("C", Elem::I32, Some(&[])),
        ("D", Elem::I64, Some(&[1, 2, 3, 4, 5, 6, 7, 8])),
        ("s", Elem::F64, None),
        ("fill", Elem::F64, None),
        ("parallel", Elem::I64, None),
        ("vector", Elem::F64, Some(&[3])),
        ("sum", Elem::F64, None),
        ("min", Elem::I32, Some(&[2])),
        ("exp", Elem::F32, None),
        ("f32", Elem::F32, None),
    ];
    let of: Vec<_> = of.iter().filter(|t| elems.contains(&t.1)).collect();
    let tensors = select(of).prop_map(|(label, elem, extents)| {
        let tensor = match extents {
            Some(extents) => Tensor::new(Shape::new(extents, *elem).unwrap(), *elem),
            None => Tensor::scalar(*elem),
        };
        tensor.named(name(label))
    });
    tensors.boxed()
}

fn access() -> impl Strategy<Value = (Tensor, Vec<Affine>)> {
    tensors().prop_flat_map(|tensor| {
        let rank = tensor.shape().rank();
        (Just(tensor), prop::collection::vec(affine(), rank))
    })
}

/// Numbers of every kind that a text may hold.
fn constant(elem: Elem) -> impl Strategy<Value = Constant> {
    let float = prop_oneof![
        Just(f64::INFINITY),
        Just(-0.0),
        Just(f64::MIN_POSITIVE),
        (-9i32..9).prop_map(f64::from),
        any::<f64>().prop_filter("a NaN is no constant", |x| !x.is_nan()),
    ];
    let integer = prop_oneof![Just(i64::MIN), Just(i64::MAX), -9i64..9, any::<i64>()];
    (float, integer).prop_map(move |(float, integer)| match elem {
        Elem::F64 => Constant::F64(float),
        Elem::F32 => Constant::F32(float as f32),
        Elem::I32 => Constant::I32(integer as i32),
        Elem::I64 => Constant::I64(integer),
    })
}

fn access_of(elem: Elem) -> BoxedStrategy<Expr> {
    let access = tensors_of(vec![elem]).prop_flat_map(|tensor| {
        let rank = tensor.shape().rank();
        (Just(tensor), prop::collection::vec(affine(), rank))
    });
    let access = access.prop_map(|(tensor, index)| {
        let index = if tensor.is_scalar() {
            Index::Forbidden
        } else {
            Index::At(index)
        };
        Expr::access(tensor, index)
    });
    access.boxed()
}

/// A value of a statement whose target has the type `elem`.
fn value(elem: Elem) -> BoxedStrategy<Expr> {
    value_of(elem, 2)
}

/// The same with this many nested conversions and comparisons of other types.
fn value_of(elem: Elem, others: u32) -> BoxedStrategy<Expr> {
    let access = access_of(elem);
    let number = constant(elem).prop_map(|c| Expr::new(Node::Constant(c)));
    let mut leaf = prop_oneof![3 => access.clone(), 1 => number].boxed();
    if elem == Elem::I64 {
        let index = affine().prop_map(|index| Expr::new(Node::Index(index)));
        leaf = prop_oneof![2 => leaf, 1 => index].boxed();
    }
    if others > 0 {
        let other = select(&Elem::ALL[..]);
        let applied = |function, args| {
            let shape = Shape::of_extents([]);
            Expr::new(Node::Apply {
                function,
                shape,
                args,
            })
        };
        // A text does not show the type of numbers without other operands.
        let typed = move |e: Elem| {
            let known = access_of(e);
            (known, value_of(e, others - 1)).prop_map(|(known, value)| {
                let shape = Shape::of_extents([]);
                Expr::new(Node::Binary {
                    op: BinaryOp::Add,
                    shape,
                    left: value,
                    right: known,
                })
            })
        };
        let cast = other.clone().prop_flat_map(typed);
        let cast = cast.prop_map(move |arg| applied(Function::Cast(elem), vec![arg]));
        let compared = other.prop_flat_map(move |e| (typed(e), value_of(e, others - 1)));
        let comparison = select(&Comparison::ALL[..]);
        let values = (access_of(elem), access_of(elem));
        let chosen = (comparison, compared, values).prop_map(
            move |(comparison, (left, right), (yes, no))| {
                let args = vec![left, right, yes, no];
                applied(Function::Select(comparison), args)
            },
        );
        leaf = prop_oneof![4 => leaf, 1 => cast, 1 => chosen].boxed();
    }
    let function = select(&Function::PLAIN[..]);
    leaf.prop_recursive(4, 16, 4, move |operand| {
        let shape = Shape::of_extents([]);
        let pair = (select(&BinaryOp::ALL[..]), operand.clone(), operand.clone());
        let binary = pair.prop_map(|(op, left, right)| {
            let shape = Shape::of_extents([]);
            Expr::new(Node::Binary {
                op,
                shape,
                left,
                right,
            })
        });
        let args = prop::collection::vec(operand, 4);
        let apply = (function.clone(), args).prop_map(move |(function, mut args)| {
            args.truncate(function.arity());
            Expr::new(Node::Apply {
                function,
                shape: shape.clone(),
                args,
            })
        });
        prop_oneof![2 => binary, 1 => apply]
    })
    .boxed()
}

fn trees() -> impl Strategy<Value = Tree> {
    let update = prop::option::of(select(&BinaryOp::ALL[..]));
    let parts = (access(), update).prop_flat_map(|(target, update)| {
        let value = value(target.0.elem());
        (Just(target), Just(update), value)
    });
    let stmt = parts.prop_map(|((target, index), update, value)| {
        Tree::Stmt(Arc::new(Stmt {
            target,
            index,
            update,
            value,
            origin: None,
        }))
    });
    let part = access().prop_flat_map(|(tensor, low)| {
        let extents = prop::collection::vec((1i64..9).prop_map(Affine::constant), low.len());
        let value = constant(tensor.elem());
        (Just(tensor), Just(low), extents, value)
    });
    let fill = part.prop_map(|(target, low, extents, value)| {
        let region = low.into_iter().zip(extents).collect();
        Tree::Fill(Arc::new(Fill {
            target,
            region,
            value,
            origin: None,
        }))
    });
    let range = (
        prop::collection::vec(affine(), 1..3),
        prop::collection::vec(affine(), 1..4),
        1i64..4,
    );
    let range = range
        .prop_map(|(lower, upper, step)| Range {
            lower,
            upper,
            step,
            within: None,
        })
        .boxed();
    let local = Shape::new(&[3, 2], Elem::F32).unwrap();
    let local = Tensor::new(local, Elem::F32).named(Name::new("own").unwrap());
    let leaf = prop_oneof![6 => stmt, 2 => fill, 1 => Just(Tree::Local(local))];
    leaf.prop_recursive(4, 12, 3, move |inner| {
        let body = prop::collection::vec(inner, 1..4);
        let parts = (
            names(),
            range.clone(),
            modes(),
            any::<bool>(),
            hints(),
            body,
        );
        parts.prop_map(|(name, range, mode, vector, hints, body)| {
            Tree::of_loop(Loop {
                name,
                range,
                mode: if vector {
                    mode.with_lanes(hints.0)
                } else {
                    mode
                },
                hints: hints.1,
                body,
                lineage: teml::ir::Lineage::default(),
            })
        })
    })
}

/// A number of lanes, and hints.
fn hints() -> impl Strategy<Value = (Option<i64>, Hints)> {
    let stream = prop::collection::vec(tensors(), 0..2);
    let of = prop::option::of(prop::sample::select(vec!["i", "b_o"]));
    let prefetch = prop::collection::vec((tensors(), 1..9i64, 0..3i64, of), 0..2);
    let remark = prop::option::of(prop::sample::select(vec![
        "hot",
        "for i in 0..4",
        "a \"b\" // c",
    ]));
    let hints = (prop::option::of(1..9i64), prefetch, stream, remark);
    hints.prop_map(|(lanes, prefetch, stream, remark)| {
        let stream = stream.iter().filter_map(|t| t.name().cloned());
        let named = |(tensor, distance, further, of): (Tensor, i64, i64, Option<&str>)| {
            Some(Prefetch {
                tensor: tensor.name()?.clone(),
                distance,
                further: if of.is_some() { further } else { 0 },
                of: of.and_then(|of| Name::new(of).ok()),
            })
        };
        let hints = Hints {
            prefetch: prefetch.into_iter().filter_map(named).collect(),
            stream: stream.collect(),
            remark: remark.map(Into::into),
        };
        (lanes, hints)
    })
}

/// Serial, or parallel in some way.
fn modes() -> impl Strategy<Value = Mode> {
    let schedules: Vec<_> = Schedule::WORDS
        .iter()
        .map(|w| Schedule::from_word(w))
        .collect();
    let schedule = prop_oneof![Just(None), prop::sample::select(schedules)];
    let number = || prop::option::of(1..9i64);
    let atomic = any::<bool>();
    let sharing = (1..4usize, schedule, number(), number(), number(), atomic);
    let sharing =
        sharing.prop_map(
            |(collapse, schedule, chunk, threshold, work, atomic)| Sharing {
                collapse,
                schedule,
                chunk: chunk.filter(|_| schedule.is_some()),
                threshold,
                work,
                atomic,
            },
        );
    prop_oneof![
        Just(Mode::Serial),
        sharing.prop_map(|sharing| Mode::Parallel { sharing }),
    ]
}

fn nests() -> impl Strategy<Value = Nest> {
    prop::collection::vec(trees(), 1..4).prop_map(Nest::of_trees)
}

/// A change at some place of a text.
#[derive(Clone, Debug)]
enum Edit {
    Delete,
    Insert(String),
    Replace(String),
    DropLine,
    RepeatLine,
}

fn edits() -> impl Strategy<Value = Edit> {
    let pieces = [
        " ",
        "  ",
        "\n",
        "[",
        "]",
        "(",
        ")",
        "..",
        "+",
        "-",
        "*",
        "/",
        "=",
        "<",
        "min(",
        "select(",
        "1e9",
        "∞",
        ",",
        "0",
        "9",
        "i",
        "A",
        "for ",
        "fill ",
        "step ",
        "f64 ",
        "vector ",
        "□",
        "\t",
        "9223372036854775807",
        "-9223372036854775808",
    ];
    let piece = prop_oneof![
        4 => select(pieces.map(str::to_owned).to_vec()),
        1 => any::<char>().prop_map(String::from),
    ];
    prop_oneof![
        Just(Edit::Delete),
        piece.clone().prop_map(Edit::Insert),
        piece.prop_map(Edit::Replace),
        Just(Edit::DropLine),
        Just(Edit::RepeatLine),
    ]
}

fn apply_edit(text: &str, edit: &Edit, at: prop::sample::Index) -> String {
    let chars: Vec<char> = text.chars().collect();
    if chars.is_empty() {
        return text.to_owned();
    }
    let k = at.index(chars.len());
    let (before, after): (String, String) =
        (chars[..k].iter().collect(), chars[k + 1..].iter().collect());
    match edit {
        Edit::Delete => format!("{before}{after}"),
        Edit::Insert(piece) => format!("{before}{piece}{}{after}", chars[k]),
        Edit::Replace(piece) => format!("{before}{piece}{after}"),
        Edit::DropLine | Edit::RepeatLine => {
            let mut lines: Vec<&str> = text.lines().collect();
            let line = before.matches('\n').count().min(lines.len() - 1);
            match edit {
                Edit::DropLine => drop(lines.remove(line)),
                _ => lines.insert(line, lines[line]),
            }
            lines.join("\n")
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_nests_are_read_back(nest in nests()) {
        let text = nest.to_string();
        prop_assert_eq!(parse_nest(&text).map_err(|e| e.to_string()), Ok(nest), "{}", text);
    }

    #[test]
    fn random_nests_are_their_trees(nest in nests()) {
        // It is the same nest only if all of the tree was read back.
        match closed(&of_nest(&nest), Elem::default()) {
            Ok(Closed::Nest(same)) => prop_assert!(same.is(&nest)),
            other => prop_assert!(false, "{:?}\n{}", other, nest),
        }
    }

    #[test]
    fn damaged_texts_end_in_a_nest_or_at_a_line(
        text in select(TEXTS),
        edits in prop::collection::vec((edits(), any::<prop::sample::Index>()), 1..6),
    ) {
        let damaged = edits
            .iter()
            .fold(text.to_owned(), |text, (edit, at)| apply_edit(&text, edit, *at));
        match parse_nest(&damaged) {
            // A damaged text that still is a nest prints as the same nest.
            Ok(nest) => {
                let printed = nest.to_string();
                prop_assert_eq!(parse_nest(&printed).map_err(|e| e.to_string()), Ok(nest));
            }
            Err(e) => {
                prop_assert!((1..=damaged.lines().count()).contains(&e.line), "{}\n{}", e, damaged);
                prop_assert!(!e.what.is_empty());
            }
        }
    }

    #[test]
    fn any_text_ends_without_a_panic(text in any::<String>()) {
        let _ = parse_nest(&text);
    }
}
