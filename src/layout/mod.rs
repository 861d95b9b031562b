//! Describes where items lie: axes, dims, views of storage and windows; copies items from one view to another.

pub mod axis;
mod block;
pub mod gather;
pub mod numbers;
pub mod segments;
pub mod shape;
#[cfg(test)]
mod tests;
pub mod tile;
pub mod view;
pub mod walk;
pub mod window;
