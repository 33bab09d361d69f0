//! What tensors hold before a trial.

use crate::ir::{Name, Tensor};
use crate::runtime::Data;
use std::collections::HashMap;

/// Initial contents by tensor name; what is not set is a pattern of numbers.
#[derive(Clone, Debug, Default)]
pub struct Inputs(HashMap<Name, Data>);

impl Inputs {
    /// Sets the contents of the tensor `name`.
    pub fn set(&mut self, name: Name, data: Data) {
        self.0.insert(name, data);
    }

    /// What was set for the tensor `name`.
    pub fn get(&self, name: &Name) -> Option<&Data> {
        self.0.get(name)
    }

    /// What was set, by tensor name.
    pub fn iter(&self) -> impl Iterator<Item = (&Name, &Data)> {
        self.0.iter()
    }

    /// The same with contents for triangular matrices among `tensors` that nothing was set for.
    pub(super) fn settled(&self, tensors: &[Tensor]) -> Inputs {
        let mut inputs = self.clone();
        for tensor in tensors.iter().filter(|t| t.triangle().is_some()) {
            if let Some(name) = tensor.name()
                && self.get(name).is_none()
            {
                let data = self.data(tensor, tensors).inside_triangle(tensor);
                inputs.set(name.clone(), data);
            }
        }
        inputs
    }

    /// The contents of `tensor`, whose place among `tensors` numbers its pattern.
    pub(super) fn data(&self, tensor: &Tensor, tensors: &[Tensor]) -> Data {
        let set = tensor.name().and_then(|name| self.0.get(name));
        let number = tensors
            .iter()
            .position(|t| t.name() == tensor.name())
            .unwrap_or(0);
        set.cloned().unwrap_or(Data::Pattern(number as u64))
    }
}
