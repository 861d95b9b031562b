//! Runs tests in tract, for `tensorop check TESTS --actual OUTPUTS`. Usage: `tract-adapter TESTS OUTPUTS`
//!
//! TESTS is a folder of ONNX backend tests, such as `tensorop check --export TESTS --layout onnx` writes. Each runs in a process
//! of its own. Its outputs are OUTPUTS/ID/output_0.pb and so on. If tract refuses it, OUTPUTS/ID/refused has the message; if it
//! does not have its operator or a type, OUTPUTS/ID/unsupported; if tract panics, crashes or does not end within five seconds,
//! OUTPUTS/ID/crashed has the text on standard error.
use prost::Message;
use std::{env, fs, path::Path, path::PathBuf, process, thread, time::Duration};
use tract_onnx::pb::{TensorProto, tensor_proto::DataType};
use tract_onnx::tensor::{load_tensor, proto_from_reader};
use tract_onnx::tract_hir::{internal::*, ops::konst::Const};

/// How tract says that it does not have an operator, a type, or a type in that operator.
const LACKS: &str = "Unimplemented(|can not be typed|Unknown DatumType|unknown ONNX TensorProto|has no type value| is not a \
                     number|doesn't implement num_traits";

/// Runs one data set of a test, and writes what comes out.
fn run(data: &Path, output: &Path) -> TractResult<()> {
    let mut model = tract_onnx::onnx().model_for_path(data.with_file_name("model.onnx"))?;
    let open = |n| fs::File::open(data.join(format!("input_{n}.pb")));
    let load = |n| load_tensor(&*tract_onnx::data_resolver::default(), &proto_from_reader(open(n)?)?, None);
    let mut inputs = (0..model.inputs.len()).map(load).collect::<TractResult<Vec<_>>>()?;
    let build = |model: InferenceModel| model.into_optimized()?.into_runnable();
    let built = build(model.clone()).or_else(|_| {
        // where it must know more, such as the shape to reshape to, all inputs but the first become constants
        for (outlet, tensor) in model.inputs.drain(1..).zip(inputs.drain(1..)) {
            model.nodes[outlet.node].op = Box::new(Const::new(tensor.into_arc_tensor())?);
        }
        build(model)
    })?;
    for (n, made) in built.run(inputs.into_iter().map(Tensor::into_tvalue).collect())?.iter().enumerate() {
        let is = |t: DataType| DatumType::try_from(t).is_ok_and(|t| t == made.datum_type());
        let data_type = (1..=16).find(|&n| DataType::try_from(n).is_ok_and(is)).context("ONNX has no such type")?;
        let dims = made.shape().iter().map(|&dim| dim as i64).collect();
        let mut tensor = TensorProto { data_type, dims, ..TensorProto::default() };
        tensor.raw_data = if made.datum_type().is_copy() { made.as_bytes().to_vec() } else { vec![] };
        tensor.string_data = made.to_plain_array_view::<String>().iter().flatten().map(|s| s.clone().into()).collect();
        fs::create_dir_all(output)?;
        fs::write(output.join(format!("output_{n}.pb")), tensor.encode_to_vec())?;
    }
    Ok(())
}

fn main() -> TractResult<()> {
    let paths: Vec<_> = env::args_os().skip(1).map(PathBuf::from).collect();
    let [tests, outputs] = &paths[..] else { bail!("usage: tract-adapter TESTS OUTPUTS") };
    let number = |path: &Path| Some(path.file_name()?.to_str()?.strip_prefix("test_data_set_")?.to_owned());
    if number(tests).is_some() {
        thread::spawn(|| {
            thread::sleep(Duration::from_secs(5));
            process::exit(124);
        });
        return run(tests, outputs);
    }
    let mut folders = vec![tests.clone()];
    while let Some(folder) = folders.pop() {
        if let Some(k) = number(&folder) {
            let output = outputs.join(folder.strip_prefix(tests)?.with_file_name(k));
            let _ = fs::remove_dir_all(&output);
            fs::create_dir_all(&output)?;
            let done = process::Command::new(env::current_exe()?).args([&folder, &output]).output()?;
            let text = String::from_utf8_lossy(&done.stderr);
            match done.status.code() {
                Some(0) => {}
                Some(1) if LACKS.split('|').any(|words| text.contains(words)) => {
                    fs::write(output.join("unsupported"), done.stderr)?;
                }
                Some(1) => fs::write(output.join("refused"), done.stderr)?,
                Some(_) | None => fs::write(output.join("crashed"), done.stderr)?,
            }
        } else if folder.is_dir() || &folder == tests {
            folders.extend(fs::read_dir(folder)?.flatten().map(|entry| entry.path()));
        }
    }
    Ok(())
}
