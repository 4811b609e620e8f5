//! The small verbs: doctor, completions, man, ptx with source.

use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::contains;

fn gridstride(args: &[&str]) -> assert_cmd::assert::Assert {
    let mut command = Command::cargo_bin("gridstride").unwrap();
    command.env_remove("GRIDSTRIDE_LIBCUDA").env("GRIDSTRIDE_DEVICE", "cpu").env("NO_COLOR", "1");
    command.args(args).assert()
}

#[test]
fn doctor_runs_a_kernel_and_names_what_is_set() {
    gridstride(&["doctor"])
        .success()
        .stdout(contains("works a kernel: add over 10,007 elements ran"))
        .stdout(contains("note  GRIDSTRIDE_DEVICE: is set to `cpu`"));
    let assert = gridstride(&["doctor", "--format", "json"]).success();
    let value: serde_json::Value = serde_json::from_slice(&assert.get_output().stdout).unwrap();
    let states = value["findings"].as_array().unwrap().iter().map(|finding| finding["state"].as_str().unwrap());
    assert!(states.into_iter().all(|state| ["works", "note", "lacks"].contains(&state)));
}

#[test]
fn doctor_says_what_is_missing_and_what_mends_it() {
    let mut command = Command::cargo_bin("gridstride").unwrap();
    command.env("GRIDSTRIDE_DEVICE", "cpu").env("RUSTC", "/nowhere/rustc").arg("doctor");
    command.assert().success().stdout(contains("lacks compiler: `/nowhere/rustc` cannot be started"));
    let mut command = Command::cargo_bin("gridstride").unwrap();
    command.env("GRIDSTRIDE_LIBCUDA", "/nowhere/libcuda.so.1").args(["doctor", "--device", "gpu"]);
    command
        .assert()
        .code(1)
        .stdout(contains("fails device: no NVIDIA driver").and(contains("gridstride doctor --device cpu")))
        .stderr(contains("no kernel can be run here"));
}

#[test]
fn every_shell_gets_completions_of_every_verb() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        gridstride(&["completions", shell]).success().stdout(contains("explain").and(contains("timeout")));
    }
    gridstride(&["completions", "dos"]).code(2).stderr(contains("possible values"));
}

#[test]
fn the_manual_has_a_page_a_verb() {
    gridstride(&["man"]).success().stdout(contains(".TH gridstride 1"));
    let folder = tempfile::tempdir().unwrap();
    gridstride(&["man", "--all", folder.path().join("man1").to_str().unwrap()]).success().stdout("");
    for page in ["gridstride.1", "gridstride-run.1", "gridstride-explain.1"] {
        assert!(folder.path().join("man1").join(page).exists(), "{page}");
    }
    gridstride(&["man", "--all", "/dev/null/man1"]).code(1).stderr(contains("/dev/null/man1"));
}

#[test]
fn ptx_of_ones_own_and_with_its_source() {
    gridstride(&["ptx", "add_f32", "--source"])
        .success()
        .stdout(contains("gpu/src/add.rs:").and(contains(".loc").not()));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("k.ptx");
    // A table of files that names a device without an end: it is not read.
    let text = ".version 7.0\n.target sm_70\n.address_size 64\n.weak .entry k()\n{\n.loc 1 3 0\nret;\n}\n.file 1 \"/dev/zero\"\n";
    std::fs::write(&file, text).unwrap();
    let file = file.to_str().unwrap();
    let expected = ".weak .entry k()\n{\n\t// /dev/zero:3\nret;\n}\n";
    gridstride(&["ptx", "--file", file, "k", "--source", "--timeout", "60s"]).success().stdout(expected);
    gridstride(&["ptx", "--file", file, "j"]).code(2).stderr(contains("did you mean `k`").or(contains("known: k")));
    gridstride(&["ptx", "--file", "/nowhere.ptx"]).code(1).stderr(contains("/nowhere.ptx"));
}
