#!/usr/bin/env python3
"""Compares a tensorop binary with NumPy on random arrays of every dtype, and its operators with sequential loops.

usage: differential.py BINARY [--count N] [--operators N] [--operator NAME] [--runtimes N] [--seed S]
                       [--skip text]... [--jobs J]

Of each of N arrays (default 10000):
  npy    the copy is, byte for byte, what numpy.save writes
  json   the output reads back to the same bits, NaN as the standard quiet NaN, through Python's json and through tensorop
  text   the print is, byte for byte, NumPy's with threshold=sys.maxsize and floatmode="unique";
         of bfloat16 that of the float32s of the same values
Of each of N operator cases (default 4000): the result has the bits of NumPy's slicing or indexing, or of a loop in
index order that rounds once a step in the item's own dtype.  --operator NAME asks that one alone.  --runtimes N (default
0) also asks the ONNX reference evaluator and OpenVINO, where they agree with the specifications.

tests/property/random.rs compares the operators with plain loops in Rust, on random cases of its own.  NumPy, which this
script asks, is the authority: where the two differ, the loops in Rust are wrong.

Exit status 0 only if nothing differs.
"""
import argparse
import functools
import io
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile

import ml_dtypes
import numpy as np

from arrays import EXTRA_KINDS, KINDS, Arrays, descr

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
REFUSED = ("void", "struct", "longdouble", "clongdouble")


def save(array):
    file = io.BytesIO()
    np.save(file, array, allow_pickle=False)
    return file.getvalue()


def ordered(array, order):
    """A copy in that order, through bytes where NumPy would not copy padding."""
    if array.dtype.names is None:
        return np.asarray(array, order=order)
    items = np.frombuffer(array.tobytes(), f"V{array.dtype.itemsize}").reshape(array.shape)
    return np.asarray(items, order=order).view(array.dtype)


def has_pair(array):
    """Whether a string holds a surrogate pair as two code points, which JSON cannot tell from one."""
    return any("\ud800" <= a < "\udc00" <= b < "\ue000" for text in array.ravel().tolist() for a, b in zip(text, text[1:]))


def run(binary, args, stdin=None):
    done = subprocess.run([binary, *args], input=stdin, capture_output=True, timeout=60)
    return done.returncode, done.stdout, done.stderr.decode("utf-8", "replace")


def bits_of(dtype):
    return np.dtype(f"u{dtype.itemsize}")


def native(array):
    """Little-endian, every NaN the standard quiet one."""
    array = np.ascontiguousarray(array).reshape(array.shape)
    if array.dtype != BFLOAT16:
        array = array.astype(array.dtype.newbyteorder("<"))
    parts = array.reshape(-1)
    if array.dtype.kind == "c":
        parts = parts.view(f"f{array.dtype.itemsize // 2}")
    if parts.dtype.kind == "f" or parts.dtype == BFLOAT16:
        if parts.dtype.itemsize <= 8:
            quiet = {2: 0x7E00, 4: 0x7FC00000, 8: 0x7FF8 << 48}[parts.dtype.itemsize]
            bits = parts.view(bits_of(parts.dtype))
            bits[np.isnan(parts)] = 0x7FC0 if parts.dtype == BFLOAT16 else quiet
    return array


def from_json(tree, dtype, shape):
    """What Python reads in the output, as an array."""
    def flat(tree, depth):
        if depth == 0:
            yield tree
        else:
            for branch in tree:
                yield from flat(branch, depth - 1)
    number = {"NaN": np.nan, "Infinity": np.inf, "-Infinity": -np.inf}
    items = list(flat(tree, len(shape)))
    if dtype.kind == "c":
        items = [complex(*(number.get(part, part) for part in pair)) for pair in items]
    elif dtype.kind == "f" or dtype == BFLOAT16:
        items = [float(number.get(item, item)) for item in items]
    elif dtype.kind == "S":
        items = [item.encode("latin1") for item in items]
    with np.errstate(all="ignore"):
        return np.array(items, dtype).reshape(shape)


def check_array(binary, seed, folder, skip):
    make = Arrays(seed)
    kind = make.pick(KINDS + EXTRA_KINDS)
    array = make.array(kinds=(kind,))
    array = array.reshape(1) if array.ndim == 0 else array  # no operator takes rank 0
    name = f"seed {seed}: {array.dtype} {array.shape}"
    path = os.path.join(folder, "in.npy")
    with open(path, "wb") as file:
        np.save(file, ordered(array, make.pick("CF")), allow_pickle=False)
    wanted = save(array)
    status, out, message = run(binary, ["slice", path, "--start=", "--stop=", "--to", "npy"])
    if status != 0 or out != wanted:
        yield f"{name}: npy: status {status} {message.strip()} {out[:160]!r} instead of {wanted[:160]!r}"
    if make.chance(0.5):
        status, out, message = run(binary, ["slice", path, "--start=-1", "--stop=INT_MIN", "--step=-1", "--to", "npy"])
        # as bytes: NumPy does not copy padding
        items = np.frombuffer(array.tobytes(), f"V{array.dtype.itemsize}").reshape(array.shape)
        if out != wanted[:len(wanted) - array.nbytes] + items[::-1].tobytes():
            yield f"{name}: reversed: status {status} {message.strip()}"
    for form in ["json", "text"]:
        if form in skip:
            continue
        status, out, message = run(binary, ["slice", path, "--start=", "--stop=", "--to", form])
        if kind in REFUSED:
            if status != 2 or out or "-o FILE.npy" not in message or message.count("\n") != 1:
                yield f"{name}: {form}: status {status}, said {message!r}"
        elif form == "json" and kind == "str" and "surrogate pair" in message and has_pair(array):
            continue
        elif status != 0:
            yield f"{name}: {form}: status {status}, said {message!r}"
        elif form == "text":
            shown = array.astype("f4") if kind == "bfloat16" else array
            with np.printoptions(threshold=sys.maxsize, floatmode="unique"), np.errstate(all="ignore"):
                printed = (str(shown) + "\n").encode("utf-8", "backslashreplace")
            if out != printed:
                yield f"{name}: text: {out[:300]!r} instead of {printed[:300]!r}"
        else:
            yield from check_json(binary, name, array, out)


def check_json(binary, name, array, out):
    tensor = json.loads(out)
    plain = native(array)
    called = plain.dtype.name if plain.dtype.kind not in "SUMm" else plain.dtype.str
    if (tensor["dtype"], tuple(tensor["shape"])) != (called, array.shape):
        yield f"{name}: json: {tensor['dtype']} {tensor['shape']}"
        return
    if plain.dtype.kind not in "Mm":
        read = from_json(tensor["data"], plain.dtype, array.shape)
        if native(read).tobytes() != plain.tobytes():
            yield f"{name}: json as Python reads it: {out[:300]!r}"
    status, copy, message = run(binary, ["slice", "-", "--start=", "--stop=", "--to", "npy"], out)
    if status != 0 or copy != save(plain):
        yield f"{name}: json read back: status {status} {message.strip()} {copy[:200]!r} from {out[:300]!r}"


# ------------------------------------------------------------ operators
NUMBERS = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16", "bfloat16"]


def small(make, dtype, count):
    """Items whose sums and products neither all overflow nor are all exact."""
    rng = make.rng
    if dtype.kind in "iu":
        return make.ints(dtype, count)
    if dtype.kind == "b":
        return rng.integers(0, 2, count).astype(dtype)
    values = rng.standard_normal(count) * 2.0 ** rng.integers(-6, 7, count)
    if make.chance(0.3) and count:
        special = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 6e4, 1e-7])
        values = np.where(rng.random(count) < 0.3, special[rng.integers(0, len(special), count)], values)
    if dtype.kind == "c":
        both = np.empty(count, dtype)
        both.real, both.imag = values, rng.permutation(values)
        return both
    with np.errstate(all="ignore"):
        return values.astype(dtype)


def step(old, new, reduction):
    """One step of a reduction, rounded once in the dtype of the scalars."""
    if old.dtype.kind == "b":
        return old ^ new if reduction == "sub" else old | new if reduction in ("add", "max") else old & new
    if reduction == "add":
        return old + new
    if reduction == "sub":
        return old - new
    if reduction == "mul":
        if old.dtype.kind != "c":
            return old * new
        product = np.empty((), old.dtype)
        product.real = old.real * new.real - old.imag * new.imag
        product.imag = old.real * new.imag + old.imag * new.real
        return product[()]
    if old != old or new != new:
        return old.dtype.type(np.nan)
    return new if (new > old if reduction == "max" else new < old) else old


def list_of(numbers):
    return ",".join(map(str, numbers))


def elements_case(make, operator, data, new):
    """The same for an index of one axis for each item."""
    rng, rank = make.rng, data.ndim
    axis = int(rng.integers(rank))
    shape = [int(rng.integers(1, d + 1)) if d else 0 for d in data.shape]
    shape[axis] = int(rng.integers(1, 7)) if data.shape[axis] else 0
    if make.chance(0.3):
        shape = [d if i != axis else shape[i] for i, d in enumerate(data.shape)]
    dim = data.shape[axis]
    indices = rng.integers(-dim, max(dim, 1 - dim), shape)
    options = [f"--axis={axis - rank if make.chance(0.5) else axis}"]
    # NumPy's functions want all of the other axes, or broadcast them
    part = data[tuple(slice(None) if i == axis else slice(d) for i, d in enumerate(shape))]
    if operator == "gather-elements":
        return [data, indices], options, np.take_along_axis(part, indices, axis)
    updates, out = new(tuple(shape)), data.copy()
    kinds = ["none", "add", "mul"] + ["max", "min"] * (data.dtype.kind != "c") + ["mean"] * (data.dtype.kind not in "bc")
    reduction, initial = make.pick(kinds), make.chance(0.6)
    if reduction == "none" and make.chance(0.5) and shape[axis] <= dim:
        # no repeats, where NumPy's own function says what comes out
        indices = np.argsort(rng.random([dim if i == axis else d for i, d in enumerate(shape)]), axis)
        indices = indices[tuple(slice(d) for d in shape)] - dim * (rng.random(shape) < 0.3)
        view = out[tuple(slice(None) if i == axis else slice(d) for i, d in enumerate(shape))]
        np.put_along_axis(view, indices, updates, axis)
        return [data, indices, updates], [*options, f"--reduction={reduction}"], out
    taken = {}
    for at in np.ndindex(*shape):
        place = at[:axis] + (int(indices[at]) % dim,) + at[axis + 1:]
        taken.setdefault(place, [data[place]] if initial and reduction != "none" else []).append(updates[at])
    for place, items in taken.items():
        if reduction == "none":
            out[place] = items[-1]
        elif reduction != "mean":
            out[place] = functools.reduce(lambda old, new: step(old, new, reduction), items)
        elif data.dtype.kind in "iu":
            total = sum(map(int, items))
            out[place] = (abs(total) // len(items)) * (1 if total >= 0 else -1)
        else:
            total = functools.reduce(lambda old, new: step(old, new, "add"), items)
            # float64 holds the quotient of a short float by a small number exactly enough to be rounded once more
            wide = np.float64(total) / len(items)
            out[place] = total / total.dtype.type(len(items)) if data.dtype.itemsize > 2 else total.dtype.type(wide)
    options += [f"--reduction={reduction}", *([] if initial else ["--no-initial"])]
    return [data, indices, updates], options, out


def arranged_case(make, operator, data):
    """NumPy's own function, for pad with negative numbers after a slice."""
    rng, shape, rank = make.rng, data.shape, data.ndim
    axes = [int(a) for a in rng.permutation(rank)[:int(rng.integers(0, rank + 1))]]
    signed = [a - rank if make.chance(0.5) else a for a in axes]
    if operator == "pad":
        mode = make.pick(["constant", "edge", "reflect", "symmetric", "wrap"])
        pads = [(0, 0)] * rank
        for axis in axes:
            dim = shape[axis]
            less = int(rng.integers(0, dim)) if dim else 0
            most = make.pick([2, dim, 3 * dim + 2]) + 1 if dim or mode == "constant" else 1
            pads[axis] = make.pick([(int(rng.integers(most)), int(rng.integers(most))), (-less, int(rng.integers(most))),
                                    (int(rng.integers(most)), -less), (0, 0)])
        cut = data[tuple(slice(max(-b, 0), d - max(-a, 0)) for (b, a), d in zip(pads, shape))]
        more = [(max(b, 0), max(a, 0)) for b, a in pads]
        one = make.chance(0.5)
        typed = str(one).lower() if data.dtype == bool else int(one)
        fill = [f"--fill={typed}"] if mode == "constant" and make.chance(0.5) else []
        constant = {"constant_values": np.asarray(one).astype(data.dtype)} if fill else {}
        out = np.pad(cut, more, mode, **constant)
        if make.chance(0.5):
            lists = [[pads[axis][n] for axis in axes] for n in (0, 1)]
            return [data], [f"--before={list_of(lists[0])}", f"--after={list_of(lists[1])}", f"--axes={list_of(signed)}",
                            f"--mode={mode}", *fill], out
        return [data], [f"--before={list_of(b for b, _ in pads)}", f"--after={list_of(a for _, a in pads)}",
                        f"--mode={mode}", *fill], out
    if operator == "tile":
        repeats = [int(n) for n in rng.integers(0 if make.chance(0.1) else 1, 4, int(rng.integers(0, rank + 3)))]
        return [data], [f"--repeats={list_of(repeats)}"], np.tile(data, repeats)
    if operator == "roll":
        if make.chance(0.3):
            shift = int(rng.integers(-30, 31))
            return [data], [f"--shift={shift}"], np.roll(data, shift)
        axes = [int(a) for a in rng.integers(0, rank, int(rng.integers(1, rank + 2)))]
        shifts = [int(n) for n in rng.integers(-9, 10, len(axes))]
        return [data], [f"--shift={list_of(shifts)}", f"--axes={list_of(axes)}"], np.roll(data, shifts, axes)
    data = data[tuple(slice(1) if make.chance(0.5) and d else slice(None) for d in shape)]
    target = [int(rng.integers(0 if make.chance(0.1) else 1, 5)) if d == 1 else d for d in data.shape]
    if make.chance(0.3):
        own = sorted(int(a) for a in rng.permutation(rank + 2)[:rank])
        to = [int(n) for n in rng.integers(1, 4, rank + 2)]
        for axis, dim in zip(own, target):
            to[axis] = dim
        wide = np.expand_dims(data, tuple(a for a in range(rank + 2) if a not in own))
        return [data], [f"--shape={list_of(to)}", f"--axes={list_of(own)}"], np.broadcast_to(wide, to).copy()
    to = [int(n) for n in rng.integers(1, 4, int(rng.integers(0, 3)))] + target
    out = np.broadcast_to(data, to).copy()
    if len(to) == rank:
        to = to[next((n for n, (a, b) in enumerate(zip(to, data.shape)) if a != b), 0):]
    ones = [1 if d == o and make.chance(0.3) else d for d, o in zip(to, ((1,) * len(to) + data.shape)[-len(to):])]
    return [data], [f"--shape={list_of(ones)}"], out


def operator_case(make, operator):
    """Operands, options and what must come out."""
    rng = make.rng
    dtype = np.dtype(BFLOAT16 if (name := make.pick(NUMBERS)) == "bfloat16" else name)
    shape = tuple(int(d) for d in rng.integers(1, 6, int(rng.integers(1, 5))))
    if make.chance(0.05):
        shape = tuple(0 if i == 0 else d for i, d in enumerate(shape))
    new = lambda shape: small(make, dtype, int(np.prod(shape))).reshape(shape)
    data, rank = new(shape), len(shape)
    if operator in ("slice", "slice-scatter"):
        axes = [int(a) for a in rng.permutation(rank)[:int(rng.integers(0, rank + 1))]]
        start, stop = ([int(n) for n in rng.integers(-7, 8, len(axes))] for _ in range(2))
        steps = [make.pick([1, 2, 3, -1, -2, 5]) for _ in axes]
        where = [slice(None)] * rank
        for axis, *three in zip(axes, start, stop, steps):
            where[axis] = slice(*three)
        signed = [a - rank if make.chance(0.5) else a for a in axes]
        options = [f"--start={list_of(start)}", f"--stop={list_of(stop)}", f"--step={list_of(steps)}", f"--axes={list_of(signed)}"]
        if operator == "slice":
            return [data], options, np.ascontiguousarray(data[tuple(where)])
        updates, out = new(data[tuple(where)].shape), data.copy()
        out[tuple(where)] = updates
        return [data, updates], options, out
    if operator in ("pad", "tile", "roll", "broadcast"):
        return arranged_case(make, operator, data)
    if operator == "split":
        axis = int(rng.integers(rank))
        signed, dim = axis - rank if make.chance(0.5) else axis, shape[axis]
        if make.chance(0.5):
            parts = int(rng.integers(1, dim + 3))
            side = -(-dim // parts)
            ends = [min(dim, side * n) for n in range(1, parts)]
            return [data], [f"--parts={parts}", f"--axis={signed}"], np.split(data, ends, axis)
        ends = sorted(int(n) for n in rng.integers(0, dim + 1, int(rng.integers(0, 4))))
        lengths = [int(n) for n in np.diff([0, *ends, dim])]
        typed = [-1 if n == at else n for n in lengths] if (at := make.pick(lengths)) and lengths.count(at) == 1 else lengths
        return [data], [f"--lengths={list_of(typed)}", f"--axis={signed}"], np.split(data, ends, axis)
    if operator == "concat":
        if make.chance(0.3):
            operands, axis = [new(shape) for _ in range(int(rng.integers(1, 5)))], int(rng.integers(rank + 1))
            signed = axis - rank - 1 if make.chance(0.5) else axis
            return operands, ["--stack", f"--axis={signed}"], np.stack(operands, axis)
        axis = int(rng.integers(rank))
        side = lambda: shape[:axis] + (int(rng.integers(0, 5)),) + shape[axis + 1:]
        operands = [new(side()) for _ in range(int(rng.integers(1, 6)))]
        return operands, [f"--axis={axis - rank if make.chance(0.5) else axis}"], np.concatenate(operands, axis)
    if operator == "transpose":
        order = [int(a) for a in rng.permutation(rank)]
        if make.chance(0.2):
            return [data], [], np.ascontiguousarray(data.T)
        signed = [a - rank if make.chance(0.5) else a for a in order]
        return [data], [f"--axes={list_of(signed)}"], np.ascontiguousarray(data.transpose(order))
    if operator == "reshape":
        ones = [int(at) for at in rng.integers(0, 2, rank)]
        data = data.reshape([d for dim, one in zip(shape, ones) for d in (1, dim)[1 - one:]])
        rank = data.ndim
        single = [at for at, dim in enumerate(data.shape) if dim == 1 and make.chance(0.7)]
        signed = [a - rank if make.chance(0.5) else a for a in single]
        new = sorted(int(a) for a in rng.permutation(rank + 2)[:2])
        at = int(rng.integers(-rank, rank + 1))
        sides = [d for d in range(1, data.size + 1) if data.size % d == 0]
        first = make.pick(sides) if sides else 0
        return [data], *make.pick([
            (["--squeeze"], np.squeeze(data)),
            ([f"--squeeze={list_of(signed)}"], np.squeeze(data, tuple(single))),
            ([f"--unsqueeze={list_of(new)}"], np.expand_dims(data, tuple(new))),
            ([f"--flatten={at}"], data.reshape(int(np.prod(data.shape[:at])), int(np.prod(data.shape[at:])))
             if at < rank else data.reshape(-1, 1)),
            ([f"--shape={first},-1"], data.reshape(first, -1)) if sides else (["--shape=0,5", "--allow-zero"], data.reshape(0, 5)),
            ([f"--shape=0,{-1 if data.size else 0}"], data.reshape(data.shape[0], -1)) if data.size else (["--squeeze"], np.squeeze(data)),
        ])
    lead = tuple(int(d) for d in rng.integers(1, 5, int(rng.integers(0, 3))))
    if operator == "scatter-update":
        axis = int(rng.integers(rank))
        if shape[axis] == 0:
            lead = (0,)
        indices = rng.integers(0, max(shape[axis], 1), lead)
        updates, out = new(shape[:axis] + lead + shape[axis + 1:]), data.copy()
        for at in np.ndindex(lead):
            out[(slice(None),) * axis + (int(indices[at]),)] = updates[(slice(None),) * axis + at]
        return [data, indices, updates], [f"--axis={axis - rank if make.chance(0.5) else axis}"], out
    if operator == "gather":
        axis = int(rng.integers(rank))
        batch = int(rng.integers(axis + 1)) if make.chance(0.4) else 0
        zero, dim = make.chance(0.3), shape[axis]
        lead = shape[:batch] + ((0,) if dim == 0 and not zero else lead)
        wide = dim + 2 if zero else dim
        indices = rng.integers(-wide, max(wide, 1 - wide), lead)
        # by plain loops over all but the block: NumPy's take knows neither batches nor zeros
        out = np.zeros(shape[:axis] + lead[batch:] + shape[axis + 1:], dtype)
        for row in np.ndindex(shape[:axis]):
            for at in np.ndindex(lead[batch:]):
                place = int(indices[row[:batch] + at])
                if -dim <= place < dim:
                    out[row + at] = data[row + (place,)]
        signed = axis - rank if make.chance(0.5) else axis
        dims = batch - len(lead) if make.chance(0.5) and batch < len(lead) else batch
        options = [f"--axis={signed}", f"--batch-dims={dims}", f"--out-of-range={'zero' if zero else 'error'}"]
        return [data, indices], options, out
    if operator in ("gather-elements", "scatter-elements"):
        return elements_case(make, operator, data, new)
    if operator == "gather-nd":
        batch = int(rng.integers(rank)) if make.chance(0.5) else 0
        k = int(rng.integers(0, rank - batch + 1))
        dims = shape[batch:batch + k]
        lead = shape[:batch] + ((0,) if 0 in dims else lead)
        indices = np.zeros(lead + (k,), "i8")
        for i, d in enumerate(dims):
            indices[..., i] = rng.integers(-d, max(d, 1 - d), lead)
        if k == 0:
            # each tuple names the whole of its batch
            out = data.reshape(shape[:batch] + (1,) * (len(lead) - batch) + shape[batch:])
        else:
            # the axes of the batches by their places, the others by the numbers of the tuples
            places = (np.arange(d).reshape((-1,) + (1,) * (len(lead) - 1 - i)) for i, d in enumerate(shape[:batch]))
            out = data[(*places, *np.moveaxis(indices, -1, 0))]
        out = np.broadcast_to(out, lead + shape[batch + k:]).copy()
        return [data, indices], [f"--batch-dims={batch}"], out
    k = int(rng.integers(0, rank + 1))
    if 0 in shape[:k]:
        lead = (0,)
    indices = np.stack([rng.integers(-d, max(d, -d + 1), lead) for d in shape[:k]] or [np.zeros(lead + (0,), "i8")], -1)
    indices = indices.reshape(lead + (k,)).astype("i8")
    updates, out = new(lead + shape[k:]), data.copy()
    reduction = make.pick(["none", "add", "sub", "mul"] + ["max", "min"] * (dtype.kind != "c"))
    if reduction == "sub" and dtype.kind != "b" and k > 0:
        # NumPy's own, unbuffered: each update in the order of the tuples
        np.subtract.at(out, tuple(np.moveaxis(indices, -1, 0)), updates)
        return [data, indices, updates], [f"--reduction={reduction}"], out
    for at in np.ndindex(lead):
        for inner in np.ndindex(shape[k:]):
            place, update = tuple(int(i) for i in indices[at]) + inner, updates[at + inner]
            out[place] = update if reduction == "none" else step(out[place], update, reduction)
    return [data, indices, updates], [f"--reduction={reduction}"], out


OPERATORS = ["slice", "slice-scatter", "scatter-update", "scatter-nd", "scatter-nd", "gather", "gather-nd", "concat",
             "transpose", "reshape", "pad", "pad", "tile", "roll", "broadcast", "split",
             "gather-elements", "scatter-elements", "scatter-elements"]


def check_operator(binary, seed, folder, runtimes, only):
    make = Arrays(seed)
    operator = only or make.pick(OPERATORS)
    with np.errstate(all="ignore"):
        operands, options, wanted = operator_case(make, operator)
    paths = []
    for i, operand in enumerate(operands):
        paths.append(os.path.join(folder, f"{i}.npy"))
        stored = operand
        if operand.dtype != BFLOAT16 and make.chance(0.3):
            stored = operand.astype(operand.dtype.newbyteorder(">"))
        with open(paths[-1], "wb") as file:
            np.save(file, np.asarray(stored, order=make.pick("CF")), allow_pickle=False)
    outputs = ["-o", os.path.join(folder, "out-*.npy")] if operator == "split" else ["--to", "npy"]
    status, out, message = run(binary, [operator, *paths, *options, *outputs])
    name = f"operator seed {seed}: {operator} {' '.join(options)} of {operands[0].dtype} {[o.shape for o in operands]}"
    if status != 0:
        yield f"{name}: status {status} {message.strip()}"
        return
    if operator == "split":
        files = [os.path.join(folder, name) for name in sorted(os.listdir(folder)) if name.startswith("out-")]
        found = [np.load(file) for file in files]
        found = [part.view(BFLOAT16) if operands[0].dtype == BFLOAT16 else part for part in found]
        for file in files:
            os.remove(file)
        same = lambda a, b: a.shape == b.shape and native(a).tobytes() == native(b).tobytes()
        if len(found) != len(wanted) or not all(map(same, found, wanted)):
            yield f"{name}: {found!r} instead of {wanted!r}"
        if runtimes:
            yield from check_arranged(name, operator, operands[0], options, [native(part) for part in wanted])
        return
    found = np.load(io.BytesIO(out))
    found = found.view(BFLOAT16) if wanted.dtype == BFLOAT16 else found
    if found.shape != wanted.shape or native(found).tobytes() != native(wanted).tobytes():
        yield f"{name}: {found!r} instead of {wanted!r}"
    if runtimes:
        yield from check_runtimes(name, operator, operands, options, native(wanted))


def check_arranged(name, operator, data, options, wanted):
    """pad, tile, roll, broadcast and split against ONNX Runtime and OpenVINO, where they have what is asked for."""
    import onnxruntime
    import openvino as ov
    from onnx import TensorProto, helper
    from openvino import opset15
    if data.dtype not in (np.dtype("f4"), np.dtype("i4")) or 0 in data.shape:
        return
    options = dict(option[2:].split("=") for option in options)
    numbers = {k: np.array([int(n) for n in v.split(",") if n], "i8") for k, v in options.items() if k not in ("mode", "fill")}
    rank, nodes = data.ndim, {}
    axes = [int(a) % rank for a in numbers["axes"]] if operator in ("pad", "roll") and "axes" in numbers else list(range(rank))
    if operator == "pad":
        before, after = np.zeros(rank, "i8"), np.zeros(rank, "i8")
        before[axes], after[axes] = numbers["before"], numbers["after"]
        fill, mode = np.array(options.get("fill", 0), data.dtype), options["mode"]
        # beyond these numbers of places each of them has rules of its own; neither mirrors after it has taken away
        cut = np.array(data.shape) + np.minimum(before, 0) + np.minimum(after, 0)
        within = {"constant": np.inf, "edge": np.inf, "reflect": cut - 1, "symmetric": cut, "wrap": cut}[mode]
        takes = (before < 0).any() or (after < 0).any()
        if np.all(np.maximum(before, after) <= within) and (mode == "constant" or not takes):
            if mode != "symmetric":
                nodes["onnx"] = ("Pad", [np.concatenate([before, after]), fill], {"mode": mode})
            if mode != "wrap":
                nodes["openvino"] = lambda d: opset15.pad(d, before, after, mode, fill)
    elif operator == "tile":
        repeats = numbers["repeats"]
        # OpenVINO's CPU plugin gets some tiles wrong whose list is shorter or longer than the shape, such as 3,2,2 of [4, 4, 3, 3]
        if len(repeats) == rank:
            nodes["onnx"] = ("Tile", [repeats], {})
            if np.all(repeats > 0):
                nodes["openvino"] = lambda d: opset15.tile(d, repeats)
    elif operator == "roll":
        every = np.array(axes) if "axes" in numbers else None
        if every is not None:
            nodes["openvino"] = lambda d: opset15.roll(d, numbers["shift"], every)
    elif operator == "broadcast":
        shape = numbers["shape"]
        if "axes" in numbers:
            nodes["openvino"] = lambda d: opset15.broadcast(d, shape, numbers["axes"], "EXPLICIT")
        else:
            nodes["onnx"] = ("Expand", [shape], {})
            nodes["openvino"] = lambda d: opset15.broadcast(d, shape, broadcast_spec="BIDIRECTIONAL")
    else:
        lengths, axis = np.array([part.shape[int(options["axis"])] for part in wanted], "i8"), int(options["axis"])
        nodes["onnx"] = ("Split", [lengths], {"axis": axis})
        nodes["openvino"] = lambda d: opset15.variadic_split(d, axis, lengths)
    found = {}
    if "onnx" in nodes and all(0 not in part.shape for part in wanted):
        op, more, attributes = nodes["onnx"]
        inputs = {"d": data, **{f"i{n}": array for n, array in enumerate(more)}}
        kind = lambda array: helper.np_dtype_to_tensor_dtype(array.dtype)
        info = [helper.make_tensor_value_info(n, kind(array), array.shape) for n, array in inputs.items()]
        outs = [f"o{n}" for n in range(len(wanted))]
        graph = helper.make_graph([helper.make_node(op, list(inputs), outs, **attributes)], "g", info,
                                  [helper.make_tensor_value_info(n, kind(data), None) for n in outs])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=10)
        quiet = onnxruntime.SessionOptions()
        quiet.log_severity_level = 4
        found["ONNX Runtime"] = onnxruntime.InferenceSession(model.SerializeToString(), quiet).run(None, inputs)
    if "openvino" in nodes and all(0 not in part.shape for part in wanted):
        parameter = opset15.parameter(data.shape, data.dtype)
        node = nodes["openvino"](parameter)
        model = ov.compile_model(ov.Model([node.output(n) for n in range(len(wanted))], [parameter]), "CPU",
                                 {"INFERENCE_PRECISION_HINT": "f32"})
        result = model([data])
        found["OpenVINO"] = [result[n] for n in range(len(wanted))]
    for runtime, parts in found.items():
        for part, expected in zip(parts, wanted):
            if part.shape != expected.shape or native(part).tobytes() != native(expected).tobytes():
                yield f"{name}: {runtime} says {part!r} instead of {expected!r}"


def check_moved(name, operator, data, options, wanted):
    """transpose and reshape against ONNX's reference evaluator."""
    from onnx import TensorProto, helper
    from onnx.reference import ReferenceEvaluator
    kind = helper.np_dtype_to_tensor_dtype(data.dtype)
    numbers = lambda key: [int(n) for n in options[key].split(",") if n]
    inputs, attributes = {"d": data}, {}
    if operator == "transpose":
        op, attributes = "Transpose", {"perm": [n % data.ndim for n in numbers("axes")]} if "axes" in options else {}
    elif "shape" in options:
        op, inputs["n"] = "Reshape", np.array(numbers("shape"), "i8")
        attributes = {"allowzero": int("allow-zero" in options)}
    elif "squeeze" in options:
        op = "Squeeze"
        if options["squeeze"] is not None:
            inputs["n"] = np.array(numbers("squeeze"), "i8")
    elif "unsqueeze" in options:
        op, inputs["n"] = "Unsqueeze", np.array(numbers("unsqueeze"), "i8")
    else:
        op, attributes = "Flatten", {"axis": int(options["flatten"])}
    info = [helper.make_tensor_value_info(n, kind if n == "d" else TensorProto.INT64, None) for n in inputs]
    node = helper.make_node(op, list(inputs), ["o"], **attributes)
    graph = helper.make_graph([node], "g", info, [helper.make_tensor_value_info("o", kind, None)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])
    found = ReferenceEvaluator(model).run(None, inputs)[0]
    if found.shape != wanted.shape or native(found).tobytes() != wanted.tobytes():
        yield f"{name}: ONNX's {op} gives {found!r} instead of {wanted!r}"


def check_joined(name, operands, options, wanted):
    """concat against ONNX's reference evaluator, and without --stack against OpenVINO."""
    from onnx import helper
    from onnx.reference import ReferenceEvaluator
    data, axis, stacks, found = operands[0], int(options["axis"]), "stack" in options, {}
    kind = helper.np_dtype_to_tensor_dtype(data.dtype)
    names = [f"d{n}" for n in range(len(operands))]
    if stacks:
        nodes = [
            helper.make_node("SequenceConstruct", names, ["s"]),
            helper.make_node("ConcatFromSequence", ["s"], ["o"], axis=axis, new_axis=1),
        ]
    else:
        nodes = [helper.make_node("Concat", names, ["o"], axis=axis)]
    info = [helper.make_tensor_value_info(n, kind, None) for n in names]
    graph = helper.make_graph(nodes, "g", info, [helper.make_tensor_value_info("o", kind, None)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])
    found["onnx"] = ReferenceEvaluator(model).run(None, dict(zip(names, operands)))[0]
    if data.dtype.itemsize == 4 and not stacks:  # OpenVINO's CPU plugin narrows 64-bit items
        import openvino as ov
        from openvino import opset1
        inputs = [opset1.parameter(o.shape, o.dtype) for o in operands]
        model = ov.compile_model(ov.Model([opset1.concat(inputs, axis)], inputs), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
        found["OpenVINO"] = model(operands)[0]
    for runtime, found in found.items():
        if found.dtype != wanted.dtype or found.shape != wanted.shape or native(found).tobytes() != wanted.tobytes():
            yield f"{name}: {runtime} says {found!r} instead of {wanted!r}"


def check_runtimes(name, operator, operands, options, wanted):
    data, typed, options = operands[0], options, dict((*option[2:].split("="), None)[:2] for option in options)
    if data.dtype not in (np.dtype("f4"), np.dtype("i4"), np.dtype("i8"), np.dtype("f8")) or 0 in data.shape:
        return
    if any(not np.all(np.isfinite(o)) for o in operands) or any(o.size == 0 for o in operands):
        return
    if operator in ("pad", "tile", "roll", "broadcast"):
        yield from check_arranged(name, operator, data, typed, [wanted])
        return
    if operator == "concat":
        yield from check_joined(name, operands, options, wanted)
        return
    if operator in ("transpose", "reshape"):
        yield from check_moved(name, operator, data, options, wanted)
        return
    if operator == "gather":
        yield from check_gathers(name, operands, options, wanted)
        return
    if operator in ("gather-elements", "scatter-elements"):
        yield from check_elements(name, operator, operands, options, wanted)
        return
    subtracts = options.get("reduction") == "sub"  # which only OpenVINO has
    if operator in ("scatter-nd", "gather-nd") and not subtracts:
        from onnx import TensorProto, helper
        from onnx.reference import ReferenceEvaluator
        if operands[1].shape[-1] == 0 or operands[1].ndim < 2:
            return
        kind = helper.np_dtype_to_tensor_dtype(data.dtype)
        names = "diu"[:len(operands)]
        info = [helper.make_tensor_value_info(n, t, None) for n, t in zip(names, (kind, TensorProto.INT64, kind))]
        if operator == "scatter-nd":
            node = helper.make_node("ScatterND", list(names), ["o"], reduction=options["reduction"])
        else:
            node = helper.make_node("GatherND", list(names), ["o"], batch_dims=int(options["batch-dims"]))
        graph = helper.make_graph([node], "g", info, [helper.make_tensor_value_info("o", kind, None)])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])
        found = ReferenceEvaluator(model).run(None, dict(zip(names, operands)))[0]
    elif data.dtype.itemsize == 8:
        return  # OpenVINO's CPU plugin narrows 64-bit items
    else:
        import openvino as ov
        from openvino import opset15
        if subtracts and operands[1].shape[-1] == 0:
            return
        numbers = {} if subtracts else {k: np.array([int(n) for n in v.split(",") if n], "i8") for k, v in options.items()}
        # backwards from before the first place OpenVINO takes that place, Python none
        if "start" in numbers and any(
            step < 0 and start < -data.shape[axis]
            for start, step, axis in zip(numbers["start"], numbers["step"], numbers["axes"])
        ):
            return
        if "start" in numbers and not len(numbers["start"]) or operator == "scatter-update" and (
            operands[1].ndim == 0 or len(np.unique(operands[1])) != operands[1].size
        ):
            return
        inputs = [opset15.parameter(o.shape, o.dtype) for o in operands]
        if operator == "slice":
            node = opset15.slice(inputs[0], *(numbers[k] for k in ("start", "stop", "step", "axes")))
        elif subtracts:
            node = opset15.scatter_nd_update(*inputs, reduction="sub")
        elif operator == "slice-scatter":
            node = opset15.slice_scatter(*inputs, *(numbers[k] for k in ("start", "stop", "step", "axes")))
        else:
            node = opset15.scatter_update(*inputs, numbers["axis"])
        model = ov.compile_model(ov.Model([node], inputs), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
        found = model(operands)[0]
    if found.dtype == wanted.dtype and found.shape == wanted.shape and native(found).tobytes() == wanted.tobytes():
        return
    yield f"{name}: a runtime says {found!r} instead of {wanted!r}"


def in_process(make):
    """What `make` returns in a process of its own, which may die: OpenVINO's plugin does for some indices. None if it did."""
    with tempfile.NamedTemporaryFile(prefix="tensorop-", suffix=".npy") as file:
        child = os.fork()
        if child == 0:
            try:
                np.save(file.name, make())
                os._exit(0)
            except Exception as error:
                print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
            finally:
                os._exit(1)
        _, status = os.waitpid(child, 0)
        return np.load(file.name) if status == 0 else None


def check_elements(name, operator, operands, options, wanted):
    """ONNX's reference evaluator, which knows neither the mean nor places without the item there, and OpenVINO."""
    data, axis, found = operands[0], int(options["axis"]), {}
    reduction, initial = options.get("reduction", "none"), "no-initial" not in options
    # both want all of the other axes of a gather, against ONNX's text; the evaluator also counts no axis from the end
    whole = all(i == axis % data.ndim or d == data.shape[i] for i, d in enumerate(wanted.shape))
    if reduction != "mean" and (initial or reduction == "none") and (operator == "scatter-elements" or whole):
        from onnx import TensorProto, helper
        from onnx.reference import ReferenceEvaluator
        kind = helper.np_dtype_to_tensor_dtype(data.dtype)
        names = "diu"[:len(operands)]
        info = [helper.make_tensor_value_info(n, t, None) for n, t in zip(names, (kind, TensorProto.INT64, kind))]
        if operator == "scatter-elements":
            node = helper.make_node("ScatterElements", list(names), ["o"], axis=axis, reduction=reduction)
        else:
            node = helper.make_node("GatherElements", list(names), ["o"], axis=axis % data.ndim)
        graph = helper.make_graph([node], "g", info, [helper.make_tensor_value_info("o", kind, None)])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])
        found["ONNX's reference"] = ReferenceEvaluator(model).run(None, dict(zip(names, operands)))[0]
    # OpenVINO's sum of integers wraps before it is divided
    wraps = reduction == "mean" and data.dtype.kind == "i" and any(np.abs(o).max() > 2**20 for o in (data, operands[-1]))
    if data.dtype.itemsize == 4 and not wraps and (operator == "scatter-elements" or whole):
        import openvino as ov
        from openvino import opset15

        def run_openvino():
            inputs = [opset15.parameter(o.shape, o.dtype) for o in operands]
            if operator == "gather-elements":
                node = opset15.gather_elements(*inputs, axis)
            else:
                words = {"add": "sum", "mul": "prod"}
                axis_of = opset15.constant(np.int64(axis))
                node = opset15.scatter_elements_update(*inputs, axis_of, words.get(reduction, reduction), initial)
            model = ov.compile_model(ov.Model([node], inputs), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
            return model(operands)[0]

        found["OpenVINO"] = in_process(run_openvino)
    for runtime, result in found.items():
        if result is None:
            yield f"{name}: {runtime} died"
        elif result.shape != wanted.shape or native(result).tobytes() != wanted.tobytes():
            yield f"{name}: {runtime} says {result!r} instead of {wanted!r}"


def check_gathers(name, operands, options, wanted):
    """ONNX's reference evaluator, which has neither batches nor zeros, and OpenVINO's Gather-8, which has both."""
    data, indices = operands
    axis, batch = int(options["axis"]), int(options["batch-dims"])
    dim, found = data.shape[axis], {}
    inside = np.all((indices >= -dim) & (indices < dim))
    if batch in (0, -indices.ndim) and inside:
        from onnx import TensorProto, helper
        from onnx.reference import ReferenceEvaluator
        kind = helper.np_dtype_to_tensor_dtype(data.dtype)
        info = [helper.make_tensor_value_info(n, t, None) for n, t in (("d", kind), ("i", TensorProto.INT64))]
        node = helper.make_node("Gather", ["d", "i"], ["o"], axis=axis)
        graph = helper.make_graph([node], "g", info, [helper.make_tensor_value_info("o", kind, None)])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])
        found["onnx"] = ReferenceEvaluator(model).run(None, {"d": data, "i": indices})[0]
    if data.dtype.itemsize == 4:  # OpenVINO's CPU plugin narrows 64-bit items
        import openvino as ov
        from openvino import opset8
        inputs = [opset8.parameter(o.shape, o.dtype) for o in operands]
        node = opset8.gather(*inputs, np.array(axis, "i8"), batch_dims=batch)
        model = ov.compile_model(ov.Model([node], inputs), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
        found["OpenVINO"] = model(operands)[0]
    for runtime, found in found.items():
        if found.dtype != wanted.dtype or found.shape != wanted.shape or native(found).tobytes() != wanted.tobytes():
            yield f"{name}: {runtime} says {found!r} instead of {wanted!r}"


# ------------------------------------------------------------ running
def work(task):
    binary, what, seeds, skip, runtimes, only = task
    failures = []
    with tempfile.TemporaryDirectory(prefix="tensorop-") as folder:
        for seed in seeds:
            try:
                if what == "array":
                    failures += check_array(binary, seed, folder, skip)
                else:
                    failures += check_operator(binary, seed, folder, seed % 1000003 < runtimes, only)
            except Exception as error:
                failures.append(f"{what} seed {seed}: {type(error).__name__}: {error}")
    return len(seeds), failures


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("binary")
    parser.add_argument("--count", type=int, default=10000)
    parser.add_argument("--operators", type=int, default=4000)
    parser.add_argument("--operator", choices=sorted(set(OPERATORS)))
    parser.add_argument("--runtimes", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--skip", action="append", default=[], choices=["text", "json"])
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    binary = os.path.abspath(options.binary)
    base = options.seed * 1000003
    tasks = []
    for what, count in [("array", options.count), ("operator", options.operators)]:
        for first in range(0, count, 100):
            seeds = range(base + first, base + min(first + 100, count))
            tasks.append((binary, what, seeds, options.skip, options.runtimes, options.operator))
    failed = done = 0
    with multiprocessing.Pool(options.jobs) as pool:
        for count, failures in pool.imap_unordered(work, tasks):
            done, failed = done + count, failed + len(failures)
            for failure in failures:
                print(failure, flush=True)
    print(f"{done} cases, {failed} differences")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
