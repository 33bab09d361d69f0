//! The times of an earlier bench, to compare with.

use serde_json::Value;
use std::path::Path;

/// The results of an earlier bench.
#[derive(Clone, Debug)]
pub struct Against(Value);

impl Against {
    /// Reads `bench.json`.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn read(path: &Path) -> Result<Against, String> {
        let named = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        let text = std::fs::read_to_string(path).map_err(|error| named(&error))?;
        let value: Value = serde_json::from_str(&text).map_err(|error| named(&error))?;
        if value["groups"].is_array() {
            Ok(Against(value))
        } else {
            Err(named(&"this is not the bench.json of a bench"))
        }
    }

    /// The median time of a variant, in seconds.
    pub fn median(&self, kernel: &str, name: &str) -> Option<f64> {
        let groups = self.0["groups"].as_array()?;
        let group = groups.iter().find(|group| group["kernel"] == kernel)?;
        let lines = group["lines"].as_array()?;
        let line = lines.iter().find(|line| line["name"] == name)?;
        line["times"]["median"]
            .as_f64()
            .filter(|median| *median > 0.0)
    }

    /// Date and place of the earlier bench.
    pub fn place(&self) -> String {
        let text = |value: &Value| value.as_str().unwrap_or("unknown").to_owned();
        let cpu = text(&self.0["machine"]["cpu"]);
        let threads = self.0["threads"].as_u64().unwrap_or(0);
        format!("{}, {cpu}, {threads} threads", text(&self.0["date"]))
    }
}
