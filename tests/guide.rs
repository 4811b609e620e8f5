//! The guide is right: every command in it runs, what it shows is what comes, and every page and included file is there.
#![cfg(unix)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs")
}

fn pages() -> Vec<PathBuf> {
    fs::read_dir(docs().join("guide")).unwrap().map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn every_page_is_in_the_summary_and_every_link_leads_somewhere() {
    let summary = fs::read_to_string(docs().join("SUMMARY.md")).unwrap();
    for page in pages() {
        let name = format!("guide/{}", page.file_name().unwrap().to_string_lossy());
        assert!(summary.contains(&format!("({name})")), "{name} is not in SUMMARY.md");
    }
    for page in pages().into_iter().chain([docs().join("SUMMARY.md")]) {
        let text = fs::read_to_string(&page).unwrap();
        let links = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        let includes = text.split("{{#include ").skip(1).filter_map(|rest| rest.split([':', '}']).next());
        for link in links.filter(|link| !link.starts_with("http")).chain(includes) {
            assert!(page.parent().unwrap().join(link).exists(), "{}: {link}", page.display());
        }
    }
}

/// A `$ ` line is run by a shell; the lines under it come in its output, in this order.
#[test]
fn every_command_gives_what_is_shown() {
    let binaries = assert_cmd::cargo::cargo_bin("gridstride").parent().unwrap().to_owned();
    let path = format!("{}:{}", binaries.display(), std::env::var("PATH").unwrap());
    let mut commands = 0;
    for page in pages() {
        let folder = tempfile::tempdir().unwrap();
        let text = fs::read_to_string(&page).unwrap();
        for block in text.split("```console\n").skip(1).filter_map(|rest| rest.split("```").next()) {
            for command in block.split("$ ").skip(1) {
                let (command, expected) = command.split_once('\n').unwrap();
                let mut shell = Command::new("sh");
                shell.arg("-c").arg(command).current_dir(folder.path()).env("PATH", &path).env("NO_COLOR", "1");
                shell.env("GRIDSTRIDE_DEVICE", "cpu").env("GRIDSTRIDE_CPU_THREADS", "2");
                let output = shell.output().unwrap();
                let said = String::from_utf8_lossy(&output.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
                let error = String::from_utf8_lossy(&output.stderr);
                assert!(output.status.success(), "{}: `{command}`: {error}", page.display());
                let mut rest = said.as_str();
                for line in expected.lines().filter(|line| !line.is_empty()) {
                    let Some((_, behind)) = rest.split_once(line) else {
                        panic!("{}: `{command}` does not say `{line}`: {said}", page.display());
                    };
                    rest = behind;
                }
                commands += 1;
            }
        }
    }
    assert!(commands > 10, "{commands}");
}
