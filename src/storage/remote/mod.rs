//! What lies behind an address: objects that a server gives by ranges of bytes, and stores of such objects.
//!
//! An [`Address`] names an object, a [`Client`] asks for it, and a [`RemoteObject`] is its bytes as every reader of a format
//! reads them. Requests block the thread that makes them: several threads have several requests under way.
//!
//! A server may end early, stall, ignore what was asked for, or give another version of the object than a moment before.
//! The client takes no answer on trust: a part counts only if it is the part that was asked for, of the size and the
//! version that the first answer told, and not encoded. Otherwise it is asked for again, or the run ends with an error.

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
