//! What the compiler makes of the fixtures: parameters, loads, loops, barriers. Lost without a wrong result, if at all.

use std::io::Write;
use std::path::Path;
use std::process::Command;

use crate::{PTX, SPEAKING, UNCHECKED};

/// Header and body of an entry point.
fn entry(name: &str) -> (&'static str, &'static str) {
    let start = PTX.find(&format!(".visible .entry {name}(")).unwrap_or_else(|| panic!("no entry {name}"));
    let text = &PTX[start..];
    text[..text.find("\n}").unwrap()].split_once("\n{").unwrap()
}

/// The types of an entry's parameters, without what differs in pointers only by alignment.
fn parameters(name: &str) -> Vec<String> {
    let params = entry(name).0.lines().filter_map(|line| line.trim().strip_prefix(".param "));
    let param = |line: &str| {
        let line = line.trim_end_matches(',');
        let at = line.rfind(&format!("{name}_param_")).unwrap();
        let (ty, name) = (line[..at].trim(), &line[at..]);
        let array = name.find('[').map_or("", |at| &name[at..]);
        format!("{}{array}", ty.split(" .ptr").next().unwrap())
    };
    params.map(param).collect()
}

#[test]
fn every_parameter_is_passed_as_the_table_says() {
    let scalars = [".u8", ".u16", ".u32", ".u64", ".f32", ".f64", ".u8", ".u32", ".u64", ".u64"];
    assert_eq!(parameters("scalars"), scalars);
    let blocks = [
        ".align 8 .b8[24]",
        ".align 16 .b8[16]",
        ".f32",
        ".align 4 .b8[4]",
        ".align 2 .b8[6]",
        ".align 16 .b8[16]",
        ".u64",
    ];
    assert_eq!(parameters("blocks"), blocks);
    // Two slices of two parameters, a tuple, a number, a pointer.
    assert_eq!(parameters("slices"), [".u64", ".u64", ".u64", ".u64", ".u64", ".align 4 .b8[8]", ".u64"]);
    assert_eq!(parameters("pointers"), [".u64"; 4]);
    assert_eq!(parameters("through_a_macro"), [".u64"; 3]);
    // A keyword's entry has the name without `r#`.
    assert_eq!(parameters("loop"), [".u64"]);
}

#[test]
fn slices_are_read_only_memory_with_their_alignment() {
    let (header, body) = entry("twice");
    assert!(header.contains(".ptr .align 4 twice_param_0"), "{header}");
    assert!(body.contains("ld.global.nc.b32"), "{body}");
    let (_, body) = entry("shared_counters");
    assert!(body.contains("ld.global.b32") && !body.contains(".nc"), "{body}");
}

/// The instructions of the block that ends in a branch back to its own start.
fn loop_of(name: &str) -> Vec<&'static str> {
    // Line tables put labels and marks of their own between the instructions.
    let is_code = |line: &&str| !line.is_empty() && !line.starts_with(".loc") && !line.starts_with("$L__tmp");
    let lines: Vec<&str> = entry(name).1.lines().map(str::trim).filter(is_code).collect();
    for (start, line) in lines.iter().enumerate() {
        let Some(label) = line.strip_suffix(':') else { continue };
        let block = lines[start + 1..].iter().take_while(|line| !line.ends_with(':'));
        let mut block: Vec<&str> = block.copied().collect();
        if let Some(end) = block.iter().position(|line| line.contains(&format!("bra \t{label};"))) {
            block.truncate(end + 1);
            return block;
        }
    }
    panic!("no loop in {}", entry(name).1)
}

#[test]
fn a_grid_stride_loop_is_tight() {
    for name in ["twice", "count_up", "visits"] {
        let body = loop_of(name);
        let count = |what: &str| body.iter().filter(|line| line.starts_with(what)).count();
        let text = body.join("\n");
        assert_eq!((count("setp"), count("@")), (1, 1), "one comparison and one branch:\n{text}");
        assert_eq!(
            count("call") + count("div") + count("rem") + count("mul") + count("selp") + count("min"),
            0,
            "{text}"
        );
    }
    assert!(loop_of("twice").len() <= 10, "{}", loop_of("twice").join("\n"));
}

#[test]
fn ranges_of_indices_make_checks_unnecessary() {
    let (_, body) = entry("in_range");
    assert!(!body.contains("setp") && !body.contains("call"), "{body}");
}

#[test]
fn bounds_checks_leave_the_path_that_passes_them() {
    let (_, body) = entry("out_of_bounds");
    // The failing path is behind the `ret` of the passing one, and needs no text to be formatted.
    assert!(body.find("ret;").unwrap() < body.find("panic_bounds_check").unwrap(), "{body}");
    assert!(!body.contains("fmt"), "{body}");
    assert!(PTX.contains("__assertfail"));
}

#[test]
fn barriers_and_votes_are_neither_copied_nor_moved() {
    let count = |name: &str, what: &str| entry(name).1.lines().filter(|line| line.trim().starts_with(what)).count();
    assert_eq!(count("between_two_branches", "bar.sync"), 1);
    assert_eq!(count("vote_between_branches", "vote.sync"), 1);
    assert_eq!(count("counts", "bar.red"), 3);
    for fence in ["membar.cta", "membar.gl", "membar.sys", "nanosleep.u32"] {
        assert_eq!(count("fences", fence), if fence == "membar.gl" { 2 } else { 1 }, "{fence}");
    }
}

#[test]
fn shared_memory_keeps_its_address_space() {
    for name in ["reverse_array", "reverse_variable", "reverse_dynamic", "packs_shared"] {
        let (_, body) = entry(name);
        assert!(body.contains("ld.shared.") && body.contains("st.shared."), "{name}: {body}");
        for generic in ["\tld.b", "\tst.b", "\tld.v", "\tst.v"] {
            assert!(!body.contains(generic), "{name} has a generic access: {body}");
        }
    }
    let (_, body) = entry("packs_shared");
    assert!(body.contains("ld.shared.v4.b32") && body.contains("st.shared.v4.b32"), "{body}");
    // One symbol for all launch-sized memory: of two, LLVM would believe that they do not overlap.
    assert_eq!(PTX.matches(".extern .shared").count(), 1);
    // No generic function's memory exists twice.
    assert_eq!(PTX.matches("\n.shared .align 16 .b8 shared_").count(), PTX.matches(".b8 shared_").count());
}

#[test]
fn cores_atomics_carry_their_ordering() {
    let (_, body) = entry("core_orderings");
    for form in ["add.u32", "exch.b32", "cas.b32", "max.u32", "add.u64", "cas.b64"] {
        for order in ["relaxed", "acquire", "release", "acq_rel"] {
            // The one of `compare_exchange_weak` has no weaker failure than `Acquire`.
            if form != "cas.b64" || order.starts_with("acq") {
                assert!(body.contains(&format!("atom.{order}.sys.global.{form}")), "{order} {form}");
            }
        }
        assert!(body.contains(&format!("fence.sc.sys;\n\tatom.acquire.sys.global.{form}")), "SeqCst {form}");
    }
    for access in ["ld.acquire.sys.global.b32", "st.release.sys.global.b64", "ld.relaxed.sys", "st.relaxed.sys"] {
        assert!(body.contains(access), "{access}");
    }
    assert!(body.contains("fence.acq_rel.sys;") && body.contains("fence.sc.sys;"));
}

/// A loop's instructions without their operands, sorted.
fn opcodes(name: &str) -> Vec<&'static str> {
    let words = loop_of(name).into_iter().map(|line| line.split_whitespace().next().unwrap());
    // Which registers they are in decides their order, and the number of a predicate.
    let mut words: Vec<&str> = words.map(|word| if word.starts_with('@') { "@" } else { word }).collect();
    words.sort_unstable();
    words
}

#[test]
fn safe_kernels_are_the_same_loops() {
    assert_eq!(opcodes("safe_scale"), opcodes("raw_scale"));
    let (header, body) = entry("safe_add");
    assert!(header.contains(".ptr .align 4 safe_add_param_4"), "{header}");
    assert!(body.contains("ld.global.nc.v4.b32") && body.contains("st.global.v4.b32"), "{body}");
    let body = loop_of("safe_add");
    let checks = body.iter().filter(|line| line.starts_with("setp")).count();
    assert_eq!(checks, 1, "{}", body.join("\n"));
    // The block is no parameter.
    assert_eq!(parameters("safe_reverse"), [".u64"; 4]);
    let (_, body) = entry("safe_reverse");
    assert!(body.contains("ld.shared.b32") && body.contains("st.shared.b32"), "{body}");
    assert_eq!(body.matches("bar.sync").count(), 4, "{body}");
}

#[test]
fn visible_functions_are_kept() {
    assert!(PTX.contains(".visible .func  (.param .b32 func_retval0) fixture_helper("));
}

/// NVIDIA's assembler, where there is one. Not at its full optimisation: whether it takes the PTX is all that is asked.
#[test]
fn ptxas_takes_it() {
    let mut skipped = String::new();
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fixtures.ptx");
    assert!(UNCHECKED.contains("pmevent 3;") && UNCHECKED.contains("brkpt;"));
    for (ptx, arch) in [(&PTX, "sm_75"), (&PTX, "sm_90"), (&SPEAKING, "sm_90"), (&UNCHECKED, "sm_75")] {
        std::fs::write(&file, &**ptx).unwrap();
        match Command::new("ptxas")
            .args(["-O1", &format!("-arch={arch}")])
            .arg(&file)
            .args(["-o", "/dev/null"])
            .output()
        {
            Ok(output) => assert!(output.status.success(), "{arch}: {}", String::from_utf8_lossy(&output.stderr)),
            Err(error) => skipped += &format!("NOT RUN: ptxas -arch={arch}: {error}\n"),
        }
    }
    // Not through `eprint!`, which the test harness keeps to itself.
    std::io::stderr().write_all(skipped.as_bytes()).unwrap();
}
