//! `gridstride new`: the project that it makes builds and passes, and what is wrong leaves nothing behind.

use std::fs;
use std::path::Path;

use assert_cmd::Command;

fn gridstride(folder: &Path) -> Command {
    let mut command = Command::cargo_bin("gridstride").unwrap();
    command.current_dir(folder).arg("new");
    command
}

#[test]
fn the_project_builds_and_passes() {
    let folder = tempfile::tempdir().unwrap();
    let checkout = env!("CARGO_MANIFEST_DIR");
    gridstride(folder.path()).args(["my-project", "--path", checkout]).assert().success();
    let project = folder.path().join("my-project");
    // The versions of this workspace, so that nothing is downloaded. Without the file cargo takes the newest.
    fs::copy(Path::new(checkout).join("Cargo.lock"), project.join("Cargo.lock")).unwrap();
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(&project).args(["test", "--quiet", "--offline"]);
    // Kept between runs, unlike the project.
    cargo.env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("new")).env_remove("RUSTFLAGS");
    cargo.env_remove("CUDA_LIBRARY_PATH").env("GRIDSTRIDE_DEVICE", "cpu");
    let output = cargo.assert().success();
    let text = String::from_utf8_lossy(&output.get_output().stdout).into_owned();
    assert!(text.contains("2 passed"), "{text}");
}

#[test]
fn what_is_wrong_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let says = |args: &[&str], words: &str| {
        let output = gridstride(folder.path()).args(args).assert().code(2);
        let text = String::from_utf8_lossy(&output.get_output().stderr).into_owned();
        assert!(text.contains(words), "{text}");
    };
    says(&["1st"], "begin with a letter");
    says(&["fine", "--path", "/no/such/checkout"], "no checkout of gridstride");
    says(&["fine", "--git", ""], "cannot be the address");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    fs::create_dir(folder.path().join("there")).unwrap();
    says(&["there", "--path", env!("CARGO_MANIFEST_DIR")], "exists already");
    assert_eq!(fs::read_dir(folder.path().join("there")).unwrap().count(), 0);
}

#[cfg(unix)]
#[test]
fn a_folder_that_cannot_be_written_is_a_failure() {
    let folder = tempfile::tempdir().unwrap();
    let output =
        gridstride(folder.path()).args(["no/such/folder", "--path", env!("CARGO_MANIFEST_DIR")]).assert().code(1);
    let text = String::from_utf8_lossy(&output.get_output().stderr).into_owned();
    assert!(text.contains("no/such/folder") && text.contains("cannot be written"), "{text}");
}
