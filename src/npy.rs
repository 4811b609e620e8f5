//! Files of NumPy arrays (`.npy`): read as a flat array in the order of the file, written as one dimension.
//!
//! Read here and not by a crate because what comes from a file is somebody else's: the header is a small language of which
//! NumPy writes three keys, and everything else is refused with a sentence before any memory is taken.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use gridstride_cpu::array::{Array, Element};

const MAGIC: &[u8] = b"\x93NUMPY";
/// Headers are some 120 bytes; one beyond this is no header.
const LONGEST_HEADER: u32 = 1 << 16;

/// What a file says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Header {
    element: Element,
    big_endian: bool,
    n: u64,
}

/// Reads an array.
///
/// # Errors
/// A sentence that names the file.
pub fn read(path: &Path) -> Result<Array, String> {
    let wrong = |what: String| format!("`{}`: {what}", path.display());
    let file = File::open(path).map_err(|e| wrong(e.to_string()))?;
    let size = file.metadata().map_err(|e| wrong(e.to_string()))?;
    // A folder can be opened and not be read, a pipe has no size to compare with.
    if !size.is_file() {
        return Err(wrong("not a regular file".to_owned()));
    }
    parse(&mut BufReader::new(file), size.len()).map_err(wrong)
}

fn parse(input: &mut impl Read, size: u64) -> Result<Array, String> {
    let mut start = [0; 8];
    let short = |_| "not a .npy file: it ends within its header".to_owned();
    input.read_exact(&mut start).map_err(short)?;
    let [.., major, _] = start;
    if !start.starts_with(MAGIC) {
        return Err("not a .npy file: it does not begin with \\x93NUMPY".to_owned());
    }
    let mut length = [0; 4];
    match major {
        1 => input.read_exact(&mut length[..2]).map_err(short)?,
        2 | 3 => input.read_exact(&mut length).map_err(short)?,
        _ => return Err(format!("version {major} of the .npy format is not known (1, 2 and 3 are)")),
    }
    let length = u32::from_le_bytes(length);
    if length > LONGEST_HEADER {
        return Err(format!("not a .npy file: a header of {length} bytes"));
    }
    let mut header = vec![0; length as usize];
    input.read_exact(&mut header).map_err(short)?;
    let header = parse_header(&String::from_utf8_lossy(&header))?;
    let bytes = header.n.checked_mul(header.element.bytes() as u64).ok_or("more elements than memory can hold")?;
    if bytes > size {
        return Err(format!("the header promises {bytes} bytes of elements, and the file has {size} in all"));
    }
    let mut data = Vec::new();
    let read = input.take(bytes).read_to_end(&mut data).map_err(|e| e.to_string())? as u64;
    if read < bytes {
        return Err(format!("the header promises {bytes} bytes of elements, and {read} follow it"));
    }
    if header.big_endian != cfg!(target_endian = "big") {
        data.chunks_exact_mut(header.element.bytes()).for_each(<[u8]>::reverse);
    }
    Ok(Array::from_bytes(header.element, data))
}

/// `{'descr': '<f4', 'fortran_order': False, 'shape': (10, 3), }`
fn parse_header(text: &str) -> Result<Header, String> {
    let value = |key: &str| {
        let found = ["'", "\""].iter().find_map(|quote| text.split_once(&format!("{quote}{key}{quote}")));
        found.and_then(|(_, rest)| rest.trim_start().strip_prefix(':')).map(str::trim_start)
    };
    let descr = value("descr").ok_or("its header names no element type (`descr`)")?;
    let descr = descr.split(['\'', '"']).nth(1).filter(|_| descr.starts_with(['\'', '"']));
    let descr = descr.ok_or("its elements are records, and only plain numbers can be used")?;
    let (big_endian, element) = parse_descr(descr)?;
    let shape = value("shape").and_then(|shape| shape.strip_prefix('(')).and_then(|shape| shape.split_once(')'));
    let (shape, _) = shape.ok_or("its header names no shape")?;
    let mut n = 1_u64;
    for size in shape.split(',').map(str::trim).filter(|size| !size.is_empty()) {
        let size: u64 = size.parse().map_err(|_| format!("its shape is ({shape}), which is no list of sizes"))?;
        n = n.checked_mul(size).ok_or_else(|| format!("its shape is ({shape}): more than 64 bits can count"))?;
    }
    Ok(Header { element, big_endian, n })
}

fn parse_descr(descr: &str) -> Result<(bool, Element), String> {
    let (order, kind) = descr.split_at_checked(1).unwrap_or(("", descr));
    let big_endian = match order {
        "<" | "|" | "=" => false,
        ">" => true,
        _ => return Err(format!("its element type is `{descr}`, which is not known")),
    };
    let element = match kind {
        // A bool is a byte that is 0 or 1.
        "u1" | "b1" => Element::U8,
        "i1" => Element::I8,
        "u2" => Element::U16,
        "i2" => Element::I16,
        "u4" => Element::U32,
        "i4" => Element::I32,
        "u8" => Element::U64,
        "i8" => Element::I64,
        "f2" => Element::F16,
        "f4" => Element::F32,
        "f8" => Element::F64,
        _ => {
            return Err(format!("its element type is `{descr}`, and kernels take integers and floats of 1 to 8 bytes"));
        }
    };
    Ok((big_endian, element))
}

/// The bytes of a file that NumPy reads.
#[must_use]
pub fn write(array: &Array) -> Vec<u8> {
    let order = match (array.element().bytes(), cfg!(target_endian = "big")) {
        (1, _) => '|',
        (_, true) => '>',
        (_, false) => '<',
    };
    let kind = array.element().name().as_bytes()[0] as char;
    let dictionary = format!(
        "{{'descr': '{order}{kind}{}', 'fortran_order': False, 'shape': ({},), }}",
        array.element().bytes(),
        array.len()
    );
    // Magic, version and length are 10 bytes; elements begin at a multiple of 64.
    let padded = (10 + dictionary.len() + 1).next_multiple_of(64) - 10;
    let mut out = MAGIC.to_vec();
    out.extend([1, 0]);
    out.extend(u16::try_from(padded).expect("a header of two numbers is short").to_le_bytes());
    out.extend(dictionary.bytes());
    out.resize(10 + padded - 1, b' ');
    out.push(b'\n');
    out.extend(array.bytes());
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridstride_cpu::array::Fill;
    use proptest::prelude::*;

    fn parsed(bytes: &[u8]) -> Result<Array, String> {
        parse(&mut &bytes[..], bytes.len() as u64)
    }

    #[test]
    fn what_is_written_is_read() {
        for element in Element::ALL {
            let array = Array::filled(*element, 37, Fill::Iota, 0);
            let bytes = write(&array);
            assert_eq!((bytes.len() - 37 * element.bytes()) % 64, 0);
            assert_eq!(parsed(&bytes), Ok(array));
        }
    }

    #[test]
    fn headers_as_numpy_writes_them() {
        let header = |text| parse_header(text).map(|h| (h.element.name(), h.big_endian, h.n));
        assert_eq!(header("{'descr': '>f8', 'fortran_order': True, 'shape': (10, 3), }"), Ok(("f64", true, 30)));
        assert_eq!(header("{'descr': '|b1', 'fortran_order': False, 'shape': (), }"), Ok(("u8", false, 1)));
        assert_eq!(header("{\"descr\": \"<i2\", \"shape\": (0,)}"), Ok(("i16", false, 0)));
        for (text, expected) in [
            ("{}", "descr"),
            ("{'descr': [('a', '<f4')], 'shape': (1,)}", "records"),
            ("{'descr': '<c8', 'shape': (1,)}", "<c8"),
            ("{'descr': '<f4', 'shape': 3}", "shape"),
            ("{'descr': '<f4', 'shape': (4294967296, 4294967296, 2)}", "64 bits"),
            ("{'descr': '<f4', 'shape': (-1,)}", "list of sizes"),
            ("{'descr': '\u{20ac}f4', 'shape': (1,)}", "not known"),
        ] {
            let error = header(text).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }

    #[test]
    fn files_that_promise_more_than_they_have_are_refused() {
        let bytes = write(&Array::filled(Element::F32, 4, Fill::Iota, 0));
        assert!(parsed(&bytes[..bytes.len() - 1]).unwrap_err().contains("15 follow it"));
        assert!(parsed(&bytes[..20]).unwrap_err().contains("ends within its header"));
        assert!(parsed(b"PK\x03\x04 something else").unwrap_err().contains("does not begin with"));
        let huge =
            b"\x93NUMPY\x01\x00\x40\x00{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,)}".to_vec();
        assert!(parsed(&huge).is_err());
    }

    proptest! {
        #[test]
        fn any_bytes_are_an_array_or_a_sentence(tail: Vec<u8>, major in 0..5_u8) {
            let _ = parsed(&tail);
            let _ = parsed(&[MAGIC, &[major, 0], &tail].concat());
            let _ = parse_header(&String::from_utf8_lossy(&tail));
        }
    }
}
