//! The reference as one page: chapters of articles, links between them, and a search field.

use super::svg::escaped;
use std::collections::BTreeSet;
use std::fmt::Write;

/// Articles about one topic.
#[derive(Clone, Debug)]
pub struct Chapter {
    pub title: String,
    /// The introduction.
    pub about: String,
    pub articles: Vec<Article>,
}

/// A function, or several that share their documentation, or a page about something else.
#[derive(Clone, Debug)]
pub struct Article {
    /// The title of a page about something else.
    pub title: Option<String>,
    /// Each name with its signature.
    pub functions: Vec<(String, String)>,
    pub text: String,
}

const STYLE: &str = include_str!("reference.css");

const SCRIPT: &str = include_str!("reference.js");

/// The page, as a self-contained file.
pub fn reference(chapters: &[Chapter]) -> String {
    let articles = chapters.iter().flat_map(|chapter| &chapter.articles);
    let functions = articles.flat_map(|article| &article.functions);
    let names: BTreeSet<&str> = functions.map(|(name, _)| name.as_str()).collect();
    let mut html = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <title>teml: reference</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <h1>teml {}: reference</h1>\n\
         <p><input id=\"search\" type=\"search\" placeholder=\"Search\" \
         aria-label=\"Search\"/></p>\n<nav>\n",
        env!("CARGO_PKG_VERSION")
    );
    for chapter in chapters {
        let title = escaped(&chapter.title);
        let _ = writeln!(html, "<a href=\"#topic-{title}\">{title}</a>");
    }
    html.push_str("</nav>\n");
    let mut taken: BTreeSet<String> = BTreeSet::new();
    for chapter in chapters {
        let (title, about) = (escaped(&chapter.title), escaped(&chapter.about));
        let _ = write!(
            html,
            "<section id=\"topic-{title}\">\n<h2>{title}</h2>\n<p>{about}</p>\n"
        );
        for article in &chapter.articles {
            html.push_str("<article>\n");
            if let Some(title) = &article.title {
                let id = free_id(&title.replace(' ', "-"), &mut taken);
                let title = escaped(title);
                let _ = writeln!(html, "<h3 id=\"{id}\"><a href=\"#{id}\">{title}</a></h3>");
            }
            for (name, signature) in &article.functions {
                let _ = writeln!(
                    html,
                    "<h3 id=\"{0}\"><a href=\"#{0}\"><code>{1}</code></a></h3>",
                    free_id(name, &mut taken),
                    escaped(signature)
                );
            }
            let _ = writeln!(html, "{}</article>", documentation(&article.text, &names));
        }
        html.push_str("</section>\n");
    }
    let _ = write!(html, "<script>\n{SCRIPT}</script>\n</body>\n</html>\n");
    html
}

/// The link name of a function, numbered if another article has it.
fn free_id(name: &str, taken: &mut BTreeSet<String>) -> String {
    let first = id(name);
    let numbered = (2..).map(|number| format!("{first}-{number}"));
    let mut all = std::iter::once(first.clone()).chain(numbered);
    let found = all.find(|id| taken.insert(id.clone()));
    found.unwrap_or(first)
}

/// The link name of a function.
fn id(name: &str) -> String {
    escaped(&name.replace("::", "-"))
}

/// Formats paragraphs, lists and code blocks.
fn documentation(text: &str, names: &BTreeSet<&str>) -> String {
    let mut html = String::new();
    let mut paragraph = String::new();
    let mut code: Option<String> = None;
    let flush = |paragraph: &mut String, html: &mut String| {
        if !paragraph.trim().is_empty() {
            let _ = writeln!(html, "<p>{}</p>", spans(paragraph.trim(), names));
        }
        paragraph.clear();
    };
    for line in text.lines() {
        if line.starts_with("```") {
            flush(&mut paragraph, &mut html);
            match code.take() {
                Some(block) => {
                    let _ = writeln!(html, "<pre>{}</pre>", escaped(block.trim_end()));
                }
                None => code = Some(String::new()),
            }
        } else if let Some(block) = &mut code {
            block.push_str(line);
            block.push('\n');
        } else if line.trim().is_empty() || line.starts_with(['*', '-', '|']) {
            flush(&mut paragraph, &mut html);
            paragraph.push_str(line);
        } else {
            paragraph.push('\n');
            paragraph.push_str(line);
        }
    }
    flush(&mut paragraph, &mut html);
    html
}

/// A paragraph whose code links to the functions that it names.
fn spans(text: &str, names: &BTreeSet<&str>) -> String {
    let parts = text.split('`').enumerate().map(|(k, part)| {
        if k % 2 == 0 {
            return escaped(part);
        }
        let name = part.split('(').next().unwrap_or(part);
        if names.contains(name) {
            format!(
                "<a href=\"#{}\"><code>{}</code></a>",
                id(name),
                escaped(part)
            )
        } else {
            format!("<code>{}</code>", escaped(part))
        }
    });
    parts.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_well_formed_and_its_links_lead_somewhere() {
        let article = |name: &str, text: &str| {
            let (signature, text) = text.split_once("\n\n").unwrap();
            Article {
                title: None,
                functions: vec![(name.to_owned(), signature.to_owned())],
                text: text.to_owned(),
            }
        };
        let chapter = Chapter {
            title: "loops".to_owned(),
            about: "a < b".to_owned(),
            articles: vec![
                article(
                    "tile",
                    "tile(nest)\n\nAs `s::f(x)`, see `nothing`.\n\n```rhai\na < b\n```",
                ),
                article("s::f", "s::f(nest)\n\nOne."),
            ],
        };
        let page = reference(&[chapter]);
        let xml = page.split_once('\n').unwrap().1;
        let document = roxmltree::Document::parse(xml).unwrap();
        let ids: Vec<&str> = document
            .descendants()
            .filter_map(|n| n.attribute("id"))
            .collect();
        let links = document.descendants().filter_map(|n| n.attribute("href"));
        for link in links {
            assert!(ids.contains(&link.trim_start_matches('#')), "{link}");
        }
        assert!(
            page.contains("<a href=\"#s-f\"><code>s::f(x)</code></a>"),
            "{page}"
        );
    }
}
