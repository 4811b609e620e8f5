//! Every module in `tests/modules` is read whole, and what is read hangs together.

use std::path::PathBuf;

use gridstride_ptx::{Function, Linkage, Module, Operand, Param, Reloc, Space, Symbol, Type, parse};

fn texts() -> Vec<(PathBuf, String)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/modules");
    let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let modules = paths.filter(|path| path.extension().is_some_and(|extension| extension == "ptx"));
    let found: Vec<_> = modules.map(|path| (path.clone(), std::fs::read_to_string(path).unwrap())).collect();
    assert!(found.len() >= 6);
    found
}

fn read(name: &str) -> Module {
    let (_, text) = texts().into_iter().find(|(path, _)| path.ends_with(name)).unwrap();
    parse(&text).unwrap()
}

#[test]
fn reads_every_module() {
    for (path, text) in texts() {
        let module = parse(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert!(module.functions.iter().any(|f| f.is_entry && !f.blocks.is_empty()), "{}", path.display());
        module.functions.iter().for_each(check);
    }
}

/// Blocks cover the instructions in order, and edges lead to blocks.
fn check(function: &Function) {
    let count = function.blocks.len();
    let mut at = 0;
    for (number, block) in function.blocks.iter().enumerate() {
        assert_eq!(block.start, at);
        assert!(block.end > block.start);
        at = block.end;
        assert!(block.successors.iter().all(|next| (next.0 as usize) < count));
        assert!(block.ipdom.is_none_or(|meet| (meet.0 as usize) < count && meet.0 as usize != number));
        let last = &function.instrs[at as usize - 1];
        let leaves = matches!(&*last.opcode, "ret" | "exit" | "trap") && last.guard.is_none();
        let stays = !leaves && &*last.opcode != "call";
        assert!(if leaves { block.successors.is_empty() } else { !stays || !block.successors.is_empty() });
    }
    assert_eq!(at as usize, function.instrs.len());
}

/// Prints what was read and compares it with what is written, blanks and the spelling of offsets aside.
#[test]
fn prints_what_is_written() {
    let normal = |text: &str| text.replace([' ', '\t'], "").replace("+-", "-").replace("+0]", "]");
    for (path, text) in texts().into_iter().filter(|(path, _)| !path.ends_with("handwritten.ptx")) {
        let module = parse(&text).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let mut compared = 0;
        for function in &module.functions {
            for (at, instr) in function.instrs.iter().enumerate() {
                let line = lines[instr.line as usize - 1].split("//").next().unwrap().trim();
                // One instruction a line, and none whose operands stand elsewhere.
                let whole = line.ends_with(';') && line.matches(';').count() == 1 && !line.contains('<');
                if !whole || line.contains("prototype") || line.contains("brx") {
                    continue;
                }
                let printed = format!("{};", function.display_instr(&module, at));
                assert_eq!(normal(&printed), normal(line), "{} line {}", path.display(), instr.line);
                compared += 1;
            }
        }
        assert!(compared > 25, "{}: {compared}", path.display());
    }
}

#[test]
fn rustc_source_places_and_tables() {
    let module = read("rustc_wide.ptx");
    let switch = module.function("switch").unwrap();
    assert!(switch.instrs.iter().any(|i| i.loc.as_ref().is_some_and(|loc| &*loc.file == "wide/src/lib.rs")));
    let targets = switch.instrs.iter().find(|i| &*i.opcode == "brx").unwrap();
    assert!(matches!(&targets.operands[1], Operand::Targets(blocks) if blocks.len() == 10));
    let shapes = module.globals.iter().find(|g| g.name.contains("SHAPES")).unwrap();
    let relocs = &shapes.init.as_ref().unwrap().relocs;
    assert_eq!(relocs.len(), 4);
    assert!(relocs.iter().all(|r| r.generic && r.width == 8 && r.shift == 0));
    let endless = module.function("endless").unwrap();
    assert!(endless.blocks.iter().any(|block| block.loop_header));
    assert!(module.functions.iter().any(|f| f.noreturn && !f.blocks.is_empty()));
}

#[test]
fn nvrtc_addresses_byte_by_byte() {
    let module = read("nvrtc_lines.ptx");
    let packed = module.global("packed").unwrap();
    assert_eq!((packed.size, packed.align), (Some(9), 1));
    let init = packed.init.as_ref().unwrap();
    assert_eq!(init.bytes[0], b'a');
    for (at, reloc) in (0u32..).zip(&init.relocs) {
        let Reloc { offset, width, shift, addend, generic, symbol } = *reloc;
        assert_eq!((offset, width, shift, addend, generic), (u64::from(at) + 1, 1, at * 8, 3, true));
        assert!(matches!(symbol, Symbol::Global(id) if &*module.globals[id.0 as usize].name == "text"));
    }
    assert_eq!(init.relocs.len(), 8);
    let ops = module.global("ops").unwrap().init.as_ref().unwrap();
    assert!(ops.relocs.iter().all(|reloc| matches!(reloc.symbol, Symbol::Func(_)) && !reloc.generic));
    assert_eq!(module.function("add").unwrap().bounds.max_threads, Some([256, 1, 1]));
    assert_eq!(module.function("add").unwrap().bounds.min_blocks_per_multiprocessor, Some(2));
    let dynamic = module.globals.iter().find(|g| g.linkage == Linkage::Extern).unwrap();
    assert_eq!((dynamic.space, dynamic.size), (Space::Shared, None));
    let clustered = read("nvrtc_debug.ptx").function("clustered").unwrap().bounds;
    assert_eq!((clustered.required_cluster, clustered.explicit_cluster), (Some([2, 1, 1]), true));
}

#[test]
fn handwritten_initialisers() {
    let module = read("handwritten.ptx");
    let init = |name: &str| module.global(name).unwrap().init.clone().unwrap();
    assert_eq!(init("bytes").bytes, [1, 2, 3, 255, 0, 0, 0x7f, 0o17, 3, 0, 0, 0]);
    let ramp: Vec<f32> = init("ramp").bytes.chunks(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect();
    assert_eq!(ramp, [0.0, 0.5, 1.0, 1.5, 2.0, 0.25, -1.0, 1.0]);
    assert_eq!(module.global("ramp").unwrap().size, Some(32));
    assert_eq!(init("whole").bytes, 3f32.to_le_bytes());
    assert_eq!(module.global("implied").unwrap().size, Some(16));
    assert_eq!(init("implied").bytes[12], 32);
    let forward = init("forward").relocs;
    let read: Vec<_> = forward.iter().map(|r| (r.offset, r.addend, r.generic)).collect();
    assert_eq!(read, [(0, 8, true), (8, 0, false), (16, -4, false)]);
    let masked: Vec<_> = init("masked").relocs.iter().map(|r| (r.offset, r.shift, r.addend, r.generic)).collect();
    assert_eq!(masked, [(0, 0, 0, false), (1, 8, 0, true), (2, 16, 8, true)]);
    assert_eq!(init("masked").bytes, [0, 0, 0, 9]);
    assert_eq!(module.global("elsewhere").unwrap().size, None);
    assert_eq!(init("last").bytes, [5, 0, 0, 0]);
}

#[test]
fn handwritten_functions() {
    let module = read("handwritten.ptx");
    let every = module.function("every").unwrap();
    let bounds = every.bounds;
    assert_eq!(bounds.max_threads, Some([32, 4, 1]));
    assert_eq!(bounds.required_threads, Some([32, 4, 1]));
    assert_eq!((bounds.max_registers, bounds.max_cluster_rank), (Some(64), Some(8)));
    assert_eq!((bounds.required_cluster, bounds.explicit_cluster), (Some([2, 1, 1]), false));
    let shapes: Vec<_> = every.params.iter().map(|param| every.shape(*param)).collect();
    assert_eq!(shapes, [(8, 8), (8, 8), (8, 24), (8, 8)]);
    let worker = module.function("worker").unwrap();
    assert!(matches!(worker.params[..], [Param::Reg(_), Param::Reg(_)]));
    assert_eq!(worker.linkage, Linkage::Weak);
    let printed: Vec<String> = (0..every.instrs.len()).map(|at| module.instr_text(every, at)).collect();
    for expected in [
        "ld.param.v2.f32 {vec.x, vec.y}, [two]",
        "mov.u32 %laneid, %tid.x",
        "mov.b64 {%r1, _}, %rd1",
        "mov.u32 %r2, 10",
        "mov.u32 %r3, 4294967295",
        "setp.lt.and.s32 %p1|%p2, %r1, %r2, !%p3",
        "setp.eq.or.u32 %p1|_, %r1, 32, %p2",
        "@!%p1 ld.global.L1::no_allocate.L2::128B.v4.f32 {vec.x, vec.y, vec.z, vec.w}, [%rd1-16]",
        "ld.shared::cta.f32 vec.w, [tile+4]",
        "ld.shared.f32 vec.x, [tile+4]",
        "ld.volatile.u32 %r5, [256]",
        "mov.u64 %rd2, stack+8",
        "vadd.s32.u32.s32.sat %r6, %r5.b0, %r4.h1, %r3",
        "bar.red.popc.u32 %r7, 1, 64, !q",
        "tex.2d.v4.f32.f32 {vec.x, vec.y, vec.z, vec.w}, [%rd1, {vec.x, vec.y}]",
        "mov.u32 t, %clock",
        "call.uni (retval), outside, (a0, a1)",
        "call real, (stack)",
        "call (%r8, %p1), %rd3, (5, %rd1), <prototype>",
        "brx.idx %r8, {first, second, first}",
        "@%p1 bra.uni again",
    ] {
        assert!(printed.iter().any(|line| line == expected), "{expected} is not in {printed:#?}");
    }
    let tid = every.instrs.iter().find(|i| matches!(i.operands.last(), Some(Operand::Special(..)))).unwrap();
    assert!(matches!(&tid.operands[..], [Operand::Reg(_), Operand::Special(name, Some('x'))] if &**name == "tid"));
    let named: Vec<&str> = every.regs.iter().map(|r| &*r.name).filter(|name| *name == "%r1" || *name == "t").collect();
    assert_eq!(named.iter().filter(|name| **name == "t").count(), 2);
    assert_eq!(named.iter().filter(|name| **name == "%r1").count(), 3, "of the function and of two inner scopes");
    assert!(!every.regs.iter().any(|r| &*r.name == "%r19"), "a register that does not occur is not made");
    assert_eq!(every.regs.iter().find(|r| &*r.name == "vec.w").unwrap().ty, Type::F32);
}
