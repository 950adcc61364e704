//! `sqlx::migrate!` and the page's files are read at compile time: build again when they change. `web/dist` is always
//! there; what is in it comes from `scripts/web.sh`, and without it the program says at `/` how to get the page.
fn main() {
    println!("cargo:rerun-if-changed=migrations");
    println!("cargo:rerun-if-changed=web/dist");
}
