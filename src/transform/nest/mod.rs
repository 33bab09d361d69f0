//! Transformations of loop nests: TeML Fig. 9 and §3.3.3.
//!
//! Loop names are unique in a nest, and derived names are always the same:
//!
//! - `i_o` and `i_i` for blocks and their iterations, `i_r` for the remainder;
//! - `i_f` and `i_b` for peeled ends, `i_g` for a guard, `i_s` for slabs;
//! - `j_u0`, `j_u1` for unrolled copies, `A_pack_1` for a loop that copies.
//!
//! Further copies of a loop get the first free number. Clashes that the user can foresee are
//! errors, and `rename` resolves them.
//!
//! Indices of blocks are multiplied instead of giving loops steps other than 1, so that every
//! other transformation accepts the result. Loops of a text may have steps; a transformation that
//! cannot handle them refuses.
//!
//! Transformations substitute in statements instead of writing new ones, so that these keep their
//! origins. The mode and the hints of a loop stay with its iterations. Hints change no result.

pub mod annotate;
pub mod assume;
pub mod at;
pub mod avoid_copy;
pub mod bind;
mod buffer;
pub mod build;
pub mod collapse;
pub mod compute_at;
pub mod distribute;
pub mod donate;
pub mod double_buffer;
mod fills;
pub mod fuse;
pub mod fuse_inner;
pub mod fuse_outer;
mod guard;
pub mod inline;
mod inside;
pub mod interchange;
pub mod isolate;
pub mod localize;
mod mixed_radix;
pub mod mode;
pub mod move_before;
pub mod pack;
pub mod pad;
pub mod pad_buffer;
pub mod panels;
mod parts;
pub mod peel;
mod permute;
pub mod place;
pub mod place_init;
mod place_inits;
pub mod plain_loops;
pub mod prefer;
pub mod prefetch;
mod producer;
pub mod redefine;
pub mod reduce_cache_miss;
pub mod regroup;
pub mod rename;
pub mod reorder;
pub mod repeat;
mod resolve;
mod reuse;
pub mod reuse_buffer;
pub mod reverse;
pub mod reverse_compute_at;
pub mod rfactor;
pub mod scan;
pub mod separate;
pub mod shift;
pub mod skew;
pub mod slabs;
pub mod specialize;
pub mod split_at;
pub mod stage;
pub mod stream;
pub mod stripmine;
pub mod sweep;
pub mod text;
pub mod tighten;
pub mod unroll;
pub mod unroll_and_jam;
