//! `gridstride sweep`, and the ladder and the picture of `gridstride compare`.

use std::path::Path;

use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::contains;

fn gridstride(folder: &Path) -> Command {
    let mut command = Command::cargo_bin("gridstride").unwrap();
    command.env_remove("GRIDSTRIDE_LIBCUDA").env("GRIDSTRIDE_DEVICE", "cpu").env("NO_COLOR", "1").current_dir(folder);
    command
}

const SMALL: &[&str] = &["sweep", "--grid", "1,3", "--block", "33,64..128", "--runs", "1"];

#[test]
fn every_combination_is_measured_and_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let assert = gridstride(folder.path()).args(SMALL).args(["-n", "1000", "--svg", "heat.svg"]).assert().success();
    assert
        .stdout(contains("Best: <<<").and(contains("of 6 shapes are within")).and(contains("They are not GPU times")));
    let svg = std::fs::read_to_string(folder.path().join("heat.svg")).unwrap();
    assert_eq!(svg.matches("<rect").count(), 6);
    let output = gridstride(folder.path()).args(SMALL).args(["-n", "0,1,1000", "--format", "json"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "sizes begin at 1");
    let output = gridstride(folder.path()).args(SMALL).args(["-n", "1,1000", "--format", "json"]).output().unwrap();
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        value["sizes"].as_array().unwrap().iter().map(|size| size["n"].as_u64().unwrap()).collect::<Vec<_>>(),
        [1, 1000]
    );
    let shapes = value["sizes"][1]["shapes"].as_array().unwrap();
    let blocks: Vec<u64> = shapes.iter().map(|shape| shape["block"][0].as_u64().unwrap()).collect();
    assert_eq!(blocks, [33, 64, 128, 33, 64, 128]);
    let best = shapes.iter().map(|shape| shape["kernel_ns"]["median"].as_u64().unwrap()).min().unwrap();
    let found = shapes.iter().find(|shape| {
        [&shape["grid"], &shape["block"]] == [&value["sizes"][1]["best"][0], &value["sizes"][1]["best"][1]]
    });
    assert_eq!(found.unwrap()["kernel_ns"]["median"].as_u64(), Some(best));
}

#[test]
fn several_sizes_have_a_picture_each_and_rows_in_csv() {
    let folder = tempfile::tempdir().unwrap();
    let args = ["-n", "10,100", "--svg", "heat.svg", "--format", "csv"];
    let output = gridstride(folder.path()).args(SMALL).args(args).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap().lines().count(), 1 + 2 * 6);
    assert!(folder.path().join("heat-10.svg").exists() && folder.path().join("heat-100.svg").exists());
}

#[test]
fn sizes_that_are_none_are_usage_errors() {
    let folder = tempfile::tempdir().unwrap();
    for (args, expected) in [
        (&["--block", "0"][..], "sizes begin at 1"),
        (&["--block", "2048"], "2048 threads"),
        (&["--block", "64..32"], "backwards"),
        (&["--grid", "x"], "not a size or a range"),
        (&["--grid", "1..1e9:1"], "more than 1000 sizes"),
        (&["--grid", "1..2^40"], "beyond what a launch can have"),
        (&["--grid", "1..900:1", "--block", "1..900:1"], "at most 10000"),
        (&["-n", "1e15"], "At most"),
        (&["-n", ""], "not a size"),
    ] {
        let assert = gridstride(folder.path()).arg("sweep").args(args).assert().code(2).stdout("");
        assert.stderr(contains(expected).and(contains("panicked").not()));
    }
    let assert = gridstride(folder.path()).args(SMALL).args(["--svg", "/no/such/heat.svg"]).assert().code(1).stdout("");
    assert.stderr(contains("/no/such/heat.svg"));
}

#[test]
fn the_ladder_has_its_steps_and_the_picture_its_spans() {
    let folder = tempfile::tempdir().unwrap();
    let args = ["compare", "-n", "100_000", "--runs", "2", "--ladder", "--timeline", "--svg", "line.svg"];
    gridstride(folder.path())
        .args(args)
        .env("GRIDSTRIDE_CPU_THREADS", "2")
        .assert()
        .success()
        .stdout(contains("<<<1, 32>>>").and(contains("<<<1, 256>>>")).and(contains("<<<2, 256>>>")))
        .stdout(contains("the call returns after").and(contains("the kernel runs")))
        .stdout(contains("stop paying").or(contains("Each step pays")));
    let svg = std::fs::read_to_string(folder.path().join("line.svg")).unwrap();
    assert!(svg.contains("reading out[2] waits") && svg.matches("<rect").count() == 3);
}

#[test]
fn a_page_needs_nothing_from_elsewhere() {
    let folder = tempfile::tempdir().unwrap();
    for args in [
        &["compare", "-n", "1000", "--runs", "1"][..],
        &["sweep", "-n", "100", "--grid", "1", "--block", "32", "--runs", "1"],
    ] {
        let output = gridstride(folder.path()).args(args).args(["--format", "html"]).output().unwrap();
        let page = String::from_utf8(output.stdout).unwrap();
        assert!(page.starts_with("<!DOCTYPE html>") && page.trim_end().ends_with("</html>"));
        assert!(page.contains("<svg") && page.contains("width=device-width") && page.contains("not GPU times"));
        for from_elsewhere in ["src=", "href=", "url(", "@import", "<script", "<link"] {
            assert!(!page.contains(from_elsewhere), "{from_elsewhere}");
        }
    }
}

#[test]
fn markdown_keeps_the_angle_brackets() {
    let folder = tempfile::tempdir().unwrap();
    let assert = gridstride(folder.path())
        .args(["compare", "-n", "1000", "--runs", "1", "--format", "markdown"])
        .assert()
        .success();
    assert.stdout(contains("| &lt;&lt;&lt;1, 1&gt;&gt;&gt; |").and(contains("| --- | ---: |")));
}
