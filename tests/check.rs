//! `gridstride check`, and the checks of programs that know nothing of them.

use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::contains;

fn gridstride() -> Command {
    let mut command = Command::cargo_bin("gridstride").unwrap();
    command.env_remove("GRIDSTRIDE_DEVICE").env_remove("GRIDSTRIDE_LIBCUDA").env("NO_COLOR", "1");
    command.env_remove("GRIDSTRIDE_CHECK").env_remove("GRIDSTRIDE_SCHEDULE_SEED");
    command
}

/// Every block writes its number to the same word.
const RACY: &str = "\
.version 7.0
.target sm_70
.address_size 64
.file 1 \"src/last.rs\"
.visible .entry last(.param .u64 to) {
    .reg .b32 %r<3>; .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [to]; mov.u32 %r1, %ctaid.x;
    .loc 1 7 9
    st.global.u32 [%rd1], %r1; ret;
}
";

#[test]
fn the_kernels_of_the_project_are_clean() {
    gridstride()
        .args(["check", "-n", "0,1,777"])
        .assert()
        .success()
        .stdout(contains("nothing found in "))
        .stdout(contains("Looked for: bounds, alignment, race, init, sync, leak."))
        .stderr("");
    let output =
        gridstride().args(["check", "add", "--dtype", "f32", "-n", "100", "--format", "json"]).output().unwrap();
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&json["found"], &json["launches"][0]["kernel"]), (&0.into(), &"add".into()));
    assert_eq!(json["checks"], serde_json::json!(["race", "init", "sync", "leak"]));
}

#[test]
fn results_do_not_depend_on_the_order_of_blocks() {
    gridstride()
        .args(["check", "add", "--schedules", "3", "-n", "500", "--checks", "race"])
        .assert()
        .success()
        .stdout(contains("each launch in 3 orders of warps and"));
}

#[test]
fn checks_that_do_not_exist_are_named() {
    gridstride()
        .args(["check", "--checks", "rase"])
        .assert()
        .code(2)
        .stderr(contains("`rase` is no check: there are race"));
    for (name, value, why) in [
        ("GRIDSTRIDE_CHECK", "memory", "GRIDSTRIDE_CHECK: `memory` is no check"),
        ("GRIDSTRIDE_SCHEDULE_SEED", "x", "GRIDSTRIDE_SCHEDULE_SEED is `x`: it takes a whole number"),
    ] {
        gridstride().args(["devices", "--device", "cpu"]).env(name, value).assert().code(1).stderr(contains(why));
    }
    gridstride()
        .args(["devices", "--device", "gpu"])
        .env("GRIDSTRIDE_CHECK", "race")
        .assert()
        .code(1)
        .stderr(contains("are for the CPU device"));
}

#[test]
fn a_program_under_checks_says_what_was_found_and_where() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("last.ptx"), RACY).unwrap();
    let run = |check: &str, grid: &str| {
        let args = ["run", "last.ptx", "--grid", grid, "--block", "1", "--runs", "1", "--arg", "u32[4]"];
        gridstride().current_dir(&folder).args(args).env("GRIDSTRIDE_CHECK", check).assert().success()
    };
    run("race", "3")
        .stderr(contains("gridstride check: race in global memory at "))
        .stderr(contains("write: block (0, 0, 0), thread (0, 0, 0), at src/last.rs:7, PTX line 9: `st.global.u32"))
        .stderr(contains("write: block (1, 0, 0), thread (0, 0, 0), at src/last.rs:7"));
    run("race", "1").stderr(contains("gridstride check: nothing found")).stderr(contains("race in").not());
    run("sync", "3").stderr(contains("race in").not());
}
