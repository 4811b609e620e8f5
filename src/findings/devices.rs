//! The list of devices.

use gridstride_cpu::Facts;
use serde::Serialize;

use crate::report::document::{Document, Table};
use crate::report::{Findings, csv, json};
use crate::units::bytes;

/// Every device that kernels can run on.
#[derive(Debug)]
pub struct Devices(pub Vec<Facts>);

#[derive(Serialize)]
struct Row<'a> {
    name: &'a str,
    kind: &'static str,
    multiprocessors: u32,
    warp_size: u32,
    memory_bytes: u64,
    driver: String,
}

impl Findings for Devices {
    fn document(&self) -> Document {
        let mut table = Table::new(&["device", "kind", "multiprocessors", "memory", "driver"]);
        for facts in &self.0 {
            let (major, minor) = facts.driver;
            let driver = if facts.is_gpu() { format!("{major}.{minor}") } else { "built in".to_owned() };
            let kind = facts.kind_name().to_owned();
            let memory = bytes(facts.memory_bytes);
            table.row([facts.name.clone(), kind, facts.multiprocessors.to_string(), memory, driver]);
        }
        let mut document = Document::default();
        document.table(table);
        if self.0.iter().all(Facts::is_gpu) {
            document.say("The built-in CPU device is there as well: --device cpu.");
        }
        if let Some(reason) = self.0.iter().find_map(|facts| facts.no_gpu.as_ref()) {
            document.say(format!("There is {reason}."));
        }
        document
    }

    fn json(&self) -> String {
        json::print(&self.0.iter().map(json::Device::from).collect::<Vec<_>>())
    }

    fn csv(&self) -> String {
        csv::rows(self.0.iter().map(|facts| Row {
            name: &facts.name,
            kind: facts.kind_name(),
            multiprocessors: facts.multiprocessors,
            warp_size: facts.warp_size,
            memory_bytes: facts.memory_bytes,
            driver: format!("{}.{}", facts.driver.0, facts.driver.1),
        }))
    }
}
