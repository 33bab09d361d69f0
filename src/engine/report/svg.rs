//! SVG: documents, their elements, and escaped texts.

use std::fmt::{Display, Write};

/// Attributes with their values, in order.
pub type Attributes<'a> = &'a [(&'a str, &'a dyn Display)];

/// A self-contained document with this body. `more` are attributes beside the size.
pub fn document<N: Display>((width, height): (N, N), more: Attributes<'_>, body: &str) -> String {
    let view = format!("0 0 {width} {height}");
    let own: Attributes<'_> = &[
        ("xmlns", &"http://www.w3.org/2000/svg"),
        ("viewBox", &view),
        ("width", &width),
        ("height", &height),
    ];
    format!("{}>\n{body}</svg>\n", opened("svg", &[own, more].concat()))
}

/// A document with a style sheet, which gives the class `back` the color of the background.
pub fn styled<N: Display>((width, height): (N, N), style: &str, body: &str) -> String {
    let back = element(
        "rect",
        &[("class", &"back"), ("width", &width), ("height", &height)],
    );
    let body = format!("<style>\n{style}</style>\n{back}{body}");
    document((width, height), &[], &body)
}

/// A document as a part of another one, at this place.
pub fn placed(document: &str, x: f64, y: f64) -> String {
    let svg = opened("svg", &[("x", &x), ("y", &y)]);
    document.replacen("<svg", &svg, 1)
}

/// An element without content.
pub fn element(name: &str, attributes: Attributes<'_>) -> String {
    format!("{}/>\n", opened(name, attributes))
}

/// An element with a title, which browsers show under the pointer.
pub fn titled(name: &str, attributes: Attributes<'_>, title: &str) -> String {
    let (opened, title) = (opened(name, attributes), escaped(title));
    format!("{opened}><title>{title}</title></{name}>\n")
}

/// A text, which may have any characters.
pub fn text(attributes: Attributes<'_>, text: &str) -> String {
    format!("{}>{}</text>\n", opened("text", attributes), escaped(text))
}

/// A coordinate, rounded to tenths.
pub fn tenths(coordinate: f64) -> String {
    format!("{coordinate:.1}")
}

/// The begin of an element. An empty class is left out.
fn opened(name: &str, attributes: Attributes<'_>) -> String {
    let mut out = format!("<{name}");
    for (attribute, value) in attributes {
        let value = value.to_string();
        if *attribute != "class" || !value.is_empty() {
            let _ = write!(out, " {attribute}=\"{}\"", escaped(&value));
        }
    }
    out
}

/// Escapes a text for XML and HTML.
pub fn escaped(text: &str) -> String {
    let escape = |c: char| match c {
        '&' => "&amp;".to_owned(),
        '<' => "&lt;".to_owned(),
        '>' => "&gt;".to_owned(),
        '"' => "&quot;".to_owned(),
        // XML has no control characters, such as a compiler's color codes.
        c if c.is_control() && c != '\n' && c != '\t' => "\u{fffd}".to_owned(),
        c => c.to_string(),
    };
    text.chars().map(escape).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_written_in_order() {
        let body = text(
            &[("class", &""), ("x", &tenths(0.25)), ("y", &3)],
            "a < \"b\"",
        ) + &titled("rect", &[("rx", &5)], "&");
        let svg = styled((20, 10), ".back { fill: #ffffff; }\n", &body);
        assert_eq!(
            svg,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 20 10\" width=\"20\" \
             height=\"10\">\n<style>\n.back { fill: #ffffff; }\n</style>\n\
             <rect class=\"back\" width=\"20\" height=\"10\"/>\n\
             <text x=\"0.2\" y=\"3\">a &lt; &quot;b&quot;</text>\n\
             <rect rx=\"5\"><title>&amp;</title></rect>\n</svg>\n"
        );
        let inner = placed(&svg, 1.0, 2.5);
        assert!(
            inner.starts_with("<svg x=\"1\" y=\"2.5\" xmlns="),
            "{inner}"
        );
        let whole = document((30, 20), &[("font-size", &12)], &inner);
        assert!(roxmltree::Document::parse(&whole).is_ok(), "{whole}");
    }
}
