//! Objects on servers, read by ranges, and stores of objects.
//!
//! An [`Address`] names an object, a [`Client`] requests it, and a [`RemoteObject`] holds its bytes. Requests block
//! their thread. Servers may stall, end early or ignore headers, so every answer must have the requested range, the
//! size and version of the first answer, and no encoding. Other answers are retried or end the run.

mod address;
mod answer;
mod bucket;
mod changing;
mod client;
mod credentials;
mod object;
mod reading;
mod settings;
mod store;

pub use self::address::Address;
pub use self::bucket::{BucketOutput, BucketTarget};
pub use self::changing::ListedNames;
pub use self::client::Client;
pub use self::object::RemoteObject;
pub use self::store::RemoteStore;
