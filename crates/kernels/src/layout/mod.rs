//! Axes, dims, views of storage and windows; copies of items between views.

pub mod axis;
pub mod boxes;
pub mod copy;
pub mod gather;
pub mod numbers;
pub mod segments;
#[cfg(test)]
mod tests;
mod tile;
pub mod view;
pub mod walk;
pub mod window;
