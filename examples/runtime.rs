//! A toy runtime: it plans a list of nodes once, by dtypes and shapes, gives each value a place in one buffer, and then runs
//! the nodes there. A run copies nothing that an operator does not move, and allocates nothing but its threads.
//!
//! Run it with `cargo run --example runtime`. Its model is a decoder's: for each token it writes a row into a cache of keys,
//! and returns the rows of the last positions, transposed.

use std::ops::Range;
use std::thread;

use tensorop::kernel::{AttributeValue, Attributes, Call, Kernel, Part, TensorMut, TensorRef};
use tensorop::{DType, Error, Meta, NewShape};

/// The threads of the runtime, among which it shares the parts of a step.
const THREADS: usize = 2;

/// An operator with the numbers of the values that it takes, and the inputs that stay the same.
struct Node {
    call: Call,
    inputs: Vec<usize>,
    constants: Vec<(usize, Vec<i64>)>,
}

struct Value {
    meta: Meta,
    /// The first byte in the arena.
    first: usize,
}

impl Value {
    fn bytes(&self) -> Range<usize> {
        self.first..self.first + self.meta.bytes()
    }
}

struct Step {
    kernel: Kernel,
    parts: Vec<Part>,
    inputs: Vec<usize>,
    output: usize,
}

struct Runtime {
    values: Vec<Value>,
    steps: Vec<Step>,
    arena: Vec<u8>,
}

impl Runtime {
    /// Infers all shapes and gives each value a place. The output of node `n` is value `inputs.len() + n`. A node that only
    /// renames its data, as a reshape does, has its place and no step.
    fn plan(inputs: &[Meta], nodes: Vec<Node>) -> Result<Self, Error> {
        let (mut values, mut steps, mut end) = (Vec::new(), Vec::new(), 0);
        let place = |meta: Meta, end: &mut usize| {
            let first = *end;
            *end += meta.bytes().next_multiple_of(64);
            Value { meta, first }
        };
        values.extend(inputs.iter().map(|meta| place(meta.clone(), &mut end)));
        for Node { call, inputs, constants } in nodes {
            let int = |list: &[i64]| Meta::new(DType::INT64, vec![list.len()]);
            let mut metas: Vec<Meta> = inputs.iter().map(|&input| values[input].meta.clone()).collect();
            metas.extend(constants.iter().map(|(_, list)| int(list)).collect::<Result<Vec<_>, _>>()?);
            let mut kernel = call.infer(&metas)?;
            for (input, list) in &constants {
                let bytes: Vec<u8> = list.iter().flat_map(|number| number.to_le_bytes()).collect();
                kernel.bind(*input, &TensorRef::new(&DType::INT64, &[list.len()], &bytes)?)?;
            }
            if kernel.is_view() {
                values.push(Value { meta: kernel.meta().clone(), first: values[inputs[0]].first });
                continue;
            }
            values.push(place(kernel.meta().clone(), &mut end));
            steps.push(Step { parts: kernel.parts(THREADS), kernel, inputs, output: values.len() - 1 });
        }
        Ok(Self { values, steps, arena: vec![0; end] })
    }

    /// The bytes of a value: inputs are written here, outputs are read.
    fn bytes(&mut self, value: usize) -> &mut [u8] {
        &mut self.arena[self.values[value].bytes()]
    }

    /// Runs all steps; each is one part or shared among the threads.
    fn run(&mut self) -> Result<(), Error> {
        for Step { kernel, parts, inputs, output } in &self.steps {
            // the inputs are before or after the output
            let Range { start, end } = self.values[*output].bytes();
            let (before, rest) = self.arena.split_at_mut(start);
            let (mut out, after) = rest.split_at_mut(end - start);
            let (before, after) = (&*before, &*after);
            let tensor = |&input: &usize| {
                let Value { meta, first } = &self.values[input];
                let (side, first) = if *first < start { (before, *first) } else { (after, first - end) };
                TensorRef::new(&meta.dtype, &meta.shape, &side[first..][..meta.bytes()])
            };
            let first = tensor(&inputs[0])?;
            let two = [first, inputs.get(1).map_or(Ok(first), tensor)?];
            let given = &two[..inputs.len()];
            if let [part] = &parts[..] {
                kernel.apply_part(part, given, TensorMut::new(kernel.dtype(), part.shape(), out)?)?;
                continue;
            }
            thread::scope(|scope| {
                let mut running = Vec::new();
                for part in parts {
                    let (bytes, after) = out.split_at_mut(part.bytes().len());
                    out = after;
                    let fill = || kernel.apply_part(part, given, TensorMut::new(kernel.dtype(), part.shape(), bytes)?);
                    running.push(scope.spawn(fill));
                }
                running.into_iter().try_for_each(|thread| thread.join().expect("no part panics"))
            })?;
        }
        Ok(())
    }
}

const CACHE: usize = 0;
const ROW: usize = 1;

/// The model, and the kernel that writes the row of a token, with its halves swapped, to its place in the cache.
fn decoder() -> Result<(Runtime, Kernel), Error> {
    let inputs = [Meta::new(DType::FLOAT32, vec![6, 2])?, Meta::new(DType::FLOAT32, vec![1, 2])?];
    let attributes = Attributes::from([("perm".to_owned(), AttributeValue::Ints(vec![1, 0]))]);
    let slice = Call::from_onnx("Slice", 13, &Attributes::new())?;
    let nodes = vec![
        // lists that the file has as initializers are bound
        Node { call: slice, inputs: vec![CACHE], constants: vec![(1, vec![0]), (2, vec![3])] },
        Node { call: Call::from_onnx("Transpose", 13, &attributes)?, inputs: vec![2], constants: vec![] },
        Node { call: Call::Reshape(NewShape::Dims(vec![-1])), inputs: vec![3], constants: vec![] },
    ];
    let mut swap = Call::gather(1).infer(&[inputs[ROW].clone(), Meta::new(DType::UINT8, vec![2])?])?;
    swap.bind(1, &TensorRef::new(&DType::UINT8, &[2], &[1, 0])?)?;
    Ok((Runtime::plan(&inputs, nodes)?, swap))
}

fn decode(runtime: &mut Runtime, swap: &Kernel, position: usize, row: [f32; 2]) -> Result<[f32; 6], Error> {
    runtime.bytes(ROW).copy_from_slice(row.map(f32::to_le_bytes).as_flattened());
    let (cache, token) = (runtime.values[CACHE].bytes(), runtime.values[ROW].bytes());
    let (before, after) = runtime.arena.split_at_mut(token.start);
    let row = TensorRef::new(&DType::FLOAT32, &[1, 2], &after[..token.len()])?;
    // the output is the row of the cache at this position
    swap.apply(&[row], TensorMut::strided(&DType::FLOAT32, &[1, 2], &[8, 4], 8 * position, &mut before[cache])?, 1)?;
    runtime.run()?;
    let (items, _) = runtime.bytes(4).as_chunks();
    Ok(std::array::from_fn(|n| f32::from_le_bytes(items[n])))
}

fn main() -> Result<(), Error> {
    let (mut runtime, swap) = decoder()?;
    for (position, row) in (0..).zip([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]) {
        println!("{:?}", decode(&mut runtime, &swap, position, row)?);
    }
    Ok(())
}

#[test]
fn the_cache_is_changed_where_it_lies() {
    let (mut runtime, swap) = decoder().unwrap();
    let arena = runtime.arena.as_ptr();
    assert_eq!(decode(&mut runtime, &swap, 0, [1.0, 2.0]).unwrap(), [2.0, 0.0, 0.0, 1.0, 0.0, 0.0]);
    assert_eq!(decode(&mut runtime, &swap, 2, [5.0, 6.0]).unwrap(), [2.0, 0.0, 6.0, 1.0, 0.0, 5.0]);
    // the reshape is a name for the transposed rows
    assert_eq!((runtime.arena.as_ptr(), runtime.steps.len(), runtime.steps[1].parts.len()), (arena, 2, 2));
    let refused = decode(&mut runtime, &swap, 6, [0.0, 0.0]).unwrap_err();
    let message = "output: items from byte 48 to 56, expected 0 to 48 (float32 [1, 2], strides [8, 4], offset 48)";
    assert_eq!(refused.to_string(), message);
}
