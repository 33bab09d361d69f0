//! Symbolic values: 128-bit hashes of the expressions that made them.
//!
//! Equal expressions have equal values. Different ones have different values, except for hash
//! collisions, which are too improbable to occur. Operands that may be combined in any order are
//! kept as a bag: the sum of their hashes, which does not depend on the order.

use super::answer::Policy;
use crate::ir::{BinaryOp, Constant, Elem, Function, Reduction};

/// The value of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// The value of an expression.
    Plain(u128),
    /// Operands combined in any order: the added ones and, for sums, the subtracted ones. Never a
    /// single added operand.
    Bag {
        op: BinaryOp,
        taken: u128,
        subtracted: u128,
    },
}

impl Value {
    pub(super) fn constant(constant: Constant) -> Value {
        let bits = match constant {
            Constant::F64(x) => x.to_bits().into(),
            Constant::F32(x) => x.to_bits().into(),
            Constant::I32(x) => x as u128,
            Constant::I64(x) => x as u128,
        };
        let mixer = Mixer::of(Kind::Constant).word(constant.elem() as u128);
        Value::Plain(mixer.word(bits).0)
    }

    /// An element-wise operation.
    pub(super) fn binary(op: BinaryOp, left: Value, right: Value) -> Value {
        let mixer = Mixer::of(Kind::Binary).word(op as u128);
        Value::Plain(mixer.word(left.bits()).word(right.bits()).0)
    }

    /// An element-wise function.
    pub(super) fn apply(function: Function, args: &[Value]) -> Value {
        let mixer = Mixer::of(Kind::Apply).text(function.name());
        let mixer = match function {
            Function::Select(comparison) => mixer.word(comparison as u128),
            _ => mixer,
        };
        let mixer = args.iter().fold(mixer, |mixer, x| mixer.word(x.bits()));
        Value::Plain(mixer.0)
    }

    /// The value after an update of this old value.
    pub(super) fn updated(self, op: BinaryOp, operand: Value, elem: Elem, policy: Policy) -> Value {
        let any_order = match op {
            BinaryOp::Min | BinaryOp::Max => true,
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul => {
                policy == Policy::Reassociate || !elem.is_float()
            }
            BinaryOp::Div | BinaryOp::Pow | BinaryOp::Mod => false,
        };
        if !any_order {
            return Value::binary(op, self, operand);
        }
        // A difference is a sum with subtracted operands.
        let (op, subtracts) = match op {
            BinaryOp::Sub => (BinaryOp::Add, true),
            op => (op, false),
        };
        let identity = identity(op, elem);
        if Some(operand) == identity {
            return self;
        }
        if Some(self) == identity && !subtracts {
            return operand;
        }
        let of_old = if Some(self) == identity {
            (0, 0)
        } else {
            self.operands(op)
        };
        let (taken, subtracted) = match (operand.operands(op), subtracts) {
            ((taken, subtracted), true) => (subtracted, taken),
            (operands, false) => operands,
        };
        Value::Bag {
            op,
            taken: of_old.0.wrapping_add(taken),
            subtracted: of_old.1.wrapping_add(subtracted),
        }
    }

    fn bits(self) -> u128 {
        match self {
            Value::Plain(bits) => bits,
            Value::Bag {
                op,
                taken,
                subtracted,
            } => {
                let mixer = Mixer::of(Kind::Bag).word(op as u128);
                mixer.word(taken).word(subtracted).0
            }
        }
    }

    /// The contribution to a bag of this operation. A bag of the same operation contributes all its
    /// operands, any other value itself.
    fn operands(self, operation: BinaryOp) -> (u128, u128) {
        match self {
            Value::Bag {
                op,
                taken,
                subtracted,
            } if op == operation => (taken, subtracted),
            _ => (Mixer::of(Kind::Operand).word(self.bits()).0, 0),
        }
    }
}

/// The initial elements of a tensor.
#[derive(Clone, Copy)]
pub(super) struct Initial(Mixer);

impl Initial {
    /// The initial elements of the tensor with this name.
    pub(super) fn of(tensor: &str) -> Initial {
        Initial(Mixer::of(Kind::Initial).text(tensor))
    }

    pub(super) fn element(self, k: usize) -> Value {
        Value::Plain(self.0.word(k as u128).0)
    }
}

/// The identity of an operation.
fn identity(op: BinaryOp, elem: Elem) -> Option<Value> {
    let reduction = Reduction::ALL.into_iter().find(|r| r.op() == op)?;
    Some(Value::constant(reduction.identity(elem)))
}

/// The kinds of expressions. Each kind seeds the hash differently.
#[derive(Clone, Copy)]
enum Kind {
    Initial,
    Constant,
    Binary,
    Apply,
    Bag,
    Operand,
}

/// Hashes words, in order, into 128 bits.
#[derive(Clone, Copy)]
struct Mixer(u128);

/// Odd numbers without pattern: the fraction of the golden ratio, and the multiplier of a random
/// number generator (O'Neill, PCG, 2014).
const ODD: [u128; 2] = [
    0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835,
    0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645,
];

impl Mixer {
    fn of(kind: Kind) -> Mixer {
        Mixer(0).word(kind as u128)
    }

    fn word(self, word: u128) -> Mixer {
        let step = |x: u128, odd| {
            let product = x.wrapping_mul(odd);
            product ^ (product >> 67)
        };
        let mixed = step(step(self.0 ^ word, ODD[0]), ODD[1]);
        Mixer(mixed.wrapping_add(ODD[0]))
    }

    fn text(self, text: &str) -> Mixer {
        let length = self.word(text.len() as u128);
        text.bytes().fold(length, |mixer, b| mixer.word(b.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUM: (BinaryOp, Elem) = (BinaryOp::Add, Elem::F64);

    fn fold(first: Value, operands: &[(BinaryOp, Value)], policy: Policy) -> Value {
        let update = |old: Value, (op, x): &(BinaryOp, Value)| old.updated(*op, *x, SUM.1, policy);
        operands.iter().fold(first, update)
    }

    #[test]
    fn order_matters_where_it_may_not_change() {
        let zero = Value::constant(Constant::F64(0.0));
        let [a, b] = [0, 1].map(|k| Initial::of("A").element(k));
        let [ab, ba] = [[a, b], [b, a]].map(|operands| operands.map(|x| (SUM.0, x)));
        for (policy, equal) in [(Policy::Strict, false), (Policy::Reassociate, true)] {
            let sums = [&ab, &ba].map(|operands| fold(zero, operands, policy));
            assert_eq!(sums[0] == sums[1], equal);
        }
        let least = |x: Value, y| x.updated(BinaryOp::Min, y, Elem::F64, Policy::Strict);
        assert_eq!(least(a, b), least(b, a));
        let integers = |x: Value, y| x.updated(BinaryOp::Mul, y, Elem::I32, Policy::Strict);
        assert_eq!(integers(a, b), integers(b, a));
        let quotient = |x: Value, y| x.updated(BinaryOp::Div, y, Elem::F64, Policy::Reassociate);
        assert_ne!(quotient(a, b), quotient(b, a));
    }

    #[test]
    fn partial_sums_add_up_and_nothing_is_counted_twice_or_lost() {
        use BinaryOp::{Add, Mul, Sub};
        let all = |first, operands: &[_]| fold(first, operands, Policy::Reassociate);
        let zero = Value::constant(Constant::F64(0.0));
        let [a, b, c] = [0, 1, 2].map(|k| Initial::of("A").element(k));
        let whole = all(a, &[(Add, b), (Add, c), (Add, a)]);
        let partial = all(zero, &[(Add, c), (Add, a)]);
        assert_eq!(all(zero, &[(Add, b), (Add, partial), (Add, a)]), whole);
        assert_eq!(all(zero, &[(Add, a)]), a);
        assert_ne!(all(a, &[(Add, b), (Add, c)]), whole);
        assert_ne!(all(a, &[(Add, b), (Add, c), (Add, b)]), whole);
        let difference = all(a, &[(Sub, b), (Sub, c)]);
        assert_eq!(
            all(a, &[(Sub, all(zero, &[(Add, c), (Add, b)]))]),
            difference
        );
        assert_eq!(
            all(a, &[(Add, all(zero, &[(Sub, c), (Sub, b)]))]),
            difference
        );
        assert_ne!(all(a, &[(Add, b), (Sub, c)]), difference);
        assert_ne!(all(a, &[(Mul, b), (Add, c)]), all(a, &[(Add, c), (Mul, b)]));
    }

    #[test]
    fn bits_are_mixed_well() {
        let mut seen = std::collections::HashSet::new();
        for k in 0..10_000 {
            let Value::Plain(bits) = Initial::of("A").element(k) else {
                panic!("an initial value is plain")
            };
            // Either half alone distinguishes all of them.
            assert!(seen.insert(bits as u64) && seen.insert((bits >> 64) as u64));
        }
    }
}
