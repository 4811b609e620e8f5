//! Finding functions by name and version (`cuGetProcAddress`), and the private tables that only NVIDIA's driver has.

use std::collections::HashMap;
use std::ffi::{c_char, c_void};
use std::sync::OnceLock;

use crate::arg::{In, Out};
use crate::cpu;
use crate::entry::driver_functions;
use crate::result::{CUresult, Result, fail};
use crate::types::{CEnum, CUuuid};

driver_functions! {
    /// Finds a function; one that does not exist is an error.
    open cuGetProcAddress(symbol: *const c_char, function: *mut *mut c_void, version: i32, flags: u64) => get;
    /// Finds a function, and says why not.
    open cuGetProcAddress_v2(
        symbol: *const c_char,
        function: *mut *mut c_void,
        version: i32,
        flags: u64,
        status: *mut CEnum,
    ) => get_with_status;
    /// Finds one of the tables of undocumented functions. There are none on the CPU device.
    open cuGetExportTable(table: *mut *const c_void, id: *const CUuuid) => export_table;
}

/// How a search went (`CUdriverProcAddressQueryResult`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
    Function(*const ()),
    NoSuchName,
    NewerThanAsked,
}

/// A name that [`get`] takes.
#[derive(Debug, Default)]
struct Forms {
    /// Version of CUDA and exported name, oldest first.
    shared: Vec<(i32, String)>,
    /// Those with a suffix.
    per_thread: Vec<(i32, String)>,
}

/// The table of `functions.txt`.
fn forms() -> &'static HashMap<&'static str, Forms> {
    static FORMS: OnceLock<HashMap<&str, Forms>> = OnceLock::new();
    FORMS.get_or_init(|| {
        include_str!("functions.txt").lines().filter(|line| !line.starts_with('#')).filter_map(parse).collect()
    })
}

fn parse(line: &'static str) -> Option<(&'static str, Forms)> {
    let mut words = line.split(' ');
    let name = words.next()?;
    let mut forms = Forms::default();
    let mut suffix = None;
    for word in words {
        if matches!(word, "ptds" | "ptsz") {
            suffix = Some(word);
            continue;
        }
        let (version, exported) = word.split_once('=').map_or((word, None), |(version, name)| (version, Some(name)));
        let version = version.parse().ok()?;
        match suffix {
            None => {
                let exported = exported.map_or_else(|| numbered(name, forms.shared.len() + 1), String::from);
                forms.shared.push((version, exported));
            }
            Some(_) => forms.per_thread.push((version, String::new())),
        }
    }
    let behind = forms.shared.len().checked_sub(forms.per_thread.len())?;
    for (form, (_, plain)) in forms.per_thread.iter_mut().zip(&forms.shared[behind..]) {
        form.1 = format!("{plain}_{}", suffix?);
    }
    Some((name, forms))
}

/// The exported name of the `number`th form.
fn numbered(name: &str, number: usize) -> String {
    if number == 1 { name.to_owned() } else { format!("{name}_v{number}") }
}

/// Addresses by exported name.
fn exported() -> &'static HashMap<&'static str, usize> {
    static EXPORTED: OnceLock<HashMap<&str, usize>> = OnceLock::new();
    EXPORTED.get_or_init(|| crate::symbols().map(|(name, address)| (name, address as usize)).collect())
}

fn find(name: &str, version: i32, per_thread: bool) -> Found {
    let Some(forms) = forms().get(name) else {
        return Found::NoSuchName;
    };
    let newest = |forms: &[(i32, String)]| {
        let (_, exported) = forms.iter().rev().find(|(since, _)| *since <= version)?;
        exported_address(exported)
    };
    let of_thread = if per_thread { newest(&forms.per_thread) } else { None };
    of_thread.or_else(|| newest(&forms.shared)).map_or(Found::NewerThanAsked, Found::Function)
}

fn exported_address(name: &str) -> Option<*const ()> {
    exported().get(name).map(|&address| std::ptr::with_exposed_provenance(address))
}

fn search(symbol: In<c_char>, function: Out<*mut c_void>, version: i32, flags: u64) -> Result<Found> {
    const LEGACY: u64 = 1;
    const PER_THREAD: u64 = 2;
    let symbol = symbol.c_str()?;
    function.wanted()?;
    let (major, minor) = cpu::DRIVER_VERSION;
    let newest = (major * 1000 + minor * 10) as i32;
    // NVIDIA's driver takes both at once, too (observed with 580.159.04).
    if flags > LEGACY | PER_THREAD {
        return fail(CUresult::INVALID_VALUE);
    }
    if version > newest {
        let detail = format!("a function of CUDA {version} was asked for, and the CPU device follows {newest}");
        return Err(CUresult::INVALID_VALUE.because(detail));
    }
    let found = symbol.to_str().map_or(Found::NoSuchName, |name| find(name, version, flags & PER_THREAD != 0));
    if let Found::Function(address) = found {
        function.set(address.cast_mut().cast())?;
    }
    Ok(found)
}

fn get(symbol: In<c_char>, function: Out<*mut c_void>, version: i32, flags: u64) -> Result {
    match search(symbol, function, version, flags)? {
        Found::Function(_) => Ok(()),
        Found::NoSuchName | Found::NewerThanAsked => fail(CUresult::NOT_FOUND),
    }
}

fn get_with_status(
    symbol: In<c_char>,
    function: Out<*mut c_void>,
    version: i32,
    flags: u64,
    status: Out<CEnum>,
) -> Result {
    let found = search(symbol, function, version, flags)?;
    // The first form leaves the pointer as it is when there is nothing to point to; this one does not.
    if !matches!(found, Found::Function(_)) {
        function.set(std::ptr::null_mut())?;
    }
    status.set_if_wanted(match found {
        Found::Function(_) => 0,
        Found::NoSuchName => 1,
        Found::NewerThanAsked => 2,
    });
    Ok(())
}

fn export_table(table: Out<*const c_void>, id: In<CUuuid>) -> Result {
    table.wanted()?;
    let bytes = id.get()?.bytes;
    table.set(std::ptr::null())?;
    let id: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    Err(CUresult::INVALID_VALUE.because(format!("the CPU device has no table {id} of undocumented functions")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_every_function_is_exported() {
        assert!(forms().len() > 400);
        let all = forms().values().flat_map(|forms| forms.shared.iter().chain(&forms.per_thread));
        let missing: Vec<_> = all.filter(|(_, name)| !exported().contains_key(&**name)).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }

    #[test]
    fn the_version_picks_the_form() {
        let address = |name: &str| Found::Function(exported_address(name).unwrap());
        assert_eq!(find("cuMemAlloc", 13000, false), address("cuMemAlloc_v2"));
        assert_eq!(find("cuMemAlloc", 3010, false), address("cuMemAlloc"));
        assert_eq!(find("cuMemAlloc", 1000, false), Found::NewerThanAsked);
        assert_eq!(find("cuCtxCreate", 3020, false), address("cuCtxCreate_v2"));
        assert_eq!(find("cuCtxCreate", 12050, true), address("cuCtxCreate_v4"));
        assert_eq!(find("cuMemcpyHtoD", 13000, true), address("cuMemcpyHtoD_v2_ptds"));
        assert_eq!(find("cuMemcpyHtoD", 6000, true), address("cuMemcpyHtoD_v2"));
        assert_eq!(find("cuStreamGetCtx", 12040, true), address("cuStreamGetCtx_ptsz"));
        assert_eq!(find("cuStreamGetCtx", 12050, true), address("cuStreamGetCtx_v2_ptsz"));
        assert_eq!(find("cuGraphInstantiate", 12000, false), address("cuGraphInstantiateWithFlags"));
        assert_eq!(find("cuMemAlloc_v2", 13000, false), Found::NoSuchName);
    }
}
