"""The operators, as their specifications describe them: plain loops over places, one item at a time.

Every function takes tensors and plain numbers, and returns a tensor or raises `Refused`. What the specifications leave open
is decided as docs/operators.md says. `conformance/mutants.py` has a second model, written on flat offsets, and the
program a third; all of them have to agree.
"""
from .items import Refused, float_mean, reduce
from .tensors import Tensor, filled, places, volume


def refuse_if(wrong, why):
    if wrong:
        raise Refused(why)


def normal_axis(axis, rank, what="axis"):
    """An axis that may count from the end."""
    refuse_if(not -rank <= axis < rank, f"{what} {axis} is outside [{-rank}, {rank - 1}]")
    return axis + rank if axis < 0 else axis


def normal_index(index, dim):
    """An index that may count from the end."""
    refuse_if(not -dim <= index < dim, f"index {index} is outside [{-dim}, {dim - 1}]")
    return index + dim if index < 0 else index


def same_dtype(*tensors):
    first = tensors[0].dtype
    for one in tensors[1:]:
        refuse_if(one.dtype is not first, f"dtype {one.dtype}, expected {first}")


def with_axes(data):
    refuse_if(data.rank == 0, "data has no axes")


def integers(indices):
    refuse_if(indices.dtype.kind not in ("int", "uint"), f"indices of dtype {indices.dtype}")


# ------------------------------------------------------------------------------------------------------------- slices

def sliced_axis(dim, start, stop, step, onnx):
    """The places of an axis that a slice takes, in the order in which it takes them."""
    refuse_if(step == 0, "step 0")
    start = start + dim if start < 0 else start
    stop = stop + dim if stop < 0 else stop
    if step > 0:
        start, stop = min(max(start, 0), dim), min(max(stop, 0), dim)
    else:
        # Slice-8 follows Python, where a start before the axis stays before it; ONNX clamps it to the first place
        start, stop = min(max(start, 0 if onnx and dim else -1), dim - 1), min(max(stop, -1), dim - 1)
    taken = []
    place = start
    while (place < stop) if step > 0 else (place > stop):
        taken.append(place)
        place += step
    return taken


def sliced_places(shape, starts, stops, steps, axes, onnx):
    """For each axis of a shape the places that are taken."""
    rank = len(shape)
    refuse_if(rank == 0, "data has no axes")
    steps = [1] * len(starts) if steps is None else steps
    axes = list(range(len(starts))) if axes is None else axes
    lengths = {len(starts), len(stops), len(steps), len(axes)}
    refuse_if(len(lengths) > 1, f"start, stop, step and axes have {len(starts)}, {len(stops)}, {len(steps)}, {len(axes)} entries")
    refuse_if(len(starts) > rank, f"{len(starts)} entries for {rank} axes")
    axes = [normal_axis(axis, rank) for axis in axes]
    refuse_if(len(set(axes)) < len(axes), "an axis is named twice")
    taken = [list(range(dim)) for dim in shape]
    for axis, start, stop, step in zip(axes, starts, stops, steps, strict=True):
        taken[axis] = sliced_axis(shape[axis], start, stop, step, onnx)
    return taken


def slice_(data, starts, stops, steps, axes, onnx):
    taken = sliced_places(data.shape, starts, stops, steps, axes, onnx)
    shape = [len(one) for one in taken]
    return filled(data.dtype, shape, lambda place: data[[one[i] for one, i in zip(taken, place)]])


def slice_scatter(data, updates, starts, stops, steps, axes):
    taken = sliced_places(data.shape, starts, stops, steps, axes, onnx=False)
    same_dtype(data, updates)
    shape = [len(one) for one in taken]
    refuse_if(updates.shape != shape, f"updates have shape {updates.shape}, expected {shape}")
    output = data.copy()
    for place in places(shape):
        output[[one[i] for one, i in zip(taken, place)]] = updates[place]
    return output


# ------------------------------------------------------------------------------------------------------------ scatters

def scatter_update(data, indices, updates, axis):
    with_axes(data), integers(indices), same_dtype(data, updates)
    axis = normal_axis(axis, data.rank)
    shape = data.shape[:axis] + indices.shape + data.shape[axis + 1:]
    refuse_if(updates.shape != shape, f"updates have shape {updates.shape}, expected {shape}")
    for index in indices.items:
        refuse_if(not 0 <= index < data.shape[axis], f"index {index} is outside [0, {data.shape[axis] - 1}]")
    output = data.copy()
    for chosen in places(indices.shape):
        for before in places(data.shape[:axis]):
            for after in places(data.shape[axis + 1:]):
                output[(*before, indices[chosen], *after)] = updates[(*before, *chosen, *after)]
    return output


def index_tuples(indices, dims):
    """The place of each index tuple along the last axis of indices, and the tuple, made non-negative."""
    length = indices.shape[-1]
    for chosen in places(indices.shape[:-1]):
        yield chosen, tuple(normal_index(indices[(*chosen, n)], dims[n]) for n in range(length))


def scatter_nd(data, indices, updates, reduction="none"):
    with_axes(data), integers(indices), same_dtype(data, updates)
    refuse_if(indices.rank == 0, "indices have no axes")
    length = indices.shape[-1]
    refuse_if(length > data.rank, f"index tuples of {length} for {data.rank} axes")
    shape = indices.shape[:-1] + data.shape[length:]
    refuse_if(updates.shape != shape, f"updates have shape {updates.shape}, expected {shape}")
    output = data.copy()
    for chosen, target in index_tuples(indices, data.shape):
        for after in places(data.shape[length:]):
            at = (*target, *after)
            output[at] = reduce(reduction, data.dtype, output[at], updates[(*chosen, *after)])
    check_reduction(reduction, data.dtype)
    return output


def check_reduction(reduction, dtype):
    """Refuses a reduction of a type that has none, also where there is nothing to reduce."""
    some = (0, 0) if dtype.kind == "complex" else "" if dtype.kind == "string" else 0
    reduce(reduction, dtype, some, some)


def scatter_elements(data, indices, updates, axis=0, reduction="none", initial=True):
    with_axes(data), integers(indices), same_dtype(data, updates)
    refuse_if(indices.rank != data.rank, f"indices of rank {indices.rank}, expected {data.rank}")
    axis = normal_axis(axis, data.rank)
    refuse_if(updates.shape != indices.shape, f"updates have shape {updates.shape}, expected {indices.shape}")
    within_other_axes(data, indices, axis)
    mean = reduction == "mean"
    refuse_if(mean and data.dtype.kind not in ("int", "uint", "float"), f"reduction mean of {data.dtype} items")
    reduce_by = "add" if mean else reduction
    check_reduction(reduce_by, data.dtype)
    put = {}
    for place in places(indices.shape):
        index = normal_index(indices[place], data.shape[axis])
        put.setdefault((*place[:axis], index, *place[axis + 1:]), []).append(updates[place])
    output = data.copy()
    for place, new in put.items():
        steps = [output[place], *new] if initial or reduction == "none" else new
        if mean:
            output[place] = mean_of(data.dtype, steps)
            continue
        total = steps[0]
        for one in steps[1:]:
            total = reduce(reduction, data.dtype, total, one)
        output[place] = total
    return output


def mean_of(dtype, numbers):
    if dtype.kind == "float":
        total = numbers[0]
        for one in numbers[1:]:
            total = reduce("add", dtype, total, one)
        return float_mean(dtype, total, len(numbers))
    total = sum(numbers)
    quotient = abs(total) // len(numbers)
    return -quotient if total < 0 else quotient


def within_other_axes(data, indices, axis):
    for n, (dim, most) in enumerate(zip(indices.shape, data.shape, strict=True)):
        refuse_if(n != axis and dim > most, f"indices have dim {dim} on axis {n}, data {most}")


# ------------------------------------------------------------------------------------------------------------- gathers

def gather(data, indices, axis=0, batch_dims=0, beyond="error"):
    """`beyond`: what an index outside the axis is, an error or a block of zeros; "natural": negative ones are outside."""
    with_axes(data), integers(indices)
    axis = normal_axis(axis, data.rank)
    refuse_if(not -indices.rank <= batch_dims <= indices.rank, f"batch_dims {batch_dims} for indices of rank {indices.rank}")
    batch = batch_dims + indices.rank if batch_dims < 0 else batch_dims
    refuse_if(batch > axis, f"batch_dims {batch} is beyond axis {axis}")
    refuse_if(data.shape[:batch] != indices.shape[:batch], f"batches {data.shape[:batch]} and {indices.shape[:batch]}")
    dim = data.shape[axis]
    for index in indices.items:
        refuse_if(beyond == "error" and not -dim <= index < dim, f"index {index} is outside [{-dim}, {dim - 1}]")
        refuse_if(beyond == "natural" and not 0 <= index < dim, f"index {index} is outside [0, {dim - 1}]")
    chosen = len(indices.shape) - batch

    def taken(place):
        before, middle, after = place[:axis], place[axis:axis + chosen], place[axis + chosen:]
        index = indices[(*before[:batch], *middle)]
        if not -dim <= index < dim:
            return (0, 0) if data.dtype.kind == "complex" else 0
        return data[(*before, index + dim if index < 0 else index, *after)]

    return filled(data.dtype, data.shape[:axis] + indices.shape[batch:] + data.shape[axis + 1:], taken)


def gather_elements(data, indices, axis=0):
    with_axes(data), integers(indices)
    refuse_if(indices.rank != data.rank, f"indices of rank {indices.rank}, expected {data.rank}")
    axis = normal_axis(axis, data.rank)
    within_other_axes(data, indices, axis)
    for index in indices.items:
        normal_index(index, data.shape[axis])

    def taken(place):
        index = normal_index(indices[place], data.shape[axis])
        return data[(*place[:axis], index, *place[axis + 1:])]

    return filled(data.dtype, indices.shape, taken)


def gather_nd(data, indices, batch_dims=0):
    with_axes(data), integers(indices)
    refuse_if(indices.rank == 0, "indices have no axes")
    refuse_if(not 0 <= batch_dims < min(data.rank, indices.rank), f"batch_dims {batch_dims}")
    batch, length = batch_dims, indices.shape[-1]
    refuse_if(data.shape[:batch] != indices.shape[:batch], f"batches {data.shape[:batch]} and {indices.shape[:batch]}")
    refuse_if(length > data.rank - batch, f"index tuples of {length} for {data.rank - batch} axes")
    tuples = dict(index_tuples(indices, data.shape[batch:]))
    outer = indices.rank - 1

    def taken(place):
        chosen, after = place[:outer], place[outer:]
        return data[(*chosen[:batch], *tuples[chosen], *after)]

    return filled(data.dtype, indices.shape[:-1] + data.shape[batch + length:], taken)


# ------------------------------------------------------------------------------------------------------ whole tensors

def concat(tensors, axis, stack=False):
    refuse_if(not tensors, "no inputs")
    same_dtype(*tensors)
    first = tensors[0]
    if stack:
        axis = normal_axis(axis, first.rank + 1)
        for one in tensors:
            refuse_if(one.shape != first.shape, f"shape {one.shape}, expected {first.shape}")
        shape = first.shape[:axis] + [len(tensors)] + first.shape[axis:]
        return filled(first.dtype, shape, lambda place: tensors[place[axis]][(*place[:axis], *place[axis + 1:])])
    with_axes(first)
    axis = normal_axis(axis, first.rank)
    for one in tensors:
        same = one.rank == first.rank and all(n == axis or one.shape[n] == first.shape[n] for n in range(first.rank))
        refuse_if(not same, f"shape {one.shape} beside {first.shape} on axis {axis}")
    shape = list(first.shape)
    shape[axis] = sum(one.shape[axis] for one in tensors)

    def taken(place):
        index = place[axis]
        for one in tensors:
            if index < one.shape[axis]:
                return one[(*place[:axis], index, *place[axis + 1:])]
            index -= one.shape[axis]

    return filled(first.dtype, shape, taken)


def transpose(data, axes=None):
    axes = list(range(data.rank))[::-1] if axes is None else [normal_axis(axis, data.rank) for axis in axes]
    refuse_if(sorted(axes) != list(range(data.rank)), f"{axes} is no permutation of {data.rank} axes")

    def taken(place):
        source = [0] * data.rank
        for index, axis in zip(place, axes):
            source[axis] = index
        return data[source]

    return filled(data.dtype, [data.shape[axis] for axis in axes], taken)


def reshape(data, dims, zero_is_zero=False):
    shape = []
    for n, dim in enumerate(dims):
        refuse_if(dim < -1, f"dim {dim}")
        if dim == 0 and not zero_is_zero:
            refuse_if(n >= data.rank, f"dim {n} is to be that of data, which has {data.rank} axes")
            dim = data.shape[n]
        shape.append(dim)
    refuse_if(shape.count(-1) > 1, "more than one dim is -1")
    if -1 in shape:
        rest = volume([dim for dim in shape if dim != -1])
        refuse_if(rest == 0, "a dim of -1 beside 0 items")
        refuse_if(len(data.items) % rest != 0, f"{len(data.items)} items do not divide into {rest}")
        shape[shape.index(-1)] = len(data.items) // rest
    refuse_if(volume(shape) != len(data.items), f"shape {shape} for {len(data.items)} items")
    return Tensor(data.dtype, shape, data.items)


def squeeze(data, axes=None):
    if axes is None:
        axes = [n for n, dim in enumerate(data.shape) if dim == 1]
    axes = [normal_axis(axis, data.rank) for axis in axes]
    for axis in axes:
        refuse_if(data.shape[axis] != 1, f"dim {data.shape[axis]} on axis {axis}, expected 1")
    return Tensor(data.dtype, [dim for n, dim in enumerate(data.shape) if n not in axes], data.items)


def unsqueeze(data, axes):
    rank = data.rank + len(axes)
    axes = [normal_axis(axis, rank) for axis in axes]
    refuse_if(len(set(axes)) < len(axes), "an axis is named twice")
    dims = iter(data.shape)
    return Tensor(data.dtype, [1 if n in axes else next(dims) for n in range(rank)], data.items)


def flatten(data, axis):
    refuse_if(not -data.rank <= axis <= data.rank, f"axis {axis} is outside [{-data.rank}, {data.rank}]")
    axis = axis + data.rank if axis < 0 else axis
    return Tensor(data.dtype, [volume(data.shape[:axis]), volume(data.shape[axis:])], data.items)
