//! PTX with the lines of source that its instructions come from, as comments above them.

use std::collections::HashMap;
use std::fs;

/// Adds the lines. `ptx` is the whole module, which has the table of files; `part` is what is printed of it.
#[must_use]
pub fn interleaved(ptx: &str, part: &str) -> String {
    let files = files(ptx);
    let mut sources = HashMap::new();
    let mut out = String::new();
    let mut last = (0, 0);
    for line in part.lines() {
        let Some((file, number)) = location(line) else {
            // Labels for a debugger and the table of files say nothing to a reader.
            if !is_debugging(line) {
                out.push_str(line);
                out.push('\n');
            }
            continue;
        };
        if number == 0 || last == (file, number) {
            continue;
        }
        last = (file, number);
        let Some(path) = files.get(&file) else { continue };
        let source = sources.entry(file).or_insert_with(|| read(path));
        let text = source.as_ref().and_then(|text| text.lines().nth(number as usize - 1)).map_or("", str::trim);
        let line = format!("\t// {}:{number}  {text}", short(path));
        out.extend(
            line.trim_end().chars().map(|letter| if letter.is_control() && letter != '\t' { ' ' } else { letter }),
        );
        out.push('\n');
    }
    out
}

/// `.loc 1 23 5` is file 1, line 23.
fn location(line: &str) -> Option<(u32, u32)> {
    let mut words = line.trim_start().strip_prefix(".loc")?.split([' ', '\t', ',']).filter(|word| !word.is_empty());
    Some((words.next()?.parse().ok()?, words.next()?.parse().ok()?))
}

fn is_debugging(line: &str) -> bool {
    let line = line.trim();
    let label = |prefix: &str| line.strip_prefix(prefix).and_then(|rest| rest.strip_suffix(':'));
    let number = label("$L__tmp").or_else(|| label("$L__func_begin")).or_else(|| label("$L__func_end"));
    number.is_some_and(|number| number.bytes().all(|digit| digit.is_ascii_digit()))
}

/// `.file 1 "gpu/src/add.rs"`
fn files(ptx: &str) -> HashMap<u32, &str> {
    ptx.lines().filter_map(file).collect()
}

fn file(line: &str) -> Option<(u32, &str)> {
    let rest = line.trim_start().strip_prefix(".file")?.trim_start();
    let (number, rest) = rest.split_once([' ', '\t'])?;
    Some((number.parse().ok()?, rest.split('"').nth(1)?))
}

/// Larger files are no source that people wrote.
const LARGEST: u64 = 16 << 20;

/// The text of a source file. Its name comes from the PTX, which may be anybody's: what is no regular file is not opened.
fn read(path: &str) -> Option<String> {
    let about = fs::metadata(path).ok()?;
    (about.is_file() && about.len() <= LARGEST).then(|| fs::read_to_string(path).ok())?
}

/// The end of a path that says enough: what is behind `library/` for the compiler's own sources.
fn short(path: &str) -> &str {
    path.rsplit_once("/rust/library/").map_or(path, |(_, rest)| rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_stands_above_its_instructions_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("k.rs");
        fs::write(&path, "fn k() {\n    let x = 1;\n}\n").unwrap();
        let part = "\t.loc\t1 2 5\n$L__tmp0:\n\tmov.u32 %r1, 1;\n\t.loc 1 2 9\n\tadd.u32 %r1, %r1, %r1;\n\t.loc\t2 7 1\n\tret;\n";
        let ptx = format!(
            "{part}\t.file\t1 \"{}\"\n\t.file 2 \"/a/lib/rustlib/src/rust/library/core/src/x.rs\"\n",
            path.display()
        );
        let name = path.display();
        assert_eq!(
            interleaved(&ptx, part),
            format!(
                "\t// {name}:2  let x = 1;\n\tmov.u32 %r1, 1;\n\tadd.u32 %r1, %r1, %r1;\n\t// core/src/x.rs:7\n\tret;\n"
            )
        );
    }
}
