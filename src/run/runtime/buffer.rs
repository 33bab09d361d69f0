//! Shared memory of this process and a worker: one tensor between two guard zones.

use super::data::Data;
use super::elements::{Contents, View};
use super::error::RuntimeError;
use super::place::Place;
use super::sys;
use crate::ir::{Elem, Tensor};
use memmap2::{Mmap, MmapMut, MmapOptions};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// Bytes of each guard zone, a whole number of pages on every machine.
const GUARD: usize = 1 << 16;

const _: () = assert!(GUARD.is_multiple_of(crate::codegen::ALIGNMENT));

/// The elements of one tensor in shared memory, row-major and aligned to
/// [`ALIGNMENT`](crate::codegen::ALIGNMENT).
#[derive(Debug)]
pub struct Buffer {
    tensor: Tensor,
    file: File,
    map: MmapMut,
    start: usize,
    bytes: usize,
}

impl Buffer {
    /// Shared memory for `tensor`, filled with `data`.
    ///
    /// # Errors
    /// [`RuntimeError::Allocation`] when there is not that much memory, and
    /// what [`Data::check`] says when the data do not fit.
    pub fn filled(tensor: &Tensor, data: &Data, place: Place) -> Result<Buffer, RuntimeError> {
        let size = tensor.elem().size() as u64;
        let bytes = tensor.shape().extents().iter();
        let bytes = bytes.fold(size, |product, &extent| product.saturating_mul(extent));
        let failed = |reason: io::Error| RuntimeError::Allocation {
            tensor: tensor.label().to_owned(),
            bytes,
            reason: reason.to_string(),
        };
        let start = GUARD + place.start();
        let (file, map) = allocate(bytes, start).map_err(failed)?;
        let mut buffer = Buffer {
            tensor: tensor.clone(),
            start,
            bytes: map.len() - start - GUARD,
            file,
            map,
        };
        let end = start + buffer.bytes;
        let word = buffer.word();
        fill_words(&mut buffer.map[..start], word);
        fill_words(&mut buffer.map[end..], word);
        if *data == Data::Unset {
            fill_words(&mut buffer.map[start..end], word);
        }
        data.fill(tensor, buffer.contents())?;
        Ok(buffer)
    }

    /// Whether the elements of `tensor` at `place` fit this memory.
    pub(super) fn fits(&self, tensor: &Tensor, place: Place) -> bool {
        let own = &self.tensor;
        (own.elem(), own.shape()) == (tensor.elem(), tensor.shape())
            && self.start == GUARD + place.start()
    }

    /// The same memory for another tensor that fits it.
    pub(super) fn renamed(self, tensor: &Tensor) -> Buffer {
        Buffer {
            tensor: tensor.clone(),
            ..self
        }
    }

    /// The tensor whose elements these are.
    pub fn tensor(&self) -> &Tensor {
        &self.tensor
    }

    /// Exchanges the memory of two tensors if each fits the other's.
    pub(super) fn exchange(&mut self, other: &mut Buffer) {
        std::mem::swap(self, other);
        std::mem::swap(&mut self.tensor, &mut other.tensor);
    }

    pub fn view(&self) -> View<'_> {
        match self.tensor.elem() {
            Elem::F64 => View::F64(self.slice()),
            Elem::F32 => View::F32(self.slice()),
            Elem::I32 => View::I32(self.slice()),
            Elem::I64 => View::I64(self.slice()),
        }
    }

    /// The elements, for writing.
    pub(super) fn contents(&mut self) -> Contents<'_> {
        match self.tensor.elem() {
            Elem::F64 => Contents::F64(self.slice_mut()),
            Elem::F32 => Contents::F32(self.slice_mut()),
            Elem::I32 => Contents::I32(self.slice_mut()),
            Elem::I64 => Contents::I64(self.slice_mut()),
        }
    }

    /// The word that fills guard zones and unset elements: a NaN as f64 and as two f32, a large
    /// negative number as an integer. Each live buffer has its own, so that copying past the end of
    /// one tensor to past the end of another changes the guard there.
    pub(super) fn word(&self) -> u32 {
        0xfff8_0000 | (self.file.as_raw_fd().unsigned_abs() & 0x7_ffff)
    }

    /// The path under which a worker opens the memory.
    pub(super) fn path(&self) -> String {
        format!("/proc/{}/fd/{}", std::process::id(), self.file.as_raw_fd())
    }

    /// The bytes before the elements in that file.
    pub(super) fn start(&self) -> usize {
        self.start
    }

    /// Checks that `kernel`, which ran last, did not write outside the elements.
    pub(super) fn check_guards(&self, kernel: &str) -> Result<(), RuntimeError> {
        let word = self.word().to_ne_bytes();
        let guard = [word; GUARD / 4];
        let (guard, size) = (guard.as_flattened(), self.tensor.elem().size() as u64);
        let end = self.start + self.bytes;
        let (before, after) = (&self.map[self.start - GUARD..self.start], &self.map[end..]);
        let elements = self.tensor.shape().elements();
        let touched = |zone: &[u8], k: &usize| zone[*k] != guard[*k];
        let (position, distance) = if after != guard {
            let k = (0..GUARD).find(|k| touched(after, k)).unwrap_or(0) as u64;
            ((elements + k / size).cast_signed(), k)
        } else if before != guard {
            let k = (0..GUARD).rfind(|k| touched(before, k)).unwrap_or(0);
            let distance = (GUARD - 1 - k) as u64;
            (-1 - (distance / size).cast_signed(), distance)
        } else {
            return Ok(());
        };
        Err(RuntimeError::OutOfBounds {
            kernel: kernel.to_owned(),
            tensor: self.tensor.label().to_owned(),
            elements,
            position,
            distance,
        })
    }

    fn slice<T: Element>(&self) -> &[T] {
        let bytes = &self.map[self.start..self.start + self.bytes];
        // SAFETY: the range holds whole elements, is aligned to a cache line, and any bits are a
        // value of these types. Only a worker writes to it elsewhere, and only during a request.
        // The requester waits for its end (or the worker's) before coming here.
        unsafe { std::slice::from_raw_parts(bytes.as_ptr().cast(), bytes.len() / size_of::<T>()) }
    }

    fn slice_mut<T: Element>(&mut self) -> &mut [T] {
        let bytes = &mut self.map[self.start..self.start + self.bytes];
        let count = bytes.len() / size_of::<T>();
        // SAFETY: as in `slice`, and the borrow is exclusive.
        unsafe { std::slice::from_raw_parts_mut(bytes.as_mut_ptr().cast(), count) }
    }
}

/// Element types: any bits are a value, and none is larger than the alignment.
trait Element {}
impl Element for f64 {}
impl Element for f32 {}
impl Element for i32 {}
impl Element for i64 {}

/// Memory for elements between `start` bytes and a guard zone.
fn allocate(bytes: u64, start: usize) -> io::Result<(File, MmapMut)> {
    let total = bytes.saturating_add((start + GUARD) as u64);
    let length = usize::try_from(total).map_err(io::Error::other)?;
    let file = sys::shared_memory(total)?;
    // SAFETY: the file is anonymous, keeps its length, and is all backed by memory.
    let map = unsafe { MmapOptions::new().len(length).map_mut(&file)? };
    Ok((file, map))
}

/// Writes `word` over `bytes`, a multiple of four.
pub(super) fn fill_words(bytes: &mut [u8], word: u32) {
    const PIECE: usize = 4096;
    let word = word.to_ne_bytes();
    let words: [u8; PIECE] = std::array::from_fn(|k| word[k % word.len()]);
    for piece in bytes.chunks_mut(PIECE) {
        piece.copy_from_slice(&words[..piece.len()]);
    }
}

/// A worker's side of a buffer.
pub(super) struct Mapped {
    memory: Memory,
    start: usize,
}

enum Memory {
    /// Writing to it crashes a kernel.
    ReadOnly(Mmap),
    Writable(MmapMut),
}

impl Mapped {
    /// Maps the buffer at `path`, whose elements begin after `start` bytes.
    pub(super) fn open(path: &str, start: usize, writable: bool) -> io::Result<Mapped> {
        let file = File::options().read(true).write(writable).open(path)?;
        // Populated, so that a kernel's time excludes the page faults of the first access.
        let mut options = MmapOptions::new();
        options.populate();
        // SAFETY: the parent never changes the length of the file, and does not access it while
        // this process answers a request.
        let memory = unsafe {
            if writable {
                Memory::Writable(options.map_mut(&file)?)
            } else {
                Memory::ReadOnly(options.map(&file)?)
            }
        };
        let mapped = Mapped { memory, start };
        if mapped.file_bytes().len() < start.saturating_add(GUARD) {
            return Err(io::Error::other("the buffer has no room for guard zones"));
        }
        Ok(mapped)
    }

    fn file_bytes(&self) -> &[u8] {
        match &self.memory {
            Memory::ReadOnly(map) => map,
            Memory::Writable(map) => map,
        }
    }

    /// The bytes of the elements.
    pub(super) fn bytes(&self) -> &[u8] {
        let all = self.file_bytes();
        &all[self.start..all.len() - GUARD]
    }

    /// The bytes of the elements, if they may be written.
    pub(super) fn bytes_mut(&mut self) -> Option<&mut [u8]> {
        match &mut self.memory {
            Memory::ReadOnly(_) => None,
            Memory::Writable(map) => {
                let end = map.len() - GUARD;
                Some(&mut map[self.start..end])
            }
        }
    }

    /// The address that is passed to a kernel.
    pub(super) fn address(&mut self) -> *mut std::ffi::c_void {
        match &mut self.memory {
            Memory::ReadOnly(map) => map.as_ptr().wrapping_add(self.start).cast_mut().cast(),
            Memory::Writable(map) => map.as_mut_ptr().wrapping_add(self.start).cast(),
        }
    }
}
