//! What the product writes into its log while the tests run, by request id.

use serde_json::Value;
use std::io::{self, Write};
use std::sync::{Mutex, Once};

static LINES: Mutex<Vec<Value>> = Mutex::new(Vec::new());

struct Lines;

impl Write for Lines {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if let Ok(line) = serde_json::from_slice(line) {
            LINES.lock().unwrap().push(line);
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Begins to listen, for all tests of this process: every line at INFO or above, as the product writes them.
pub fn listen() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let lines = tracing_subscriber::fmt().with_max_level(tracing::Level::INFO).with_writer(|| Lines);
        lines.json().with_current_span(true).with_span_list(false).flatten_event(true).try_init().unwrap();
    });
}

/// The lines so far in which a text stands.
pub fn that_hold(text: &str) -> Vec<Value> {
    LINES.lock().unwrap().iter().filter(|line| line.to_string().contains(text)).cloned().collect()
}

/// The lines of one request so far.
pub fn of_request(id: &str) -> Vec<Value> {
    LINES.lock().unwrap().iter().filter(|line| line["span"]["request_id"] == id).cloned().collect()
}
