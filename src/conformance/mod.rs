//! Tests of operators as data: cases with inputs and expected outputs.
//!
//! A [`Case`](case::Case) is read by [`find`] or comes from the program's own [`vectors`]. [`operators`] links it, by
//! one call ([`movement`]) or several ([`compositions`], [`blocks`]); [`specified`] lists all operators of ONNX and
//! OpenVINO; [`judge`] compares outputs, also those of another runtime ([`results`]); [`export`] writes cases.

mod arguments;
mod blocks;
pub(crate) mod case;
mod compositions;
pub(crate) mod export;
pub(crate) mod find;
pub(crate) mod judge;
mod movement;
mod operators;
pub(crate) mod results;
mod specified;
pub(crate) mod vectors;
