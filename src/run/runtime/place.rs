//! Places tensors in memory.

/// Bytes of a cache line, and of a page.
const LINE: usize = 64;
const PAGE: usize = 4096;

const _: () = assert!(LINE.is_multiple_of(crate::codegen::ALIGNMENT));

/// Where the elements of a tensor start in a page.
///
/// Processors first compare addresses within a page (4K aliasing), so a load waits for a store at
/// the same page offset elsewhere. Lines at the same page offset also compete for the same cache
/// set. Elements of two tensors at the same index would always alias, and the loads of a stencil
/// would alias with its latest stores. So each tensor has a start of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The input with this number.
    Input(usize),
    /// The output with this number.
    Output(usize),
}

impl Place {
    /// The distance from the beginning of a page in bytes, a multiple of
    /// [`ALIGNMENT`](crate::codegen::ALIGNMENT).
    ///
    /// Multiples of the golden section of a page keep the first inputs and the first outputs far
    /// apart. An output does not end just before the elements of an early input that are read next.
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
