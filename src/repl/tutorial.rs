//! The tutorial: lines to type, each with a remark on its result.

use super::wrap::wrapped;
use super::{Outcome, Repl, Reply};

/// A lesson: its topic, and the line to type.
pub struct Lesson {
    /// The effect of the line.
    pub text: &'static str,
    /// The line.
    pub line: &'static str,
}

const fn lesson(text: &'static str, line: &'static str) -> Lesson {
    Lesson { text, line }
}

/// The lessons, in order.
pub static LESSONS: [Lesson; 12] = [
    lesson(
        "Tensors have a shape. The variable gives them their name.",
        "let A = tensor([256, 256]); let B = tensor([256, 256]);",
    ),
    lesson(
        "An expression says what to compute, not in which order. This is a matrix product in \
         NumPy's notation.",
        "let C = einsum(\"ik,kj->ij\", A, B);",
    ),
    lesson(
        "`build` makes the loops of an expression, named after its iterators.",
        "let naive = build(C);",
    ),
    lesson(
        "Which steps are legal next? Each of these was tried and proved.",
        ":moves",
    ),
    lesson(
        "Loop k adds up one element, so it cannot run in parallel. You can try: steps that break \
         the meaning are marked, and no code is made of them.",
        "let wrong = naive.parallelize(\"k\");",
    ),
    lesson(
        "`:check` shows two iterations that get in each other's way.",
        ":check",
    ),
    lesson("Take back what you typed.", ":undo"),
    lesson(
        "A good order reads rows of B: k goes outside of j. Each step returns a new nest.",
        "let plan = naive.interchange(\"j\", \"k\").parallelize(\"i\").vectorize(\"j\");",
    ),
    lesson(
        "Both are run, compared element by element, and then timed in turns.",
        ":compare naive, plan",
    ),
    lesson(
        "A kernel of data analytics, mttkrp: a tensor times two matrices.",
        "let T = tensor([64, 64, 64]); let D = tensor([64, 32]); let E = tensor([64, 32]); let M = \
         einsum(\"ikl,kj,lj->ij\", T, D, E); let mttkrp = build(M);",
    ),
    lesson(
        "The library has whole schedules. They use the same steps as you do.",
        "let fast = schedules::optimize(mttkrp);",
    ),
    lesson(
        "These are the steps that it took. `path(fast, #{unfold: true})` shows all of them, as a \
         script that you can change.",
        ":path",
    ),
];

const END: &str = "\
That was the tutorial. `:c` shows the C, `:asm` its innermost loop, `:save FILE` keeps what you \
typed, and `:kernels` lists more kernels to explore.";

pub fn command(repl: &mut Repl, rest: &str) -> Reply {
    if rest == "stop" {
        repl.lesson = None;
        return Ok(Outcome::Text("the tutorial has ended".to_owned()));
    }
    let lesson = *repl.lesson.get_or_insert(0);
    Ok(Outcome::Text(repl.shown_lesson(lesson)))
}

impl Repl {
    /// The outcome, followed by the next lesson if the line was that of the current one.
    pub(super) fn with_next_lesson(&mut self, line: &str, outcome: Outcome) -> Outcome {
        let expected = self
            .lesson
            .and_then(|k| LESSONS.get(k).map(|l| (k, l.line)));
        let Some((k, _)) = expected.filter(|(_, expected)| same(line, expected)) else {
            return outcome;
        };
        let next = if k + 1 < LESSONS.len() {
            self.lesson = Some(k + 1);
            self.shown_lesson(k + 1)
        } else {
            self.lesson = None;
            wrapped(END, self.width())
        };
        Outcome::Text(match outcome {
            Outcome::Text(text) => format!("{text}\n\n{next}"),
            _ => format!("\n{next}"),
        })
    }

    fn shown_lesson(&self, k: usize) -> String {
        let Some(lesson) = LESSONS.get(k) else {
            return String::new();
        };
        let (paint, width) = (self.paint(), self.width());
        let head = format!("{} of {}. {}", k + 1, LESSONS.len(), lesson.text);
        let tail = match k {
            0 => {
                "\n(Type the line, or one of your own. `:tutorial` shows the lesson again, \
                  `:tutorial stop` ends it.)"
            }
            _ => "",
        };
        format!(
            "{}\n\n    {}{}",
            wrapped(&head, width),
            paint.script(lesson.line),
            paint.faint(&wrapped(tail, width)),
        )
    }
}

/// Whether two lines are the same but for spaces and a semicolon.
fn same(a: &str, b: &str) -> bool {
    let words = |text: &str| -> String {
        let text = text.trim().trim_end_matches(';');
        text.split_whitespace().collect()
    };
    words(a) == words(b)
}
