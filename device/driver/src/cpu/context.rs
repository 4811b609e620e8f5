//! Contexts: what owns streams, modules and memory, and keeps the order between its streams.

use std::collections::HashMap;
use std::sync::atomic::{AtomicI32, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::ThreadId;

use crate::cpu::stream::{Faults, Order, Size, Stream, Submitted, Ticket, Work};
use crate::result::{CUresult, Result, fail};
use crate::types::{CUcontext, CUdevice};

/// Names a context for as long as the process lives, unlike its handle: a primary context that is reset keeps that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct ContextId(u64);

impl ContextId {
    pub(crate) fn number(self) -> u64 {
        self.0
    }
}

/// A context of the CPU device.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) id: ContextId,
    pub(crate) handle: CUcontext,
    pub(crate) device: CUdevice,
    pub(crate) primary: bool,
    pub(crate) faults: Arc<Faults>,
    pub(crate) flags: AtomicU32,
    pub(crate) cache_config: AtomicI32,
    pub(crate) shared_config: AtomicI32,
    pub(crate) limits: Mutex<[usize; 3]>,
    legacy: Arc<Stream>,
    streams: Mutex<Streams>,
}

/// All streams but the legacy one. Locked while work is given its place, which makes the order one for all streams.
#[derive(Debug, Default)]
struct Streams {
    created: Vec<Arc<Stream>>,
    of_threads: HashMap<ThreadId, Arc<Stream>>,
}

impl Context {
    pub(crate) fn new(handle: usize, device: CUdevice, primary: bool, flags: u32) -> Arc<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Arc::new_cyclic(|context| {
            let faults = Arc::<Faults>::default();
            Self {
                id: ContextId(NEXT.fetch_add(1, Ordering::Relaxed)),
                handle: CUcontext(handle),
                device,
                primary,
                legacy: Stream::new(context.clone(), faults.clone(), Order::Legacy),
                faults,
                flags: AtomicU32::new(flags),
                cache_config: AtomicI32::new(0),
                // Banks of four bytes.
                shared_config: AtomicI32::new(1),
                // Stack of a thread, printf buffer, device heap: as a GPU starts.
                limits: Mutex::new([1024, 1 << 20, 8 << 20]),
                streams: Mutex::default(),
            }
        })
    }

    /// The legacy default stream.
    pub(crate) fn legacy(&self) -> &Arc<Stream> {
        &self.legacy
    }

    /// The default stream of the calling thread.
    pub(crate) fn of_this_thread(self: &Arc<Self>) -> Arc<Stream> {
        let new = || Stream::new(Arc::downgrade(self), self.faults.clone(), Order::Blocking);
        self.lock().of_threads.entry(std::thread::current().id()).or_insert_with(new).clone()
    }

    /// A new stream.
    pub(crate) fn add_stream(self: &Arc<Self>, order: Order) -> Arc<Stream> {
        let stream = Stream::new(Arc::downgrade(self), self.faults.clone(), order);
        let mut streams = self.lock();
        streams.created.retain(|stream| !stream.is_over());
        streams.created.push(stream.clone());
        stream
    }

    /// Gives work its place in a stream, behind `after` and what the stream's kind says.
    pub(crate) fn submit(&self, stream: &Arc<Stream>, after: Option<Ticket>, work: Work, size: Size) -> Result<Ticket> {
        let mut streams = self.lock();
        let before = streams.before(stream, &self.legacy, after);
        let submitted = stream.submit(work, before, size)?;
        drop(streams);
        match submitted {
            Submitted::Queued(ticket) => Ok(ticket),
            Submitted::Yours(turn, work) => {
                stream.perform(work);
                Ok(turn.finish())
            }
        }
    }

    /// Submits work that an error of the context stops, and which makes an error of its own one of the context.
    pub(crate) fn run(
        &self,
        stream: &Arc<Stream>,
        size: Size,
        run: impl FnOnce() -> Result + Send + 'static,
    ) -> Result {
        self.submit(stream, None, Work::Run(Box::new(run)), size)?;
        match size {
            Size::Small => self.faults.check(),
            // Asynchronous: what becomes of it, even at once, is for the next call to say.
            Size::Large => Ok(()),
        }
    }

    /// Does work on the calling thread when its turn in the stream comes, and waits for that.
    pub(crate) fn run_here<T>(&self, stream: &Arc<Stream>, run: impl FnOnce() -> Result<T>) -> Result<T> {
        let mut streams = self.lock();
        let before = streams.before(stream, &self.legacy, None);
        let turn = stream.take_turn(before);
        drop(streams);
        turn.wait();
        self.faults.check()?;
        run()
    }

    /// True when nothing would have to be waited for in the stream.
    pub(crate) fn is_idle(&self, stream: &Arc<Stream>) -> bool {
        let mut streams = self.lock();
        stream.pending().is_none() && streams.before(stream, &self.legacy, None).is_empty()
    }

    /// Waits for all work of all streams.
    pub(crate) fn synchronize(&self) -> Result {
        self.wait_for_all();
        self.faults.check()
    }

    /// Waits for all work, and ends the streams' threads.
    pub(crate) fn close(&self) {
        self.wait_for_all();
        self.legacy.close();
        let streams = self.lock();
        streams.created.iter().chain(streams.of_threads.values()).for_each(|stream| stream.close());
    }

    fn wait_for_all(&self) {
        let pending: Vec<Ticket> = {
            let streams = self.lock();
            streams.all(&self.legacy).filter_map(Stream::pending).collect()
        };
        pending.iter().for_each(Ticket::wait);
    }

    fn lock(&self) -> MutexGuard<'_, Streams> {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A limit of [`Context::limits`]; others are ones that the CPU device does not know.
    pub(crate) fn limit(&self, which: i32, change: Option<usize>) -> Result<usize> {
        let mut limits = self.limits.lock().unwrap_or_else(PoisonError::into_inner);
        match usize::try_from(which).ok().and_then(|index| limits.get_mut(index)) {
            Some(limit) => {
                *limit = change.unwrap_or(*limit);
                Ok(*limit)
            }
            None if (0..=8).contains(&which) => fail(CUresult::UNSUPPORTED_LIMIT),
            None => fail(CUresult::INVALID_VALUE),
        }
    }
}

impl Streams {
    fn all<'a>(&'a self, legacy: &'a Arc<Stream>) -> impl Iterator<Item = &'a Arc<Stream>> {
        std::iter::once(legacy).chain(&self.created).chain(self.of_threads.values())
    }

    /// What new work in `stream` must wait for in other streams.
    fn before(&mut self, stream: &Arc<Stream>, legacy: &Arc<Stream>, after: Option<Ticket>) -> Vec<Ticket> {
        let mut before: Vec<Ticket> = after.filter(|ticket| !ticket.is_done()).into_iter().collect();
        match stream.order {
            Order::Legacy => {
                self.created.retain(|stream| !stream.is_over());
                let blocking = self.all(legacy).filter(|other| other.order == Order::Blocking);
                before.extend(blocking.filter_map(Stream::pending));
            }
            Order::Blocking => before.extend(legacy.pending()),
            Order::Free => {}
        }
        before
    }
}
