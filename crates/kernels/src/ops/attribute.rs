//! The attributes of operators, as specifications have them.

/// The value of an attribute.
#[derive(Clone, Debug, PartialEq)]
pub enum AttributeValue {
    Int(i64),
    Ints(Vec<i64>),
    Float(f32),
    Text(String),
    Other,
}
