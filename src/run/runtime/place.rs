//! Where tensors lie in memory.

/// Bytes of a cache line, and of the pages of processors.
const LINE: usize = 64;
const PAGE: usize = 4096;

const _: () = assert!(LINE.is_multiple_of(crate::codegen::ALIGNMENT));

/// Where the elements of a tensor start in a page.
///
/// Processors compare addresses within a page first, so that a load waits for a store elsewhere
/// that agrees with it there, and lines that agree there compete for the same places of a cache.
/// Elements of two tensors at the same index would always agree, and those that a stencil reads
/// would agree with what it has just stored. So each has a start of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Of the input with this number.
    Input(usize),
    /// Of the output with this number.
    Output(usize),
}

impl Place {
    /// The distance from the beginning of a page in bytes, a multiple of
    /// [`ALIGNMENT`](crate::codegen::ALIGNMENT).
    ///
    /// Multiples of the golden section of a page: the first ones of both kinds are far apart, and
    /// no output is just before what of an early input comes next.
    pub fn start(self) -> usize {
        const STEP: usize = 39;
        let lines = PAGE / LINE;
        let number = match self {
            Place::Input(k) => k % lines,
            Place::Output(k) => lines - 1 - k % lines,
        };
        number * STEP % lines * LINE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tensors_of_a_kernel_start_far_apart_in_their_pages() {
        let places = (0..4).map(Place::Input).chain((0..2).map(Place::Output));
        let starts: Vec<usize> = places.map(Place::start).collect();
        for (k, a) in starts.iter().enumerate() {
            assert!(a.is_multiple_of(LINE) && *a < PAGE, "{starts:?}");
            for b in &starts[..k] {
                let apart = a.abs_diff(*b);
                assert!(apart.min(PAGE - apart) >= 3 * LINE, "{starts:?}");
            }
        }
    }
}
