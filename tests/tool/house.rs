//! The rules of the house that cargo does not check: the imports among the rooms of a crate, and
//! the absence of cycles among files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

const CRATES: [&str; 6] = ["core", "transform", "codegen", "run", "engine", "script"];

fn src() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

fn readme() -> String {
    fs::read_to_string(src().join("README.md")).unwrap()
}

/// The first two cells of the rows of a table, behind its first cell's first letters.
fn rows(begin: &str) -> Vec<(String, BTreeSet<String>)> {
    let text = readme();
    let rows = text.lines().filter_map(|line| {
        let cells: Vec<&str> = line.strip_prefix(begin)?.split('|').collect();
        let [name, others, ..] = cells.as_slice() else {
            return None;
        };
        let others = others.split(',').map(|name| name.trim().to_owned());
        let name = name.trim().trim_end_matches('`').to_owned();
        Some((name, others.filter(|name| name != "–").collect()))
    });
    rows.collect()
}

/// The rows of the table: a room, and the rooms that it imports.
fn rooms() -> Vec<(String, BTreeSet<String>)> {
    rows("| `")
}

/// Where a room is: a crate, or a folder of one.
fn folder(room: &str) -> PathBuf {
    let own = src().join(room);
    let inner = CRATES.iter().map(|name| src().join(name).join(room));
    let mut all = [own].into_iter().chain(inner);
    all.find(|path| path.is_dir()).unwrap()
}

fn is_room(name: &str) -> bool {
    rooms().iter().any(|(room, _)| room == name)
}

/// The files in a directory; the rooms that are in it have their own.
fn files(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        match path.is_dir() {
            true if is_room(&name) && folder(&name) == path => {}
            true => found.extend(files(&path)),
            false if path.extension().is_some_and(|e| e == "rs") => found.push(path),
            false => {}
        }
    }
    found
}

/// The code of a file: without comments, and without unit tests, which may look at anything.
fn code(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    let mut code = String::new();
    for (k, part) in text.split("#[cfg(test)]\n").enumerate() {
        // The line of a file of tests, with more code after it.
        let file = part.split_once(";\n").filter(|(line, _)| {
            let name = line.strip_prefix("mod ");
            name.is_some_and(|name| !name.contains(['{', '\n']))
        });
        match file {
            _ if k == 0 => code.push_str(part),
            Some((_, rest)) => code.push_str(rest),
            None => break,
        }
    }
    let lines = code.lines().filter(|l| !l.trim_start().starts_with("//"));
    lines.collect::<Vec<_>>().join("\n")
}

/// The words that follow `before` in `code`.
fn after<'a>(code: &'a str, before: &'a str) -> impl Iterator<Item = &'a str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    code.split(before).skip(1).map(move |rest| {
        let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        &rest[..end]
    })
}

/// The table of crates is what cargo knows: `cargo tree --workspace --depth 1`.
#[test]
fn crates_depend_on_what_the_table_says() {
    let table = rows("| teml-");
    let names: Vec<&str> = table.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, CRATES);
    for (name, uses) in &table {
        let manifest = fs::read_to_string(src().join(name).join("Cargo.toml")).unwrap();
        let own = after(&manifest, "\nteml-").map(str::to_owned).collect();
        assert_eq!(*uses, own, "{name}");
    }
}

#[test]
fn every_folder_is_a_room_or_a_crate() {
    let folders = |directory: PathBuf| {
        let entries = fs::read_dir(directory).unwrap().map(|e| e.unwrap());
        let folders = entries.filter(|e| e.path().is_dir());
        folders.map(|e| e.file_name().into_string().unwrap())
    };
    for name in folders(src()) {
        assert!(is_room(&name) || CRATES.contains(&name.as_str()), "{name}");
    }
    for name in CRATES.iter().filter(|name| !is_room(name)) {
        assert!(
            folders(src().join(name)).all(|name| is_room(&name)),
            "{name}"
        );
    }
}

/// The names that a room's files import from `crate::`. A name that is not a room belongs to the
/// room of the crate itself.
fn imports(room: &str) -> BTreeSet<String> {
    let place = folder(room);
    let crate_of = place.strip_prefix(src()).unwrap().iter().next().unwrap();
    let root = crate_of.to_str().unwrap();
    let mut found = BTreeSet::new();
    for file in files(&place) {
        for name in after(&code(&file), "crate::") {
            if is_room(name) {
                found.insert(name.to_owned())
            } else {
                is_room(root) && found.insert(root.to_owned())
            };
        }
    }
    found.remove(room);
    found
}

#[test]
fn rooms_import_only_what_the_table_says() {
    for (room, listed) in rooms() {
        let found = imports(&room);
        let more: Vec<&String> = found.difference(&listed).collect();
        assert!(more.is_empty(), "{room} imports {more:?}");
    }
}

#[test]
fn no_import_goes_up() {
    // The order of the rows is the order of the data.
    let rooms = rooms();
    let place = |name: &str| rooms.iter().position(|(room, _)| room == name).unwrap();
    for (own, (name, imports)) in rooms.iter().enumerate() {
        for import in imports {
            assert!(
                place(import) < own,
                "{name} imports {import}, which comes after it"
            );
        }
    }
}

#[test]
fn unsafe_code_stays_in_two_rooms() {
    for (name, _) in rooms() {
        if ["poly", "runtime"].contains(&name.as_str()) {
            continue;
        }
        for file in files(&folder(&name)) {
            assert!(!code(&file).contains("unsafe "), "{}", file.display());
        }
    }
}

#[test]
fn the_core_does_no_input_or_output() {
    let rooms = [
        "ir",
        "poly",
        "interp",
        "analysis",
        "lower",
        "transform",
        "codegen",
        "diag",
        "report",
    ];
    let forbidden = [
        "std::fs",
        "std::process",
        "std::net",
        "println!",
        "eprintln!",
    ];
    for file in rooms.iter().flat_map(|name| files(&folder(name))) {
        let code = code(&file);
        for word in forbidden {
            assert!(!code.contains(word), "{} uses {word}", file.display());
        }
    }
}

/// Modules by path (`codegen::plan::tree`), with their code.
fn modules() -> BTreeMap<String, String> {
    let name = |file: &Path| {
        let relative = file.strip_prefix(src()).unwrap().with_extension("");
        let parts = relative.iter().map(|part| part.to_str().unwrap());
        let parts: Vec<&str> = parts
            .filter(|part| !["mod", "lib"].contains(part))
            .collect();
        parts.join("::")
    };
    let files = rooms()
        .into_iter()
        .flat_map(|(room, _)| files(&folder(&room)));
    files.map(|file| (name(&file), code(&file))).collect()
}

/// The paths that a tree of imports names: `a::{b, c::d}` is `a::b` and `a::c::d`.
fn leaves(tree: &str) -> Vec<String> {
    let tree = tree.trim();
    let Some((before, inner)) = tree.split_once('{') else {
        let path = tree.split(" as ").next().unwrap().trim();
        return if path.is_empty() {
            Vec::new()
        } else {
            vec![path.to_owned()]
        };
    };
    // Text that turns out not to be an import names nothing.
    let Some((inner, _)) = inner.rsplit_once('}') else {
        return Vec::new();
    };
    let (mut depth, mut start, mut found) = (0, 0, Vec::new());
    for (k, c) in inner.char_indices().chain([(inner.len(), ',')]) {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                let paths = leaves(&inner[start..k]);
                found.extend(paths.into_iter().map(|path| format!("{before}{path}")));
                start = k + 1;
            }
            _ => {}
        }
    }
    found
}

/// A path from `src`, if it is one of ours.
fn absolute(module: &str, path: &str, modules: &BTreeMap<String, String>) -> Option<Vec<String>> {
    let mut at: Vec<String> = module.split("::").map(str::to_owned).collect();
    let mut parts = path.split("::").peekable();
    match parts.peek() {
        Some(&"crate") => {
            at.truncate(usize::from(CRATES.contains(&at[0].as_str())));
            parts.next();
            // Rooms of other crates have names in this one.
            let next = *parts.peek()?;
            let inside = [&at[..], &[next.to_owned()]].concat().join("::");
            if is_room(next) && !modules.contains_key(&inside) {
                return None;
            }
        }
        Some(&"super") => {
            while parts.next_if_eq(&"super").is_some() {
                at.pop();
            }
        }
        Some(first) if modules.contains_key(&format!("{module}::{first}")) => {}
        _ => return None,
    }
    at.extend(parts.map(str::to_owned));
    Some(at)
}

/// The modules that each module of a folder uses; a re-exported item belongs to the module that
/// defines it.
fn uses(room: &str, modules: &BTreeMap<String, String>) -> BTreeMap<String, BTreeSet<String>> {
    let mut exported: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
    let mut used: Vec<(String, Vec<String>)> = Vec::new();
    let is_own = |module: &str| module == room || module.starts_with(&format!("{room}::"));
    for (module, code) in modules.iter().filter(|(module, _)| is_own(module)) {
        for statement in code.split(';') {
            let line = statement.rsplit_once("use ");
            let is_import = |before: &str| {
                let last = before.rsplit('\n').next().unwrap().trim();
                last.is_empty() || last.starts_with("pub")
            };
            let Some((before, tree)) = line.filter(|(before, _)| is_import(before)) else {
                let words = |c: char| !c.is_alphanumeric() && c != '_' && c != ':';
                for path in statement.split(words).filter(|word| word.contains("::")) {
                    used.extend(absolute(module, path, modules).map(|p| (module.clone(), p)));
                }
                continue;
            };
            for path in leaves(tree) {
                let target = absolute(module, &path, modules);
                let name = path.rsplit("::").next().unwrap().to_owned();
                if before.rsplit('\n').next().unwrap().contains("pub") {
                    drop(exported.insert((module.clone(), name), target.unwrap_or_default()))
                } else {
                    used.extend(target.map(|target| (module.clone(), target)))
                }
            }
        }
    }
    let resolve = |mut path: Vec<String>| loop {
        let known = (1..=path.len())
            .rev()
            .find(|k| modules.contains_key(&path[..*k].join("::")))?;
        let module = path[..known].join("::");
        let next = path
            .get(known)
            .and_then(|name| exported.get(&(module.clone(), name.clone())));
        match next {
            Some(target) if *target != path => path = [target, &path[known + 1..]].concat(),
            _ => return Some(module),
        }
    };
    let mut edges: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (module, path) in used {
        if let Some(target) = resolve(path)
            && target != module
            && is_own(&target)
        {
            edges.entry(module).or_default().insert(target);
        }
    }
    edges
}

/// The modules that a module uses, directly or indirectly.
fn reached<'a>(
    module: &'a str,
    edges: &'a BTreeMap<String, BTreeSet<String>>,
) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::new();
    let mut next = vec![module];
    while let Some(module) = next.pop() {
        let others = edges.get(module).into_iter().flatten();
        next.extend(
            others
                .map(String::as_str)
                .filter(|other| found.insert(*other)),
        );
    }
    found
}

#[test]
fn files_do_not_use_each_other_in_circles() {
    let modules = modules();
    let mut wrong = Vec::new();
    for place in CRATES.iter().chain(&["bench", "repl"]) {
        let edges = uses(place, &modules);
        assert!(edges.len() > 3, "{place}: no imports found");
        let own = edges.keys().map(String::as_str);
        let circles: Vec<&str> = own.filter(|m| reached(m, &edges).contains(m)).collect();
        if !circles.is_empty() {
            wrong.push(format!("{place}: {}", circles.join(", ")));
        }
    }
    assert!(wrong.is_empty(), "in circles: {}", wrong.join("\n"));
}

/// The source files below a directory.
fn sources(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).unwrap();
    let below = entries.flat_map(|entry| {
        let path = entry.unwrap().path();
        if path.is_dir() {
            return sources(&path);
        }
        let is_source = path.extension().is_some_and(|e| e == "rs");
        is_source.then_some(path).into_iter().collect()
    });
    below.collect()
}

/// Pages and comments name files by the ends of their paths.
#[test]
fn files_that_are_named_exist() {
    let root = src().join("..");
    let all: Vec<PathBuf> = ["src", "tests", "benches"]
        .iter()
        .flat_map(|folder| sources(&root.join(folder)))
        .collect();
    let comments = all.iter().map(|file| {
        let text = fs::read_to_string(file).unwrap();
        let lines = text.lines().filter(|l| l.trim_start().starts_with("//"));
        (file.clone(), lines.collect::<Vec<_>>().join("\n"))
    });
    let pages = [
        "README.md",
        "src/README.md",
        "scripts/README.md",
        "stdlib/README.md",
    ];
    let pages = pages.map(|page| root.join(page));
    let pages = pages.map(|page| (page.clone(), fs::read_to_string(page).unwrap()));
    let mut named = 0;
    for (place, text) in pages.into_iter().chain(comments) {
        let is_path = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_/.".contains(c);
        let paths = text.split('`').filter(|part| part.ends_with(".rs"));
        for path in paths.filter(|path| path.chars().all(is_path)) {
            named += 1;
            let exists = all.iter().any(|file| file.ends_with(path));
            assert!(exists, "{}: there is no `{path}`", place.display());
        }
    }
    assert!(named > 100, "only {named}");
}

#[test]
fn imports_are_found() {
    assert_eq!(
        leaves("a::{b, c::{d, e as f}}"),
        ["a::b", "a::c::d", "a::c::e"]
    );
    let modules = modules();
    let edges = uses("codegen", &modules);
    let uses = |a: &str, b: &str| edges[a].contains(b);
    assert!(uses("codegen::plan::outline", "codegen::plan::tree"));
    assert!(uses("codegen::plan", "codegen::plan::lower"));
    assert!(!uses("codegen::plan::outline", "codegen::plan"));
}

/// The functions in the table of the header of `analysis/mod.rs`: modules, and the name in them.
fn answers() -> Vec<(String, String)> {
    let text = fs::read_to_string(folder("analysis").join("mod.rs")).unwrap();
    let rows = text.lines().filter_map(|line| line.strip_prefix("//! | "));
    let paths = rows.filter_map(|row| row.split('`').nth(1)?.rsplit_once("::"));
    let own = |(module, name): (&str, &str)| (module.to_owned(), name.to_owned());
    paths.map(own).collect()
}

/// The public functions of analysis that are not methods: modules, and the name in them.
fn analyses() -> Vec<(String, String)> {
    let mut found = Vec::new();
    for file in files(&folder("analysis")) {
        let path = file.strip_prefix(folder("analysis")).unwrap();
        let parts = path.with_extension("");
        let parts = parts.iter().map(|part| part.to_str().unwrap());
        let module: Vec<&str> = parts.filter(|part| *part != "mod").collect();
        for line in code(&file).lines() {
            if let Some(rest) = line.strip_prefix("pub fn ") {
                let end = |c: char| !c.is_alphanumeric() && c != '_';
                let name = rest.split(end).next().unwrap();
                found.push((module.join("::"), name.to_owned()));
            }
        }
    }
    found
}

#[test]
fn each_question_is_answered_in_one_place() {
    let (answers, analyses) = (answers(), analyses());
    assert!(answers.len() > 40, "{answers:?}");
    for answer in &answers {
        assert!(analyses.contains(answer), "there is no {answer:?}");
        let again = answers.iter().filter(|other| *other == answer);
        assert_eq!(again.count(), 1, "{answer:?}");
    }
    let mut places: BTreeMap<&str, &str> = BTreeMap::new();
    for analysis in &analyses {
        let (module, name) = analysis;
        assert!(
            answers.contains(analysis),
            "no question leads to {analysis:?}"
        );
        if let Some(other) = places.insert(name, module) {
            panic!("{other} and {module} both have a function `{name}`");
        }
    }
}
