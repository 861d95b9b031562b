//! Stands for `bucket.rs` in a build without the feature `remote`: there are no buckets.

use std::marker::PhantomData;

use super::draft::StoreDraft;
use super::parts::{Parts, Record};
use crate::storage::read_at::Identity;
use tensorop_kernels::error::Result;

#[derive(Debug)]
pub enum BucketTarget {}

#[derive(Debug)]
pub struct BucketOutput<'a>(BucketTarget, PhantomData<&'a BucketTarget>);

impl BucketTarget {
    pub fn label(&self) -> &str {
        match *self {}
    }

    pub fn old_identity(&self) -> Option<Identity> {
        match *self {}
    }

    pub fn overlaps(&self, _: &str) -> bool {
        match *self {}
    }

    pub fn begin(&self) -> Result<BucketOutput<'_>> {
        match *self {}
    }

    pub fn parts(&self, _: Record) -> Parts<'_> {
        match *self {}
    }
}

impl BucketOutput<'_> {
    pub fn store(&self) -> &dyn StoreDraft {
        match self.0 {}
    }

    pub fn finish(&self) -> Result<()> {
        match self.0 {}
    }
}
