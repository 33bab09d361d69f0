//! Pieces: parts of sets and maps with correct names and signs. They become rows of coefficients,
//! or text in isl's notation for messages.

use super::assumed::{Assumed, assumed};
use super::linear::Linear;
use super::names::escape;
use super::relation::{Constraint, Relation};
use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::rc::Rc;

/// A part of a set or map: tuples, and a conjunction of constraints.
///
/// `Piece::set("S", ["i", "j"]).to("A", ["i".into(), Linear::new([(1, "j")], 1)])` with
/// `.constrain(0, LessOrEqual, "i")` means `S[i, j] -> A[i, j + 1] : 0 <= i`. Names are arbitrary:
/// names that isl does not accept are escaped, and [`Point::tuple`] restores them.
///
/// [`Point::tuple`]: super::Point::tuple
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    tuple: (String, Vec<Linear>),
    pub(super) range: Option<(String, Vec<Linear>)>,
    assumed: Rc<Assumed>,
    /// The parameters that are not assumed.
    parameters: Vec<String>,
    hidden: Vec<String>,
    constraints: Vec<Constraint>,
    /// Disjunctions: all constraints of one list of each choice hold.
    choices: Vec<Vec<Vec<Constraint>>>,
}

impl Piece {
    /// All points of the tuple. An empty name is a tuple without a name.
    pub fn set<'a>(tuple: &str, variables: impl IntoIterator<Item = &'a str>) -> Piece {
        let variables = variables.into_iter().map(Linear::from).collect();
        Piece {
            tuple: (tuple.to_owned(), variables),
            range: None,
            assumed: assumed(),
            parameters: Vec::new(),
            hidden: Vec::new(),
            constraints: Vec::new(),
            choices: Vec::new(),
        }
    }

    /// The map to these values. An unknown variable that is alone in an entry is a new one with any
    /// value.
    #[must_use]
    pub fn to(mut self, tuple: &str, values: impl IntoIterator<Item = Linear>) -> Piece {
        self.range = Some((tuple.to_owned(), values.into_iter().collect()));
        self
    }

    /// Declares a parameter: a variable with one value for all points.
    #[must_use]
    pub fn parameter(mut self, variable: &str) -> Piece {
        self.parameters.push(variable.to_owned());
        self
    }

    /// Declares an existentially quantified variable for constraints and values.
    #[must_use]
    pub fn exists(mut self, variable: &str) -> Piece {
        self.hidden.push(variable.to_owned());
        self
    }

    /// Adds a constraint.
    #[must_use]
    pub fn constrain(
        mut self,
        left: impl Into<Linear>,
        relation: Relation,
        right: impl Into<Linear>,
    ) -> Piece {
        self.constraints.push((left.into(), relation, right.into()));
        self
    }

    /// Adds a disjunction: all constraints of one of these lists hold.
    #[must_use]
    pub fn one_of(mut self, lists: Vec<Vec<Constraint>>) -> Piece {
        self.choices.push(lists);
        self
    }

    /// The piece without the constraints that hold for all pieces of a question. Other pieces under
    /// these are subsets of both or of neither, and isl decides sooner about this one.
    #[must_use]
    pub fn without_assumptions(mut self) -> Piece {
        self.assumed = Rc::new(Assumed {
            parameters: self.assumed.parameters.clone(),
            constraints: Vec::new(),
        });
        self
    }

    /// All parameters.
    pub(super) fn parameters(&self) -> impl Iterator<Item = &String> {
        self.assumed.parameters.iter().chain(&self.parameters)
    }

    /// One list from each choice, in all ways.
    pub(super) fn selections(&self) -> Vec<Vec<&Constraint>> {
        let none = vec![Vec::new()];
        self.choices.iter().fold(none, |selected, lists| {
            let each = selected.iter().flat_map(|before| {
                let longer = |list| before.iter().copied().chain(list).collect();
                lists.iter().map(longer)
            });
            each.collect()
        })
    }

    /// The piece without choices, under more constraints.
    pub(super) fn selected(&self, selection: &[&Constraint]) -> Piece {
        let own = self.constraints.iter().chain(selection.iter().copied());
        Piece {
            tuple: self.tuple.clone(),
            range: self.range.clone(),
            assumed: self.assumed.clone(),
            parameters: self.parameters.clone(),
            hidden: self.hidden.clone(),
            constraints: own.cloned().collect(),
            choices: Vec::new(),
        }
    }

    /// The pieces without choices whose union this is.
    pub(super) fn chosen(&self) -> Vec<Piece> {
        let selections = self.selections();
        selections.iter().map(|s| self.selected(s)).collect()
    }
}

/// The first and the second tuple of a piece; a set has only the second one.
type Tuples<'a> = (Option<&'a (String, Vec<Linear>)>, &'a (String, Vec<Linear>));

impl Piece {
    /// The tuples of the piece; a set has no first one.
    pub(super) fn tuples(&self) -> Tuples<'_> {
        match &self.range {
            Some(range) => (Some(&self.tuple), range),
            None => (None, &self.tuple),
        }
    }
}

/// The constraints of a piece as rows of coefficients. The columns are parameters, coordinates,
/// hidden variables and the constant, in this order.
#[derive(Clone, Default)]
pub(super) struct Rows<'a> {
    pub(super) columns: usize,
    pub(super) names: HashMap<&'a str, usize>,
    /// The columns of the first point of a pair, if the second one has as many. They follow each other.
    pub(super) paired: Range<usize>,
    /// Expressions that are 0.
    pub(super) equations: Vec<Vec<i128>>,
    /// Expressions that are at least 0.
    pub(super) inequalities: Vec<Vec<i128>>,
}

impl<'a> Rows<'a> {
    /// The rows of a piece without its choices.
    ///
    /// # Errors
    /// The name of an undeclared variable.
    pub(super) fn of(piece: &'a Piece, parameters: &[&'a str]) -> Result<Rows<'a>, &'a str> {
        let (domain, range) = piece.tuples();
        let entries: Vec<&Linear> = match domain {
            Some((_, values)) => values.iter().chain(&range.1).collect(),
            None => range.1.iter().collect(),
        };
        let first = parameters.len();
        let hidden = first + entries.len();
        let mut names: HashMap<&str, usize> = HashMap::new();
        names.extend(parameters.iter().copied().zip(0..));
        names.extend(piece.hidden.iter().map(String::as_str).zip(hidden..));
        let paired = domain.map_or(0, |(_, values)| values.len());
        let paired = if paired == range.1.len() { paired } else { 0 };
        let mut rows = Rows {
            columns: hidden + piece.hidden.len() + 1,
            names,
            paired: first..first + paired,
            equations: Vec::new(),
            inequalities: Vec::new(),
        };
        for (entry, k) in entries.into_iter().zip(first..) {
            match entry.terms.as_slice() {
                [(1, name)] if entry.constant == 0 && !rows.names.contains_key(name.as_str()) => {
                    rows.names.insert(name, k);
                }
                _ => {
                    let mut row = rows.row([(1, entry)])?;
                    row[k] -= 1;
                    rows.equations.push(row);
                }
            }
        }
        rows.extend(piece.assumed.constraints.iter().chain(&piece.constraints))?;
        Ok(rows)
    }

    /// Adds constraints.
    pub(super) fn extend(
        &mut self,
        constraints: impl IntoIterator<Item = &'a Constraint>,
    ) -> Result<(), &'a str> {
        for (left, relation, right) in constraints {
            let mut row = self.row([(-1, left), (1, right)])?;
            match relation {
                Relation::Equal => self.equations.push(row),
                Relation::LessOrEqual => self.inequalities.push(row),
                Relation::Less => {
                    *row.last_mut().unwrap_or(&mut 0) -= 1;
                    self.inequalities.push(row);
                }
            }
        }
        Ok(())
    }

    fn row<const N: usize>(&self, sum: [(i128, &'a Linear); N]) -> Result<Vec<i128>, &'a str> {
        let mut row = vec![0; self.columns];
        for (factor, linear) in sum {
            for (coefficient, name) in &linear.terms {
                let column = self.names.get(name.as_str()).ok_or(name.as_str())?;
                row[*column] += factor * i128::from(*coefficient);
            }
            row[self.columns - 1] += factor * i128::from(linear.constant);
        }
        Ok(row)
    }
}

fn list<T: fmt::Display>(items: &[T], separator: &str) -> String {
    let texts: Vec<String> = items.iter().map(T::to_string).collect();
    texts.join(separator)
}

fn tuple(name: &str, values: &[Linear]) -> String {
    let name = match name {
        "" => String::new(),
        name => escape(name),
    };
    format!("{name}[{}]", list(values, ", "))
}

impl fmt::Display for Piece {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&tuple(&self.tuple.0, &self.tuple.1))?;
        let mut constraints = self.assumed.constraints.clone();
        constraints.extend(self.constraints.iter().cloned());
        if let Some((name, values)) = &self.range {
            // isl knows a hidden variable only behind the colon, so the value gets a name instead.
            let values = values.iter().enumerate().map(|(k, value)| {
                let hides = |(_, name): &(i64, String)| self.hidden.contains(name);
                if !value.terms.iter().any(hides) {
                    return value.clone();
                }
                let entry = Linear::from(format!("value {k}").as_str());
                constraints.push((entry.clone(), Relation::Equal, value.clone()));
                entry
            });
            let values: Vec<Linear> = values.collect();
            write!(f, " -> {}", tuple(name, &values))?;
        }
        let all = |constraints: &[Constraint]| -> Vec<String> {
            let texts = constraints.iter();
            let texts = texts.map(|(left, relation, right)| format!("{left} {relation} {right}"));
            texts.collect()
        };
        let choices = self.choices.iter().map(|lists| {
            let lists = lists.iter().map(|list| all(list).join(" and "));
            format!("({})", lists.collect::<Vec<_>>().join(" or "))
        });
        let constraints: Vec<String> = all(&constraints).into_iter().chain(choices).collect();
        let constraints = if constraints.is_empty() {
            "true".to_owned()
        } else {
            constraints.join(" and ")
        };
        if self.hidden.is_empty() {
            return write!(f, " : {constraints}");
        }
        let hidden: Vec<String> = self.hidden.iter().map(|name| escape(name)).collect();
        write!(f, " : exists ({} : {constraints})", hidden.join(", "))
    }
}

/// The text of the union of the pieces.
pub(super) fn text(pieces: &[Piece]) -> String {
    let mut parameters: Vec<String> = Vec::new();
    for name in pieces.iter().flat_map(Piece::parameters) {
        let name = escape(name);
        if !parameters.contains(&name) {
            parameters.push(name);
        }
    }
    let union = format!("{{ {} }}", list(pieces, "; "));
    match parameters.as_slice() {
        [] => union,
        names => format!("[{}] -> {union}", names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::poly::names::unescape;
    use proptest::prelude::*;

    #[test]
    fn the_text_is_what_isl_reads() {
        let piece = Piece::set("S", ["i", "j"])
            .to("A", ["i".into(), Linear::new([(-2, "j"), (1, "i")], -1)])
            .constrain(0, Relation::LessOrEqual, "i")
            .constrain("i", Relation::Less, 4);
        let other = Piece::set("", [])
            .exists("or")
            .constrain("or", Relation::Equal, -3);
        assert_eq!(
            text(&[piece, other]),
            "{ S[i, j] -> A[i, -2*j + i - 1] : 0 <= i and i < 4; [] : exists (_or : _or = -3) }"
        );
    }

    #[test]
    fn choices_are_alternatives() {
        let equals = |k: i64| vec![("i".into(), Relation::Equal, k.into())];
        let piece = Piece::set("S", ["i"]).constrain(0, Relation::LessOrEqual, "i");
        let piece = piece.one_of(vec![equals(-1), equals(3)]);
        assert_eq!(piece.to_string(), "S[i] : 0 <= i and (i = -1 or i = 3)");
        let chosen: Vec<String> = piece.chosen().iter().map(Piece::to_string).collect();
        assert_eq!(
            chosen,
            ["S[i] : 0 <= i and i = -1", "S[i] : 0 <= i and i = 3"]
        );
        assert_eq!(piece.chosen()[0].is_empty(), Ok(true));
        assert_eq!(piece.is_empty(), Ok(false));
    }

    #[test]
    fn pieces_without_assumptions_have_the_same_subsets() {
        use crate::poly::{UnionSet, assuming, available};
        if available().is_err() {
            return;
        }
        let facts = Assumed {
            parameters: vec!["n".to_owned()],
            constraints: vec![("n".into(), Relation::Less, 4.into())],
        };
        assuming(facts, || {
            let below = |end: Linear| Piece::set("S", ["i"]).constrain("i", Relation::Less, end);
            let is_within = |some: &Piece, piece: &Piece| {
                let some = UnionSet::new(std::slice::from_ref(some)).unwrap();
                let piece = UnionSet::new(std::slice::from_ref(piece)).unwrap();
                some.is_subset(&piece).unwrap()
            };
            let ends = [
                Linear::from("n"),
                Linear::new([(1, "n")], -1),
                3.into(),
                2.into(),
            ];
            let mut found = Vec::new();
            for (some, other) in ends.iter().flat_map(|a| ends.iter().map(move |b| (a, b))) {
                let (some, other) = (below(some.clone()), below(other.clone()));
                let within = is_within(&some, &other);
                assert_eq!(
                    is_within(&some, &other.clone().without_assumptions()),
                    within
                );
                found.push(within);
            }
            assert_eq!(found.iter().filter(|within| **within).count(), 9);
        });
    }

    #[test]
    fn parameters_are_named_once_for_all_pieces() {
        let below = |tuple: &str, n: &str| {
            let piece = Piece::set(tuple, ["i"]).parameter(n);
            piece.constrain("i", Relation::Less, n)
        };
        assert_eq!(
            text(&[below("S", "n"), below("T", "or"), below("U", "n")]),
            "[n, _or] -> { S[i] : i < n; T[i] : i < _or; U[i] : i < n }"
        );
    }

    #[test]
    fn values_of_hidden_variables_are_equations() {
        let piece = Piece::set("S", ["i"]).to("T", ["k".into()]).exists("k");
        assert_eq!(
            piece.to_string(),
            "S[i] -> T[_value_20_0] : exists (k : _value_20_0 = k)"
        );
    }

    #[test]
    fn identifiers_that_were_not_escaped_stand_for_themselves() {
        for name in ["A", "_A", "_a_20", "__", "_or", "a'"] {
            let expected = if name == "_or" { "or" } else { name };
            assert_eq!(unescape(name), expected);
        }
    }

    proptest! {
        #[test]
        fn every_name_comes_back(name in "[a-zA-Z_0-9 äé.'\\[]{1,6}|or|MIN|_or") {
            let identifier = escape(&name);
            let fits = |c: char| c.is_ascii_alphanumeric() || c == '_';
            prop_assert!(identifier.chars().all(fits));
            prop_assert!(!identifier.starts_with(|c: char| c.is_ascii_digit()));
            prop_assert_eq!(unescape(&identifier), name);
        }
    }
}
