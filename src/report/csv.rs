//! CSV: rows that a spreadsheet or a script reads, with everything that identifies a row in it.

use serde::Serialize;

/// Rows with a header line. All are flat structures of one type.
#[must_use]
pub fn rows(rows: impl Iterator<Item = impl Serialize>) -> String {
    let mut writer = ::csv::Writer::from_writer(Vec::new());
    rows.for_each(|row| writer.serialize(row).expect("a row is flat, and memory takes it"));
    let bytes = writer.into_inner().expect("memory takes it");
    String::from_utf8(bytes).expect("names are UTF-8")
}
