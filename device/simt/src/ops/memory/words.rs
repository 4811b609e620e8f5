//! The modifiers that memory instructions have in common.

use gridstride_ptx::Space;

use super::place::Order;
use crate::ops::Reason;
use crate::ops::modifiers::Modifiers;

/// Only caches care for these.
const HINTS: [&str; 18] = [
    "ca",
    "cg",
    "cs",
    "lu",
    "cv",
    "wb",
    "wt",
    "L1::evict_normal",
    "L1::evict_unchanged",
    "L1::evict_first",
    "L1::evict_last",
    "L1::no_allocate",
    "L2::evict_normal",
    "L2::evict_first",
    "L2::evict_last",
    "L2::64B",
    "L2::128B",
    "L2::256B",
];

impl Modifiers<'_> {
    /// Takes the state space; `None` for generic.
    pub(crate) fn space(&mut self) -> Option<Space> {
        // A cluster is one block here.
        self.take_map(|word| if word == "shared::cluster" { Some(Space::Shared) } else { Space::from_name(word) })
    }

    /// Takes `.v2`, `.v4` or `.v8`.
    pub(crate) fn vector(&mut self) -> usize {
        self.take_map(|word| match word {
            "v2" => Some(2),
            "v4" => Some(4),
            "v8" => Some(8),
            _ => None,
        })
        .unwrap_or(1)
    }

    /// Takes the ordering and its scope. `plain` is what no ordering means.
    pub(crate) fn order(&mut self, plain: Order) -> Result<Order, Reason> {
        let word = self.take_any(&["weak", "volatile", "relaxed", "acquire", "release", "acq_rel"]);
        let mmio = self.take("mmio");
        let scope = self.take_any(&["cta", "cluster", "gpu", "sys"]);
        let order = match word {
            None if mmio => Order::Relaxed,
            None => plain,
            Some("weak") => Order::Weak,
            Some("volatile" | "relaxed") => Order::Relaxed,
            Some("acquire") => Order::Acquire,
            Some("release") => Order::Release,
            Some(_) => Order::AcqRel,
        };
        if scope.is_some() && order == Order::Weak {
            return Err("a scope, and no ordering that it could belong to".into());
        }
        Ok(order)
    }

    /// Takes what only caches care for. True if the instruction has a cache policy as its last operand.
    pub(crate) fn cache_hints(&mut self) -> bool {
        while self.take_any(&HINTS).is_some() {}
        self.take("nc");
        self.take("L2::cache_hint")
    }
}
