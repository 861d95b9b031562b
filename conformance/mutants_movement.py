"""The part of the runtime of `mutants.py` that has the operators that only move items: for each axis of the output a list of the
places that it takes of an axis of the data, or reshapes and transposes as the specifications write them.
"""
import math

import numpy as np


class Refused(Exception):
    """What the runtime does not accept."""


def need(condition):
    if not condition:
        raise Refused


class Movement:
    """Operators on flat arrays, which `mutants.Toy` inherits."""

    def arranged(self, data, spans, strides, fill=None):
        """The items at all combinations of one place of each axis; a place that is None has `fill`."""
        offsets, inside = np.zeros(1, dtype=np.int64), np.ones(1, dtype=bool)
        for span, stride in zip(spans, strides):
            steps = np.array([(place or 0) * stride for place in span], dtype=np.int64)
            there = np.array([place is not None for place in span], dtype=bool)
            offsets, inside = (offsets[:, None] + steps).ravel(), (inside[:, None] & there).ravel()
        made = np.zeros(len(offsets), data.dtype)
        if fill is not None:
            made[...] = fill.ravel()[:1]
        made[inside] = data.ravel()[offsets[inside]]
        return made.reshape([len(span) for span in spans])

    def movement(self, case):
        """The outputs of a case, None if the operator is not one of these."""
        name = "on_" + "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in case["operator"]).lstrip("_")
        made = getattr(self, name, None)
        return made and made(case, case["specification"] == "onnx", case["attributes"], case["inputs"])

    # -- pad

    def on_pad(self, case, onnx, given, inputs):
        data, version = inputs[0], case["version"]
        mode = given.get("mode", "constant") if onnx else given["pad_mode"]
        need(mode in ["constant", "edge", "reflect", *(["wrap"] * (onnx and version >= 19)), *(["symmetric"] * (not onnx))])
        axes = None
        if onnx and version == 2:
            pads, constant = given["pads"], np.asarray(given.get("value", 0.0), np.float32).astype(data.dtype)
        elif onnx:
            pads, constant = self.numbers(inputs[1]), inputs[2] if len(inputs) > 2 else None
            axes = self.numbers(inputs[3]) if len(inputs) > 3 else None
        else:
            before, after = self.numbers(inputs[1]), self.numbers(inputs[2])
            need(len(before) == len(after))
            pads, constant = before + after, inputs[3] if len(inputs) > 3 else None
            need(version >= 12 or min(pads, default=0) >= 0)
            need(mode == "constant" or data.dtype.kind != "U")
            for dim, *of in zip(data.shape, before, after):
                need(max(of) <= self.most_padded(mode, dim))
        need(constant is None or (constant.dtype == data.dtype and constant.ndim == 0))
        need(len(pads) % 2 == 0)
        half = len(pads) // 2
        axes = list(range(data.ndim)) if axes is None else self.pad_axes(axes, data.ndim)
        need(half == len(axes))
        spans = [list(range(dim)) for dim in data.shape]
        for n, axis in enumerate(axes):
            first, last = self.ends(pads, n, half)
            spans[axis] = self.padded(data.shape[axis], first, last, mode, onnx)
        return [self.arranged(data, spans, self.strides(data.shape), constant)]

    def most_padded(self, mode, dim):
        return {"reflect": max(dim - 1, 0), "symmetric": dim}.get(mode, math.inf)

    def pad_axes(self, axes, rank):
        axes = [self.axis(axis, rank) for axis in axes]
        need(len(set(axes)) == len(axes))
        return axes

    def ends(self, pads, n, half):
        return pads[n], pads[half + n]

    def padded(self, dim, first, last, mode, crops_first):
        base = list(range(dim))
        if crops_first:
            need(-min(first, 0) - min(last, 0) <= dim)
            base = base[-min(first, 0):dim + min(last, 0)]
        before, after = max(first, 0), max(last, 0)
        need(base or mode == "constant" or before == after == 0)
        whole = self.extended(base, before, after, mode) if before or after else base
        return whole if crops_first else whole[-min(first, 0):max(len(whole) + min(last, 0), 0)]

    def extended(self, base, before, after, mode):
        if mode == "constant":
            return [None] * before + base + [None] * after
        if mode == "edge":
            return base[:1] * before + base + base[-1:] * after
        cycle = self.cycle(base, mode)
        return [cycle[n % len(cycle)] for n in range(-before, len(base) + after)]

    def cycle(self, base, mode):
        return base if mode == "wrap" else base + base[::-1] if mode == "symmetric" else base + base[-2:0:-1]

    # -- tile, roll, broadcast

    def on_tile(self, case, onnx, given, inputs):
        data, repeats = inputs[0], self.numbers(inputs[1])
        need(not onnx or len(repeats) == data.ndim)
        rank = max(len(repeats), data.ndim)
        shape, repeats = self.aligned(list(data.shape), rank), self.aligned(repeats, rank)
        need(min(repeats, default=1) >= 0 and math.prod(shape) * math.prod(repeats) < 1 << 63)
        return [self.arranged(data, [self.repeated(dim, count) for dim, count in zip(shape, repeats)], self.strides(shape))]

    def aligned(self, numbers, rank):
        return [1] * (rank - len(numbers)) + numbers

    def repeated(self, dim, count):
        return list(range(dim)) * count

    def list_or_number(self, tensor):
        return self.numbers(tensor.reshape(1) if tensor.ndim == 0 else tensor)

    def on_roll(self, case, onnx, given, inputs):
        need(inputs[1].ndim <= inputs[2].ndim)
        data, shifts, axes = inputs[0], self.list_or_number(inputs[1]), self.list_or_number(inputs[2])
        shifts = shifts * len(axes) if len(shifts) == 1 else shifts
        need(len(shifts) == len(axes))
        total = [0] * data.ndim
        for shift, axis in zip(shifts, axes):
            axis = self.axis(axis, data.ndim)
            total[axis] = self.summed(total[axis], shift)
        spans = [[self.rolled(n, shift, dim) for n in range(dim)] for dim, shift in zip(data.shape, total)]
        return [self.arranged(data, spans, self.strides(data.shape))]

    def summed(self, total, shift):
        return total + shift

    def rolled(self, n, shift, dim):
        return (n - shift) % dim

    def on_expand(self, case, onnx, given, inputs):
        return [self.spread(inputs[0], self.numbers(inputs[1]), None, True)]

    def on_broadcast(self, case, onnx, given, inputs):
        mode = given.get("mode", "numpy")
        need(mode in ["numpy", "explicit", "bidirectional"][:2 if case["version"] == 1 else 3])
        axes = self.numbers(inputs[2]) if mode == "explicit" else None
        return [self.spread(inputs[0], self.numbers(inputs[1]), axes, mode == "bidirectional")]

    def spread(self, data, shape, axes, both):
        need(min(shape, default=0) >= 0 and (both or len(shape) >= data.ndim))
        rank = max(len(shape), data.ndim)
        shape = self.aligned(shape, rank)
        need(math.prod(shape) < 1 << 63)
        if axes is None:
            axes = self.corresponding(data.shape, rank)
        axes = [self.axis(axis, rank) for axis in axes]
        need(len(axes) == data.ndim and all(a < b for a, b in zip(axes, axes[1:])))
        spans, strides = [[0] * dim for dim in shape], [0] * rank
        for axis, dim, stride in zip(axes, data.shape, self.strides(data.shape)):
            need(dim in (shape[axis], 1) or (both and shape[axis] == 1))
            if dim != 1:
                spans[axis], strides[axis] = list(range(dim)), stride
        return self.arranged(data, spans, strides)

    def corresponding(self, shape, rank):
        return list(range(rank - len(shape), rank))

    # -- split

    def on_split(self, case, onnx, given, inputs):
        data, version = inputs[0], case["version"]
        if not onnx:
            need(inputs[1].ndim == 0)
            axis, count = self.axis(self.number(inputs[1]), data.ndim), given["num_splits"]
            need(1 <= count <= data.shape[axis] and data.shape[axis] % count == 0)
            return self.parts(data, axis, [data.shape[axis] // count] * count)
        axis = self.axis(given.get("axis", 0), data.ndim)
        lengths = given.get("split") if version < 13 else self.numbers(inputs[1]) if len(inputs) > 1 else None
        need(version < 18 or (lengths is None) != ("num_outputs" not in given))
        if lengths is None:
            count = len(case["outputs"]) if "outputs" in case else case["output_count"]
            need(version < 18 or given["num_outputs"] == count)
            lengths = self.shared(data.shape[axis], count, version >= 18)
        need(min(lengths) >= 0)
        return self.parts(data, axis, lengths)

    def shared(self, dim, count, uneven):
        need(uneven or dim % count == 0)
        length = math.ceil(dim / count)
        return [min(length, max(dim - n * length, 0)) for n in range(count)]

    def on_variadic_split(self, case, onnx, given, inputs):
        data, lengths = inputs[0], self.numbers(inputs[2])
        axis = self.axis(self.number(inputs[1]), data.ndim)
        need(lengths.count(-1) <= 1)
        rest = data.shape[axis] - sum(length for length in lengths if length != -1)
        return self.parts(data, axis, [rest if length == -1 else length for length in lengths])

    def parts(self, data, axis, lengths):
        need(self.add_up(lengths, data.shape[axis]) and min(lengths) >= 0)
        outputs, start = [], 0
        for length in lengths:
            spans = [range(dim) for dim in data.shape]
            spans[axis] = range(start, start + length)
            outputs.append(self.arranged(data, spans, self.strides(data.shape)))
            start += length
        return outputs

    def add_up(self, lengths, dim):
        return sum(lengths) == dim

    # -- slices and reversals

    def on_identity(self, case, onnx, given, inputs):
        return [inputs[0]]

    def on_strided_slice(self, case, onnx, given, inputs):
        data, begin, end = inputs[0], self.numbers(inputs[1]), self.numbers(inputs[2])
        stride = self.numbers(inputs[3]) if len(inputs) > 3 else [1] * len(begin)
        need(len(begin) == len(end) == len(stride))
        masks = {name: given.get(f"{name}_mask", []) + [0] * len(begin) for name in ("begin", "end", "new_axis", "shrink_axis", "ellipsis")}
        kinds = [self.kind_of_entry(masks, n) for n in range(len(begin))]
        need(kinds.count("ellipsis") <= 1)
        left = data.ndim - sum(kind in ("slice", "shrink") for kind in kinds)
        need(left == 0 or (left > 0 and set(kinds) != {"slice"} and kinds))
        spans, shape, dims = [], [], iter(data.shape)
        for n, kind in enumerate(kinds):
            if kind == "new":
                shape.append(1)
            elif kind == "ellipsis":
                for dim in [next(dims) for _ in range(left)]:
                    spans.append(range(dim)), shape.append(dim)
            elif kind == "shrink":
                dim, place = next(dims), 0 if masks["begin"][n] else begin[n]
                need(begin[n] == end[n])
                need(-dim <= place < dim)
                spans.append([place % dim])
            else:
                dim = next(dims)
                start, stop = None if masks["begin"][n] else begin[n], None if masks["end"][n] else end[n]
                start = max(start, -dim) if start is not None and stride[n] < 0 else start
                need(stride[n] != 0)
                spans.append(range(*slice(start, stop, stride[n]).indices(dim))), shape.append(len(spans[-1]))
        for dim in dims:
            spans.append(range(dim)), shape.append(dim)
        return [self.arranged(data, spans, self.strides(data.shape)).reshape(shape)]

    def kind_of_entry(self, masks, n):
        return "ellipsis" if masks["ellipsis"][n] else "new" if masks["new_axis"][n] else "shrink" if masks["shrink_axis"][n] else "slice"

    def on_reverse(self, case, onnx, given, inputs):
        data, axes = inputs
        if given["mode"] == "mask":
            need(axes.dtype == bool and axes.shape == (data.ndim,))
            reversed_axes = [n for n in range(data.ndim) if axes[n]]
        else:
            need(given["mode"] == "index")
            reversed_axes = [self.axis(axis, data.ndim) for axis in self.numbers(axes)]
        spans = [range(dim)[::-1] if n in reversed_axes else range(dim) for n, dim in enumerate(data.shape)]
        return [self.arranged(data, spans, self.strides(data.shape))]

    def on_reverse_sequence(self, case, onnx, given, inputs):
        data, lengths = inputs[0], self.numbers(inputs[1])
        batch, time = given.get("batch_axis", int(onnx)), given.get("time_axis" if onnx else "seq_axis", int(not onnx))
        need(not onnx or {batch, time} <= {0, 1})
        need(data.ndim >= 2)
        batch, time = self.axis(batch, data.ndim), self.axis(time, data.ndim)
        need(batch != time and len(lengths) == data.shape[batch])
        need(all(int(not onnx) <= length <= data.shape[time] for length in lengths))
        made = data.copy()
        for n, length in enumerate(lengths):
            whole = [slice(None)] * data.ndim
            whole[batch] = n
            target, source = whole[:], whole[:]
            target[time], source[time] = slice(0, length), self.backward(length)
            made[tuple(target)] = data[tuple(source)]
        return [made]

    def backward(self, length):
        return slice(length - 1, None, -1) if length else slice(0, 0)

    # -- blocks: reshapes and transposes

    def apart(self, data, dims, axes, shape):
        return [data.reshape(dims).transpose(axes).reshape(shape)]

    def block_arguments(self, onnx, given, data):
        need(data.ndim == 4 if onnx else data.ndim >= 3)
        mode = given.get("mode", "DCR") if onnx else given.get("mode")
        need(mode in (("DCR", "CRD") if onnx else ("blocks_first", "depth_first")))
        size = given.get("blocksize", 0) if onnx else given.get("block_size", 1)
        need(size >= 1)
        return size, data.ndim - 2, self.blocks_are_first(mode)

    def blocks_are_first(self, mode):
        return mode in ("DCR", "blocks_first")

    def on_depth_to_space(self, case, onnx, given, inputs):
        data = inputs[0]
        size, count, first = self.block_arguments(onnx, given, data)
        batch, depth, *dims = data.shape
        need(depth % size ** count == 0)
        depth //= size ** count
        spread = [dim * size for dim in dims]
        if first:
            axes = [0, count + 1, *(axis for n in range(count) for axis in (count + 2 + n, 1 + n))]
            return self.apart(data, [batch, *[size] * count, depth, *dims], axes, [batch, depth, *spread])
        axes = [0, 1, *(axis for n in range(count) for axis in (count + 2 + n, 2 + n))]
        return self.apart(data, [batch, depth, *[size] * count, *dims], axes, [batch, depth, *spread])

    def on_space_to_depth(self, case, onnx, given, inputs):
        data = inputs[0]
        size, count, first = self.block_arguments(onnx, given, data)
        batch, depth, *dims = data.shape
        need(all(dim % size == 0 for dim in dims))
        blocks, places = [3 + 2 * n for n in range(count)], [2 + 2 * n for n in range(count)]
        axes = [0, *blocks, 1, *places] if first else [0, 1, *blocks, *places]
        return self.apart(data, [batch, depth, *(part for dim in dims for part in (dim // size, size))], axes,
                          [batch, depth * size ** count, *(dim // size for dim in dims)])

    def blocks_of_axes(self, inputs):
        data, blocks, begin, end = inputs[0], *map(self.numbers, inputs[1:4])
        need(data.ndim >= 2 and len(blocks) == len(begin) == len(end) == data.ndim)
        need(min(blocks) >= 1 and min(begin + end) >= 0 and (blocks[0], begin[0], end[0]) == (1, 0, 0))
        return data, blocks, begin, end

    def on_batch_to_space(self, case, onnx, given, inputs):
        data, blocks, begin, end = self.blocks_of_axes(inputs)
        every, count = math.prod(blocks), data.ndim - 1
        need(data.shape[0] % every == 0)
        shape = [data.shape[0] // every, *(dim * size for dim, size in zip(data.shape[1:], blocks[1:]))]
        need(all(first + last <= dim for first, last, dim in list(zip(begin, end, shape))[1:]))
        axes = [count, *(axis for n in range(count) for axis in (count + 1 + n, n))]
        whole, = self.apart(data, [*blocks[1:], shape[0], *data.shape[1:]], axes, shape)
        return [whole[tuple(slice(first, dim - last) for first, last, dim in zip(begin, end, shape))]]

    def on_space_to_batch(self, case, onnx, given, inputs):
        data, blocks, begin, end = self.blocks_of_axes(inputs)
        spans = [self.extended(list(range(dim)), first, last, "constant") for dim, first, last in zip(data.shape, begin, end)]
        data = self.arranged(data, spans, self.strides(data.shape))
        need(all(dim % size == 0 for dim, size in zip(data.shape, blocks)))
        count = data.ndim - 1
        dims = [data.shape[0], *(part for dim, size in zip(data.shape[1:], blocks[1:]) for part in (dim // size, size))]
        axes = [*(2 + 2 * n for n in range(count)), 0, *(1 + 2 * n for n in range(count))]
        return self.apart(data, dims, axes, [data.shape[0] * math.prod(blocks), *dims[1::2]])

    def on_shuffle_channels(self, case, onnx, given, inputs):
        data, groups = inputs[0], given.get("group", 1)
        axis = self.axis(given.get("axis", 1), data.ndim)
        need(groups >= 1 and data.shape[axis] % groups == 0)
        spans = [range(dim) for dim in data.shape]
        spans[axis] = self.shuffled(data.shape[axis], groups)
        return [self.arranged(data, spans, self.strides(data.shape))]

    def shuffled(self, dim, groups):
        return [channel for n in range(dim // groups) for channel in range(n, dim, dim // groups)]

    # -- crops and choices

    def on_center_crop_pad(self, case, onnx, given, inputs):
        data, shape = inputs[0], self.numbers(inputs[1])
        axes = self.pad_axes(given.get("axes", list(range(data.ndim))), data.ndim)
        need(len(shape) == len(axes) and min(shape, default=0) >= 0)
        spans = [list(range(dim)) for dim in data.shape]
        for axis, want in zip(axes, shape):
            spans[axis] = self.centered(data.shape[axis], want)
        return [self.arranged(data, spans, self.strides(data.shape))]

    def centered(self, dim, want):
        if want <= dim:
            return list(range((dim - want) // 2, (dim - want) // 2 + want))
        before = (want - dim) // 2
        return [None] * before + list(range(dim)) + [None] * (want - dim - before)

    def on_compress(self, case, onnx, given, inputs):
        data, condition = inputs
        need(data.ndim >= 1 and condition.dtype == bool and condition.ndim == 1)
        data = data if "axis" in given else data.reshape(-1)
        axis = self.axis(given.get("axis", 0), data.ndim)
        chosen = [n for n in range(len(condition)) if condition[n]]
        need(self.within_axis(chosen, data.shape[axis]))
        spans = [range(dim) for dim in data.shape]
        spans[axis] = chosen
        return [self.arranged(data, spans, self.strides(data.shape))]

    def within_axis(self, chosen, dim):
        return max(chosen, default=-1) < dim
