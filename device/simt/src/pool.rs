//! The cores: threads that wait for launches and work on them together with the thread that asked.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;

use crate::counters::Counters;
use crate::fault::Fault;
use crate::run::Launch;

/// The threads of a device, started with its first launch that has work for more than one.
#[derive(Debug)]
pub(crate) struct Workers {
    count: usize,
    queue: Arc<Queue>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

#[derive(Debug, Default)]
struct Queue {
    jobs: Mutex<Jobs>,
    more: Condvar,
}

#[derive(Debug, Default)]
struct Jobs {
    waiting: VecDeque<Arc<Launch>>,
    closed: bool,
}

impl Workers {
    pub(crate) fn new(count: usize) -> Self {
        Self { count, queue: Arc::default(), threads: Mutex::default() }
    }

    /// Runs a launch to its end. The calling thread is one of the cores.
    pub(crate) fn run(&self, launch: Arc<Launch>) -> Result<Counters, Box<Fault>> {
        let helpers = launch.useful_cores().min(self.count as u64).saturating_sub(1);
        if helpers > 0 {
            self.start();
            let mut jobs = self.queue.lock();
            (0..helpers).for_each(|_| jobs.waiting.push_back(launch.clone()));
            drop(jobs);
            self.queue.more.notify_all();
        }
        launch.work(0);
        if helpers > 0 {
            // No block is left for those that have not come yet.
            self.queue.lock().waiting.retain(|waiting| !Arc::ptr_eq(waiting, &launch));
        }
        let result = launch.finish();
        // The others are on their way out. What the launch keeps alive is gone when its caller goes on.
        while Arc::strong_count(&launch) > 1 {
            std::thread::yield_now();
        }
        result
    }

    fn start(&self) {
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        for number in threads.len() + 1..self.count {
            let queue = self.queue.clone();
            let core = number as u32;
            let name = format!("gridstride core {number}");
            let thread = std::thread::Builder::new().name(name).spawn(move || queue.serve(core));
            // With fewer threads than cores the launch only takes longer.
            let Ok(thread) = thread else { return };
            threads.push(thread);
        }
    }
}

impl Queue {
    fn lock(&self) -> std::sync::MutexGuard<'_, Jobs> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn serve(&self, core: u32) {
        loop {
            let mut jobs = self.lock();
            let launch = loop {
                if let Some(launch) = jobs.waiting.pop_front() {
                    break launch;
                }
                if jobs.closed {
                    return;
                }
                jobs = self.more.wait(jobs).unwrap_or_else(PoisonError::into_inner);
            };
            drop(jobs);
            launch.work(core);
        }
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.queue.lock().closed = true;
        self.queue.more.notify_all();
        for thread in self.threads.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            // A panic there was reported when it happened.
            let _ = thread.join();
        }
    }
}
