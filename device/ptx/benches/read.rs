//! How long a module takes to read: `cargo bench -p gridstride-ptx [-- FILE …]`, by default the test modules.

use std::path::PathBuf;
use std::time::Instant;

fn main() {
    let mut files: Vec<PathBuf> = std::env::args().skip(1).filter(|a| !a.starts_with("--")).map(Into::into).collect();
    if files.is_empty() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/modules");
        files =
            std::fs::read_dir(folder).expect("the folder is there").map(|entry| entry.expect("so").path()).collect();
        files.sort();
    }
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a PTX text");
        let mut times = Vec::new();
        for _ in 0..21 {
            let start = Instant::now();
            if let Err(error) = gridstride_ptx::parse(&text) {
                println!("{}: {error}", file.display());
                break;
            }
            times.push(start.elapsed().as_secs_f64() * 1e3);
        }
        times.sort_by(f64::total_cmp);
        if let Some(median) = times.get(times.len() / 2) {
            let size = text.len() as f64 / 1e6;
            println!("{}: {size:.3} MB, {median:.2} ms, {:.1} ms a MB", file.display(), median / size);
        }
    }
}
