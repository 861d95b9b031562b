//! ONNX models in the table of formats: a ModelProto as a container.

use std::io::Read;
use std::ops::Range;
use std::sync::Arc;

use super::constant;
use super::external::ExternalFiles;
use super::members::{Member, MemberKind, ModelWalk};
use super::model_fields::field::model;
use super::proto::Proto;
use super::wire::WireField;
use crate::error::{Error, ErrorKind, Result};
use crate::format::content::{Content, Description};
use crate::format::interface::{Confidence, Reader};
use crate::storage::read_at::{ReadAt, Section};
use crate::storage::source::{Container, Source};
use prost::encoding::WireType;

/// Only fields of a ModelProto occur, including a graph or opsets.
pub(in crate::format) fn sure(begin: &[u8], _: Option<u64>) -> Confidence {
    let mut rest = begin;
    let mut fields = 0;
    while let Ok(field) = WireField::read(rest) {
        match (field.number, field.wire) {
            // Every writer begins with the version.
            (model::IR_VERSION, WireType::Varint) => fields += 1,
            (model::GRAPH | model::OPSET_IMPORT, WireType::LengthDelimited) => {
                return Confidence::certain_if(fields > 0);
            }
            // Texts and the version that the producer gives.
            (model::PRODUCER_NAME..model::GRAPH, WireType::LengthDelimited | WireType::Varint) => {}
            _ => return Confidence::No,
        }
        let Some((_, after)) = field.split(rest) else { return Confidence::No };
        rest = after;
    }
    Confidence::No
}

pub(in crate::format) fn open(content: Content) -> Result<Box<dyn Reader>> {
    let requests = content.requests;
    let (file, folder) = content.into_bytes()?;
    let mut walk = ModelWalk::of(&*file)?;
    let metadata = Some(walk.facts()?.into_metadata("onnx-model"));
    let (names, members) = walk.members.into_parts();
    let container = Container { metadata, ..Container::new(file.identity()?, names) }.into();
    let external = ExternalFiles::new(folder.as_deref(), requests);
    Ok(Box::new(ModelReader { file, members, container, external }))
}

#[derive(Debug)]
struct ModelReader {
    file: Arc<dyn ReadAt>,
    members: Vec<Member>,
    container: Arc<Container>,
    external: ExternalFiles,
}

impl ModelReader {
    fn tensor(&self, n: usize) -> Result<Proto> {
        let Member { kind, message, .. } = &self.members[n];
        match kind {
            MemberKind::Tensor => Proto::read_at(&*self.file, message.clone()),
            MemberKind::Value => constant::read(&*self.file, message.clone()),
            MemberKind::Sparse => Err(Error::from_kind(ErrorKind::Unsupported, "a sparse tensor")),
        }
    }
}

impl Reader for ModelReader {
    fn container(&self) -> Option<&Arc<Container>> {
        Some(&self.container)
    }

    fn describe(&self, n: usize) -> Result<Description> {
        let proto = self.tensor(n)?;
        let elsewhere = proto.elsewhere().map(|items| self.external.range(items, proto.bytes, &proto.meta));
        let elsewhere = elsewhere.transpose()?;
        Ok(Description { elsewhere, ..Description::new(proto.meta, proto.bytes, proto.offset) })
    }

    fn is_passed_over(&self, n: usize) -> bool {
        self.tensor(n).is_err_and(|error| error.kind() == ErrorKind::Unsupported)
    }

    fn is_constant(&self, n: usize) -> bool {
        self.members[n].is_constant
    }

    fn source(&self, n: usize, label: String) -> Result<Source> {
        let source = self.tensor(n)?.source_with(&self.file, &self.external, label)?;
        Ok(source.one_of(Arc::clone(&self.container), n))
    }

    fn raw(&self, n: usize) -> Option<Box<dyn Read>> {
        let Range { start, end } = self.members[n].message;
        Some(Box::new(Section::new(Arc::clone(&self.file), start, end - start)))
    }

    fn whole(&self, n: usize) -> Option<Box<dyn Read>> {
        self.members[n].is_whole.then(|| self.raw(n))?
    }

    fn lock(&self, n: usize, _: bool) -> Result<()> {
        self.tensor(n)?.elsewhere().map_or(Ok(()), |elsewhere| self.external.lock(elsewhere, self.container.file))
    }
}
