//! Analyses of trees. They only read trees, and each question is answered in one place:
//!
//! | question | function |
//! |---|---|
//! | Which values do the free iterators of an expression have? | [`shape::ranges`] |
//! | And those of all its iterators? | [`shape::all_ranges`] |
//! | And those of the value of an assignment over a domain? | [`shape::ranges_within`] |
//! | Which values are known before an assignment gives ranges? | [`shape::ranges_so_far`] |
//! | And for all iterators? | [`shape::all_ranges_so_far`] |
//! | And for quotients and remainders of iterators? | [`shape::ranges_of_digits`] |
//! | Which end has the range of an index, in terms of sizes? | `iterator_range::extreme` |
//! | Which shape does an expression have? | [`shape::virtual_shape`] |
//! | And which extents, also of a target? | [`shape::extents`] |
//! | Does an iterator list have one entry for each dimension? | [`shape::check_rank`] |
//! | Do several iterators in one index give different values? | [`mixed_radix::is_injective`] |
//! | How many values do they give, if there are no holes? | [`mixed_radix::dense_extent`] |
//! | Do they give all values from 0 to before an extent with sizes? | [`mixed_radix::covers`] |
//! | Where is the loop at a level? | [`position::at_level`] |
//! | Where is the loop at the last level? | [`position::deepest_level`] |
//! | Where is the loop with a name? | [`position::named`] |
//! | Which loops lead to a position? | [`position::chain`] |
//! | How to put another tree at a position? | [`position::splice`] |
//! | Which trees are there, where, in which loops? | [`position::walk`] |
//! | From where do how many iterations of a range run? | [`bounds::extent`] |
//! | Is an affine expression at least 0 in all iterations of loops? | [`facts::is_nonnegative`] |
//! | And for all sizes? | [`facts::is_nonnegative_for_sizes`] |
//! | Which value is it at most? | [`facts::most`] |
//! | And in terms of sizes? | [`facts::greatest_for_sizes`] |
//! | Which bounds of the loops in trees does no other one imply? | [`implied::simplified`] |
//! | And for the ranges of a chain of loops? | [`implied::simplified_chain`] |
//! | And for one range? | [`implied::simplified_range`] |
//! | Which ranges do loops have in another order? | [`project::permuted_ranges`] |
//! | Which iterations of the loops around trees reach a statement in them? | [`reached::reached`] |
//! | And each statement in them? | [`reached::alternatives`] |
//! | Are there none that satisfy conditions? | [`reached::is_never`] |
//! | Which element does a statement update, and store as another one? | [`recurrence::recurrence`] |
//! | Which form does an index have, relative to outer iterators? | [`relative::relative`] |
//! | How far is an iterator from a lower bound at most? | [`relative::offset_form`] |
//! | Does an access of trees leave its tensor? | [`outside::first_outside`] |
//! | And one of a statement or fill? | [`outside::outside`] |
//! | And one of a fill, for certain? | [`outside::leaves`] |
//! | And may an access of one element? | [`outside::may_leave`] |
//! | Where is a tensor used? | [`footprint::uses`] |
//! | Which box of a tensor do uses touch? | [`footprint::footprint`] |
//! | Are the boxes of two uses disjoint? | [`footprint::are_disjoint`] |
//! | Which use may read an element before it is set? | [`definedness::first_undefined`] |
//! | Is every element set that uses touch? | [`definedness::sets_all`] |
//! | Is a nest well-formed? | [`verify::verify`] |
//! | Where do the entries of the rows of a loop begin? | [`row_starts::row_starts`] |
//! | Which class of computation is a nest? | [`computation::computation`] |
//! | Which roles do loops have in a product? | `computation::product::product` |
//! | And in interleaved products? | `computation::product::interleaved` |
//! | And in a triangle of a product? | `computation::triangle::triangle` |
//! | And in a sum over a window? | `computation::window::window` |
//! | Which elements do the statements of trees read and write? | `computation::assignment::accesses` |
//! | Which tensors does an assignment of a program read? | [`program::reads`] |
//! | Which tensor does it assign? | [`program::target`] |
//! | Which tensors does a program need from outside? | [`program::inputs`] |
//! | Which tensors are its results? | [`program::outputs`] |
//! | Which variables say so? | [`program::with_outputs`] |
//! | Which tensors does only the program need? | [`program::temporaries`] |
//! | Which tensors does nothing use? | [`program::unused`] |
//! | Which assignments are live? | [`program::live`] |
//! | How often are the statements of trees executed, by weight? | [`count::total`] |
//! | And at most? | [`levels::executions`] |
//! | How much work is that in terms of sizes, before any step? | [`work::by_sizes`] |
//! | How many operations does a definition take? | [`work::flops`] |
//! | How many bytes does it move at least? | [`work::moved`] |
//! | Which loops does a nest have, and what happens in each? | [`levels::levels`] |
//! | How many iterations does a loop have at most? | [`levels::trips`] |
//! | How much work is one run of a loop at most? | [`levels::work`] |
//! | Does a device run a loop of trees? | [`launches::is_on_device`] |
//! | And one on blocks? | [`launches::has_grid`] |
//! | Which launches are trees? | [`launches::launches`] |
//! | Which thread runs an iteration of it? | [`launches::thread`] |
//! | Which elements do later iterations of a loop touch first? | [`prefetch_address::prefetch_addresses`] |
//! | Which share of it does each iteration prefetch? | [`prefetch_plan::prefetch_plan`] |

mod iterator_range;
mod mismatch;
mod solver;

pub mod bounds;
pub mod computation;
pub mod count;
pub mod definedness;
pub mod facts;
pub mod footprint;
pub mod implied;
mod inside;
pub mod launches;
pub mod levels;
pub mod mixed_radix;
pub mod outside;
pub mod position;
pub mod prefetch_address;
pub mod prefetch_plan;
pub mod program;
pub mod project;
pub mod reached;
pub mod recurrence;
pub mod relative;
pub mod row_starts;
pub mod shape;
pub mod verify;
pub mod work;
