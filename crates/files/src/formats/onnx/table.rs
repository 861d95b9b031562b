//! ONNX in the table of formats.

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use super::proto::Proto;
use super::write::{check, write_header, write_strings};
use crate::container::content::{Content, Description};
use crate::container::file_options::LayoutRequest;
use crate::container::interface::{
    ItemsPlace, Layout, Members, Places, ReadableFile, Reader, ReadsBack, TextOptions, WholeTensor, WriteWhole, Writer,
};
use crate::storage::read_at::ReadAt;
use crate::storage::source::Source;
use tensorop_kernels::error::{Result, bail};
use tensorop_kernels::item::dtype::{DType, Kind};
use tensorop_kernels::item::meta::Meta;

pub(crate) fn open(content: Content) -> Result<ReadableFile> {
    let (file, folder) = content.into_bytes()?;
    let proto = Proto::read(&*file)?;
    let own_name = Some(proto.name.clone()).filter(|name| !name.is_empty());
    let members = Members { own_name, ..Members::default() };
    Ok(ReadableFile::new(members, OnnxReader { file, proto, folder }))
}

#[derive(Debug)]
struct OnnxReader {
    file: Arc<dyn ReadAt>,
    proto: Proto,
    folder: Option<PathBuf>,
}

impl Reader for OnnxReader {
    fn describe(&self, _: usize) -> Result<Description> {
        let Proto { meta, bytes, offset, .. } = &self.proto;
        Ok(Description::new(meta.clone(), *bytes, *offset))
    }

    fn source(&self, _: usize, label: String) -> Result<Source> {
        self.proto.source(&self.file, self.folder.as_deref(), label)
    }
}

/// Strings vary in length and are written front to back.
#[derive(Debug)]
pub(crate) struct OnnxWriter;

impl Writer for OnnxWriter {
    fn check(&self, dtype: &DType) -> Result<()> {
        check(dtype)
    }

    fn reads_back(&self, meta: &Meta) -> ReadsBack {
        match meta.dtype.kind() {
            Kind::Str(_) | Kind::Bytes(_) => ReadsBack::ByItems,
            _ => ReadsBack::Same,
        }
    }

    fn layout(&self, tensors: &[(&str, &Meta)], _: &LayoutRequest<'_>) -> Result<Layout> {
        let [(name, meta)] = tensors else { bail!("{} tensors, and a TensorProto is one", tensors.len()) };
        if matches!(meta.dtype.kind(), Kind::Str(_) | Kind::Bytes(_)) {
            return Ok(Layout::Whole(&Self));
        }
        let header = write_header(meta, name)?;
        let place = ItemsPlace::packed(header.len() as u64, meta);
        Ok(Layout::Places(Places::new(header, vec![place])))
    }
}

impl WriteWhole for OnnxWriter {
    fn write_whole(&self, out: &mut dyn Write, tensor: WholeTensor<'_>, _: &TextOptions) -> Result<()> {
        Ok(out.write_all(&write_strings(tensor.shape, tensor.name, tensor.items)?)?)
    }
}
