//! The command at a real pseudo-terminal: colours, progress, and the terminal as it was after an interrupt; and files that cannot
//! be written.
#![cfg(unix)]

use std::fs::File;
use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix_openpty::rustix::termios::Winsize;

/// A command whose three streams are one terminal of 80 columns, and what it has written there.
struct Session {
    child: Child,
    screen: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
}

fn start(args: &[&str], variables: &[(&str, &str)]) -> Session {
    let size = Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };
    let pty = rustix_openpty::openpty(None, Some(&size)).unwrap();
    let side = || Stdio::from(pty.user.try_clone().unwrap());
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("gridstride"));
    command.args(args).stdin(side()).stdout(side()).stderr(side());
    // `CI` too: under it a terminal is taken to show colours whatever `TERM` says.
    for name in ["CI", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "GRIDSTRIDE_DEVICE", "GRIDSTRIDE_LIBCUDA"] {
        command.env_remove(name);
    }
    command.env("TERM", "xterm-256color").envs(variables.iter().copied());
    let child = command.spawn().unwrap();
    // The terminal ends when the last of its sides does, so that ours and the command's must go.
    drop(command);
    let rustix_openpty::Pty { controller, user } = pty;
    drop(user);
    let screen = Arc::new(Mutex::new(Vec::new()));
    let written = Arc::clone(&screen);
    let reader = thread::spawn(move || {
        let (mut terminal, mut part) = (File::from(controller), [0; 4096]);
        // At its end a terminal gives an error on Linux.
        while let Ok(n @ 1..) = terminal.read(&mut part) {
            written.lock().unwrap().extend_from_slice(&part[..n]);
        }
    });
    Session { child, screen, reader }
}

impl Session {
    /// Exit code and everything that was written.
    fn finish(mut self) -> (Option<i32>, String) {
        let status = self.child.wait().unwrap();
        let screen = Arc::clone(&self.screen);
        self.reader.join().unwrap();
        let screen = String::from_utf8_lossy(&screen.lock().unwrap()).into_owned();
        (status.code(), screen)
    }

    /// Waits until something is on the screen.
    fn wait_for(&self, text: &str) {
        let began = Instant::now();
        while !String::from_utf8_lossy(&self.screen.lock().unwrap()).contains(text) {
            assert!(began.elapsed() < Duration::from_secs(60), "`{text}` did not come");
            thread::sleep(Duration::from_millis(10));
        }
    }
}

/// Colours and styles begin with this and end with an `m`; the movements of a progress bar do not.
fn has_colour(screen: &str) -> bool {
    screen.split("\x1b[").skip(1).any(|rest| {
        let end = rest.find(|c: char| c.is_ascii_alphabetic());
        end.is_some_and(|end| end > 0 && rest.as_bytes()[end] == b'm')
    })
}

const QUICK: &[&str] = &["--device", "cpu", "-n", "10000", "--runs", "2"];

#[test]
fn a_terminal_gets_colours_and_whole_lines() {
    let (code, screen) = start(QUICK, &[]).finish();
    assert_eq!(code, Some(0), "{screen}");
    assert!(screen.contains("\x1b[1m") && screen.contains("\x1b[32m"), "{screen:?}");
    assert!(screen.contains("They are not GPU times"));
}

#[test]
fn no_color_is_honoured_and_a_dumb_terminal_too() {
    for variable in [("NO_COLOR", "1"), ("TERM", "dumb")] {
        let (code, screen) = start(QUICK, &[variable]).finish();
        assert_eq!(code, Some(0));
        assert!(!has_colour(&screen), "{variable:?}: {screen:?}");
    }
}

#[test]
fn long_work_shows_a_bar_and_takes_it_away() {
    let (code, screen) =
        start(&["sweep", "-n", "3e5", "--grid", "1..16", "--block", "32..128", "--device", "cpu"], &[]).finish();
    assert_eq!(code, Some(0), "{screen}");
    // The bar counts its shapes, and its line is erased before the report.
    assert!(screen.contains("/15"), "{screen:?}");
    let report = screen.rfind("Best: ").unwrap();
    assert!(screen[..report].contains("\x1b[2K") && !screen[report..].contains("/15"), "{screen:?}");
}

#[test]
fn an_interrupt_leaves_the_terminal_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("forever.ptx");
    std::fs::write(&file, ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry forever() { L: bra L; }")
        .unwrap();
    let session = start(&["run", file.to_str().unwrap(), "--device", "cpu"], &[]);
    session.wait_for("first launch");
    Command::new("kill").args(["-INT", &session.child.id().to_string()]).status().unwrap();
    let (code, screen) = session.finish();
    assert_eq!(code, Some(130), "{screen:?}");
    assert!(screen.contains("stopped while the first launch of <<<1, 256>>> was running"), "{screen:?}");
    // A cursor that was hidden is shown again.
    assert_eq!(screen.matches("\x1b[?25l").count(), screen.matches("\x1b[?25h").count(), "{screen:?}");
}

/// A full disk: everything that is written ends in a sentence and exit code 1.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_said() {
    let run = |args: &[&str], stdout: Stdio| {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin("gridstride"));
        command.args(args).env("GRIDSTRIDE_DEVICE", "cpu").stdout(stdout).stderr(Stdio::piped());
        let output = command.spawn().unwrap().wait_with_output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let full = || Stdio::from(File::options().write(true).open("/dev/full").unwrap());
    let sweep = ["sweep", "-n", "100", "--grid", "1", "--block", "32", "--runs", "1"];
    for args in [
        &["devices"][..],
        &["doctor"],
        &["ptx"],
        &["man"],
        &["completions", "bash"],
        &["explain"],
        &["profile", "-n", "10"],
        &sweep,
    ] {
        let (code, error) = run(args, full());
        assert_eq!(code, Some(1), "{args:?}: {error}");
        assert!(
            error.contains("standard output cannot be written") && !error.contains("panicked"),
            "{args:?}: {error}"
        );
    }
    for args in [
        &["devices", "-o", "/dev/full"][..],
        &["profile", "-n", "10", "-o", "/dev/full"],
        &["explain", "-o", "/dev/full"],
    ] {
        let (code, error) = run(args, Stdio::null());
        assert_eq!(code, Some(1), "{args:?}: {error}");
        assert!(error.contains("`/dev/full` cannot be written"), "{args:?}: {error}");
    }
    let (code, error) = run(&["sweep", "--svg", "/proc/heat.svg"], Stdio::null());
    assert_eq!(code, Some(1), "{error}");
    assert!(error.contains("`/proc/heat.svg` cannot be written"), "{error}");
}
