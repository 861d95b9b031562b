"""StridedSlice: OpenVINO StridedSlice-1."""
from . import movement
from .suite import INTEGERS, OPENVINO_BEYOND, OPENVINO_NUMERIC, Suite, numbers
from .tensors import labels, scalar, telling, tensor, vector

INT64_MAX, INT64_MIN = (1 << 63) - 1, -(1 << 63)
MASKS = ("begin_mask", "end_mask", "new_axis_mask", "shrink_axis_mask", "ellipsis_mask")

# name, shape, begin, end, stride, masks, what the specification says
LAYOUTS = [
    ("inner", [5], [1], [4], [1], {}, "The place begin is taken, the place end is not."),
    ("two-axes", [3, 4], [1, 0], [3, 3], [1, 2], {}, "Entry n slices axis n."),
    ("negative", [5], [-4], [-1], [1], {}, "Negative numbers count from the end."),
    ("begin-below-minus-dim", [5], [-9], [3], [1], {}, "A begin before the axis is clamped to its first place."),
    ("end-beyond-dim", [5], [2], [99], [1], {}, "An end beyond the axis is clamped to the dim."),
    ("begin-beyond-dim", [5], [7], [9], [1], {}, "A begin beyond the axis is clamped to the dim, so that nothing is taken."),
    ("extremes", [5], [INT64_MIN], [INT64_MAX], [1], {}, "From INT_MIN to INT_MAX is the whole axis."),
    ("stride-2", [5], [0], [5], [2], {}, "Every second place is taken."),
    ("stride-beyond-dim", [5], [1], [5], [100], {}, "A stride longer than the axis takes begin alone."),
    ("backward", [5], [4], [0], [-1], {}, "With a negative stride the places come in reverse, and end is left out."),
    ("backward-to-first", [5], [4], [-6], [-1], {}, "An end before the axis takes the first place in."),
    ("backward-by-2", [5], [3], [-99], [-2], {}, "Every second place is taken in reverse."),
    ("backward-begin-beyond-dim", [5], [9], [1], [-1], {}, "In reverse a begin beyond the axis is clamped to the last place."),
    ("backward-begin-below-minus-dim", [5], [-9], [-99], [-1], {}, "In reverse a begin before the axis is clamped to the first place."),
    ("backward-end-beyond-dim", [5], [4], [9], [-1], {}, "In reverse an end beyond the axis takes nothing."),
    ("backward-int64-min", [4], [-1], [INT64_MIN], [-1], {}, "In reverse INT_MIN takes the first place in."),
    ("stride-int64-min", [4], [3], [INT64_MIN], [INT64_MIN], {}, "The least stride takes begin alone."),
    ("document-negative-example", [2, 3, 4], [0, 0, 0], [2, 2, -1], [1, 1, 1], {}, "An end of -1 leaves the last place out."),
    ("zero-axis", [0, 2], [0, 0], [5, 1], [1, 1], {}, "An axis without places has none to take."),
    ("zero-axis-backward", [0, 2], [-1, 0], [-9, 2], [-1, 1], {}, "An axis without places has none to take in reverse."),
    ("begin-mask", [5], [3], [4], [1], {"begin_mask": [1]}, "With begin_mask the slice begins at the first place."),
    ("end-mask", [5], [3], [4], [1], {"end_mask": [1]}, "With end_mask the slice goes to the end."),
    ("begin-and-end-mask", [3, 4], [2, 1], [1, 3], [1, 1], {"begin_mask": [1, 0], "end_mask": [1, 0]}, "A mask is for its own entry."),
    ("begin-mask-backward", [5], [1], [1], [-1], {"begin_mask": [1]}, "In reverse begin_mask begins at the last place."),
    ("masks-of-second-entry", [3, 4], [1, 3], [3, 1], [1, 2], {"begin_mask": [0, 1], "end_mask": [0, 1]}, "A mask is for its own entry."),
    ("masks-shorter", [3, 4], [2, 1], [1, 3], [1, 1], {"begin_mask": [1], "end_mask": [1]}, "A mask that is shorter goes on with zeros."),
    ("masks-longer", [4], [1], [3], [1], {"begin_mask": [0, 1, 1], "end_mask": [0, 1], "new_axis_mask": [0, 1], "shrink_axis_mask": [0, 0, 1],
                                          "ellipsis_mask": [0, 1]}, "What a mask has more than there are entries is ignored."),
    ("masks-empty", [4], [1], [3], [1], {"begin_mask": [], "end_mask": []}, "A mask that is empty goes on with zeros."),
    ("new-axis-first", [2, 4], [9, 0, 0], [9, 2, 3], [1, 1, 1], {"new_axis_mask": [1, 0, 0]}, "A new axis has one place and takes no axis of the data."),
    ("new-axis-last", [2, 3], [0, 1, 0], [2, 3, 0], [1, 1, 1], {"new_axis_mask": [0, 0, 1]}, "A new axis has one place and takes no axis of the data."),
    ("new-axis-document-example", [2, 4], [1234, 0, -1, 0], [1234, 2, 9876, 4], [132, 1, 241, 1], {"new_axis_mask": [1, 0, 1, 0]},
     "The numbers of a new axis are ignored."),
    ("new-axes-alone", [3], [0, 0, 0], [0, 0, 3], [1, 1, 1], {"new_axis_mask": [1, 1, 0]}, "Several axes may be new."),
    ("new-axis-of-rank-0", [], [0], [0], [1], {"new_axis_mask": [1]}, "Data without axes gets one."),
    ("new-axis-masks-ignored", [3], [0, 1], [0, 3], [1, 1], {"begin_mask": [1, 0], "end_mask": [1, 0], "new_axis_mask": [1, 0]},
     "The numbers of a new axis are ignored, and so are other masks of it."),
    ("shrink", [3, 4], [1, 0], [1, 4], [1, 1], {"shrink_axis_mask": [1, 0]}, "An axis that shrinks leaves one of its places, and is no more."),
    ("shrink-last", [3, 4], [0, 2], [3, 2], [1, 1], {"shrink_axis_mask": [0, 1]}, "An axis that shrinks leaves one of its places, and is no more."),
    ("shrink-negative", [4, 2], [-1, 0], [-1, 2], [1, 1], {"shrink_axis_mask": [1, 0]}, "A negative begin counts from the end."),
    ("shrink-all", [2, 3], [1, 2], [1, 2], [1, 1], {"shrink_axis_mask": [1, 1]}, "Where all axes shrink one item is left without any."),
    ("shrink-stride-ignored", [4], [2], [2], [-3], {"shrink_axis_mask": [1]}, "The stride of an axis that shrinks is ignored."),
    ("shrink-document-example", [1, 2, 3, 2], [0, 0, 0, 0], [1, 0, 3, 2], [1, 1, 1, 1], {"shrink_axis_mask": [0, 1, 0, 0]},
     "An axis that shrinks leaves one of its places, and is no more."),
    ("shrink-and-new-axis", [3, 4], [1, 0, 1], [1, 0, 3], [1, 1, 1], {"shrink_axis_mask": [1, 0, 0], "new_axis_mask": [0, 1, 0]},
     "One axis may shrink beside one that is new."),
    ("ellipsis", [2, 2, 2, 3], [0, 9, 1], [1, 9, 3], [1, 1, 1], {"ellipsis_mask": [0, 1, 0]}, "An ellipsis takes as many axes as are left, whole."),
    ("ellipsis-first", [2, 2, 3], [0, 1], [0, 3], [1, 1], {"ellipsis_mask": [1, 0]}, "After an ellipsis entries are for the last axes."),
    ("ellipsis-last", [3, 2, 2], [1, 0], [2, 0], [1, 1], {"ellipsis_mask": [0, 1]}, "An ellipsis takes as many axes as are left, whole."),
    ("ellipsis-alone", [2, 3], [1], [1], [1], {"ellipsis_mask": [1]}, "A lone ellipsis takes all axes."),
    ("ellipsis-of-one-axis", [2, 3, 2], [0, 0, 1], [1, 0, 2], [1, 1, 1], {"ellipsis_mask": [0, 1, 0]}, "An ellipsis may be one axis."),
    ("ellipsis-of-none", [2, 3], [0, 0, 1], [1, 0, 3], [1, 1, 1], {"ellipsis_mask": [0, 1, 0]}, "An ellipsis may be no axis at all."),
    ("ellipsis-and-new-axis", [2, 3], [0, 0, 0], [0, 0, 2], [1, 1, 1], {"ellipsis_mask": [1, 0, 0], "new_axis_mask": [0, 1, 0]},
     "A new axis behind an ellipsis is not one of those that it takes."),
    ("ellipsis-document-example", [4, 2, 2, 3], [2, 1, 10, 10], [123, 1, 10, 2], [1, -1, 1, 1],
     {"begin_mask": [0, 0, 1, 1], "end_mask": [1, 1, 0, 0], "new_axis_mask": [0, 0, 1], "shrink_axis_mask": [0], "ellipsis_mask": [0, 1]},
     "Masks of several lengths, an ellipsis and a new axis go together."),
    ("ellipsis-and-shrink", [2, 2, 3], [0, 0, -1], [0, 0, -1], [1, 1, 1], {"ellipsis_mask": [0, 1, 0], "shrink_axis_mask": [1, 0, 1]},
     "Axes on both sides of an ellipsis may shrink."),
    ("ellipsis-stride-ignored", [2, 3], [0, 1], [0, 3], [-1, 1], {"ellipsis_mask": [1, 0]}, "The numbers of an ellipsis are ignored."),
    ("rank-5", [2, 1, 2, 2, 3], [1, 0, 0, 1, 2], [2, 1, 2, 2, -4], [1, 1, 1, 1, -2], {}, "Rank 5."),
]
EQUAL = ("The text says that one place is taken where begin is end, and calls it equal to Python's slice, which takes none; nothing is "
         "taken, as in OpenVINO.")
WHOLE = ("The text says that in reverse end_mask leaves the first place out, and calls it equal to Python's slice without an end, which "
         "takes it; it is taken, as in OpenVINO.")
# where the text contradicts itself, or is silent
CHOICES = [
    ("begin-is-end", [4], [2], [2], [1], {}, EQUAL),
    ("begin-is-end-0", [4], [0], [0], [1], {}, EQUAL),
    ("end-mask-backward", [4], [3], [2], [-1], {"end_mask": [1]}, WHOLE),
    ("begin-and-end-mask-backward", [4], [1], [2], [-1], {"begin_mask": [1], "end_mask": [1]}, WHOLE),
    ("masks-document-example", [2, 3, 4], [1, 1, 123], [0, 0, 2], [1, 1, -1],
     {"begin_mask": [0, 1, 1], "end_mask": [1, 1, 1], "new_axis_mask": [0, 0, 0, 0, 0], "shrink_axis_mask": [0, 0], "ellipsis_mask": [0]}, WHOLE),
    ("clamping-document-example", [2, 2], [1234, 2], [1234, 4321], [1, -1], {},
     "The text has an example of this whose places lie beyond the axes; by its rules nothing is taken."),
    ("shrink-begin-mask", [4], [2], [2], [1], {"shrink_axis_mask": [1], "begin_mask": [1]},
     "It is not said whether begin_mask takes the first place of an axis that shrinks; it does, as in OpenVINO."),
]
BAD = [
    ("reject", "stride-0", [4], [0], [2], [0], {}, "A stride is not 0."),
    ("reject", "two-ellipses", [2, 2, 2], [0, 0, 0], [1, 1, 1], [1, 1, 1], {"ellipsis_mask": [1, 0, 1]}, "There is at most one ellipsis."),
    ("reject", "end-shorter", [2, 2], [0, 0], [1], [1, 1], {}, "Begin, end and stride are of one length."),
    ("reject", "begin-shorter", [2, 2], [0], [1, 1], [1], {}, "Begin, end and stride are of one length."),
    ("reject", "stride-longer", [2, 2], [0], [1], [1, 1], {}, "Begin, end and stride are of one length."),
    ("reject", "more-entries-than-axes", [3], [1, 0], [3, 1], [1, 1], {}, "There is no second axis for the second entry."),
    ("reject", "more-entries-than-axes-with-ellipsis", [2, 2], [0, 0, 0, 0], [1, 1, 1, 1], [1, 1, 1, 1], {"ellipsis_mask": [0, 1]},
     "There is no third axis for the last entry."),
    ("reject", "fewer-entries-than-axes", [3, 2], [1], [3], [1], {}, "There are as many entries as axes where no mask changes axes."),
    ("reject", "no-entries", [2, 3], [], [], [], {}, "There are as many entries as axes where no mask changes axes."),
    ("reject", "shrink-end-is-next", [4], [1], [2], [1], {"shrink_axis_mask": [1]}, "Where an axis shrinks begin must equal end."),
    ("reject", "shrink-end-is-another", [4], [1], [-1], [1], {"shrink_axis_mask": [1]}, "Where an axis shrinks begin must equal end."),
    ("refusal", "shrink-beyond-dim", [4], [9], [9], [1], {"shrink_axis_mask": [1]},
     "Nothing is said of a place beyond an axis that shrinks, which leaves nothing; it is an error, as in OpenVINO."),
    ("refusal", "shrink-at-dim", [4], [4], [4], [1], {"shrink_axis_mask": [1]},
     "Nothing is said of a place beyond an axis that shrinks, which leaves nothing; it is an error, as in OpenVINO."),
    ("refusal", "shrink-below-minus-dim", [4], [-5], [-5], [1], {"shrink_axis_mask": [1]},
     "Nothing is said of a place before an axis that shrinks; it is an error, as in OpenVINO."),
    ("refusal", "shrink-of-nothing", [0], [0], [0], [1], {"shrink_axis_mask": [1]}, "Nothing is said of an axis without places that shrinks; it is an error, as in OpenVINO."),
]


def evaluate(version, attributes, data, begin, end, stride=None):
    return movement.strided_slice(data, numbers(begin), numbers(end), numbers(stride), attributes)


def cases():
    suite = Suite("strided-slice")
    version = suite.openvino("StridedSlice", 1, evaluate)

    def case(kind, name, shape, begin, end, stride, masks, why):
        data = labels("int32", shape) if shape else scalar("int32", 5)
        given = {"begin_mask": [0] * len(begin), "end_mask": [0] * len(end), **masks}
        version.add(kind, name, why, data, vector("int64", begin), vector("int64", end), vector("int64", stride), **given)

    for one in LAYOUTS:
        case("must", *one)
    for one in CHOICES:
        case("choice", *one)
    for one in BAD:
        case(*one)
    none = {"begin_mask": [0], "end_mask": [0]}
    version.must("stride-absent", "The stride is 1 if it is left out.", labels("int32", [4]), vector("int64", [1]), vector("int64", [3]), **none)
    for dtype in ["bool", *OPENVINO_NUMERIC]:
        version.must(f"type-{dtype}", f"T may be any type, {dtype} among them, and every bit is kept.", telling(dtype, [9]),
                     vector("int64", [8]), vector("int64", [-10]), vector("int64", [-1]), **none)
    for dtype in OPENVINO_BEYOND:
        version.choice(f"type-{dtype}", f"Which types are supported is left to the runtime; {dtype} items are moved like others.",
                       telling(dtype, [9]), vector("int64", [8]), vector("int64", [-10]), vector("int64", [-1]), **none)
    for dtype in INTEGERS:
        if dtype != "int64":
            version.must(f"indices-{dtype}", f"T_IND may be any integer type, {dtype} among them.", labels("int32", [5]),
                         vector(dtype, [1]), vector(dtype, [4]), vector(dtype, [2]), **none)
    version.reject("begin-float", "T_IND is an integer type.", labels("int32", [4]), vector("float32", [1]), vector("float32", [3]),
                   vector("float32", [1]), **none)
    version.reject("begin-of-rank-2", "Begin has one axis.", labels("int32", [4]), tensor("int64", [1, 1], [1]), vector("int64", [3]),
                   vector("int64", [1]), **none)
    return suite.cases


# the cases of each operator, by its name
FILES = {"strided-slice": cases}
