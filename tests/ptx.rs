//! What the compiled kernels look like: the things that a change of compiler or macro could lose without a test noticing.

use gridstride::PTX;

fn entry(name: &str) -> &'static str {
    let start = PTX.find(&format!(".visible .entry {name}(")).unwrap_or_else(|| panic!("no entry {name}"));
    let text = &PTX[start..];
    &text[..text.find("\n}").unwrap()]
}

const ENTRIES: &[&str] = &["add_f32", "add_f64", "add_i32", "add_scalar_f32", "add_scalar_f64", "add_scalar_i32"];

#[test]
fn slices_are_two_parameters() {
    for name in ENTRIES {
        let header = &entry(name)[..entry(name).find(')').unwrap()];
        assert_eq!(header.matches(".param").count(), 5, "{name}: pointer, length, pointer, length, pointer\n{header}");
    }
}

#[test]
fn reads_are_read_only_loads_of_sixteen_bytes() {
    assert!(entry("add_f32").contains("ld.global.nc.v4.b32"), "{}", entry("add_f32"));
    assert!(entry("add_i32").contains("ld.global.nc.v4.b32"));
    assert!(entry("add_f64").contains("ld.global.nc.v2.b64"));
    assert!(entry("add_scalar_f32").contains("ld.global.nc.b32"));
    assert!(entry("add_f32").contains("st.global.v4.b32"));
}

#[test]
fn the_bounds_check_and_its_trap_survive() {
    for name in ENTRIES {
        let text = entry(name);
        assert!(text.contains("slice_index_fail") && text.contains("trap;"), "{name}:\n{text}");
    }
    assert!(PTX.contains("__assertfail"));
}

#[test]
fn the_loops_have_no_local_memory_and_no_barrier() {
    for name in ENTRIES {
        assert!(!entry(name).contains(".local") && !entry(name).contains("bar."), "{name}");
    }
}

#[test]
fn line_tables_name_the_kernels_source_and_nothing_of_this_machine() {
    assert!(PTX.contains("\"gpu/src/add.rs\""));
    assert!(!PTX.contains(env!("CARGO_MANIFEST_DIR")), "a path of the machine that built it is in the PTX");
}

#[test]
fn old_drivers_can_load_it() {
    assert!(PTX.contains(".version 7.0\n.target sm_70\n"), "{}", &PTX[..200]);
}
