//! Compares two tensors: how many elements differ, how far, and which tolerance would accept them.
//!
//! An element passes if its bits are equal, if both elements are NaN, or if a tolerance accepts it. With any tolerance, a
//! [`Difference`] has the largest errors and the tolerances that would accept all elements.
//!
//! ```
//! use tensorop_files::diff::{self, Options};
//! use tensorop_files::{DType, Tensor};
//!
//! let tensor = |items: [f32; 3]| {
//!     let bytes = items.iter().flat_map(|item| item.to_le_bytes()).collect();
//!     Tensor::new(DType::parse("float32").unwrap(), vec![3], bytes).unwrap()
//! };
//! let found = diff::compare(&tensor([1.0, 2.0, 4.0]), &tensor([1.0, 2.5, 4.0]), &Options::default())?;
//! assert!(!found.equal());
//! assert_eq!(found.verdict(), "different: 1 of 3 items (33.3 %) of float32 [3]");
//! assert_eq!((found.min_atol(), found.min_rtol()), (Some(0.5), Some(0.25)));
//! let tolerant = Options::default().with_rtol(0.25);
//! assert!(diff::compare(&tensor([1.0, 2.0, 4.0]), &tensor([1.0, 2.5, 4.0]), &tolerant)?.equal());
//! # Ok::<(), tensorop_files::Error>(())
//! ```
//!
//! A comparison ([`compare`](compare_sources)) scans both tensors window by window. `reading` converts items to one of a
//! few types, and only the loops of `kernel` are compiled for each type. `tally` counts and lists mismatches, `sums` and
//! `search` compute metrics and quantiles, `places` marks indices with mismatches, and `reports` write the result.

mod agreement;
mod compare;
/// The findings of a comparison of two tensors: mismatches, their places, and differing metadata.
#[allow(missing_docs, clippy::missing_errors_doc, reason = "the types that this module exports have docs")]
pub(crate) mod findings {
    pub(crate) mod difference;
    pub mod metadata;
    pub(crate) mod places;
    pub(crate) mod tally;
}
/// The numbers of a comparison: items as numbers, their distances, sums and metrics, and the loops over pairs.
mod numbers {
    pub(crate) mod distance;
    pub(crate) mod item;
    pub(crate) mod kernel;
    pub(crate) mod lanes;
    pub(crate) mod reading;
    pub(crate) mod sums;
    pub(crate) mod walk;
}
mod options;
/// Reports of comparisons: the texts of one and of many tensors, and maps of the places that differ.
#[allow(missing_docs, clippy::missing_errors_doc, reason = "for the program alone")]
pub(crate) mod reports {
    pub(crate) mod lines;
    pub mod maps;
    pub mod models;
    pub(crate) mod report;
}
mod search;
#[cfg(test)]
mod tests;

pub use self::agreement::compare;
#[doc(hidden)]
pub use self::agreement::compare_sources;
#[doc(hidden)]
pub use self::agreement::{PlannedComparison, explain_sources};
pub use self::findings::difference::{Difference, Extreme, Mismatch, Outline, Reason};
pub use self::findings::places::AxisPlaces;
pub use self::numbers::distance::Number;
pub use self::numbers::sums::Metrics;
#[doc(hidden)]
pub use self::options::Effort;
pub use self::options::{Allowed, Failure, MetricLimits, Options};
#[doc(hidden)]
pub use self::reports::report::write_json_of_new;
pub use self::search::QUANTILES;
pub use crate::report::{OptionNames, Style};
