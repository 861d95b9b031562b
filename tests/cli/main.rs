//! The program as its users meet it: a module for each sub-command, for what several of them share, and for what is
//! delivered beside the program. One binary, because linking takes longer than most of these tests.

#[path = "../common/mod.rs"]
mod common;

// sub-commands
mod broadcast;
mod casts;
mod check;
mod completions;
mod concat;
mod convert;
mod diff;
mod dtypes;
mod dumps;
mod edits;
mod explain;
mod file_metadata;
mod folders;
mod gather;
mod gather_elements;
mod gather_nd;
mod gguf;
mod gguf_names;
mod golden;
mod indices;
mod info;
mod judge;
mod judge_versions;
mod man;
#[cfg(feature = "zarr")]
mod metadata;
mod model_reports;
mod models;
mod moving;
mod pad;
mod pytorch;
mod quantized;
mod rechunked;
#[cfg(feature = "remote")]
mod remote;
#[cfg(feature = "remote")]
mod remote_faults;
#[cfg(feature = "remote")]
mod remote_outputs;
#[cfg(feature = "remote")]
mod remote_settings;
mod reshape;
mod roll;
mod scatter_elements;
mod scatter_nd;
mod scatter_update;
mod shards;
mod show;
mod slice;
mod slice_scatter;
mod split;
mod textconv;
mod tile;
mod transpose;
mod trees;
mod verdicts;

// operands, outputs and formats, whatever the sub-command
mod big;
mod container_edits;
mod containers;
mod content;
mod csv;
mod hints;
mod in_place;
mod names;
mod onnx_models;
mod openvino_models;
mod operands;
mod operators;
mod output;
#[cfg(feature = "zarr")]
mod packed;
mod parts;
mod raw;
mod replace;
mod scalars;
#[cfg(feature = "zarr")]
mod zarr;

// what is delivered beside the program, and what it is built from
mod guide;
mod help;
mod map;
#[cfg(feature = "zarr")]
mod parts_guide;
mod plans;
mod python;
mod readme;
mod samples;
mod store_members;
mod stores;
mod supply_chain;
mod workflows;
