//! `predict`: the cost model's prediction for nests.

use crate::binding::function::{Effect, Function};
use crate::binding::param::NESTS;
use crate::codegen;
use crate::tune::Model;
use crate::verbs::Forecast;
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
measures the rates of the machine; until then they are guesses. Of a nest on a device, it is the
least time that the device needs: for its operations, or for moving inputs and results once.

`tune` tries first what the model expects to be fast. A model errs: `compare` tells.

Source: Mullapudi et al., SIGGRAPH 2016; Williams et al., CACM 2009.",
    call: |call| {
        let nests = call.arg(&NESTS)?;
        let control = call.workbench().control.clone();
        let target = call.workbench().settings.options.target.clone();
        if codegen::is_on_device(&nests) {
            let forecast = Forecast::with_device(&control, &target.device);
            return match forecast.on_device(&nests) {
                Some(prediction) => Ok(Dynamic::from(prediction)),
                None => {
                    let text = "runs on a device, and it is not known how fast that is";
                    let help = "`teml machine` measures the device of this machine; the file of a \
                                target states `rates` of its device";
                    Err(call.blame(&NESTS, text).help(help))
                }
            };
        }
        match Model::with_pipeline(&control, target.pipeline).predict(&nests) {
            Some(prediction) => Ok(Dynamic::from(prediction)),
            None => Err(call.blame(&NESTS, "the loops have bounds or indices beyond the model")),
        }
    },
};
