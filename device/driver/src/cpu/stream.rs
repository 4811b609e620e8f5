//! Streams: ordered queues, each with a thread that works it off.
//!
//! Every piece of work has a number in its stream, given when it is submitted, and a list of tickets (work of other
//! streams) that must be done before. Tickets always point to work that was submitted earlier, so no cycle can arise.
//! Work runs on the stream's thread, or on the caller's where the call is a synchronous one or the stream is idle; either
//! way it waits for its turn.

use std::cell::Cell;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Instant;

use crate::cpu::context::Context;
use crate::result::{CUresult, Error, Result};

/// How a stream is ordered against the legacy default stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// It is the legacy default stream: waits for all blocking streams.
    Legacy,
    /// Waits for the legacy default stream.
    Blocking,
    /// Does not care (`CU_STREAM_NON_BLOCKING`).
    Free,
}

/// The first error of a context that cannot be recovered from; it stays.
#[derive(Debug, Default)]
pub(crate) struct Faults(OnceLock<Error>);

impl Faults {
    pub(crate) fn check(&self) -> Result {
        self.0.get().map_or(Ok(()), |error| Err(error.clone()))
    }

    fn set(&self, error: Error) {
        // A later fault of the same context changes nothing: the first one is reported.
        let _ = self.0.set(error);
    }
}

/// A stream of the CPU device.
#[derive(Debug)]
pub(crate) struct Stream {
    pub(crate) context: Weak<Context>,
    /// No other stream of the process has it.
    pub(crate) id: u64,
    pub(crate) order: Order,
    faults: Arc<Faults>,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Number of the work submitted last.
    submitted: u64,
    /// All work up to this number is done.
    completed: u64,
    queue: VecDeque<Queued>,
    has_worker: bool,
    closed: bool,
}

#[derive(Debug)]
struct Queued {
    number: u64,
    after: Vec<Ticket>,
    work: Work,
}

/// Something to do in a stream.
pub(crate) enum Work {
    /// Runs unless the context has a fault; an error becomes its fault.
    Run(Box<dyn FnOnce() -> Result + Send>),
    /// Takes the time.
    Record(Arc<OnceLock<Instant>>),
    /// Only its place in the order counts.
    Nothing,
}

impl std::fmt::Debug for Work {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Run(_) => "Run",
            Self::Record(_) => "Record",
            Self::Nothing => "Nothing",
        })
    }
}

/// Whether a submission may be done by the caller when nothing is before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Size {
    /// Cheaper to do at once than to hand to another thread.
    Small,
    /// The call has to return before it is done.
    Large,
}

/// Names a piece of work: it is done when its stream has completed this number.
#[derive(Debug, Clone)]
pub(crate) struct Ticket {
    stream: Arc<Stream>,
    number: u64,
}

impl Ticket {
    pub(crate) fn is_done(&self) -> bool {
        self.stream.lock().completed >= self.number
    }

    pub(crate) fn wait(&self) {
        self.stream.wait_until(self.number);
    }
}

/// A place in a stream's order that the caller fills itself; the place counts as done when this is dropped.
#[derive(Debug)]
pub(crate) struct Turn {
    ticket: Ticket,
    after: Vec<Ticket>,
}

impl Turn {
    /// Waits for all that comes before.
    pub(crate) fn wait(&self) {
        self.ticket.stream.wait_until(self.ticket.number - 1);
        self.after.iter().for_each(Ticket::wait);
    }

    /// Names the place, and counts it as done.
    pub(crate) fn finish(self) -> Ticket {
        self.ticket.clone()
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        // Also on the way out of a panic: what comes after must not wait for ever. It still keeps its place.
        self.ticket.stream.wait_until(self.ticket.number - 1);
        self.ticket.stream.complete(self.ticket.number);
    }
}

impl Stream {
    pub(crate) fn new(context: Weak<Context>, faults: Arc<Faults>, order: Order) -> Arc<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        Arc::new(Self { context, id, order, faults, state: Mutex::default(), changed: Condvar::new() })
    }

    /// The context that the stream belongs to, if it is still there and works.
    pub(crate) fn usable_context(&self) -> Result<Arc<Context>> {
        let context = self.context.upgrade().ok_or(CUresult::CONTEXT_IS_DESTROYED)?;
        context.faults.check()?;
        Ok(context)
    }

    /// The work submitted last, if it is not done.
    pub(crate) fn pending(self: &Arc<Self>) -> Option<Ticket> {
        let state = self.lock();
        (state.completed < state.submitted).then(|| Ticket { stream: self.clone(), number: state.submitted })
    }

    /// Takes the next place in the order, for the caller to fill. Called with the context's order held.
    pub(crate) fn take_turn(self: &Arc<Self>, after: Vec<Ticket>) -> Turn {
        let mut state = self.lock();
        state.submitted += 1;
        Turn { ticket: Ticket { stream: self.clone(), number: state.submitted }, after }
    }

    /// Queues work, or hands it back with the caller's turn where it is small and nothing is before it. Called with the
    /// context's order held.
    pub(crate) fn submit(self: &Arc<Self>, work: Work, after: Vec<Ticket>, size: Size) -> Result<Submitted> {
        let mut state = self.lock();
        let idle = state.completed == state.submitted && after.is_empty();
        if !(idle && size == Size::Small) && !state.has_worker {
            let stream = self.clone();
            std::thread::Builder::new()
                .name("cuda stream".into())
                .spawn(move || stream.work_off())
                .map_err(|error| CUresult::OPERATING_SYSTEM.because(format!("no thread for the stream: {error}")))?;
            state.has_worker = true;
        }
        state.submitted += 1;
        let number = state.submitted;
        let ticket = Ticket { stream: self.clone(), number };
        if idle && size == Size::Small {
            return Ok(Submitted::Yours(Turn { ticket, after }, work));
        }
        state.queue.push_back(Queued { number, after, work });
        drop(state);
        self.changed.notify_all();
        Ok(Submitted::Queued(ticket))
    }

    /// No more work will come; the thread ends when what there is has been done.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_all();
    }

    /// Closed, and all done.
    pub(crate) fn is_over(&self) -> bool {
        let state = self.lock();
        state.closed && state.completed == state.submitted
    }

    /// Does a piece of work now.
    pub(crate) fn perform(&self, work: Work) {
        match work {
            Work::Run(run) if self.faults.check().is_ok() => {
                let done = catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| {
                    Err(CUresult::UNKNOWN.because("internal error of the CPU device in a stream: please report it"))
                });
                if let Err(error) = done {
                    self.faults.set(error);
                }
            }
            // After a fault nothing runs any more.
            Work::Run(_) | Work::Nothing => {}
            Work::Record(time) => {
                let _ = time.set(Instant::now());
            }
        }
    }

    fn work_off(&self) {
        while let Some(Queued { number, after, work }) = self.next() {
            // The number before may be in the hands of a caller.
            self.wait_until(number - 1);
            after.iter().for_each(Ticket::wait);
            self.perform(work);
            self.complete(number);
        }
    }

    fn next(&self) -> Option<Queued> {
        let mut state = self.lock();
        loop {
            if let Some(queued) = state.queue.pop_front() {
                return Some(queued);
            }
            if state.closed {
                state.has_worker = false;
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn wait_until(&self, number: u64) {
        let mut state = self.lock();
        while state.completed < number {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn complete(&self, number: u64) {
        self.lock().completed = number;
        self.changed.notify_all();
    }

    // A panic cannot leave the counts half-changed: nothing that can panic runs under the lock.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What became of a submission.
pub(crate) enum Submitted {
    /// The stream's thread does it.
    Queued(Ticket),
    /// The caller does it, now.
    Yours(Turn, Work),
}

thread_local! {
    static IN_HOST_FUNCTION: Cell<bool> = const { Cell::new(false) };
}

/// True on a thread that runs a `cuLaunchHostFunc` callback.
pub(crate) fn in_host_function() -> bool {
    IN_HOST_FUNCTION.with(Cell::get)
}

/// Runs a callback with Driver API calls forbidden.
pub(crate) fn as_host_function(run: impl FnOnce()) {
    IN_HOST_FUNCTION.with(|flag| flag.set(true));
    run();
    IN_HOST_FUNCTION.with(|flag| flag.set(false));
}
