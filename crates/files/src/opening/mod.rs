//! From a path to an open input: [`located`] divides it, [`table`] recognises the format, and [`input`] opens it. Folders,
//! numbered files, dumps and addresses are inputs of several files.

pub mod collection;
pub mod dump_views;
pub(crate) mod dumps;
pub mod folder;
pub(crate) mod folder_model;
pub mod input;
pub mod located;
pub(crate) mod numbered;
pub mod remote;
pub(crate) mod rows;
pub mod table;
