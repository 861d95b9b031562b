//! Items of two dtypes made ones of a class that holds both.

use super::item::{ComparedItem, ItemClass, Task};

/// Asks for the class of a dtype's items.
pub(super) struct ClassOf;

impl Task for ClassOf {
    type Output = ItemClass;

    fn run<T: ComparedItem>(self, _: impl Fn(&[u8]) -> T + Copy + Send + Sync + 'static) -> ItemClass {
        T::CLASS
    }
}

/// Turns the items of a window into those of [`ItemClass`]: 16 bytes of an integer, a float64, or two.
pub(super) type Widen = Box<dyn Fn(&[u8], &mut Vec<u8>) + Send + Sync>;

/// Asks how items become those of a class that holds both operands', and each NaN this one: the bits of NaN in two
/// dtypes have nothing in common, and what a conversion makes of them is left to the machine.
pub(super) struct WidenTo(pub ItemClass, pub f64);

impl Task for WidenTo {
    type Output = Widen;

    fn run<T: ComparedItem>(self, read: impl Fn(&[u8]) -> T + Copy + Send + Sync + 'static) -> Widen {
        Box::new(move |bytes, out| {
            out.clear();
            let items = bytes.chunks_exact(T::SIZE).map(read);
            let float = |value: f64| if value.is_nan() { self.1 } else { value }.to_le_bytes();
            match self.0 {
                ItemClass::Integer => items.for_each(|item| out.extend_from_slice(&item.integer().to_le_bytes())),
                ItemClass::Float | ItemClass::Date => {
                    items.for_each(|item| out.extend_from_slice(&float(item.parts().0)));
                }
                ItemClass::Complex => items.for_each(|item| {
                    let (re, im) = item.parts();
                    out.extend_from_slice(&float(re));
                    out.extend_from_slice(&float(im));
                }),
            }
        })
    }
}
