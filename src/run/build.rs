//! Records the target triple for which the crate is built: `cc` needs it to find a C compiler at
//! run time.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let target = std::env::var("TARGET").unwrap_or_default();
    println!("cargo::rustc-env=TEML_TARGET={target}");
}
