//! Where the library is that this package builds.

use std::path::{Path, PathBuf};

/// The shared library, as cargo built it for this test.
pub fn library() -> PathBuf {
    let test = std::env::current_exe().expect("the test knows its own path");
    let deps = test.parent().expect("a file is in a folder");
    let library = deps.join("libgridstride_cuda.so");
    assert!(library.exists(), "cargo builds the library of a package before its tests: {}", library.display());
    library
}

/// A folder in which it is `libcuda.so.1`, for `LD_LIBRARY_PATH`.
#[allow(dead_code, reason = "each test binary uses a part")]
pub fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).unwrap();
    for name in ["libcuda.so.1", "libcuda.so"] {
        let link = folder.join(name);
        let _ = std::fs::remove_file(&link);
        std::os::unix::fs::symlink(library(), &link).unwrap();
    }
    folder
}
