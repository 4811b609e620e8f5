//! Every module in `tests/modules` is read whole.

#[test]
fn reads_every_module() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/modules");
    let mut read = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let module = gridstride_ptx::parse(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert!(module.functions.iter().any(|f| f.is_entry && !f.blocks.is_empty()), "{}", path.display());
        read += 1;
    }
    assert!(read > 0);
}
