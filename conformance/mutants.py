#!/usr/bin/env python3
"""Proves that the vectors catch faults: a runtime that is right passes them, and each of many that are wrong does not.

usage: mutants.py TENSOROP [--only NAME]... [--jobs J] [--onnx] [--table]

`Toy` is a runtime of its own: NumPy, and arithmetic on flat offsets; it shares nothing with `vectors/`. Each fault is a class
that overrides one of its methods with a mistake that runtimes make. A runtime goes through all vectors and writes its outputs
to DIR/ID/output.npy, or DIR/ID/refused, and `tensorop check conformance --actual DIR` alone says what it got wrong.

Exit status 0 only if Toy passes every case, and if each fault fails a case of class must or reject; the faults that a
specification leaves open (`open = True`) have to fail a choice, and no must. With --onnx the same faults are held against
ONNX's own node tests, as the control; --table prints both as the table of docs/conformance.md. Needs numpy and ml_dtypes,
with --onnx also onnx.
"""
import argparse
import collections
import io
import json
import math
import multiprocessing
import pathlib
import subprocess
import sys
import tempfile

import ml_dtypes
import numpy as np

from mutants_movement import Movement, Refused, need

FOLDER = pathlib.Path(__file__).resolve().parent
NARROW = ["bfloat16", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu", "float4_e2m1fn",
          "int2", "uint2", "int4", "uint4"]
DTYPES = {name: np.dtype(getattr(ml_dtypes, name)) for name in NARROW}


# ------------------------------------------------------------------------------------------------- a runtime that is right

class Toy(Movement):
    """The operators on flat arrays: an operator works out offsets, and items move by them."""

    open = False

    # -- what all operators share

    def strides(self, shape):
        steps, step = [], 1
        for dim in reversed(shape):
            steps.insert(0, step)
            step *= dim
        return steps

    def offsets(self, spans, strides):
        """The offsets of all combinations of one place of each axis, in row-major order."""
        found = np.zeros(1, dtype=np.int64)
        for span, stride in zip(spans, strides):
            found = (found[:, None] + np.array(list(span), dtype=np.int64)[None, :] * stride).ravel()
        return found

    def move(self, data, offsets, shape):
        return data.ravel()[offsets].reshape(shape)

    def axis(self, axis, rank):
        need(-rank <= axis < rank)
        return axis % rank

    def indices(self, tensor):
        need(tensor.dtype in INTEGER_DTYPES)
        return [int(one) for one in tensor.ravel()]

    def index(self, index, shape, axis):
        dim = shape[axis]
        need(-dim <= index < dim)
        return index + dim if index < 0 else index

    def numbers(self, tensor):
        need(tensor.dtype in INTEGER_DTYPES and tensor.ndim == 1)
        return [int(one) for one in tensor]

    def number(self, tensor):
        need(tensor.dtype in INTEGER_DTYPES and tensor.size == 1)
        self.has_one_axis(tensor)
        return int(tensor.ravel()[0])

    def has_one_axis(self, tensor):
        need(tensor.ndim <= 1)

    def same_dtype(self, first, second):
        need(first.dtype == second.dtype or first.dtype.kind == second.dtype.kind == "U")

    def updates_shape(self, updates, shape):
        need(list(updates.shape) == list(shape))
        return updates

    def has_axes(self, data):
        need(data.ndim > 0)

    # -- slices

    def span(self, dim, start, stop, step, onnx):
        need(step != 0)
        if onnx and step < 0 and dim > 0:
            start = max(start, -dim)
        return range(*slice(start, stop, step).indices(dim))

    def slice_axes(self, axes, rank):
        axes = [self.axis(axis, rank) for axis in axes]
        need(len(set(axes)) == len(axes))
        return axes

    def spans(self, shape, starts, stops, steps, axes, onnx):
        need(shape)
        steps = [1] * len(starts) if steps is None else steps
        axes = list(range(len(starts))) if axes is None else axes
        need(len(starts) == len(stops) == len(steps) == len(axes) <= len(shape))
        spans = [range(dim) for dim in shape]
        for n, axis in enumerate(self.slice_axes(axes, len(shape))):
            spans[axis] = self.span(shape[self.dim_of_entry(n, axis)], starts[n], stops[n], steps[n], onnx)
        return spans

    def dim_of_entry(self, n, axis):
        return axis

    def slice(self, data, starts, stops, steps, axes, onnx):
        spans = self.spans(data.shape, starts, stops, steps, axes, onnx)
        return self.move(data, self.offsets(spans, self.strides(data.shape)), [len(span) for span in spans])

    def slice_scatter(self, data, updates, starts, stops, steps, axes):
        spans = self.spans(data.shape, starts, stops, steps, axes, onnx=False)
        self.same_dtype(data, updates)
        updates = self.updates_shape(updates, [len(span) for span in spans])
        targets = self.offsets(spans, self.strides(data.shape))
        return self.put(data, zip(targets, range(updates.size)), updates, "none")

    # -- scatters: pairs of the offset of a target and that of its update

    def scatter_update(self, data, indices, updates, axis):
        self.has_axes(data)
        self.same_dtype(data, updates)
        axis, shape = self.axis(axis, data.ndim), list(data.shape)
        updates = self.updates_shape(updates, shape[:axis] + list(indices.shape) + shape[axis + 1:])
        chosen = [self.natural_index(index, shape[axis]) for index in self.indices(indices)]
        spans = [range(dim) for dim in shape[:axis]] + [chosen] + [range(dim) for dim in shape[axis + 1:]]
        return self.put(data, zip(self.offsets(spans, self.strides(shape)), range(updates.size)), updates, "none")

    def natural_index(self, index, dim):
        need(0 <= index < dim)
        return index

    def tuple_length(self, indices, rank):
        return indices.shape[-1]

    def blocks(self, indices, shape, batch=0):
        """The offset of the first item that each tuple addresses, and the offsets within its block."""
        length = self.tuple_length(indices, len(shape))
        need(length <= len(shape) - batch)
        numbers, strides = self.indices(indices), self.strides(shape)
        outer = math.prod(indices.shape[:-1])
        per_batch = outer // max(1, math.prod(indices.shape[:batch]))
        step = indices.shape[-1]
        bases = []
        for n in range(outer):
            base = n // per_batch * math.prod(shape[batch:]) if batch else 0
            for k in range(length):
                base += self.index(numbers[n * step + k], shape, batch + k) * strides[batch + k]
            bases.append(base)
        rest = shape[batch + length:]
        return bases, self.offsets([range(dim) for dim in rest], self.strides(rest)), rest

    def scatter_nd(self, data, indices, updates, reduction):
        self.has_axes(data), self.has_axes(indices)
        self.same_dtype(data, updates)
        bases, within, rest = self.blocks(indices, data.shape)
        updates = self.updates_shape(updates, [*indices.shape[:-1], *rest])
        targets = [base + offset for base in bases for offset in within]
        return self.put(data, zip(targets, range(len(targets))), updates, reduction)

    def scatter_elements(self, data, indices, updates, axis, reduction, initial):
        self.has_axes(data)
        self.same_dtype(data, updates)
        updates = self.updates_shape(updates, indices.shape)
        targets = self.element_offsets(data, indices, axis)
        return self.put(data, zip(targets, range(len(targets))), updates, reduction, initial)

    def element_offsets(self, data, indices, axis):
        need(indices.ndim == data.ndim)
        axis = self.axis(axis, data.ndim)
        need(all(n == axis or dim <= data.shape[n] for n, dim in enumerate(indices.shape)))
        numbers, strides = self.indices(indices), self.strides(data.shape)
        found = []
        for n, place in enumerate(np.ndindex(*indices.shape)):
            place = list(place)
            place[axis] = self.index(numbers[n], data.shape, axis)
            found.append(sum(index * stride for index, stride in zip(place, strides)))
        return found

    def put(self, data, pairs, updates, reduction, initial=True):
        self.may_reduce(reduction, data.dtype)
        output, new = self.wide_enough(data, updates).ravel().copy(), updates.ravel()
        if reduction == "none":
            for target, n in pairs:
                output[target] = self.stored(output[target], new[n])
            return output.reshape(data.shape)
        put = {}
        for target, n in pairs:
            put.setdefault(int(target), []).append(new[n])
        for target, items in put.items():
            output[target] = self.reduced(reduction, data.dtype, output[target], items, initial)
        return self.after_put(output, put, reduction, initial).reshape(data.shape)

    def wide_enough(self, data, updates):
        return data.astype(max(data.dtype, updates.dtype)) if data.dtype.kind == "U" else data

    def after_put(self, output, put, reduction, initial):
        return output

    def stored(self, old, new):
        return new

    def may_reduce(self, reduction, dtype):
        if reduction == "none":
            return
        need(dtype.kind not in "U" and dtype.name not in NARROW[1:])
        need(not (dtype.kind == "c" and reduction in ("max", "min", "mean")))
        need(not (dtype.kind == "b" and reduction == "mean"))

    def reduced(self, reduction, dtype, old, items, initial):
        items = [old, *items] if initial else items
        if reduction == "mean":
            return self.mean(dtype, items)
        total = items[0]
        for item in items[1:]:
            total = self.step(reduction, dtype, total, item)
        return total

    def mean(self, dtype, items):
        if dtype.kind in "iu":
            total = sum(int(item) for item in items)
            return dtype.type(self.quotient(total, len(items)))
        total = items[0]
        for item in items[1:]:
            total = self.step("add", dtype, total, item)
        return dtype.type(np.float64(total) / len(items))

    def quotient(self, total, count):
        return -(-total // count) if total < 0 else total // count

    def step(self, reduction, dtype, old, new):
        if reduction in ("max", "min"):
            return self.extreme(reduction, dtype, old, new)
        if dtype.kind == "b":
            return {"add": old or new, "mul": old and new, "sub": old != new}[reduction]
        if dtype.kind in "iu":
            bits, signed = 8 * dtype.itemsize, dtype.kind == "i"
            old, new = int(old), int(new)
            total = {"add": old + new, "mul": old * new, "sub": old - new}[reduction] % (1 << bits)
            return dtype.type(total - (1 << bits) if signed and total >> (bits - 1) else total)
        return {"add": np.add, "mul": np.multiply, "sub": np.subtract}[reduction](old, new)

    def extreme(self, reduction, dtype, old, new):
        if dtype.kind == "b":
            return (old or new) if reduction == "max" else (old and new)
        if old != old or new != new:
            return dtype.type(np.nan)
        return new if (new > old if reduction == "max" else new < old) else old

    # -- gathers

    def gather(self, data, indices, axis, batch_dims, beyond):
        self.has_axes(data)
        axis, shape = self.axis(axis, data.ndim), list(data.shape)
        batch = self.batch(batch_dims, data.ndim, indices.ndim)
        need(batch <= axis)
        need(self.same_batches(shape[:batch], list(indices.shape[:batch])))
        numbers = self.indices(indices)
        each = math.prod(indices.shape[batch:])
        strides = self.strides(shape)
        found, zero = [], []
        for n, place in enumerate(np.ndindex(*shape[:axis])):
            base = sum(index * stride for index, stride in zip(place, strides))
            row = sum(index * step for index, step in zip(place[:batch], self.strides(indices.shape[:batch]))) if batch else 0
            for index in numbers[row * each:(row + 1) * each]:
                known = self.gathered_index(index, shape, axis, beyond)
                for after in range(strides[axis]):
                    found.append(0 if known is None else base + known * strides[axis] + after)
                    zero.append(known is None)
        if not found:
            for index in numbers:
                self.gathered_index(index, shape, axis, beyond)
        result = self.gathered_shape(shape, axis, list(indices.shape), batch)
        if not found or data.size == 0:
            return np.zeros(result, data.dtype)
        output = self.move(data, np.array(found), [len(found)]).copy()
        output[np.array(zero)] = np.zeros((), data.dtype)
        return output.reshape(result)

    def gathered_shape(self, shape, axis, indices, batch):
        return shape[:axis] + indices[batch:] + shape[axis + 1:]

    def gathered_index(self, index, shape, axis, beyond):
        """The place that an index means, None for one that gives zeros."""
        dim = shape[axis]
        if beyond == "natural":
            return self.natural_index(index, dim)
        if beyond == "zero" and not -dim <= index < dim:
            return None
        return self.index(index, shape, axis)

    def batch(self, batch_dims, data_rank, indices_rank):
        need(-indices_rank <= batch_dims <= indices_rank)
        return batch_dims + indices_rank if batch_dims < 0 else batch_dims

    def same_batches(self, data, indices):
        return data == indices

    def gather_elements(self, data, indices, axis):
        self.has_axes(data)
        offsets = np.array(self.element_offsets(data, indices, axis), dtype=np.int64)
        return self.move(data, offsets, indices.shape)

    def gather_nd(self, data, indices, batch_dims):
        self.has_axes(data), self.has_axes(indices)
        need(0 <= batch_dims < min(data.ndim, indices.ndim))
        batch = self.batch(batch_dims, data.ndim, indices.ndim)
        need(self.same_batches(list(data.shape[:batch]), list(indices.shape[:batch])))
        bases, within, rest = self.blocks(indices, data.shape, batch)
        offsets = np.array([base + offset for base in bases for offset in within], dtype=np.int64)
        return self.move(data, offsets, [*indices.shape[:-1], *rest])

    # -- whole tensors

    def concat(self, tensors, axis, stack):
        for one in tensors:
            self.same_dtype(tensors[0], one)
        if stack:
            need(all(one.shape == tensors[0].shape for one in tensors))
            axis = self.stack_axis(axis, tensors[0].ndim)
            tensors = [one.reshape([*one.shape[:axis], 1, *one.shape[axis:]]) for one in tensors]
        self.has_axes(tensors[0])
        axis = self.axis(axis, tensors[0].ndim)
        need(self.fit(tensors, axis))
        shape = list(tensors[0].shape)
        shape[axis] = sum(one.shape[axis] for one in tensors)
        return self.joined(tensors, axis, shape)

    def stack_axis(self, axis, rank):
        return self.axis(axis, rank + 1)

    def fit(self, tensors, axis):
        def others(one):
            return [dim for n, dim in enumerate(one.shape) if n != axis]
        return all(one.ndim == tensors[0].ndim and others(one) == others(tensors[0]) for one in tensors)

    def joined(self, tensors, axis, shape):
        rows = math.prod(shape[:axis])
        parts = [one.reshape([rows, math.prod(one.shape[axis:])]) for one in tensors]
        flat = [item for row in range(rows) for part in parts for item in part[row]]
        return as_array(flat, tensors[0].dtype, [part.dtype for part in parts]).reshape(shape)

    def transpose(self, data, perm):
        perm = self.default_perm(data.ndim) if perm is None else [self.axis(axis, data.ndim) for axis in perm]
        need(self.is_permutation(perm, data.ndim))
        strides = self.strides(data.shape)
        order = self.source_axes(perm)
        offsets = self.offsets([range(data.shape[axis]) for axis in order], [strides[axis] for axis in order])
        return self.move(data, offsets, [data.shape[axis] for axis in order])

    def default_perm(self, rank):
        return list(range(rank))[::-1]

    def is_permutation(self, perm, rank):
        return sorted(perm) == list(range(rank))

    def source_axes(self, perm):
        return perm

    def reshape(self, data, dims, zero_is_zero):
        dims = list(dims)
        need(all(dim >= -1 for dim in dims))
        if not zero_is_zero:
            dims = self.copied_dims(data.shape, dims)
        need(dims.count(-1) <= 1)
        if -1 in dims:
            rest = self.product([dim for dim in dims if dim != -1])
            need(rest != 0)
            dims[dims.index(-1)] = self.inferred(data.size, rest)
        need(self.product(dims) == data.size)
        return self.whole(data, dims)

    def product(self, dims):
        return math.prod(dims)

    def whole(self, data, shape):
        return self.move(data, np.arange(data.size), shape)

    def copied_dims(self, shape, dims):
        need(all(dim != 0 or n < len(shape) for n, dim in enumerate(dims)))
        return [shape[n] if dim == 0 else dim for n, dim in enumerate(dims)]

    def inferred(self, size, rest):
        need(size % rest == 0)
        return size // rest

    def squeeze(self, data, axes):
        axes = [n for n, dim in enumerate(data.shape) if dim == 1] if axes is None else self.squeezed_axes(axes, data.shape)
        return self.whole(data, [dim for n, dim in enumerate(data.shape) if n not in axes])

    def squeezed_axes(self, axes, shape):
        axes = [self.axis(axis, len(shape)) for axis in axes]
        need(all(shape[axis] == 1 for axis in axes))
        return axes

    def unsqueeze(self, data, axes):
        rank = self.rank_for_axes(data.ndim, axes)
        axes = [self.axis(axis, rank) for axis in axes]
        need(len(set(axes)) == len(axes))
        return self.whole(data, self.with_ones(list(data.shape), axes))

    def rank_for_axes(self, rank, axes):
        return rank + len(axes)

    def with_ones(self, shape, axes):
        for axis in sorted(axes):
            shape.insert(axis, 1)
        return shape

    def flatten(self, data, axis):
        need(-data.ndim <= axis <= data.ndim)
        axis = self.flat_axis(axis, data.ndim)
        return self.whole(data, [math.prod(data.shape[:axis]), math.prod(data.shape[axis:])])

    def flat_axis(self, axis, rank):
        return axis + rank if axis < 0 else axis

    # -- cases

    def run(self, case):
        """The outputs of a case."""
        self.check_types(case), self.check_attributes(case)
        return self.movement(case) or [self.one_output(case)]

    def check_types(self, case):
        """Refuses types of integers that a specification does not list for an input, and strings where it wants numbers."""
        for n, dtypes in LISTED.get((case["specification"], case["operator"]), {}).items():
            given = case["inputs"][n] if n < len(case["inputs"]) else None
            need(given is None or given.dtype.kind not in "iu" or given.dtype.name in dtypes)
        if (case["specification"], case["operator"], case["version"]) in NUMERIC:
            need(all(one is None or one.dtype.kind != "U" for one in case["inputs"]))

    def check_attributes(self, case):
        need(all(case["version"] >= SINCE.get((case["specification"], case["operator"], name), 0) for name in case["attributes"]))

    def one_output(self, case):
        """The output of a case: from the inputs and attributes of its version to the operators above."""
        operator, version, inputs, given = case["operator"], case["version"], case["inputs"], case["attributes"]
        onnx = case["specification"] == "onnx"
        if operator == "Slice":
            if "starts" in given:
                return self.slice(inputs[0], given["starts"], given["ends"], None, given.get("axes"), True)
            starts, stops, third, fourth = [maybe(self.numbers, inputs, n) for n in (1, 2, 3, 4)]
            steps, axes = (fourth, third) if onnx else (third, fourth)
            return self.slice(inputs[0], starts, stops, steps, axes, onnx)
        if operator == "SliceScatter":
            return self.slice_scatter(inputs[0], inputs[1], *[maybe(self.numbers, inputs, n) for n in (2, 3, 4, 5)])
        if operator == "ScatterUpdate":
            return self.scatter_update(*inputs[:3], self.number(inputs[3]))
        if operator in ("ScatterND", "ScatterNDUpdate"):
            need(not (onnx and version < 13 and inputs[0].dtype.name == "bfloat16"))
            self.from_start(not onnx and version == 3, inputs[1])
            return self.scatter_nd(*inputs, reduction_of(given, onnx, version, "sub"))
        if operator in ("ScatterElements", "Scatter", "ScatterElementsUpdate"):
            axis = self.default_axis(given, inputs[0]) if onnx else self.number(inputs[3])
            self.from_start(version == 3, inputs[1])
            reduction = reduction_of(given, onnx, version, "mean")
            return self.scatter_elements(*inputs[:3], axis, reduction, bool(given.get("use_init_val", True)))
        if operator == "Gather":
            if onnx:
                return self.gather(*inputs, self.default_axis(given, inputs[0]), 0, "error")
            beyond = "natural" if version < 8 else "zero"
            return self.gather(inputs[0], inputs[1], self.number(inputs[2]), given.get("batch_dims", 0), beyond)
        if operator == "GatherElements":
            axis = self.default_axis(given, inputs[0])
            need(onnx or self.fit(inputs, axis % max(inputs[0].ndim, 1)))
            return self.gather_elements(*inputs, axis)
        if operator == "GatherND":
            self.has_axes(inputs[1]), need(not onnx or self.may_be_length(inputs[1].shape[-1]))
            self.from_start(not onnx and version == 5, inputs[1])
            return self.gather_nd(*inputs, given.get("batch_dims", 0))
        if operator == "Concat":
            return self.concat(inputs, given["axis"], False)
        if operator == "ConcatFromSequence":
            return self.concat(inputs[0], given["axis"], given.get("new_axis", 0) == 1)
        if operator == "Transpose":
            perm = given.get("perm") if onnx else self.numbers(inputs[1])
            self.not_negative(perm)
            return self.transpose(inputs[0], None if not onnx and perm == [] else perm)
        if operator == "Reshape":
            kept = given.get("allowzero", 0) == 1 if onnx else not given["special_zero"]
            return self.reshape(inputs[0], self.numbers(inputs[1]), self.zero_is_zero(kept))
        if operator in ("Squeeze", "Unsqueeze"):
            axes = given.get("axes")
            if len(inputs) > 1 and inputs[1] is not None:
                axes = [self.number(inputs[1])] if inputs[1].ndim == 0 and not onnx else self.numbers(inputs[1])
            if onnx and version == 1:
                self.not_negative(axes)
            return self.squeeze(inputs[0], axes) if operator == "Squeeze" else self.unsqueeze(inputs[0], axes)
        if version < 11:
            self.not_negative([given.get("axis", 1)])
        return self.flatten(inputs[0], given.get("axis", 1))

    def from_start(self, only, indices):
        need(not only or indices.size == 0 or indices.min() >= 0)

    def may_be_length(self, length):
        return length > 0

    def not_negative(self, axes):
        need(axes is None or min(axes, default=0) >= 0)

    def default_axis(self, given, data):
        return given.get("axis", 0)

    def zero_is_zero(self, kept):
        return kept


def maybe(read, inputs, n):
    return read(inputs[n]) if n < len(inputs) and inputs[n] is not None else None


def reduction_of(given, onnx, version, extra):
    if onnx:
        names = {"none": "none", **{name: name for name in ["add", "mul"][:2 * (version >= 16)] + ["max", "min"][:2 * (version >= 18)]}}
    else:
        names = {"none": "none", "sum": "add", "prod": "mul", "max": "max", "min": "min", extra: extra}
    reduction = given.get("reduction", "none")
    need(reduction in names)
    return names[reduction]


def as_array(items, dtype, dtypes):
    widest = max(dtypes, key=lambda one: one.itemsize) if dtype.kind == "U" else dtype
    made = np.zeros(len(items), widest)
    for n, item in enumerate(items):
        made[n] = item
    return made


# types of inputs, by their places, and the versions that brought attributes
INT32_OR_64 = ("int32", "int64")
LISTED = {
    **dict.fromkeys([("onnx", name) for name in "ScatterND GatherND Reshape Expand Squeeze Unsqueeze Tile Split ReverseSequence".split()],
                    {1: ("int64",)}),
    **dict.fromkeys([("onnx", name) for name in "Gather GatherElements Scatter ScatterElements CenterCropPad".split()], {1: INT32_OR_64}),
    ("onnx", "Pad"): {1: ("int64",), 3: INT32_OR_64}, ("onnx", "Slice"): dict.fromkeys(range(1, 5), INT32_OR_64),
    ("openvino", "GatherElements"): {1: INT32_OR_64}, ("openvino", "ScatterNDUpdate"): {1: INT32_OR_64},
    ("openvino", "Roll"): {1: INT32_OR_64, 2: INT32_OR_64},
}
NUMERIC = {("openvino", *one) for one in [
    ("Broadcast", 3), ("Concat", 1), ("Pad", 1), ("Reshape", 1), ("ScatterElementsUpdate", 3), ("ScatterNDUpdate", 3),
    ("ScatterNDUpdate", 15), ("ScatterUpdate", 3), ("SliceScatter", 15), ("Squeeze", 0), ("Unsqueeze", 0)]}
SINCE = {("onnx", "GatherND", "batch_dims"): 12, ("onnx", "ScatterND", "reduction"): 16, ("onnx", "ScatterElements", "reduction"): 16,
         ("onnx", "Reshape", "allowzero"): 14, ("onnx", "Split", "num_outputs"): 18, ("onnx", "DepthToSpace", "mode"): 11,
         ("onnx", "SpaceToDepth", "mode"): 28, ("openvino", "Gather", "batch_dims"): 7, ("openvino", "ScatterNDUpdate", "reduction"): 15,
         ("openvino", "ScatterElementsUpdate", "reduction"): 12, ("openvino", "ScatterElementsUpdate", "use_init_val"): 12}
INTEGER_DTYPES = [np.dtype(name) for name in "int8 int16 int32 int64 uint8 uint16 uint32 uint64".split()]


# ------------------------------------------------------------------------------------------------------------- the faults

FAULTS = {}


def fault(what):
    """Lists a runtime with a fault, and says which in a few words."""
    def listed(runtime):
        name = "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in runtime.__name__).lstrip("-")
        runtime.what = what
        FAULTS[name] = runtime
        return runtime
    return listed


def within(offset, shape):
    """An offset as memory would have it that is read beyond its end, without a crash."""
    return offset % max(1, math.prod(shape))


@fault("a negative index is not wrapped")
class IndexNotWrapped(Toy):
    def index(self, index, shape, axis):
        super().index(index, shape, axis)
        return max(index, 0)


@fault("an index is wrapped by the dim of another axis")
class IndexWrappedByWrongDim(Toy):
    def index(self, index, shape, axis):
        super().index(index, shape, axis)
        return (index + shape[-1]) % shape[axis] if index < 0 else index


@fault("an index is wrapped as often as it takes")
class IndexWrappedTwice(Toy):
    def index(self, index, shape, axis):
        need(shape[axis] > 0)
        return index % shape[axis]


@fault("an index out of range is clamped")
class IndexClamped(Toy):
    def index(self, index, shape, axis):
        need(shape[axis] > 0)
        return super().index(min(max(index, -shape[axis]), shape[axis] - 1), shape, axis)


@fault("an index below -dim is not checked")
class IndexUncheckedBelow(Toy):
    def index(self, index, shape, axis):
        need(index < shape[axis])
        return within(index, shape[axis:axis + 1])


@fault("an index of dim is let through")
class IndexOfDimAllowed(Toy):
    def index(self, index, shape, axis):
        return 0 if index == shape[axis] > 0 else super().index(index, shape, axis)


@fault("indices are cut to 32 bits")
class IndexCutTo32Bits(Toy):
    def indices(self, tensor):
        return [int(np.int64(one & 0xFFFFFFFF).astype(np.int32)) for one in super().indices(tensor)]


@fault("indices are cut to 8 bits")
class IndexCutTo8Bits(Toy):
    def indices(self, tensor):
        return [int(np.int64(one & 0xFF)) if one >= 0 else one for one in super().indices(tensor)]


@fault("unsigned indices are read as signed")
class IndexSignedness(Toy):
    def indices(self, tensor):
        numbers = super().indices(tensor)
        half = 1 << (8 * tensor.dtype.itemsize - 1)
        return [one - 2 * half if one >= half else one for one in numbers]


@fault("an index is checked against dim only where its block has items")
class IndexUncheckedForEmptyBlocks(Toy):
    def index(self, index, shape, axis):
        return 0 if 0 in shape[axis + 1:] else super().index(index, shape, axis)


@fault("an index below 0 is wrapped where it is an error")
class NaturalIndexWrapped(Toy):
    def natural_index(self, index, dim):
        return self.index(index, [dim], 0)


@fault("integers of types that are not listed are read")
class UnlistedTypes(Toy):
    def check_types(self, case):
        pass


@fault("attributes of later versions are obeyed")
class LaterAttributes(Toy):
    def check_attributes(self, case):
        pass


@fault("a tuple without indices takes the whole tensor where it is an error")
class TuplesWithoutIndices(Toy):
    def may_be_length(self, length):
        return True


@fault("negative axes and indices are wrapped in versions that have none")
class OlderVersionsWrap(Toy):
    def from_start(self, only, indices):
        pass

    def not_negative(self, axes):
        pass


@fault("float indices are rounded")
class FloatIndices(Toy):
    def indices(self, tensor):
        need(tensor.dtype.kind in "iuf")
        return [int(one) for one in tensor.ravel()]


@fault("bool indices are taken as 0 and 1")
class BoolIndices(Toy):
    def indices(self, tensor):
        need(tensor.dtype.kind in "iub")
        return [int(one) for one in tensor.ravel()]


@fault("an index out of range takes the last place where it has to give zeros")
class OutOfRangeIsNotZero(Toy):
    def gathered_index(self, index, shape, axis, beyond):
        found = super().gathered_index(index, shape, axis, beyond)
        return max(0, shape[axis] - 1) if found is None and 0 not in shape else found


@fault("the sign of a step is lost")
class StepSignLost(Toy):
    def span(self, dim, start, stop, step, onnx):
        return super().span(dim, start, stop, abs(step), onnx)


@fault("a negative start is not wrapped")
class StartNotWrapped(Toy):
    def span(self, dim, start, stop, step, onnx):
        return super().span(dim, max(start, 0), stop, step, onnx)


@fault("a negative stop is not wrapped")
class StopNotWrapped(Toy):
    def span(self, dim, start, stop, step, onnx):
        return super().span(dim, start, stop if stop >= 0 else (0 if step > 0 else -dim - 1), step, onnx)


@fault("start and stop are wrapped twice")
class SliceWrappedTwice(Toy):
    def span(self, dim, start, stop, step, onnx):
        if -2 * dim <= start < -dim:
            start += dim
        if -2 * dim <= stop < -dim:
            stop += dim
        return super().span(dim, start, stop, step, onnx)


@fault("start and stop are wrapped by the dim of the entry's place in the list")
class SliceWrappedByWrongDim(Toy):
    def dim_of_entry(self, n, axis):
        return n

    def spans(self, shape, *rest):
        spans = super().spans(shape, *rest)
        return [[place for place in span if place < dim] for span, dim in zip(spans, shape)]


@fault("INT_MAX as a stop takes all that is left, also backwards")
class IntMaxBackward(Toy):
    def span(self, dim, start, stop, step, onnx):
        return super().span(dim, start, -dim - 1 if step < 0 and stop >= (1 << 31) - 1 else stop, step, onnx)


@fault("the stop of a negative step is taken")
class StopTakenBackward(Toy):
    def span(self, dim, start, stop, step, onnx):
        span = super().span(dim, start, stop, step, onnx)
        after = span.start + step * len(span)
        return [*span, after] if step < 0 and 0 <= after < dim and after == stop % max(dim, 1) else span


@fault("place 0 is never taken backwards")
class FirstLostBackward(Toy):
    def span(self, dim, start, stop, step, onnx):
        return [place for place in super().span(dim, start, stop, step, onnx) if step > 0 or place > 0]


@fault("the last stride is lost where it is shorter than the step")
class LastStrideLost(Toy):
    def span(self, dim, start, stop, step, onnx):
        first, last, step = slice(start, stop, step).indices(dim) if step else need(False)
        return super().span(dim, start, stop, step, onnx)[:max(0, (last - first) // step if step > 0 else (first - last) // -step)]


@fault("a start beyond the axis is not clamped backwards")
class StartNotClampedBackward(Toy):
    def span(self, dim, start, stop, step, onnx):
        return range(0) if step < 0 and start >= dim else super().span(dim, start, stop, step, onnx)


@fault("start, stop and step are cut to 32 bits")
class SliceCutTo32Bits(Toy):
    def span(self, dim, start, stop, step, onnx):
        return super().span(dim, *[int(np.int64(one).astype(np.int32)) for one in (start, stop, step)], onnx)


@fault("the length of a slice is worked out before its ends are clamped, and overflows")
class SliceLengthOverflows(Toy):
    def span(self, dim, start, stop, step, onnx):
        span = super().span(dim, start, stop, step, onnx)
        return span if -1 << 63 <= stop - start < 1 << 63 else range(0)


@fault("a step of 0 takes nothing")
class StepZeroAllowed(Toy):
    def span(self, dim, start, stop, step, onnx):
        return super().span(dim, start, stop, step, onnx) if step else range(0)


@fault("a step of 0 is let through on an empty axis")
class StepZeroOnEmptyAxis(Toy):
    def span(self, dim, start, stop, step, onnx):
        return super().span(dim, start, stop, step or 1 - dim, onnx) if dim == 0 else super().span(dim, start, stop, step, onnx)


@fault("axes are ignored, and entries go to the first ones")
class AxesIgnored(Toy):
    def slice_axes(self, axes, rank):
        return list(range(len(super().slice_axes(axes, rank))))


@fault("axes are sorted without their entries")
class AxesSorted(Toy):
    def slice_axes(self, axes, rank):
        return sorted(super().slice_axes(axes, rank))


@fault("an axis may be named twice")
class AxesRepeated(Toy):
    def slice_axes(self, axes, rank):
        return [self.axis(axis, rank) for axis in axes]


@fault("an axis may be named twice by an alias")
class AxesRepeatedByAlias(Toy):
    def slice_axes(self, axes, rank):
        need(len(set(axes)) == len(axes))
        return [self.axis(axis, rank) for axis in axes]


@fault("a start before the axis is clamped to place 0 with a negative step, in Slice-8 too")
class OnnxClampsEverywhere(Toy):
    def span(self, dim, start, stop, step, onnx):
        return super().span(dim, start, stop, step, True)


@fault("a start before the axis takes nothing with a negative step, in ONNX too")
class PythonClampsEverywhere(Toy):
    def span(self, dim, start, stop, step, onnx):
        return super().span(dim, start, stop, step, False)


@fault("a negative axis is an error")
class NegativeAxisRefused(Toy):
    def axis(self, axis, rank):
        need(axis >= 0)
        return super().axis(axis, rank)


@fault("an axis beyond the rank is wrapped")
class AxisWrapped(Toy):
    def axis(self, axis, rank):
        need(rank > 0)
        return axis % rank


@fault("the axis is always the first")
class AxisAlwaysFirst(Toy):
    def element_offsets(self, data, indices, axis):
        self.axis(axis, data.ndim)
        return super().element_offsets(data, indices, 0)


@fault("an axis that is left out is the last")
class AxisDefaultsToLast(Toy):
    def default_axis(self, given, data):
        return given.get("axis", -1)


@fault("the length of a tuple is taken as rank - 1")
class TupleLengthOfRankMinus1(Toy):
    def tuple_length(self, indices, rank):
        need(indices.shape[-1] >= rank - 1)
        return rank - 1


@fault("of several updates of a place the first wins")
class FirstWins(Toy):
    open = True

    def put(self, data, pairs, updates, reduction, initial=True):
        return super().put(data, list(pairs)[::-1] if reduction == "none" else pairs, updates, reduction, initial)


@fault("updates are taken in reverse order")
class ReverseOrder(Toy):
    open = True

    def put(self, data, pairs, updates, reduction, initial=True):
        return super().put(data, list(pairs)[::-1], updates, reduction, initial)


@fault("updates are summed where they are to be stored")
class SummedNotStored(Toy):
    def stored(self, old, new):
        return new if isinstance(new, (str, np.bool_)) or new.dtype.name in NARROW else np.add(old, new)


@fault("updates are stored where they are to be summed")
class StoredNotSummed(Toy):
    def step(self, reduction, dtype, old, new):
        return new if reduction == "add" else super().step(reduction, dtype, old, new)


@fault("mul adds, as the document describes it")
class MulAdds(Toy):
    def step(self, reduction, dtype, old, new):
        return super().step("add" if reduction == "mul" else reduction, dtype, old, new)


@fault("sub subtracts what is there from the update")
class SubTurnedRound(Toy):
    def step(self, reduction, dtype, old, new):
        return super().step(reduction, dtype, *((new, old) if reduction == "sub" else (old, new)))


@fault("sums and products of narrow floats are rounded once")
class RoundedOnce(Toy):
    def reduced(self, reduction, dtype, old, items, initial):
        if dtype.name in ("float16", "bfloat16", "float32") and reduction in ("add", "mul", "sub"):
            wide = np.dtype(np.float64)
            return dtype.type(super().reduced(reduction, wide, np.float64(old), [np.float64(one) for one in items], initial))
        return super().reduced(reduction, dtype, old, items, initial)


@fault("float64 is summed as float32")
class Float64AsFloat32(Toy):
    def step(self, reduction, dtype, old, new):
        found = super().step(reduction, dtype, old, new)
        return np.float64(np.float32(found)) if dtype == np.float64 else found


@fault("numbers below the smallest normal one are flushed to 0")
class SubnormalsFlushed(Toy):
    def step(self, reduction, dtype, old, new):
        found = super().step(reduction, dtype, old, new)
        least = {"float16": 2.0**-14, "bfloat16": 2.0**-126, "float32": 2.0**-126, "float64": 2.0**-1022}.get(dtype.name, 0)
        return dtype.type(0) if least and 0 < abs(float(found)) < least else found


@fault("max and min drop NaN")
class ExtremesDropNan(Toy):
    open = True

    def extreme(self, reduction, dtype, old, new):
        if old != old or new != new:
            return new if old != old else old
        return super().extreme(reduction, dtype, old, new)


@fault("of zeros of both signs max and min take the new one")
class ExtremesTakeNewZero(Toy):
    open = True

    def extreme(self, reduction, dtype, old, new):
        return new if old == new else super().extreme(reduction, dtype, old, new)


@fault("integers saturate")
class IntegersSaturate(Toy):
    open = True

    def step(self, reduction, dtype, old, new):
        if dtype.kind not in "iu" or reduction in ("max", "min"):
            return super().step(reduction, dtype, old, new)
        old, new, info = int(old), int(new), np.iinfo(dtype)
        total = {"add": old + new, "mul": old * new, "sub": old - new}[reduction]
        return dtype.type(min(max(total, info.min), info.max))


@fault("unsigned integers are compared as signed")
class UnsignedComparedAsSigned(Toy):
    def extreme(self, reduction, dtype, old, new):
        if dtype.kind != "u":
            return super().extreme(reduction, dtype, old, new)
        signed = np.dtype(f"i{dtype.itemsize}")
        return super().extreme(reduction, signed, old.view(signed), new.view(signed)).view(dtype)


@fault("integers are reduced as float64")
class IntegersAsFloat64(Toy):
    def step(self, reduction, dtype, old, new):
        if dtype.kind in "iu" and reduction in ("add", "mul"):
            found = float(old) + float(new) if reduction == "add" else float(old) * float(new)
            return dtype.type(int(found)) if np.iinfo(dtype).min <= found < np.iinfo(dtype).max else super().step(reduction, dtype, old, new)
        return super().step(reduction, dtype, old, new)


@fault("bool items are added modulo 2")
class BoolAddedModulo2(Toy):
    def step(self, reduction, dtype, old, new):
        return old != new if dtype.kind == "b" and reduction == "add" else super().step(reduction, dtype, old, new)


@fault("bool items come out as integers")
class BoolAsInteger(Toy):
    def run(self, case):
        return [output.astype(np.uint8) if output.dtype.kind == "b" else output for output in super().run(case)]


@fault("complex numbers are multiplied by parts")
class ComplexByParts(Toy):
    def step(self, reduction, dtype, old, new):
        if dtype.kind == "c" and reduction == "mul":
            return dtype.type(complex(old.real * new.real, old.imag * new.imag))
        return super().step(reduction, dtype, old, new)


@fault("what is there takes part although use_init_val is false")
class InitialAlwaysTaken(Toy):
    def reduced(self, reduction, dtype, old, items, initial):
        return super().reduced(reduction, dtype, old, items, True)


@fault("places that nothing is put to become 0 where use_init_val is false")
class UntouchedZeroed(Toy):
    def after_put(self, output, put, reduction, initial):
        if not initial:
            output[[n for n in range(output.size) if n not in put]] = 0
        return output


@fault("without what is there a sum begins with 0 and a product, too")
class ReductionBeginsWithZero(Toy):
    def reduced(self, reduction, dtype, old, items, initial):
        if not initial and reduction in ("mul", "max", "min"):
            return super().reduced(reduction, dtype, dtype.type(0), items, True)
        return super().reduced(reduction, dtype, old, items, initial)


@fault("a mean is divided by the number of updates alone")
class MeanWithoutInitial(Toy):
    def mean(self, dtype, items):
        found = super().mean(dtype, items)
        return dtype.type(float(found) * len(items) / max(1, len(items) - 1)) if abs(float(found)) < 1e4 else found


@fault("a mean of integers is rounded to nearest")
class MeanRounded(Toy):
    def quotient(self, total, count):
        return (2 * total + count) // (2 * count)


@fault("updates are broadcast")
class UpdatesBroadcast(Toy):
    def updates_shape(self, updates, shape):
        try:
            return np.broadcast_to(updates, shape)
        except ValueError:
            raise Refused from None


@fault("only the number of updates is checked, not their shape")
class UpdatesByVolume(Toy):
    def updates_shape(self, updates, shape):
        need(updates.size == math.prod(shape))
        return updates.reshape(shape)


@fault("more updates than places are let through")
class UpdatesTooMany(Toy):
    def updates_shape(self, updates, shape):
        need(updates.size >= math.prod(shape))
        return updates.ravel()[:math.prod(shape)].reshape(shape)


@fault("inputs of two types are let through")
class TypesMixed(Toy):
    def same_dtype(self, first, second):
        pass


@fault("a tensor without items is refused")
class EmptyRefused(Toy):
    def run(self, case):
        need(all(one is None or isinstance(one, list) or one.size for one in case["inputs"][:1]))
        return super().run(case)


@fault("empty indices are refused")
class EmptyIndicesRefused(Toy):
    def indices(self, tensor):
        need(tensor.size)
        return super().indices(tensor)


@fault("a result without items has the shape [0]")
class EmptyLosesShape(Toy):
    def run(self, case):
        return [output if output.size else output.reshape([0]) for output in super().run(case)]


@fault("items are taken in Fortran order")
class FortranOrder(Toy):
    def strides(self, shape):
        steps, step = [], 1
        for dim in shape:
            steps.append(step)
            step *= dim
        return steps


@fault("more than four axes are refused")
class RankOf4AtMost(Toy):
    def run(self, case):
        need(all(one is None or isinstance(one, list) or one.ndim <= 4 for one in case["inputs"]))
        return super().run(case)


@fault("offsets are cut to 8 bits")
class OffsetsCutTo8Bits(Toy):
    def move(self, data, offsets, shape):
        return super().move(data, np.asarray(offsets) % 256 if data.size else offsets, shape)


@fault("items are moved through float32")
class MovedThroughFloat32(Toy):
    def move(self, data, offsets, shape):
        moved = super().move(data, offsets, shape)
        if moved.dtype.kind in "iuf":
            with np.errstate(all="ignore"):
                return moved.astype(np.float32).astype(moved.dtype)
        return moved


@fault("-0 becomes 0 on its way")
class NegativeZeroLost(Toy):
    def move(self, data, offsets, shape):
        moved = super().move(data, offsets, shape)
        return moved + moved.dtype.type(0) if moved.dtype.kind == "f" else moved


@fault("8-bit integers lose their sign")
class Int8Unsigned(Toy):
    def move(self, data, offsets, shape):
        moved = super().move(data, offsets, shape)
        return moved & np.int8(127) if moved.dtype == np.int8 else moved


@fault("strings are cut to their first character")
class StringsCut(Toy):
    def move(self, data, offsets, shape):
        moved = super().move(data, offsets, shape)
        return moved.astype("U1").astype(moved.dtype) if moved.dtype.kind == "U" else moved


@fault("strings are cut to the width of those in data")
class StringsOfOneWidth(Toy):
    def wide_enough(self, data, updates):
        return data


@fault("bounds of uint64 beyond int64 become negative")
class BoundsWrap(Toy):
    def numbers(self, tensor):
        return super().numbers(tensor.astype(np.int64) if tensor.dtype == np.uint64 else tensor)


@fault("an axis may have any number of dims of 1")
class AxisOfAnyRank(Toy):
    def has_one_axis(self, tensor):
        pass


@fault("indices without axes keep the axis")
class ScalarIndexKeepsAxis(Toy):
    def gathered_shape(self, shape, axis, indices, batch):
        return super().gathered_shape(shape, axis, indices or [1], batch)


@fault("the axes of indices come first in the output")
class IndicesFirst(Toy):
    def gathered_shape(self, shape, axis, indices, batch):
        return shape[:batch] + indices[batch:] + shape[batch:axis] + shape[axis + 1:]


@fault("batch_dims is ignored")
class BatchIgnored(Toy):
    def batch(self, batch_dims, data_rank, indices_rank):
        super().batch(batch_dims, data_rank, indices_rank)
        return 0


@fault("a negative batch_dims counts from the rank of data")
class BatchFromDataRank(Toy):
    def batch(self, batch_dims, data_rank, indices_rank):
        super().batch(batch_dims, data_rank, indices_rank)
        return min(batch_dims + data_rank, indices_rank) if batch_dims < 0 else batch_dims


@fault("batches of two sizes are let through")
class BatchesDiffer(Toy):
    def same_batches(self, data, indices):
        return all(here <= there for here, there in zip(data, indices)) or data == indices


@fault("inputs are appended whatever the axis")
class ConcatAppends(Toy):
    def joined(self, tensors, axis, shape):
        return super().joined([one.ravel() for one in tensors], 0, [math.prod(shape)]).reshape(shape)


@fault("dims other than the axis are not compared")
class ConcatUnchecked(Toy):
    def fit(self, tensors, axis):
        return True

    def joined(self, tensors, axis, shape):
        flat = super().joined([one.ravel() for one in tensors], 0, [-1])
        return flat[:math.prod(shape)].reshape(shape) if flat.size >= math.prod(shape) else np.resize(flat, shape)


@fault("an input without items is skipped before it is compared")
class ConcatSkipsEmpty(Toy):
    def fit(self, tensors, axis):
        return super().fit([one for one in tensors if one.size] or tensors, axis)

    def concat(self, tensors, axis, stack):
        return super().concat([one for one in tensors if one.size] or tensors, axis, stack)


@fault("a negative new axis counts from the rank of the inputs")
class StackAxisOfInput(Toy):
    def stack_axis(self, axis, rank):
        super().stack_axis(axis, rank)
        return max(0, axis + rank) if axis < 0 else axis


@fault("the inverse of the permutation is taken")
class PermutationInverted(Toy):
    def source_axes(self, perm):
        return [perm.index(n) for n in range(len(perm))]


@fault("without a permutation the last two axes change places")
class TransposeLastTwo(Toy):
    def default_perm(self, rank):
        return [*range(rank - 2), *range(rank)[-2:][::-1]]


@fault("an axis may stand twice in a permutation")
class PermutationRepeats(Toy):
    def is_permutation(self, perm, rank):
        return len(perm) == rank


@fault("allowzero is ignored")
class AllowzeroIgnored(Toy):
    def zero_is_zero(self, kept):
        return False


@fault("a 0 is always a dim")
class ZeroNeverCopied(Toy):
    def zero_is_zero(self, kept):
        return True


@fault("the zeros of a shape copy the first dims in turn")
class ZerosCopyInTurn(Toy):
    def copied_dims(self, shape, dims):
        super().copied_dims(shape, dims)
        first = iter(shape)
        return [next(first) if dim == 0 else dim for dim in dims]


@fault("the inferred dim is rounded down")
class InferredRoundedDown(Toy):
    def inferred(self, size, rest):
        return size // rest

    def reshape(self, data, dims, zero_is_zero):
        if -1 in dims and list(dims).count(-1) == 1 and min(dims) == -1 and 0 not in dims:
            dims = [self.inferred(data.size, math.prod(one for one in dims if one != -1)) if one == -1 else one for one in dims]
            return self.move(data, np.arange(math.prod(dims)), dims)
        return super().reshape(data, dims, zero_is_zero)


@fault("a product of dims wraps at 64 bits")
class ProductWraps(Toy):
    def product(self, dims):
        return math.prod(dims) % (1 << 64)

    def whole(self, data, shape):
        return super().whole(data, shape if math.prod(shape) == data.size else [data.size])


@fault("more than one dim is inferred, as 1")
class SecondInferredIs1(Toy):
    def reshape(self, data, dims, zero_is_zero):
        dims = list(dims)
        for n in range(dims.index(-1) + 1 if -1 in dims else len(dims), len(dims)):
            dims[n] = 1 if dims[n] == -1 else dims[n]
        return super().reshape(data, dims, zero_is_zero)


@fault("every dim of 1 is removed, whatever axes say")
class SqueezesAll(Toy):
    def squeezed_axes(self, axes, shape):
        super().squeezed_axes(axes, shape)
        return [n for n, dim in enumerate(shape) if dim == 1]


@fault("an axis that is not of one place is left where it is to be an error")
class SqueezeLenient(Toy):
    def squeezed_axes(self, axes, shape):
        return [axis for axis in [self.axis(axis, len(shape)) for axis in axes] if shape[axis] == 1]


@fault("negative axes of Unsqueeze count from the rank of the input")
class UnsqueezeFromInput(Toy):
    def unsqueeze(self, data, axes):
        return super().unsqueeze(data, [axis + data.ndim if -data.ndim <= axis < 0 else axis for axis in axes])


@fault("axes of Unsqueeze are put in one after the other, as they come")
class UnsqueezeInTurn(Toy):
    def with_ones(self, shape, axes):
        for axis in axes:
            shape.insert(axis, 1)
        return shape


@fault("a negative axis of Flatten is one too far")
class FlattenOffByOne(Toy):
    def flat_axis(self, axis, rank):
        return axis + rank + 1 if axis < 0 else axis


@fault("a tensor without axes is flattened to nothing")
class FlattenScalar(Toy):
    def flatten(self, data, axis):
        need(data.ndim)
        return super().flatten(data, axis)


@fault("pad: the numbers of each axis are read as pairs")
class PadsInPairs(Toy):
    def ends(self, pads, n, half):
        return pads[2 * n], pads[2 * n + 1]


@fault("pad: reflect repeats the first and the last place")
class ReflectRepeatsEdge(Toy):
    def cycle(self, base, mode):
        return super().cycle(base, "symmetric" if mode == "reflect" else mode)


@fault("pad: symmetric leaves the first and the last place out")
class SymmetricSkipsEdge(Toy):
    def cycle(self, base, mode):
        return super().cycle(base, "reflect" if mode == "symmetric" else mode)


@fault("pad: wrap begins with the first place")
class WrapBeginsWithFirst(Toy):
    def extended(self, base, before, after, mode):
        made = super().extended(base, before, after, mode)
        return [base[n % len(base)] for n in range(before)] + made[before:] if mode == "wrap" else made


@fault("pad: negative numbers take nothing away")
class PadsNeverCrop(Toy):
    def padded(self, dim, first, last, mode, crops_first):
        return super().padded(dim, max(first, 0), max(last, 0), mode, crops_first)


@fault("pad: places are taken away after others are added")
class CropsLast(Toy):
    open = True

    def padded(self, dim, first, last, mode, crops_first):
        # what is taken away beyond the axis stays an error
        need(not crops_first or -min(first, 0) - min(last, 0) <= dim)
        return super().padded(dim, first, last, mode, False)


@fault("pad: axes are sorted, and the numbers are not")
class PadAxesSorted(Toy):
    def pad_axes(self, axes, rank):
        return sorted(super().pad_axes(axes, rank))


@fault("pad: OpenVINO's modes that mirror have no limit")
class MirrorsBeyondLimit(Toy):
    def most_padded(self, mode, dim):
        return math.inf


@fault("tile: each place is repeated by itself")
class TileRepeatsItems(Toy):
    def repeated(self, dim, count):
        return [place for place in range(dim) for _ in range(count)]


@fault("tile, broadcast: ones are put behind what is shorter")
class AlignedToTheLeft(Toy):
    def aligned(self, numbers, rank):
        return numbers + [1] * (rank - len(numbers))


@fault("roll: items move the other way")
class RollBackwards(Toy):
    def rolled(self, n, shift, dim):
        return (n + shift) % dim


@fault("roll: shifts are cut to 32 bits")
class ShiftCutTo32Bits(Toy):
    def rolled(self, n, shift, dim):
        return super().rolled(n, (shift + (1 << 31)) % (1 << 32) - (1 << 31), dim)


@fault("roll: the last shift of an axis that is named twice counts")
class LastShiftCounts(Toy):
    def summed(self, total, shift):
        return shift


@fault("broadcast: axes correspond from the first on")
class BroadcastsFromTheLeft(Toy):
    def corresponding(self, shape, rank):
        return list(range(len(shape)))


@fault("split: the last output is the longest where the dim is no multiple")
class SplitLastLonger(Toy):
    def shared(self, dim, count, uneven):
        need(uneven or dim % count == 0)
        return [dim // count] * (count - 1) + [dim - dim // count * (count - 1)]


@fault("split: older versions split a dim that is no multiple, too")
class SplitAlwaysUneven(Toy):
    def shared(self, dim, count, uneven):
        return super().shared(dim, count, True)


@fault("split: lengths may leave places over")
class LengthsLeaveRest(Toy):
    def add_up(self, lengths, dim):
        return sum(lengths) <= dim


@fault("strided slice: a new axis takes one of the data's")
class NewAxisTakesOne(Toy):
    def kind_of_entry(self, masks, n):
        kind = super().kind_of_entry(masks, n)
        return "shrink" if kind == "new" else kind


@fault("strided slice: an ellipsis is one axis")
class EllipsisIsOneAxis(Toy):
    def kind_of_entry(self, masks, n):
        kind = super().kind_of_entry(masks, n)
        return "slice" if kind == "ellipsis" else kind


@fault("reverse sequence: the first item stays where it is")
class FirstItemStays(Toy):
    def backward(self, length):
        return [0, *range(length - 1, 0, -1)] if length else slice(0, 0)


@fault("depth to space, space to depth: the mode is ignored")
class BlockModeIgnored(Toy):
    def blocks_are_first(self, mode):
        return True


@fault("shuffle channels: groups and places in groups change roles")
class ShuffledBack(Toy):
    def shuffled(self, dim, groups):
        return super().shuffled(dim, dim // groups) if dim else []


@fault("center crop: half of an odd number is rounded up")
class CenterRoundedUp(Toy):
    def centered(self, dim, want):
        made = super().centered(dim, want)
        if want < dim and (dim - want) % 2:
            return [place + 1 for place in made]
        return [None, *made[:-1]] if (want - dim) % 2 and want > dim else made


# ----------------------------------------------------------------------------------------------------- vectors and verdicts

def array_of(tensor):
    """The array for a tensor of a case."""
    if tensor is None:
        return None
    if "sequence" in tensor:
        return [array_of(one) for one in tensor["sequence"]]
    dtype, shape = DTYPES.get(tensor["dtype"]) or np.dtype(tensor["dtype"]), tensor["shape"]
    if "hex" in tensor:
        return np.frombuffer(bytes.fromhex(tensor["hex"]), dtype).reshape(shape)
    items = tensor["data"]
    if dtype.kind == "c":
        items = [complex(float(real), float(imaginary)) for real, imaginary in items]
    elif dtype.kind == "f" or dtype.name == "bfloat16":
        items = [float(item) for item in items]
    return np.array(items, dtype).reshape(shape)


def vectors():
    """All cases with their inputs as arrays, by the id that `check` gives them."""
    cases = {}
    for path in sorted(FOLDER.glob("*.json")):
        for case in json.loads(path.read_text()):
            case["inputs"] = [array_of(one) for one in case["inputs"]]
            cases[f"{path.stem}#{case['id']}"] = case
    return cases


def outcome(runtime, case):
    """The outputs of a runtime, None where it refuses the case."""
    try:
        with np.errstate(all="ignore"):
            return [np.asarray(output) for output in runtime.run(case)]
    except (Refused, KeyError, IndexError, ValueError, OverflowError, TypeError, ZeroDivisionError):
        return None          # a runtime that stumbles ends the case without an output


def npy(output):
    """The bytes of an output as a file."""
    output = np.array(output, order="C")
    if output.dtype.name in NARROW:
        output = output.view(f"V{output.dtype.itemsize}")
    file = io.BytesIO()
    np.save(file, output, allow_pickle=False)
    return file.getvalue()


class Outputs:
    """A folder with the outputs of a runtime. From one runtime to the next only the files that differ are written."""

    def __init__(self):
        memory = pathlib.Path("/dev/shm")
        self.temporary = tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None)
        self.folder, self.present = pathlib.Path(self.temporary.name), {}

    def become(self, runtime, cases):
        for id, case in cases.items():
            outputs, before = outcome(runtime, case), self.present.get(id, {})
            if outputs is None:
                files = {"refused": b""}
            else:
                files = {"output.npy" if len(outputs) == 1 else f"output_{n}.npy": npy(output) for n, output in enumerate(outputs)}
            if files == before:
                continue
            self.present[id] = files
            folder = self.folder / id
            folder.mkdir(parents=True, exist_ok=True)
            for name in before:
                (folder / name).unlink()
            for name, bytes in files.items():
                (folder / name).write_bytes(bytes)


def judged(program, outputs, cases):
    """How many cases of each class a runtime's outputs fail, as `tensorop check --actual` says, and which."""
    command = [program, "check", *sorted(FOLDER.glob("*.json")), "--actual", outputs.folder, "--json"]
    done = subprocess.run(command, capture_output=True)
    if done.returncode not in (0, 1):
        sys.exit(f"error: {done.stderr.decode()}")
    tests = json.loads(done.stdout)["tests"]
    assert {test["id"] for test in tests} == set(cases), "check has other ids"
    failed = [test for test in tests if test["verdict"] != "passed"]
    return collections.Counter(test["class"] for test in failed), [test["id"] for test in failed]


# ------------------------------------------------------------------------------------------------- the control: ONNX's tests

OF_ONNX = ("Slice ScatterND GatherND Gather GatherElements ScatterElements Scatter Concat ConcatFromSequence Transpose Reshape "
           "Squeeze Unsqueeze Flatten Pad Tile Expand Split Identity ReverseSequence DepthToSpace SpaceToDepth CenterCropPad "
           "Compress").split()


def node_tests():
    """ONNX's node tests of these operators on tensors: the case as the vectors have it, and the outputs that they expect."""
    import warnings

    import onnx
    from onnx.backend.test.case import node
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        collected = node.collect_testcases()
    for test in collected:
        nodes = test.model.graph.node
        if len(nodes) != 1 or nodes[0].op_type not in OF_ONNX or nodes[0].domain:
            continue
        if any(not value.type.HasField("tensor_type") for value in test.model.graph.output):
            continue
        opset = max(one.version for one in test.model.opset_import if one.domain in ("", "ai.onnx"))
        version = onnx.defs.get_schema(nodes[0].op_type, opset, "").since_version
        given = {one.name: onnx.helper.get_attribute_value(one) for one in nodes[0].attribute}
        given = {name: value.decode() if isinstance(value, bytes) else value for name, value in given.items()}
        for inputs, outputs in test.data_sets or []:
            named = dict(zip([one.name for one in test.model.graph.input], inputs))
            arrays = [as_array_of(named[name]) if name else None for name in nodes[0].input]
            yield test.name, {"specification": "onnx", "operator": nodes[0].op_type, "version": version, "attributes": given,
                              "inputs": arrays, "output_count": len(outputs)}, [as_array_of(output) for output in outputs]


def as_array_of(value):
    import onnx
    if isinstance(value, onnx.TensorProto):
        value = onnx.numpy_helper.to_array(value)
    array = np.asarray(value)
    return array.astype("U") if array.dtype == object else array


def failed_node_tests(runtime, tests):
    """Which of ONNX's tests a runtime fails, where every bit but those of a NaN counts."""
    failed = []
    for name, case, expected in tests:
        outputs = outcome(runtime, case) or []
        if len(outputs) != len(expected) or not all(map(is_same, outputs, expected)):
            failed.append(name)
    return failed


def is_same(output, expected):
    if output.dtype != expected.dtype or output.shape != expected.shape:
        return False
    if expected.dtype.kind == "f":
        return np.array_equal(output, expected, equal_nan=True) and np.array_equal(np.signbit(output), np.signbit(expected))
    return np.array_equal(output, expected)


# -------------------------------------------------------------------------------------------------------------- the report

def prepare(program, onnx):
    global PROGRAM, CASES, TESTS, OUTPUTS
    PROGRAM, CASES, OUTPUTS = program, vectors(), Outputs()
    TESTS = list(node_tests()) if onnx else []


def try_fault(name):
    runtime = FAULTS[name]() if name else Toy()
    OUTPUTS.become(runtime, CASES)
    counts, failed = judged(PROGRAM, OUTPUTS, CASES)
    return name, counts, failed, failed_node_tests(runtime, TESTS)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program", help="the program tensorop, which judges")
    parser.add_argument("--only", action="append", choices=sorted(FAULTS), metavar="NAME", help="try this fault only")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--onnx", action="store_true", help="hold the faults against ONNX's node tests, too")
    parser.add_argument("--table", action="store_true", help="print a table for docs/conformance.md")
    args = parser.parse_args()
    names = [None, *(args.only or FAULTS)]
    wrong = []
    with multiprocessing.Pool(args.jobs, prepare, [args.program, args.onnx]) as pool:
        found = dict((name, rest) for name, *rest in pool.imap(try_fault, names))
    counts, failed, of_onnx = found.pop(None)
    if failed or of_onnx:
        wrong.append(f"the runtime without a fault fails {', '.join([*failed, *of_onnx][:20])}")
    for name, (counts, failed, of_onnx) in found.items():
        caught = counts["must"] + counts["reject"]
        if FAULTS[name].open and (caught or not counts["choice"]):
            wrong.append(f"{name}: open, and fails {[id for id in failed][:5]}")
        if not FAULTS[name].open and not caught:
            wrong.append(f"{name}: not caught by a must or a reject")
    if args.table:
        print("| fault | must | reject | choice |" + (" ONNX's tests |" if args.onnx else ""))
        print("| --- | --- | --- | --- |" + (" --- |" if args.onnx else ""))
    for name, (counts, _, of_onnx) in found.items():
        if args.table:
            row = [FAULTS[name].what, *(counts[kind] or "–" for kind in ("must", "reject", "choice"))]
            print("| " + " | ".join(map(str, row)) + " |" + (f" {len(of_onnx) or '–'} |" if args.onnx else ""))
        else:
            print(f"{name:32} {counts['must']:5} must {counts['reject']:4} reject {counts['choice']:4} choice"
                  + (f" {len(of_onnx):4} of ONNX's" if args.onnx else ""))
    closed = [name for name in found if not FAULTS[name].open]
    print(f"\n{len(closed)} faults, {len(found) - len(closed)} more that the specifications leave open"
          + (f"; of {len(found)} ONNX's tests catch {sum(bool(rest[2]) for rest in found.values())}" if args.onnx else ""))
    if wrong:
        sys.exit("\n".join(f"error: {one}" for one in wrong))


if __name__ == "__main__":
    main()
