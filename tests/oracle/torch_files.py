"""Compares PyTorch files, as the program reads them, with NumPy; torch is not needed.

    python3 tests/oracle/torch_files.py others PROGRAM [CRATE]
    python3 tests/oracle/torch_files.py random PROGRAM [COUNT [SEED]]
    python3 tests/oracle/torch_files.py mutants PROGRAM [COUNT [SEED]]

`others` reads files of other projects, which are not kept: the crate pytorch-reader 0.23.0-pre.1 (MIT or Apache-2.0; `cargo vendor`
fetches it unless CRATE is its folder) has files that torch wrote, and lpips 0.1.4 (BSD; PyPI) has streams of Python 2. `random`
reads files of the writer below: archives and streams with nested containers, all dtypes, strides and shared storages.
`mutants` damages such files: each run has 512 MiB of address space and 10 seconds, and ends with status 0 or 2 and at most a line
that begins with `error: `. Needs NumPy, and ml_dtypes for bfloat16 and float8; `others` needs a network.
"""

import collections
import io
import pickle
import random
import resource
import subprocess
import sys
import tempfile
import types
import zipfile
from pathlib import Path

import ml_dtypes
import numpy as np

CRATE = 'pytorch-reader = "=0.23.0-pre.1"'
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
        if name == "set":
            return set
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
        left_out = value.state.get("_non_persistent_buffers_set", ())
        buffers = {name: inner for name, inner in value.state.get("_buffers", {}).items() if name not in left_out}
        for part in (value.state.get("_parameters"), buffers, value.state.get("_modules")):
            yield from tensors(part, path)


def vendored(folder):
    """Returns the folder with the sources of the crate."""
    (folder / "src").mkdir()
    (folder / "src/lib.rs").touch()
    package = '[package]\nname = "fetch"\nversion = "0.0.0"\nedition = "2021"\n'
    (folder / "Cargo.toml").write_text(f"{package}[dependencies]\n{CRATE}\n")
    subprocess.run(["cargo", "vendor", "-q"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return folder / "vendor/pytorch-reader"


def bits(array):
    return array.dtype.itemsize, array.shape, np.ascontiguousarray(array).tobytes()


def converted(program, path, out):
    """Returns the tensors of a file, or why it cannot be read."""
    out.unlink(missing_ok=True)
    run = subprocess.run([program, "convert", path, "-o", out, "-q"], capture_output=True, text=True)
    return (dict(np.load(out)), run.stderr) if run.returncode == 0 else (None, run.stderr.strip())


def compare(path, expected, actual, why):
    little = lambda array: array.astype(array.dtype.newbyteorder("<"))
    same = actual is not None and expected.keys() == actual.keys()
    same = same and all(bits(little(array)) == bits(little(actual[name])) for name, array in expected.items())
    if not same:
        print(f"{path.name}: {sorted(expected)}, {sorted(actual or [])}: {why}")
    return not same


def others(program, crate=None):
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        crate = Path(crate) if crate else vendored(folder)
        pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", folder, WHEEL]
        subprocess.run(pip, check=True)
        zipfile.ZipFile(next(folder.glob("*.whl"))).extractall(folder / "wheel")
        compared = failed = 0
        for path in crate.rglob("*.tar"):
            actual, why = converted(program, path, folder / "out.npz")
            failed += "a TAR archive" not in why
        paths = [path for root in (crate, folder / "wheel") for ending in ("pt", "pth") for path in root.rglob(f"*.{ending}")]
        for path in sorted(paths):
            actual, why = converted(program, path, folder / "out.npz")
            if path.name == "broken.pt":
                print(f"{path.name}: refused: {why}")
                failed += actual is not None
                continue
            value, storages = read(path)
            expected = {name: tensor.array(storages) for name, tensor in tensors(value)}
            compared += len(expected)
            failed += compare(path, expected, actual, why) if expected or actual else 0
        print(f"{len(paths)} files, {compared} tensors compared, {failed} files differ")
        return failed


def module(name, **members):
    found = sys.modules[name] = types.ModuleType(name)
    for key, value in members.items():
        value.__module__ = name
        value.__qualname__ = value.__name__ = key
        setattr(found, key, value)
    return found


def declare():
    """Makes the names that a file of torch refers to, so that pickle can write them."""
    torch = module("torch", **{f"{name}Storage": type(name, (), {}) for name in STORAGES})
    for name in EXTENDED:
        setattr(torch, name, Named(name))
    module("torch.storage", UntypedStorage=type("UntypedStorage", (), {}))
    functions = ("_rebuild_tensor", "_rebuild_tensor_v2", "_rebuild_tensor_v3", "_rebuild_parameter")
    module("torch._utils", **{name: (lambda name: lambda *_: name)(name) for name in functions})


class Named:
    """A torch.dtype, which is written as a name."""

    def __init__(self, name):
        self.name = name

    def __reduce__(self):
        return self.name

    __module__ = "torch"


EXTENDED = {
    "uint16": "u2", "uint32": "u4", "uint64": "u8", "float8_e4m3fn": ml_dtypes.float8_e4m3fn, "float8_e5m2": ml_dtypes.float8_e5m2,
}  # fmt: skip


class Stored:
    """A storage with random items."""

    def __init__(self, rng, key, names):
        self.key, self.name = key, rng.choice(names)
        dtype = np.dtype(STORAGES.get(self.name) or EXTENDED[self.name])
        self.items = rng.randrange(1, 200)
        content = rng.randbytes(self.items * dtype.itemsize)
        content = bytes(byte & 1 for byte in content) if dtype == bool else content
        self.array = np.frombuffer(content, dtype)

    def id(self):
        if self.name in EXTENDED:
            return ("storage", sys.modules["torch.storage"].UntypedStorage, self.key, "cpu", self.array.nbytes)
        return ("storage", getattr(sys.modules["torch"], f"{self.name}Storage"), self.key, "cpu", self.items)


class Viewed:
    """A view of a storage: any strides that stay inside."""

    def __init__(self, rng, storage, legacy):
        self.storage, left = storage, storage.items
        self.shape, self.strides = [], []
        self.offset = rng.randrange(storage.items) if rng.random() < 0.3 else 0
        left -= self.offset
        for _ in range(rng.randrange(4)):
            stride = rng.choice([0, 1, 1, 2, 3, 5, 8, 20])
            dim = rng.randrange(0 if rng.random() < 0.05 else 1, 6)
            dim = dim if dim == 0 or (dim - 1) * stride < left else 1
            left -= max(dim - 1, 0) * stride
            self.shape.append(dim)
            self.strides.append(stride)
        if rng.random() < 0.5:
            self.strides = [int(np.prod(self.shape[n + 1 :])) for n in range(len(self.shape))]
            last = sum((dim - 1) * stride for dim, stride in zip(self.shape, self.strides))
            if 0 in self.shape or self.offset + last >= storage.items:
                self.shape, self.strides = [], []
        self.is_parameter, self.is_old = rng.random() < 0.2, legacy and rng.random() < 0.3

    def array(self):
        array = self.storage.array
        if 0 in self.shape:
            return np.zeros(self.shape, array.dtype)
        strides = [n * array.itemsize for n in self.strides]
        # NumPy does not stride the dtypes of ml_dtypes
        words = array.view(f"V{array.itemsize}")[self.offset :]
        return np.lib.stride_tricks.as_strided(words, self.shape, strides).copy().view(array.dtype)

    def __reduce__(self):
        utils = sys.modules["torch._utils"]
        args = (self.storage, self.offset, tuple(self.shape), tuple(self.strides))
        rest = (False, collections.OrderedDict())
        if self.storage.name in EXTENDED:
            return utils._rebuild_tensor_v3, (*args, *rest, getattr(sys.modules["torch"], self.storage.name))
        return (utils._rebuild_tensor, args) if self.is_old else (utils._rebuild_tensor_v2, (*args, *rest))


class Parameter:
    def __init__(self, tensor):
        self.tensor = tensor

    def __reduce__(self):
        return sys.modules["torch._utils"]._rebuild_parameter, (self.tensor, False, collections.OrderedDict())


class Writer(pickle.Pickler):
    def persistent_id(self, value):
        if not isinstance(value, Stored):
            return None
        self.storages[value.key] = value
        return (*value.id(), None) if self.legacy else value.id()


def random_file(rng, path):
    """Writes a file, and returns its tensors by name."""
    legacy = rng.random() < 0.4
    names = [*STORAGES, *([] if legacy else EXTENDED)]
    storages = [Stored(rng, str(n), names) for n in range(rng.randrange(1, 6))]
    expected, made = {}, []

    def value(path, depth):
        kind = rng.random()
        if depth == 0 or kind < 0.55:
            tensor = rng.choice(made) if made and rng.random() < 0.15 else Viewed(rng, rng.choice(storages), legacy)
            made.append(tensor)
            expected[".".join(path) or "tensor"] = tensor.array()
            return Parameter(tensor) if tensor.is_parameter else tensor
        if kind < 0.65:
            return rng.choice([None, True, 3, -(2**70), 0.5, "text", b"bytes", {1, 2}, "\u00e9"])
        if kind < 0.85:
            keys = rng.sample(["weight", "bias", "w.x", "\u00e9", 0, 7, "a b"], rng.randrange(1, 5))
            made_dict = rng.choice([dict, collections.OrderedDict])()
            for key in keys:
                made_dict[key] = value((*path, str(key)), depth - 1)
            return made_dict
        items = [value((*path, str(n)), depth - 1) for n in range(rng.randrange(1, 4))]
        return rng.choice([list, tuple])(items)

    root, out = value((), 3), io.BytesIO()
    protocol = rng.choice([2, 2, 2, 3, 4, 5])
    writer = Writer(out, protocol)
    writer.storages, writer.legacy = {}, legacy
    writer.dump(root)
    swapped = not legacy and rng.random() < 0.2
    content = {key: s.array.byteswap() if swapped else s.array for key, s in writer.storages.items()}
    if legacy:
        with open(path, "wb") as file:
            for front in (MAGIC, 1001, {"little_endian": True}):
                pickle.dump(front, file, protocol)
            file.write(out.getvalue())
            pickle.dump(sorted(content), file, protocol)
            for _, array in sorted(content.items()):
                file.write(len(array).to_bytes(8, "little") + array.tobytes())
        return expected
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("x/data.pkl", out.getvalue())
        if swapped or rng.random() < 0.5:
            archive.writestr("x/byteorder", "big" if swapped else "little")
        for key, array in content.items():
            archive.writestr(f"x/data/{key}", array.tobytes())
        archive.writestr("x/version", "3\n")
    return expected


def made(program, count=300, seed=1):
    declare()
    rng, compared, failed = random.Random(int(seed)), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        path, out = Path(folder) / "made.pt", Path(folder) / "out.npz"
        for _ in range(int(count)):
            expected = random_file(rng, path)
            if expected:
                compared += len(expected)
                failed += compare(path, expected, *converted(program, path, out))
    print(f"{count} files, {compared} tensors compared, {failed} files differ")
    return failed


def mutant(rng, content):
    content = bytearray(content)
    for _ in range(rng.randrange(1, 5)):
        at, other = sorted(rng.randrange(len(content) + 1) for _ in range(2))
        # most damage is in the pickle or the directory, not among the items
        kind = rng.randrange(6)
        if kind == 0 and at < len(content):
            content[at] = rng.choice([0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)])
        elif kind == 1:
            content[at:at] = rng.choice([b"\xff" * 4, b"\x80\x02", b"(", b"2", b"R", b"h\x00", rng.randbytes(8)])
        elif kind == 2:
            del content[at : min(other, at + 40)]
        elif kind == 3:
            content[at:at] = content[at : min(other, at + 400)] * rng.randrange(1, 20)
        elif kind == 4 and at < len(content):
            content[at] ^= 1 << rng.randrange(8)
        elif rng.random() < 0.2:
            del content[at:]
    return bytes(content)


def limit():
    resource.setrlimit(resource.RLIMIT_AS, (1 << 29, 1 << 29))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def mutants(program, count=2000, seed=1):
    declare()
    rng, counts, failed = random.Random(int(seed)), collections.Counter(), 0
    with tempfile.TemporaryDirectory() as folder:
        path, out = Path(folder) / "mutant.pt", Path(folder) / "out.npz"
        for n in range(int(count)):
            random_file(rng, path)
            path.write_bytes(mutant(rng, path.read_bytes()))
            for args in (["info", path], ["convert", path, "-o", out, "-q", "--from", "pytorch"]):
                out.unlink(missing_ok=True)
                try:
                    run = subprocess.run([program, *args], capture_output=True, text=True, timeout=10, preexec_fn=limit)
                    errors = [line for line in run.stderr.splitlines() if line.startswith("error: ")]
                    is_good = run.returncode == 0 or run.returncode == 2 and errors and not out.exists()
                    counts[run.returncode] += 1
                except subprocess.TimeoutExpired as error:
                    is_good, run = False, error
                if not is_good:
                    failed += 1
                    kept = Path(tempfile.gettempdir()) / f"torch-mutant-{seed}-{n}.pt"
                    kept.write_bytes(path.read_bytes())
                    print(f"{kept}: {args[0]}: {run}")
    print(f"{count} mutants, runs by status: {dict(counts)}, {failed} fail")
    return failed


def main():
    command, program, *rest = sys.argv[1:]
    commands = {"others": others, "random": made, "mutants": mutants}
    sys.exit(commands[command](Path(program).resolve(), *rest) > 0)


main()
