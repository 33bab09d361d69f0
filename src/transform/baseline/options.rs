//! Pluto's options, by its names, with the defaults of its code.

use super::error::NoSchedule;
use super::leaves::Leaf;
use super::schedule::Band;
use super::sizes::Sizes;

/// The fusion policy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fuse {
    /// Never, unless dependences require it.
    No,
    /// Statements of equal depth, as far as there are hyperplanes for all.
    #[default]
    Smart,
    /// As many statements as possible.
    Max,
    /// As many statements as possible, unless a parallel loop would become serial.
    Typed,
    /// `Typed` for the outermost loops, `Max` inside.
    Hybrid,
}

/// The C code for the schedule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Code {
    /// Explicit vectors, as for any other nest.
    #[default]
    Teml,
    /// Plain loops with Pluto's pragmas.
    Pluto,
}

/// The options of the scheduler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Tile bands of at least two loops.
    pub tile: bool,
    pub tile_sizes: Sizes,
    /// Tile the tiles.
    pub second_level_tile: bool,
    /// The number of tiles in each direction of a second-level tile.
    pub second_level_tile_sizes: Sizes,
    /// Give a wavefront of tiles as many parallel loops as possible, instead of one.
    pub multipar: bool,
    /// Run an outermost parallel loop on several threads.
    pub parallel: bool,
    /// Move a loop with only unit-stride or invariant accesses innermost, and vectorize it.
    pub prevector: bool,
    /// Move the loop of a band with the best accesses innermost.
    pub intratileopt: bool,
    /// Use diamond tiles for bands whose loops all carry dependences, so that tiles along a face
    /// start at the same time. If that is impossible, ordinary tiles are used; an explicit `true`
    /// is refused.
    pub diamondtile: Option<bool>,
    /// Unroll and jam loops around the innermost one.
    pub unrolljam: bool,
    /// The unroll factor.
    pub ufactor: i64,
    /// The fusion policy.
    pub fuse: Fuse,
    /// Also bring reads of one element close to each other.
    pub rar: bool,
    /// The C code for the schedule.
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
    Switch(bool),
    Number(i64),
    Numbers(Vec<i64>),
    /// Lists of numbers by name.
    ByName(Vec<(String, Vec<i64>)>),
    Word(String),
    /// Any other value.
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
    /// The name does not exist, or the value has the wrong type or range.
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

    /// The leaves of a band that is tiled across its parts. If loops around are tiled, the band
    /// alone.
    pub(super) fn leaves<'a>(&self, band: &'a Band, tiled: bool) -> Vec<Leaf<'a>> {
        if self.tile && !tiled {
            band.leaves()
        } else {
            vec![band.alone()]
        }
    }

    /// How many of the loops over tiles form a wavefront.
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
