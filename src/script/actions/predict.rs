//! `predict`: the cost model's prediction for nests.

use crate::binding::function::{Effect, Function};
use crate::binding::param::NESTS;
use crate::codegen;
use crate::tune::Model;
use rhai::Dynamic;

pub(super) static PREDICT: Function = Function {
    name: "predict",
    topic: "queries",
    effect: Effect::None,
    params: &[NESTS.any()],
    returns: "prediction",
    doc: "\
The time that a cost model expects of a nest, or of a list of nests in order:
`print(predict(plan))`.

The model counts the bytes that come to each level of cache, the instructions, the latency of sums,
and what loops and threads cost. `seconds` is the time that follows; `bound` names what takes the
most of it, and `why` says at which loop. `parts` has the seconds of each resource. Nothing runs. `teml machine`
measures the rates of the machine; until then they are guesses.

`tune` tries first what the model expects to be fast. A model errs: `compare` tells.

Source: Mullapudi et al., SIGGRAPH 2016; Williams et al., CACM 2009.",
    call: |call| {
        let nests = call.arg(&NESTS)?;
        if codegen::is_on_device(&nests) {
            let text = "runs on a device, and the model is one of processors: it knows no blocks of \
                        threads";
            let help = "`compare` measures it; `teml emit --plan` shows what each thread executes";
            return Err(call.blame(&NESTS, text).help(help));
        }
        let control = call.workbench().control.clone();
        let pipeline = call.workbench().settings.options.target.pipeline;
        match Model::with_pipeline(&control, pipeline).predict(&nests) {
            Some(prediction) => Ok(Dynamic::from(prediction)),
            None => Err(call.blame(&NESTS, "the loops have bounds or indices beyond the model")),
        }
    },
};
