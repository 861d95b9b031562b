//! Items of any dtype as numbers of one type.

use crate::item::dtype::{DType, Kind, Narrow};
use crate::item::element::{Element, Float, match_kind, not_numbers};

/// Returns whether any number is NaN.
pub type Load<N> = Box<dyn Fn(&[u8], &mut Vec<N>) -> bool + Send + Sync>;

/// Appending would check the capacity for each item.
#[inline(always)]
pub fn load<S: Element, N: Copy + Default>(bytes: &[u8], out: &mut Vec<N>, mut number: impl FnMut(S::Bytes) -> N) {
    let items = S::chunks(bytes);
    out.resize(items.len(), N::default());
    for (slot, &item) in out.iter_mut().zip(items) {
        *slot = number(item);
    }
}

/// Passes float64s to `store`, two for a complex item. `None` for long doubles and items that are not numbers.
pub fn reals<N: Copy + Default + 'static>(
    dtype: &DType,
    store: impl Fn(f64) -> N + Copy + Send + Sync + 'static,
) -> Option<Load<N>> {
    let big = dtype.is_big_endian();
    Some(match_kind!(dtype.kind(), {
        bool T => load_reals(big, |item: T| f64::from(u8::from(item)), store),
        integer T => load_reals(big, |item: T| item as f64, store),
        float T => load_reals(big, T::wide, store),
        complex T => load_reals(big, <T as Element>::Part::wide, store),
        Kind::Narrow(narrow) if narrow.is_integer() => {
            let values = narrow_integers(*narrow);
            load_reals(big, move |item: u8| f64::from(values[usize::from(item)]), store)
        }
        Kind::Narrow(narrow) => {
            let values: [f64; 256] = std::array::from_fn(|item| narrow.value(item as u8));
            load_reals(big, move |item: u8| values[usize::from(item)], store)
        }
        not_numbers!() => return None,
    }))
}

fn load_reals<S: Element, N: Copy + Default>(
    big: bool,
    number: impl Fn(S) -> f64 + Send + Sync + 'static,
    store: impl Fn(f64) -> N + Send + Sync + 'static,
) -> Load<N> {
    Box::new(move |bytes, out| match big {
        true => load_and_check(bytes, out, S::from_big, &number, &store),
        false => load_and_check(bytes, out, S::from_little, &number, &store),
    })
}

#[inline(always)]
fn load_and_check<S: Element, N: Copy + Default>(
    bytes: &[u8],
    out: &mut Vec<N>,
    read: impl Fn(S::Bytes) -> S,
    number: &impl Fn(S) -> f64,
    store: &impl Fn(f64) -> N,
) -> bool {
    let mut has_nan = false;
    load::<S, N>(bytes, out, |item| {
        let value = number(read(item));
        has_nan |= value.is_nan();
        store(value)
    });
    has_nan
}

/// Passes little-endian integers to `store`. `None` for other items.
pub fn integers<N: Copy + Default + 'static>(
    kind: &Kind,
    store: impl Fn(i128) -> N + Copy + Send + Sync + 'static,
) -> Option<Load<N>> {
    Some(match_kind!(kind, {
        bool T => load_integers(|item: T| item.into(), store),
        integer T => load_integers(|item: T| item.into(), store),
        float T => return None,
        complex T => return None,
        Kind::Narrow(narrow) if narrow.is_integer() => {
            let values = narrow_integers(*narrow);
            load_integers(move |item: u8| values[usize::from(item)].into(), store)
        }
        Kind::Narrow(_) | not_numbers!() => return None,
    }))
}

fn load_integers<S: Element, N: Copy + Default>(
    number: impl Fn(S) -> i128 + Send + Sync + 'static,
    store: impl Fn(i128) -> N + Send + Sync + 'static,
) -> Load<N> {
    Box::new(move |bytes, out| {
        load::<S, N>(bytes, out, |item| store(number(S::from_little(item))));
        false
    })
}

fn narrow_integers(narrow: Narrow) -> [i8; 256] {
    std::array::from_fn(|item| narrow.value(item as u8) as i8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_loaded_as_the_numbers_that_they_are() {
        let rows: [(&str, &[u8], &[f64]); 9] = [
            ("bool", &[0, 1, 7], &[0.0, 1.0, 1.0]),
            ("int8", &[0xff, 2], &[-1.0, 2.0]),
            ("<u2", &[1, 2], &[513.0]),
            (">u2", &[1, 2], &[258.0]),
            ("<f2", &[0, 0x3c, 0, 0xc0, 9], &[1.0, -2.0]),
            (">f4", &[0x3f, 0x80, 0, 0], &[1.0]),
            (">c8", &[0x3f, 0x80, 0, 0, 0xc0, 0, 0, 0], &[1.0, -2.0]),
            ("int4", &[15, 7, 0xff], &[-1.0, 7.0, -1.0]),
            ("float8_e4m3fn", &[0x38, 0xb8], &[1.0, -1.0]),
        ];
        for (dtype, bytes, numbers) in rows {
            let dtype = DType::parse(dtype).unwrap();
            let mut found = vec![9.0; 5];
            assert!(!reals(&dtype, |value| value).unwrap()(bytes, &mut found), "{dtype:?}");
            assert_eq!(found, numbers, "{dtype:?}");
            let whole = integers(dtype.kind(), |value| value as f64).filter(|_| !dtype.is_big_endian());
            if let Some(whole) = whole {
                whole(bytes, &mut found);
                assert_eq!(found, numbers, "{dtype:?}");
            }
        }
        let load = reals(&DType::parse("float16").unwrap(), f64::is_nan).unwrap();
        let mut found = Vec::new();
        assert!(load(&[0, 0x7e, 0, 0x3c], &mut found));
        assert_eq!(found, [true, false]);
        for dtype in ["<U3", "<M8[s]", "V4"] {
            let dtype = DType::parse(dtype).unwrap();
            assert!(reals(&dtype, |value| value).is_none() && integers(dtype.kind(), |value| value).is_none());
        }
    }
}
