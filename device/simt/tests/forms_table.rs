//! `docs/ptx-forms.md`: which instruction forms are supported, taken from the tests that run them. With `GRIDSTRIDE_WRITE_DOCS`
//! set the file is written; without, it must be what would be written.

#[path = "rig/generate.rs"]
mod generate;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use gridstride_ptx::Module;

const INTRODUCTION: &str = "\
# PTX instruction forms

Written by a test from what the tests run (`GRIDSTRIDE_WRITE_DOCS=1 cargo test -p gridstride-simt --test forms_table`); the
same test fails when this file is stale.

- **exact**: recorded on an H200 and compared bit for bit: `device/simt/tests/forms` (one form at a time) and
  `device/simt/tests/foreign` (kernels of CUDA C++ and Numba). `.approx` forms, and functions behind which they are, are
  compared within the bounds that each file's head names.
- **loads**: accepted by `ptxas` 13.0 for sm_90, decoded and run by the CPU device in the tests, but with no recorded result of
  its own.

A form that is not listed is refused when a module is loaded, with its line and the reason.

";

fn ptx_files(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "ptx"));
    files.sort();
    files
}

fn forms(module: &Module) -> impl Iterator<Item = (String, String)> {
    module.functions.iter().flat_map(|function| &function.instrs).map(|instr| {
        let all: Vec<&str> = [&*instr.opcode].into_iter().chain(instr.modifiers.iter().map(|word| &**word)).collect();
        (instr.opcode.to_string(), all.join("."))
    })
}

fn table() -> String {
    let mut exact: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let recorded = ptx_files("tests/foreign").into_iter().filter(|path| path.with_extension("expected").exists());
    for path in ptx_files("tests/forms").into_iter().chain(recorded) {
        let module = gridstride_ptx::parse(&std::fs::read_to_string(&path).unwrap()).unwrap();
        for (opcode, form) in forms(&module) {
            exact.entry(opcode).or_default().insert(form);
        }
    }
    let mut loads: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for line in generate::ACCEPTED.lines() {
        let module = gridstride_ptx::parse(&generate::kernel(line)).unwrap();
        for (opcode, form) in forms(&module) {
            if !exact.get(&opcode).is_some_and(|known| known.contains(&form)) {
                loads.entry(opcode).or_default().insert(form);
            }
        }
    }
    let count = |all: &BTreeMap<String, BTreeSet<String>>| all.values().map(BTreeSet::len).sum::<usize>();
    let mut text = format!("{INTRODUCTION}{} forms are exact, {} load.\n", count(&exact), count(&loads));
    let opcodes: BTreeSet<&String> = exact.keys().chain(loads.keys()).collect();
    for opcode in opcodes {
        text.push_str(&format!("\n## {opcode}\n"));
        for (title, all) in [("exact", &exact), ("loads", &loads)] {
            let Some(forms) = all.get(opcode) else { continue };
            let forms: Vec<String> = forms.iter().map(|form| format!("`{form}`")).collect();
            text.push_str(&format!("\n**{title}**: {}\n", forms.join(", ")));
        }
    }
    text
}

#[test]
fn the_table_in_the_docs_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/ptx-forms.md");
    let table = table();
    if std::env::var_os("GRIDSTRIDE_WRITE_DOCS").is_some() {
        std::fs::write(&path, &table).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == table,
        "docs/ptx-forms.md is not what the tests support; write it with GRIDSTRIDE_WRITE_DOCS=1 and this test"
    );
}
