//! What other programs wrote and printed, kept as files beside these modules: `tests/oracle` makes them with NumPy and
//! the formats' own packages. The modules need the library; tests that run the program need the feature `cli`.

#[path = "../common/mod.rs"]
mod common;

mod cast;
mod csv;
#[cfg(feature = "cli")]
mod example;
mod formats;
mod gguf;
mod narrow;
mod npy;
mod text;
mod values;
#[cfg(feature = "zarr")]
mod zarr;
