//! Arrays in files: NumPy's `.npy`, and one of several in an `.npz`.
//!
//! Files are not trusted: the header's claims are compared with the data, and only the data
//! determine how much memory is allocated.
//!
//! Source: NumPy Enhancement Proposal 1; an `.npz` is a zip archive of `.npy` files.

use super::data::Values;
use super::elements::View;
use super::error::RuntimeError;
use super::header::{Header, Order};
use crate::ir::Elem;
use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::Path;
use std::sync::Arc;
use zip::ZipArchive;

/// The most bytes of a text in an archive.
const MAX_TEXT: u64 = 256;

/// An array: elements in row-major order with their shape.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// The extents; none for a single number.
    pub shape: Vec<u64>,
    pub values: Arc<Values>,
}

impl Array {
    /// Loads an array from `file`: an `.npy` file, or an `.npz` archive, in which `member` names an
    /// array. The name may be omitted if there is only one.
    ///
    /// # Errors
    /// [`RuntimeError::NoArray`].
    pub fn load(file: &Path, member: Option<&str>) -> Result<Array, RuntimeError> {
        let load = || -> Result<Array, String> {
            if !std::fs::metadata(file).map_err(text)?.is_file() {
                return Err("it is not a file".to_owned());
            }
            let mut reader = BufReader::new(File::open(file).map_err(text)?);
            if file.extension().is_some_and(|e| e == "npz") {
                return member_of(reader, member);
            }
            match member {
                None => read(&mut reader),
                Some(name) => Err(format!(
                    "only an .npz file has arrays with names such as `{name}`"
                )),
            }
        };
        load().map_err(|reason| RuntimeError::NoArray {
            file: file.to_owned(),
            reason,
        })
    }

    /// The short text that an `.npz` archive has under a name.
    ///
    /// # Errors
    /// Why there is none.
    pub fn text(file: &Path, member: &str) -> Result<String, String> {
        let reader = BufReader::new(File::open(file).map_err(text)?);
        let mut archive = ZipArchive::new(reader).map_err(text)?;
        let found = archive.by_name(&format!("{member}.npy"));
        let mut found = found.map_err(|_| format!("it has no array `{member}`"))?;
        Header::text(&mut found)?;
        let mut bytes = Vec::new();
        let mut short = found.take(MAX_TEXT);
        short.read_to_end(&mut bytes).map_err(text)?;
        // Characters have one byte, or four.
        bytes.retain(|byte| *byte != 0);
        String::from_utf8(bytes).map_err(|_| format!("array `{member}` is not text"))
    }

    /// Writes the array as an `.npy` file.
    ///
    /// # Errors
    /// The system cannot write the file.
    pub fn save(&self, file: &Path) -> io::Result<()> {
        let mut out = BufWriter::new(File::create(file)?);
        let view = self.values.view();
        out.write_all(&Header::bytes(view.elem(), &self.shape))?;
        match view {
            View::F64(v) => v.iter().try_for_each(|x| out.write_all(&x.to_le_bytes())),
            View::F32(v) => v.iter().try_for_each(|x| out.write_all(&x.to_le_bytes())),
            View::I32(v) => v.iter().try_for_each(|x| out.write_all(&x.to_le_bytes())),
            View::I64(v) => v.iter().try_for_each(|x| out.write_all(&x.to_le_bytes())),
        }?;
        out.flush()
    }
}

fn text(error: impl ToString) -> String {
    error.to_string()
}

fn member_of(reader: BufReader<File>, member: Option<&str>) -> Result<Array, String> {
    let mut archive = ZipArchive::new(reader).map_err(text)?;
    let names = archive.file_names().map(|name| name.map(Cow::into_owned));
    let names: Vec<String> = names.collect::<Result<_, _>>().map_err(text)?;
    let shown = |name: &String| name.strip_suffix(".npy").unwrap_or(name).to_owned();
    let all = || names.iter().map(shown).collect::<Vec<_>>().join(", ");
    let name = match (member, names.as_slice()) {
        (None, [only]) => only,
        (None, _) => return Err(format!("name one of its arrays: {}", all())),
        (Some(member), _) => names
            .iter()
            .find(|name| *name == member || shown(name) == member)
            .ok_or_else(|| format!("it has no array `{member}`, but: {}", all()))?,
    };
    let mut file = archive.by_name(name).map_err(text)?;
    read(&mut file).map_err(|reason| format!("array `{}`: {reason}", shown(name)))
}

/// Reads an `.npy` file from its first byte to its last one.
fn read(reader: &mut impl Read) -> Result<Array, String> {
    let header = Header::read(reader)?;
    let size = header.elem.size() as u64;
    let mut extents = header.shape.iter();
    let count = extents.try_fold(1u64, |count, e| count.checked_mul(*e));
    let bytes = count
        .and_then(|count| count.checked_mul(size))
        .filter(|b| *b < u64::MAX);
    let Some(bytes) = bytes else {
        return Err("it says that it holds more bytes than can be counted".to_owned());
    };
    if bytes == 0 {
        return Err("it holds no elements".to_owned());
    }
    // One byte more than expected shows that there are too many. The memory grows with the bytes
    // that are read, since a header can promise any number.
    let mut data = Vec::new();
    reader
        .take(bytes + 1)
        .read_to_end(&mut data)
        .map_err(text)?;
    match data.len() as u64 {
        n if n < bytes => Err(format!(
            "it is cut short: {n} of its {bytes} bytes of elements are there"
        )),
        n if n > bytes => Err(format!("it goes on after its {bytes} bytes of elements")),
        _ => {
            let values = Arc::new(header.values(&data));
            let shape = header.shape;
            Ok(Array { values, shape })
        }
    }
}

impl Header {
    fn values(&self, data: &[u8]) -> Values {
        match self.elem {
            Elem::F64 => Values::F64(self.elements(data, f64::from_le_bytes, f64::from_be_bytes)),
            Elem::F32 => Values::F32(self.elements(data, f32::from_le_bytes, f32::from_be_bytes)),
            Elem::I32 => Values::I32(self.elements(data, i32::from_le_bytes, i32::from_be_bytes)),
            Elem::I64 => Values::I64(self.elements(data, i64::from_le_bytes, i64::from_be_bytes)),
        }
    }

    /// The elements in row-major order.
    fn elements<T: Copy, const N: usize>(
        &self,
        data: &[u8],
        little: fn([u8; N]) -> T,
        big: fn([u8; N]) -> T,
    ) -> Vec<T> {
        let element = if self.big_endian { big } else { little };
        let (pieces, _) = data.as_chunks::<N>();
        match self.order {
            Order::Rows => pieces.iter().map(|bytes| element(*bytes)).collect(),
            Order::Columns => {
                let place = Columns::new(&self.shape);
                place.map(|k| element(pieces[k])).collect()
            }
        }
    }
}

/// Iterates, in row-major order, over the positions of elements in column-major order.
struct Columns<'a> {
    shape: &'a [u64],
    index: Vec<u64>,
    strides: Vec<u64>,
    place: Option<u64>,
}

impl Columns<'_> {
    fn new(shape: &[u64]) -> Columns<'_> {
        let strides = shape.iter().scan(1, |stride, extent| {
            let own = *stride;
            *stride *= extent;
            Some(own)
        });
        Columns {
            shape,
            index: vec![0; shape.len()],
            strides: strides.collect(),
            place: Some(0),
        }
    }
}

impl Iterator for Columns<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        let here = self.place?;
        let mut place = here;
        self.place = None;
        for d in (0..self.shape.len()).rev() {
            if self.index[d] + 1 < self.shape[d] {
                self.index[d] += 1;
                self.place = Some(place + self.strides[d]);
                break;
            }
            place -= self.index[d] * self.strides[d];
            self.index[d] = 0;
        }
        usize::try_from(here).ok()
    }
}
