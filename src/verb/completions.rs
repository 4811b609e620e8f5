//! `gridstride completions`: what a shell needs to complete the command line.

use clap::CommandFactory;
use clap_complete::Shell;

use crate::args::Cli;
use crate::error::Result;
use crate::output::Output;

const EXAMPLES: &str = "\
Examples:
  gridstride completions bash > ~/.local/share/bash-completion/completions/gridstride
  gridstride completions zsh > ~/.zfunc/_gridstride
  gridstride completions fish > ~/.config/fish/completions/gridstride.fish";

/// Print completions for a shell
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The shell
    #[arg(value_enum)]
    pub shell: Shell,
}

/// Runs the verb.
///
/// # Errors
/// When standard output cannot be written.
pub fn run(args: &Args) -> Result<()> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "gridstride", &mut text);
    Output::Stdout.write_bytes(&text)
}
