//! Nests that run on a device: one plan, printed as CUDA C, HIP C or OpenCL C, and C that starts it.
//!
//! `spaces` decides which memory local tensors have, and what lanes pass on; `barriers` where the
//! threads of a block wait; `lower` makes the plan; `hold` keeps sums in registers, which `registers`
//! counts; `width` says whether 32 bits are enough for indices. `legality` is asked before (are the
//! iterations of bound loops independent?) and after (is a barrier between threads that exchange
//! data?). `print` prints what the device runs, and `host` what the processor does. Words that differ
//! are in headers.

mod barriers;
mod fills;
mod hold;
mod host;
mod lower;
mod plan;
mod print;
mod registers;
mod spaces;
mod wide;
mod width;

use super::derived::definition_of_size;
use super::kernel::{Header, Param, Role};
use super::support::{mentions, support_of_device};
use crate::analysis::launches::{self, Launch, Misplaced};
use crate::ir::{Affine, Axis, Loop, Name, Nest, Space, Strides, Tensor, Tree};
use crate::legality::{Barrier, exchanges};
use crate::target::{Device, DeviceApi, Target};
use lower::Lowering;
use plan::{Plan, Step, Width};
use spaces::{Distributed, Passes};
use std::collections::{BTreeSet, HashSet};
use std::fmt::Write;

/// Why a device cannot run a nest.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoDevice {
    /// Loops are not launches.
    #[error(transparent)]
    Misplaced(#[from] Misplaced),
    /// More threads than a block has.
    #[error(
        "a block would have {found} threads ({x} × {y} × {z}), and a device has at most {most}"
    )]
    Threads {
        found: i64,
        x: i64,
        y: i64,
        z: i64,
        most: i64,
    },
    /// More threads than a block has along z.
    #[error("a block would have {found} threads along z, and a device has at most {most} there")]
    Deep { found: i64, most: i64 },
    /// More blocks than a grid has along an axis.
    #[error(
        "{axis} loop `{name}` would have {found} blocks, and a device has at most {most} there"
    )]
    Blocks {
        name: Name,
        axis: Axis,
        found: i64,
        most: i64,
    },
    /// Lanes that do not fit into warps.
    #[error(
        "a warp would have {found} lanes, and one of the device has {warp}: {found} does not divide {warp}"
    )]
    Lanes { found: i64, warp: i64 },
    /// More memory than the threads of a block share.
    #[error("the threads of a block would share {found} bytes ({tensors}), and have {most}")]
    Shared {
        found: u64,
        tensors: String,
        most: u64,
    },
    /// A tensor in registers whose elements several threads use.
    #[error(transparent)]
    NotOwn(#[from] spaces::NotOwn),
    /// A tensor of a thread that is to be shared.
    #[error(
        "{tensor} is declared in loop `{within}`, which runs on threads, and cannot be shared by them"
    )]
    OfThread { tensor: String, within: Name },
    /// A local tensor whose size is known only when the kernel runs.
    #[error("local tensor {tensor} has extents with sizes, and a block needs numbers")]
    Sized { tensor: String },
    /// A tensor whose elements lie at any distance.
    #[error("{tensor} is `strided(all)`, and functions for devices copy whole rows")]
    Apart { tensor: String },
    /// Two local tensors of one launch share a name.
    #[error("two local tensors of one launch are named {tensor}")]
    TwoLocals { tensor: String },
    /// Threads exchange data without a barrier. This is a bug.
    #[error("threads exchange {tensor} without a barrier")]
    NoBarrier { tensor: Name },
}

impl NoDevice {
    /// The loops at fault.
    pub fn loops(&self) -> Vec<Name> {
        match self {
            NoDevice::Misplaced(why) => why.loops(),
            NoDevice::OfThread { within, .. } => vec![within.clone()],
            NoDevice::Blocks { name, .. } => vec![name.clone()],
            _ => Vec::new(),
        }
    }

    /// A legal alternative.
    pub fn help(&self) -> &'static str {
        match self {
            NoDevice::Misplaced(why) => why.help(),
            NoDevice::Threads { .. } => "choose smaller blocks: shorter inner loops of stripmine",
            NoDevice::Deep { .. } => "bind the longer loops of a block to its axes x and y",
            NoDevice::Blocks { .. } => {
                "bind the longest loop to grid.x, which has room for more blocks"
            }
            NoDevice::Lanes { .. } => {
                "stripmine the loop by a divisor of `machine().device_warp`, and bind the inner one"
            }
            NoDevice::Shared { .. } => {
                "choose smaller tiles, or copy fewer tensors; each thread keeps what only it uses"
            }
            NoDevice::NotOwn(_) => {
                "leave it in shared memory, or let one thread use each element: bind the same loops \
                 around all its uses"
            }
            NoDevice::OfThread { .. } => {
                "declare it outside of block loops: `stage` at a loop there"
            }
            NoDevice::Sized { .. } => {
                "block the loops first, so that a block needs a fixed part of the tensor"
            }
            NoDevice::Apart { .. } => "`strided(A)` lets rows lie apart",
            NoDevice::TwoLocals { .. } => "give one of them another name",
            NoDevice::NoBarrier { .. } => "please report this",
        }
    }
}

/// Nests, with the facts that their function needs.
pub(super) struct Nests<'a> {
    pub(super) nests: &'a [Nest],
    pub(super) params: &'a [Param],
    /// The sizes that callers give, and the derived ones.
    pub(super) sizes: &'a [Name],
    pub(super) derived: &'a [Name],
    pub(super) comments: &'a str,
}

/// The text of a function that runs nests on a device, its headers, and its plan.
pub(super) struct Text {
    pub(super) function: String,
    pub(super) headers: BTreeSet<Header>,
    pub(super) plan: String,
}

/// Whether nests run on a device.
pub fn is_on_device(nests: &[Nest]) -> bool {
    nests
        .iter()
        .any(|nest| launches::is_on_device(nest.trees()))
}

/// Whether the loops of a nest are launches.
///
/// # Errors
/// [`NoDevice`].
pub(super) fn check(nest: &Nest) -> Result<(), NoDevice> {
    let context: Vec<&Loop> = nest.context().iter().collect();
    launches::launches(nest.trees(), &context)?;
    let tensors = nest.tensors();
    let mut apart = tensors
        .iter()
        .filter(|t| t.strided_in() == Some(Strides::All));
    match apart
        .next()
        .filter(|_| launches::is_on_device(nest.trees()))
    {
        Some(tensor) => Err(NoDevice::Apart {
            tensor: tensor.label().to_owned(),
        }),
        None => Ok(()),
    }
}

/// Why a device cannot run a nest, although loops of it are launches: it has too few threads, or too
/// little memory.
///
/// # Errors
/// [`NoDevice`].
pub(super) fn fits(nest: &Nest, device: &Device) -> Result<(), NoDevice> {
    plan(nest, device, Width::Wide).map(|_| ())
}

/// The function `symbol`, which runs nests on a device.
///
/// # Errors
/// [`NoDevice`], with the number of the nest.
pub(super) fn emit(
    of: &Nests,
    (linkage, symbol): (&str, &str),
    target: &Target,
) -> Result<Text, (usize, NoDevice)> {
    let plan = whole_plan(of, &target.device)?;
    let index = match plan.width {
        Width::Narrow => print::NARROW,
        Width::Wide => print::WIDE,
        Width::Either { .. } => print::EITHER,
    };
    let derived = derived(of, &plan);
    let mut code = String::new();
    let mut started = Vec::new();
    let mut locals = Vec::new();
    kernels(&plan.steps, &mut locals, &mut |kernel, locals| {
        let name = format!("{symbol}_{}", started.len() + 1);
        let numbers = of.sizes.iter().chain(&derived).chain(&kernel.around);
        let local = locals.iter().map(|tensor| Param {
            tensor: tensor.clone(),
            role: Role::InOut,
        });
        let all: Vec<Param> = of.params.iter().cloned().chain(local).collect();
        // The names that occur in the body are its arguments.
        let body = print::body(kernel, index);
        let params = all.iter().filter(|p| mentions(&body, p.tensor.label()));
        let params: Vec<Param> = params.cloned().collect();
        let numbers = numbers.filter(|name| mentions(&body, name.as_str()));
        let numbers: Vec<Name> = numbers.cloned().collect();
        let text = print::function(kernel, &name, (&numbers, &params), (index, &body));
        let _ = write!(code, "\n{text}");
        started.push(host::Started {
            name,
            numbers,
            params,
        });
    });
    let (words, header) = match target.device.api {
        DeviceApi::Cuda => (
            concat!(include_str!("words_gpu.h"), include_str!("words_cuda.h")),
            Header::Cuda,
        ),
        DeviceApi::Hip => (
            concat!(include_str!("words_gpu.h"), include_str!("words_hip.h")),
            Header::Hip,
        ),
        DeviceApi::OpenCl => (include_str!("words_opencl.h"), Header::OpenCl),
    };
    let either = match plan.width {
        Width::Either { .. } => include_str!("either.h"),
        Width::Narrow | Width::Wide => "",
    };
    let source = format!("{words}{either}{}{code}", support_of_device(&code));
    let mut function = format!("static const char teml_{symbol}_source[] =\n");
    for line in source.lines() {
        let line = line.replace('\\', "\\\\").replace('"', "\\\"");
        let _ = writeln!(function, "    \"{line}\\n\"");
    }
    function.truncate(function.trim_end().len());
    function.push_str(";\n\n");
    let derived: Vec<String> = derived.iter().map(definition_of_size).collect();
    let host = host::Host {
        symbol,
        linkage,
        sizes: of.sizes,
        derived: &derived,
        params: of.params,
        steps: &plan.steps,
        width: plan.width,
        started: &started,
        comments: of.comments,
    };
    function.push_str(&host.print());
    let headers = [header, Header::Integers, Header::Support].into();
    Ok(Text {
        function,
        headers,
        plan: plan.to_string(),
    })
}

/// The derived sizes of nests and of their plan: parts of a fill are counted by sizes of their own.
fn derived(of: &Nests, plan: &Plan) -> Vec<Name> {
    let mut found = of.derived.to_vec();
    plan.for_each_loop(&mut |l| {
        for size in l.range.bounds().flat_map(Affine::sizes) {
            let is_derived = size.size().is_some_and(|size| size.of.is_some());
            if is_derived && !found.contains(size) {
                found.push(size.clone());
            }
        }
    });
    found
}

/// Visits the kernels of steps, with the local tensors of the device that are in scope.
fn kernels(
    steps: &[Step],
    locals: &mut Vec<Tensor>,
    see: &mut dyn FnMut(&plan::Kernel, &[Tensor]),
) {
    let outer = locals.len();
    for step in steps {
        match step {
            Step::Local(tensor) => locals.push(tensor.clone()),
            Step::Loop(_, body) => kernels(body, locals, see),
            Step::Launch(kernel) => see(kernel, locals),
        }
    }
    locals.truncate(outer);
}

/// The plan of all nests, with the width that their indices need.
fn whole_plan(of: &Nests, device: &Device) -> Result<Plan, (usize, NoDevice)> {
    let tensors = of.nests.iter().flat_map(Nest::tensors);
    let locals = of.nests.iter().flat_map(Nest::locals).cloned();
    let tensors: Vec<Tensor> = tensors.chain(locals).collect();
    let with = |width: Width| {
        let mut steps = Vec::new();
        for (k, nest) in of.nests.iter().enumerate() {
            steps.extend(plan(nest, device, width).map_err(|why| (k, why))?);
        }
        Ok(Plan { steps, width })
    };
    let mut plan = with(Width::Narrow)?;
    plan.width = width::width(&plan, &tensors, of.sizes);
    match plan.width {
        // It needs more registers.
        Width::Wide => with(Width::Wide),
        Width::Narrow | Width::Either { .. } => Ok(plan),
    }
}

/// The code of the threads of a device, and the places where they wait for each other.
#[derive(Clone, Debug)]
pub struct Phases {
    /// The trees, in which each launch has a grid loop.
    pub trees: Vec<Tree>,
    pub barriers: Vec<Barrier>,
    /// The local tensors of blocks that are distributed: each thread has its own part.
    pub distributed: Vec<Name>,
    /// Those whose elements lanes pass on when a phase begins.
    pub passed: Vec<Name>,
}

/// The phases of a nest with bound loops.
///
/// # Errors
/// [`NoDevice`].
pub fn phases(nest: &Nest, device: &Device) -> Result<Phases, NoDevice> {
    let trees = prepared(nest, device)?;
    let context: Vec<&Loop> = nest.context().iter().collect();
    let (mut barriers, mut distributed, mut passed) = (Vec::new(), Vec::new(), Vec::new());
    for launch in &launches::launches(&trees, &context)? {
        let placed = Placed::of(nest, &trees, launch, &context)?;
        barriers.extend(placed.barriers);
        for of in &placed.distributed {
            let known = if of.is_passed {
                &mut passed
            } else {
                &mut distributed
            };
            known.extend(of.part.name().cloned());
        }
    }
    Ok(Phases {
        trees,
        barriers,
        distributed,
        passed,
    })
}

/// The trees of a nest in which each launch has a grid loop, blocks declare their tensors first, and
/// fills are spread over threads.
fn prepared(nest: &Nest, device: &Device) -> Result<Vec<Tree>, NoDevice> {
    check(nest)?;
    let mut number = 0;
    let trees = spaces::hoisted(nest, device, &mut number);
    let context: Vec<&Loop> = nest.context().iter().collect();
    let launches = launches::launches(&trees, &context)?;
    Ok(spaces::with_spread_fills(&trees, &launches, number))
}

/// The steps of the processor for a nest.
fn plan(nest: &Nest, device: &Device, width: Width) -> Result<Vec<Step>, NoDevice> {
    let trees = prepared(nest, device)?;
    let context: Vec<&Loop> = nest.context().iter().collect();
    let launches = launches::launches(&trees, &context)?;
    let mut kernels = Vec::new();
    for launch in &launches {
        kernels.push(kernel(nest, &trees, launch, (&context, device, width))?);
    }
    let mut kernels = kernels.into_iter();
    Ok(steps(&trees, &mut kernels))
}

fn steps(trees: &[Tree], kernels: &mut dyn Iterator<Item = plan::Kernel>) -> Vec<Step> {
    let step = |tree: &Tree| match tree {
        Tree::Local(tensor) => Some(Step::Local(tensor.clone())),
        Tree::Loop(l) if !l.is_grid() => Some(Step::Loop(l.clone(), steps(&l.body, kernels))),
        _ => kernels.next().map(Step::Launch),
    };
    trees.iter().filter_map(step).collect()
}

/// The decisions about a launch.
struct Placed {
    shared: Vec<Tensor>,
    distributed: Vec<Distributed>,
    barriers: Vec<Barrier>,
}

impl Placed {
    fn of(
        nest: &Nest,
        trees: &[Tree],
        launch: &Launch,
        context: &[&Loop],
    ) -> Result<Placed, NoDevice> {
        check_locals(launch.body, None, &mut HashSet::new())?;
        let (shared, distributed) = spaces::spaces(nest, trees, launch, context)?;
        let is_shared = |tensor: &Tensor| !distributed.iter().any(|of| of.is(tensor));
        let exchanges = exchanges(nest, trees, launch, &is_shared, false);
        let barriers = barriers::barriers(&exchanges);
        if let Some(open) = exchanges.iter().find(|e| !e.is_ordered(&barriers)) {
            let tensor = open.tensor.clone();
            return Err(NoDevice::NoBarrier { tensor });
        }
        Ok(Placed {
            shared,
            distributed,
            barriers,
        })
    }
}

fn kernel(
    nest: &Nest,
    trees: &[Tree],
    launch: &Launch,
    (context, device, width): (&[&Loop], &Device, Width),
) -> Result<plan::Kernel, NoDevice> {
    for l in &launch.grid {
        check_blocks(l, device.grid)?;
    }
    let lanes = launch.threads[Axis::LANE].max(1);
    if device.warp % lanes != 0 {
        return Err(NoDevice::Lanes {
            found: lanes,
            warp: device.warp,
        });
    }
    let mut kernel = plan::Kernel::new(launch);
    let [x, y, z] = kernel.block();
    let found = x.saturating_mul(y).saturating_mul(z);
    if found > device.threads {
        let most = device.threads;
        return Err(NoDevice::Threads {
            found,
            x,
            y,
            z,
            most,
        });
    }
    if z > device.deep {
        let most = device.deep;
        return Err(NoDevice::Deep { found: z, most });
    }
    let Placed {
        shared,
        distributed,
        barriers,
    } = Placed::of(nest, trees, launch, context)?;
    kernel.shared = shared;
    kernel.own = distributed.iter().map(|of| of.part.clone()).collect();
    if kernel.shared_bytes() > device.shared {
        let tensors = kernel.shared.iter().map(Tensor::to_string);
        return Err(NoDevice::Shared {
            found: kernel.shared_bytes(),
            tensors: tensors.collect::<Vec<_>>().join(", "),
            most: device.shared,
        });
    }
    let mut chain: Vec<&Loop> = context.to_vec();
    chain.extend(launch.around.iter().chain(&launch.grid));
    let fixed = chain.len();
    let mut passes = Passes::new();
    let body = spaces::with_parts(launch.body, &distributed, &mut chain, fixed, &mut passes);
    let own = distributed.iter().map(|of| &of.part);
    let own = own.chain(passes.values().flatten().map(|pass| &pass.to));
    let registers = own.filter_map(|of| of.name().cloned()).collect();
    for pass in passes.values().flatten() {
        if !kernel.passed.contains(&pass.to.elem()) {
            kernel.passed.push(pass.to.elem());
        }
    }
    let shared = kernel.shared.iter().filter_map(|t| t.name().cloned());
    let shared = shared.collect();
    let mut chain: Vec<&Loop> = context.to_vec();
    chain.extend(launch.around.iter().chain(&launch.grid));
    let mut lowering = Lowering {
        kernel: &mut kernel,
        barriers: &barriers,
        passes: &passes,
        registers,
        shared,
        access: device.access,
        parts: 0,
        is_first: false,
    };
    // Grid loops are perfectly nested.
    let inner = launch.grid.iter().skip(1).map(|_| 0);
    let mut position: Vec<usize> = launch.position.iter().copied().chain(inner).collect();
    let body = lowering.sequence(&body, &mut position, &mut chain);
    kernel.body = hold::held(&kernel, &body);
    kernel.registers = registers::registers(&kernel, if width == Width::Wide { 2 } else { 1 });
    let threads = kernel.threads_of_block();
    let registers = kernel.registers.min(device.registers);
    kernel.at_once = device.blocks(threads, registers, kernel.shared_bytes());
    Ok(kernel)
}

/// Whether an axis has room for the blocks of a loop, if that has a known number of iterations.
fn check_blocks(l: &Loop, most: i64) -> Result<(), NoDevice> {
    let bounds = (l.range.lower.as_slice(), l.range.upper.as_slice());
    if let (Some(axis), ([lower], [upper])) = (l.axis(), bounds)
        && let Some(found) = upper.minus(lower).as_constant()
        && axis.dimension > 0
        && found > most
    {
        let name = l.name.clone();
        return Err(NoDevice::Blocks {
            name,
            axis,
            found,
            most,
        });
    }
    Ok(())
}

fn check_locals(
    trees: &[Tree],
    phase: Option<&Loop>,
    names: &mut HashSet<Name>,
) -> Result<(), NoDevice> {
    for tree in trees {
        match tree {
            Tree::Local(tensor) => {
                let label = || tensor.label().to_owned();
                if let (Some(within), Some(Space::Shared)) = (phase, tensor.space()) {
                    let (tensor, within) = (label(), within.name.clone());
                    return Err(NoDevice::OfThread { tensor, within });
                }
                if tensor.shape().is_sized() {
                    return Err(NoDevice::Sized { tensor: label() });
                }
                let is_new = tensor.name().is_none_or(|name| names.insert(name.clone()));
                if !is_new {
                    return Err(NoDevice::TwoLocals { tensor: label() });
                }
            }
            Tree::Loop(l) => {
                let phase = phase.or(Some(&**l).filter(|l| l.is_block()));
                check_locals(&l.body, phase, names)?;
            }
            Tree::Stmt(_) | Tree::Fill(_) => {}
        }
    }
    Ok(())
}
