//! Windows of every kind of weight, against its items one by one.

use std::sync::Arc;

use super::matrix::{CodeBytes, CodePacking, CodePlanes, Encoding, LoadedBytes, Matrix};
use super::weight::{Groups, QuantizedItems, SharedNumbers, WholeScale};
use crate::narrow::units::ByUnits;
use crate::storage::read_at::{Identity, MemoryBytes, ReadAt};
use crate::storage::source::Source;
use tensorop_kernels::item::dtype::Kind;
use tensorop_kernels::item::meta::Meta;

fn bytes(count: usize, seed: usize) -> Vec<u8> {
    (0..count).map(|n| ((n + seed) * 167 + n / 7) as u8 & 0x77).collect()
}

fn matrix(encoding: Encoding, rows: usize, cols: usize, seed: usize) -> Matrix {
    let stored_rows = match encoding {
        Encoding::ColumnWords(packing) => packing.words(rows),
        Encoding::CodeColumns => rows / 2,
        Encoding::Tiles => rows.div_ceil(128),
        Encoding::Planes(planes) => planes.rows,
        _ => rows,
    };
    let bytes = bytes(stored_rows * encoding.row_bytes(cols), seed);
    let meta = Meta::c_order(Kind::UInt8.into(), vec![bytes.len()]);
    let source = Source::stored(meta, Arc::new(MemoryBytes::new(bytes)), 0, "part".to_owned()).expect("a source");
    Matrix::new(source, encoding, cols)
}

/// The item of a row and column, which is decoded alone.
fn item(matrix: &Matrix, row: usize, col: usize) -> f32 {
    let (mut loaded, mut item) = (LoadedBytes::default(), [0.0]);
    matrix.load(&(row..row + 1), &(col..col + 1), &mut loaded).expect("bytes");
    matrix.decode(row, col..col + 1, &loaded, &mut item);
    item[0]
}

fn groups(plane: usize, rows_in_plane: usize, rows: usize, cols: usize) -> Groups {
    Groups { plane, rows_in_plane, rows, cols, listed_rows: None, listed_cols: None }
}

#[test]
fn items_of_words() {
    let stored = [0x8765_4321_u32, 0xfedc_ba98];
    let bytes: Vec<u8> = stored.iter().flat_map(|word| word.to_le_bytes()).collect();
    let source = || {
        let meta = Meta::c_order(Kind::UInt8.into(), vec![bytes.len()]);
        Source::stored(meta, Arc::new(MemoryBytes::new(bytes.clone())), 0, String::new()).expect("a source")
    };
    let both = u64::from(stored[0]) | u64::from(stored[1]) << 32;
    for bits in [2, 3, 4, 5, 8] {
        for (is_dense, count) in [(true, 64 / bits), (false, 32 / bits * 2)] {
            let packing = CodePacking { bits, is_dense };
            let row = Matrix::new(source(), Encoding::Words(packing), count);
            let column = Matrix::new(source(), Encoding::ColumnWords(packing), 1);
            for n in 0..count {
                let bit = if is_dense { n * bits } else { n / (32 / bits) * 32 + n % (32 / bits) * bits };
                let expected = (both >> bit & ((1 << bits) - 1)) as f32;
                assert_eq!((item(&row, 0, n), item(&column, n, 0)), (expected, expected), "{packing:?} {n}");
            }
        }
    }
    let awq = Matrix::new(source(), Encoding::AwqWords, 16);
    let found: Vec<_> = (0..16).map(|n| item(&awq, 0, n)).collect();
    assert_eq!(found, [1., 5., 2., 6., 3., 7., 4., 8., 8., 12., 9., 13., 10., 14., 11., 15.]);
}

#[test]
fn windows_of_weights() {
    let words = |bits, is_dense| Encoding::Words(CodePacking { bits, is_dense });
    let planes =
        |rows, bits, planes, word| Encoding::Planes(CodePlanes { rows, bits, planes, word, high_first: word == 4 });
    let columns = |bits| Encoding::ColumnWords(CodePacking { bits, is_dense: true });
    let codes = |bits, high_first| Encoding::Codes(CodeBytes { bits, high_first });
    let listed = |count: usize, of: usize| (0..count).map(|n| n * 5 % of).collect::<Vec<_>>();
    // codes, scales, zeros, their groups, rows and columns of the weight
    let weights = [
        (Encoding::BYTES, Encoding::Float32, None, groups(6, 2, 4, 5), 12, 13),
        (Encoding::LOW_FIRST, Encoding::BYTES, None, groups(9, 9, 1, 16), 9, 48),
        (Encoding::Int8, Encoding::BFloat16, Some(Encoding::Int8), groups(4, 4, 1, 30), 4, 30),
        (words(3, true), Encoding::Float16, Some(columns(3)), groups(7, 7, 1, 32), 7, 64),
        (
            words(5, false),
            Encoding::Float16,
            None,
            Groups { listed_cols: Some(listed(24, 3)), ..groups(5, 5, 1, 1) },
            5,
            24,
        ),
        (columns(4), Encoding::Float16, Some(words(4, true)), groups(64, 4, 16, 1), 64, 24),
        (
            columns(3),
            Encoding::Float16,
            Some(words(3, true)),
            Groups { listed_rows: Some(listed(32, 2)), ..groups(32, 1, 32, 1) },
            32,
            32,
        ),
        (Encoding::AwqWords, Encoding::Float16, Some(Encoding::AwqWords), groups(16, 2, 8, 1), 16, 40),
        (Encoding::HIGH_FIRST, Encoding::BYTES, None, groups(1, 1, 1, 16), 1, 151),
        (codes(2, false), Encoding::Tiles, None, groups(140, 140, 1, 16), 140, 70),
        (codes(2, true), Encoding::Float32, Some(Encoding::BYTES), groups(3, 0, 1, 7), 12, 7),
        (Encoding::CodeColumns, Encoding::Float32, None, groups(8, 8, 1, 3), 8, 9),
        (planes(3, 3, 10, 4), Encoding::Float32, Some(Encoding::Float32), groups(23, 23, 23, 1), 23, 5),
        (planes(6, 2, 4, 1), Encoding::Float32, None, groups(24, 24, 1, 9), 24, 9),
    ];
    for (number, (codes, scales, zeros, groups, rows, cols)) in weights.into_iter().enumerate() {
        let groups = Arc::new(groups);
        let of_row = |row: usize| match &groups.listed_rows {
            Some(listed) => listed[row],
            None => row / groups.plane * groups.rows_in_plane + row % groups.plane / groups.rows,
        };
        let of_col = |col: usize| groups.listed_cols.as_ref().map_or(col / groups.cols, |listed| listed[col]);
        let shared_rows = (0..rows).map(of_row).max().map_or(0, |last| last + 1);
        let shared_cols = (0..cols).map(of_col).max().map_or(0, |last| last + 1);
        let shared = |encoding, seed| SharedNumbers {
            matrix: matrix(encoding, shared_rows, shared_cols, seed),
            groups: Arc::clone(&groups),
        };
        let weight = QuantizedItems {
            identity: Identity::Memory(1),
            rows,
            cols,
            codes: matrix(codes, rows, cols, 0),
            zero: 1.0,
            zeros: zeros.map(|encoding| shared(encoding, 5)),
            scales: shared(scales, 9),
            whole_scale: WholeScale::Times(0.5),
            factors: None,
            biases: Some(shared(Encoding::Float16, 3)),
        };
        let expected: Vec<u8> = (0..rows * cols)
            .flat_map(|n| {
                let (row, col) = (n / cols, n % cols);
                let own = |shared: &SharedNumbers| item(&shared.matrix, of_row(row), of_col(col));
                let zero = weight.zeros.as_ref().map_or(0.0, own) + 1.0;
                let scaled = (item(&weight.codes, row, col) - zero) * (own(&weight.scales) * 0.5);
                (scaled + weight.biases.as_ref().map_or(0.0, own)).to_le_bytes()
            })
            .collect();
        let (end, weight) = (expected.len(), ByUnits(weight));
        assert_eq!(weight.size().expect("a size"), end as u64);
        for at in 0..end.min(260) {
            for len in [0, 1, 4, 7, 8, 36, cols * 4, cols * 4 + 4, cols * 12, end - at] {
                let len = len.min(end - at);
                let mut out = vec![1; len];
                weight.read_at(&mut out, at as u64).expect("items");
                assert!(out == expected[at..at + len], "weight {number}: {len} bytes from {at}");
            }
        }
        assert!(weight.read_at(&mut [0; 2], end as u64 - 1).is_err());
    }
}
