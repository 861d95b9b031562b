//! The largest of some values, whichever window they come from.

/// The largest of some values, and the number of the first item that has it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Most<V> {
    pub value: V,
    pub item: usize,
}

impl<V> Most<V> {
    /// Returns the value that items from number `start` on must exceed to be the largest, or a first one as large. `below`
    /// returns the value that all that are as large exceed; `None` if there is none.
    pub(super) fn exceeded(self, start: usize, below: impl Fn(V) -> Option<V>) -> Option<V> {
        if start < self.item { below(self.value) } else { Some(self.value) }
    }
}

/// Returns the next smaller float that is not negative.
pub(super) fn below_float(value: f64) -> Option<f64> {
    (value > 0.0).then(|| value.next_down())
}

/// Takes the value of an item into account, if it has one. Items may come in any order.
pub(super) fn raise<V: PartialOrd + Copy>(most: &mut Option<Most<V>>, new: Option<Most<V>>) {
    let is_new = |new: &Most<V>| {
        most.is_none_or(|most| new.value > most.value || new.value == most.value && new.item < most.item)
    };
    *most = new.filter(is_new).or(*most);
}
