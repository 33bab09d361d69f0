//! Questions about trees, each answered in one place: shapes and ranges, positions, bounds,
//! what is touched and what is set before it is read, races, well-formedness, counted work. Trees are only read here.

pub mod bounds;
pub mod footprint;
pub mod legality;
pub mod position;
pub mod relative;
pub mod setting;
pub mod shape;
pub mod verify;
pub mod work;
