//! `sqlx::migrate!` reads the folder at compile time: build again when it changes.
fn main() {
    println!("cargo:rerun-if-changed=migrations");
}
