//! PyTorch files, made by hand.

use super::{stored, zip};

/// The opcodes of a view of storage 0, which has 6 items of float32.
pub(crate) fn view(offset: u8, dims: [u8; 2], strides: [u8; 2]) -> Vec<u8> {
    let storage = b"(X\x07\0\0\0storagectorch\nFloatStorage\nX\x01\0\0\x000X\x03\0\0\0cpuK\x06tQ";
    let numbers = [b'K', offset, b'K', dims[0], b'K', dims[1], 0x86, b'K', strides[0], b'K', strides[1], 0x86];
    [&b"ctorch._utils\n_rebuild_tensor_v2\n("[..], storage, &numbers, b"\x89NtR"].concat()
}

/// The opcodes of a text.
pub(crate) fn text(text: &str) -> Vec<u8> {
    [&[b'X', text.len() as u8, 0, 0, 0], text.as_bytes()].concat()
}

/// The opcodes of a dictionary of values by keys, by the opcodes of both.
pub(crate) fn dict(pairs: &[(Vec<u8>, Vec<u8>)]) -> Vec<u8> {
    let pairs: Vec<_> = pairs.iter().map(|(key, value)| [&key[..], value].concat()).collect();
    [&b"}("[..], &pairs.concat(), b"u"].concat()
}

/// The pickle of a dictionary of values by their opcodes.
pub(crate) fn pickle(pairs: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let pairs: Vec<_> = pairs.iter().map(|(key, value)| (text(key), value.clone())).collect();
    [b"\x80\x02", &dict(&pairs)[..], b"."].concat()
}

/// The opcodes of an array of NumPy of two items of float32.
pub(crate) fn array(items: [f32; 2]) -> Vec<u8> {
    let items = items.map(f32::to_le_bytes).concat();
    let made = b"cnumpy._core.multiarray\n_reconstruct\n(cnumpy\nndarray\nK\0\x85C\x01btR";
    let dtype = b"cnumpy\ndtype\n(X\x02\0\0\0f4\x89\x88tR(K\x03X\x01\0\0\0<NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\0tb";
    [&made[..], b"(K\x01K\x02\x85", dtype, b"\x89C\x08", &items, b"tb"].concat()
}

/// Views in a dictionary, a plain value, and a tensor in an object.
pub(crate) fn weights() -> Vec<u8> {
    let thing = [&b"cmy.code\nThing\n("[..], &view(0, [1, 1], [1, 1]), b"tR"].concat();
    let model = [("w", view(0, [2, 3], [3, 1])), ("t", view(0, [3, 2], [1, 3])), ("s", view(1, [2, 2], [2, 2]))];
    let model = pickle(&model);
    pickle(&[("model", model[2..model.len() - 1].to_vec()), ("epoch", b"K\x03".to_vec()), ("opaque", thing)])
}

/// The items of storage 0.
pub(crate) fn items() -> Vec<u8> {
    (0..6_u8).flat_map(|n| f32::from(n).to_le_bytes()).collect()
}

/// A pickle of protocol 0 with a view of storage 0.
pub(crate) const PRINTED: &[u8] = b"(dVw\nctorch._utils\n_rebuild_tensor\n(P('storage', <class 'torch.FloatStorage'>, \
    '0', 'cpu', 6)\nI1\n(I2\nt(I1\nttRs.";

/// A file of PyTorch 1.6 or later.
pub(crate) fn archive() -> Vec<u8> {
    zip(&[stored("x/data.pkl", &weights()), stored("x/data/0", &items())])
}

/// A file of an earlier version.
pub(crate) fn stream() -> Vec<u8> {
    let front = b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19.\x80\x02M\xe9\x03.\x80\x02}.";
    let count = 6_u64.to_le_bytes();
    [&front[..], &weights(), b"\x80\x02](X\x01\0\0\x000e.", &count, &items()].concat()
}
