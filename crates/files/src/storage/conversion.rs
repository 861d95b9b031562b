//! Items that are converted while they are read.

use super::source::{READ_AT_ONCE, Source};
use tensorop_kernels::error::Result;
use tensorop_kernels::item::encoding::Conversion;
use tensorop_kernels::layout::view::View;
use tensorop_kernels::layout::window::Windows;
use tensorop_kernels::memory::Buffer;

impl Source {
    /// Reads and converts the items of `view`.
    pub fn read_as(&self, conversion: &Conversion, view: &View, out: &mut [u8], scratch: &mut Buffer) -> Result<()> {
        if conversion.keeps_width() {
            self.read(view, out, scratch)?;
            conversion.swap(out);
            return Ok(());
        }
        let [from, to] = [self.dtype().itemsize(), conversion.itemsize()];
        let mut items = Buffer::default();
        // Items that become narrower are converted a few at a time: updates of `<U1000` for data of `<U1` would take a
        // thousand times the memory of their window.
        for window in Windows::new(&view.shape(), READ_AT_ONCE / from.max(1)).iter() {
            let box_view = view.part(&window.ranges);
            items.resize(box_view.items() * from, self.label())?;
            self.read(&box_view, &mut items, scratch)?;
            conversion.convert(&mut items, &mut out[window.start * to..][..box_view.items() * to]);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tensorop_kernels::item::dtype::DType;
    use tensorop_kernels::item::meta::Meta;
    use tensorop_kernels::item::tensor::Tensor;

    fn dtype(name: &str) -> DType {
        DType::parse(name).unwrap()
    }

    #[test]
    fn items_that_are_read() {
        let rows: [(&str, &str, &[u8], &[u8]); 6] = [
            ("<u2", "<u2", &[1, 2, 3, 4], &[1, 2, 3, 4]),
            ("<u2", ">u2", &[1, 2, 3, 4], &[2, 1, 4, 3]),
            ("<c8", ">c8", &[1, 2, 3, 4, 5, 6, 7, 8], &[4, 3, 2, 1, 8, 7, 6, 5]),
            ("|S2", "|S3", b"abc\0", b"ab\0c\0\0"),
            ("|S3", "|S2", b"ab\0c\0\0", b"abc\0"),
            ("<U1", ">U2", &[7, 0, 0, 0, 8, 0, 0, 0], &[0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0]),
        ];
        for (from, to, items, expected) in rows {
            let (from, to) = (dtype(from), dtype(to));
            let shape = vec![items.len() / from.itemsize()];
            let conversion = Conversion::new(&from, &to).unwrap();
            let source = Source::memory(Tensor::new(from.clone(), shape.clone(), items.to_vec()).unwrap(), "x".into());
            for windows in [Windows::new(&shape, usize::MAX), Windows::new(&shape, 1)] {
                let mut found = Vec::new();
                for window in windows.iter() {
                    let mut out = vec![9; window.items() * to.itemsize()];
                    let view = Meta::c_order(from.clone(), shape.clone()).view().part(&window.ranges);
                    source.read_as(&conversion, &view, &mut out, &mut Default::default()).unwrap();
                    found.extend(out);
                }
                assert_eq!(found, expected, "{from:?} as {to:?}");
            }
        }
    }

    #[test]
    fn wide_items_are_not_all_held_at_once() {
        let from = dtype("<U100000");
        let items: Vec<u8> = (1..=4_u32).flat_map(|n| [vec![n as u8], vec![0; 399_999]].concat()).collect();
        let source = Source::memory(Tensor::new(from.clone(), vec![4], items).unwrap(), "x".into());
        let conversion = Conversion::new(&from, &dtype("<U1")).unwrap();
        let mut out = [9; 16];
        source.read_as(&conversion, &source.view(), &mut out, &mut Default::default()).unwrap();
        assert_eq!(out, [1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0]);
    }
}
