//! Where variables lie, as one kernel sees them: `.global` and `.const` ones have an address of their own, `.shared` ones an
//! offset in the block's shared memory, behind those of the other functions that the kernel reaches.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use gridstride_ptx::{GlobalId, Module, Space, VarId};

use crate::reach::named_globals;

/// A variable, for messages.
#[derive(Debug, Clone)]
pub(crate) struct Named {
    pub(crate) space: Space,
    pub(crate) address: u64,
    pub(crate) size: u64,
    pub(crate) name: Arc<str>,
}

/// Addresses of variables as one kernel sees them.
#[derive(Debug)]
pub(crate) struct Layout {
    globals: Vec<Option<u64>>,
    /// Offsets of `.shared` variables declared inside functions, by function.
    shared_vars: HashMap<(Arc<str>, VarId), u32>,
    pub(crate) static_shared: u32,
    pub(crate) dynamic_shared_at: u32,
}

impl Layout {
    pub(crate) fn of(module: &Module, variables: &[Option<(u64, u64)>], reached: &BTreeSet<usize>) -> Self {
        let mut layout = Self {
            globals: variables.iter().map(|place| place.map(|(address, _)| address)).collect(),
            shared_vars: HashMap::new(),
            static_shared: 0,
            dynamic_shared_at: 0,
        };
        let used: BTreeSet<u32> = reached.iter().flat_map(|at| named_globals(&module.functions[*at])).collect();
        for &id in &used {
            let global = &module.globals[id as usize];
            if let (Space::Shared, Some(size)) = (global.space, global.size) {
                layout.globals[id as usize] = Some(u64::from(layout.place(global.align, size)));
            }
        }
        for &at in reached {
            let function = &module.functions[at];
            for (id, var) in
                function.vars.iter().enumerate().filter(|(_, var)| var.space == Space::Shared && var.size > 0)
            {
                let place = layout.place(var.align, var.size);
                layout.shared_vars.insert((function.name.clone(), VarId(id as u32)), place);
            }
        }
        layout.place_dynamic(module, &used, reached);
        layout
    }

    /// Dynamic shared memory lies behind the static variables; all arrays without a size are the same memory.
    fn place_dynamic(&mut self, module: &Module, used: &BTreeSet<u32>, reached: &BTreeSet<usize>) {
        let unsized_globals = used.iter().map(|id| (*id, &module.globals[*id as usize]));
        let unsized_globals = unsized_globals.filter(|(_, g)| g.space == Space::Shared && g.size.is_none());
        let align = unsized_globals.clone().map(|(_, global)| global.align).fold(16, u32::max);
        self.dynamic_shared_at = self.static_shared.next_multiple_of(align);
        for (id, _) in unsized_globals {
            self.globals[id as usize] = Some(u64::from(self.dynamic_shared_at));
        }
        for &at in reached {
            let function = &module.functions[at];
            for (id, var) in function.vars.iter().enumerate() {
                if var.space == Space::Shared && var.size == 0 {
                    self.shared_vars.insert((function.name.clone(), VarId(id as u32)), self.dynamic_shared_at);
                }
            }
        }
    }

    fn place(&mut self, align: u32, size: u64) -> u32 {
        let at = self.static_shared.next_multiple_of(align.max(1));
        // Too much is an error when it is launched; until then it only must not overflow.
        self.static_shared = at.saturating_add(u32::try_from(size).unwrap_or(u32::MAX)).min(1 << 30);
        at
    }

    /// The variables with an address that the kernel may touch: space, address, bytes, name. The sizes of arrays without
    /// one are 0.
    pub(crate) fn named(&self, module: &Module) -> Vec<Named> {
        let globals = module.globals.iter().zip(&self.globals);
        let mut named: Vec<Named> = globals
            .filter_map(|(global, address)| {
                Some(Named {
                    space: global.space,
                    address: (*address)?,
                    size: global.size.unwrap_or(0),
                    name: global.name.clone(),
                })
            })
            .collect();
        for ((function, id), offset) in &self.shared_vars {
            let function = module.functions.iter().find(|f| f.name == *function);
            if let Some(var) = function.and_then(|function| function.vars.get(id.0 as usize)) {
                let (address, size) = (u64::from(*offset), var.size);
                named.push(Named { space: Space::Shared, address, size, name: var.name.clone() });
            }
        }
        named.sort_by_key(|one| one.address);
        named
    }

    pub(crate) fn global(&self, id: GlobalId) -> Option<u64> {
        self.globals[id.0 as usize]
    }

    pub(crate) fn shared_var(&self, function: &Arc<str>, id: VarId) -> Option<u32> {
        self.shared_vars.get(&(function.clone(), id)).copied()
    }
}
