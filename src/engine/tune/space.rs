//! Spaces: named parameters with their possible values.
//!
//! A point is addressed by digits. For each parameter, in the order of choice, a digit is the
//! number of its value in its domain. A domain may depend on earlier parameters. A digit beyond the
//! end of a domain wraps around, so that all digits are valid.

use super::rng::Rng;
use super::value::{Point, Value};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// A function that describes a space failed; the maker of the space knows the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Halt;

/// Values that depend on earlier parameters.
pub type Dependent<'a> = Box<dyn Fn(&Point) -> Result<Vec<Value>, Halt> + 'a>;

/// Whether a point belongs to the space.
pub type Constraint<'a> = Box<dyn Fn(&Point) -> Result<bool, Halt> + 'a>;

/// The values that a parameter can take.
pub enum Domain<'a> {
    /// Fixed values.
    Listed(Vec<Value>),
    /// Values that depend on earlier parameters.
    Dependent(Dependent<'a>),
}

pub struct Parameter<'a> {
    pub name: String,
    pub domain: Domain<'a>,
}

/// The number of each value in its domain.
pub type ConfigIndex = Vec<u32>;

/// Domains by the number of a parameter and the point before it.
type Known = HashMap<(usize, String), Rc<[Value]>>;

pub struct Space<'a> {
    parameters: Vec<Parameter<'a>>,
    constraints: Vec<Constraint<'a>>,
    /// A cache of dependent domains.
    known: RefCell<Known>,
}

impl<'a> Space<'a> {
    /// The space of `parameters`, in the order of choice, restricted by `constraints`.
    pub fn new(parameters: Vec<Parameter<'a>>, constraints: Vec<Constraint<'a>>) -> Space<'a> {
        Space {
            parameters,
            constraints,
            known: RefCell::default(),
        }
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.parameters.iter().map(|p| p.name.as_str())
    }

    /// The number of points, ignoring constraints, if no domain depends on other parameters.
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

    /// The point of these digits, wrapped, with the size of each parameter's domain; `None` if a
    /// domain is empty.
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

    /// The wrapped digits and their point, if the point satisfies the constraints.
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

    /// The next digits in lexical order; they may violate constraints.
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

    pub fn first(&self) -> ConfigIndex {
        vec![0; self.parameters.len()]
    }

    /// Random digits, uniform in each domain.
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

    /// The digits that differ in one parameter: by one step if its values are numbers, otherwise in
    /// any way.
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

    /// The features of a point for regression: the logarithm of a number, the positions of the
    /// elements of a list, and the digit of any other value.
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

/// The position of each element of a list, in the order of their texts. Similar loop orders get
/// similar features.
fn places(values: &[Value]) -> Vec<f64> {
    let texts: Vec<String> = values.iter().map(Value::to_string).collect();
    let mut places: Vec<usize> = (0..values.len()).collect();
    places.sort_by(|a, b| texts[*a].cmp(&texts[*b]));
    places.into_iter().map(|place| place as f64).collect()
}
