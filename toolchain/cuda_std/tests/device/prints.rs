//! Printing, panics, assertions, the heap, reductions on the CPU device.

use std::process::Command;

use gridstride_simt::{Fault, FaultKind};

use crate::launch::{Params, Rig, packed};
use crate::{PTX, SPEAKING, UNCHECKED};

const CHILD: &str = "CUDA_STD_TEST_PRINTS";

#[test]
fn text_comes_out_as_it_was_written() {
    if std::env::var_os(CHILD).is_some() {
        let rig = Rig::new();
        let x = rig.words(&[7, 8]);
        return rig.launch("prints", [1; 3], [32, 1, 1], &[x, 2]);
    }
    let test = "prints::text_comes_out_as_it_was_written";
    let child = Command::new(std::env::current_exe().unwrap());
    let output = { child }.args(["--exact", test, "--nocapture"]).env(CHILD, "1").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    for i in 0..3 {
        assert!(text.contains(&format!("thread {i}: 100 % sure of [7, 8], 2.50\n")), "{text}");
    }
    assert_eq!(text.matches("[no end of line]").count(), 3, "{text}");
}

fn message(fault: &Fault) -> &str {
    let FaultKind::Assert { message, .. } = &fault.kind else { panic!("{fault}") };
    message
}

fn asserts(ptx: &str, x: u32, y: u32) -> Result<(), Box<Fault>> {
    Rig::of(ptx).try_launch("asserts", [1; 3], [1; 3], &[x.to_le_bytes(), y.to_le_bytes()].concat())
}

#[test]
fn assertions_say_what_they_saw() {
    asserts(&PTX, 7, 8).unwrap();
    let fault = asserts(&PTX, 4, 5).unwrap_err();
    assert_eq!(message(&fault), "assertion `left != right` failed: left is 4, right is 4 x must not be 4");
    assert!(fault.to_string().contains("prints.rs"), "{fault}");
    let fault = asserts(&PTX, 7, 9).unwrap_err();
    assert_eq!(message(&fault).trim_end(), "assertion `left == right` failed: left is 8, right is 9");
    // Core's says where only, unless messages were asked for.
    assert_eq!(message(&asserts(&PTX, 6, 7).unwrap_err()), "the kernel panicked");
    let fault = asserts(&SPEAKING, 6, 7).unwrap_err();
    assert!(message(&fault).contains("left: 6\n right: 7"), "{fault}");
}

#[test]
fn panics_speak_where_they_were_asked_to() {
    let rig = Rig::of(&SPEAKING);
    let x = rig.words(&[1, 2, 3, 4]);
    let fault = rig.try_launch("out_of_bounds", [1; 3], [7, 1, 1], &packed(&[x, 4, x])).unwrap_err();
    let text = message(&fault);
    assert!(text.contains("the len is 4 but the index is ") && text.starts_with("the kernel panicked: "), "{text}");
    let fault = rig.try_launch("says_why", [1; 3], [1; 3], &packed(&[x, 4])).unwrap_err();
    assert_eq!(message(&fault), "the kernel panicked: four is too many");
}

#[test]
fn without_panics_there_are_no_checks() {
    let entry = |ptx: &str, name: &str| {
        let start = ptx.find(&format!(".visible .entry {name}(")).unwrap();
        ptx[start..][..ptx[start..].find("\n}").unwrap()].to_owned()
    };
    let calls =
        |text: &str| text.lines().filter(|line| line.contains("call.uni")).map(str::to_owned).collect::<Vec<_>>();
    for name in ["out_of_bounds", "safe_scale"] {
        let (with, without) = (calls(&entry(&PTX, name)), calls(&entry(&UNCHECKED, name)));
        assert!(with.len() > without.len(), "{name}: {with:?} {without:?}");
        assert!(without.iter().all(|line| line.contains("place_in_space")), "{name}: {without:?}");
    }
    // The message is what costs registers; without it no kernel that checks a bound formats anything.
    assert!(!entry(&PTX, "out_of_bounds").contains("fmt"));
}

#[test]
fn the_heap_is_there_on_request() {
    let rig = Rig::of(&SPEAKING);
    let out = rig.words(&[0; 40]);
    let params = Params::default().add(4, 12u32.to_le_bytes()).add(8, out.to_le_bytes()).add(8, 40u64.to_le_bytes());
    rig.try_launch("heap", [2, 1, 1], [8, 1, 1], &params.0).unwrap();
    let expected: Vec<u32> = (0..40).map(|i| 66 * i + 2 + 1000).collect();
    assert_eq!(rig.read_words(out, 40), expected);
    assert!(!PTX.contains("malloc"), "the heap is in a module that did not ask for it");
}

#[test]
fn pointers_know_their_space() {
    let rig = Rig::new();
    let (x, out) = (rig.words(&[77]), rig.words(&[9; 14]));
    rig.launch("spaces", [1; 3], [1; 3], &[x, out]);
    let mut expected = vec![1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1];
    expected.extend([6, 77]);
    assert_eq!(rig.read_words(out, 14), expected);
}

#[test]
fn warps_reduce_with_and_without_redux() {
    let values: Vec<i32> = (0..32).map(|lane| (lane * 7919 % 101 - 50) << (lane % 20)).collect();
    assert!(SPEAKING.contains("redux.sync.add") && !PTX.contains("redux"));
    for ptx in [&*PTX, &*SPEAKING] {
        let rig = Rig::of(ptx);
        let x = rig.words(&values.iter().map(|v| v.cast_unsigned()).collect::<Vec<_>>());
        for mask in [!0u32, 0x1, 0x8000_0001, 0x0F0F_3C01] {
            let out = rig.words(&[0; 320]);
            let params = Params::default().add(4, mask.to_le_bytes());
            let params = params.add(8, x.to_le_bytes()).add(8, 32u64.to_le_bytes()).add(8, out.to_le_bytes());
            rig.try_launch("reduces", [1; 3], [32, 1, 1], &params.0).unwrap_or_else(|fault| panic!("{fault}"));
            let lanes: Vec<usize> = (0..32).filter(|lane| mask >> lane & 1 == 1).collect();
            let of = |f: fn(i32, i32) -> i32| lanes.iter().map(|lane| values[*lane]).reduce(f).unwrap();
            let unsigned = |f: fn(u32, u32) -> u32| of_unsigned(&values, &lanes, f);
            let mut expected = [
                of(i32::wrapping_add),
                of(i32::min),
                of(i32::max),
                unsigned(u32::min),
                unsigned(u32::max),
                of(|a, b| a & b),
                of(|a, b| a | b),
                of(|a, b| a ^ b),
                0,
                0,
            ];
            let got = rig.read_words(out, 320);
            for lane in &lanes {
                if mask == !0 {
                    expected[8] = values.iter().map(|v| f64::from(*v)).sum::<f64>() as i32;
                    expected[9] = values[..=*lane].iter().copied().reduce(i32::wrapping_add).unwrap();
                }
                assert_eq!(got[lane * 10..][..10], expected.map(i32::cast_unsigned), "mask {mask:x}, lane {lane}");
            }
        }
    }
}

fn of_unsigned(values: &[i32], lanes: &[usize], f: fn(u32, u32) -> u32) -> i32 {
    lanes.iter().map(|lane| values[*lane].cast_unsigned()).reduce(f).unwrap().cast_signed()
}

#[test]
fn halves_pass_through_shuffles() {
    let rig = Rig::new();
    let out = rig.words(&[0; 32]);
    rig.launch("halves", [1; 3], [32, 1, 1], &[out]);
    assert_eq!(rig.read_words(out, 32), [0.5f32.to_bits(); 32]);
}
