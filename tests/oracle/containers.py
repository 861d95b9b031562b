#!/usr/bin/env python3
"""Compares `tensorop convert`, `slice`, `info` and `--in-place` with the formats' own Python packages.

usage: containers.py BINARY [--count N] [--seed S] [--jobs J] [--kind KIND]

Each of N cases (default 2000) makes random tensors in a folder of its own and is one of these kinds:
  npz, safetensors, onnx   written by numpy, safetensors, onnx; each tensor read by convert (from the file, and from
                           standard input) and by slice, to the bytes that numpy.save writes of it; what info says
  write_npz, write_safetensors, write_onnx
                           written by convert and read by the package; the same bytes for any threads and windows
  whole                    .npz to .safetensors and back, with all names
  edit                     several containers and tensors to one: chosen, renamed, replaced, cast by class and by pattern,
                           with metadata; stored, deflated or safetensors; over one of its inputs or a new file
  shards                   an index of several safetensors: read, changed in place, joined, and refused if it lies
  cast                     --cast against astype where NumPy rounds once, and against cast_golden.py everywhere
  order                    --byte-order and --order against numpy.save of the array so arranged
  in_place                 the scatter operators on a tensor of a .safetensors file; nothing else in it changes
  kserve                   JSON of the KServe v2 form

Exit status 0 only if nothing differs. Needs numpy, ml_dtypes, onnx and safetensors.
"""
import argparse
import collections
import io
import json
import multiprocessing
import os
import pathlib
import subprocess
import sys
import tempfile

import ml_dtypes
import numpy as np
import onnx
import safetensors
import safetensors.numpy
from onnx import numpy_helper
from onnx.external_data_helper import set_external_data

import cast_golden
import formats_golden
from arrays import EXTRA_KINDS, KINDS, Arrays

NATIVE = ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32",
          "float64", "complex64", "complex128"]
EIGHT = ["float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"]
ONLY_NPY = ["float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz"]
PACKED = ["float6_e2m3fn", "float6_e3m2fn", "float4_e2m1fn", "int4", "uint4", "int2", "uint2"]
SAFE = [name for name in NATIVE if name != "complex128"] + ["bfloat16"] + EIGHT
ONNX = NATIVE + ["bfloat16"] + EIGHT + PACKED
# safetensors' own names
TAGS = {"bool": "BOOL", "int8": "I8", "uint8": "U8", "int16": "I16", "uint16": "U16", "int32": "I32", "uint32": "U32",
        "int64": "I64", "uint64": "U64", "float16": "F16", "float32": "F32", "float64": "F64", "complex64": "C64",
        "bfloat16": "BF16", "float8_e4m3fn": "F8_E4M3", "float8_e4m3fnuz": "F8_E4M3FNUZ", "float8_e5m2": "F8_E5M2",
        "float8_e5m2fnuz": "F8_E5M2FNUZ", "float8_e8m0fnu": "F8_E8M0", "float4_e2m1fn": "F4"}
KSERVE = {"bool": "BOOL", "int8": "INT8", "uint8": "UINT8", "int16": "INT16", "uint16": "UINT16", "int32": "INT32",
          "uint32": "UINT32", "int64": "INT64", "uint64": "UINT64", "float16": "FP16", "float32": "FP32",
          "float64": "FP64"}
NAMES = ["a", "b", "conv1.weight", "größe", "x:y", "two words", "0", "arr_1", "deep/er", "日本", "it's", "A", "m=n",
         "a.npy"]
TEXTS = formats_golden.TEXTS
FIRST_ERROR = "at ["


def name_of(dtype):
    return dtype.name if dtype.kind not in "US" else dtype.str


def is_narrow(name):
    return name in EIGHT or name in ONLY_NPY or name in PACKED


def arranged(array, order):
    """The same items in C or Fortran order. NumPy copies no padding of structured items, so they go as void."""
    whole = array.view(f"V{array.dtype.itemsize}") if array.dtype.names else array
    return np.asarray(whole, order=order).view(array.dtype)


def saved(array, fortran=False):
    """What numpy.save writes, but float8_e5m2 as a void that NumPy can load."""
    out = io.BytesIO()
    np.save(out, arranged(array, "F" if fortran else "C"), allow_pickle=False)
    return out.getvalue().replace(b"'<f1'", b"'<V1'", 1)


def covered(dtype):
    """Which bytes of an item are in a field, as 255, and which are padding."""
    if dtype.subdtype:
        base, dims = dtype.subdtype
        return np.tile(covered(base), int(np.prod(dims)))
    mask = np.full(dtype.itemsize, 0 if dtype.names else 255, "u1")
    for name in dtype.names or ():
        field, offset = dtype.fields[name][:2]
        mask[offset : offset + field.itemsize] = covered(field)
    return mask


def packed(array):
    """The items as safetensors and ONNX store them."""
    bits = formats_golden.bits_of(array.dtype) if array.dtype.name in PACKED else 8
    if bits == 8:
        return array.tobytes()
    codes = array.reshape(-1).view("u1")
    ones = (codes[:, None] >> np.arange(bits)) & 1
    return np.packbits(ones.reshape(-1).astype("u1"), bitorder="little").tobytes()


class Case:
    def __init__(self, binary, seed, folder, kind):
        self.binary, self.seed, self.kind = binary, seed, kind
        self.folder = pathlib.Path(folder)
        self.make = Arrays(seed)
        self.rng = self.make.rng
        self.wrong, self.checks = [], collections.Counter()
        self.done = 0

    def path(self, name):
        return self.folder / name

    def check(self, what, good, detail=""):
        self.checks[f"{self.kind}: {what}"] += 1
        if not good:
            self.wrong.append(f"--seed {self.seed} {self.kind}: {what}: {detail}")
        return good

    def run(self, *args, stdin=None):
        env = dict(os.environ)
        if self.make.chance(0.3):
            env["TENSOROP_WINDOW"] = str(int(self.rng.integers(1, 300)))
        if self.make.chance(0.3):
            env["TENSOROP_THREADS"] = str(int(self.rng.integers(1, 5)))
        done = subprocess.run([self.binary, *map(str, args)], input=stdin, capture_output=True, env=env, timeout=60)
        self.done += 1
        text = done.stderr.decode("utf-8", "replace")
        if done.returncode not in (0, 1, 2) or (done.returncode == 2) != text.startswith("error: "):
            self.check("an exit status and its message", False, f"{args} {done.returncode} {text!r}")
        return done

    def output(self, what, args, stdin=None, out="out.npy"):
        """The file that a command writes, or None."""
        path = self.path(out)
        path.unlink(missing_ok=True)
        done = self.run(*args, "-o", path, stdin=stdin)
        if not self.check(f"{what} succeeds", done.returncode == 0, f"{list(map(str, args))} {done.stderr.decode()}"):
            return None
        return path.read_bytes()

    def equal(self, what, args, array, **how):
        found, wanted = self.output(what, args, **how), saved(array)
        if found is not None:
            self.check(what, found == wanted, f"{list(map(str, args))}: found {found[:200]}, expected {wanted[:200]}")

    def some(self, names, shape=None):
        """An array of one of these dtypes."""
        name = self.make.pick(names)
        if name in NATIVE and self.make.chance(0.6):
            return self.make.array(dtype=name, shape=shape)
        shape = self.make.shape(max_items=300) if shape is None else shape
        formats_golden.RANDOM = self.rng
        return formats_golden.array("?" if name == "bool" else name, shape)

    def names(self):
        return [NAMES[i] for i in self.rng.permutation(len(NAMES))[: int(self.rng.integers(1, 7))]]

    def notation(self, shape):
        """A slice of each axis as `--at` writes it, and as NumPy takes it."""
        texts, slices = [], []
        for dim in shape:
            start, stop = (int(n) for n in self.rng.integers(-dim - 2, dim + 3, 2))
            step = int(self.make.pick([1, 1, 2, 3, -1, -2]))
            first = self.make.pick([slice(start, stop, step), slice(None, None, step), slice(start, None, step)])
            slices.append(first)
            part = lambda n: "" if n is None else str(n)
            texts.append(f"{part(first.start)}:{part(first.stop)}:{part(first.step)}")
        return ",".join(texts), tuple(slices)

    def read(self, operand, array, alone):
        """A tensor of a container by convert and by slice."""
        self.equal("convert", ["convert", operand], array)
        if array.ndim:
            text, slices = self.notation(array.shape)
            self.equal("slice", ["slice", operand, "--at", text], array[slices])
        if alone is not None:
            self.equal("convert from standard input", ["convert", "-"], array, stdin=alone.read_bytes())

    def info(self, path, format, arrays, stored=True):
        done = self.run("info", path, "--json")
        if not self.check("info succeeds", done.returncode == 0, done.stderr.decode()):
            return
        said = json.loads(done.stdout)
        listed = [row["member"] for row in said]
        # tensors without items share their place with others, so safetensors gives them any order
        free = format == "safetensors" and any(array.size == 0 for array in arrays.values())
        good = listed == list(arrays) or free and sorted(listed) == sorted(arrays)
        if not self.check("info lists all members", good, f"{listed} {list(arrays)}"):
            return
        content = path.read_bytes()
        for row in said:
            member, array = row["member"], arrays[row["member"]]
            dtype = array.dtype
            fortran = format == "npz" and array.flags.f_contiguous and not array.flags.c_contiguous
            items = packed(array) if format != "npz" else array.tobytes("F" if fortran else "C")
            wanted = {"file": str(path), "member": member, "format": format, "shape": list(array.shape),
                      "order": "F" if fortran else "C", "items": array.size}
            found = {key: row[key] for key in wanted}
            self.check("info of a tensor", found == wanted, f"found {row}, expected {wanted}")
            plain = dtype.name in NATIVE or dtype.name == "bfloat16" or (format != "npz" and is_narrow(dtype.name))
            if plain:
                self.check("info's dtype", row["dtype"] == dtype.name, f"found {row}, expected {dtype.name}")
            elif dtype.kind in "SUMm":
                found = np.dtype(row["dtype"]).newbyteorder("=")
                self.check("info's dtype", found == dtype.newbyteorder("="), f"{row}")
            if dtype.kind in "biufcUMm" and dtype.name not in EIGHT:
                order = {"<": "little", "=": "little", ">": "big", "|": None}[dtype.byteorder]
                self.check("info's byte order", row["byte_order"] == order, f"found {row}, expected {order}")
            if stored:
                at = row["offset"]
                self.check("info's offset", at is not None and content[at : at + row["bytes"]] == items, f"{row}")
                self.check("info's bytes", row["bytes"] == len(items), f"{row}, expected {len(items)}")

    # ------------------------------------------------------------------------------------------ reading

    def npz(self):
        arrays = {}
        for name in self.names():
            kinds = KINDS + EXTRA_KINDS
            array = self.make.array(kinds) if self.make.chance(0.8) else self.some(ONLY_NPY + EIGHT + PACKED)
            arrays[name] = arranged(array, "F") if self.make.chance(0.3) else array
        deflated = self.make.chance(0.5)
        path = self.path("x.npz")
        (np.savez_compressed if deflated else np.savez)(path, **arrays)
        for name, array in arrays.items():
            # a void of one byte does not say that it was a number
            array = array.view("V1") if is_narrow(array.dtype.name) and array.dtype.str == "<V1" else array
            self.read(f"{path}:{name}", array, path if len(arrays) == 1 else None)
        self.info(path, "npz", arrays, not deflated)

    def safetensors(self):
        arrays = {name: self.some(SAFE) for name in self.names()}
        path = self.path("x.safetensors")
        if self.make.chance(0.15):
            # the package knows packed items only by two at a time
            name = next(iter(arrays))
            shape = self.make.shape(max_items=60) + (2 * int(self.rng.integers(0, 5)),)
            arrays = {name: self.some(["float4_e2m1fn"], shape)}
            items = np.frombuffer(packed(arrays[name]), "u1")
            spec = safetensors.TensorSpec(dtype="float4_e2m1fn_x2", data_ptr=items.ctypes.data, data_len=items.nbytes,
                                          shape=shape[:-1] + (shape[-1] // 2,))
            safetensors.serialize_file({name: spec}, path)
        else:
            metadata = {"format": "np", "ключ": "\"\\"} if self.make.chance(0.3) else None
            safetensors.numpy.save_file(arrays, path, metadata=metadata)
        for name, array in arrays.items():
            self.read(f"{path}:{name}", array, path if len(arrays) == 1 else None)
        with safetensors.safe_open(path, "np") as file:
            order = file.offset_keys()
        self.info(path, "safetensors", {name: arrays[name] for name in order})

    def onnx(self):
        form = self.make.pick(["raw", "raw", "typed", "external", "string"])
        path = self.path("x.pb")
        raw = False
        if form == "string":
            items = np.array(TEXTS, object)[self.rng.integers(0, len(TEXTS), self.make.shape(max_items=60))]
            proto = numpy_helper.from_array(np.array(items, object), "text")
            array = np.array(items, object).astype("U") if np.size(items) else np.zeros(np.shape(items), "U1")
        else:
            array = self.some(ONNX)
            proto = numpy_helper.from_array(array, self.make.pick(["", "x", "größe"]))
            if form == "typed":
                proto = formats_golden.typed(array, proto.name)
            if form == "external":
                before, items = int(self.rng.integers(0, 40)), proto.raw_data
                self.path("weights.bin").write_bytes(bytes(before) + items + bytes(int(self.rng.integers(0, 3))))
                whole = self.make.chance(0.2) and not before
                if whole:
                    self.path("weights.bin").write_bytes(items)
                    set_external_data(proto, "weights.bin")
                else:
                    set_external_data(proto, "weights.bin", before, len(items))
                proto.ClearField("raw_data")
            back = numpy_helper.to_array(proto, str(self.folder))
            if form == "typed" and array.dtype.kind in "fc" and array.dtype.itemsize >= 4:
                array = back  # protobuf's own package makes a signalling NaN a quiet one
            assert back.tobytes() == array.tobytes() and back.shape == array.shape, (form, array.dtype, array.shape)
            raw = form == "raw" and array.size
        proto.doc_string = self.make.pick(["", "what it is"])
        path.write_bytes(proto.SerializeToString())
        self.read(path, array, path if form != "external" else None)
        if form == "external":
            done = self.run("convert", "-", "-o", self.path("out.npy"), stdin=path.read_bytes())
            self.check("external data of standard input is refused", done.returncode == 2)
        self.info(path, "onnx", {None: array}, bool(raw))

    # ------------------------------------------------------------------------------------------ writing

    def inputs(self, choices):
        """Files of arrays, and the arguments that name them; --dtype says what a void is, for all of them."""
        narrow = [name for name in choices if is_narrow(name)]
        plain = [name for name in choices if not is_narrow(name)]
        one = self.make.pick(narrow) if narrow and self.make.chance(0.4) else None
        arrays, args = {}, []
        names = [name for name in self.names() if "=" not in name] or ["a"]  # "m=n=FILE" is the file "n=FILE"
        for at, name in enumerate(names):
            array = self.some([one] if one else plain)
            if array.dtype.kind in "iufc" and not is_narrow(array.dtype.name) and self.make.chance(0.3):
                array = array.astype(array.dtype.newbyteorder(">"))
            arrays[name] = array
            if self.make.chance(0.3):
                array = arranged(array, "F")
            path = self.path(f"in{at}.npy")
            np.save(path, array.view("V1") if one else array)
            args.append(f"{name}={path}")
        return arrays, args + (["--dtype", one] if one else [])

    def written(self, args, out):
        """A file that is the same for every run."""
        first, again = (self.output("convert", ["convert", *args], out=out) for _ in range(2))
        self.check("the same bytes again", first == again, f"{args}")
        return first

    def write_npz(self):
        arrays, args = self.inputs(NATIVE + ["bfloat16"] + EIGHT + PACKED + ONLY_NPY)
        fortran = self.make.chance(0.3)
        if self.written(args + ["--order", "F"] * fortran, "out.npz") is None:
            return
        with np.load(self.path("out.npz")) as found:
            self.check("numpy finds all names, sorted", found.files == sorted(arrays), f"{found.files} {list(arrays)}")
            for name, array in arrays.items():
                # found["a.npy"] would be the member "a"
                file = found.zip.open(f"{name}.npy")
                member = np.lib.format.read_array(file)
                same = member.shape == array.shape and member.tobytes() == array.tobytes()
                self.check("numpy reads it", same, f"{name} {array.dtype} {array.shape} {member.dtype} {member.shape}")
                order = not fortran or member.flags.f_contiguous
                self.check("the order asked for", order and member.dtype.itemsize == array.dtype.itemsize, name)

    def write_safetensors(self):
        arrays, args = self.inputs(SAFE + ["float4_e2m1fn"])
        bits = [(name, array) for name, array in arrays.items() if array.dtype.name in PACKED]
        if any(len(packed(array)) * 8 != array.size * formats_golden.bits_of(array.dtype) for _, array in bits):
            done = self.run("convert", *args, "-o", self.path("out.safetensors"))
            self.check("items that do not fill bytes are refused", done.returncode == 2, f"{args}")
            return
        content = self.written(args, "out.safetensors")
        if content is None:
            return
        found = dict(safetensors.deserialize(content))
        self.check("safetensors finds all names", sorted(found) == sorted(arrays), f"{list(found)} {list(arrays)}")
        for name, array in arrays.items():
            member = found[name]
            array = array.astype(array.dtype.newbyteorder("="))
            wanted = (TAGS[array.dtype.name], list(array.shape), packed(array))
            same = (member["dtype"], list(member["shape"]), bytes(member["data"])) == wanted
            self.check("safetensors reads it", same, f"{name} {member['dtype']} {member['shape']}, expected {wanted}")
        if not bits:
            whole = safetensors.numpy.save({n: a.astype(a.dtype.newbyteorder("=")) for n, a in arrays.items()})
            self.check("the file that safetensors writes", content == whole, f"{content[:300]} {whole[:300]}")

    def write_onnx(self):
        name = self.make.pick([name for name in NAMES if "=" not in name])
        if self.make.chance(0.15):
            text = np.array([t for t in TEXTS], object)[self.rng.integers(0, len(TEXTS), self.make.shape(max_items=60))]
            array = np.array(text, object)
            np.save(self.path("in0.npy"), array.astype("U") if array.size else np.zeros(array.shape, "U1"))
            args = [f"{name}={self.path('in0.npy')}"]
        else:
            arrays, args = self.inputs(ONNX)
            array, args = next(iter(arrays.values())), [f"{name}={self.path('in0.npy')}"] + (
                args[-2:] if "--dtype" in args else [])
        content = self.written(args, "out.pb")
        if content is None:
            return
        proto = onnx.load_tensor(self.path("out.pb"))
        back = numpy_helper.to_array(proto)
        same = (back.tolist() == array.tolist() if array.dtype == object else
                back.dtype == array.dtype.newbyteorder("=") and back.tobytes() == array.astype(back.dtype).tobytes())
        self.check("onnx reads it", same and back.shape == array.shape and proto.name == name, f"{array.dtype} {back}")
        array = array if array.dtype == object else array.astype(back.dtype)
        whole = numpy_helper.from_array(array, name).SerializeToString()
        self.check("the message that onnx writes", content == whole, f"{content[:200]} {whole[:200]}")

    def whole(self):
        arrays = {name: self.some([n for n in SAFE if not is_narrow(n)]) for name in self.names()}
        # a dtype that np.savez forgets would not come back
        first = self.path("x.npz")
        (np.savez if self.make.chance(0.5) else np.savez_compressed)(first, **arrays)
        if self.output("npz to safetensors", ["convert", first], out="y.safetensors") is None:
            return
        second = self.path("y.safetensors")
        content = second.read_bytes()
        self.check("the file that safetensors writes", content == safetensors.numpy.save(arrays))
        if self.output("safetensors to npz", ["convert", second], out="z.npz") is None:
            return
        with np.load(self.path("z.npz")) as found:
            self.check("all names", found.files == sorted(arrays), f"{found.files}")
            for name, array in arrays.items():
                self.check("a member", found.zip.read(f"{name}.npy") == saved(array), f"{name} {array.dtype}")
        self.output("npz to safetensors", ["convert", self.path("z.npz")], out="w.safetensors")
        self.check("there and back", content == self.path("w.safetensors").read_bytes())
        extra = self.some(["float32"])
        np.save(self.path("e.npy"), extra)
        both = self.output("a container and another", ["convert", f"extra={self.path('e.npy')}", second, "--add"], out="v.npz")
        if both is not None:
            with np.load(self.path("v.npz")) as found:
                good = sorted(found.files) == sorted([*arrays, "extra"]) and found["extra"].tobytes() == extra.tobytes()
                self.check("both are there", good, f"{found.files}")

    def pattern(self, names):
        """A pattern, and the names that it matches."""
        name = self.make.pick(list(names))
        at = int(self.rng.integers(0, len(name) + 1))
        text = self.make.pick([name, "*", name[:at] + "*", "*" + name[at:], name[:at] + "*" + name[at:]])
        return text, [n for n in names if self.fits(text, n)]

    def edit(self):
        classes = lambda name: ("integer" if np.dtype(name).kind in "iu" else "float" if name != "bool" and
                                np.dtype(name).kind in "fV" else "complex" if np.dtype(name).kind == "c" else None)
        kinds = ["bool", "int8", "int32", "int64", "uint8", "float16", "float32", "float64", "bfloat16"]
        files, metadata = [], {}
        free = list(self.rng.permutation(NAMES))
        for at in range(int(self.rng.integers(1, 4))):
            names = [free.pop() for _ in range(min(len(free), int(self.rng.integers(1, 6))))]
            # small integers survive every cast
            arrays = {n: self.rng.integers(0, 2, self.make.shape(max_items=40)).astype(self.make.pick(kinds)) for n in names}
            if self.make.chance(0.6):
                path = self.path(f"in{at}.safetensors")
                own = {"format": "pt", f"k{int(self.rng.integers(0, 3))}": f"{at} ü"} if self.make.chance(0.5) else None
                safetensors.numpy.save_file(arrays, path, metadata=own)
            else:
                path, own = self.path(f"in{at}.npz"), None
                self.make.pick([np.savez, np.savez_compressed])(path, **arrays)
            files.append((path, arrays, own or {}))
        args = ["convert", *(path for path, *_ in files)]
        whole = {n: a for _, arrays, _ in files for n, a in arrays.items()}
        taken = set(whole)
        if self.make.chance(0.5):
            globs = [self.pattern(whole) for _ in range(int(self.rng.integers(1, 3)))]
            taken &= {n for _, matched in globs for n in matched}
            args += [word for text, _ in globs for word in ("--only", text)]
        if self.make.chance(0.4):
            text, matched = self.pattern(whole)
            taken -= set(matched)
            args += ["--exclude", text]
        names = {n: n for n in taken}
        if self.make.chance(0.5):
            text, matched = self.pattern([n for n in whole if "=" not in n] or ["none"])
            if "=" not in text and [n for n in whole if n in matched or self.fits(text, n)]:
                head, star, tail = text.partition("*")
                for n in taken:
                    if self.fits(text, n):
                        names[n] = "new/" + (n[len(head) : len(n) - len(tail)] if star else "")
                args += ["--rename", text + "=new/" + star]
        replaced = {}
        if self.make.chance(0.4) and names:
            name = self.make.pick(list(names.values()))
            if "=" not in name:
                replaced[name] = np.array([0, 1, 1], dtype=self.make.pick(["int16", "float32"]))
                np.save(self.path("r.npy"), replaced[name])
                args.append(f"{name}={self.path('r.npy')}")
        outs = [(names[n], n, whole[n]) for n in taken if names[n] not in replaced]
        outs += [(n, n, a) for n, a in replaced.items()]
        casts, globs = {}, []
        if self.make.chance(0.6):
            target = self.make.pick(["float32", "int32", "float16", "int64"])
            args += ["--cast", target]
            casts[classes(target)] = target
        olds = [old for _, old, *_ in outs]
        if self.make.chance(0.4) and olds:
            text, matched = self.pattern(olds)
            target = self.make.pick(["float64", "int16", "bool"])
            args += ["--cast", f"{text}={target}"]
            globs.append((text, target))
        form = self.make.pick(["safetensors", "npz", "npz"])
        args += ["--compress"] * (deflated := form == "npz" and self.make.chance(0.6))
        dropped = self.make.chance(0.2)
        notes = {} if dropped else {k: v for _, arrays, own in files if set(arrays) & taken for k, v in own.items()}
        args += ["--no-metadata"] * dropped
        if form == "safetensors" and self.make.chance(0.3):
            args += ["--metadata", "k1=a=b"]
            notes["k1"] = "a=b"
        wanted = {}
        for new, old, array in outs:
            target = next((t for text, t in reversed(globs) if self.fits(text, old)), None)
            if target is None and (len(outs) == 1 or classes(array.dtype.name) in casts):
                target = next(iter(casts.values()), None) if len(outs) == 1 else casts[classes(array.dtype.name)]
            if target:
                array = array.astype(np.float64).astype(target) if array.dtype.name == "bfloat16" else array.astype(target)
            wanted[new] = array
        # over an input, of which all that is left out is named
        out = self.path(f"out.{form}")
        if self.make.chance(0.3):
            out = files[int(self.rng.integers(0, len(files)))][0]
            args += ["--to", form]
        before = out.read_bytes() if out.exists() else None
        twice = len(set(names.values())) < len(names)
        done = self.run(*args, "-o", out)
        if not outs or twice:
            same = (out.read_bytes() if out.exists() else None) == before
            self.check("nothing, or two of a name, is refused", done.returncode == 2 and same, f"{args}")
            return
        if not self.check("edit succeeds", done.returncode == 0, f"{list(map(str, args))} {done.stderr.decode()}"):
            return
        if form == "safetensors":
            whole = safetensors.numpy.save({n: a for n, a in wanted.items()})
            header = lambda raw: json.loads(raw[8 : 8 + int.from_bytes(raw[:8], "little")])
            found = out.read_bytes()
            said = header(found)
            self.check("the metadata", said.pop("__metadata__", {}) == notes, f"{args} {header(found)} {notes}")
            self.check("the header", said == header(whole), f"{args} {said} {header(whole)}")
            data = lambda raw: raw[8 + int.from_bytes(raw[:8], "little") :]
            self.check("the items", data(found) == data(whole), f"{args}")
            self.check("without metadata, safetensors' own bytes", bool(notes) or found == whole, f"{args}")
            with safetensors.safe_open(out, "np") as file:
                self.check("safetensors opens it", sorted(file.keys()) == sorted(wanted) and (file.metadata() or {}) == notes)
        else:
            with np.load(out) as found:
                self.check("the names", found.files == sorted(wanted), f"{args} {found.files} {sorted(wanted)}")
                methods = {i.compress_type for i in found.zip.infolist()}
                self.check("how members are stored", methods == {8 if deflated else 0}, f"{methods}")
                for name, array in wanted.items():
                    member = found.zip.read(f"{name}.npy")
                    self.check("a member", member == saved(array), f"{args} {name} {array.dtype} {member[:200]}")

    @staticmethod
    def fits(text, name):
        head, star, tail = text.partition("*")
        if not star:
            return name == text
        return len(name) >= len(head) + len(tail) and name.startswith(head) and name.endswith(tail)

    def shards(self):
        names, arrays, where = self.names(), {}, {}
        shards = [f"model-{n:05}.safetensors" for n in range(int(self.rng.integers(1, 4)))]
        for name in names:
            arrays[name] = self.some([n for n in SAFE if not is_narrow(n)])
            where[name] = self.make.pick(shards)
        for shard in shards:
            own = {n: a for n, a in arrays.items() if where[n] == shard}
            safetensors.numpy.save_file({**own, "unnamed": np.zeros(2)}, self.path(shard), metadata={"format": "pt"})
        index = self.path("model.safetensors.index.json")
        index.write_text(json.dumps({"metadata": {"total_size": 1}, "weight_map": where}, indent=self.make.pick([None, 2]),
                                    ensure_ascii=self.make.chance(0.5)))
        for name, array in arrays.items():
            self.read(f"{index}:{name}", array, None)
        joined = self.output("an index is joined", ["convert", index, "--no-metadata"], out="one.safetensors")
        self.check("the file that safetensors writes", joined == safetensors.numpy.save(arrays), f"{where}")
        # in place: that tensor, and no other byte
        name = self.make.pick(names)
        array = arrays[name].copy()
        if array.ndim and array.size:
            before = {shard: self.path(shard).read_bytes() for shard in shards}
            array[:1] = 1
            done = self.run("slice-scatter", f"{index}:{name}", "--fill", "true" if array.dtype == bool else "1", "--at", ":1", "-i")
            own = {n: array if n == name else a for n, a in arrays.items() if where[n] == where[name]}
            wanted = {**before, where[name]: safetensors.numpy.save({**own, "unnamed": np.zeros(2)}, metadata={"format": "pt"})}
            good = done.returncode == 0 and all(self.path(shard).read_bytes() == wanted[shard] for shard in shards)
            self.check("a shard changed in place", good, f"{name} {array.dtype} {done.stderr.decode()}")
        lie = self.make.pick(["../" + shards[0], str(self.path(shards[0])), "missing.safetensors", index.name, ".", ""])
        index.write_text(json.dumps({"weight_map": {**where, name: lie}}))
        done = self.run("slice", f"{index}:{name}", "--at", "...")
        self.check("an index that lies is refused", done.returncode == 2 and done.stderr.count(b"\n") == 1, f"{lie}")

    # ------------------------------------------------------------------------------------------ values and order

    def cast(self):
        source, target = self.make.pick(cast_golden.NAMES), self.make.pick(cast_golden.NAMES)
        if source == target:
            return
        array = cast_golden.quiet_parts(cast_golden.hard(self.rng, source, int(self.rng.integers(0, 40))))
        lossy = self.make.chance(0.5)
        shown = array
        if self.make.chance(0.3) and array.dtype.kind in "iufc" and array.dtype.name not in cast_golden.FLOATS:
            shown = array.astype(array.dtype.newbyteorder(">"))
        narrow = is_narrow(array.dtype.name)
        np.save(self.path("in.npy"), shown.view("V1") if narrow else shown)
        name = lambda n: cast_golden.called(n)
        args = ["convert", self.path("in.npy"), "--cast", name(target), "--byte-order", "little"]
        args += ["--dtype", name(source)] * narrow + ["--lossy"] * lossy
        wanted = cast_golden.cast(array, source, target, lossy)
        words = list(map(str, args[2:]))
        out = self.path("out.npy")
        out.unlink(missing_ok=True)
        done = self.run(*args, "-o", out)
        if isinstance(wanted, int):
            text = done.stderr.decode()
            good = done.returncode == 2 and f"{FIRST_ERROR}{wanted}]" in text and not out.exists()
            self.check("refused, the first value named", good, f"{words}: {text!r}, expected item {wanted}")
            return
        if not self.check("cast succeeds", done.returncode == 0, f"{words} {done.stderr.decode()}"):
            return
        dtype = cast_golden.dtype_of(target)
        wanted = saved(np.frombuffer(wanted, dtype))
        found = out.read_bytes()
        self.check("cast", found == wanted, f"{words} of {array!r}: {found[-80:]} {wanted[-80:]}")
        # astype itself, where it rounds once and is defined
        wide = {"f2": "i1 u1 f2 f4 f8 bool", "f4": "i1 u1 i2 u2 i4 u4 i8 u8 f2 f4 f8 bool bfloat16",
                "f8": "i1 u1 i2 u2 i4 u4 i8 u8 f2 f4 f8 bool bfloat16", "bfloat16": "i1 u1 i2 u2 f2 f4 bool"}
        if source in wide.get(target, "").split():
            theirs = cast_golden.quiet_parts(array.astype(dtype))
            self.check("cast as astype", found == saved(theirs), f"{words} of {array!r}")

    def order(self):
        array = self.make.array(KINDS + ("struct", "longdouble", "clongdouble", "void"))
        if array.dtype.kind in "mM" and np.datetime_data(array.dtype)[0] == "generic":
            return  # NumPy does not swap its bytes
        if self.make.chance(0.4):
            array = arranged(array, "F")
        form = self.make.pick(["npy", "npz"])
        path = self.path(f"in.{form}")
        np.save(path, array) if form == "npy" else np.savez_compressed(path, x=array)
        byte_order = self.make.pick([None, "little", "big"])
        fortran = self.make.chance(0.5)
        wanted = array
        if byte_order:
            wanted = array.astype(array.dtype.newbyteorder("<" if byte_order == "little" else ">"))
        args = ["convert", path] + (["--byte-order", byte_order] if byte_order else [])
        args += ["--order", "F"] if fortran else self.make.pick([[], ["--order", "C"]])
        words = f"{args[2:]} of {array.dtype} {array.shape}"
        found, wanted = self.output("order", args), saved(wanted, fortran)
        if found is not None:
            if array.dtype.names and array.size:
                # whatever is in NumPy's padding
                begin = len(wanted) - array.nbytes
                mask = bytes(begin) + np.tile(covered(array.dtype), array.size).tobytes()
                mask = np.frombuffer(mask, "u1") | (np.arange(len(wanted)) < begin) * np.uint8(255)
                if len(found) == len(wanted):
                    found, wanted = ((np.frombuffer(b, "u1") & mask).tobytes() for b in (found, wanted))
            self.check("the file that numpy writes", found == wanted, f"{words}: {found[:160]} {wanted[:160]}")

    def in_place(self):
        arrays = {name: self.some(SAFE) for name in self.names()}
        arrays["edited"] = self.some(SAFE, self.make.pick([(7,), (3, 4), (2, 3, 5), (1, 6)]))
        array = arrays["edited"].copy()
        path = self.path("x.safetensors")
        metadata = {"format": "np"} if self.make.chance(0.3) else None
        safetensors.numpy.save_file(arrays, path, metadata=metadata)
        before = path.read_bytes()
        operator = self.make.pick(["slice-scatter", "scatter-update", "scatter-nd"])
        operand = f"{path}:edited"
        if operator == "slice-scatter":
            text, slices = self.notation(array.shape)
            updates = self.some([array.dtype.name], array[slices].shape)
            array[slices] = updates
            rest = ["--at", text]
            operands = []
        elif operator == "scatter-update":
            axis = int(self.rng.integers(-array.ndim, array.ndim))
            dim = array.shape[axis]
            indices = self.rng.permutation(dim)[: int(self.rng.integers(0, dim + 1))]
            place = [slice(None)] * array.ndim
            place[axis] = indices
            updates = self.some([array.dtype.name], array[tuple(place)].shape)
            array[tuple(place)] = updates
            rest, operands = ["--axis", axis], [json.dumps(indices.tolist())]
        else:
            k = int(self.rng.integers(1, array.ndim + 1))
            tuples = np.array(list(np.ndindex(array.shape[:k])))
            tuples = tuples[self.rng.permutation(len(tuples))[: int(self.rng.integers(1, len(tuples) + 1))]]
            updates = self.some([array.dtype.name], (len(tuples),) + array.shape[k:])
            array[tuple(tuples.T)] = updates
            rest, operands = [], [json.dumps(tuples.tolist())]
        if self.make.chance(0.5):
            np.save(self.path("u.npy"), updates.view("V1") if is_narrow(array.dtype.name) else updates)
            given = [self.path("u.npy")] + ["--dtype", array.dtype.name] * is_narrow(array.dtype.name)
        else:
            safetensors.numpy.save_file({"u": updates, "v": np.zeros(3)}, self.path("u.safetensors"))
            given = [f"{self.path('u.safetensors')}:u"]
        done = self.run(operator, operand, *operands, *given, *rest, "--in-place")
        words = f"{operator} {array.dtype} {array.shape} {operands} {rest}"
        if not self.check("in place succeeds", done.returncode == 0, f"{words} {done.stderr.decode()}"):
            return
        wanted = safetensors.numpy.save({**arrays, "edited": array}, metadata=metadata)
        assert len(wanted) == len(before)
        self.check("the edited file", path.read_bytes() == wanted, words)
        refused = self.make.pick(["99", "0:1:0"])
        done = self.run("slice-scatter", operand, "--fill", "0", "--at", refused, "-i")
        same = done.returncode == 2 and path.read_bytes() == wanted
        self.check("a refused edit changes nothing", same, f"{done.stderr.decode()}")

    def kserve(self):
        name = self.make.pick(list(KSERVE))
        array = self.make.array(dtype=name)
        if array.dtype.kind == "f":
            array = np.where(np.isfinite(array), array, 1).astype(name)
        data = array.reshape(-1).tolist() if self.make.chance(0.5) else array.tolist()
        data = data if isinstance(data, list) else [data]
        text = json.dumps({"name": "x", "shape": list(array.shape), "datatype": KSERVE[name], "data": data})
        self.path("x.json").write_text(text)
        self.equal("convert", ["convert", self.path("x.json")], array)
        if array.ndim:
            at, slices = self.notation(array.shape)
            self.equal("slice", ["slice", self.path("x.json"), "--at", at], array[slices])


KINDS_OF_CASE = ["npz", "safetensors", "onnx", "write_npz", "write_safetensors", "write_onnx", "whole", "cast", "cast",
                 "order", "in_place", "kserve", "edit", "edit", "edit", "shards"]


def case(job):
    binary, seed, kind = job
    kind = kind or KINDS_OF_CASE[seed % len(KINDS_OF_CASE)]
    with tempfile.TemporaryDirectory() as folder, np.errstate(all="ignore"):
        one = Case(binary, seed, folder, kind)
        try:
            getattr(one, kind)()
        except Exception as error:  # the case is reported, and the others go on
            one.wrong.append(f"--seed {seed} {kind}: {type(error).__name__}: {error}")
        return one.wrong, one.checks, one.done


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--kind", choices=sorted(set(KINDS_OF_CASE)))
    args = parser.parse_args()
    binary = os.path.abspath(args.binary)
    wrong, checks, runs = [], collections.Counter(), 0
    with multiprocessing.Pool(args.jobs) as pool:
        jobs = ((binary, args.seed + n, args.kind) for n in range(args.count))
        for lines, counts, done in pool.imap_unordered(case, jobs, 10):
            wrong += lines
            checks += counts
            runs += done
    print("\n".join(wrong[:50]))
    for what, count in sorted(checks.items()):
        print(f"{count:7} {what}")
    print(f"{args.count} cases, {runs} runs, {checks.total()} checks, {len(wrong)} differences")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
