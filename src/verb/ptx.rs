//! `gridstride ptx`: the kernels as the device gets them.

use crate::PTX;
use crate::args::PtxArgs;
use crate::error::{Error, Result};
use crate::output::Output;

/// Runs the verb.
///
/// # Errors
/// [`Error::NoEntry`] for a name that is not there.
pub fn run(args: &PtxArgs) -> Result<()> {
    let text = match &args.kernel {
        None => PTX.to_owned(),
        Some(name) => kernel(PTX, name)?,
    };
    Output::open(args.output.as_deref())?.write(&text)
}

const ENTRY: &str = ".visible .entry ";

/// Names of the entry points.
fn entries(ptx: &str) -> Vec<&str> {
    ptx.lines()
        .filter_map(|line| line.strip_prefix(ENTRY))
        .map(|rest| rest.split('(').next().unwrap_or(rest).trim())
        .collect()
}

/// The text of one entry point, from its directive to its closing brace.
fn kernel(ptx: &str, name: &str) -> Result<String> {
    let known = entries(ptx);
    if !known.contains(&name) {
        let distance = |known: &&&str| strsim::damerau_levenshtein(known, name);
        let nearest =
            known.iter().min_by_key(distance).filter(|near| distance(near) <= 4).map(|near| (*near).to_owned());
        return Err(Error::NoEntry { name: name.to_owned(), nearest, known: known.join(", ") });
    }
    let start = |line: &&str| !line.strip_prefix(ENTRY).is_some_and(|rest| rest.split('(').next() == Some(name));
    let mut text = String::new();
    for line in ptx.lines().skip_while(start) {
        text.push_str(line);
        text.push('\n');
        if line == "}" {
            break;
        }
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_one_entry_and_names_the_nearest() {
        let text = kernel(PTX, "add_f64").unwrap();
        assert!(text.starts_with(".visible .entry add_f64(") && text.ends_with("}\n"));
        assert_eq!(text.matches(".entry").count(), 1);
        let error = kernel(PTX, "add_f23").unwrap_err();
        assert!(error.to_string().contains("did you mean `add_f"), "{error}");
        assert_eq!(error.exit_code(), 2);
    }
}
