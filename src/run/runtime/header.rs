//! The header of an `.npy` file: `{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }`.

use crate::ir::Elem;
use std::io::Read;

/// The element type, the order and the shape in an `.npy` file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub elem: Elem,
    pub big_endian: bool,
    pub order: Order,
    pub shape: Vec<u64>,
}

/// The index that runs fastest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// The last one, as in C.
    Rows,
    /// The first one, as in Fortran.
    Columns,
}

const MAGIC: &[u8] = b"\x93NUMPY";

/// NumPy writes headers of a few dozen bytes, and longer ones only for elements with many fields.
const MAX_HEADER: u32 = 1 << 16;

/// The largest rank of NumPy's arrays.
const MAX_RANK: usize = 64;

impl Header {
    /// Reads the header, up to the first element.
    pub fn read(reader: &mut impl Read) -> Result<Header, String> {
        parse(&Header::text(reader)?)
    }

    /// Reads the text of the header, up to the first element.
    pub fn text(reader: &mut impl Read) -> Result<String, String> {
        let not_npy = |_| "it is not an .npy file".to_owned();
        let mut start = [0; 8];
        reader.read_exact(&mut start).map_err(not_npy)?;
        if !start.starts_with(MAGIC) {
            return Err("it is not an .npy file".to_owned());
        }
        let cut_short = |_| "it is cut short in its header".to_owned();
        let length = match start[6] {
            1 => {
                let mut length = [0; 2];
                reader.read_exact(&mut length).map_err(cut_short)?;
                u32::from(u16::from_le_bytes(length))
            }
            2 | 3 => {
                let mut length = [0; 4];
                reader.read_exact(&mut length).map_err(cut_short)?;
                u32::from_le_bytes(length)
            }
            version => return Err(format!("version {version} of the format is not known")),
        };
        if length > MAX_HEADER {
            return Err(format!("its header is said to have {length} bytes"));
        }
        let mut text = vec![0; length as usize];
        reader.read_exact(&mut text).map_err(cut_short)?;
        String::from_utf8(text).map_err(|_| "its header is not text".to_owned())
    }

    /// The first bytes of a file, up to the first element.
    pub fn bytes(elem: Elem, shape: &[u64]) -> Vec<u8> {
        let kind = if elem.is_float() { 'f' } else { 'i' };
        let extents = match shape {
            [only] => format!("{only},"),
            several => several
                .iter()
                .map(u64::to_string)
                .collect::<Vec<_>>()
                .join(", "),
        };
        let mut text = format!(
            "{{'descr': '<{kind}{}', 'fortran_order': False, 'shape': ({extents}), }}",
            elem.size()
        );
        // Elements begin at a multiple of 64 bytes.
        let before = MAGIC.len() + 4;
        let length = (before + text.len() + 1).next_multiple_of(64) - before;
        text.push_str(&" ".repeat(length - text.len() - 1));
        text.push('\n');
        let mut bytes = MAGIC.to_vec();
        bytes.extend([1, 0]);
        bytes.extend((text.len() as u16).to_le_bytes());
        bytes.extend(text.as_bytes());
        bytes
    }
}

fn parse(text: &str) -> Result<Header, String> {
    let mut rest = Text(text);
    let damaged = || "its header is damaged".to_owned();
    let (mut descr, mut order, mut shape) = (None, None, None);
    rest.take("{").ok_or_else(damaged)?;
    while rest.take("}").is_none() {
        let key = rest.quoted().ok_or_else(damaged)?;
        rest.take(":").ok_or_else(damaged)?;
        match key {
            "descr" if rest.starts_with("[") => {
                return Err("its elements have fields".to_owned());
            }
            "descr" => descr = Some(rest.quoted().ok_or_else(damaged)?),
            "fortran_order" => order = Some(rest.order().ok_or_else(damaged)?),
            "shape" => shape = Some(rest.shape().ok_or_else(damaged)?),
            _ => return Err(damaged()),
        }
        if rest.take(",").is_none() && !rest.starts_with("}") {
            return Err(damaged());
        }
    }
    let (Some(descr), Some(order), Some(shape)) = (descr, order, shape) else {
        return Err(damaged());
    };
    let elem = match descr.get(1..) {
        Some("f8") => Elem::F64,
        Some("f4") => Elem::F32,
        Some("i4") => Elem::I32,
        Some("i8") => Elem::I64,
        _ => return Err(other_elements(descr)),
    };
    let big_endian = match descr.as_bytes()[0] {
        b'<' => false,
        b'>' => true,
        _ => return Err(other_elements(descr)),
    };
    Ok(Header {
        elem,
        big_endian,
        order,
        shape,
    })
}

fn other_elements(descr: &str) -> String {
    format!("its elements are `{descr}`; tensors hold f8, f4, i8 or i4")
}

/// The text that remains to be parsed.
struct Text<'a>(&'a str);

impl<'a> Text<'a> {
    fn starts_with(&self, token: &str) -> bool {
        self.0.trim_start().starts_with(token)
    }

    fn take(&mut self, token: &str) -> Option<()> {
        self.0 = self.0.trim_start().strip_prefix(token)?;
        Some(())
    }

    fn quoted(&mut self) -> Option<&'a str> {
        let text = self.0.trim_start();
        let quote = text.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
        let (inside, rest) = text[1..].split_once(quote)?;
        self.0 = rest;
        Some(inside)
    }

    fn order(&mut self) -> Option<Order> {
        if self.take("True").is_some() {
            return Some(Order::Columns);
        }
        self.take("False").map(|()| Order::Rows)
    }

    fn shape(&mut self) -> Option<Vec<u64>> {
        self.take("(")?;
        let mut shape = Vec::new();
        while self.take(")").is_none() {
            let text = self.0.trim_start();
            let end = text.find(|c: char| !c.is_ascii_digit())?;
            shape.push(text[..end].parse().ok()?);
            self.0 = &text[end..];
            if shape.len() > MAX_RANK || self.take(",").is_none() && !self.starts_with(")") {
                return None;
            }
        }
        Some(shape)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        for shape in [vec![], vec![7], vec![2, 3, 1]] {
            for elem in Elem::ALL {
                let bytes = Header::bytes(elem, &shape);
                assert_eq!(bytes.len() % 64, 0);
                let header = Header::read(&mut bytes.as_slice()).unwrap();
                assert_eq!((header.elem, &header.shape), (elem, &shape));
                assert_eq!((header.order, header.big_endian), (Order::Rows, false));
            }
        }
    }

    #[test]
    fn headers_of_other_writers_are_read() {
        let header =
            parse("{\"shape\": ( 3,4 ),\"descr\":\">i4\", \"fortran_order\": True}\n").unwrap();
        assert_eq!(
            (header.shape.as_slice(), header.elem),
            ([3, 4].as_slice(), Elem::I32)
        );
        assert_eq!((header.order, header.big_endian), (Order::Columns, true));
    }

    #[test]
    fn other_headers_are_refused() {
        let around = |descr: &str, shape: &str| {
            parse(&format!(
                "{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}}}"
            ))
        };
        assert!(around("'<f8'", "(3,)").is_ok());
        for descr in [
            "'<c16'",
            "'|b1'",
            "'<f2'",
            "'f8'",
            "''",
            "'<é'",
            "[('a', '<f8')]",
        ] {
            let error = around(descr, "(3,)").unwrap_err();
            assert!(error.starts_with("its elements"), "{error}");
        }
        for shape in [
            "(-1,)",
            "(3",
            "3",
            "(3 4)",
            "(99999999999999999999,)",
            "(,)",
        ] {
            assert_eq!(around("'<f8'", shape).unwrap_err(), "its header is damaged");
        }
        for text in [
            "",
            "{",
            "{}",
            "{'descr'}",
            "{'other': 1}",
            "{'descr: '<f8'}",
        ] {
            assert_eq!(parse(text).unwrap_err(), "its header is damaged", "{text}");
        }
    }
}
