//! The host side of gridstride: open a device, launch a kernel, time it, verify it, compare launch shapes.
