"""Compares PyTorch files of other projects, as the program reads them, with an unpickler on NumPy.

    python3 tests/oracle/torch_files.py PROGRAM

The files are not kept: the crate pytorch-reader 0.23.0-pre.1 (MIT or Apache-2.0; crates.io) has files that torch wrote, and
lpips 0.1.4 (BSD; PyPI) has streams of Python 2. It needs a network and NumPy, and ml_dtypes for bfloat16; torch is not needed.
"""

import collections
import io
import pickle
import subprocess
import sys
import tarfile
import tempfile
import urllib.request
import zipfile
from pathlib import Path

import ml_dtypes
import numpy as np

CRATE = "https://static.crates.io/crates/pytorch-reader/pytorch-reader-0.23.0-pre.1.crate"
WHEEL = "lpips==0.1.4"
MAGIC = 0x1950A86A20F9469CFC6C
STORAGES = {
    "Double": "f8", "Float": "f4", "Half": "f2", "BFloat16": ml_dtypes.bfloat16, "Long": "i8", "Int": "i4", "Short": "i2",
    "Char": "i1", "Byte": "u1", "Bool": "?", "ComplexFloat": "c8", "ComplexDouble": "c16",
}  # fmt: skip


class Module:
    """Any class that is not known: a module has its weights in its state."""

    def __new__(cls, *_, **__):
        return super().__new__(cls)

    def __setstate__(self, state):
        self.state = state

    def __setitem__(self, key, value):
        pass


class Storage:
    def __init__(self, fields, view=None):
        _, self.dtype, self.key, _, self.items, *rest = fields
        view = rest[0] if rest else None
        self.offset = view[1] if view else 0


class Tensor:
    def __init__(self, storage, offset, size, stride, *_):
        self.storage, self.offset, self.size, self.stride = storage, offset, size, stride

    def array(self, storages):
        items = storages[self.storage.key][self.storage.offset + self.offset :]
        return np.lib.stride_tricks.as_strided(items, self.size, [n * items.itemsize for n in self.stride]).copy()


class Unpickler(pickle.Unpickler):
    def __init__(self, file):
        super().__init__(file, encoding="latin1")
        self.found = []

    def persistent_load(self, fields):
        if fields[0] == "module":
            return fields[1]
        self.found.append(Storage(fields))
        return self.found[-1]

    def find_class(self, module, name):
        if module == "collections" and name == "OrderedDict":
            return collections.OrderedDict
        if module.startswith("torch") and name.endswith("Storage"):
            return np.dtype(STORAGES[name.removesuffix("Storage")])
        if name in ("_rebuild_tensor", "_rebuild_tensor_v2"):
            return Tensor
        if name == "_rebuild_parameter":
            return lambda tensor, *_: tensor
        return Module


def read(path):
    """Returns the object of a file, and its storages by key."""
    if zipfile.is_zipfile(path):
        archive = zipfile.ZipFile(path)
        root = next(name for name in archive.namelist() if name.endswith("data.pkl")).removesuffix("data.pkl")
        unpickler = Unpickler(io.BytesIO(archive.read(root + "data.pkl")))
        names = archive.namelist()
        big = root + "byteorder" in names and archive.read(root + "byteorder") == b"big"
        value = unpickler.load()
        # checksums are not checked, as the file no_crc32.pt needs
        zipfile.ZipExtFile._update_crc = lambda *_: None
        of = lambda storage: storage.dtype.newbyteorder(">") if big else storage.dtype
        return value, {s.key: np.frombuffer(archive.read(f"{root}data/{s.key}"), of(s)) for s in unpickler.found}
    with open(path, "rb") as file:
        assert pickle.load(file) == MAGIC and pickle.load(file) == 1001
        pickle.load(file)
        unpickler = Unpickler(file)
        value, storages = unpickler.load(), {}
        dtypes = {storage.key: storage.dtype for storage in unpickler.found}
        for key in pickle.load(file):
            count = int.from_bytes(file.read(8), "little")
            storages[key] = np.frombuffer(file.read(count * dtypes[key].itemsize), dtypes[key])
        return value, storages


def tensors(value, path=()):
    if isinstance(value, Tensor):
        yield ".".join(path) or "tensor", value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from tensors(inner, (*path, str(key)))
    elif isinstance(value, (list, tuple)):
        for n, inner in enumerate(value):
            yield from tensors(inner, (*path, str(n)))
    elif isinstance(value, Module) and isinstance(getattr(value, "state", None), dict):
        for part in ("_parameters", "_buffers", "_modules"):
            yield from tensors(value.state.get(part), path)


def main():
    program = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        tarfile.open(fileobj=io.BytesIO(urllib.request.urlopen(CRATE).read())).extractall(folder, filter="data")
        pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", folder, WHEEL]
        subprocess.run(pip, check=True)
        zipfile.ZipFile(next(folder.glob("*.whl"))).extractall(folder)
        compared = failed = 0
        for path in sorted([*folder.rglob("*.pt"), *folder.rglob("*.pth")]):
            out = folder / "out.npz"
            out.unlink(missing_ok=True)
            run = subprocess.run([program, "convert", path, "-o", out, "-q"], capture_output=True, text=True)
            if path.name == "broken.pt":
                print(f"{path.name}: refused: {run.stderr.strip()}")
                failed += run.returncode == 0
                continue
            value, storages = read(path)
            expected = {name: tensor.array(storages) for name, tensor in tensors(value)}
            actual = dict(np.load(out)) if run.returncode == 0 else {}
            view = lambda array: array.view(np.uint16) if array.dtype.itemsize == 2 else array
            same = expected.keys() == actual.keys() and all(
                array.shape == actual[name].shape and view(array).tobytes() == view(actual[name]).tobytes()
                for name, array in expected.items()
            )
            compared += len(expected)
            failed += not same
            if not same:
                print(f"{path.name}: {sorted(expected)}, {sorted(actual)}: {run.stderr.strip()}")
        print(f"{compared} tensors compared, {failed} files differ")
        sys.exit(failed > 0)


main()
