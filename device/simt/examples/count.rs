//! Counts what launches do on the CPU device: `count FOLDER [FILE.ptx]` runs every line of `FOLDER/launches.txt` and prints
//! a table of tab-separated values, a line a launch, for comparing with a profiler's.

#[path = "../tests/profiler/launches.rs"]
mod launches;

use std::path::Path;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args_os().skip(1);
    let folder = args.next().ok_or("usage: count FOLDER [FILE.ptx]")?;
    let folder = Path::new(&folder);
    let ptx = args.next().map_or_else(|| folder.join("kernels.ptx"), Into::into);
    println!("name\t{}", launches::COLUMNS.join("\t"));
    for (name, values) in launches::count(folder, &ptx)? {
        println!("{name}\t{}", values.map(|value| value.to_string()).join("\t"));
    }
    Ok(())
}
