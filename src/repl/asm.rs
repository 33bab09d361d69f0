//! The innermost loop of a kernel in assembly: which instructions it has, and how wide its vectors
//! are.
//!
//! A loop of assembly is a label and a later jump back to it. `.loc` directives say which line of
//! the C an instruction is of.

use std::ops::RangeInclusive;

/// A loop that holds no other loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inner {
    /// Its instructions, in order.
    pub instructions: Vec<String>,
    /// The widest registers of its arithmetic, in bits; `None` if it has none on vectors.
    pub bits: Option<u32>,
    /// How many instructions compute with such registers.
    pub arithmetic: usize,
}

/// The vector registers of x86-64, by width. Those of other processors are not distinguished.
const WIDTHS: &[(&str, u32)] = &[("%zmm", 512), ("%ymm", 256), ("%xmm", 128)];

/// The lines of `c` that belong to the loop whose iterator is `name`: all of them, where it occurs
/// several times.
pub fn lines_of(c: &str, name: &str) -> Vec<RangeInclusive<usize>> {
    let lines: Vec<&str> = c.lines().collect();
    let head = format!("for (int64_t {name} =");
    let indent = |line: &str| line.len() - line.trim_start().len();
    let mut found = Vec::new();
    for (k, line) in lines.iter().enumerate() {
        if !line.trim_start().starts_with(&head) {
            continue;
        }
        let deep = indent(line);
        let rest = lines[k + 1..].iter();
        let inside = rest.take_while(|l| l.trim().is_empty() || indent(l) > deep);
        found.push(k + 1..=k + 1 + inside.count());
    }
    found
}

/// The innermost loop with the most arithmetic, among the loops with instructions of these lines of
/// C. Of all loops, if there are none.
pub fn busiest(assembly: &str, lines: &[RangeInclusive<usize>]) -> Option<Inner> {
    let texts: Vec<&str> = assembly.lines().collect();
    let mut labels: Vec<(&str, usize)> = Vec::new();
    let mut loops: Vec<(usize, usize)> = Vec::new();
    for (k, text) in texts.iter().enumerate() {
        if let Some(label) = text.strip_suffix(':').filter(|l| !l.starts_with('\t')) {
            labels.push((label, k));
        }
        if let Some(target) = jump(text)
            && let Some((_, start)) = labels.iter().rev().find(|(label, _)| *label == target)
        {
            loops.push((*start, k));
        }
    }
    let holds = |(start, end): &(usize, usize)| {
        let inside = |(s, e): &(usize, usize)| s >= start && e <= end && (s, e) != (start, end);
        !loops.iter().any(inside)
    };
    let innermost = loops.iter().filter(|l| holds(l));
    let wanted = innermost.filter(|(start, end)| {
        let own = texts[*start..=*end]
            .iter()
            .filter_map(|text| location(text));
        let own: Vec<usize> = own.collect();
        lines.is_empty()
            || own
                .iter()
                .any(|line| lines.iter().any(|r| r.contains(line)))
    });
    let all = wanted.map(|(start, end)| inner(&texts[*start..=*end]));
    all.max_by_key(|inner| (inner.bits, inner.arithmetic, inner.instructions.len()))
}

fn inner(texts: &[&str]) -> Inner {
    let is_instruction = |text: &&&str| {
        let text = text.trim_start();
        !text.is_empty() && !text.starts_with(['.', '#', '/']) && !text.ends_with(':')
    };
    let instructions = texts.iter().filter(is_instruction);
    let instructions: Vec<String> = instructions.map(|t| t.trim().replace('\t', " ")).collect();
    let width = |text: &str| {
        let is_packed = text.split(' ').next().is_some_and(computes);
        let found = WIDTHS.iter().find(|(register, _)| text.contains(register));
        found.map(|(_, bits)| *bits).filter(|_| is_packed)
    };
    let bits = instructions.iter().filter_map(|t| width(t)).max();
    let widest = instructions
        .iter()
        .filter(|t| bits.is_some() && width(t) == bits);
    Inner {
        arithmetic: widest.count(),
        bits,
        instructions,
    }
}

/// Whether an instruction computes with all lanes of its registers.
fn computes(name: &str) -> bool {
    let name = name.trim_start_matches('v');
    let packed = ["pd", "ps", "d", "q"];
    let kinds = [
        "add", "sub", "mul", "div", "fma", "fnma", "fms", "fnms", "min", "max", "sqrt", "padd",
        "psub", "pmul", "pmin", "pmax",
    ];
    let scalar = name.ends_with("sd") || name.ends_with("ss");
    let lanes = packed.iter().any(|end| name.ends_with(end));
    lanes && !scalar && kinds.iter().any(|kind| name.starts_with(kind))
}

/// The label that a jump goes to.
fn jump(text: &str) -> Option<&str> {
    let (name, target) = text.trim().split_once(['\t', ' '])?;
    let jumps = name.starts_with('j') || name.starts_with("b.") || name.starts_with("cb");
    let target = target.rsplit([' ', ',', '\t']).next()?;
    (jumps && target.starts_with(".L")).then_some(target)
}

/// The line of the C that a directive names.
fn location(text: &str) -> Option<usize> {
    let rest = text.trim_start().strip_prefix(".loc")?;
    rest.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_loop_is_found() {
        let c = "void f(void)\n{\n    for (int64_t i = 0; i < 4; i++) {\n        for (int64_t j = 0; j < 8; j++) {\n            x;\n        }\n    }\n}";
        assert_eq!(lines_of(c, "i"), [3..=6]);
        assert_eq!(lines_of(c, "j"), [4..=5]);
        let assembly = "f:\n\t.loc 1 3 5\n.L3:\n\txorl\t%eax, %eax\n.L2:\n\t.loc 1 5 9\n\
            \tvmovupd\t(%rdi), %ymm0\n\tvfmadd231pd\t(%rsi), %zmm1, %zmm0\n\taddq\t$1, %rax\n\
            \tjne\t.L2\n\tjne\t.L3\n.L9:\n\t.loc 1 7 1\n\taddsd\t%xmm0, %xmm1\n\tjmp\t.L9\n";
        let found = busiest(assembly, &lines_of(c, "j")).unwrap();
        assert_eq!((found.bits, found.arithmetic), (Some(512), 1));
        assert_eq!(found.instructions.len(), 4);
        let scalar = busiest(assembly, &[7..=7]).unwrap();
        assert_eq!(scalar.bits, None);
        assert_eq!(busiest(assembly, &[90..=99]), None);
    }
}
