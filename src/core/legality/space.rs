//! The names of tuples: what the points of a set or a relation are.
//!
//! Sets and relations name their tuples, or have points without a name, such as times. All names
//! are made by [`Space::name`] and read by [`Space::of`].

use super::program::{Leaf, What};
use crate::ir::{Constant, Tensor};
use crate::poly::Point;

/// The kind of points that a tuple has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Space {
    /// `S⟨a⟩`: the instances of an assignment. The coordinates are the iterators around it in the
    /// definition.
    Statement(usize),
    /// `F⟨a⟩`: the initializations of an assignment. The indices of the element follow the
    /// iterators.
    Fill(usize),
    /// `W⟨k⟩`: the executions of a leaf.
    Write(usize),
    /// `R⟨k⟩_⟨r⟩`: the reads of a leaf by an access. Number 0 is an update's read of its target.
    /// The others are the accesses of the value, from left to right.
    Read { leaf: usize, access: usize },
    /// `m_A`: the elements of a tensor that is not local.
    Memory(String),
    /// `l_A ⟨scope⟩`: the elements of a local tensor. The declaring sequence tells it apart from
    /// others of that name.
    Local { tensor: String, scope: Vec<usize> },
    /// `O_A`: the reads of a tensor's final contents.
    Result(String),
    /// `C⟨value⟩`: a constant.
    Constant(String),
    /// `I⟨f⟩`: the instances of a reduction that a family of its trees executes.
    Executed { family: usize },
    /// `E⟨a⟩`: the elements that a reduction updates. `E⟨a⟩ ⟨f⟩` are those of a family of its
    /// trees.
    Element {
        assignment: usize,
        family: Option<usize>,
    },
}

impl Space {
    pub(super) fn shared(tensor: &Tensor) -> Space {
        Space::Memory(tensor.label().to_owned())
    }

    pub(super) fn result(tensor: &Tensor) -> Space {
        Space::Result(tensor.label().to_owned())
    }

    pub(super) fn constant(value: Constant) -> Space {
        Space::Constant(value.to_string())
    }

    /// The name of the tuple.
    pub(super) fn name(&self) -> String {
        match self {
            Space::Statement(assignment) => format!("S{assignment}"),
            Space::Fill(assignment) => format!("F{assignment}"),
            Space::Write(leaf) => format!("W{leaf}"),
            Space::Read { leaf, access } => format!("R{leaf}_{access}"),
            Space::Memory(tensor) => format!("m_{tensor}"),
            Space::Local { tensor, scope } => {
                let places: Vec<String> = scope.iter().map(usize::to_string).collect();
                format!("l_{tensor} {}", places.join(" "))
            }
            Space::Result(tensor) => format!("O_{tensor}"),
            Space::Constant(value) => format!("C{value}"),
            Space::Executed { family } => format!("I{family}"),
            Space::Element { assignment, family } => match family {
                Some(family) => format!("E{assignment} {family}"),
                None => format!("E{assignment}"),
            },
        }
    }

    /// The space with this name. `None` for a tuple without a name, and for any other text.
    pub(super) fn of(tuple: Option<&str>) -> Option<Space> {
        let tuple = tuple?;
        let kind = tuple.chars().next()?;
        let rest = &tuple[kind.len_utf8()..];
        let number = |text: &str| text.parse::<usize>().ok();
        let label = || Some(rest.strip_prefix('_')?.to_owned());
        let space = match kind {
            'S' => Space::Statement(number(rest)?),
            'F' => Space::Fill(number(rest)?),
            'W' => Space::Write(number(rest)?),
            'R' => {
                let (leaf, access) = rest.split_once('_')?;
                Space::Read {
                    leaf: number(leaf)?,
                    access: number(access)?,
                }
            }
            'm' => Space::Memory(label()?),
            'l' => {
                // Labels of tensors have no spaces.
                let (tensor, scope) = rest.strip_prefix('_')?.split_once(' ')?;
                let places = scope.split(' ').filter(|place| !place.is_empty());
                Space::Local {
                    tensor: tensor.to_owned(),
                    scope: places.map(number).collect::<Option<_>>()?,
                }
            }
            'O' => Space::Result(label()?),
            'C' => Space::Constant(rest.to_owned()),
            'I' => Space::Executed {
                family: number(rest)?,
            },
            'E' => {
                let (assignment, family) = match rest.split_once(' ') {
                    Some((assignment, family)) => (assignment, Some(number(family)?)),
                    None => (rest, None),
                };
                Space::Element {
                    assignment: number(assignment)?,
                    family,
                }
            }
            _ => return None,
        };
        // `S03` and `S+3` are not names.
        (space.name() == tuple).then_some(space)
    }

    /// The space of a point.
    pub(super) fn of_point(point: &Point) -> Option<Space> {
        Space::of(point.tuple.as_deref())
    }

    /// The assignment of an instance, and whether it is an initialization.
    pub(super) fn assignment(&self) -> Option<(usize, bool)> {
        match self {
            Space::Statement(assignment) => Some((*assignment, false)),
            Space::Fill(assignment) => Some((*assignment, true)),
            _ => None,
        }
    }

    /// The leaf of an execution or a read, and the number of the read.
    pub(super) fn leaf(&self) -> Option<(usize, Option<usize>)> {
        match self {
            Space::Write(leaf) => Some((*leaf, None)),
            Space::Read { leaf, access } => Some((*leaf, Some(*access))),
            _ => None,
        }
    }
}

impl Leaf<'_> {
    /// The space of the instances that the leaf executes, if any.
    pub(super) fn instances(&self) -> Option<Space> {
        let assignment = self.assignment?;
        Some(match self.what {
            What::Stmt(_) => Space::Statement(assignment),
            What::Fill(_) => Space::Fill(assignment),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NUMBERS: [usize; 6] = [0, 1, 3, 10, 31, usize::MAX];
    const LABELS: [&str; 9] = ["A", "W3", "S", "R3_1", "m_A", "A_pack_1", "_1", "l", "□"];
    const VALUES: [&str; 7] = ["0", "-1", "0.5", "1e300", "-∞", "NaN", "-0"];

    /// Every space of a few numbers, labels and values.
    fn spaces() -> Vec<Space> {
        let mut all = Vec::new();
        for a in NUMBERS {
            all.extend([
                Space::Statement(a),
                Space::Fill(a),
                Space::Write(a),
                Space::Executed { family: a },
                Space::Element {
                    assignment: a,
                    family: None,
                },
            ]);
            for b in NUMBERS {
                all.extend([
                    Space::Read { leaf: a, access: b },
                    Space::Element {
                        assignment: a,
                        family: Some(b),
                    },
                ]);
            }
        }
        for label in LABELS {
            let tensor = label.to_owned();
            all.extend([Space::Memory(tensor.clone()), Space::Result(tensor)]);
            let scopes = (0..4).flat_map(|n| [NUMBERS[..n].to_vec(), NUMBERS[2..n + 2].to_vec()]);
            all.extend(scopes.map(|scope| Space::Local {
                tensor: label.to_owned(),
                scope,
            }));
        }
        all.extend(VALUES.map(|value| Space::Constant(value.to_owned())));
        // Both ways to choose no places give the same space.
        all.dedup();
        all
    }

    #[test]
    fn names_are_read_back() {
        for space in spaces() {
            assert_eq!(Space::of(Some(&space.name())), Some(space));
        }
    }

    #[test]
    fn names_differ() {
        let spaces = spaces();
        for (k, one) in spaces.iter().enumerate() {
            let mut later = spaces[k + 1..].iter();
            assert!(later.all(|other| one == other || one.name() != other.name()));
        }
    }

    #[test]
    fn the_library_keeps_the_names() {
        use crate::poly::{Piece, Set, available};
        if available().is_err() {
            return;
        }
        for space in spaces() {
            let set = Set::new(&[Piece::set(&space.name(), [])]).unwrap();
            assert_eq!(Space::of(set.tuple().as_deref()), Some(space.clone()));
            let point = set.sample().unwrap().unwrap();
            assert_eq!(Space::of_point(&point), Some(space));
        }
    }

    /// Every short text of the characters in names is a name that is read back, or none.
    #[test]
    fn other_texts_are_not_names() {
        let characters: Vec<char> = "SFWRmlOCIE01_ +A□".chars().collect();
        let mut texts = vec![String::new()];
        let mut first = 0;
        for _ in 0..4 {
            let longer = texts[first..].iter();
            let longer = longer.flat_map(|t| characters.iter().map(move |c| format!("{t}{c}")));
            let longer: Vec<String> = longer.collect();
            first = texts.len();
            texts.extend(longer);
        }
        for text in texts {
            if let Some(space) = Space::of(Some(&text)) {
                assert_eq!(space.name(), text);
            }
        }
        assert_eq!(Space::of(None), None);
        for text in [
            "S03", "S+3", "S", "W3_1", "R3", "R_1", "m", "l_A", "E1 ", "X",
        ] {
            assert_eq!(Space::of(Some(text)), None, "{text}");
        }
        let write = Space::of(Some("W3")).unwrap();
        assert_eq!((write.assignment(), write.leaf()), (None, Some((3, None))));
    }
}
