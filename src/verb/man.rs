//! `gridstride man`: the manual, made from the same words as `--help`.

use std::fs;
use std::path::PathBuf;

use clap::CommandFactory;
use clap_mangen::Man;

use crate::args::Cli;
use crate::error::{Error, Result};
use crate::output::Output;

const EXAMPLES: &str = "\
Examples:
  gridstride man | man -l -
  gridstride man --all ~/.local/share/man/man1";

/// Print the manual page, or write those of all verbs
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Write gridstride.1 and a page for each verb into this folder
    #[arg(long, value_name = "FOLDER")]
    pub all: Option<PathBuf>,
}

/// Runs the verb.
///
/// # Errors
/// When a page cannot be written.
pub fn run(args: &Args) -> Result<()> {
    let command = Cli::command();
    match &args.all {
        None => Output::Stdout.write_bytes(&page(command)),
        Some(folder) => {
            let written = fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(command, folder));
            written.map_err(|source| Error::Output { path: folder.clone(), source })
        }
    }
}

fn page(command: clap::Command) -> Vec<u8> {
    let mut page = Vec::new();
    Man::new(command).render(&mut page).expect("memory takes it");
    page
}
