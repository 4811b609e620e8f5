//! What the command can do, one file a verb: its options as `Args`, what it does as `run`.
//!
//! To add one: the file, its `mod` line, and its line in [`verbs!`]. The first line of the doc comment of its `Args` is what
//! `--help` says of it.

pub mod bench;
pub mod check;
pub mod compare;
pub mod completions;
pub mod devices;
pub mod doctor;
pub mod explain;
pub mod man;
pub mod new;
pub mod profile;
pub mod ptx;
pub mod run;
pub mod sweep;

use clap::Subcommand;

use crate::error::Result;

/// The verbs as one type that clap reads and [`main`](crate::main) runs.
macro_rules! verbs {
    ($($verb:ident => $file:ident,)*) => {
        /// A verb with its options.
        #[derive(Debug, Subcommand)]
        pub enum Verb {
            $($verb($file::Args),)*
        }

        impl Verb {
            /// Runs it.
            ///
            /// # Errors
            /// See [`crate::Error`].
            pub fn run(&self) -> Result<()> {
                match self {
                    $(Self::$verb(args) => $file::run(args),)*
                }
            }
        }
    };
}

// In the order in which `--help` lists them.
verbs! {
    Compare => compare,
    Devices => devices,
    Bench => bench,
    Sweep => sweep,
    Profile => profile,
    Explain => explain,
    Run => run,
    Check => check,
    Ptx => ptx,
    New => new,
    Doctor => doctor,
    Completions => completions,
    Man => man,
}
