//! `gridstride explain`: launches that people have asked about in public, typed in as they stood.

use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::contains;

fn explain(args: &[&str]) -> assert_cmd::assert::Assert {
    let mut command = Command::cargo_bin("gridstride").unwrap();
    command.env_remove("GRIDSTRIDE_LIBCUDA").env("GRIDSTRIDE_DEVICE", "cpu").env("NO_COLOR", "1");
    command.env("GRIDSTRIDE_CPU_THREADS", "2").arg("explain").args(args).assert()
}

/// What it says, in one line.
fn said(args: &[&str]) -> String {
    let assert = explain(args).success();
    String::from_utf8(assert.get_output().stdout.clone()).unwrap().split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_cause_is_named() {
    for (question, args, cause) in [
        (
            "my add of ten million elements takes a second",
            &["--grid", "1", "--block", "1", "-n", "10_000_000"][..],
            "A single thread",
        ),
        ("blocks = n / 256 and my output stays zero", &["--grid", "0", "--block", "256", "-n", "100"], "round up"),
        (
            "kernel with 2048 threads a block returns garbage",
            &["--grid", "1", "--block", "2048", "-n", "2048"],
            "takes at most 1024",
        ),
        ("32x64 threads a block do nothing", &["--grid", "16", "--block", "32x64", "-n", "32768"], "2048 threads"),
        (
            "I wrote kernel<<<threads, blocks>>>",
            &["--grid", "256", "--block", "9766", "-n", "2_500_000"],
            "<<<9766, 256>>> was meant",
        ),
        (
            "only a part of my array is computed",
            &["--grid", "100", "--block", "256", "-n", "1e6", "--loop", "none"],
            "leaves elements 25,600 to 999,999",
        ),
        ("one block for everything", &["--grid", "1", "--block", "1024", "-n", "1e7"], "1 block for 2 cores"),
        ("block size 100", &["--grid", "1000", "--block", "100", "-n", "1e7"], "multiple of 32"),
        ("launch of nothing", &["--grid", "1", "--block", "32", "-n", "0"], "nothing to do for 0 elements"),
        ("threads along y", &["--grid", "4096", "--block", "1x256", "-n", "1e7"], "1 thread wide along x"),
        (
            "a million blocks for a hundred elements",
            &["--grid", "1000000", "--block", "256", "-n", "100"],
            "have no element",
        ),
    ] {
        let said = said(args);
        assert!(said.contains(cause), "{question}: {said}");
        assert!(!said.contains("Nothing is wrong"), "{question}: {said}");
    }
}

#[test]
fn a_good_launch_gets_no_complaint() {
    for args in [
        &["-n", "1e7"][..],
        &["-n", "1"],
        &["-n", "1e7", "--kernel", "add_scalar"],
        &["-n", "1e7", "--grid", "64", "--block", "128"],
        &["-n", "1e7", "--grid", "8", "--block", "32x8"],
    ] {
        let said = said(args);
        assert!(said.contains("Nothing is wrong with the shape of this launch."), "{args:?}: {said}");
    }
}

#[test]
fn json_names_rules_and_sources() {
    let assert = explain(&["--grid", "1", "--block", "1", "-n", "1e6", "--format", "json"]).success();
    let value: serde_json::Value = serde_json::from_slice(&assert.get_output().stdout).unwrap();
    assert_eq!((&value["verb"], &value["advice"][0]["rule"]), (&"explain".into(), &"one-thread".into()));
    assert!(value["advice"][0]["source"].as_str().unwrap().contains("Programming Guide"));
}

#[test]
fn a_kernel_of_ones_own_is_held_to_its_bounds() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("k.ptx");
    let text = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k() .maxntid 128, 1, 1 { ret; }";
    std::fs::write(&file, text).unwrap();
    let file = file.to_str().unwrap();
    assert!(said(&[file, "--grid", "64", "--block", "256"]).contains("compiled for at most 128 threads a block"));
    assert!(said(&[file, "--grid", "64", "--block", "128"]).contains("Nothing is wrong"));
    explain(&[file, "other"]).code(2).stderr(contains("no kernel `other`").and(contains("panicked").not()));
}
