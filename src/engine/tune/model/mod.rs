//! A cost model: predicts the time of a nest before anything is compiled, and what bounds it.
//!
//! The plan of a nest says which loops are vectorized and which tensors are in registers. The model
//! reads it (`read.rs`) as loops with trip counts and accesses with strides (`shape.rs`). For each
//! innermost loop, it derives the bytes that come to each level of cache (`traffic.rs`). It also
//! counts the instructions of a thread on the target's pipeline (`work.rs`, `code.rs`). The
//! slowest of these bounds the loop; the others overlap with it in part (`cost.rs`).
//!
//! The model ignores conflict misses, pages, and the compiler's choices beyond unrolling and
//! vectors. A search corrects it by measured times.
//!
//! Source: Mullapudi et al., Automatically Scheduling Halide Image Processing Pipelines, SIGGRAPH
//! 2016 (footprints of loop levels); Williams et al., Roofline, CACM 2009.

mod capabilities;
mod code;
mod copied;
mod cost;
mod kernel;
mod loads;
mod operations;
mod processor;
mod read;
mod recurrence;
mod shape;
mod traffic;
mod work;

pub use capabilities::Model;
pub use cost::Prediction;

use crate::codegen;
use crate::ir::Nest;
use rayon::prelude::*;
use shape::Shape;

impl Model {
    /// Predicts the time of nests that run in order; `None` if their loops are beyond the model, or
    /// run on a device.
    pub fn predict(&self, nests: &[Nest]) -> Option<Prediction> {
        if codegen::is_on_device(nests) {
            return None;
        }
        cost::cost(self, &self.shapes(nests)?)
    }

    /// Predicts the time of each of `variants`, whose nests `nest` makes, on all cores.
    pub fn predict_each<T: Sync>(
        &self,
        variants: &[T],
        nest: impl Fn(&T) -> Option<Nest> + Sync,
    ) -> Vec<Option<Prediction>> {
        let predict = |variant: &T| self.predict(&[nest(variant)?]);
        variants.par_iter().map(predict).collect()
    }

    fn shapes(&self, nests: &[Nest]) -> Option<Vec<Shape>> {
        let plan = codegen::unproved(nests, &self.target).ok()?;
        let parts = plan.parts.iter();
        parts
            .map(|part| read::read(part, self.threads, self.vector.0))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::capabilities::Level;
    use super::*;
    use crate::target::Pipeline;
    use crate::target::Target;

    const TILED: &str = "\
f64 C[8][8], A[8][64], B[64][8], bias[8]
parallel for i in 0..8
  local f64 T[8]
  vector for j in 0..8
    T[j] = 0
  for k in 0..64
    vector for j_2 in 0..8
      T[j_2] += A[i][k] * B[k][j_2]
  vector for j_3 in 0..8
    T[j_3] += bias[j_3]
  vector for j_4 in 0..8
    C[i][j_4] = T[j_4]
";

    #[test]
    fn hints_cost_nothing() {
        let nests = [crate::ir::parse_nest(TILED).unwrap()];
        let target = Target::named("avx512").unwrap();
        let stages = codegen::stages(&nests, &target).unwrap();
        let full = &stages.last().unwrap().after;
        for hint in ["no load is moved above this", "function of"] {
            assert!(full.to_string().contains(hint), "{full}");
        }
        let without = codegen::unproved(&nests, &target).unwrap();
        let read = |plan: &codegen::Plan| format!("{:?}", read::read(&plan.parts[0], 2.0, 64.0));
        assert_eq!(read(full), read(&without));
    }

    /// A machine with AVX2 and 3 GHz, whose cores execute instructions as `pipeline` says.
    fn described(pipeline: Pipeline) -> Model {
        let level = |name: &str, bytes, rate| Level {
            name: name.to_owned(),
            bytes,
            one: rate,
            all: 2.0 * rate,
        };
        Model {
            target: Target {
                pipeline,
                ..Target::named("avx2").unwrap()
            },
            threads: 2.0,
            vector: (32.0, 16.0),
            clock: 3e9,
            levels: vec![level("L2", 32_768.0, 4.8e10), level("memory", 1e6, 1e10)],
            region: 2e-6,
        }
    }

    /// The predicted nanoseconds of a resource, in whole numbers.
    fn nanoseconds(pipeline: Pipeline, nest: &str, resource: &str) -> i64 {
        let nests = [crate::ir::parse_nest(nest).unwrap()];
        let prediction = described(pipeline).predict(&nests).unwrap();
        let mut parts = prediction.parts.iter();
        let part = parts.find(|(name, _)| name == resource).unwrap();
        (part.1 * 1e9).round() as i64
    }

    const SUM: &str = "\
f64 s[1], a[1024]
for k in 0..1024
  s[0] += a[k]
";

    const QUOTIENTS: &str = "\
f64 b[1024], a[1024]
for k in 0..1024
  b[k] = exp(a[k]) / a[k]
";

    #[test]
    fn predictions_with_the_default_pipeline_are_pinned() {
        let told = [
            (TILED, "arithmetic"),
            (TILED, "loads and stores"),
            (TILED, "latency"),
            (TILED, "loop overhead"),
            (SUM, "latency"),
            (QUOTIENTS, "arithmetic"),
        ];
        let told = told.map(|(nest, part)| nanoseconds(Pipeline::default(), nest, part));
        assert_eq!(told, [87, 131, 314, 4, 1195, 2048]);
    }

    /// The latency of a loop `for i in 2..1026` with a body, in cycles of each iteration.
    fn waits(body: &str) -> f64 {
        let head = "f64 y[1026], z[1026], x[1026], d[1026], F[4104], E[1026][20], t\n";
        let nest = format!("{head}for i in 2..1026\n{body}");
        3.0 * nanoseconds(Pipeline::default(), &nest, "latency") as f64 / 1024.0
    }

    #[test]
    fn recurrences_take_their_latency_in_each_iteration() {
        let Pipeline {
            addition_latency: addition,
            division_cycles: division,
            forwarding_latency: forwarding,
            ..
        } = Pipeline::default();
        let told = [
            ("  y[i] = y[i - 1] + x[i]", addition),
            ("  y[i] += y[i - 1]", addition),
            ("  y[i] = max(y[i - 1], x[i])", addition),
            ("  y[1025 - i] = y[1026 - i] + x[i]", addition),
            ("  y[1026 - i] = y[1025 - i] + x[i]", 0.0),
            // One operation of the sum, and two.
            ("  y[i] = x[i] * d[i] + x[i - 1] + y[i - 1]", addition),
            ("  y[i] = y[i - 1] + x[i] + x[i - 1]", 2.0 * addition),
            // A fused multiply-add, by either operand.
            ("  y[i] = 0.3 * y[i - 1] + x[i]", addition),
            ("  y[i] = 0.3 * x[i] + y[i - 1]", addition),
            ("  y[i] = (x[i] - y[i - 1]) / d[i]", addition + division),
            // Every second element.
            ("  y[i] = y[i - 2] + x[i]", addition / 2.0),
            ("  y[i] = y[i - 1] + y[i - 2]", addition),
            // Through other statements.
            ("  t = 0.3 * y[i - 1]\n  y[i] = t + x[i]", 2.0 * addition),
            (
                "  z[i] = y[i - 1] + x[i]\n  y[i] = z[i] * x[i]",
                2.0 * addition,
            ),
            ("  t = y[i - 1]\n  t += x[i]\n  y[i] = t", addition),
            ("  t = 0.3 * t + x[i]\n  y[i] = t", addition),
            // In a short loop, whose last element the next iteration needs.
            (
                "  for j in 0..4\n    F[4*i + j] = F[4*i + j - 1] + x[i]",
                4.0 * addition,
            ),
            // Not the elements of earlier iterations.
            ("  y[i] = y[i + 1 - 2 + 1] + x[i]", 0.0),
            ("  y[i] = y[i + 1 - 1] + x[i - 1]", 0.0),
            ("  t = x[i]\n  y[i] = t + x[i - 1]", 0.0),
            ("  y[i] = z[i - 1] + x[i]", 0.0),
            // Through memory: the loop inside is not unrolled.
            (
                "  for j in 0..20\n    E[i][j] = E[i - 1][j] + x[i]",
                forwarding + addition,
            ),
        ];
        for (body, cycles) in told {
            let found = waits(body);
            assert!(
                (found - cycles).abs() < 0.1,
                "{body}: {found}, not {cycles}"
            );
        }
    }

    #[test]
    fn targets_have_pipelines_of_their_own() {
        let usual = Pipeline::default();
        let slow = Pipeline {
            addition_latency: 2.0 * usual.addition_latency,
            function_cycles: 3.0 * usual.function_cycles,
            ..usual
        };
        let of = |pipeline, nest, part| nanoseconds(pipeline, nest, part);
        let waits = of(usual, SUM, "latency");
        assert!((of(slow, SUM, "latency") - 2 * waits).abs() <= 1);
        assert!(of(slow, QUOTIENTS, "arithmetic") > 2 * of(usual, QUOTIENTS, "arithmetic"));
    }
}
