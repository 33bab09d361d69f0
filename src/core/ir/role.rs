//! Roles of loops in the steps that made them.

/// The role of a loop in the step that made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Nothing in particular.
    Loop,
    /// Over the blocks of another loop.
    Outer,
    /// Over the iterations of a block.
    Inner,
    /// Over the iterations after the blocks, or after the index of a split.
    Tail,
    /// Over iterations peeled off an end.
    Peeled,
    /// A copy of another loop, which may have ended.
    Copy,
    /// Around a part of another loop's body.
    Part,
    /// A guard: one iteration or none.
    Guard,
    /// A fused loop, which continues several loops.
    Fused,
    /// A loop of another nest that is computed here.
    Placed,
    /// Fills a buffer.
    Load,
    /// Writes a buffer back.
    Store,
}

impl Role {
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

    /// Whether the loop continues the loops that it was made of, which then end.
    pub(super) fn continues(self) -> bool {
        matches!(self, Role::Fused | Role::Placed)
    }
}
