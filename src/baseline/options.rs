//! Pluto's options, by its names, with the defaults of its code.

use super::error::NoSchedule;

/// Which statements share loops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fuse {
    /// None that need not.
    No,
    /// Those with equally many loops, as far as there are hyperplanes for all.
    #[default]
    Smart,
    /// As many as possible.
    Max,
}

/// What the scheduler does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Bands of two loops or more are tiled.
    pub tile: bool,
    /// The sizes of tiles, for each loop of a band; the last one counts for all that follow.
    pub tile_sizes: Vec<i64>,
    /// Tiles of tiles.
    pub l2tile: bool,
    /// How many tiles a tile of tiles has in each direction.
    pub l2tile_sizes: Vec<i64>,
    /// An outermost parallel loop runs on several threads.
    pub parallel: bool,
    /// A loop with accesses to neighboring elements alone becomes innermost, and a vector loop.
    pub prevector: bool,
    /// The loop of a band with the best accesses becomes its innermost one.
    pub intratileopt: bool,
    /// Bands whose loops all depend on each other are tiled so that tiles along a face can start at
    /// the same time; where that cannot be, it is not done, or refused if it was asked for.
    pub diamondtile: Option<bool>,
    /// Loops around the innermost one are unrolled and jammed.
    pub unrolljam: bool,
    /// How often.
    pub ufactor: i64,
    /// Which statements share loops.
    pub fuse: Fuse,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            tile: true,
            tile_sizes: vec![32],
            l2tile: false,
            l2tile_sizes: vec![8],
            parallel: true,
            prevector: true,
            intratileopt: true,
            diamondtile: None,
            unrolljam: true,
            ufactor: 8,
            fuse: Fuse::Smart,
        }
    }
}

/// The value of an option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Setting {
    /// On or off.
    Switch(bool),
    /// A number.
    Number(i64),
    /// A list of numbers.
    Numbers(Vec<i64>),
    /// A word.
    Word(String),
    /// Anything else.
    Other,
}

/// The names of all options.
pub const NAMES: [&str; 11] = [
    "tile",
    "tile_sizes",
    "l2tile",
    "l2tile_sizes",
    "parallel",
    "prevector",
    "intratileopt",
    "diamondtile",
    "unrolljam",
    "ufactor",
    "fuse",
];

impl Options {
    /// The options with one of them set.
    ///
    /// # Errors
    /// A name that is none; a value of another type or out of range.
    pub fn with(mut self, name: &str, value: &Setting) -> Result<Options, NoSchedule> {
        let Some(name) = NAMES.into_iter().find(|n| *n == name) else {
            return Err(NoSchedule::NoOption {
                name: name.to_owned(),
                valid: NAMES.to_vec(),
            });
        };
        let wrong = |expected| NoSchedule::BadOption { name, expected };
        match (name, value) {
            ("ufactor", Setting::Number(n @ 1..)) => self.ufactor = *n,
            ("ufactor", _) => return Err(wrong("a number from 1 on")),
            ("tile_sizes" | "l2tile_sizes", Setting::Numbers(sizes))
                if !sizes.is_empty() && sizes.iter().all(|s| *s >= 1) =>
            {
                match name {
                    "tile_sizes" => self.tile_sizes = sizes.clone(),
                    _ => self.l2tile_sizes = sizes.clone(),
                }
            }
            ("tile_sizes" | "l2tile_sizes", _) => {
                return Err(wrong("a list of sizes from 1 on, such as `[32, 32]`"));
            }
            ("fuse", Setting::Word(word)) => {
                self.fuse = match word.as_str() {
                    "nofuse" => Fuse::No,
                    "smartfuse" => Fuse::Smart,
                    "maxfuse" => Fuse::Max,
                    _ => return Err(wrong(FUSE)),
                }
            }
            ("fuse", _) => return Err(wrong(FUSE)),
            (_, Setting::Switch(on)) => match name {
                "tile" => self.tile = *on,
                "l2tile" => self.l2tile = *on,
                "parallel" => self.parallel = *on,
                "prevector" => self.prevector = *on,
                "intratileopt" => self.intratileopt = *on,
                "diamondtile" => self.diamondtile = Some(*on),
                _ => self.unrolljam = *on,
            },
            _ => return Err(wrong("true or false")),
        }
        Ok(self)
    }

    /// The size of tiles of loop number `k` of a band, from 0.
    pub(super) fn tile_size(&self, k: usize) -> i64 {
        size(&self.tile_sizes, k)
    }

    /// How many tiles a tile of tiles has there.
    pub(super) fn l2tile_size(&self, k: usize) -> i64 {
        size(&self.l2tile_sizes, k)
    }
}

const FUSE: &str = "\"nofuse\", \"smartfuse\" or \"maxfuse\"";

fn size(sizes: &[i64], k: usize) -> i64 {
    let size = sizes.get(k).or(sizes.last());
    size.copied().unwrap_or(32)
}
