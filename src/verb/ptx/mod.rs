//! `gridstride ptx`: the kernels as the device gets them.

mod source;

use std::path::PathBuf;

use gridstride_cpu::kernels;

use crate::PTX;
use crate::error::{Error, Result};
use crate::output::Output;
use crate::verb::run::read_ptx;

const EXAMPLES: &str = "\
Examples:
  gridstride ptx                      the whole module
  gridstride ptx add_f32 --source     one entry point, with its Rust between the instructions
  gridstride ptx --file mine.ptx my_kernel --source";

/// Print the kernels' PTX, all of it or one kernel's
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Kernel to print, add for example, or one entry point of it, add_f32 [default: the whole module]
    pub kernel: Option<String>,
    /// With the lines of Rust that the instructions come from, where their files are found
    #[arg(long)]
    pub source: bool,
    /// PTX file of your own, instead of the kernels of gridstride
    #[arg(long, value_name = "FILE.ptx")]
    pub file: Option<PathBuf>,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Runs the verb.
///
/// # Errors
/// [`Error::NoEntry`] for a name that is not there.
pub fn run(args: &Args) -> Result<()> {
    let ptx = args.file.as_deref().map_or(Ok(PTX.to_owned()), read_ptx)?;
    let part = match &args.kernel {
        None => ptx.clone(),
        Some(name) => kernel(&ptx, name)?,
    };
    let text = if args.source { source::interleaved(&ptx, &part) } else { part };
    Output::open(args.output.as_deref())?.write(&text)
}

/// The name of the entry point that a line begins, if it does.
fn entry_of(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let line = line.strip_prefix(".visible").or_else(|| line.strip_prefix(".weak")).unwrap_or(line);
    let rest = line.trim_start().strip_prefix(".entry")?.strip_prefix([' ', '\t'])?;
    Some(rest.split(['(', '{']).next().unwrap_or(rest).trim())
}

/// Names of the entry points.
fn entries(ptx: &str) -> Vec<&str> {
    ptx.lines().filter_map(entry_of).collect()
}

/// The entry points that a name means: itself, or those of a kernel for its element types.
fn meant<'a>(known: &[&'a str], name: &str) -> Result<Vec<&'a str>> {
    let find = |name: &str| known.iter().copied().find(|known| *known == name);
    if let Some(entry) = find(name) {
        return Ok(vec![entry]);
    }
    if let Ok(kernel) = kernels::find(name) {
        return Ok(kernel.dtypes().iter().filter_map(|dtype| find(&kernel.entry(*dtype))).collect());
    }
    let names = kernels::ALL.iter().map(|kernel| kernel.name()).chain(known.iter().copied());
    let nearest = names.map(|known| (strsim::damerau_levenshtein(known, name), known)).min();
    let nearest =
        nearest.filter(|(distance, near)| *distance <= near.len().div_ceil(2)).map(|(_, near)| near.to_owned());
    Err(Error::NoEntry { name: name.to_owned(), nearest, known: known.join(", ") })
}

/// The text of the entry points that a name means, each from its directive to its closing brace.
fn kernel(ptx: &str, name: &str) -> Result<String> {
    let texts = meant(&entries(ptx), name)?.into_iter().map(|entry| body(ptx, entry));
    Ok(texts.collect::<Vec<_>>().join("\n"))
}

fn body(ptx: &str, entry: &str) -> String {
    let before = |line: &&str| entry_of(line) != Some(entry);
    let mut text = String::new();
    for line in ptx.lines().skip_while(before) {
        text.push_str(line);
        text.push('\n');
        if line.trim() == "}" {
            break;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_one_entry_and_names_the_nearest() {
        let text = kernel(PTX, "add_f64").unwrap();
        assert!(text.starts_with(".visible .entry add_f64(") && text.ends_with("}\n"));
        assert_eq!(text.matches(".entry").count(), 1);
        let all = kernel(PTX, "add").unwrap();
        assert_eq!(all.matches(".entry").count(), kernels::find("add").unwrap().dtypes().len());
        let error = kernel(PTX, "add_f23").unwrap_err();
        assert!(error.to_string().contains("did you mean `add_f"), "{error}");
        assert_eq!(error.exit_code(), 2);
    }
}
