//! The counters against Nsight Compute's, recorded on an H200 for the launches of `launches.txt`.
//!
//! `recorded.tsv` says when and how it was recorded. Its columns are named as the CPU device's counters are; docs/counters.md
//! says which metric each was.

mod launches;

use std::path::Path;

#[test]
fn requests_sectors_and_conflicts_are_those_of_an_h200() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/profiler");
    let counted = launches::count(&folder, &folder.join("kernels.ptx")).unwrap();
    let recorded = include_str!("recorded.tsv");
    let mut lines = recorded.lines().filter(|line| !line.starts_with('#'));
    let columns: Vec<usize> = (lines.next().unwrap().split('\t').skip(1))
        .map(|name| launches::COLUMNS.iter().position(|column| *column == name).unwrap_or_else(|| panic!("{name}")))
        .collect();
    assert!(columns.len() >= 12);
    let mut differences = Vec::new();
    let mut compared = 0;
    for (line, (name, values)) in lines.by_ref().zip(&counted) {
        let mut cells = line.split('\t');
        assert_eq!(cells.next(), Some(&**name), "launches.txt has changed since it was recorded");
        for (column, theirs) in columns.iter().zip(cells).filter(|(_, theirs)| !theirs.is_empty()) {
            let (ours, theirs) = (values[*column], theirs.parse::<u64>().unwrap());
            compared += 1;
            if ours != theirs {
                differences.push(format!("{name}: {} is {ours}, and was {theirs}", launches::COLUMNS[*column]));
            }
        }
    }
    assert_eq!(lines.next(), None);
    assert_eq!(compared, counted.len() * columns.len());
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}
