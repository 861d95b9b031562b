//! ONNX models in the table of formats: a ModelProto as a container, with the values of its
//! Constant nodes.

use std::ops::Range;
use std::sync::Arc;

use prost::encoding::{WireType, encode_key, encode_varint, uint64};

use super::external::ExternalFiles;
use super::members::{MemberKind, ModelMember, ModelWalk};
use super::message::MAX_MESSAGE;
use super::model::field::{attribute, model};
use super::proto::Proto;
use super::quantized::graph;
use super::types::STRING;
use super::wire::{Fields, FileWindow, WireField, field, last_of};
use crate::container::content::{Content, Description, KnownTensor};
use crate::container::interface::{Confidence, Members, ReadableFile, Reader, StoredMember};
use crate::storage::read_at::{Identity, MemoryBytes, ReadAt, Section};
use crate::storage::source::{Container, Source};
use tensorop_kernels::error::{Context, Error, ErrorKind, Result, ensure};

/// Only fields of a ModelProto occur, including a graph or opsets.
pub(crate) fn sure(begin: &[u8], _: Option<u64>) -> Confidence {
    let mut rest = begin;
    let mut fields = 0;
    while let Ok(field) = WireField::read(rest) {
        match (field.number, field.wire) {
            // Every writer begins with the version.
            (model::IR_VERSION, WireType::Varint) => fields += 1,
            (model::GRAPH | model::OPSET_IMPORT, WireType::LengthDelimited) => {
                return Confidence::certain_if(fields > 0);
            }
            (model::MODEL_VERSION, WireType::Varint) => {}
            // Texts, and none of the numbers that begin a TensorProto.
            (model::PRODUCER_NAME..model::GRAPH, WireType::LengthDelimited) if field.number != model::MODEL_VERSION => {
            }
            _ => return Confidence::No,
        }
        let Some((_, after)) = field.split(rest) else { return Confidence::No };
        rest = after;
    }
    Confidence::No
}

pub(crate) fn open(content: Content) -> Result<ReadableFile> {
    let requests = content.requests;
    let (file, folder) = content.into_bytes()?;
    let mut walk = ModelWalk::of(&*file)?;
    let metadata = Some(walk.facts()?.into_metadata("onnx-model"));
    let (names, found) = walk.members.into_parts();
    let graph = graph(&walk.quantized, &names).map(Arc::new);
    let identity = file.identity()?;
    // an output has the tensors alone
    let unwritten = Some("is a model, whose graph would be lost");
    let members =
        Members { graph, ..Members::of(Container { metadata, unwritten, ..Container::new(identity, names) }) };
    let external = ExternalFiles::new(folder.as_deref(), requests);
    Ok(ReadableFile::new(members, ModelReader { file, identity, members: found, external }))
}

#[derive(Debug)]
struct ModelReader {
    file: Arc<dyn ReadAt>,
    identity: Identity,
    members: Vec<ModelMember>,
    external: ExternalFiles,
}

impl ModelReader {
    fn tensor(&self, n: usize) -> Result<Proto> {
        let ModelMember { kind, message, .. } = &self.members[n];
        match kind {
            MemberKind::Tensor => Proto::read_at(&*self.file, message.clone()),
            MemberKind::Value => read_constant(&*self.file, message.clone()),
            MemberKind::Sparse => Err(Error::from_kind(ErrorKind::Unsupported, "a sparse tensor")),
        }
    }
}

impl Reader for ModelReader {
    fn describe(&self, n: usize) -> Result<Description> {
        let proto = self.tensor(n)?;
        let elsewhere = proto.elsewhere().map(|items| self.external.range(items, proto.bytes, &proto.meta));
        let elsewhere = elsewhere.transpose()?;
        let is_constant = self.members[n].is_constant;
        Ok(Description { elsewhere, is_constant, ..Description::new(proto.meta, proto.bytes, proto.offset) })
    }

    fn source(&self, n: usize, label: String) -> Result<Source> {
        self.tensor(n)?.source_with(&self.file, &self.external, label)
    }

    fn stored(&self, n: usize) -> StoredMember {
        let ModelMember { message: Range { start, end }, is_whole, .. } = self.members[n];
        let tensor = self.tensor(n);
        let known = tensor.as_ref().map(|Proto { meta, bytes, .. }| KnownTensor {
            dtype: Some(meta.dtype.name().to_owned()),
            shape: Some(meta.shape.clone()),
            bytes: Some(*bytes),
            offset: None,
        });
        StoredMember {
            known: known.unwrap_or_default(),
            bytes: Some(Box::new(Section::new(Arc::clone(&self.file), start, end - start))),
            entry: is_whole.then(String::new),
            is_passed_over: tensor.is_err_and(|error| error.kind() == ErrorKind::Unsupported),
            ..StoredMember::default()
        }
    }

    fn lock(&self, n: usize, _: bool) -> Result<()> {
        self.tensor(n)?.elsewhere().map_or(Ok(()), |elsewhere| self.external.lock(elsewhere, self.identity))
    }
}

/// Attributes with the field of their values, the data type of a tensor of them, and its typed field.
const VALUES: &[(&str, u32, i32, u32)] = &[
    ("value_float", attribute::FLOAT, 1, field::FLOAT_DATA),
    ("value_floats", attribute::FLOATS, 1, field::FLOAT_DATA),
    ("value_int", attribute::INT, 7, field::INT64_DATA),
    ("value_ints", attribute::INTS, 7, field::INT64_DATA),
    ("value_string", attribute::TEXT, STRING, field::STRING_DATA),
    ("value_strings", attribute::TEXTS, STRING, field::STRING_DATA),
];

/// Reads the AttributeProto at `place` as a TensorProto of its values.
fn read_constant(file: &dyn ReadAt, place: Range<u64>) -> Result<Proto> {
    let bytes = FileWindow::new(file, place.end).bytes(&place, MAX_MESSAGE)?;
    let name = last_of(&bytes, attribute::NAME);
    let name = name.map_or("", |(_, value)| std::str::from_utf8(value).unwrap_or_default());
    let Some(&(name, number, data_type, typed)) = VALUES.iter().find(|(known, ..)| *known == name) else {
        let message = format!("a Constant of the attribute {name}, which is not known");
        return Err(Error::from_kind(ErrorKind::Unsupported, message));
    };
    let is_list = name.ends_with('s');
    let (mut values, mut count, mut end) = (Vec::new(), 0, 0);
    let mut fields = Fields(&bytes);
    while let Some((found, value)) = fields.next() {
        if found.number != number {
            continue;
        }
        if !is_list {
            // the last of repeated fields counts
            (values, count) = (Vec::new(), 0);
        }
        let renamed = WireField { number: typed, ..found };
        ensure!(renamed.fits() == Some(true), "{name} has a value of another type");
        count += renamed.items(value).context(name)?;
        encode_key(typed, found.wire, &mut values);
        if found.wire == WireType::LengthDelimited {
            encode_varint(value.len() as u64, &mut values);
        }
        values.extend_from_slice(value);
        end = place.end - fields.0.len() as u64;
    }
    ensure!(is_list || count == 1, "{name} has {count} values, expected 1");
    let mut message = Vec::new();
    if is_list {
        uint64::encode(field::DIMS, &(count as u64), &mut message);
    }
    uint64::encode(field::DATA_TYPE, &(data_type as u64), &mut message);
    message.append(&mut values);
    let length = message.len() as u64;
    // items that are not copied are a single field, which ends the message
    Ok(Proto::read(&MemoryBytes::new(message))?.moved(length, end))
}
