//! The baseline finds what Pluto finds: the rows of TeML's Table 2, and the hyperplanes that are
//! published for classic kernels.

use crate::classics;
use crate::dialog;
mod best;
mod by_hand;
mod diamonds;
mod hyperplanes;
mod options;
mod polybench;
mod rows;
mod scattering;
mod table;

use dialog::{nest, shown, string};
