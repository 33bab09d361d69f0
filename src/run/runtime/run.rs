//! Loads kernels with their buffers into workers; also runs one kernel once, for its results.

use super::buffer::Buffer;
use super::compiled::Compiled;
use super::control::Control;
use super::data::{Data, Values};
use super::elements::View;
use super::entries::numbers;
use super::error::RuntimeError;
use super::pace::{self, RUN, RetryBudget, Runs};
use super::place::Place;
use super::process_lock;
use super::protocol::{Call, Restore};
use super::tolerances::{LONGEST_REPEATED, PROBE_PAUSE};
use super::worker::{Kind, Worker};
use crate::codegen::Role;
use crate::ir::{Elem, Name, Shape, Tensor};
use std::sync::Arc;
use std::time::Duration;

/// The outputs of a kernel: its arguments of role `Out` and `InOut`.
#[derive(Debug)]
pub struct Outputs(Vec<Buffer>);

impl Outputs {
    /// The output of this name.
    pub fn get(&self, name: &str) -> Option<&Buffer> {
        self.iter().find(|buffer| buffer.tensor().label() == name)
    }

    /// The outputs in the order of the kernel's arguments.
    pub fn iter(&self) -> impl Iterator<Item = &Buffer> {
        self.0.iter()
    }
}

/// One finished run.
#[derive(Debug)]
pub struct Run {
    /// The time of the call. Not a measurement: memory and code were cold.
    pub time: Duration,
    pub outputs: Outputs,
}

/// Which other kernels run at the same time as an untimed one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beside {
    /// None.
    Nothing,
    /// Others do, and it leaves them a core: its threads are not bound to any.
    Others,
    /// Others do, and wait for this one: it has a core of its own if there are several.
    First,
}

/// Runs a kernel once, with `control.threads` threads. `data` has one entry per argument: the
/// contents before the call, even of arguments that the kernel only writes. [`Data::Unset`] there
/// makes forgotten elements show as NaN.
///
/// # Errors
/// [`RuntimeError`] for all failures of the kernel or the system.
pub fn run_once(
    compiled: &Compiled,
    data: &[Data],
    control: &Control,
) -> Result<Run, RuntimeError> {
    run_beside(Beside::Nothing, compiled, data, control)
}

/// As [`run_once`], while other kernels run.
///
/// # Errors
/// As [`run_once`].
pub fn run_beside(
    beside: Beside,
    compiled: &Compiled,
    data: &[Data],
    control: &Control,
) -> Result<Run, RuntimeError> {
    process_lock::wait();
    let mut bench = Bench::new(control);
    bench.leaves_a_core = beside == Beside::First;
    let placed = bench.place(compiled, data, control.threads, beside == Beside::Others)?;
    let time = {
        let _quiet = process_lock::pause_measuring();
        bench.run(&placed)?
    };
    Ok(Run {
        time,
        outputs: placed.outputs,
    })
}

/// A kernel loaded into a worker, with outputs of its own and shared inputs.
pub(super) struct Placed {
    symbol: String,
    worker: usize,
    call: Call,
    pub(super) outputs: Outputs,
    /// The numbers of the outputs in the worker.
    written: Vec<usize>,
}

impl Placed {
    /// Chooses the number of calls per run, so that it lasts long enough to be timed, if one call
    /// takes `time`. Also adds an untimed call before it, unless that would take long. A kernel
    /// that reads what it wrote is timed for one call, since it needs the right inputs.
    pub(super) fn lengthen(&mut self, time: Duration) {
        self.call.warm_up = time < REGARDLESS;
        if !self.call.restore.iter().any(Restore::copies) {
            let calls = RUN.as_nanos() / time.as_nanos().max(1);
            self.call.repeats = u32::try_from(calls)
                .unwrap_or(u32::MAX)
                .clamp(1, MAX_REPEATS);
        }
    }

    /// The same if no other kernel runs in between. Buffers that it does not read are not restored:
    /// the first run has shown whether it writes all of them. So caches hold the data of the last
    /// run and the restored buffers, which only short kernels notice.
    pub(super) fn lengthen_alone(&mut self, time: Duration) {
        self.lengthen(time);
        self.call.restore.retain(Restore::copies);
        self.call.warm_up = time < UNMOVED && !self.call.restore.is_empty();
    }

    /// Exchanges the memory of outputs with another kernel, where it fits; false if that is in
    /// another worker. The pages of a tensor affect a kernel's time.
    pub(super) fn exchange_outputs(&mut self, other: &mut Placed) -> bool {
        if self.worker != other.worker {
            return false;
        }
        let outputs = self.outputs.0.iter_mut().zip(&mut other.outputs.0);
        let numbers = self.written.iter_mut().zip(&mut other.written);
        for (k, ((own, others), (number, other_number))) in outputs.zip(numbers).enumerate() {
            let place = Place::Output(k);
            if !(own.fits(others.tensor(), place) && others.fits(own.tensor(), place)) {
                continue;
            }
            own.exchange(others);
            self.call.rewire((*number, *other_number), own.word());
            other.call.rewire((*other_number, *number), others.word());
            std::mem::swap(number, other_number);
        }
        true
    }
}

/// If no other kernel runs, the time of a run this long does not depend on the restored buffers, to
/// some percent.
const UNMOVED: Duration = Duration::from_millis(5);

/// Runs this long are insensitive (about 1 %) to the contents of the caches, which fill in less
/// than a millisecond.
const REGARDLESS: Duration = Duration::from_millis(50);

const MAX_REPEATS: u32 = 1_000;

/// Workers, and the buffers that their kernels read.
pub(super) struct Bench<'a> {
    control: &'a Control,
    /// Inputs and initial contents of outputs; kernels cannot write to them.
    inputs: Vec<(Data, Buffer)>,
    /// Outputs of finished kernels, each with its seat and its number there.
    spare: Vec<(usize, usize, Buffer)>,
    seats: Vec<Seat>,
    last: Option<usize>,
    /// Whether kernels leave a core to another process.
    leaves_a_core: bool,
    /// Whether its workers detect disturbances.
    watches: bool,
}

/// One worker per number of threads, which an OpenMP runtime reads when it is loaded, and one for
/// code that runs apart.
struct Seat {
    threads: usize,
    apart: bool,
    worker: Worker,
    /// Pairs of an input and its number in the worker.
    inputs: Vec<(usize, usize)>,
    /// The loop that detects other programs on its cores, if there is one.
    pace: Option<Placed>,
}

/// How long to wait before another worker's turn: the threads of OpenMP runtimes and of libraries
/// spin for some milliseconds after a kernel.
const SETTLE: Duration = Duration::from_millis(30);

impl<'a> Bench<'a> {
    pub(super) fn new(control: &'a Control) -> Bench<'a> {
        Bench {
            control,
            inputs: Vec::new(),
            spare: Vec::new(),
            seats: Vec::new(),
            last: None,
            leaves_a_core: false,
            watches: false,
        }
    }

    /// A bench for kernels that are timed.
    pub(super) fn patient(control: &'a Control) -> Bench<'a> {
        Bench {
            watches: control.patient,
            ..Bench::new(control)
        }
    }

    /// Loads a kernel and gives it buffers.
    pub(super) fn place(
        &mut self,
        compiled: &Compiled,
        data: &[Data],
        threads: usize,
        apart: bool,
    ) -> Result<Placed, RuntimeError> {
        let seat = self.seat(threads, apart)?;
        self.place_at(seat, compiled, data)
    }

    fn place_at(
        &mut self,
        seat: usize,
        compiled: &Compiled,
        data: &[Data],
    ) -> Result<Placed, RuntimeError> {
        let kernel = compiled.kernel();
        let symbol = kernel.symbol.clone();
        if data.len() != kernel.params.len() {
            return Err(RuntimeError::Arguments {
                kernel: symbol,
                expected: kernel.params.len(),
                given: data.len(),
            });
        }
        let pairs = || kernel.params.iter().map(|param| &param.tensor).zip(data);
        let of = |name: &Name| pairs().find(|(tensor, _)| tensor.name() == Some(name));
        pairs().try_for_each(|(tensor, data)| data.check_rows(tensor, &of))?;
        let number = self.seats[seat].worker.load(compiled, self.control)?;
        let (mut buffers, mut restore) = (Vec::new(), Vec::new());
        let (mut outputs, mut written) = (Vec::new(), Vec::new());
        if !kernel.sizes.is_empty() {
            let sizes = numbers(kernel);
            let shape = Shape::of_extents([sizes.len() as u64]);
            let tensor = Tensor::new(shape, Elem::I64);
            let sizes = Data::Values(Arc::new(Values::I64(sizes)));
            buffers.push(self.input(seat, &symbol, &tensor, &sizes)?);
        }
        for (param, data) in kernel.params.iter().zip(data) {
            self.control
                .go_on(|| format!("preparing kernel `{symbol}`"))?;
            if param.role == Role::In {
                buffers.push(self.input(seat, &symbol, &param.tensor, data)?);
                continue;
            }
            let place = Place::Output(outputs.len());
            let (to, output) = self.output(seat, &symbol, &param.tensor, place)?;
            restore.push(match data {
                Data::Unset => Restore::Fill {
                    to,
                    word: output.word(),
                },
                _ => Restore::Copy {
                    from: self.input(seat, &symbol, &param.tensor, data)?,
                    to,
                },
            });
            buffers.push(to);
            written.push(to);
            outputs.push(output);
        }
        Ok(Placed {
            symbol,
            worker: seat,
            written,
            call: Call {
                kernel: number,
                buffers,
                restore,
                repeats: 1,
                warm_up: false,
            },
            outputs: Outputs(outputs),
        })
    }

    /// Restores a kernel's outputs, calls it, and checks that it wrote nothing else.
    pub(super) fn run(&mut self, placed: &Placed) -> Result<Duration, RuntimeError> {
        self.control
            .go_on(|| format!("running kernel `{}`", placed.symbol))?;
        let last = self.last.replace(placed.worker);
        if last.is_some_and(|last| last != placed.worker) {
            std::thread::sleep(SETTLE);
        }
        let worker = &mut self.seats[placed.worker].worker;
        let time = worker.run(&placed.symbol, &placed.call, self.control)?;
        for output in placed.outputs.iter() {
            output.check_guards(&placed.symbol)?;
        }
        Ok(time)
    }

    /// As [`run`](Bench::run), but waits for quiet cores and repeats disturbed runs within the
    /// budget `patience`. Adds the run to `runs`.
    pub(super) fn run_alone(
        &mut self,
        placed: &Placed,
        patience: &mut RetryBudget,
        runs: &mut Runs,
    ) -> Result<(), RuntimeError> {
        loop {
            let mut before = self.slowdown(placed.worker)?;
            while patience.bears(pace::is_disturbed(before), PROBE_PAUSE) {
                self.control
                    .go_on(|| format!("waiting to run kernel `{}`", placed.symbol))?;
                std::thread::sleep(PROBE_PAUSE);
                before = self.slowdown(placed.worker)?;
            }
            let time = self.run(placed)?;
            let after = self.slowdown(placed.worker)?;
            let spent = time.max(RUN);
            if time <= LONGEST_REPEATED && patience.bears(pace::is_disturbed(after), spent) {
                continue;
            }
            patience.earn(spent);
            runs.push(time, [before, after]);
            return Ok(());
        }
    }

    /// How much slower than at best the cores of a worker are.
    fn slowdown(&mut self, seat: usize) -> Result<f64, RuntimeError> {
        let Some(pace) = self.seats[seat].pace.take() else {
            return Ok(1.0);
        };
        self.run(&pace)?;
        let told = pace.outputs.iter().next().map(Buffer::view);
        let slowdown = match told {
            Some(View::F64(told)) => pace::slowdown(told),
            _ => 1.0,
        };
        self.seats[seat].pace = Some(pace);
        Ok(slowdown)
    }

    /// Takes the outputs of a kernel that will not run again, for reuse by later kernels.
    pub(super) fn recycle(&mut self, placed: Placed) {
        let outputs = placed.written.into_iter().zip(placed.outputs.0);
        self.spare
            .extend(outputs.map(|(number, output)| (placed.worker, number, output)));
    }

    /// Memory for an output, and its number in the worker of `seat`. Its contents are restored
    /// before each run.
    fn output(
        &mut self,
        seat: usize,
        kernel: &str,
        tensor: &crate::ir::Tensor,
        place: Place,
    ) -> Result<(usize, Buffer), RuntimeError> {
        let fits =
            |(of, _, spare): &(usize, usize, Buffer)| *of == seat && spare.fits(tensor, place);
        if let Some(found) = self.spare.iter().position(fits) {
            let (_, number, spare) = self.spare.swap_remove(found);
            return Ok((number, spare.renamed(tensor)));
        }
        // Frees spare memory that does not fit, so that running kernels can use it.
        self.spare.clear();
        let output = Buffer::filled(tensor, &Data::Unset, place)?;
        let worker = &mut self.seats[seat].worker;
        let number = worker.map(kernel, &output, true, self.control)?;
        Ok((number, output))
    }

    fn seat(&mut self, threads: usize, apart: bool) -> Result<usize, RuntimeError> {
        let same = |seat: &Seat| (seat.threads, seat.apart) == (threads, apart);
        if let Some(seat) = self.seats.iter().position(same) {
            return Ok(seat);
        }
        let bound = !apart;
        let worker = Worker::start(Kind::Kernels { threads, bound }, self.control)?;
        if self.leaves_a_core {
            worker.leave_a_core();
        }
        self.seats.push(Seat {
            threads,
            apart,
            worker,
            inputs: Vec::new(),
            pace: None,
        });
        let seat = self.seats.len() - 1;
        if self.watches
            && let Some(probe) = pace::probe(threads, apart, self.control)?
        {
            self.seats[seat].pace = Some(self.place_at(seat, &probe, &[Data::Unset])?);
        }
        Ok(seat)
    }

    /// The number, in the worker of `seat`, of a buffer with these contents; kernels that read
    /// the same data share one.
    fn input(
        &mut self,
        seat: usize,
        kernel: &str,
        tensor: &crate::ir::Tensor,
        data: &Data,
    ) -> Result<usize, RuntimeError> {
        let same = |(known, buffer): &(Data, Buffer)| {
            let other = buffer.tensor();
            known == data && other.elem() == tensor.elem() && other.shape() == tensor.shape()
        };
        let input = match self.inputs.iter().position(same) {
            Some(input) => input,
            None => {
                let place = Place::Input(self.inputs.len());
                self.inputs
                    .push((data.clone(), Buffer::filled(tensor, data, place)?));
                self.inputs.len() - 1
            }
        };
        let seat = &mut self.seats[seat];
        if let Some((_, number)) = seat.inputs.iter().find(|(known, _)| *known == input) {
            return Ok(*number);
        }
        let buffer = &self.inputs[input].1;
        let number = seat.worker.map(kernel, buffer, false, self.control)?;
        seat.inputs.push((input, number));
        Ok(number)
    }
}
