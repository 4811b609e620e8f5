//! The checks, as programs ask for them: `GRIDSTRIDE_CHECK` and `GRIDSTRIDE_SCHEDULE_SEED`, which report to standard error
//! as things are found, or [`crate::watch`], which keeps what is found for [`crate::take_findings`].

use std::collections::HashSet;
use std::sync::{Arc, LazyLock, Mutex, Once, PoisonError};

use gridstride_simt::{AllocKind, Fault, Finding, FindingKind, Settings};

use crate::cpu::context::ContextId;
use crate::cpu::{Cpu, cpu};

/// What was asked for, and whether findings are printed.
#[derive(Debug, Clone, Copy, Default)]
struct Asked {
    settings: Settings,
    aloud: bool,
    /// Printed so far.
    count: u64,
}

static ASKED: Mutex<Option<Asked>> = Mutex::new(None);

fn asked() -> std::sync::MutexGuard<'static, Option<Asked>> {
    ASKED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes the settings of the environment, unless the program has made its own. They hold from then on.
pub(crate) fn of_environment() -> Result<Settings, String> {
    let mut asked = asked();
    if let Some(asked) = *asked {
        return Ok(asked.settings);
    }
    let settings = Settings::from_environment()?;
    *asked = Some(Asked { settings, aloud: settings != Settings::default(), count: 0 });
    Ok(settings)
}

/// The program's own settings.
pub(crate) fn watch(settings: Settings) {
    *asked() = Some(Asked { settings, ..Asked::default() });
    if let Ok(cpu) = cpu() {
        cpu.device.watch(settings);
    }
}

/// The device has been made.
pub(crate) fn begin(cpu: &Cpu) {
    let Some(Asked { settings, aloud, .. }) = *asked() else { return };
    cpu.device.watch(settings);
    static AT_EXIT: Once = Once::new();
    if aloud {
        AT_EXIT.call_once(|| {
            // SAFETY: the function is one of this program, takes nothing, and does not unwind: it catches panics itself.
            unsafe { atexit(end) };
        });
    }
}

// Of the C library, which every program that has a Driver API is linked with.
unsafe extern "C" {
    fn atexit(function: extern "C" fn()) -> i32;
}

/// The process ends: what contexts still own was never freed.
extern "C" fn end() {
    // Nothing may be left to say it to; a panic must not get into the C library.
    let _ = std::panic::catch_unwind(|| {
        let Ok(cpu) = cpu() else { return };
        if asked().is_some_and(|asked| asked.settings.checks.leak) {
            let kept = |kind| !matches!(kind, AllocKind::ModuleGlobal | AllocKind::ModuleConstant);
            report(leaks(cpu, kept, |_| true));
        }
        after_launch(cpu, None);
        if let Some(asked) = asked().filter(|asked| asked.aloud && asked.settings.checks != Default::default()) {
            say(&match asked.count {
                0 => "nothing found".to_owned(),
                1 => "1 finding".to_owned(),
                count => format!("{count} findings"),
            });
        }
    });
}

/// A launch has ended: prints what was found in it.
pub(crate) fn after_launch(cpu: &Cpu, fault: Option<&Fault>) {
    if !asked().is_some_and(|asked| asked.aloud) {
        return;
    }
    report(cpu.device.findings().take());
    if let Some(fault) = fault {
        count(1);
        say(&fault.to_string());
    }
}

/// A context is about to end, and to free what it owns.
pub(crate) fn before_end(cpu: &Cpu, context: ContextId) {
    if asked().is_some_and(|asked| asked.settings.checks.leak) {
        let owned = |address| cpu.allocations.context_of(address) == Some(context);
        found(
            cpu,
            leaks(
                cpu,
                |kind| !matches!(kind, AllocKind::ModuleGlobal | AllocKind::ModuleConstant | AllocKind::Heap),
                owned,
            ),
        );
    }
}

/// Memory was given back that is not there to be given back.
pub(crate) fn bad_free(cpu: &Cpu, address: u64) {
    if asked().is_some_and(|asked| asked.settings.checks != Default::default()) {
        let kind = FindingKind::InvalidFree { address, freed: cpu.memory.freed(address) };
        found(cpu, vec![of_host(kind)]);
    }
}

fn leaks(cpu: &Cpu, kept: impl Fn(AllocKind) -> bool, owned: impl Fn(u64) -> bool) -> Vec<Finding> {
    let live = cpu.memory.live().into_iter();
    let left = live.filter(|(allocation, _)| kept(allocation.kind) && owned(allocation.base));
    left.map(|(allocation, number)| of_host(FindingKind::Leak { allocation, number })).collect()
}

fn of_host(kind: FindingKind) -> Finding {
    Finding { kind, kernel: None, parties: Vec::new(), times: 1 }
}

fn found(cpu: &Cpu, findings: Vec<Finding>) {
    if asked().is_some_and(|asked| asked.aloud) {
        report(findings);
    } else {
        cpu.device.findings().add(findings);
    }
}

fn report(findings: Vec<Finding>) {
    for finding in findings {
        // The same in a later launch of the kernel is no news.
        let lines = finding.parties.iter().map(|party| party.ptx_line);
        let what = (finding.kernel.clone(), finding.kind.check(), lines.collect::<Vec<_>>());
        let mut said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
        if finding.parties.is_empty() || said.insert(what) {
            count(1);
            say(&finding.to_string());
        }
    }
}

/// What has been said of kernels: kernel, check, lines.
type Said = HashSet<(Option<Arc<str>>, &'static str, Vec<u32>)>;

static SAID: LazyLock<Mutex<Said>> = LazyLock::new(Mutex::default);

fn count(more: u64) {
    if let Some(asked) = &mut *asked() {
        asked.count += more;
    }
}

fn say(text: &str) {
    use std::io::Write;
    // Nobody reads it: then there is nobody to tell.
    let _ = writeln!(std::io::stderr().lock(), "gridstride check: {text}");
}
