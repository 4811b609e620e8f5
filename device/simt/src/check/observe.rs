//! Runs straight-line code with every instruction looked at: the engine's own loop, for launches that are watched.
//!
//! The engine asks once, when a warp starts to run, which of the two loops it takes. So the fast loop and the lane
//! functions know nothing of checks and counters, and launches without them pay nothing.

use super::Observer;
use super::Schedule;
use super::note::{Accessing, Notes};
use super::observer::Scene;
use super::touch::Touch;
use crate::code::{End, Step};
use crate::counters::Class;
use crate::engine::{Engine, PATIENCE, Run, Stop, TURNS};
use crate::fault::Access;
use crate::lane::{LaneFault, Lanes};
use crate::warp::{Split, Warp};

impl<'l> Engine<'l> {
    /// As [`Engine::straight`].
    pub(crate) fn straight_observed(&mut self, warp: &mut Warp, split: &mut Split) -> Run<Stop<'l>> {
        let Some(mut observer) = self.observer.take() else { unreachable!("only launches that are watched come here") };
        let mut watch = self.block.watch.take().unwrap_or_default();
        let mut local_written = std::mem::take(&mut warp.local_written);
        let mut scene = Scene {
            function: 0,
            at: u32::MAX,
            block: self.block.flat,
            first_thread: warp.first_thread,
            watch: &mut watch,
            local_written: &mut local_written,
        };
        let result = self.observed(&mut observer, &mut scene, warp, split);
        self.observer = Some(observer);
        self.block.watch = Some(watch);
        warp.local_written = local_written;
        result
    }

    fn observed(
        &mut self,
        observer: &mut Observer,
        scene: &mut Scene<'_>,
        warp: &mut Warp,
        split: &mut Split,
    ) -> Run<Stop<'l>> {
        let activation = warp.activation(split.activation);
        let code = self.code(activation.function);
        let notes = code.notes.as_ref().expect("watched kernels have notes");
        let frame = activation.frame.pointer();
        let mut meeting = warp.meeting_block(split);
        let mut lanes = Lanes {
            frame,
            mask: split.mask,
            shared: self.block.shared.pointer(),
            shared_bytes: self.coordinates.total_shared,
            local: warp.local.pointer(),
            local_bytes: self.kernel.local_bytes,
            first_thread: warp.first_thread,
            launch: self.context,
            counters: &mut self.counters,
            recent: self.recent,
            spins: 0,
        };
        let (mut mask, mut at) = (split.mask, split.block);
        let mut turns = warp.turns;
        let result = loop {
            if at == meeting {
                break Ok(Stop::Meet);
            }
            let block = &code.blocks[at as usize];
            lanes.counters.instructions += u64::from(block.cost);
            lanes.counters.lane_instructions += u64::from(block.cost) * u64::from(mask.count_ones());
            for &(class, times) in notes.classes(at) {
                lanes.counters.classes.add(class, u64::from(times), mask.count_ones());
            }
            (scene.function, scene.at) = (code.function as u32, u32::MAX);
            let ran = block.steps.iter().try_for_each(|step| {
                // SAFETY: the steps and the notes are of this function, `frame` is a frame of it.
                unsafe { step_observed(observer, scene, &mut lanes, mask, notes, step) }
            });
            if let Err(fault) = ran {
                break Err(fault);
            }
            let from = at;
            match &block.end {
                End::Jump(next) => at = *next,
                End::Branch { guard, taken, next } => {
                    // SAFETY: as above.
                    let passed = unsafe { guard.lanes(frame, mask) };
                    if passed == mask {
                        at = *taken;
                    } else if passed == 0 {
                        at = *next;
                    } else {
                        lanes.counters.divergent_branches += 1;
                        let sides = [(passed, *taken), (mask & !passed, *next)];
                        split.part(warp, &sides, block.meet);
                        (mask, at, meeting) = (split.mask, split.block, warp.meeting_block(split));
                    }
                }
                _ => break Ok(Stop::Control(block)),
            }
            if observer.schedule.as_mut().is_some_and(Schedule::gives_way) {
                break Ok(Stop::GiveWay);
            }
            if at <= from {
                turns += 1;
                if turns.is_multiple_of(TURNS) && (warp.spins + lanes.spins > 0 || turns >= PATIENCE) {
                    break Ok(Stop::Turns);
                }
            }
        };
        split.block = at;
        warp.turns = turns;
        warp.spins = warp.spins.saturating_add(lanes.spins);
        self.recent = lanes.recent;
        result.map_err(|(fault, at)| self.fault(warp.first_thread, code, at, *fault))
    }
}

/// Runs one instruction and shows it to the observer.
///
/// # Safety
/// As for the step's own [`crate::lane::ExecFn`]; the notes must be of the same function.
unsafe fn step_observed(
    observer: &mut Observer,
    scene: &mut Scene<'_>,
    lanes: &mut Lanes<'_>,
    mask: u32,
    notes: &Notes,
    step: &Step,
) -> Result<(), (Box<LaneFault>, u32)> {
    let note = notes.of(step.at);
    if std::mem::replace(&mut scene.at, step.at) == step.at {
        // Another step of the same instruction, which has been looked at as a whole.
        // SAFETY: by the caller.
        return unsafe {
            lanes.mask = step.guard.lanes(lanes.frame, mask);
            if lanes.mask == 0 { Ok(()) } else { (step.exec)(lanes, &step.args).map_err(|fault| (fault, step.at)) }
        };
    }
    // SAFETY: by the caller.
    let active = unsafe { step.guard.lanes(lanes.frame, mask) };
    if active == 0 {
        if note.class.is_none() {
            lanes.counters.classes.add(Class::Global, 1, mask.count_ones());
        }
        return Ok(());
    }
    lanes.mask = active;
    // SAFETY: by the caller.
    let touch = |accessing: &Option<Box<Accessing>>| unsafe {
        accessing.as_deref().map(|accessing| Touch::of(lanes, accessing))
    };
    let touches = [touch(&note.source), touch(&note.access)];
    if let (None, [_, Some(touch)]) = (note.class, &touches) {
        lanes.counters.classes.add(Class::of_space(touch.space(active)), 1, mask.count_ones());
    }
    let changing = observer.progress().and(note.access.as_deref()).filter(|access| access.access != Access::Read);
    let places = changing.zip(touches[1]).map(|(access, touch)| (access.size, touch));
    let before = places.map(|(size, touch)| touch.contents(lanes, size));
    // SAFETY: by the caller.
    unsafe { (step.exec)(lanes, &step.args) }.map_err(|fault| (fault, step.at))?;
    if let Some((size, touch)) = places
        && before != Some(touch.contents(lanes, size))
    {
        observer.advance();
    }
    // SAFETY: by the caller.
    unsafe { observer.ran(lanes, scene, note, step.at, touches) };
    Ok(())
}
