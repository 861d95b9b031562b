//! Where items lie: axes, dims, views of storage, windows, and the walk that copies.

pub mod axis;
pub mod gather;
pub mod numbers;
pub mod shape;
pub mod view;
pub mod walk;
pub mod window;
