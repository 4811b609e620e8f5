//! Every program in `examples/` runs, on the CPU device, and checks its own result.

use std::path::PathBuf;
use std::process::Command;

/// Cargo builds examples with the tests, into a folder beside the binaries.
fn example(name: &str) -> PathBuf {
    let folder = assert_cmd::cargo::cargo_bin("gridstride").parent().unwrap().join("examples");
    folder.join(format!("{name}{}", std::env::consts::EXE_SUFFIX))
}

#[test]
fn every_example_runs() {
    let sources = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/examples")).unwrap();
    let files = sources.map(|entry| entry.unwrap().path());
    let names: Vec<String> = files
        .filter(|file| file.extension().is_some_and(|extension| extension == "rs"))
        .map(|file| file.file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    assert!(names.len() >= 4, "{names:?}");
    for name in names {
        let program = example(&name);
        assert!(program.exists(), "{}: run `cargo test`, or `cargo build --examples`", program.display());
        let output = Command::new(program).env("GRIDSTRIDE_DEVICE", "cpu").output().unwrap();
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success() && !out.is_empty(), "{name}: {out}{err}");
    }
}
