//! The concepts of scripts: a page each, with an example that runs as a test. The reference begins
//! with them, and `:help concepts` lists them.

/// A page about a concept.
#[derive(Clone, Copy, Debug)]
pub struct Concept {
    pub title: &'static str,
    /// The page. Its first paragraph is one sentence.
    pub text: &'static str,
}

/// The pages, in the order in which they are read.
const PAGES: [&str; 9] = [
    include_str!("concepts/tensors.md"),
    include_str!("concepts/iterators.md"),
    include_str!("concepts/broadcasting.md"),
    include_str!("concepts/programs.md"),
    include_str!("concepts/time.md"),
    include_str!("concepts/legality.md"),
    include_str!("concepts/sizes.md"),
    include_str!("concepts/entries.md"),
    include_str!("concepts/devices.md"),
];

impl Concept {
    /// The topic of all concepts, and what it is about.
    pub const TOPIC: (&str, &str) = (
        "concepts",
        "what scripts are about: a page each, with an example",
    );

    /// All concepts.
    pub fn all() -> impl Iterator<Item = Concept> {
        PAGES.into_iter().map(|page| {
            let (title, text) = page.split_once('\n').unwrap_or((page, ""));
            Concept {
                title: title.trim_start_matches("# "),
                text: text.trim(),
            }
        })
    }

    /// The concept with this title, or with this word in its title.
    pub fn named(name: &str) -> Option<Concept> {
        let is_named = |concept: &Concept| {
            concept.title == name || concept.title.split(" and ").any(|word| word == name)
        };
        Concept::all().find(is_named)
    }

    /// The concept in one sentence, without its period.
    pub fn sentence(&self) -> &'static str {
        let first = self.text.lines().next().unwrap_or_default();
        first.trim_end_matches('.')
    }
}
