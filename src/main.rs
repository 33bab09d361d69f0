//! The `teml` command.
fn main() {}
