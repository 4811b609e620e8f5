//! The command as its users run it.

use std::process::Command as Process;

use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::contains;

fn gridstride() -> Command {
    let mut command = Command::cargo_bin("gridstride").unwrap();
    command.env_remove("GRIDSTRIDE_DEVICE").env_remove("GRIDSTRIDE_LIBCUDA").env("NO_COLOR", "1");
    command.arg("--device").arg("cpu");
    command
}

fn bare() -> Command {
    let mut command = Command::cargo_bin("gridstride").unwrap();
    command.env_remove("GRIDSTRIDE_DEVICE").env_remove("GRIDSTRIDE_LIBCUDA").env("NO_COLOR", "1");
    command
}

fn json(args: &[&str]) -> serde_json::Value {
    let output = gridstride().args(["--format", "json"]).args(args).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn the_table_names_the_device_and_both_launches() {
    gridstride()
        .args(["-n", "100_000", "--runs", "3"])
        .assert()
        .success()
        .stdout(contains("n = 100,000, on the CPU device"))
        .stdout(contains("<<<1, 1>>>"))
        .stdout(contains("read out[2]"))
        .stdout(contains("31 of the 32 lanes"))
        .stdout(contains("They are not GPU times"))
        .stderr("");
}

#[test]
fn the_table_fits_80_columns() {
    let output =
        gridstride().args(["-n", "1e6", "--runs", "3", "--grid", "65535", "--block", "1024"]).output().unwrap();
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
}

#[test]
fn json_has_every_field_of_the_schema() {
    let value = json(&["-n", "10000", "--runs", "4", "--dtype", "f64", "--grid", "8", "--block", "64"]);
    assert_eq!((&value["kernel"], &value["dtype"], &value["n"]), (&"add".into(), &"f64".into(), &10_000.into()));
    assert_eq!((&value["device"]["kind"], &value["device"]["warp_size"]), (&"cpu".into(), &32.into()));
    for field in ["name", "multiprocessors", "memory_bytes", "driver"] {
        assert!(!value["device"][field].is_null(), "device.{field}");
    }
    assert!(value["copy_gb_per_s"].as_f64().unwrap() > 0.0 && value["speedup"].as_f64().unwrap() > 0.0);
    assert!(value["versions"]["gridstride"].is_string() && value["versions"]["ptx"].is_string());
    let launches = value["launches"].as_array().unwrap();
    assert_eq!(launches.len(), 2);
    assert_eq!(launches[0]["grid"], serde_json::json!([1, 1, 1]));
    assert_eq!(launches[1]["grid"], serde_json::json!([8, 1, 1]));
    assert_eq!(launches[1]["block"], serde_json::json!([64, 1, 1]));
    for launch in launches {
        assert_eq!((&launch["verified"], &launch["bytes"]), (&true.into(), &240_000.into()));
        let kernel = &launch["kernel_ns"];
        assert_eq!(kernel["samples"].as_array().unwrap().len(), 4);
        assert!(
            kernel["min"].as_u64() <= kernel["median"].as_u64() && kernel["median"].as_u64() <= kernel["max"].as_u64()
        );
        for field in ["returned_ns", "finished_ns", "read_ns", "gb_per_s"] {
            assert!(launch[field].is_number(), "{field}");
        }
        for field in ["instructions", "active_lanes_percent", "sectors_per_request"] {
            assert!(launch["counters"][field].is_number(), "counters.{field}");
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_counters() {
    let counters = |value: serde_json::Value| value["launches"][1]["counters"].clone();
    let args = ["-n", "5000", "--runs", "1", "--seed", "9"];
    assert_eq!(counters(json(&args)), counters(json(&args)));
}

#[test]
fn csv_has_a_row_a_launch() {
    let output = gridstride().args(["-n", "1000", "--runs", "1", "--format", "csv"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let rows: Vec<&str> = text.lines().collect();
    assert_eq!(rows.len(), 3, "{text}");
    let columns = rows[0].split(',').count();
    assert!(rows.iter().all(|row| row.split(',').count() == columns));
    assert!(rows[0].starts_with("device,device_kind,kernel,dtype,n,"));
}

#[test]
fn no_elements_are_no_problem() {
    let value = json(&["-n", "0", "--runs", "1"]);
    assert_eq!(value["launches"][1]["verified"], true);
}

#[test]
fn usage_errors_end_with_2_and_say_what_to_do() {
    let cases: &[(&[&str], &str)] = &[
        (&["--grid", "0"], "the grid is 0"),
        (&["--grid", "3000000000"], "takes at most"),
        (&["--block", "2000"], "2000 threads"),
        (&["--block", "16x16x16"], "4096 threads"),
        (&["--block", "x"], "is not a size"),
        (&["--dtype", "f16"], "did you mean `f"),
        (&["--kernel", "addd"], "did you mean `add`"),
        (&["-n", "ten"], "not a number of elements"),
        (&["-n", "-5"], "not a number of elements"),
        (&["-n", "5\u{212a}"], "not a number of elements"),
        (&["-n", "1e13"], "At most"),
        (&["-n", "18446744073709551615"], "At most"),
        (&["--runs", "0"], "--runs"),
        (&["--format", "xml"], "--format"),
        (&["--no-such-option"], "--no-such-option"),
    ];
    for (args, expected) in cases {
        let assert = gridstride().args(*args).assert().code(2).stdout("");
        assert.stderr(contains(*expected)).stderr(contains("panicked").not());
    }
    bare().args(["--device", "tpu"]).assert().code(2).stderr(contains("possible values"));
}

#[test]
fn failures_end_with_1() {
    bare()
        .args(["--device", "gpu"])
        .env("GRIDSTRIDE_LIBCUDA", "/nowhere/libcuda.so.1")
        .assert()
        .code(1)
        .stderr(contains("no NVIDIA driver"));
    bare().env("GRIDSTRIDE_DEVICE", "cuda").assert().code(1).stderr(contains("GRIDSTRIDE_DEVICE is `cuda`"));
    gridstride().args(["-o", "/no/such/folder/out.json"]).assert().code(1).stderr(contains("/no/such/folder/out.json"));
}

#[test]
fn a_file_is_written_whole_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.json");
    gridstride().args(["-n", "100", "--runs", "1", "--format", "json", "-o"]).arg(&path).assert().success().stdout("");
    let value: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    assert_eq!(value["n"], 100);
    gridstride().args(["-n", "1e13", "-o"]).arg(folder.path().join("none.json")).assert().code(2);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "something unfinished was left");
}

#[test]
fn devices_and_ptx() {
    bare().arg("devices").env("GRIDSTRIDE_DEVICE", "cpu").assert().success().stdout(contains("CPU device"));
    bare()
        .args(["devices", "--format", "json"])
        .env("GRIDSTRIDE_DEVICE", "cpu")
        .assert()
        .success()
        .stdout(contains("\"kind\": \"cpu\""));
    bare().arg("ptx").assert().success().stdout(contains(".visible .entry add_f32("));
    bare().args(["ptx", "add_i32"]).assert().success().stdout(contains("add_f32").not());
    bare().args(["ptx", "add"]).assert().success().stdout(contains("add_f32").and(contains("add_i32")));
    bare().args(["devices", "--device", "cpu"]).assert().success().stdout(contains("CPU device"));
    bare().args(["ptx", "add_i23"]).assert().code(2).stderr(contains("did you mean `add_i32`"));
}

#[test]
fn help_and_version() {
    bare().arg("--help").assert().success().stdout(contains("Examples:")).stdout(contains("Exit codes:"));
    bare().arg("--version").assert().success().stdout(contains(env!("CARGO_PKG_VERSION")));
}

#[cfg(unix)]
#[test]
fn a_closed_pipe_is_no_error() {
    let binary = assert_cmd::cargo::cargo_bin("gridstride");
    let script = format!("'{}' ptx | head -c 1 >/dev/null; echo ${{PIPESTATUS[0]}}", binary.display());
    let output = Process::new("bash").args(["-c", &script]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "0");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[cfg(target_os = "linux")]
#[test]
fn nowhere_to_write_is_no_panic() {
    let full = || std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let run = |args: &[&str]| {
        let mut command = Process::new(assert_cmd::cargo::cargo_bin("gridstride"));
        command.args(args);
        command
    };
    assert_eq!(run(&["--device", "cpu", "--grid", "0"]).stderr(full()).status().unwrap().code(), Some(2));
    let output = run(&["ptx"]).stdout(full()).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("standard output cannot be written"));
}

#[cfg(unix)]
#[test]
fn an_interrupt_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = Process::new(assert_cmd::cargo::cargo_bin("gridstride"))
        .args(["--device", "cpu", "-n", "3e7", "--runs", "10", "-o"])
        .arg(folder.path().join("out.txt"))
        .spawn()
        .unwrap();
    // Wait until the work is under way: the unfinished file is there.
    let began = std::time::Instant::now();
    while std::fs::read_dir(folder.path()).unwrap().count() == 0 {
        assert!(
            began.elapsed().as_secs() < 60 && child.try_wait().unwrap().is_none(),
            "it ended before it was interrupted"
        );
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    Process::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let status = child.wait().unwrap();
    assert_eq!(status.code(), Some(130));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "an unfinished file was left");
}
