//! What a loop is to the step that made it.

/// What a loop is to the step that made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Nothing in particular.
    Loop,
    /// Over the blocks of another loop.
    Outer,
    /// Over the iterations of a block.
    Inner,
    /// Over the iterations behind the blocks, or behind the index of a split.
    Tail,
    /// Over iterations taken off an end.
    Peeled,
    /// Like a loop that is there as well, or was.
    Copy,
    /// Around a part of what a loop executed.
    Part,
    /// Of one iteration or none.
    Guard,
    /// In place of several loops, which it goes on.
    Fused,
    /// Where another nest, from which it comes, computes what is needed.
    Placed,
    /// Fills a buffer.
    Load,
    /// Writes a buffer back.
    Store,
}

impl Role {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Role::Loop => "loop",
            Role::Outer => "outer",
            Role::Inner => "inner",
            Role::Tail => "tail",
            Role::Peeled => "peeled",
            Role::Copy => "copy",
            Role::Part => "part",
            Role::Guard => "guard",
            Role::Fused => "fused",
            Role::Placed => "placed",
            Role::Load => "load",
            Role::Store => "store",
        }
    }

    /// Whether the loop goes on those that it was made of, which are then no longer there.
    pub(super) fn continues(self) -> bool {
        matches!(self, Role::Fused | Role::Placed)
    }
}
