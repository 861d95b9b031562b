//! `softmax IN.npy OUT.npy`: the softmax of each row of a float32 matrix; without OUT.npy to standard output.

use std::error::Error;
use std::fs::File;
use std::io;

use ndarray::{Array2, Axis};
use ndarray_npy::{ReadNpyExt, WriteNpyExt};

fn main() -> Result<(), Box<dyn Error>> {
    let mut paths = std::env::args_os().skip(1);
    let input = paths.next().ok_or("usage: softmax IN.npy [OUT.npy]")?;
    let mut matrix = Array2::<f32>::read_npy(File::open(input)?)?;
    for mut row in matrix.axis_iter_mut(Axis(0)) {
        let max = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        row.mapv_inplace(|x| (x - max).exp());
        let sum = row.sum();
        row.mapv_inplace(|x| x / sum);
    }
    match paths.next() {
        Some(output) => matrix.write_npy(File::create(output)?)?,
        None => matrix.write_npy(io::stdout())?,
    }
    Ok(())
}
