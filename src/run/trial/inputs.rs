//! The initial contents of tensors in a trial.

use crate::ir::{Name, Tensor};
use crate::runtime::Data;
use std::collections::HashMap;

/// Initial contents by tensor name; unset tensors get a pattern of numbers.
#[derive(Clone, Debug, Default)]
pub struct Inputs {
    /// In the order in which they were first set.
    list: Vec<(Name, Data)>,
    places: HashMap<Name, usize>,
}

impl FromIterator<(Name, Data)> for Inputs {
    fn from_iter<I: IntoIterator<Item = (Name, Data)>>(given: I) -> Inputs {
        let mut inputs = Inputs::default();
        given
            .into_iter()
            .for_each(|(name, data)| inputs.set(name, data));
        inputs
    }
}

impl Inputs {
    /// Sets the contents of the tensor `name`.
    pub fn set(&mut self, name: Name, data: Data) {
        match self.places.get(&name) {
            Some(place) => self.list[*place].1 = data,
            None => {
                self.places.insert(name.clone(), self.list.len());
                self.list.push((name, data));
            }
        }
    }

    /// The contents that were set for the tensor `name`.
    pub fn get(&self, name: &Name) -> Option<&Data> {
        self.places.get(name).map(|place| &self.list[*place].1)
    }

    /// All contents that were set, in the order in which tensors were first set.
    pub fn iter(&self) -> impl Iterator<Item = (&Name, &Data)> {
        self.list.iter().map(|(name, data)| (name, data))
    }

    /// Adds contents for those tensors with declared zeros or entries for which none were set.
    pub(super) fn settled(&self, tensors: &[Tensor]) -> Inputs {
        let mut inputs = self.clone();
        // Sorted entries depend on where rows begin.
        let in_rows = |tensor: &Tensor| tensor.entries().is_some_and(|of| of.rows.is_some());
        let mut numbered: Vec<(usize, &Tensor)> = tensors.iter().enumerate().collect();
        numbered.sort_by_key(|(_, tensor)| in_rows(tensor));
        for (number, tensor) in numbered {
            let Some(name) = tensor.name().filter(|name| self.get(name).is_none()) else {
                continue;
            };
            if tensor.has_zeros() {
                let data = self.data(tensor, tensors).between_zeros(tensor);
                inputs.set(name.clone(), data);
            }
            let of = |name: &Name| {
                let found = tensors.iter().find(|tensor| tensor.name() == Some(name))?;
                Some((found, inputs.get(name)?))
            };
            if let Some(data) = Data::entries(tensor, number as u64, &of) {
                inputs.set(name.clone(), data);
            }
        }
        inputs
    }

    /// The contents of `tensor`, whose position among `tensors` numbers its pattern.
    pub(super) fn data(&self, tensor: &Tensor, tensors: &[Tensor]) -> Data {
        let set = tensor.name().and_then(|name| self.get(name));
        let number = tensors
            .iter()
            .position(|t| t.name() == tensor.name())
            .unwrap_or(0);
        set.cloned().unwrap_or(Data::Pattern(number as u64))
    }
}
