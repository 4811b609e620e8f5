//! From the compiler's assembly to PTX: what the compiler has no words for, and what it says that the assembler refuses.
//!
//! - **Directives of kernels.** Nothing in Rust becomes `.maxntid` or `.reqntid`. `#[kernel]` leaves a comment in the module,
//!   `// cuda_builder: entry NAME .maxntid 256, 1, 1`, and here the directives move to the kernel of that name.
//! - **Full debug information** ends in a section of address ranges that refers to labels which PTX does not know. It is an
//!   index that debuggers can do without, and goes.

use std::collections::HashMap;

const MARK: &str = "// cuda_builder: entry ";
const RANGES: &str = ".section\t.debug_aranges";
const END_LABEL: &str = "$L__sec_end";

/// The PTX of an assembly file.
pub(crate) fn finish(assembly: &str) -> String {
    let directives = directives(assembly);
    let mut ptx = String::with_capacity(assembly.len());
    // Directives of the kernel whose parameters are being passed over.
    let mut pending: Option<&[&str]> = None;
    let mut in_ranges = false;
    for line in assembly.lines() {
        let text = line.trim();
        if text.starts_with(MARK) || text.starts_with(END_LABEL) {
            continue;
        }
        in_ranges |= text.starts_with(RANGES);
        if in_ranges {
            in_ranges = text != "}";
            continue;
        }
        ptx.push_str(line);
        ptx.push('\n');
        if let Some(entry) = entry(text) {
            pending = directives.get(entry).map(Vec::as_slice);
        }
        // The parameter list ends on a line of its own, or where it begins if there are none.
        if text == ")" || text.ends_with("()") {
            for directive in pending.take().into_iter().flatten() {
                ptx.push_str(directive);
                ptx.push('\n');
            }
        }
    }
    ptx
}

/// The directives of each kernel.
fn directives(assembly: &str) -> HashMap<&str, Vec<&str>> {
    let mut found: HashMap<&str, Vec<&str>> = HashMap::new();
    for line in assembly.lines() {
        let Some((entry, directives)) = line.trim().strip_prefix(MARK).and_then(|rest| rest.split_once(' ')) else {
            continue;
        };
        let starts = directives.match_indices('.').map(|(at, _)| at).collect::<Vec<_>>();
        let ends = starts.iter().skip(1).copied().chain([directives.len()]);
        let of_entry = found.entry(entry).or_default();
        for directive in starts.iter().zip(ends).map(|(&from, to)| directives[from..to].trim()) {
            if !of_entry.contains(&directive) {
                of_entry.push(directive);
            }
        }
    }
    found
}

/// The name of the kernel that a line begins.
fn entry(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once(".entry ")?;
    rest.split(['(', ' ']).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directives_go_to_their_kernel() {
        let assembly = "// cuda_builder: entry b .maxntid 256, 1, 1 .minnctapersm 2\n\
                        // cuda_builder: entry none .reqntid 16, 16, 1\n\
                        .visible .entry a(\n\t.param .u64 a_param_0\n)\n{\n\tret;\n}\n\
                        .visible .entry b(\n\t.param .u64 b_param_0\n)\n{\n\tret;\n}\n\
                        .visible .entry none()\n{\n\tret;\n}\n";
        let ptx = finish(assembly);
        assert!(!ptx.contains("cuda_builder"), "{ptx}");
        assert!(ptx.contains("a_param_0\n)\n{"), "{ptx}");
        assert!(ptx.contains("b_param_0\n)\n.maxntid 256, 1, 1\n.minnctapersm 2\n{"), "{ptx}");
        assert!(ptx.contains("none()\n.reqntid 16, 16, 1\n{"), "{ptx}");
    }

    #[test]
    fn nothing_else_changes() {
        let assembly = "// a comment\n.visible .entry a()\n{\n\tret;\n}\n.func b(\n\t.param .b32 x\n)\n{\n}\n";
        assert_eq!(finish(assembly), assembly);
    }

    #[test]
    fn address_ranges_go() {
        let assembly = "\t.section\t.debug_info\n\t{\n.b8 0\n\t}\n$L__sec_end0:\n\t.section\t.debug_aranges\n\t{\n\
                        .b64 $L__func_begin9-$L__func_begin0\n\t}\n\t.section\t.debug_macinfo\t{\t}\n";
        assert_eq!(finish(assembly), "\t.section\t.debug_info\n\t{\n.b8 0\n\t}\n\t.section\t.debug_macinfo\t{\t}\n");
    }
}
