//! Tests of tensor operators as data: cases of an operator with its inputs and what must come out, run here or judged by
//! what another runtime has written.
//!
//! A [`Case`](case::Case) says which operator of which specification and version is applied to what. It comes from an entry
//! of a JSON text, from a folder with `case.json`, or from a folder as ONNX's backend tests have them ([`find`]); those of
//! the program itself are [`vectors`]. [`operators`] makes the same operators of a case that the sub-commands make of a
//! command line: those of [`movement`] by one call, those of [`compositions`] and [`blocks`] by several. [`specified`] knows what
//! else ONNX and OpenVINO have. [`results`] are the files that a runtime writes for a test, [`judge`] compares, and [`export`]
//! writes cases for runtimes in other languages.

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
