//! safetensors files and ONNX TensorProtos that the formats' own Python packages wrote: read to the same bits, and
//! written to the same bytes. TENSOROP_FORMATS names another folder of tests/oracle/formats_golden.py to test.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;
use tensorop::internal::formats::{onnx, safetensors};
use tensorop::internal::narrow::packed::Packer;
use tensorop::internal::storage::read_at::ReadAt;
use tensorop::internal::storage::source::{Hold, Source};
use tensorop::item::dtype::Kind;
use tensorop::item::meta::Meta;
use tensorop::parallel::Threads;
use tensorop::{DType, Tensor};

use crate::common::{difference, each};

/// What is in a file.
struct Golden {
    member: String,
    dtype: DType,
    shape: Vec<usize>,
    items: Vec<u8>,
    /// Whether writing the tensors of the file again gives the same file.
    same: bool,
}

fn golden(folder: &Path) -> BTreeMap<String, Vec<Golden>> {
    let mut files = BTreeMap::<String, Vec<Golden>>::new();
    let rows = std::fs::read_to_string(folder.join("formats.jsonl")).expect("formats.jsonl");
    for row in rows.lines() {
        let row: Value = serde_json::from_str(row).expect("JSON");
        let text = |key: &str| row[key].as_str().expect("text").to_owned();
        let digits = text("items");
        let byte = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).expect("hexadecimal");
        files.entry(text("file")).or_default().push(Golden {
            member: text("member"),
            dtype: DType::parse(&text("dtype")).expect("a dtype"),
            shape: serde_json::from_value(row["shape"].clone()).expect("dims"),
            items: (0..digits.len()).step_by(2).map(byte).collect(),
            same: row["same"].as_bool().expect("a bool"),
        });
    }
    // a file without tensors has no row
    files.entry("safetensors/none.safetensors".to_owned()).or_default();
    files
}

fn items(mut source: Source) -> Result<Vec<u8>, String> {
    source.hold(Hold::Seekable, Threads::default()).map_err(|e| format!("{e}"))?;
    let mut out = vec![0; source.bytes()];
    source.read(&source.view(), &mut out, &mut Default::default()).map_err(|e| format!("{e}"))?;
    source.finish().map_err(|e| format!("{e}"))?;
    Ok(out)
}

fn compare(golden: &Golden, source: Source) -> Result<(), String> {
    if (source.dtype(), source.shape()) != (&golden.dtype, &golden.shape[..]) {
        return Err(format!("{} {:?} of {}", source.dtype().name(), source.shape(), golden.member));
    }
    let found = items(source)?;
    if found == golden.items {
        Ok(())
    } else {
        Err(format!("{}: {}", golden.member, difference(&found, &golden.items)))
    }
}

/// The items as the formats store them.
fn stored(golden: &Golden) -> Vec<u8> {
    let bits = match golden.dtype.kind() {
        Kind::Narrow(narrow) => narrow.bits(),
        _ => 8,
    };
    let (mut packer, mut out) = (Packer::new(bits), Vec::new());
    packer.push(&golden.items, &mut out);
    packer.finish(&mut out);
    out
}

fn check_safetensors(path: &Path, members: &[Golden]) -> Result<(), String> {
    let file: Arc<dyn ReadAt> = Arc::new(File::open(path).map_err(|e| e.to_string())?);
    let bytes = std::fs::read(path).map_err(|e| e.to_string())?;
    if !safetensors::is_safetensors(&bytes, Some(bytes.len() as u64)) || onnx::looks_like_onnx(&bytes) {
        return Err("not taken for safetensors".to_owned());
    }
    let index = safetensors::HeaderIndex::read(&*file).map_err(|e| format!("{e}"))?;
    if index.members.len() != members.len() {
        return Err(format!("{} members", index.members.len()));
    }
    for golden in members {
        let n = index.members.iter().position(|member| member.name == golden.member);
        let n = n.ok_or_else(|| format!("no {}", golden.member))?;
        let header = &index.members[n];
        let place = header.offset as usize..(header.offset + header.bytes) as usize;
        if bytes.get(place) != Some(&stored(golden)[..]) {
            return Err(format!("{} is not where its header says", golden.member));
        }
        compare(golden, index.source(&file, n, String::new()).map_err(|e| format!("{e}"))?)?;
    }
    if members.iter().any(|golden| !golden.same) {
        return Ok(());
    }
    let header: Vec<_> =
        members.iter().map(|g| (g.member.clone(), Meta::c_order(g.dtype.clone(), g.shape.clone()))).collect();
    let (mut out, offsets) = safetensors::write_header(&header, &Default::default()).map_err(|e| format!("{e}"))?;
    for (golden, offset) in members.iter().zip(offsets) {
        let items = stored(golden);
        out.resize(out.len().max(offset as usize + items.len()), 0);
        out[offset as usize..][..items.len()].copy_from_slice(&items);
    }
    if out == bytes { Ok(()) } else { Err(format!("written: {}", difference(&out, &bytes))) }
}

fn check_onnx(path: &Path, golden: &Golden) -> Result<(), String> {
    let file: Arc<dyn ReadAt> = Arc::new(File::open(path).map_err(|e| e.to_string())?);
    let bytes = std::fs::read(path).map_err(|e| e.to_string())?;
    if safetensors::is_safetensors(&bytes, Some(bytes.len() as u64)) || !onnx::looks_like_onnx(&bytes) {
        return Err("not taken for ONNX".to_owned());
    }
    let proto = onnx::Proto::read(&*file).map_err(|e| format!("{e}"))?;
    if proto.name != golden.member {
        return Err(format!("the name {}", proto.name));
    }
    let strings = matches!(golden.dtype.kind(), Kind::Str(_));
    if golden.same && !strings {
        let at = proto.offset.ok_or("no offset")? as usize;
        if bytes.get(at..at + proto.bytes as usize) != Some(&stored(golden)[..]) {
            return Err("the items are not where its header says".to_owned());
        }
    }
    compare(golden, proto.source(&file, path.parent(), String::new()).map_err(|e| format!("{e}"))?)?;
    if !golden.same {
        return Ok(());
    }
    let out = if strings {
        let tensor = Tensor::new(golden.dtype.clone(), golden.shape.clone(), golden.items.clone())
            .map_err(|error| error.to_string())?;
        onnx::write_strings(&golden.shape, &golden.member, &tensor)
    } else {
        onnx::write_header(&Meta::c_order(golden.dtype.clone(), golden.shape.clone()), &golden.member)
            .map(|out| [out, stored(golden)].concat())
    };
    let out = out.map_err(|e| format!("{e}"))?;
    if out == bytes { Ok(()) } else { Err(format!("written: {}", difference(&out, &bytes))) }
}

#[test]
fn files_of_the_formats_own_packages() {
    let own = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let folder = std::env::var_os("TENSOROP_FORMATS").map_or(own, PathBuf::from);
    each(
        golden(&folder),
        |(file, _)| file.clone(),
        |(file, members)| match members.as_slice() {
            [golden] if file.starts_with("onnx/") => check_onnx(&folder.join(file), golden),
            members => check_safetensors(&folder.join(file), members),
        },
    );
}
