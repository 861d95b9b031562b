"""Compares PyTorch files with torch's rules, argument by argument of each constructor.

    python3 tests/oracle/torch_constructors.py PROGRAM [COUNT [SEED [differences]]]

Each random file has a tensor that a constructor of torch or NumPy makes, in most files with one thing changed: an argument, a
flag, the number of arguments, a state, a key of the metadata. The rules of torch are below, in NumPy; if torch can be imported,
torch.load reads each file too, and the rules are held against it. The program must give these numbers, or list the tensor as
`not read` or damaged; what has no numbers by the rules is never read, and what nobody changed always is. The other tensors of
the file have keys of all types and are in modules, whose names are compared. Pickles have protocols 0 to 5, archives and streams.
The last line counts the files in which the rules and torch differ, and `differences` lists them. Needs NumPy.
"""

import collections
import io
import os
import pickle
import random
import struct
import subprocess
import sys
import tempfile
import warnings
import zipfile
from pathlib import Path

import numpy as np

try:
    warnings.simplefilter("ignore")
    import torch
except ImportError:
    torch = None

MAGIC = 0x1950A86A20F9469CFC6C
LEGACY = 1001

# the storages of torch: class, torch.dtype, NumPy's dtype of the same size
STORAGES = [
    ("DoubleStorage", "float64", "<f8"), ("FloatStorage", "float32", "<f4"), ("HalfStorage", "float16", "<f2"),
    ("BFloat16Storage", "bfloat16", "V2"), ("LongStorage", "int64", "<i8"), ("IntStorage", "int32", "<i4"),
    ("ShortStorage", "int16", "<i2"), ("CharStorage", "int8", "i1"), ("ByteStorage", "uint8", "u1"),
    ("BoolStorage", "bool", "?"), ("ComplexFloatStorage", "complex64", "<c8"), ("ComplexDoubleStorage", "complex128", "<c16"),
]  # fmt: skip
DTYPES = {name: dtype for _, name, dtype in STORAGES}
DTYPES |= {"uint16": "<u2", "uint32": "<u4", "uint64": "<u8", "float8_e4m3fn": "V1", "float8_e5m2": "V1"}
FLOATS = {"float64", "float32", "float16", "bfloat16", "complex64", "complex128", "float8_e4m3fn", "float8_e5m2"}
COMPLEX = {"complex64", "complex128"}
# torch has no negative of the others
NEGATIVE = {"float64", "float32", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8"} | COMPLEX


class Refused(Exception):
    """What torch refuses."""


def refuse(condition):
    if condition:
        raise Refused


# values of a pickle


class Global:
    def __init__(self, module, name):
        self.module, self.name = module, name

    def __eq__(self, other):
        return isinstance(other, Global) and (self.module, self.name) == (other.module, other.name)

    def __hash__(self):
        return hash((self.module, self.name))

    def __repr__(self):
        return f"{self.module}.{self.name}"


class Call:
    def __init__(self, function, args, state=None, items=(), opcode=b"R"):
        self.function, self.args, self.state, self.items, self.opcode = function, list(args), state, list(items), opcode

    def __repr__(self):
        state = f".state({self.state})" if self.state is not None else ""
        return f"{self.function}{tuple(self.args)}{state}" + (f".items({self.items})" if self.items else "")


class Storage:
    def __init__(self, rng, key, kind):
        self.key, (self.name, self.dtype, numpy) = str(key), kind
        self.count = rng.randrange(1, 40)
        content = rng.randbytes(self.count * np.dtype(numpy).itemsize)
        content = bytes(byte & 1 for byte in content) if self.dtype == "bool" else content
        self.array = np.frombuffer(content, numpy)

    def module(self):
        return "torch.storage" if self.name == "UntypedStorage" else "torch"

    def __repr__(self):
        return f"{self.name}[{self.count}]"


ORDERED = Call(Global("collections", "OrderedDict"), [])
PARAMETER = Global("torch.nn.parameter", "Parameter")
TENSOR = Global("torch", "Tensor")


def utils(name):
    return Global("torch._utils", name)


def numpy_global(rng, name):
    core = rng.choice(["numpy.core", "numpy._core"])
    return Global(f"{core}.{'numeric' if name == '_frombuffer' else 'multiarray'}", name)


# the writer


class Writer:
    def __init__(self, protocol, legacy, rng):
        self.protocol, self.legacy, self.rng, self.out, self.storages, self.memo = protocol, legacy, rng, io.BytesIO(), {}, {}

    def pickle(self, value):
        if self.protocol > 1:
            self.out.write(b"\x80" + bytes([self.protocol]))
        self.value(value)
        self.out.write(b".")
        return self.out.getvalue()

    def memoised(self, key, write):
        """Writes a value once, and its number later."""
        out = self.out.write
        if key in self.memo:
            return out(b"g%d\n" % self.memo[key] if self.protocol == 0 else b"j" + self.memo[key].to_bytes(4, "little"))
        write()
        number = self.memo[key] = len(self.memo)
        out(b"p%d\n" % number if self.protocol == 0 else b"r" + number.to_bytes(4, "little"))

    def value(self, value):
        out = self.out.write
        if value is None:
            out(b"N")
        elif isinstance(value, bool):
            out((b"\x88" if value else b"\x89") if self.protocol > 1 else b"I01\n" if value else b"I00\n")
        elif isinstance(value, int):
            self.int(value)
        elif isinstance(value, float):
            out(b"G" + struct.pack(">d", value) if self.protocol else f"F{value!r}\n".encode())
        elif isinstance(value, str):
            self.memoised(("text", value), lambda: self.text(value))
        elif isinstance(value, (bytes, bytearray)):
            self.bytes(value)
        elif isinstance(value, (list, dict, tuple)):
            self.container(value)
        elif isinstance(value, Global):
            self.memoised(value, lambda: self.globally(value))
        elif isinstance(value, Storage):
            self.storages[value.key] = value
            cls = Global(value.module(), value.name)
            fields = ("storage", cls, value.key, "cpu", value.count, *([None] if self.legacy else []))
            if self.protocol == 0:
                text = ", ".join(f"<class '{cls}'>" if field is cls else repr(field) for field in fields)
                out(f"P({text})\n".encode())
            else:
                self.value(fields)
                out(b"Q")
        elif isinstance(value, Call):
            # shared constructors of bytes, as Python writes them
            self.value(value.function)
            self.value(tuple(value.args))
            out(value.opcode if self.protocol > 1 else b"R")
            if value.items:
                out(b"(")
                for key, item in value.items:
                    self.value(key)
                    self.value(item)
                out(b"u")
            if value.state is not None:
                self.value(value.state)
                out(b"b")
        else:
            raise TypeError(value)

    def int(self, value):
        out = self.out.write
        if self.protocol == 0 or self.protocol == 1 and not -(2**31) <= value < 2**31:
            out(b"I%d\n" % value if -(2**31) <= value < 2**31 else b"L%dL\n" % value)
        elif 0 <= value < 256:
            out(b"K" + bytes([value]))
        elif -(2**31) <= value < 2**31:
            out(b"J" + value.to_bytes(4, "little", signed=True))
        else:
            size = value.bit_length() // 8 + 1
            out(b"\x8a" + bytes([size]) + value.to_bytes(size, "little", signed=True))

    def text(self, value):
        if self.protocol == 0:
            escaped = "".join(f"\\u{ord(c):04x}" if c in "\\\0\n\r\x1a" else c for c in value)
            return self.out.write(b"V" + escaped.encode("raw-unicode-escape") + b"\n")
        content = value.encode("utf-8", "surrogatepass")
        self.out.write(b"X" + len(content).to_bytes(4, "little") + content)

    def bytes(self, value):
        if self.protocol < 3:
            encoded = Call(Global("_codecs", "encode"), [bytes(value).decode("latin1"), "latin1"])
            return self.value(encoded if value else Call(Global("__builtin__", "bytes"), []))
        if self.protocol == 5 and isinstance(value, bytearray):
            return self.out.write(b"\x96" + len(value).to_bytes(8, "little") + value)
        self.out.write(b"B" + len(value).to_bytes(4, "little") + bytes(value))

    def container(self, value):
        out, is_old = self.out.write, self.protocol == 0
        items = [part for pair in value.items() for part in pair] if isinstance(value, dict) else value
        begin = {list: b"]", dict: b"}", tuple: b""}[type(value)]
        out(b"(" if is_old else begin + b"(")
        for item in items:
            self.value(item)
        out({list: b"l", dict: b"d", tuple: b"t"}[type(value)] if is_old else {list: b"e", dict: b"u", tuple: b"t"}[type(value)])

    def globally(self, value):
        if self.protocol >= 4:
            self.text4(value.module)
            self.text4(value.name)
            return self.out.write(b"\x93")
        self.out.write(f"c{value.module}\n{value.name}\n".encode())

    def text4(self, value):
        self.out.write(b"\x8c" + bytes([len(value)]) + value.encode())


def write(path, value, protocol, legacy, rng):
    """Returns whether the storages are deflated."""
    writer = Writer(protocol, legacy, rng)
    content = writer.pickle(value)
    if legacy:
        with open(path, "wb") as file:
            for front in (MAGIC, LEGACY, {"little_endian": True}):
                file.write(Writer(protocol, legacy, rng).pickle(front))
            file.write(content)
            file.write(Writer(protocol, legacy, rng).pickle(sorted(writer.storages)))
            for _, storage in sorted(writer.storages.items()):
                file.write(storage.count.to_bytes(8, "little") + storage.array.tobytes())
        return False
    deflated = rng.random() < 0.1
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED if deflated else zipfile.ZIP_STORED) as archive:
        archive.writestr("x/data.pkl", content)
        archive.writestr("x/byteorder", "little")
        for key, storage in writer.storages.items():
            archive.writestr(f"x/data/{key}", storage.array.tobytes())
        archive.writestr("x/version", "3\n")
    return deflated


# the rules


class Tensor:
    """The words of a tensor, and the name of its torch.dtype. `words` is None where torch has numbers that are not compared."""

    def __init__(self, words, dtype):
        self.words, self.dtype = words, dtype


def is_int(value):
    return isinstance(value, int) and not isinstance(value, bool)


def flag(tensor, requires_grad, hooks):
    refuse(not isinstance(requires_grad, bool))
    refuse(requires_grad and tensor.dtype not in FLOATS)


def view(storage, offset, size, stride, dtype=None):
    refuse(not isinstance(storage, Storage) or not is_int(offset) or offset < 0)
    for numbers in (size, stride):
        refuse(not isinstance(numbers, (list, tuple)) or not all(is_int(n) and n >= 0 for n in numbers))
    refuse(len(size) != len(stride))
    dtype = dtype or storage.dtype
    refuse(dtype not in DTYPES)
    words = np.dtype(f"V{np.dtype(DTYPES[dtype]).itemsize}")
    content = storage.array.tobytes()
    last = sum((dim - 1) * step for dim, step in zip(size, stride)) if 0 not in size else -1
    refuse((offset + last + 1) * words.itemsize > len(content) and 0 not in size)
    if 0 in size:
        return Tensor(np.zeros(size, words), dtype)
    items = np.frombuffer(content[: len(content) // words.itemsize * words.itemsize], words)[offset:]
    strides = [n * words.itemsize for n in stride]
    return Tensor(np.lib.stride_tricks.as_strided(items, size, strides).copy(), dtype)


def with_metadata(tensor, metadata):
    if not metadata:
        refuse(metadata is not None and not isinstance(metadata, (dict, str, bytes, int, float, tuple, list)))
        return tensor
    refuse(not isinstance(metadata, dict) or not all(isinstance(key, str) for key in metadata))
    # torch looks at the keys alone, and ignores those that it does not know: such a tensor is not read here
    conj, neg = "conj" in metadata, "neg" in metadata
    refuse(conj and tensor.dtype not in COMPLEX or neg and tensor.dtype not in NEGATIVE)
    shape, itemsize = tensor.words.shape, tensor.words.itemsize
    raw = np.frombuffer(bytearray(np.ascontiguousarray(tensor.words).tobytes()), np.uint8).reshape(-1, itemsize)
    parts = 2 if tensor.dtype in COMPLEX else 1
    if tensor.dtype in FLOATS:
        for part, flips in zip(range(parts), (neg, neg != conj)):
            raw[:, (part + 1) * (itemsize // parts) - 1] ^= 0x80 if flips else 0
    elif neg:
        numbers = np.frombuffer(raw.tobytes(), DTYPES[tensor.dtype])
        raw = np.frombuffer((0 - numbers).astype(DTYPES[tensor.dtype]).tobytes(), np.uint8)
    return Tensor(np.frombuffer(raw.tobytes(), f"V{itemsize}").reshape(shape), tensor.dtype)


def set_state(tensor, state):
    if isinstance(state, tuple):
        refuse(len(state) != 2)
        parts = state
    else:
        parts = (state,)
    for part in parts:
        if not part:
            continue
        refuse(not isinstance(part, dict) or not all(isinstance(key, str) for key in part))
        for key, value in part.items():
            # these set the items, and torch's other properties refuse values
            refuse(key in ("shape", "dtype", "__class__"))
            if key in ("data", "real", "imag", "__dict__", "requires_grad"):
                return Tensor(None, tensor.dtype)
    return tensor


def named_dtype(value):
    refuse(not isinstance(value, Global) or value.module != "torch" or value.name not in {*DTYPES, *ODD_DTYPES})
    refuse(value.name in ODD_DTYPES)
    return value.name


ODD_DTYPES = ["bits8", "complex32", "uint4", "int1", "float4_e2m1fn_x2", "qint8", "uint7"]


def rebuild_v2(storage, offset, size, stride, requires_grad, hooks, metadata=None):
    tensor = view(storage, offset, size, stride)
    flag(tensor, requires_grad, hooks)
    return with_metadata(tensor, metadata)


def rebuild_v3(storage, offset, size, stride, requires_grad, hooks, dtype, metadata=None):
    tensor = view(storage, offset, size, stride, named_dtype(dtype))
    if requires_grad is not None:
        flag(tensor, requires_grad, hooks)
    return with_metadata(tensor, metadata)


def parameter(data, requires_grad=None, hooks=None):
    refuse(not isinstance(data, Tensor))
    # without the argument the newest torch takes no integers, and older ones did
    if requires_grad is not None:
        flag(data, requires_grad, hooks)
    return data


def parameter_with_state(data, requires_grad, hooks, state):
    return set_state(parameter(data, requires_grad, hooks), state)


def device_tensor(data, dtype, device, requires_grad):
    name = named_dtype(dtype)
    refuse(not isinstance(device, str) and not isinstance(device, Device))
    flag(Tensor(None, name), requires_grad, None)
    # a cast is not done here
    return data if data.dtype == name else Tensor(None, name)


def from_cpu_tensor(data, dtype, device, requires_grad):
    refuse(not isinstance(data, Tensor))
    return device_tensor(data, dtype, device, requires_grad)


def from_numpy(data, dtype, device, requires_grad):
    refuse(not isinstance(data, np.ndarray))
    names = {np.dtype(numpy): name for name, numpy in DTYPES.items() if not numpy.startswith("V")}
    refuse(data.dtype not in names)
    return device_tensor(Tensor(words_of(data), names[data.dtype]), dtype, device, requires_grad)


def from_type(function, new_type, args, state):
    refuse(not isinstance(function, Global) or not isinstance(args, (list, tuple)))
    tensor = construct(function, args)
    refuse(not isinstance(tensor, Tensor) or new_type not in (TENSOR, PARAMETER))
    return set_state(tensor, state)


class Device(str):
    pass


def device(kind, index=0):
    refuse(not isinstance(kind, str) or kind not in ("cpu", "cuda", "meta"))
    return Device(kind)


def words_of(array):
    little = array.astype(array.dtype.newbyteorder("<"))
    return (
        np.ascontiguousarray(little).reshape(array.shape).view(f"V{array.itemsize}")
        if array.ndim
        else little.reshape(1).view(f"V{array.itemsize}").reshape(())
    )


RULES = {
    "torch._utils._rebuild_tensor": view,
    "torch._utils._rebuild_tensor_v2": rebuild_v2,
    "torch._utils._rebuild_tensor_v3": rebuild_v3,
    "torch._utils._rebuild_parameter": lambda data, requires_grad, hooks: parameter(data, requires_grad, hooks),
    "torch._utils._rebuild_parameter_with_state": parameter_with_state,
    "torch.nn.parameter.Parameter": parameter,
    "torch._utils._rebuild_device_tensor_from_cpu_tensor": from_cpu_tensor,
    "torch._utils._rebuild_device_tensor_from_numpy": from_numpy,
    "torch._utils._rebuild_xla_tensor": from_numpy,
    "torch._tensor._rebuild_from_type_v2": from_type,
    "torch.device": device,
    "torch.Size": lambda dims: tuple(dims),
    "collections.OrderedDict": lambda: collections.OrderedDict(),
    "numpy.dtype": np.dtype,
    "numpy._core.multiarray._reconstruct": np._core.multiarray._reconstruct,
    "numpy._core.multiarray.scalar": np._core.multiarray.scalar,
    "numpy._core.numeric._frombuffer": np._core.numeric._frombuffer,
}


def construct(function, args):
    rule = RULES.get(repr(function).replace("numpy.core.", "numpy._core."))
    refuse(rule is None)
    args = [np.ndarray if isinstance(arg, Global) and repr(arg) == "numpy.ndarray" else arg for arg in args]
    try:
        return rule(*args)
    except Refused:
        raise
    except Exception as error:
        raise Refused from error


def evaluate(value):
    """What torch makes of a value."""
    if isinstance(value, (list, tuple)):
        return type(value)(evaluate(item) for item in value)
    if isinstance(value, dict):
        return {evaluate(key): evaluate(item) for key, item in value.items()}
    if not isinstance(value, Call):
        return value
    made = construct(value.function, [evaluate(arg) for arg in value.args])
    refuse(bool(value.items) and not isinstance(made, dict))
    if value.state is not None:
        state = evaluate(value.state)
        # torch sets parameters and tensors anew
        if isinstance(made, Tensor):
            refuse(value.function != PARAMETER or not isinstance(state, tuple) or len(state) != 3)
            refuse(not isinstance(state[0], bool) or state[0] and made.dtype not in FLOATS)
            return made
        refuse(not hasattr(made, "__setstate__"))
        try:
            made.__setstate__(state)
        except Exception as error:
            raise Refused from error
    return made


def numbers(value):
    """Returns shape, size of an item and little-endian bytes; None if it has no numbers, "any" if they are not compared."""
    try:
        made = evaluate(value)
    except Refused:
        return None
    if isinstance(made, Tensor):
        return "any" if made.words is None else (made.words.shape, made.words.itemsize, made.words.tobytes())
    if isinstance(made, (np.ndarray, np.generic)) and not made.dtype.hasobject and made.dtype.names is None:
        # the strings of a type without a width have none here
        array = np.asarray(made)
        return (array.shape, array.itemsize, words_of(array).tobytes() if array.itemsize else b"")
    return "any" if isinstance(made, (np.ndarray, np.generic)) else None


def without_payloads(found):
    """Makes all NaN of 16 bits one: torch negates them as float32, and loses their bits."""
    shape, itemsize, content = found
    if itemsize != 2:
        return found
    words = np.frombuffer(content, "<u2")
    is_nan = [(words & 0x7FFF) > most for most in (0x7C00, 0x7F80)]
    return shape, itemsize, np.where(is_nan[0] | is_nan[1], 0x7FFF, words).astype("<u2").tobytes()


def by_torch(value):
    if isinstance(value, torch.Tensor):
        if value.layout != torch.strided or value.is_quantized or value.device.type == "meta":
            return None
        try:
            plain = value.detach().resolve_conj().resolve_neg()
            # an item of a stride of 0 is no view of bytes
            items = torch.empty(plain.numel(), dtype=plain.dtype)
            items[:] = plain.reshape(-1)
            return tuple(plain.shape), plain.element_size(), items.view(torch.uint8).numpy().tobytes() if plain.numel() else b""
        except (RuntimeError, NotImplementedError):
            return None
    if isinstance(value, (np.ndarray, np.generic)):
        array = np.asarray(value)
        if array.dtype.hasobject or array.dtype.names is not None:
            return "any"
        return array.shape, array.itemsize, words_of(array).tobytes() if array.itemsize else b""
    return None


def loaded(path):
    """What torch.load gives, with weights_only if it can."""
    safe = [np.ndarray, np.dtype, np._core.multiarray._reconstruct, np._core.multiarray.scalar, np._core.numeric._frombuffer]
    safe += [
        (function, f"{function.__module__.replace('numpy._core', 'numpy.core')}.{function.__name__}") for function in safe[2:]
    ]
    safe += [type(np.dtype(letter)) for letter in "?bBhHiIlLqQefdgFDGSUVMmO"]
    answer = None
    for only in (True, False):
        try:
            with torch.serialization.safe_globals(safe):
                return "numbers", by_torch(torch.load(path, map_location="cpu", weights_only=only)["w"])
        except Exception as problem:
            answer = "refused", str(problem)[-200:]
    return answer


def in_child(function, *args):
    """Calls a function in a process of its own, which NumPy and torch end for some of these values. Returns None then."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        with os.fdopen(write, "wb") as pipe:
            pickle.dump(function(*args), pipe)
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        content = pipe.read()
    os.waitpid(child, 0)
    return pickle.loads(content) if content else None


# random values


def random_storage(rng, state, names=None):
    kinds = [kind for kind in STORAGES if names is None or kind[1] in names]
    state["keys"] += 1
    return Storage(rng, state["keys"], rng.choice(kinds))


def random_view(rng, state, storage=None, dtype=None):
    storage = storage or random_storage(rng, state, {dtype} if dtype in dict((b, a) for a, b, _ in STORAGES) else None)
    size = np.dtype(DTYPES[dtype or storage.dtype]).itemsize
    items = storage.array.nbytes // size
    shape, strides, left = [], [], items
    offset = rng.randrange(items) if items and rng.random() < 0.3 else 0
    left -= offset
    for _ in range(rng.randrange(4)):
        stride = rng.choice([0, 1, 1, 2, 3, 5])
        dim = rng.randrange(0 if rng.random() < 0.05 else 1, 5)
        dim = dim if dim == 0 or (dim - 1) * stride < left else 1
        left -= max(dim - 1, 0) * stride
        shape.append(dim)
        strides.append(stride)
    return [storage, offset, rng.choice([tuple, list])(shape), tuple(strides)]


def v2(rng, state, dtype=None):
    args = random_view(rng, state, dtype=dtype)
    grad = rng.random() < 0.3 and args[0].dtype in FLOATS
    bits = [{}, {"neg": True}] if args[0].dtype in FLOATS - {"bool"} else [{}]
    bits += [{"conj": True}, {"conj": True, "neg": True}] if args[0].dtype in COMPLEX else []
    metadata = [rng.choice(bits)] if rng.random() < 0.5 else []
    return Call(utils("_rebuild_tensor_v2"), [*args, grad, rng.choice([ORDERED, None]), *metadata])


def v1(rng, state):
    return Call(utils("_rebuild_tensor"), random_view(rng, state))


def v3(rng, state):
    state["keys"] += 1
    storage = Storage(rng, state["keys"], ("UntypedStorage", "uint8", "u1"))
    storage.array = np.frombuffer(rng.randbytes(16 * storage.count), np.uint8)
    storage.count = storage.array.nbytes
    dtype = rng.choice([name for name in DTYPES if name != "bool"])
    args = random_view(rng, state, storage, dtype)
    return Call(utils("_rebuild_tensor_v3"), [*args, False, ORDERED, Global("torch", dtype)])


def random_parameter(rng, state):
    data = rng.choice([v1, v2, v3])(rng, state)
    dtype = data.args[6].name if data.function.name.endswith("v3") else data.args[0].dtype
    grad = rng.random() < 0.5 and dtype in FLOATS
    kind = rng.randrange(4)
    if kind == 0:
        return Call(utils("_rebuild_parameter"), [data, grad, ORDERED])
    if kind == 1:
        attributes = rng.choice([None, {}, {"tag": 1}, {"label": "x", "ok": None}])
        return Call(utils("_rebuild_parameter_with_state"), [data, grad, ORDERED, attributes])
    args = [data, grad] if rng.random() < 0.7 or dtype not in FLOATS else [data]
    call = Call(PARAMETER, args, opcode=rng.choice([b"R", b"\x81"]))
    if kind == 3:
        call.args, call.state = [data], (grad, False, ORDERED)
    return call


def from_device(rng, state):
    data = v2(rng, state)
    dtype, grad = data.args[0].dtype, rng.random() < 0.3 and data.args[0].dtype in FLOATS
    device = rng.choice(["cpu", "xla:0", "cuda:0"])
    return Call(utils("_rebuild_device_tensor_from_cpu_tensor"), [data, Global("torch", dtype), device, grad])


def from_device_numpy(rng, state):
    dtype = rng.choice(["float32", "float64", "int64", "uint8", "bool", "complex64", "int16"])
    data = random_array(rng, state, np.dtype(DTYPES[dtype]), whole=True)
    name = rng.choice(["_rebuild_device_tensor_from_numpy"] * 3 + ["_rebuild_xla_tensor"])
    return Call(utils(name), [data, Global("torch", dtype), rng.choice(["cpu", "xla:0"]), False])


def typed(rng, state):
    inner = rng.choice([v1, v2, v3])(rng, state)
    attributes = rng.choice([{}, {"persistent": False, "_is_buffer": True}, None])
    new_type = rng.choice([TENSOR, TENSOR, PARAMETER])
    return Call(Global("torch._tensor", "_rebuild_from_type_v2"), [inner.function, new_type, tuple(inner.args), attributes])


def dtype_call(dtype):
    def plain(value):
        if isinstance(value, np.dtype):
            return dtype_call(value)
        if isinstance(value, dict):
            return {key: plain(item) for key, item in value.items()}
        return tuple(map(plain, value)) if isinstance(value, tuple) else value

    _, args, state = dtype.__reduce__()
    return Call(Global("numpy", "dtype"), args, state=plain(state))


NUMPY = ["?", "i1", "u1", "<i2", ">i2", "<u2", ">u2", "<i4", ">i4", "<u4", "<i8", ">i8", "<u8", "<f2", ">f2", "<f4", ">f4"]
NUMPY += ["<f8", ">f8", "<c8", ">c8", "<c16", ">c16", "<M8[ns]", ">M8[D]", "<m8[25us]", "<M8", "S3", "<U2", ">U2", "V5", "<f16"]


def random_array(rng, state, dtype=None, whole=False):
    dtype = dtype or np.dtype(rng.choice(NUMPY))
    shape = tuple(rng.randrange(0 if rng.random() < 0.1 else 1, 5) for _ in range(rng.randrange(4)))
    count = int(np.prod(shape))
    ascii_only = rng.random() < 0.3
    content = bytes(rng.randrange(128 if ascii_only else 256) for _ in range(count * dtype.itemsize))
    if dtype.kind == "b":
        content = bytes(byte & 1 for byte in content)
    elif dtype.kind == "U":
        content = np.array([rng.choice(["", "a", "é", "ab"]) for _ in range(count)], dtype).tobytes()
    elif dtype.str == "<f16":
        # NumPy does not keep the padding of a scalar
        content = b"".join(content[at : at + 10] + bytes(6) for at in range(0, len(content), 16))
    kind = rng.randrange(3 if whole else 4)
    fortran = rng.random() < 0.4
    if kind == 3:
        size = dtype.itemsize
        content = content[:size] if len(content) >= size and count else b"\1" * min(size, 10) + bytes(size - min(size, 10))
        content = b"a\0\0\0b\0\0\0"[:size] if dtype.str == "<U2" else b"\0\0\0a\0\0\0b"[:size] if dtype.str == ">U2" else content
        return Call(numpy_global(rng, "scalar"), [dtype_call(dtype), content])
    if kind == 2 and state["protocol"] == 5 and count and not (whole and dtype.str[0] == ">"):
        buffer = rng.choice([bytes, bytearray])(content)
        return Call(numpy_global(rng, "_frombuffer"), [buffer, dtype_call(dtype), shape, "F" if fortran else "C"])
    args = [Global("numpy", "ndarray"), (0,), b"b"]
    return Call(numpy_global(rng, "_reconstruct"), args, state=(1, shape, dtype_call(dtype), fortran, content))


def odd(rng, state):
    """What torch makes, and is not read."""
    tensor, other = v2(rng, state), v2(rng, state)
    kinds = [
        lambda: Call(utils("_rebuild_meta_tensor_no_storage"), [Global("torch", "float32"), (2,), (1,), False]),
        lambda: Call(
            utils("_rebuild_sparse_tensor"),
            [Call(Global("torch.serialization", "_get_layout"), ["torch.sparse_coo"]), (tensor, other, (3,))],
        ),
        lambda: Call(
            utils("_rebuild_qtensor"), [*tensor.args[:4], (Global("torch", "per_tensor_affine"), 0.5, 1), False, ORDERED]
        ),
        lambda: Call(utils("_rebuild_nested_tensor"), [tensor, other, other, other]),
        lambda: Call(utils("_rebuild_wrapper_subclass"), [TENSOR, Global("torch", "float32"), (2,), (1,), 0, None, "cpu", False]),
        lambda: Call(Global("torch", "FloatTensor"), [[1.0, 2.0]]),
        lambda: Call(Global("torch.storage", "_load_from_bytes"), [b"x"]),
        lambda: Call(
            Global("torch._tensor", "_rebuild_from_type_v2"), [tensor.function, Global("my", "Tensor"), tuple(tensor.args), {}]
        ),
        lambda: Call(
            Global("numpy.ma.core", "_mareconstruct"),
            [Global("numpy.ma.core", "MaskedArray"), Global("numpy", "ndarray"), (0,), "b"],
        ),
        lambda: Call(
            numpy_global(rng, "_reconstruct"),
            [Global("numpy", "matrix"), (0,), b"b"],
            state=(1, (1, 1), dtype_call(np.dtype("i1")), False, b"x"),
        ),
        lambda: Call(Global("my", "Thing"), [random_array(rng, state)]),
        lambda: Call(Global("my", "Thing"), [], state={"x": tensor}),
    ]
    return rng.choice(kinds)()


CONSTRUCTORS = [
    v1,
    v2,
    v2,
    v3,
    random_parameter,
    random_parameter,
    from_device,
    from_device_numpy,
    typed,
    random_array,
    random_array,
]


def pool(rng, state):
    """A value for any argument."""
    plain = [
        None,
        True,
        False,
        0,
        1,
        2,
        -1,
        3.5,
        "",
        "x",
        "cpu",
        "meta",
        "C",
        "F",
        b"",
        b"x",
        (),
        [],
        {},
        (0,),
        (2, 2),
        (-1,),
        (True,),
        ("x",),
    ]
    plain += [
        {"conj": True},
        {"neg": True},
        {"conj": True, "neg": True},
        {"conj": False},
        {"conj": 1},
        {"zero": True},
        {"neg": True, "x": 1},
    ]
    plain += [
        {1: True},
        {"real": 3},
        {"imag": 0},
        {"data": None},
        {"tag": "x"},
        ({"tag": 1}, None),
        ({}, {}, {}),
        ORDERED,
        TENSOR,
        PARAMETER,
    ]
    plain += [Global("torch", name) for name in (*DTYPES, *ODD_DTYPES)] + [Global("my", "Tensor"), Global("numpy", "matrix")]
    plain += [
        Call(Global("torch", "Size"), [[1]]),
        Call(Global("torch", "Size"), [[2, 1]]),
        Call(Global("torch", "device"), ["cpu"]),
    ]
    makers = [lambda: v2(rng, state), lambda: random_array(rng, state), lambda: random_storage(rng, state)]
    makers += [
        lambda: dtype_call(np.dtype(rng.choice([*NUMPY, "O", [("a", "i4")], ("i4", (2,))]))),
        lambda: {"scale": v2(rng, state)},
    ]
    return rng.choice(plain) if rng.random() < 0.8 else rng.choice(makers)()


def calls_in(value):
    """The calls of a value, the value itself first."""
    if isinstance(value, Call):
        yield value
        for part in [*value.args, value.state]:
            yield from calls_in(part)
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from calls_in(part)


def changed(rng, state, value):
    """Changes one thing of a value in place."""
    calls = [call for call in calls_in(value) if repr(call.function) not in ("_codecs.encode", "collections.OrderedDict")]
    call, kind = rng.choice(calls), rng.randrange(10)
    if kind == 0 and call.args:
        del call.args[rng.randrange(len(call.args))]
    elif kind == 1:
        call.args.insert(rng.randrange(len(call.args) + 1), pool(rng, state))
    elif kind == 2:
        call.items = [("k", 1)]
    elif kind == 3:
        call.state = pool(rng, state)
    elif isinstance(call.state, tuple) and kind < 7:
        parts = list(call.state)
        parts[rng.randrange(len(parts))] = pool(rng, state)
        call.state = tuple(parts)
    elif call.args:
        n = rng.randrange(len(call.args))
        nested = isinstance(call.args[n], tuple) and call.args[n] and rng.random() < 0.5
        if nested:
            parts = list(call.args[n])
            parts[rng.randrange(len(parts))] = pool(rng, state)
            call.args[n] = tuple(parts)
        else:
            call.args[n] = pool(rng, state)


def random_key(rng):
    word = "".join(rng.choice("ab'\"\\\u00e9\n1") for _ in range(rng.randrange(1, 4)))
    return rng.choice(
        [
            lambda: word,
            lambda: word.encode("latin1"),
            lambda: rng.choice([0, 3, -7, 255, 256, 65536, 2**40, -(2**62), 2**63, -(2**100)]),
            lambda: rng.choice([0.5, 1e-5, 1e16, 1.5e300, -2.0, 1e-4, float("inf")]),
            lambda: rng.choice([True, False, None]),
            lambda: (rng.randrange(3), word),
            lambda: (word.encode("latin1"),),
            lambda: "3",
        ]
    )()


def named(names):
    """The later ones of a name are NAME#2, NAME#3."""
    taken, out, repeated = set(), list(names), []
    for n, name in enumerate(out):
        repeated += [n] if name in taken else []
        taken.add(name)
    following = {}
    for n in repeated:
        name = out[n]
        while True:
            number = following.setdefault(name, 2)
            following[name] += 1
            if f"{name}#{number}" not in taken:
                break
        out[n] = f"{name}#{number}"
        taken.add(out[n])
    return out


def random_module(rng, state, path, depth):
    """A module, and the names and values of its state_dict."""
    names = rng.sample(["w", "b", "mask", "cache", "n"], 4)
    parameters = {names[0]: v1(rng, state), names[1]: None}
    buffers = {names[2]: v1(rng, state), names[3]: v1(rng, state)}
    left_out = rng.sample(names[2:], rng.randrange(3))
    members = [(f"{path}.{names[0]}", parameters[names[0]])]
    members += [(f"{path}.{name}", value) for name, value in buffers.items() if name not in left_out]
    modules = {}
    if depth:
        modules["inner"], inner = random_module(rng, state, f"{path}.inner", depth - 1)
        members += inner
    as_set = Call(Global("__builtin__", "set"), [left_out])
    fields = {
        "training": False,
        "_parameters": parameters,
        "_buffers": buffers,
        "_non_persistent_buffers_set": as_set,
        "_modules": modules,
    }
    return Call(Global("my.net", "Net"), [], state=fields, opcode=b"\x81"), members


# the comparison


def run(program, *args):
    return subprocess.run([program, *map(str, args)], capture_output=True, text=True)


def arrays(path):
    out = {}
    if path.exists():
        with np.load(path) as archive:
            for name in archive.files:
                array = archive[name]
                raw = words_of(array).tobytes() if array.itemsize else b""
                out[name] = (array.shape, array.itemsize, raw)
    return out


def listed(program, path):
    """The names in `info`, and those that are not read or damaged."""
    made = run(program, "info", path)
    lines = made.stdout.splitlines() + made.stderr.splitlines()
    return made, [line for line in lines if "not read" in line or line.startswith("error: ")]


def main():
    program, count, seed = Path(sys.argv[1]).resolve(), int((sys.argv[2:] or [2000])[0]), int((sys.argv[3:] or [1])[0])
    rng, tally, failed = random.Random(seed), collections.Counter(), 0
    with tempfile.TemporaryDirectory() as folder:
        path, out = Path(folder) / "made.pt", Path(folder) / "out.npz"
        for n in range(count):
            protocol, legacy = rng.choice([2, 2, 2, 2, 0, 1, 3, 4, 5, 5]), rng.random() < 0.25
            state = {"keys": 0, "protocol": protocol}
            is_changed = rng.random() < 0.6
            value = odd(rng, state) if rng.random() < 0.08 else rng.choice(CONSTRUCTORS)(rng, state)
            is_odd = (
                repr(value.function) not in {name.replace("_core", core) for name in RULES for core in ("_core", "core")}
                or in_child(numbers, value) is None
            )
            before = repr(value)
            if is_changed:
                changed(rng, state, value)
            is_changed = is_odd or repr(value) != before
            # other tensors beside it, whose names are compared
            entries = {"w": value}
            for _ in range(rng.randrange(4)):
                key = random_key(rng)
                if key not in entries and key != "net":
                    entries[key] = v1(rng, state)
            module, members = random_module(rng, state, "net", rng.randrange(2))
            entries["net"] = module
            expected = in_child(numbers, value)
            keys = [key if isinstance(key, str) else repr(key) for key in entries if key != "net"]
            names = named([*keys, *(name for name, _ in members)])
            values = [entry for key, entry in entries.items() if key not in ("w", "net")] + [entry for _, entry in members]
            others = dict(zip(names[1:], map(numbers, values)))
            deflated = write(path, entries, protocol, legacy, rng)
            out.unlink(missing_ok=True)
            info, told = listed(program, path)
            is_there = any(line.strip().startswith("w ") for line in info.stdout.splitlines()) or any(
                "w" in line for line in told
            )
            converted = run(program, "convert", path, "-o", out, *(["--exclude", "w"] if is_there else []))
            alone = Path(folder) / "w.npz"
            alone.unlink(missing_ok=True)
            made = run(program, "convert", path, "--only", "w", "-o", alone)
            found = arrays(alone).get("w")
            problems = []
            if not deflated and (converted.returncode != 0 or arrays(out) != others):
                problems.append(f"others: {sorted(others)}, {sorted(arrays(out))}: {converted.stderr}")
            if deflated and any(others.get(name) != array for name, array in arrays(out).items()):
                problems.append("others of a deflated file differ")
            if not is_there and (expected is not None or repr(value.function).startswith(("torch", "numpy"))):
                problems.append(f"it is neither read nor listed: {info.stdout} {info.stderr}")
            if found is not None and found != expected:
                problems.append(f"read as {found}, expected {expected}")
            if found is None and not is_changed and not deflated:
                problems.append(f"not read: {made.stderr}")
            if torch and protocol > 0:
                # torch calls the class of a module
                for_torch = Path(folder) / "torch.pt"
                write(
                    for_torch, {key: entry for key, entry in entries.items() if key != "net"}, protocol, legacy, random.Random(1)
                )
                kind, by = in_child(loaded, for_torch) or ("refused", "it died")
                refused = kind == "refused"
                reason, by = (by, None) if refused else (None, by)
                tally["torch loads it"] += not refused
                # numbers that are read are those of torch
                if found is not None and by not in (None, "any") and without_payloads(by) != without_payloads(found):
                    problems.append(f"read as {found}, torch has {by}")
                # what is told of the rules: they need not be those of each version of torch
                kind = None
                if found is not None and refused:
                    kind = "read, and torch refuses"
                elif by is None and expected is not None and expected != "any":
                    kind = "rules have numbers, and torch has none"
                elif by is not None and expected is None:
                    kind = "torch has numbers, and the rules have none"
                elif by not in (None, "any") and expected not in ("any", by):
                    kind = "the rules differ from torch"
                tally.update([kind] if kind else [])
                if kind and len(sys.argv) > 4:
                    print(f"{kind}: protocol {protocol}, {value}: {reason or by}"[:700])
            tally["read" if found is not None else "not read or damaged"] += 1
            tally["unchanged"] += not is_changed
            if problems:
                failed += 1
                kept = Path(tempfile.gettempdir()) / f"torch-constructors-{seed}-{n}.pt"
                kept.write_bytes(path.read_bytes())
                print(f"{kept}: protocol {protocol}, {value}")
                for problem in problems:
                    print(f"  {problem}"[:600])
    print(f"{count} files: {dict(tally)}, {failed} fail" + ("" if torch else "; torch is not there"))
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
