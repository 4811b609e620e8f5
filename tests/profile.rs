//! `gridstride profile`: counts are exact, so they are compared with what the shape and the kernel make necessary.

use std::path::Path;

use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::contains;

fn profile(folder: &Path) -> Command {
    let mut command = Command::cargo_bin("gridstride").unwrap();
    command.env_remove("GRIDSTRIDE_LIBCUDA").env("NO_COLOR", "1").current_dir(folder).arg("profile");
    command
}

fn json(args: &[&str]) -> serde_json::Value {
    let folder = tempfile::tempdir().unwrap();
    let output = profile(folder.path()).args(args).args(["--format", "json"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn counts_are_what_the_work_makes_necessary() {
    let value = json(&["--kernel", "add_scalar", "-n", "3200", "--shape", "1/1", "--shape", "100/32"]);
    let [one, full] = &value["launches"].as_array().unwrap()[..] else { panic!("two launches") };
    // Two loads and a store: one of each for an element, or for 32.
    assert_eq!(one["counters"]["global_requests"], 3 * 3200);
    assert_eq!(full["counters"]["global_requests"], 3 * 100);
    assert_eq!(one["counters"]["global_bytes"], 3 * 4 * 3200);
    assert_eq!(full["counters"]["global_bytes"], 3 * 4 * 3200);
    assert_eq!((&one["counters"]["warps"], &full["counters"]["warps"]), (&1.into(), &100.into()));
    assert_eq!(full["counters"]["sectors_per_request"], 4.0);
    assert_eq!(one["counters"]["active_lanes_percent"], 3.125);
    assert_eq!(value["advice"][0]["rule"], "lanes-without-thread");
    // The same again gives the same.
    assert_eq!(value, json(&["--kernel", "add_scalar", "-n", "3200", "--shape", "1/1", "--shape", "100/32"]));
}

/// Each lane reads the first element of a row of its own.
const COLUMN: &str = "\
.version 7.0
.target sm_70
.address_size 64
.visible .entry column(.param .u64 x, .param .u64 out) {
    .reg .b32 %r<3>; .reg .b64 %rd<7>;
    ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [out];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd3, %r1, 128; add.u64 %rd4, %rd1, %rd3; ld.global.u32 %r2, [%rd4];
    mul.wide.u32 %rd5, %r1, 4; add.u64 %rd6, %rd2, %rd5; st.global.u32 [%rd6], %r2; ret;
}
";

#[test]
fn scattered_accesses_of_a_kernel_of_ones_own_are_named() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("k.ptx"), COLUMN).unwrap();
    let args = ["k.ptx", "--arg", "u32[1024]=iota", "--arg", "u32[32]", "--shape", "1/32"];
    let assert = profile(folder.path()).args(args).assert().success();
    // 32 sectors to read, 4 to write, in two requests.
    assert.stdout(contains("18.0").and(contains("sectors:")).and(contains("Neighbouring lanes")));
}

#[test]
fn wrong_usage_is_named() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("k.ptx"), COLUMN).unwrap();
    for (args, expected) in [
        (&["--shape", "64"][..], "not a launch shape"),
        (&["--shape", "0/32"], "the grid is 0"),
        (&["--shape", "1/2048"], "takes at most 1024"),
        (&["--arg", "5"], "FILE.ptx"),
        (&["k.ptx"], "takes 2 arguments, and 0 are given"),
        (&["k.ptx", "row"], "no kernel `row` (known: column)"),
        (&["-n", "1e13"], "At most"),
        (
            &[
                "--shape", "1/1", "--shape", "1/2", "--shape", "1/3", "--shape", "1/4", "--shape", "1/5", "--shape",
                "1/6", "--shape", "1/7",
            ],
            "at most 6",
        ),
    ] {
        let assert = profile(folder.path()).args(args).assert().code(2).stdout("");
        assert.stderr(contains(expected).and(contains("panicked").not()));
    }
    profile(folder.path()).args(["-n", "0"]).assert().success().stdout(contains("no times"));
}
