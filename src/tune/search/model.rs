//! Model-guided search: of many random points and children of the best ones, those that should be
//! fastest. What a cost model expects decides at first. Then a random forest predicts, from the
//! parameters and what the model says, by which factor the model errs. The first points are the same
//! for all seeds: where many points are equally fast, all searches know some of these, and name them.
//!
//! Source: Chen et al., Learning to Optimize Tensor Programs, NeurIPS 2018; Adams et al., Learning
//! to Optimize Halide with Tree Search and Random Programs, SIGGRAPH 2019.

use super::evolution::Evolution;
use super::random::Random;
use super::{Outlook, Proposed, Search};
use crate::tune::dice::Dice;
use crate::tune::space::{Digits, Halt};
use smartcore::ensemble::random_forest_regressor::{
    RandomForestRegressor, RandomForestRegressorParameters,
};
use smartcore::linalg::basic::matrix::DenseMatrix;

/// Follows a model.
pub struct Model {
    dice: Dice,
    seed: u64,
    random: Random,
    /// Random points that do not follow from the seed.
    common: Random,
}

/// The first points, which are the same for all seeds.
const COMMON: usize = 16;

/// How many points are looked at for each one that is proposed.
const POOL: usize = 4;

/// How many points have to have times before the model is corrected.
const ENOUGH: usize = 12;

/// How many of the best points have children.
const PARENTS: usize = 8;

const TREES: usize = 40;

impl Model {
    /// A search that follows from the seed of `dice`, whose forest grows from `seed`.
    pub fn new(mut dice: Dice, seed: u64) -> Model {
        let random = Random::new(Dice::new(dice.bits()));
        let common = Random::new(Dice::new(0));
        Model {
            dice,
            seed,
            random,
            common,
        }
    }

    /// Points that may be proposed.
    fn pool(&mut self, outlook: &mut Outlook<'_, '_>, count: usize) -> Result<Vec<Digits>, Halt> {
        if outlook.history.tried.len() < COMMON {
            return self.common.propose(outlook, count);
        }
        let mut pool = Proposed::new(usize::MAX);
        let best = outlook.history.fastest();
        let parents: Vec<Digits> = best
            .into_iter()
            .take(PARENTS)
            .map(|(d, _)| d.clone())
            .collect();
        if let Some(best) = parents.first() {
            for digits in outlook.space.neighbors(best)? {
                pool.add(outlook, &digits)?;
            }
            for _ in 0..count {
                let child = Evolution::child(&mut self.dice, outlook, &parents)?;
                pool.add(outlook, &child)?;
            }
        }
        for digits in self.random.propose(outlook, count)? {
            pool.add(outlook, &digits)?;
        }
        Ok(pool.digits)
    }

    /// What is known of a point: its parameters, and the logarithm of what the model expects.
    fn known(
        outlook: &mut Outlook<'_, '_>,
        digits: &Digits,
    ) -> Result<Option<(Vec<f64>, f64)>, Halt> {
        let Some((_, point)) = outlook.space.point(digits)? else {
            return Ok(None);
        };
        let Some(expected) = (outlook.predict)(digits, &point)? else {
            return Ok(None);
        };
        let expected = expected.max(1e-12).ln();
        let mut features = outlook.space.features(digits)?;
        features.push(expected);
        Ok(Some((features, expected)))
    }

    /// The forest that says by which factor, as a logarithm, the model errs.
    fn forest(&self, outlook: &mut Outlook<'_, '_>) -> Result<Option<Forest>, Halt> {
        let (mut rows, mut errors) = (Vec::new(), Vec::new());
        for (digits, seconds) in &outlook.history.tried {
            let Some(seconds) = seconds else { continue };
            if let Some((features, expected)) = Model::known(outlook, digits)? {
                rows.push(features);
                errors.push(seconds.max(1e-12).ln() - expected);
            }
        }
        if rows.len() < ENOUGH {
            return Ok(None);
        }
        let parameters = RandomForestRegressorParameters::default()
            .with_n_trees(TREES)
            .with_min_samples_leaf(1)
            .with_min_samples_split(2)
            .with_seed(self.seed);
        let grown = DenseMatrix::from_2d_vec(&rows)
            .and_then(|rows| RandomForestRegressor::fit(&rows, &errors, parameters));
        Ok(grown.ok())
    }
}

type Forest = RandomForestRegressor<f64, f64, DenseMatrix<f64>, Vec<f64>>;

impl Search for Model {
    fn fill(&mut self, outlook: &mut Outlook<'_, '_>, proposed: &mut Proposed) -> Result<(), Halt> {
        let count = proposed.most;
        let pool = self.pool(outlook, POOL * count)?;
        let mut known = Vec::new();
        let mut unknown = Vec::new();
        for digits in pool {
            match Model::known(outlook, &digits)? {
                Some((features, expected)) => known.push((digits, features, expected)),
                // Refused, which costs nothing to try and is then counted; or beyond the model.
                None => unknown.push(digits),
            }
        }
        let rows: Vec<Vec<f64>> = known
            .iter()
            .map(|(_, features, _)| features.clone())
            .collect();
        let errors = match self.forest(outlook)? {
            Some(forest) if !rows.is_empty() => DenseMatrix::from_2d_vec(&rows)
                .and_then(|rows| forest.predict(&rows))
                .unwrap_or_default(),
            _ => Vec::new(),
        };
        let error = |k: usize| errors.get(k).copied().unwrap_or(0.0);
        let known = known.into_iter().enumerate();
        let mut ranked: Vec<(f64, Digits)> = known
            .map(|(k, (digits, _, expected))| (expected + error(k), digits))
            .collect();
        ranked.sort_by(|a, b| a.0.total_cmp(&b.0));
        // One point in eight is any other, since the model may be wrong where nothing was tried.
        let surprises = match outlook.history.tried.len() < COMMON {
            true => 0,
            false => count / 8,
        };
        let mut ranked: Vec<Digits> = ranked.into_iter().map(|(_, digits)| digits).collect();
        let rest = ranked.split_off(ranked.len().min(count - surprises));
        let mut rest: Vec<Digits> = rest.into_iter().chain(unknown).collect();
        self.dice.shuffle(&mut rest);
        for digits in ranked.into_iter().chain(rest) {
            proposed.add(outlook, &digits)?;
        }
        Ok(())
    }
}
