//! Counters beyond the first few.

use gridstride_simt::{Class, Counters, LaunchConfig, Traffic};

use crate::rig::{Rig, kernel, shape, with_functions};

fn count(cores: usize, text: &str, blocks: u32, threads: u32) -> Counters {
    let rig = Rig::unchecked(cores);
    let memory = rig.words(&vec![0; 1 << 16]);
    let flags = rig.words(&[0; 1024]);
    let config = LaunchConfig { count_memory: true, ..shape(blocks, threads) };
    rig.launch(text, config, &[memory, flags]).unwrap_or_else(|fault| panic!("{fault}"))
}

/// The eight instructions that every kernel of the rig begins with.
const START: [(Class, u64); 3] = [(Class::Parameter, 1), (Class::Move, 3), (Class::Integer, 3)];

#[test]
fn instructions_are_counted_by_class_and_none_twice() {
    let body = "ld.global.u32 %r4, [%d0];
        cvt.rn.f32.u32 %r5, %r4;
        fma.rn.f32 %r5, %r5, %r5, %r5;
        ld.u32 %r6, [%d0];
        add.f16x2 %r7, %r5, %r6;
        st.shared.u32 [tile], 1;
        ld.shared.u32 %r8, [tile];
        atom.shared.add.u32 %r8, [tile], 1;
        fma.rn.f64 %d5, %d6, %d6, %d6;
        shfl.sync.idx.b32 %r9, %r8, 0, 31, 0xffffffff;
        bar.sync 0;
        membar.gl;
        setp.lt.u32 %p1, %r1, 16;
        @%p1 ld.u32 %r6, [%d0];
        @%p1 bra end;
        mov.u32 %r10, 1;
        end: ret;";
    let counters = count(2, &with_functions(".shared .align 4 .b8 tile[16];", body), 3, 64);
    let of = |class| counters.classes.issued(class) / 6;
    let mut expected = vec![
        (Class::Global, 3),
        (Class::Shared, 2),
        (Class::Conversion, 1),
        (Class::Float32, 1),
        (Class::Float16, 1),
        (Class::Float64, 1),
        (Class::Atomic, 1),
        (Class::Warp, 1),
        (Class::Barrier, 1),
        (Class::Other, 1),
        (Class::Control, 2),
        (Class::Integer, 1),
    ];
    // Only the first warp of a block parts; the other one goes past the branch whole.
    for (class, more) in START {
        match expected.iter_mut().find(|(known, _)| *known == class) {
            Some((_, count)) => *count += more,
            None => expected.push((class, more)),
        }
    }
    expected.iter_mut().find(|(class, _)| *class == Class::Move).unwrap().1 += 1;
    for class in Class::ALL {
        let want = expected.iter().find(|(known, _)| *known == class).map_or(0, |(_, count)| *count);
        assert_eq!(of(class), want, "{}", class.name());
    }
    let sum = |f: fn(&Counters, Class) -> u64| Class::ALL.iter().map(|class| f(&counters, *class)).sum::<u64>();
    assert_eq!(sum(|counters, class| counters.classes.issued(class)), counters.instructions);
    assert_eq!(sum(|counters, class| counters.classes.lanes(class)), counters.lane_instructions);
    assert_eq!(counters.divergent_branches, 3);
}

#[test]
fn traffic_is_split_by_what_it_does() {
    let body = "ld.global.u32 %r4, [%d0];
        st.global.u32 [%d0], 1;
        mul.wide.u32 %d4, %r0, 128;
        add.s64 %d4, %d1, %d4;
        st.global.u32 [%d4], 1;
        and.b32 %r5, %r1, 3;
        mul.wide.u32 %d5, %r5, 4;
        add.s64 %d5, %d1, %d5;
        red.global.add.u32 [%d5], 1;
        ret;";
    let counters = count(1, &kernel(body), 2, 64);
    let traffic = |requests, sectors, lines, bytes| Traffic { requests, sectors, lines, bytes };
    assert_eq!(counters.global_loads, traffic(4, 16, 4, 512));
    assert_eq!(counters.global_stores, traffic(8, 16 + 128, 4 + 128, 1024));
    assert_eq!(counters.global_atomics, traffic(4, 32, 4, 512));
    assert_eq!(counters.atomic_conflicts, 4 * 28);
    assert_eq!(counters.atomics, 128);
    let all = [counters.global_loads, counters.global_stores, counters.global_atomics];
    assert_eq!(counters.global_requests, all.iter().map(|traffic| traffic.requests).sum::<u64>());
    assert_eq!(counters.global_sectors, all.iter().map(|traffic| traffic.sectors).sum::<u64>());
}

#[test]
fn a_kernel_whose_blocks_wait_counts_the_same_on_any_number_of_cores() {
    let body = "ld.param.u64 %d3, [p1];
        mul.wide.u32 %d4, %r2, 4;
        add.s64 %d4, %d3, %d4;
        setp.eq.u32 %p1, %r2, 0;
        @%p1 bra go;
        wait: ld.acquire.gpu.global.u32 %r5, [%d4+-4];
        setp.eq.u32 %p2, %r5, 0;
        @%p2 bra wait;
        go: st.release.gpu.global.u32 [%d4], 1;
        ret;";
    let text = kernel(body);
    let one = count(1, &text, 200, 1);
    for cores in [2, 3, 8] {
        assert_eq!(count(cores, &text, 200, 1), one);
    }
}
