//! The exported functions, one file an area: the table of its functions, and what they do on the CPU device.

mod array;

mod context;
mod copy;
mod copy2d;
mod copy3d;
mod device;
mod entry_points;
mod event;
mod external;
mod function;
mod graph;
mod host_memory;
mod init;
mod launch;
mod launch_ex;
mod library;
mod link;
mod memory;
mod memset;
mod memset2d;
mod module;
mod not_supported;
mod occupancy;
mod peer;
mod pointer;
mod pool;
mod primary;
mod profiler;
mod stream;
mod stream_state;
mod texture;
mod unified;

use crate::entry::Symbol;

/// The tables of all areas.
pub(crate) fn tables() -> &'static [&'static [Symbol]] {
    &[
        array::TABLE,
        context::TABLE,
        copy::TABLE,
        copy2d::TABLE,
        device::TABLE,
        entry_points::TABLE,
        event::TABLE,
        external::TABLE,
        function::TABLE,
        graph::TABLE,
        host_memory::TABLE,
        init::TABLE,
        launch::TABLE,
        launch_ex::TABLE,
        library::TABLE,
        link::TABLE,
        memory::TABLE,
        memset::TABLE,
        module::TABLE,
        not_supported::TABLE,
        occupancy::TABLE,
        peer::TABLE,
        pointer::TABLE,
        pool::TABLE,
        primary::TABLE,
        profiler::TABLE,
        stream::TABLE,
        stream_state::TABLE,
        copy3d::TABLE,
        memset2d::TABLE,
        texture::TABLE,
        unified::TABLE,
    ]
}
