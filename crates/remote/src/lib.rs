//! Objects on servers, read by ranges, and stores of objects.
//!
//! An [`Address`] names an object, a [`Client`] requests it, and a [`RemoteObject`] holds its bytes. Requests block
//! their thread. Servers may stall, end early or ignore headers, so every answer must have the requested range, the
//! size and version of the first answer, and no encoding. Other answers are retried or end the run.

#![forbid(unsafe_code)]

mod address;
mod answer;
mod changing;
mod client;
mod credentials;
mod object;
mod reading;
mod store;

#[doc(hidden)]
pub use self::address::Address;
#[doc(hidden)]
pub use self::answer::digest;
#[doc(hidden)]
pub use self::changing::{ListedNames, PutCondition};
#[doc(hidden)]
pub use self::client::Client;
#[doc(hidden)]
pub use self::object::RemoteObject;
#[doc(hidden)]
pub use self::store::RemoteStore;
