"""The operators that only move items, as their specifications describe them: plain loops over places, one item at a time.

This goes on where `model.py` ends, and follows its rules.
"""
from .items import Refused
from .model import normal_axis, refuse_if, same_dtype, sliced_axis
from .tensors import Tensor, filled, volume


def zero(dtype):
    """The item that fills where no constant is given: 0, False or an empty string."""
    return (0, 0) if dtype.kind == "complex" else "" if dtype.kind == "string" else 0


# ---------------------------------------------------------------------------------------------------------------- pads

def padded_index(index, dim, mode):
    """The place of the data that is at an index before, on or behind an axis; None for the constant."""
    if 0 <= index < dim:
        return index
    if mode == "constant":
        return None
    if mode == "edge":
        return 0 if index < 0 else dim - 1
    if mode == "wrap":
        return index % dim
    if mode == "symmetric":
        index %= 2 * dim
        return index if index < dim else 2 * dim - 1 - index
    refuse_if(mode != "reflect", f"mode {mode}")
    period = max(1, 2 * (dim - 1))
    index %= period
    return index if index < dim else period - index


def pad(data, before, after, mode="constant", constant=None, axes=None, crop_first=True):
    """`crop_first`: negative numbers take places away before others add to what is left; else they do so at the end."""
    axes = list(range(data.rank)) if axes is None else [normal_axis(axis, data.rank) for axis in axes]
    refuse_if(len(set(axes)) < len(axes), "an axis is named twice")
    refuse_if(len(before) != len(axes) or len(after) != len(axes), f"{len(before)} and {len(after)} numbers for {len(axes)} axes")
    refuse_if(mode not in ("constant", "edge", "reflect", "symmetric", "wrap"), f"mode {mode}")
    if constant is not None:
        same_dtype(data, constant)
        refuse_if(constant.rank != 0, f"a constant of shape {constant.shape}")
    fill = zero(data.dtype) if constant is None else constant.items[0]
    indices = [list(range(dim)) for dim in data.shape]
    for axis, first, last in zip(axes, before, after):
        dim = data.shape[axis]
        if crop_first:
            cut, left = -min(first, 0), dim + min(first, 0) + min(last, 0)
            refuse_if(left < 0, f"{cut - min(last, 0)} places are taken from {dim}")
            first, last = max(first, 0), max(last, 0)
        else:
            cut, left = 0, dim
        refuse_if(mode != "constant" and left == 0 and (first > 0 or last > 0), "an axis without places has none to repeat")
        found = [padded_index(index, left, mode) for index in range(-first, max(left + last, -first))]
        indices[axis] = [None if index is None else index + cut for index in found]

    def taken(place):
        source = [found[index] for found, index in zip(indices, place)]
        return fill if None in source else data[source]

    return filled(data.dtype, [len(found) for found in indices], taken)


def pad_openvino(data, before, after, mode, constant, negative):
    """The limits that OpenVINO has; `negative`: whether places may be taken away."""
    refuse_if(len(before) != data.rank or len(after) != data.rank, f"{len(before)} and {len(after)} numbers for {data.rank} axes")
    for first, last, dim in zip(before, after, data.shape):
        refuse_if(not negative and (first < 0 or last < 0), "a negative number of places")
        most = {"reflect": dim - 1, "symmetric": dim}.get(mode)
        refuse_if(most is not None and max(first, last) > max(most, 0), f"{max(first, last)} places for mode {mode} of {dim}")
    refuse_if(mode == "wrap", f"mode {mode}")
    refuse_if(data.dtype.kind == "string" and mode != "constant", f"mode {mode} of strings")
    return pad(data, before, after, mode, constant, crop_first=False)


# ---------------------------------------------------------------------------------------------------- tile, roll, broadcast

def countable(shape):
    """A shape whose places can be counted by 64 bits."""
    refuse_if(volume(shape) >= 1 << 63, f"shape {shape}")
    return shape


def tile(data, repeats, aligned=False):
    """`aligned`: ones are put in front of what is shorter, the shape or the repeats."""
    shape = list(data.shape)
    if aligned:
        repeats = [1] * (data.rank - len(repeats)) + repeats
        shape = [1] * (len(repeats) - data.rank) + shape
    refuse_if(len(repeats) != len(shape), f"{len(repeats)} repeats for {len(shape)} axes")
    refuse_if(any(count < 0 for count in repeats), f"repeats {repeats}")
    data = Tensor(data.dtype, shape, data.items)
    return filled(data.dtype, countable([dim * count for dim, count in zip(shape, repeats)]),
                  lambda place: data[[index % dim for index, dim in zip(place, shape)]])


def roll(data, shifts, axes):
    refuse_if(len(shifts) != len(axes), f"{len(shifts)} shifts for {len(axes)} axes")
    total = [0] * data.rank
    for shift, axis in zip(shifts, axes):
        total[normal_axis(axis, data.rank)] += shift
    return filled(data.dtype, data.shape,
                  lambda place: data[[(index - shift) % dim for index, shift, dim in zip(place, total, data.shape)]])


def broadcast(data, shape, both_ways):
    """`both_ways`: a dim of the shape may be 1 where that of the data is not, and the shape may have fewer axes."""
    refuse_if(any(dim < 0 for dim in shape), f"shape {shape}")
    refuse_if(not both_ways and len(shape) < data.rank, f"{data.rank} axes to {len(shape)}")
    rank = max(len(shape), data.rank)
    dims, wanted = ([1] * (rank - len(one)) + list(one) for one in (data.shape, shape))
    output = []
    for dim, want in zip(dims, wanted):
        refuse_if(dim not in (want, 1) and not (both_ways and want == 1), f"dim {dim} does not become {want}")
        output.append(want if dim == 1 else dim)
    return filled(data.dtype, countable(output), lambda place: data[[min(index, dim - 1) for index, dim in
                                                          zip(place[rank - data.rank:], data.shape)]])


def broadcast_explicit(data, shape, axes):
    refuse_if(len(axes) != data.rank, f"{len(axes)} axes for {data.rank}")
    refuse_if(any(dim < 0 for dim in shape), f"shape {shape}")
    refuse_if(any(not 0 <= axis < len(shape) for axis in axes), f"axes {axes} of {len(shape)}")
    refuse_if(any(a >= b for a, b in zip(axes, axes[1:])), f"axes {axes} do not ascend")
    for axis, dim in zip(axes, data.shape):
        refuse_if(dim not in (shape[axis], 1), f"dim {dim} does not become {shape[axis]}")
    return filled(data.dtype, shape, lambda place: data[[min(place[axis], dim - 1) for axis, dim in zip(axes, data.shape)]])


# --------------------------------------------------------------------------------------------------------------- split

def equal_lengths(dim, count, last_is_shorter):
    """The lengths of equal parts of an axis; `last_is_shorter`: the last ones have what is left, which may be nothing."""
    refuse_if(count < 1, f"{count} parts")
    refuse_if(not last_is_shorter and dim % count != 0, f"{dim} places do not divide into {count} parts")
    length = -(-dim // count)
    return [min(length, max(dim - n * length, 0)) for n in range(count)]


def rest_inferred(dim, lengths):
    """Lengths with the rest in the place of -1."""
    refuse_if(lengths.count(-1) > 1, "more than one length is -1")
    refuse_if(any(length < -1 for length in lengths), f"lengths {lengths}")
    rest = dim - sum(length for length in lengths if length != -1)
    return [rest if length == -1 else length for length in lengths]


def split(data, lengths, axis):
    """`lengths`: those of the parts, or a function of the dim that has them."""
    axis = normal_axis(axis, data.rank)
    dim = data.shape[axis]
    lengths = lengths(dim) if callable(lengths) else lengths
    refuse_if(any(length < 0 for length in lengths), f"lengths {lengths}")
    refuse_if(sum(lengths) != dim, f"lengths {lengths} for {dim} places")
    outputs, start = [], 0
    for length in lengths:
        def taken(place, start=start):
            return data[(*place[:axis], place[axis] + start, *place[axis + 1:])]
        outputs.append(filled(data.dtype, data.shape[:axis] + [length] + data.shape[axis + 1:], taken))
        start += length
    return outputs


# ------------------------------------------------------------------------------------------------ slices and reversals

def strided_slice(data, begin, end, stride, masks):
    """`masks`: by their names, lists of 0 and 1, which go on with zeros."""
    stride = [1] * len(begin) if stride is None else stride
    refuse_if(not len(begin) == len(end) == len(stride), f"{len(begin)} begins, {len(end)} ends, {len(stride)} strides")
    refuse_if(0 in stride, "stride 0")

    def marked(name, n):
        return n < len(masks.get(name, [])) and masks[name][n] == 1

    new = sum(marked("new_axis_mask", n) and not marked("ellipsis_mask", n) for n in range(len(begin)))
    ellipses = sum(marked("ellipsis_mask", n) for n in range(len(begin)))
    refuse_if(ellipses > 1, "more than one ellipsis")
    skipped = data.rank - (len(begin) - new - ellipses)
    refuse_if(skipped < 0, f"{len(begin) - new - ellipses} entries for {data.rank} axes")
    changes = any(marked(name, n) for name in ("new_axis_mask", "shrink_axis_mask", "ellipsis_mask") for n in range(len(begin)))
    refuse_if(skipped > 0 and not changes, f"{len(begin)} entries for {data.rank} axes")
    spans, shape = [], []                # the places of each axis of the data; the dims of the output
    for n in range(len(begin)):
        if marked("ellipsis_mask", n):
            for _ in range(skipped):
                shape.append(data.shape[len(spans)])
                spans.append(list(range(data.shape[len(spans)])))
            continue
        if marked("new_axis_mask", n):
            shape.append(1)
            continue
        dim = data.shape[len(spans)]
        if marked("shrink_axis_mask", n):
            refuse_if(begin[n] != end[n], f"an axis shrinks to {begin[n]}, and ends at {end[n]}")
            index = 0 if marked("begin_mask", n) else begin[n]
            refuse_if(not -dim <= index < dim, f"place {index} of {dim}")
            spans.append([index % dim])
            continue
        low, high = (0, dim) if stride[n] > 0 else (dim - 1, -dim - 1)
        spans.append(sliced_axis(dim, low if marked("begin_mask", n) else begin[n],
                                 high if marked("end_mask", n) else end[n], stride[n], onnx=True))
        shape.append(len(spans[-1]))
    for dim in data.shape[len(spans):]:
        spans.append(list(range(dim)))
        shape.append(dim)
    cut = filled(data.dtype, [len(span) for span in spans],
                 lambda place: data[[span[index] for span, index in zip(spans, place)]])
    return Tensor(data.dtype, shape, cut.items)


def reverse(data, axes):
    axes = [normal_axis(axis, data.rank) for axis in axes]
    return filled(data.dtype, data.shape, lambda place: data[[
        data.shape[n] - 1 - index if n in axes else index for n, index in enumerate(place)]])


def reverse_sequence(data, lengths, batch_axis, time_axis, least=0):
    refuse_if(data.rank < 2, f"data of rank {data.rank}")
    batch_axis, time_axis = normal_axis(batch_axis, data.rank), normal_axis(time_axis, data.rank)
    refuse_if(batch_axis == time_axis, "one axis for the batch and the sequences")
    refuse_if(lengths.shape != [data.shape[batch_axis]], f"lengths of shape {lengths.shape} for {data.shape[batch_axis]} sequences")
    for length in lengths.items:
        refuse_if(not least <= length <= data.shape[time_axis], f"length {length} of {data.shape[time_axis]}")

    def taken(place):
        length, index = lengths.items[place[batch_axis]], place[time_axis]
        source = list(place)
        source[time_axis] = length - 1 - index if index < length else index
        return data[source]

    return filled(data.dtype, data.shape, taken)


# -------------------------------------------------------------------------------------------------------------- blocks

def depth_to_space(data, size, blocks_first, ranks):
    """`blocks_first`: whether the places in a block, or the new depth, change most slowly along the depth."""
    refuse_if(data.rank not in ranks, f"data of rank {data.rank}")
    refuse_if(size < 1, f"blocks of {size}")
    batch, depth, *dims = data.shape
    blocks = size ** len(dims)
    refuse_if(depth % blocks != 0, f"depth {depth} for blocks of {blocks}")

    def taken(place):
        number, channel, *spatial = place
        block = 0
        for index in spatial:
            block = block * size + index % size
        at = block * (depth // blocks) + channel if blocks_first else channel * blocks + block
        return data[(number, at, *(index // size for index in spatial))]

    return filled(data.dtype, [batch, depth // blocks, *(dim * size for dim in dims)], taken)


def space_to_depth(data, size, blocks_first, ranks):
    refuse_if(data.rank not in ranks, f"data of rank {data.rank}")
    refuse_if(size < 1, f"blocks of {size}")
    batch, depth, *dims = data.shape
    blocks = size ** len(dims)
    for dim in dims:
        refuse_if(dim % size != 0, f"dim {dim} for blocks of {size}")

    def taken(place):
        number, at, *spatial = place
        block, channel = divmod(at, depth) if blocks_first else divmod(at, blocks)[::-1]
        source = []
        for index in reversed(spatial):
            block, within = divmod(block, size)
            source.insert(0, index * size + within)
        return data[(number, channel, *source)]

    return filled(data.dtype, [batch, depth * blocks, *(dim // size for dim in dims)], taken)


def check_blocks(data, blocks, begin, end):
    refuse_if(data.rank < 2, f"data of rank {data.rank}")
    for one in (blocks, begin, end):
        refuse_if(len(one) != data.rank, f"{len(one)} numbers for {data.rank} axes")
    refuse_if(any(size < 1 for size in blocks), f"blocks of {blocks}")
    refuse_if(any(count < 0 for count in begin + end), "a negative number of places")
    refuse_if(blocks[0] != 1 or begin[0] != 0 or end[0] != 0, "the axis of batches has no blocks and is not cut")


def batch_to_space(data, blocks, crops_begin, crops_end):
    check_blocks(data, blocks, crops_begin, crops_end)
    batch, every = data.shape[0], volume(blocks)
    refuse_if(batch % every != 0, f"{batch} batches for blocks of {every}")
    shape = [batch // every]
    for dim, size, first, last in list(zip(data.shape, blocks, crops_begin, crops_end))[1:]:
        refuse_if(first + last > dim * size, f"{first} and {last} places of {dim * size}")
        shape.append(dim * size - first - last)

    def taken(place):
        whole = [index + first for index, first in zip(place, crops_begin)]
        block = 0
        for index, size in zip(whole[1:], blocks[1:]):
            block = block * size + index % size
        return data[(block * shape[0] + place[0], *(index // size for index, size in zip(whole[1:], blocks[1:])))]

    return filled(data.dtype, shape, taken)


def space_to_batch(data, blocks, pads_begin, pads_end):
    check_blocks(data, blocks, pads_begin, pads_end)
    batch = data.shape[0]
    shape = [batch * volume(blocks)]
    for dim, size, first, last in list(zip(data.shape, blocks, pads_begin, pads_end))[1:]:
        refuse_if((dim + first + last) % size != 0, f"{dim + first + last} places for blocks of {size}")
        shape.append((dim + first + last) // size)

    def taken(place):
        block, number = divmod(place[0], batch)
        source = []
        for n in range(data.rank - 1, 0, -1):
            block, within = divmod(block, blocks[n])
            source.insert(0, place[n] * blocks[n] + within - pads_begin[n])
        inside = all(0 <= index < dim for index, dim in zip(source, data.shape[1:]))
        return data[(number, *source)] if inside else zero(data.dtype)

    return filled(data.dtype, shape, taken)


def shuffle_channels(data, axis, groups):
    axis = normal_axis(axis, data.rank)
    dim = data.shape[axis]
    refuse_if(not 1 <= groups <= max(dim, 1) or dim % groups != 0, f"{groups} groups of {dim} channels")

    def taken(place):
        within, group = divmod(place[axis], groups)
        return data[(*place[:axis], group * (dim // groups) + within, *place[axis + 1:])]

    return filled(data.dtype, data.shape, taken)


# ----------------------------------------------------------------------------------------------------- crops and choices

def center_crop_pad(data, shape, axes=None):
    axes = list(range(data.rank)) if axes is None else [normal_axis(axis, data.rank) for axis in axes]
    refuse_if(len(set(axes)) < len(axes), "an axis is named twice")
    refuse_if(len(shape) != len(axes), f"{len(shape)} dims for {len(axes)} axes")
    refuse_if(any(dim < 0 for dim in shape), f"shape {shape}")
    output, shifts = list(data.shape), [0] * data.rank
    for axis, want in zip(axes, shape):
        output[axis], dim = want, data.shape[axis]
        # half of what is too much is cut off at the front, half of what is missing put there, both rounded down
        shifts[axis] = (dim - want) // 2 if want < dim else -((want - dim) // 2)

    def taken(place):
        source = [index + shift for index, shift in zip(place, shifts)]
        inside = all(0 <= index < dim for index, dim in zip(source, data.shape))
        return data[source] if inside else zero(data.dtype)

    return filled(data.dtype, output, taken)


def compress(data, condition, axis=None):
    refuse_if(data.rank == 0, "data has no axes")
    if condition.dtype.kind != "bool":
        raise Refused(f"a condition of dtype {condition.dtype}")
    refuse_if(condition.rank != 1, f"a condition of shape {condition.shape}")
    if axis is None:
        data, axis = Tensor(data.dtype, [len(data.items)], data.items), 0
    axis = normal_axis(axis, data.rank)
    chosen = [n for n, is_taken in enumerate(condition.items) if is_taken]
    refuse_if(any(n >= data.shape[axis] for n in chosen), f"place {chosen[-1] if chosen else 0} of {data.shape[axis]}")
    shape = data.shape[:axis] + [len(chosen)] + data.shape[axis + 1:]
    return filled(data.dtype, shape, lambda place: data[(*place[:axis], chosen[place[axis]], *place[axis + 1:])])
