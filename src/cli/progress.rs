//! How far long work is, for the person at the terminal.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::cell::Cell;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// How often a plain line says it where there is no terminal.
const LINE_EVERY: Duration = Duration::from_secs(5);

/// A bar on a terminal, a plain line now and then elsewhere, nothing for machines. All of it on stderr.
pub(super) struct Progress {
    bar: ProgressBar,
    lines: Option<Cell<Instant>>,
    what: String,
}

/// Whether a bar is drawn: for a person at a terminal.
pub(super) fn shows_bar(as_json: bool) -> bool {
    !as_json && std::io::stderr().is_terminal()
}

impl Progress {
    /// `rows` are to be done for `what`.
    pub(super) fn new(what: String, rows: i64, as_json: bool) -> Self {
        let bar = if shows_bar(as_json) {
            ProgressBar::with_draw_target(u64::try_from(rows).ok(), ProgressDrawTarget::stderr())
        } else {
            ProgressBar::hidden()
        };
        if let Ok(style) =
            ProgressStyle::with_template("{bar:40} {human_pos}/{human_len} rows, {per_sec}, {eta} left {msg}")
        {
            bar.set_style(style);
        }
        bar.set_length(u64::try_from(rows).unwrap_or(0));
        let is_plain = !as_json && !shows_bar(as_json);
        Self { bar, lines: is_plain.then(|| Cell::new(Instant::now())), what }
    }

    /// It turned out how many rows are to be done.
    pub(super) fn of(&self, rows: i64) {
        self.bar.set_length(u64::try_from(rows).unwrap_or(0));
    }

    /// Something beside the figures.
    pub(super) fn note(&self, text: String) {
        self.bar.set_message(text);
    }

    /// So many rows are done.
    #[expect(clippy::print_stderr, reason = "progress, for who watches; the answer goes to stdout")]
    pub(super) fn at(&self, done: i64) {
        self.bar.set_position(u64::try_from(done).unwrap_or(0));
        let Some(last) = self.lines.as_ref().filter(|last| last.get().elapsed() > LINE_EVERY) else {
            return;
        };
        last.set(Instant::now());
        eprintln!("{}: {done} of {} rows", self.what, self.bar.length().unwrap_or(0));
    }

    /// All is done, and the bar stays to be seen.
    pub(super) fn stay(&self) {
        self.bar.finish();
    }

    /// The answer comes now.
    pub(super) fn end(&self) {
        self.bar.finish_and_clear();
    }
}
