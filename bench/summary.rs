//! The figures: a table for people, and `summary.json`, one flat object, kept and added to by every part.

use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

pub struct Summary {
    path: PathBuf,
    figures: Map<String, Value>,
}

impl Summary {
    pub fn open(dir: &Path) -> Result<Self, String> {
        let path = dir.join("summary.json");
        let figures = match std::fs::read(&path) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| format!("{}: {error}", path.display()))?,
            Err(_) => Map::new(),
        };
        Ok(Self { path, figures })
    }

    /// Prints a figure, with how it was meant to be, and keeps it.
    pub fn set(&mut self, name: &str, value: f64, note: &str) -> Result<(), String> {
        let rounded =
            if value.abs() < 100.0 { (value * 1000.0).round() / 1000.0 } else { (value * 10.0).round() / 10.0 };
        println!("  {name:<28} {rounded:>10}  {note}");
        self.figures.insert(name.to_owned(), json!(rounded));
        let text = serde_json::to_string_pretty(&self.figures).map_err(|error| error.to_string())?;
        std::fs::write(&self.path, text + "\n").map_err(|error| format!("{}: {error}", self.path.display()))
    }

    /// Forgets a figure that this run could not find.
    pub fn unset(&mut self, name: &str) {
        self.figures.remove(name);
    }
}
