//! PTX that nobody here wrote: what NVRTC makes of CUDA C++ and Numba of Python, bit for bit as an H200 ran it.
//!
//! `foreign/NAME.cu` (or `.py`) is the source, `NAME.ptx` what its compiler made of it, `NAME.expected` what an H200's driver
//! gave for that PTX, with the date; `record.py` makes both again. The head of a source says how it is run:
//!
//! ```text
//! // ulps: 2                                         (only where `.approx` instructions are behind the results)
//! // ulps: 2 in columns 5 6 of 16 of run 0           (the same, of some columns of a table)
//! // run: KERNEL <<<GRID BLOCK DYNAMIC-SHARED>>>[ coop] ARGUMENT...
//! ```
//!
//! An argument is `in:KIND:SEED:WORDS` (read), `io:…` (read, and compared afterwards), `out:WORDS` (written and compared),
//! `u32:`, `i32:`, `u64:`, `f32:` or `f64:` and a number, `hex:` and bytes; `set:NAME:KIND:SEED:WORDS` writes a variable of
//! the module before the launch, `get:NAME:WORDS` compares it behind it. What kernels print is compared too.
//! `GRIDSTRIDE_FOREIGN` names another folder, `GRIDSTRIDE_FOREIGN_OUT` one to write what this device gives to.

#[path = "foreign_runs/inputs.rs"]
mod inputs;

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use gridstride_simt::{AllocKind, Device, LaunchConfig, Memory, Program};

/// Set to the name of the file that a child process is to run.
const CHILD: &str = "GRIDSTRIDE_TEST_FOREIGN";

/// One launch as the source's head says it.
struct Run {
    kernel: String,
    config: LaunchConfig,
    args: Vec<Vec<String>>,
}

impl Run {
    fn parse(line: &str) -> Option<Self> {
        let (kernel, rest) = line.strip_prefix("run: ")?.split_once(" <<<")?;
        let (shape, args) = rest.split_once(">>>")?;
        let shape: Vec<&str> = shape.split(' ').collect();
        let [grid, block, dynamic_shared] = shape[..] else { panic!("{line}") };
        let three = |text: &str| -> [u32; 3] {
            let numbers: Vec<u32> = text.split(',').map(|n| n.parse().unwrap()).collect();
            numbers.try_into().unwrap()
        };
        let (cooperative, args) = match args.strip_prefix(" coop") {
            Some(args) => (true, args),
            None => (false, args),
        };
        Some(Self {
            kernel: kernel.into(),
            config: LaunchConfig {
                grid: three(grid),
                block: three(block),
                dynamic_shared: dynamic_shared.parse().unwrap(),
                cooperative,
                count_memory: false,
            },
            args: args.split_whitespace().map(|arg| arg.split(':').map(Into::into).collect()).collect(),
        })
    }
}

/// The lines in the head of a source, without their `// ` or `# `.
fn head(ptx: &Path) -> Vec<String> {
    let source = ["cu", "py"].iter().find_map(|kind| std::fs::read_to_string(ptx.with_extension(kind)).ok());
    let source = source.unwrap_or_else(|| panic!("{}: no source beside it", ptx.display()));
    let lines = source.lines().map_while(|line| line.strip_prefix("// ").or_else(|| line.strip_prefix("# ")));
    lines.map(Into::into).collect()
}

/// One device, one module, all its launches; what they print goes to standard output, and the report is returned.
fn run(ptx: &Path) -> Result<String, String> {
    let memory = Arc::new(Memory::new(1 << 28));
    let device = Device::new(2, memory.clone());
    let text = std::fs::read_to_string(ptx).unwrap();
    let module = gridstride_ptx::parse(&text).map_err(|error| error.to_string())?;
    let program = Arc::new(Program::load(&module, &memory).map_err(|error| error.to_string())?);
    let mut report = String::new();
    for (number, run) in head(ptx).iter().filter_map(|line| Run::parse(line)).enumerate() {
        writeln!(report, "run {number} {}", run.kernel).unwrap();
        println!("{MARK}run {number}");
        let buffers = launch(&device, &program, &run).map_err(|error| format!("{}: {error}", run.kernel))?;
        for buffer in buffers {
            writeln!(report, "buffer {}", buffer.len()).unwrap();
            for row in buffer.chunks(16) {
                let row: Vec<String> = row.iter().map(|word| format!("{word:08x}")).collect();
                writeln!(report, "{}", row.join(" ")).unwrap();
            }
        }
    }
    Ok(report)
}

/// Begins the lines of a child's output that are not a kernel's.
const MARK: &str = "\u{1}gridstride ";

/// Runs one launch; the buffers to compare.
fn launch(device: &Device, program: &Arc<Program>, run: &Run) -> Result<Vec<Vec<u32>>, String> {
    let memory = device.memory();
    let kernel = program.kernel(&run.kernel).ok_or("no such kernel")?;
    let number = |arg: &[String], at: usize| -> usize { arg[at].parse().unwrap() };
    let write = |at: u64, words: &[u32]| {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        memory.write(at, &bytes).unwrap();
    };
    let mut results = Vec::new();
    let mut values: Vec<Vec<u8>> = Vec::new();
    for arg in &run.args {
        match &*arg[0] {
            "in" | "io" | "out" => {
                let words = match &*arg[0] {
                    "out" => vec![0xDEAD_BEEF; number(arg, 1)],
                    _ => inputs::words(&arg[1], arg[2].parse().unwrap(), number(arg, 3)),
                };
                let at = memory.alloc(4 * words.len().max(4) as u64, AllocKind::Device).map_err(|e| e.to_string())?;
                write(at, &words);
                values.push(at.to_le_bytes().into());
                if arg[0] != "in" {
                    results.push((at, words.len()));
                }
            }
            "set" => {
                let (at, _) = program.variable(&arg[1]).ok_or("no such variable")?;
                write(at, &inputs::words(&arg[2], arg[3].parse().unwrap(), number(arg, 4)));
            }
            "get" => results.push((program.variable(&arg[1]).ok_or("no such variable")?.0, number(arg, 2))),
            "hex" => {
                let digits = |at| u8::from_str_radix(&arg[1][at..at + 2], 16).unwrap();
                values.push((0..arg[1].len()).step_by(2).map(digits).collect());
            }
            "u32" => values.push(arg[1].parse::<u32>().unwrap().to_le_bytes().into()),
            "i32" => values.push(arg[1].parse::<i32>().unwrap().to_le_bytes().into()),
            "u64" => values.push(arg[1].parse::<u64>().unwrap().to_le_bytes().into()),
            "f32" => values.push(arg[1].parse::<f32>().unwrap().to_le_bytes().into()),
            "f64" => values.push(arg[1].parse::<f64>().unwrap().to_le_bytes().into()),
            other => panic!("unknown argument: {other}"),
        }
    }
    let info = &program.kernels()[kernel];
    assert_eq!(values.len(), info.params.len(), "{}: parameters", run.kernel);
    let mut params = vec![0; info.param_bytes as usize];
    for (value, param) in values.iter().zip(&info.params) {
        assert_eq!(value.len(), param.size as usize, "{}: size of a parameter", run.kernel);
        params[param.offset as usize..][..value.len()].copy_from_slice(value);
    }
    device.launch(program, kernel, &run.config, &params).map_err(|fault| fault.to_string())?;
    let read = |(at, count): (u64, usize)| {
        let mut bytes = vec![0; 4 * count];
        memory.read(at, &mut bytes).unwrap();
        bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect()
    };
    Ok(results.into_iter().map(read).collect())
}

/// Runs a file in a child process, whose standard output is what kernels print; the report with that in it.
fn run_apart(ptx: &Path) -> Result<String, String> {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "foreign_kernels_give_the_bits_of_an_h200", "--nocapture"]).env(CHILD, ptx);
    let output = child.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    if let Some((_, error)) = text.split_once(&format!("{MARK}error ")) {
        return Err(error.lines().take_while(|line| !line.starts_with("test ")).collect::<Vec<_>>().join("\n"));
    }
    let Some((printed, report)) = text.split_once(&format!("{MARK}report\n")) else {
        return Err(format!("the process ended: {text}\n{}", String::from_utf8_lossy(&output.stderr)));
    };
    let report = report.split(MARK).next().unwrap();
    let mark = format!("{MARK}run ");
    let mut sections = printed.split(&mark).skip(1);
    let mut all = String::new();
    for line in report.lines() {
        writeln!(all, "{line}").unwrap();
        if line.starts_with("run ") {
            let (_, printed) = sections.next().unwrap().split_once('\n').unwrap();
            printed.lines().for_each(|line| writeln!(all, "printed {line}").unwrap());
        }
    }
    Ok(all)
}

/// How far words may be from the recorded ones.
#[derive(Default)]
struct Tolerance {
    ulps: u32,
    /// The run, the columns of its table, and how many it has; none for all words of the file.
    columns: Option<(String, Vec<usize>, usize)>,
}

impl Tolerance {
    fn parse(line: &str) -> Option<Self> {
        let rest = line.strip_prefix("ulps: ")?;
        let Some((ulps, rest)) = rest.split_once(" in columns ") else {
            return Some(Self { ulps: rest.parse().unwrap(), columns: None });
        };
        let (columns, rest) = rest.split_once(" of ").unwrap();
        let (count, run) = rest.split_once(" of ").unwrap();
        let columns = columns.split(' ').map(|column| column.parse().unwrap()).collect();
        Some(Self { ulps: ulps.parse().unwrap(), columns: Some((format!("{run} "), columns, count.parse().unwrap())) })
    }

    fn of(&self, place: &str, word: usize) -> u32 {
        let concerned = self
            .columns
            .as_ref()
            .is_none_or(|(run, columns, count)| place.starts_with(run) && columns.contains(&(word % count)));
        if concerned { self.ulps } else { 0 }
    }
}

/// What differs between a report and the recorded one, in few words.
fn differences(name: &str, tolerance: &Tolerance, found: &str, expected: &str) -> Vec<String> {
    let expected: Vec<&str> = expected.lines().filter(|line| !line.starts_with('#')).collect();
    let found: Vec<&str> = found.lines().collect();
    let (mut wrong, mut place, mut row) = (Vec::new(), String::new(), 0);
    for (have, want) in found.iter().zip(&expected) {
        row += 1;
        if have.starts_with("run") || have.starts_with("buffer") {
            place = if have.starts_with("run") { (*have).into() } else { format!("{place}, {have}") };
            row = 0;
        }
        if have == want {
            continue;
        }
        let words = |line: &str| line.split(' ').map(|w| u32::from_str_radix(w, 16)).collect::<Result<Vec<_>, _>>();
        match (words(have), words(want)) {
            (Ok(have), Ok(want)) if have.len() == want.len() => {
                for (at, (have, want)) in have.iter().zip(&want).enumerate() {
                    let at = (row.max(1) - 1) * 16 + at;
                    if have != want && have.abs_diff(*want) > tolerance.of(&place, at) {
                        wrong.push(format!("{name}: {place}, word {at}: {have:08x}, not {want:08x}"));
                    }
                }
            }
            _ => wrong.push(format!("{name}: {place}: `{have}`, not `{want}`")),
        }
    }
    if found.len() != expected.len() {
        wrong.push(format!("{name}: {} lines, not {}", found.len(), expected.len()));
    }
    let more = wrong.len().saturating_sub(12);
    wrong.truncate(12);
    if more > 0 {
        wrong.push(format!("{name}: and {more} more"));
    }
    wrong
}

fn files() -> Vec<PathBuf> {
    let folder = std::env::var_os("GRIDSTRIDE_FOREIGN")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/foreign"), PathBuf::from);
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "ptx"));
    files.sort();
    assert!(!files.is_empty());
    files
}

#[test]
fn foreign_kernels_give_the_bits_of_an_h200() {
    if let Some(ptx) = std::env::var_os(CHILD) {
        match run(Path::new(&ptx)) {
            Ok(report) => println!("{MARK}report\n{report}{MARK}"),
            Err(error) => println!("{MARK}error {error}"),
        }
        return;
    }
    let mut wrong = Vec::new();
    for ptx in files() {
        let name = ptx.file_stem().unwrap().to_string_lossy().into_owned();
        let report = match run_apart(&ptx) {
            Ok(report) => report,
            Err(error) => {
                wrong.push(format!("{name}: {error}"));
                continue;
            }
        };
        if let Some(folder) = std::env::var_os("GRIDSTRIDE_FOREIGN_OUT") {
            std::fs::write(Path::new(&folder).join(name.clone() + ".found"), &report).unwrap();
        }
        let tolerance = head(&ptx).iter().find_map(|line| Tolerance::parse(line)).unwrap_or_default();
        match std::fs::read_to_string(ptx.with_extension("expected")) {
            Ok(expected) => wrong.extend(differences(&name, &tolerance, &report, &expected)),
            Err(_) => println!("{name}: runs; NOT COMPARED, no recording of it"),
        }
    }
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}
