//! Spaces: named parameters with the values that they can take.
//!
//! A point is addressed by digits: for each parameter, in the order in which they are chosen, the
//! number of its value in its domain. A domain may depend on the parameters before it. A digit
//! beyond the end of a domain wraps around, so that all digits mean something.

use super::rng::Rng;
use super::value::{Point, Value};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// A function that describes a space failed, and whoever made the space knows why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Halt;

/// Values that follow from those of the parameters before.
pub type Dependent<'a> = Box<dyn Fn(&Point) -> Result<Vec<Value>, Halt> + 'a>;

/// Whether a point belongs to the space.
pub type Constraint<'a> = Box<dyn Fn(&Point) -> Result<bool, Halt> + 'a>;

/// The values that a parameter can take.
pub enum Domain<'a> {
    /// These, whatever other parameters are.
    Listed(Vec<Value>),
    /// Those that follow from the parameters before.
    Dependent(Dependent<'a>),
}

/// A parameter.
pub struct Parameter<'a> {
    /// Its name.
    pub name: String,
    /// Its values.
    pub domain: Domain<'a>,
}

/// The numbers of values in their domains.
pub type ConfigIndex = Vec<u32>;

/// Values by the number of a parameter, and the point before it.
type Known = HashMap<(usize, String), Rc<[Value]>>;

/// A space.
pub struct Space<'a> {
    parameters: Vec<Parameter<'a>>,
    constraints: Vec<Constraint<'a>>,
    /// Domains that were asked for before.
    known: RefCell<Known>,
}

impl<'a> Space<'a> {
    /// The space of `parameters`, in the order in which they are chosen, where all `constraints`
    /// hold.
    pub fn new(parameters: Vec<Parameter<'a>>, constraints: Vec<Constraint<'a>>) -> Space<'a> {
        Space {
            parameters,
            constraints,
            known: RefCell::default(),
        }
    }

    /// The names of the parameters.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.parameters.iter().map(|p| p.name.as_str())
    }

    /// How many points there are, whatever constraints say, if no domain depends on others.
    pub fn size(&self) -> Option<u64> {
        let mut sizes = self.parameters.iter().map(|p| match &p.domain {
            Domain::Listed(values) => Some(values.len() as u64),
            Domain::Dependent(_) => None,
        });
        sizes.try_fold(1u64, |all, size| all.checked_mul(size?))
    }

    /// The values of parameter `k` after those of `before`.
    fn values(&self, k: usize, before: &Point) -> Result<Rc<[Value]>, Halt> {
        let key = match self.parameters[k].domain {
            Domain::Listed(_) => (k, String::new()),
            Domain::Dependent(_) => (k, before.to_string()),
        };
        if let Some(known) = self.known.borrow().get(&key) {
            return Ok(known.clone());
        }
        let values: Rc<[Value]> = match &self.parameters[k].domain {
            Domain::Listed(values) => values.as_slice().into(),
            Domain::Dependent(of) => of(before)?.into(),
        };
        self.known.borrow_mut().insert(key, values.clone());
        Ok(values)
    }

    /// The point of these digits, wrapped, and how many values each parameter has there; `None` if
    /// a domain is empty.
    fn walk(&self, digits: &[u32]) -> Result<Option<(ConfigIndex, Point, Vec<u32>)>, Halt> {
        let mut point = Point::default();
        let (mut wrapped, mut lengths) = (Vec::new(), Vec::new());
        for (k, parameter) in self.parameters.iter().enumerate() {
            let values = self.values(k, &point)?;
            let length = values.len() as u32;
            let digit = digits.get(k).copied().unwrap_or(0).checked_rem(length);
            let Some(digit) = digit else {
                return Ok(None);
            };
            wrapped.push(digit);
            lengths.push(length);
            point = point.with(&parameter.name, values[digit as usize].clone());
        }
        Ok(Some((wrapped, point, lengths)))
    }

    /// The digits, wrapped, and their point, if it belongs to the space.
    pub fn point(&self, digits: &[u32]) -> Result<Option<(ConfigIndex, Point)>, Halt> {
        let Some((digits, point, _)) = self.walk(digits)? else {
            return Ok(None);
        };
        for holds in &self.constraints {
            if !holds(&point)? {
                return Ok(None);
            }
        }
        Ok(Some((digits, point)))
    }

    /// The digits after these in lexical order, whether they belong to the space or not.
    pub fn after(&self, digits: &[u32]) -> Result<Option<ConfigIndex>, Halt> {
        for k in (0..digits.len()).rev() {
            let mut next = digits[..k].to_vec();
            let before = self.prefix(&next)?;
            let length = self.values(k, &before)?.len() as u32;
            if digits[k] + 1 < length {
                next.push(digits[k] + 1);
                next.resize(self.parameters.len(), 0);
                return Ok(Some(next));
            }
        }
        Ok(None)
    }

    fn prefix(&self, digits: &[u32]) -> Result<Point, Halt> {
        let mut point = Point::default();
        for (k, digit) in digits.iter().enumerate() {
            let values = self.values(k, &point)?;
            if let Some(value) = values.get(*digit as usize) {
                point = point.with(&self.parameters[k].name, value.clone());
            }
        }
        Ok(point)
    }

    /// The first digits in lexical order.
    pub fn first(&self) -> ConfigIndex {
        vec![0; self.parameters.len()]
    }

    /// Random digits, each value of a domain as likely as the others.
    pub fn random(&self, rng: &mut Rng) -> Result<ConfigIndex, Halt> {
        let mut digits = Vec::new();
        let mut point = Point::default();
        for (k, parameter) in self.parameters.iter().enumerate() {
            let values = self.values(k, &point)?;
            let digit = rng.below(values.len());
            digits.push(digit as u32);
            if let Some(value) = values.get(digit) {
                point = point.with(&parameter.name, value.clone());
            }
        }
        Ok(digits)
    }

    /// The digits that differ in one parameter: by one step where its values are numbers, in any
    /// way where they are not.
    pub fn neighbors(&self, digits: &[u32]) -> Result<Vec<ConfigIndex>, Halt> {
        let Some((digits, point, lengths)) = self.walk(digits)? else {
            return Ok(Vec::new());
        };
        let mut all = Vec::new();
        for (k, (_, value)) in point.iter().enumerate() {
            let is_number = matches!(value, Value::Int(_) | Value::Float(_));
            let near = |digit: u32| digit.abs_diff(digits[k]) == 1;
            let others = (0..lengths[k]).filter(|d| *d != digits[k] && (!is_number || near(*d)));
            all.extend(others.map(|digit| {
                let mut other = digits.clone();
                other[k] = digit;
                other
            }));
        }
        Ok(all)
    }

    /// A point as numbers, for regression: the logarithm of a number, where each element of a list is,
    /// and for any other value its place in the domain.
    pub fn features(&self, digits: &[u32]) -> Result<Vec<f64>, Halt> {
        let Some((digits, point, _)) = self.walk(digits)? else {
            return Ok(Vec::new());
        };
        let features = |(digit, (_, value)): (&u32, &(String, Value))| match value {
            Value::Int(_) | Value::Float(_) => {
                let x = value.number().unwrap_or(0.0);
                vec![x.signum() * x.abs().ln_1p()]
            }
            Value::Bool(on) => vec![f64::from(u8::from(*on))],
            Value::List(values) => places(values),
            _ => vec![f64::from(*digit)],
        };
        let all = digits.iter().zip(point.iter()).flat_map(features);
        Ok(all.collect())
    }
}

/// Where each element of a list is, in the order of their texts: orders of loops are near each other
/// where loops are in the same places.
fn places(values: &[Value]) -> Vec<f64> {
    let texts: Vec<String> = values.iter().map(Value::to_string).collect();
    let mut places: Vec<usize> = (0..values.len()).collect();
    places.sort_by(|a, b| texts[*a].cmp(&texts[*b]));
    places.into_iter().map(|place| place as f64).collect()
}
