//! A toy runtime: it plans a list of nodes once, by dtypes and shapes, and then runs them on buffers of its own without
//! copying any.
//!
//! Run it with `cargo run --example runtime`. Its model appends a row to a cache of keys, as a decoder does for each
//! token, and returns the rows of the last positions, transposed.

use tensorop::kernel::{Call, Kernel, TensorMut, TensorRef};
use tensorop::{DType, Error, Meta};

/// An operator with the numbers of the values that it takes and makes.
struct Node {
    call: Call,
    inputs: Vec<usize>,
}

struct Value {
    meta: Meta,
    buffer: usize,
}

struct Step {
    kernel: Kernel,
    inputs: Vec<usize>,
    output: usize,
}

struct Runtime {
    values: Vec<Value>,
    steps: Vec<Step>,
    buffers: Vec<Vec<u8>>,
}

impl Runtime {
    /// Infers all shapes and gives each value a buffer. The output of node `n` is value `inputs.len() + n`. A node that
    /// changes its data works in the data's own buffer if no later node takes the data.
    fn plan(inputs: &[Meta], nodes: Vec<Node>) -> Result<Self, Error> {
        let mut buffers: Vec<Vec<u8>> = inputs.iter().map(|meta| vec![0; meta.bytes()]).collect();
        let value = |(buffer, meta): (usize, &Meta)| Value { meta: meta.clone(), buffer };
        let mut values: Vec<Value> = inputs.iter().enumerate().map(value).collect();
        let mut steps = Vec::new();
        for (n, node) in nodes.iter().enumerate() {
            let metas: Vec<Meta> = node.inputs.iter().map(|&input| values[input].meta.clone()).collect();
            let kernel = node.call.infer(&metas)?;
            let data = node.inputs[0];
            let is_free = !nodes[n + 1..].iter().any(|later| later.inputs.contains(&data));
            let buffer = if kernel.changes_data() && is_free { values[data].buffer } else { buffers.len() };
            if buffer == buffers.len() {
                buffers.push(vec![0; kernel.bytes()]);
            }
            values.push(Value { meta: kernel.meta().clone(), buffer });
            steps.push(Step { kernel, inputs: node.inputs.clone(), output: values.len() - 1 });
        }
        Ok(Self { values, steps, buffers })
    }

    /// The bytes of a value: inputs are written here, outputs are read.
    fn bytes(&mut self, value: usize) -> &mut [u8] {
        &mut self.buffers[self.values[value].buffer]
    }

    /// Runs all nodes on at most `threads` threads.
    fn run(&mut self, threads: usize) -> Result<(), Error> {
        for Step { kernel, inputs, output } in &self.steps {
            let Value { meta, buffer } = &self.values[*output];
            // the buffer is lent for the time of the call, and nothing is copied
            let mut bytes = std::mem::take(&mut self.buffers[*buffer]);
            let out = TensorMut::new(&meta.dtype, &meta.shape, &mut bytes)?;
            let is_in_place = self.values[inputs[0]].buffer == *buffer;
            let tensor = |&input: &usize| {
                let Value { meta, buffer } = &self.values[input];
                TensorRef::new(&meta.dtype, &meta.shape, &self.buffers[*buffer])
            };
            let taken = if is_in_place { &inputs[1..] } else { &inputs[..] };
            let tensors = taken.iter().map(tensor).collect::<Result<Vec<_>, _>>()?;
            let done = match is_in_place {
                true => kernel.apply_in_place(out, &tensors, threads),
                false => kernel.apply(&tensors, out, threads),
            };
            self.buffers[*buffer] = bytes;
            done?;
        }
        Ok(())
    }
}

fn decoder() -> Result<Runtime, Error> {
    let (cache, position) = (Meta::new(DType::FLOAT32, vec![6, 2])?, Meta::new(DType::INT64, vec![1])?);
    let row = Meta::new(DType::FLOAT32, vec![1, 2])?;
    let nodes = vec![
        Node { call: Call::scatter_update(0), inputs: vec![0, 1, 2] },
        Node { call: Call::Slice(":3".parse()?), inputs: vec![3] },
        Node { call: Call::Transpose { axes: None }, inputs: vec![4] },
    ];
    Runtime::plan(&[cache, position, row], nodes)
}

fn decode(runtime: &mut Runtime, position: i64, row: [f32; 2]) -> Result<Vec<f32>, Error> {
    runtime.bytes(1).copy_from_slice(&position.to_le_bytes());
    runtime.bytes(2).copy_from_slice(row.map(f32::to_le_bytes).as_flattened());
    runtime.run(2)?;
    Ok(runtime.bytes(5).as_chunks().0.iter().map(|item| f32::from_le_bytes(*item)).collect())
}

fn main() -> Result<(), Error> {
    let mut runtime = decoder()?;
    for (position, row) in (0..).zip([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]) {
        println!("{:?}", decode(&mut runtime, position, row)?);
    }
    Ok(())
}

#[test]
fn the_cache_is_changed_where_it_lies() {
    let mut runtime = decoder().unwrap();
    let cache = runtime.bytes(0).as_ptr();
    assert_eq!(decode(&mut runtime, 0, [1.0, 2.0]).unwrap(), [1.0, 0.0, 0.0, 2.0, 0.0, 0.0]);
    assert_eq!(decode(&mut runtime, 2, [5.0, 6.0]).unwrap(), [1.0, 0.0, 5.0, 2.0, 0.0, 6.0]);
    assert_eq!((runtime.bytes(3).as_ptr(), runtime.buffers.len()), (cache, 5));
    let refused = decode(&mut runtime, 6, [0.0, 0.0]).unwrap_err();
    assert_eq!(refused.to_string(), "indices: 6 at [0] is out of range: expected [0, 5] on axis 0 (data [6, 2])");
}
