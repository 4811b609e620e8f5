//! `gridstride run`: kernels of somebody else's, with good arguments and bad ones.

use std::path::Path;
use std::time::Instant;

use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::contains;

/// Kernels as somebody else might hand them in.
const PTX: &str = "\
.version 7.0
.target sm_70
.address_size 64
.visible .entry scale(.param .u64 y, .param .u64 x, .param .f32 a, .param .u32 n) {
    .reg .pred %p; .reg .b32 %r<6>; .reg .f32 %f<3>; .reg .b64 %rd<6>;
    ld.param.u64 %rd1, [y]; ld.param.u64 %rd2, [x]; ld.param.f32 %f1, [a]; ld.param.u32 %r1, [n];
    mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.u32 %r5, %r2, %r3, %r4;
    setp.ge.u32 %p, %r5, %r1; @%p ret;
    mul.wide.u32 %rd3, %r5, 4; add.u64 %rd4, %rd2, %rd3; add.u64 %rd5, %rd1, %rd3;
    ld.global.f32 %f2, [%rd4]; mul.f32 %f2, %f1, %f2; st.global.f32 [%rd5], %f2; ret;
}
.visible .entry forever() { L: bra L; }
.visible .entry dynamic(.param .u64 p) {
    .reg .b32 %r; .reg .b64 %rd;
    ld.param.u64 %rd, [p]; mov.u32 %r, %dynamic_smem_size; st.global.u32 [%rd], %r; ret;
}
";

fn gridstride(folder: &Path) -> Command {
    std::fs::write(folder.join("k.ptx"), PTX).unwrap();
    let mut command = Command::cargo_bin("gridstride").unwrap();
    command.env_remove("GRIDSTRIDE_LIBCUDA").env("GRIDSTRIDE_DEVICE", "cpu").env("NO_COLOR", "1");
    command.current_dir(folder).arg("run");
    command
}

const SCALE: &[&str] =
    &["k.ptx", "scale", "--grid", "4", "--arg", "f32[1000]", "--arg", "f32[1000]=iota", "--arg", "0.5", "--arg", "len"];

#[test]
fn outputs_are_printed_saved_and_verified() {
    let folder = tempfile::tempdir().unwrap();
    let run = |args: &[&str]| gridstride(folder.path()).args(SCALE).args(args).assert();
    run(&["--save", "0=half.npy"])
        .success()
        .stdout(contains("0: 0 0.5 1 1.5 2 2.5 3 3.5 …"))
        .stdout(contains("not a GPU's"));
    run(&["--expect", "0=@half.npy"]).success().stdout(contains("right: argument 0 holds what was expected"));
    run(&["--expect", "0=zeros"])
        .code(1)
        .stdout(contains("wrong: argument 0"))
        .stderr(contains("element 1 is 0.5, and 0 was expected (999 of 1,000 differ"));
    run(&["--expect", "0=iota", "--tolerance", "0.5"]).success();
    let twice = [
        "k.ptx",
        "scale",
        "--grid",
        "4",
        "--arg",
        "f32[1000]",
        "--arg",
        "@half.npy",
        "--arg",
        "f32=2",
        "--arg",
        "1000",
    ];
    gridstride(folder.path()).args(twice).args(["--expect", "0=iota"]).assert().success();
    // Bytes as NumPy has them.
    let file = std::fs::read(folder.path().join("half.npy")).unwrap();
    assert_eq!(file.len(), 128 + 4000);
    assert!(file.starts_with(b"\x93NUMPY\x01\x00") && file.ends_with(&499.5_f32.to_le_bytes()));
}

#[test]
fn json_has_buffers_times_and_counters() {
    let folder = tempfile::tempdir().unwrap();
    let output = gridstride(folder.path())
        .args(SCALE)
        .args(["--format", "json", "--runs", "3", "--print", "2"])
        .output()
        .unwrap();
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&value["verb"], &value["kernel"]), (&"run".into(), &"scale".into()));
    assert_eq!(value["buffers"][0]["changed"], 1000);
    assert_eq!(value["buffers"][0]["first"], serde_json::json!(["0", "0.5"]));
    assert_eq!(value["buffers"][1]["changed"], 0);
    assert_eq!(value["kernel_ns"]["samples"].as_array().unwrap().len(), 3);
    assert_eq!((&value["counters"]["blocks"], &value["counters"]["warps"]), (&4.into(), &32.into()));
}

/// "Only the first elements of my result are right": too few threads for a kernel of one element a thread.
#[test]
fn elements_that_nobody_wrote_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let args = ["k.ptx", "scale", "--arg", "f32[1000]", "--arg", "f32[1000]=ones", "--arg", "1", "--arg", "len"];
    gridstride(folder.path())
        .args(args)
        .assert()
        .success()
        .stdout(
            contains("744 of 1,000 elements").and(contains("elements 256 to\n999").or(contains("elements 256 to 999"))),
        )
        .stdout(contains("--grid 4"));
}

#[test]
fn dynamic_shared_memory_arrives() {
    let folder = tempfile::tempdir().unwrap();
    let args = ["k.ptx", "dynamic", "--block", "1", "--arg", "u32[1]", "--shared", "4096", "--expect", "0=4096"];
    gridstride(folder.path()).args(args).assert().success();
}

#[test]
fn wrong_arguments_are_usage_errors_with_the_parameters() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("short.npy"), b"\x93NUMPY\x01\x00").unwrap();
    std::fs::write(folder.path().join("text.npy"), b"hello, this is text").unwrap();
    let cases: &[(&[&str], &str)] = &[
        (&["k.ptx"], "which kernel? `k.ptx` has scale, forever, dynamic"),
        (&["k.ptx", "scal"], "did you mean `scale`"),
        (
            &["k.ptx", "scale"],
            "takes 4 arguments, and 0 are given with --arg: 0: y (u64), 1: x (u64), 2: a (f32), 3: n (u32)",
        ),
        (&["k.ptx", "forever", "--arg", "1"], "takes 0 arguments, and 1 are given"),
        (&["k.ptx", "dynamic", "--arg", "f32[1e15]"], "and "),
        (&["k.ptx", "dynamic", "--arg", "f32[18446744073709551615]"], "the buffers need"),
        (&["k.ptx", "dynamic", "--arg", "i32=5"], "has 8 bytes, and the argument given has 4"),
        (&["k.ptx", "dynamic", "--arg", "f23[5]"], "did you mean `f32`"),
        (&["k.ptx", "dynamic", "--arg", "@none.npy"], "none.npy"),
        (&["k.ptx", "dynamic", "--arg", "@short.npy"], "ends within its header"),
        (&["k.ptx", "dynamic", "--arg", "@text.npy"], "not a .npy file"),
        (&["k.ptx", "dynamic", "--arg", "@."], "not a regular file"),
        (&["k.ptx", "dynamic", "--arg", "len"], "there is none"),
        (&["k.ptx", "dynamic", "--arg", "0", "--save", "0=x.npy"], "argument 0 is no buffer"),
        (&["k.ptx", "dynamic", "--arg", "u32[1]", "--save", "7=x.npy"], "argument 7 is no buffer"),
        (&["k.ptx", "dynamic", "--arg", "u32[1]", "--save", "x.npy"], "write the argument's place"),
        (&["k.ptx", "dynamic", "--arg", "u32[1]", "--expect", "0=yes"], "fills nothing"),
        (&["k.ptx", "dynamic", "--arg", "u32[1]", "--tolerance", "-1"], "--tolerance"),
        (&["k.ptx", "dynamic", "--arg", "u32[1]", "--grid", "0"], "the grid is 0"),
        (&["k.ptx", "dynamic", "--arg", "u32[1]", "--block", "9766"], "takes at most 1024"),
        (&["k.ptx", "forever", "--timeout", "never"], "is not a time"),
    ];
    for (args, expected) in cases {
        let assert = gridstride(folder.path()).args(*args).assert().code(2).stdout("");
        assert.stderr(contains(*expected)).stderr(contains("panicked").not());
    }
}

#[test]
fn files_that_are_no_ptx_say_what_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let cases: &[(&str, &[u8], &str)] = &[
        ("empty.ptx", b"", "empty.ptx"),
        ("cubin.ptx", b"\x7fELF\x02\x01\x01", "machine code"),
        ("latin.ptx", b"// caf\xe9", "byte 6 is not UTF-8"),
        ("text.ptx", b"hello world", "not PTX"),
        ("none.ptx", b".version 7.0\n.target sm_70\n.address_size 64\n", "has no kernel"),
        ("cut.ptx", b".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k() { mov.u32", "cut.ptx"),
    ];
    for (name, bytes, expected) in cases {
        std::fs::write(folder.path().join(name), bytes).unwrap();
        let assert = gridstride(folder.path()).arg(name).assert().code(1).stdout("");
        assert.stderr(contains(*expected)).stderr(contains("panicked").not());
    }
    gridstride(folder.path()).arg("missing.ptx").assert().code(1).stderr(contains("missing.ptx"));
    gridstride(folder.path()).arg(".").assert().code(1).stderr(contains("`.`"));
    let assert = gridstride(folder.path())
        .args(["-", "dynamic", "--arg", "u32[1]", "--expect", "0=0"])
        .write_stdin(PTX)
        .assert();
    assert.success();
}

#[test]
fn a_kernel_that_does_wrong_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let args = [
        "k.ptx",
        "scale",
        "--grid",
        "4",
        "--arg",
        "f32[999]",
        "--arg",
        "f32[1000]=ones",
        "--arg",
        "1",
        "--arg",
        "1000",
    ];
    let assert = gridstride(folder.path()).args(args).args(["--save", "0=never.npy"]).assert().code(1).stdout("");
    assert.stderr(contains("scale").and(contains("block (3, 0, 0)")).and(contains("thread (231, 0, 0)")));
    assert!(!folder.path().join("never.npy").exists());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "something unfinished was left");
}

#[test]
fn a_kernel_that_never_ends_is_stopped_by_the_time_limit() {
    let folder = tempfile::tempdir().unwrap();
    let began = Instant::now();
    let assert =
        gridstride(folder.path()).args(["k.ptx", "forever", "--timeout", "500ms", "-o", "out.txt"]).assert().code(124);
    assert
        .stdout("")
        .stderr(contains("stopped after 500 ms (--timeout) while the first launch of <<<1, 256>>> was running"));
    assert!(began.elapsed().as_millis() >= 500);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "something unfinished was left");
}

#[cfg(unix)]
#[test]
fn signals_to_end_leave_nothing_behind() {
    for (signal, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("k.ptx"), PTX).unwrap();
        let mut child = std::process::Command::new(assert_cmd::cargo::cargo_bin("gridstride"))
            .args(["run", "k.ptx", "forever", "--device", "cpu", "-o", "out.txt"])
            .current_dir(folder.path())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        // Wait until the work is under way: the unfinished file is there.
        let began = Instant::now();
        while std::fs::read_dir(folder.path()).unwrap().count() < 2 {
            assert!(began.elapsed().as_secs() < 60 && child.try_wait().unwrap().is_none(), "it did not begin");
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        std::process::Command::new("kill").args([format!("-{signal}"), child.id().to_string()]).status().unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{signal}");
        assert!(String::from_utf8_lossy(&output.stderr).starts_with("stopped"));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "{signal}: an unfinished file was left");
    }
}
