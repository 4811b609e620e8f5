//! The `gridstride` command as a library.
