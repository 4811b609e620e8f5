//! The exported functions, one file an area: the table of its functions, and what they do on the CPU device.

mod array;
mod context;
mod copy;
mod copy2d;
mod device;
mod event;
mod external;
mod function;
mod graph;
mod init;
mod launch;
mod link;
mod memory;
mod memset;
mod module;
mod occupancy;
mod primary;
mod stream;
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
        event::TABLE,
        external::TABLE,
        function::TABLE,
        graph::TABLE,
        init::TABLE,
        launch::TABLE,
        link::TABLE,
        memory::TABLE,
        memset::TABLE,
        module::TABLE,
        occupancy::TABLE,
        primary::TABLE,
        stream::TABLE,
        texture::TABLE,
        unified::TABLE,
    ]
}
