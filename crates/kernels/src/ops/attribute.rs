//! The attributes of operators, as specifications have them.

/// The value of an attribute.
#[derive(Clone, Debug, PartialEq)]
pub enum AttributeValue {
    /// A number.
    Int(i64),
    /// A list of numbers.
    Ints(Vec<i64>),
    /// A float.
    Float(f32),
    /// A text.
    Text(String),
    /// A value of another kind.
    Other,
}
