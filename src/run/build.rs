//! Tells the crate for which target it is built: finding a C compiler at run time needs it.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let target = std::env::var("TARGET").unwrap_or_default();
    println!("cargo::rustc-env=TEML_TARGET={target}");
}
