//! The laws of operators, tested.
//!
//! No proof decides whether an operator of the user's own is associative. It is evaluated instead,
//! by the interpreter, on the values that a nest really combines: their operands are drawn at
//! random, half of them small integers, so that values are often equal. Some of the values tested
//! are combined of two others. NaN equals NaN.

use crate::interp::store::{Data, Store};
use crate::interp::{Fault, definition};
use crate::ir::{
    Affine, Constant, Domain, Elem, Expr, Law, Name, Node, Operator, Range, Shape, Tensor,
};
use std::fmt;

/// The laws that an operator obeys on the values tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Obeyed {
    /// Whether `x op y` equals `y op x`.
    pub commutes: bool,
    /// Whether results are the same to the last bit.
    pub is_exact: bool,
}

impl Obeyed {
    /// The laws in words, as a nest keeps them.
    pub fn law(self, operator: &Operator) -> Law {
        let commutes = if self.commutes {
            " and commutative"
        } else {
            ""
        };
        let rounds = if self.is_exact { "" } else { " up to rounding" };
        let (name, cases) = (&operator.name, CASES);
        Law {
            text: format!(
                "`{name}` is associative{commutes}{rounds}, which {cases} random cases confirm"
            ),
            is_exact: self.is_exact,
        }
    }
}

/// Why values cannot be regrouped by an operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unlawful {
    /// A case in which it breaks a law.
    Broken {
        /// The sides of the law.
        law: &'static str,
        /// The values in it, by name.
        values: Vec<(&'static str, String)>,
        /// The values of the two sides.
        sides: [String; 2],
    },
    /// It has no value in some case.
    Fault(Fault),
}

impl From<Fault> for Unlawful {
    fn from(fault: Fault) -> Unlawful {
        Unlawful::Fault(fault)
    }
}

impl fmt::Display for Unlawful {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unlawful::Broken { law, values, sides } => {
                let values = values
                    .iter()
                    .map(|(name, value)| format!("{name} = {value}"));
                let (values, [left, right]) = (values.collect::<Vec<_>>().join(", "), sides);
                write!(
                    f,
                    "breaks a law: {law}: {left} differs from {right} for {values}"
                )
            }
            Unlawful::Fault(fault) => write!(f, "cannot be evaluated on random values: {fault}"),
        }
    }
}

/// How many cases are tested.
const CASES: u64 = 256;

/// The relative error that counts as rounding.
fn rounding(elem: Elem) -> f64 {
    match elem {
        Elem::F64 => 1e-9,
        Elem::F32 => 1e-4,
        Elem::I32 | Elem::I64 => 0.0,
    }
}

/// Tests an operator on values whose components are `element`, whatever their operands hold.
///
/// # Errors
/// A case in which the identity is none, the operator is not associative, or there is no value.
pub fn obeyed(operator: &Operator, element: &[Expr]) -> Result<Obeyed, Unlawful> {
    let mut test = Test {
        operator,
        store: Store::new(),
        made: 0,
        seed: 0x9e37_79b9_7f4a_7c15,
    };
    let mut drawn = || test.elements(element);
    let [x, y, z] = [drawn()?, drawn()?, drawn()?];
    let [u, v, w] = [drawn()?, drawn()?, drawn()?];
    let identity = test.identity()?;
    let mut obeyed = Obeyed {
        commutes: true,
        is_exact: true,
    };
    let (p, q, r) = (
        test.combined(&x, &u)?,
        test.combined(&y, &v)?,
        test.combined(&z, &w)?,
    );
    for (x, y, z) in [(&x, &y, &z), (&p, &q, &r), (&x, &q, &z)] {
        let named = [("x", x)];
        for (law, with) in [
            ("identity op x = x", test.combined(&identity, x)?),
            ("x op identity = x", test.combined(x, &identity)?),
        ] {
            match test.same(&with, x) {
                Same::Exactly => {}
                Same::Rounded => obeyed.is_exact = false,
                Same::Not(case) => return Err(test.broken(law, &named, [&with, x], case)),
            }
        }
        let xy = test.combined(x, y)?;
        let yz = test.combined(y, z)?;
        let sides = [test.combined(&xy, z)?, test.combined(x, &yz)?];
        match test.same(&sides[0], &sides[1]) {
            Same::Exactly => {}
            Same::Rounded => obeyed.is_exact = false,
            Same::Not(case) => {
                let named = [("x", x), ("y", y), ("z", z)];
                let law = "(x op y) op z = x op (y op z)";
                let sides = [&sides[0], &sides[1]];
                return Err(test.broken(law, &named, sides, case));
            }
        }
        let yx = test.combined(y, x)?;
        obeyed.commutes &= !matches!(test.same(&xy, &yx), Same::Not(_));
    }
    Ok(obeyed)
}

/// The components of values, one element for each case.
type Values = Vec<Tensor>;

enum Same {
    Exactly,
    Rounded,
    /// Not in this case.
    Not(usize),
}

struct Test<'o> {
    operator: &'o Operator,
    store: Store<'static>,
    made: usize,
    seed: u64,
}

impl Test<'_> {
    /// A new tensor with an element for each case.
    fn tensor(&mut self, elem: Elem, value: impl Fn(u64) -> f64) -> Tensor {
        self.made += 1;
        let name = Name::of_level(self.made).derived("case");
        let tensor = Tensor::new(Shape::of_extents([CASES]), elem).named(name.clone());
        self.store.insert(name, Data::generate(&tensor, value));
        tensor
    }

    /// Stores expressions, one for each component, in all cases.
    fn stored(&mut self, values: &[Expr]) -> Result<Values, Fault> {
        values.iter().map(|value| self.evaluated(value)).collect()
    }

    fn evaluated(&mut self, value: &Expr) -> Result<Tensor, Fault> {
        let tensor = self.tensor(value.elem(), |_| 0.0);
        let case = Name::of_level(0);
        let whole = Range::constant(0, CASES.cast_signed());
        let assignment = Expr::new(Node::Assign {
            target: Expr::element(&tensor, vec![Affine::iterator(case.clone())]),
            value: value.clone(),
            within: Domain::new([(case, whole)]),
            elsewhere: None,
        });
        definition::run(&[assignment], &mut self.store)?;
        Ok(tensor)
    }

    /// Values with the components `element` for random operands. Equal operands of components are
    /// equal.
    fn elements(&mut self, element: &[Expr]) -> Result<Values, Fault> {
        let mut leaves: Vec<(Expr, Tensor)> = Vec::new();
        for value in element {
            self.draw(value, &mut leaves);
        }
        let leaf = |part: &Expr| {
            let (_, tensor) = leaves.iter().find(|(leaf, _)| leaf == part)?;
            Some(at_case(tensor))
        };
        let values: Vec<Expr> = element.iter().map(|value| value.replace(&leaf)).collect();
        self.stored(&values)
    }

    fn draw(&mut self, value: &Expr, leaves: &mut Vec<(Expr, Tensor)>) {
        if !matches!(value.node(), Node::Access { .. } | Node::Index(_)) {
            value
                .children()
                .into_iter()
                .for_each(|part| self.draw(part, leaves));
            return;
        }
        if leaves.iter().any(|(leaf, _)| leaf == value) {
            return;
        }
        let is_float = value.elem().is_float();
        let drawn: Vec<f64> = (0..CASES).map(|case| self.random(case, is_float)).collect();
        let number = |case: u64| usize::try_from(case).map_or(0.0, |case| drawn[case]);
        let tensor = self.tensor(value.elem(), number);
        leaves.push((value.clone(), tensor));
    }

    /// A number for a case: a small integer, or a fraction.
    fn random(&mut self, case: u64, is_float: bool) -> f64 {
        // Xorshift64: Marsaglia, Xorshift RNGs, 2003.
        self.seed ^= self.seed << 13;
        self.seed ^= self.seed >> 7;
        self.seed ^= self.seed << 17;
        let bits = self.seed >> 11;
        match is_float && case % 2 == 1 {
            true => bits as f64 / (1u64 << 52) as f64 - 1.0,
            false => (bits % 7) as f64 - 3.0,
        }
    }

    fn identity(&mut self) -> Result<Values, Fault> {
        let numbers = self.operator.identity.iter();
        let numbers: Vec<Expr> = numbers.map(|n| Expr::new(Node::Constant(*n))).collect();
        self.stored(&numbers)
    }

    fn combined(&mut self, x: &Values, y: &Values) -> Result<Values, Fault> {
        let of = |values: &Values| -> Vec<Expr> { values.iter().map(at_case).collect() };
        let values = self.operator.combined(&of(x), &of(y));
        self.stored(&values)
    }

    /// The component of a value in a case.
    fn number(&self, tensor: &Tensor, case: usize) -> Option<Constant> {
        Some(match self.store.get(tensor.name()?)? {
            Data::F64(d) => Constant::F64(*d.get(case)?),
            Data::F32(d) => Constant::F32(*d.get(case)?),
            Data::I32(d) => Constant::I32(*d.get(case)?),
            Data::I64(d) => Constant::I64(*d.get(case)?),
        })
    }

    fn same(&self, x: &Values, y: &Values) -> Same {
        let mut all = Same::Exactly;
        for case in 0..usize::try_from(CASES).unwrap_or(0) {
            for (one, other) in x.iter().zip(y) {
                let numbers = (self.number(one, case), self.number(other, case));
                let (Some(one), Some(other)) = numbers else {
                    return Same::Not(case);
                };
                if one == other || is_equal(one, other) {
                    continue;
                }
                let (a, b) = (approximate(one), approximate(other));
                if (a - b).abs() <= rounding(one.elem()) * a.abs().max(b.abs()).max(1.0) {
                    all = Same::Rounded;
                } else {
                    return Same::Not(case);
                }
            }
        }
        all
    }

    fn broken(
        &self,
        law: &'static str,
        values: &[(&'static str, &Values)],
        sides: [&Values; 2],
        case: usize,
    ) -> Unlawful {
        let text = |values: &Values| {
            let parts = values.iter().filter_map(|t| self.number(t, case));
            let parts: Vec<String> = parts.map(|number| number.to_string()).collect();
            format!("({})", parts.join(", "))
        };
        Unlawful::Broken {
            law,
            values: values
                .iter()
                .map(|(name, value)| (*name, text(value)))
                .collect(),
            sides: sides.map(text),
        }
    }
}

fn at_case(tensor: &Tensor) -> Expr {
    Expr::element(tensor, vec![Affine::iterator(Name::of_level(0))])
}

/// Whether numbers are equal: 0 and -0 are, and NaN and NaN.
fn is_equal(one: Constant, other: Constant) -> bool {
    let (a, b) = (approximate(one), approximate(other));
    one.elem().is_float() && (a == b || a.is_nan() && b.is_nan())
}

fn approximate(number: Constant) -> f64 {
    match number {
        Constant::F64(x) => x,
        Constant::F32(x) => x.into(),
        Constant::I32(x) => x.into(),
        Constant::I64(x) => x as f64,
    }
}
