//! Pluto's options, by its names, with the defaults of its code.

use super::error::NoSchedule;
use super::leaves::Leaf;
use super::schedule::Band;
use super::sizes::Sizes;

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
    /// As many as possible without a parallel loop becoming a serial one.
    Typed,
    /// Likewise for the outermost loops, and as many as possible inside.
    Hybrid,
}

/// What becomes of the schedule in C.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Code {
    /// Explicit vectors, as of any other nest.
    #[default]
    Teml,
    /// Plain loops with Pluto's pragmas.
    Pluto,
}

/// What the scheduler does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Bands of two loops or more are tiled.
    pub tile: bool,
    /// The sizes of tiles.
    pub tile_sizes: Sizes,
    /// Tiles of tiles.
    pub second_level_tile: bool,
    /// How many tiles a tile of tiles has in each direction.
    pub second_level_tile_sizes: Sizes,
    /// A wavefront of tiles has as many parallel loops as there are, instead of one.
    pub multipar: bool,
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
    /// Reads of one element are brought close to each other, as what is written and read is.
    pub rar: bool,
    /// What becomes of the schedule in C.
    pub code: Code,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            tile: true,
            tile_sizes: Sizes::all(vec![32]),
            second_level_tile: false,
            second_level_tile_sizes: Sizes::all(vec![8]),
            multipar: false,
            parallel: true,
            prevector: true,
            intratileopt: true,
            diamondtile: None,
            unrolljam: true,
            ufactor: 8,
            fuse: Fuse::Smart,
            rar: false,
            code: Code::Teml,
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
    /// Lists of numbers by name.
    ByName(Vec<(String, Vec<i64>)>),
    /// A word.
    Word(String),
    /// Anything else.
    Other,
}

/// The names of all options.
pub const NAMES: [&str; 14] = [
    "tile",
    "tile_sizes",
    "second_level_tile",
    "second_level_tile_sizes",
    "parallel",
    "multipar",
    "prevector",
    "intratileopt",
    "diamondtile",
    "unrolljam",
    "ufactor",
    "fuse",
    "rar",
    "code",
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
            ("tile_sizes" | "second_level_tile_sizes", given) => {
                let sizes = match name {
                    "tile_sizes" => &mut self.tile_sizes,
                    _ => &mut self.second_level_tile_sizes,
                };
                match given {
                    Setting::Numbers(all) if are_sizes(all) => sizes.all.clone_from(all),
                    Setting::ByName(of) if of.iter().all(|(_, own)| are_sizes(own)) => {
                        sizes.of.clone_from(of);
                    }
                    _ => return Err(wrong(SIZES)),
                }
            }
            ("fuse", Setting::Word(word)) => {
                self.fuse = match word.as_str() {
                    "nofuse" => Fuse::No,
                    "smartfuse" => Fuse::Smart,
                    "maxfuse" => Fuse::Max,
                    "typedfuse" => Fuse::Typed,
                    "hybridfuse" => Fuse::Hybrid,
                    _ => return Err(wrong(FUSE)),
                }
            }
            ("fuse", _) => return Err(wrong(FUSE)),
            ("code", Setting::Word(word)) => {
                self.code = match word.as_str() {
                    "teml" => Code::Teml,
                    "pluto" => Code::Pluto,
                    _ => return Err(wrong(CODE)),
                }
            }
            ("code", _) => return Err(wrong(CODE)),
            (_, Setting::Switch(on)) => match name {
                "tile" => self.tile = *on,
                "second_level_tile" => self.second_level_tile = *on,
                "parallel" => self.parallel = *on,
                "multipar" => self.multipar = *on,
                "prevector" => self.prevector = *on,
                "intratileopt" => self.intratileopt = *on,
                "rar" => self.rar = *on,
                "diamondtile" => self.diamondtile = Some(*on),
                _ => self.unrolljam = *on,
            },
            _ => return Err(wrong("true or false")),
        }
        Ok(self)
    }

    /// What parts in a band that is tiled through, or the band alone where it is not, since loops
    /// around are.
    pub(super) fn leaves<'a>(&self, band: &'a Band, tiled: bool) -> Vec<Leaf<'a>> {
        if self.tile && !tiled {
            band.leaves()
        } else {
            vec![band.alone()]
        }
    }

    /// How many of so many loops over tiles make a wavefront.
    pub(super) fn degrees(&self, loops: usize) -> usize {
        if self.multipar { loops } else { loops.min(2) }
    }
}

const FUSE: &str = "\"nofuse\", \"smartfuse\", \"maxfuse\", \"typedfuse\" or \"hybridfuse\"";

const CODE: &str = "\"teml\" or \"pluto\"";

const SIZES: &str = "a list of sizes from 1 on, such as `[32, 32]`, or lists of statements by name, such as \
     `#{C: [32, 64]}`";

fn are_sizes(sizes: &[i64]) -> bool {
    !sizes.is_empty() && sizes.iter().all(|s| *s >= 1)
}
