//! The window loop and other passes over tensors: scans, quantiles.

pub mod cost;
pub mod explain;
pub mod job;
pub mod plan;
pub mod planner;
pub mod quantiles;
pub mod scan;
mod select;
pub mod sink;
pub mod slabs;
