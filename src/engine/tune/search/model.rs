//! Model-guided search: ranks many random points and children of the best ones, and proposes the
//! fastest. At first, the cost model predicts their times. Once enough trials have times, a random
//! forest predicts from the parameters and the model's value. It predicts either the factor by
//! which the model errs, or the time itself: whichever fits the measured times better.
//!
//! Source: Chen et al., Learning to Optimize Tensor Programs, NeurIPS 2018; Adams et al., Learning
//! to Optimize Halide with Tree Search and Random Programs, SIGGRAPH 2019.

use super::evolution::Evolution;
use super::outlook::{Outlook, Proposed, Search};
use super::random::Random;
use crate::tune::rng::Rng;
use crate::tune::space::{ConfigIndex, Halt};
use smartcore::ensemble::random_forest_regressor::{
    RandomForestRegressor, RandomForestRegressorParameters,
};
use smartcore::linalg::basic::matrix::DenseMatrix;

pub struct Model {
    rng: Rng,
    seed: u64,
    random: Random,
}

/// Number of candidates per proposed point: the model takes milliseconds for a point, a compiler a
/// tenth of a second.
const POOL: usize = 24;

/// Number of times from which on the model is corrected.
const ENOUGH: usize = 8;

/// Number of the best points that have children.
const PARENTS: usize = 8;

const TREES: usize = 40;

impl Model {
    /// A search with random choices from `rng`, whose forest grows from `seed`.
    pub fn new(mut rng: Rng, seed: u64) -> Model {
        let random = Random::new(Rng::new(rng.bits()));
        Model { rng, seed, random }
    }

    /// Candidates: neighbors and children of the best points, and random points.
    fn pool(
        &mut self,
        outlook: &mut Outlook<'_, '_>,
        count: usize,
    ) -> Result<Vec<ConfigIndex>, Halt> {
        let mut pool = Proposed::new(usize::MAX);
        let best = outlook.history.fastest();
        let parents: Vec<ConfigIndex> = best
            .into_iter()
            .take(PARENTS)
            .map(|(d, _)| d.clone())
            .collect();
        if let Some(best) = parents.first() {
            for digits in outlook.space.neighbors(best)? {
                pool.add(outlook, &digits)?;
                if pool.is_full() {
                    return Ok(pool.digits);
                }
            }
            for _ in 0..count {
                if pool.is_full() {
                    return Ok(pool.digits);
                }
                let child = Evolution::child(&mut self.rng, outlook, &parents)?;
                pool.add(outlook, &child)?;
            }
        }
        for digits in self.random.propose(outlook, count)? {
            pool.add(outlook, &digits)?;
        }
        Ok(pool.digits)
    }

    /// The features of a point, and the logarithm of the model's prediction.
    fn known(
        outlook: &mut Outlook<'_, '_>,
        digits: &ConfigIndex,
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

    /// A predictor that was trained on the measured times; `None` if there are too few.
    fn learned(&self, outlook: &mut Outlook<'_, '_>) -> Result<Option<Learned>, Halt> {
        let (mut rows, mut expected, mut times) = (Vec::new(), Vec::new(), Vec::new());
        for (digits, seconds) in &outlook.history.tried {
            let Some(seconds) = seconds else { continue };
            if let Some((features, model)) = Model::known(outlook, digits)? {
                rows.push(features);
                expected.push(model);
                times.push(seconds.max(1e-12).ln());
            }
        }
        if rows.len() < ENOUGH {
            return Ok(None);
        }
        let errors = times.iter().zip(&expected).map(|(t, e)| t - e).collect();
        let corrects = Learned::of(&rows, errors, true, self.seed);
        let alone = Learned::of(&rows, times, false, self.seed);
        let both = [corrects, alone].into_iter().flatten();
        let best = both.min_by(|a, b| a.1.total_cmp(&b.1));
        Ok(best.map(|(learned, _)| learned))
    }
}

type Forest = RandomForestRegressor<f64, f64, DenseMatrix<f64>, Vec<f64>>;

/// A forest that was trained on the measured times.
struct Learned {
    forest: Forest,
    /// Number of features of a point.
    width: usize,
    /// Whether it predicts the logarithm of the model's error factor. Otherwise it predicts the
    /// logarithm of seconds.
    corrects: bool,
}

impl Learned {
    /// A forest that predicts `targets`, with its out-of-bag error.
    fn of(rows: &[Vec<f64>], targets: Vec<f64>, corrects: bool, seed: u64) -> Option<(Self, f64)> {
        let width = rows.iter().map(Vec::len).max()?;
        let parameters = RandomForestRegressorParameters::default()
            .with_n_trees(TREES)
            .with_min_samples_leaf(1)
            .with_min_samples_split(2)
            .with_keep_samples(true)
            .with_seed(seed);
        let rows = matrix(rows, width)?;
        let forest = RandomForestRegressor::fit(&rows, &targets, parameters).ok()?;
        let unseen = forest.predict_oob(&rows).ok()?;
        // A point that all trees have seen has no out-of-bag prediction.
        let wrong = unseen.iter().zip(&targets).map(|(a, b)| (a - b).powi(2));
        let wrong = wrong.filter(|error| error.is_finite()).sum();
        let learned = Learned {
            forest,
            width,
            corrects,
        };
        Some((learned, wrong))
    }

    /// Predicts the logarithms of the seconds of points, with the model's prediction `expected`.
    fn foretold(&self, rows: &[Vec<f64>], expected: &[f64]) -> Option<Vec<f64>> {
        let said = self.forest.predict(&matrix(rows, self.width)?).ok()?;
        Some(if self.corrects {
            said.iter().zip(expected).map(|(s, e)| s + e).collect()
        } else {
            said
        })
    }
}

/// The features of points, padded: lists may have several lengths.
fn matrix(rows: &[Vec<f64>], width: usize) -> Option<DenseMatrix<f64>> {
    let same = |row: &Vec<f64>| {
        let mut row = row.clone();
        row.resize(width, -1.0);
        row
    };
    DenseMatrix::from_2d_vec(&rows.iter().map(same).collect()).ok()
}

impl Search for Model {
    fn fill(&mut self, outlook: &mut Outlook<'_, '_>, proposed: &mut Proposed) -> Result<(), Halt> {
        let count = proposed.most;
        let pool = self.pool(outlook, POOL * count)?;
        let mut known = Vec::new();
        let mut unknown = Vec::new();
        for digits in pool {
            match Model::known(outlook, &digits)? {
                Some((features, expected)) => known.push((digits, features, expected)),
                // Refused points, which are counted and cost nothing to try, or points beyond the
                // model.
                None => unknown.push(digits),
            }
        }
        let rows: Vec<Vec<f64>> = known.iter().map(|(_, row, _)| row.clone()).collect();
        let expected: Vec<f64> = known.iter().map(|(_, _, expected)| *expected).collect();
        let learned = self.learned(outlook)?.filter(|_| !rows.is_empty());
        let foretold = learned.and_then(|learned| learned.foretold(&rows, &expected));
        let times = foretold.unwrap_or(expected).into_iter();
        let points = known.into_iter().map(|(digits, _, _)| digits);
        let mut ranked: Vec<(f64, ConfigIndex)> = times.zip(points).collect();
        ranked.sort_by(|a, b| a.0.total_cmp(&b.0));
        // One point in eight is random, since the model may be wrong in unexplored regions.
        let surprises = count / 8;
        let mut ranked: Vec<ConfigIndex> = ranked.into_iter().map(|(_, digits)| digits).collect();
        let rest = ranked.split_off(ranked.len().min(count - surprises));
        let mut rest: Vec<ConfigIndex> = rest.into_iter().chain(unknown).collect();
        self.rng.shuffle(&mut rest);
        for digits in ranked.into_iter().chain(rest) {
            proposed.add(outlook, &digits)?;
        }
        Ok(())
    }
}
