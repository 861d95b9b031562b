//! Requests to servers and buckets.
//!
//! An [`Address`] names an object, and a [`Client`] requests it. Requests block their thread. Servers may stall, end early
//! or ignore headers, so every answer must have the requested range, the size and version of the first answer, and no
//! encoding. Other answers are retried or end the run.
//!
//! Without the feature `client` there are only [`requests`]: their options and events, and the names of addresses.

#![forbid(unsafe_code)]

#[cfg(feature = "client")]
mod address;
#[cfg(feature = "client")]
mod answer;
#[cfg(feature = "client")]
mod changing;
#[cfg(feature = "client")]
mod client;
#[cfg(feature = "client")]
mod credentials;
#[cfg(feature = "client")]
mod reading;
pub mod requests;

#[cfg(feature = "client")]
#[doc(hidden)]
pub use self::{
    address::Address,
    answer::{Version, changed, digest},
    changing::{ListedNames, PutCondition},
    client::Client,
    reading::{FirstAnswer, KeptBytes},
};
