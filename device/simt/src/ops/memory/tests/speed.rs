//! Times of single accesses, printed: `cargo test --release -p gridstride-simt speed -- --ignored --nocapture`.

use super::*;
use crate::lane::SHARED_WINDOW;

fn time(warp: &mut Warp, exec: ExecFn, args: &Args) -> f64 {
    let times = 300_000;
    (0..5)
        .map(|_| {
            let began = Instant::now();
            warp.repeat(exec, args, times).unwrap();
            began.elapsed().as_secs_f64() * 1e9 / times as f64
        })
        .fold(f64::INFINITY, f64::min)
}

#[test]
#[ignore = "a measurement"]
fn speed() {
    let mut warp = Warp::new();
    let others: Vec<u64> = (0..3).map(|_| warp.alloc(1 << 16)).collect();
    let base = others[1];
    let forms = [
        ("global row b32", Some(Space::Global), strided(base, 4), Type::B32, 1, FULL),
        ("global row b64", Some(Space::Global), strided(base, 8), Type::B64, 1, FULL),
        ("global row v4.b32", Some(Space::Global), strided(base, 16), Type::B32, 4, FULL),
        ("global row b8", Some(Space::Global), strided(base, 1), Type::B8, 1, FULL),
        ("global one b32", Some(Space::Global), strided(base, 0), Type::B32, 1, FULL),
        ("global stride 2 b32", Some(Space::Global), strided(base, 8), Type::B32, 1, FULL),
        ("global lone lane b32", Some(Space::Global), strided(base, 4), Type::B32, 1, 1),
        ("global half mask b32", Some(Space::Global), strided(base, 4), Type::B32, 1, 0xFFFF),
        ("generic row b32", None, strided(base, 4), Type::B32, 1, FULL),
        ("generic shared row b32", None, strided(SHARED_WINDOW, 4), Type::B32, 1, FULL),
        ("shared row b32", Some(Space::Shared), strided(0, 4), Type::B32, 1, FULL),
        ("shared one b32", Some(Space::Shared), strided(64, 0), Type::B32, 1, FULL),
        ("shared stride 33 b32", Some(Space::Shared), strided(0, 33 * 4 % 128), Type::B32, 1, FULL),
        ("local b32", Some(Space::Local), strided(4, 0), Type::B32, 1, FULL),
    ];
    for level in levels() {
        for (name, space, at, ty, count, mask) in &forms {
            warp.set(ADDRESS, *at);
            warp.mask = *mask;
            let form = weak(*space);
            let load = load::exec(level, *ty, *ty, *count, form.is_quick()).unwrap();
            let store = store::exec(level, *ty, *ty, *count, form.is_quick()).unwrap();
            let args = args(form, *count, 0);
            let (load, store) = (time(&mut warp, load, &args), time(&mut warp, store, &args));
            println!("{level:?} {name}: load {load:.1} ns, store {store:.1} ns");
        }
    }
}
