"""Cases, and what they are made with: a suite for an operator, a version of it, and its cases one by one."""
import fnmatch
import json

from .items import Refused
from .tensors import Tensor

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float16", "bfloat16", "float32", "float64"]
COMPLEX = ["complex64", "complex128"]
FLOAT8 = ["float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz"]

# the element types that ONNX's operators of data movement list, by the version of the operator set that brought them
ONNX_BEFORE_13 = ["bool", *INTEGERS, "float16", "float32", "float64", *COMPLEX, "string"]
ONNX_13 = [*ONNX_BEFORE_13, "bfloat16"]
ONNX_19 = [*ONNX_13, *FLOAT8]
ONNX_21 = [*ONNX_19, "int4", "uint4"]
ONNX_23 = [*ONNX_21, "float4_e2m1fn"]
ONNX_24 = [*ONNX_23, "float8_e8m0fnu"]
ONNX_25 = [*ONNX_24, "int2", "uint2"]

# OpenVINO's documents say "any numeric type" or "any supported type"
OPENVINO_NUMERIC = [*INTEGERS, *FLOATS]
# what is decided of strings that are longer than those of data
WIDER = "Strings have no width: one that is longer than those of data is stored whole."
OPENVINO_BEYOND = ["int4", "uint4", "float8_e4m3fn", "float8_e5m2", "string", "complex64"]

# the types of inputs, by their places, where a specification lists less than all integer types
INT64, INT32_OR_64 = ("int64",), ("int32", "int64")
LISTED = {
    **{("onnx", name): {1: INT64} for name in ("ScatterND", "GatherND", "Reshape", "Expand", "Squeeze", "Unsqueeze", "Tile", "Split",
                                               "ReverseSequence")},
    **{("onnx", name): {1: INT32_OR_64} for name in ("Gather", "GatherElements", "Scatter", "ScatterElements", "CenterCropPad")},
    ("onnx", "Slice"): {n: INT32_OR_64 for n in (1, 2, 3, 4)}, ("onnx", "Pad"): {1: INT64, 3: INT32_OR_64},
    ("openvino", "GatherElements"): {1: INT32_OR_64}, ("openvino", "ScatterNDUpdate"): {1: INT32_OR_64},
    ("openvino", "Roll"): {1: INT32_OR_64, 2: INT32_OR_64},
}
# the versions of OpenVINO's operators whose documents say "any numeric type"
NUMERIC = {("Broadcast", 3), ("Concat", 1), ("Pad", 1), ("Reshape", 1), ("ScatterElementsUpdate", 3), ("ScatterNDUpdate", 3),
           ("ScatterNDUpdate", 15), ("ScatterUpdate", 3), ("SliceScatter", 15), ("Squeeze", 0), ("Unsqueeze", 0)}
# attributes that a version after the first has brought
BROUGHT_BY = {
    ("onnx", "GatherND", "batch_dims"): 12, ("onnx", "ScatterND", "reduction"): 16, ("onnx", "ScatterElements", "reduction"): 16,
    ("onnx", "Reshape", "allowzero"): 14, ("onnx", "Split", "num_outputs"): 18, ("onnx", "DepthToSpace", "mode"): 11,
    ("onnx", "SpaceToDepth", "mode"): 28, ("openvino", "Gather", "batch_dims"): 7, ("openvino", "ScatterNDUpdate", "reduction"): 15,
    ("openvino", "ScatterElementsUpdate", "reduction"): 12, ("openvino", "ScatterElementsUpdate", "use_init_val"): 12,
}


def narrow(dtype):
    """Whether an element type is among those that came after version 13 of ONNX's operator set."""
    return dtype not in ONNX_13


def onnx_dtypes(version):
    """The element types of an operator that lists all there were in its version."""
    lists = {13: ONNX_13, 19: ONNX_19, 21: ONNX_21, 23: ONNX_23, 24: ONNX_24, 25: ONNX_25}
    return lists[max([13, *(known for known in lists if known <= version)])] if version >= 13 else ONNX_BEFORE_13


def numeric(dtype):
    """The class of a type where OpenVINO's document says "any numeric type", and why."""
    if dtype == "string":
        return "reject", "T is any numeric type, and string is none."
    return "choice", f"T is any numeric type, and whether {dtype} is one is left open; its items are moved."


class Case:
    """What an operator gets, what must come out, and why."""

    def __init__(self, version, name, inputs, attributes, output_count, output, kind, why):
        self.id = f"{version.prefix}/{name}"
        self.version, self.inputs, self.attributes = version, inputs, attributes
        # of an operator that has several outputs `output` is a list; `output_count` is how many the node is said to have
        self.output_count, self.output, self.kind, self.why = output_count, output, kind, why

    def tensors(self):
        """All tensors that go in and come out."""
        for one in [*self.inputs, self.output]:
            yield from one if isinstance(one, list) else [one] if isinstance(one, Tensor) else []

    def line(self):
        """The case as JSON."""
        given = [part for one in self.inputs if one is not None for part in (one if isinstance(one, list) else [one])]
        # strings have no width of their own: what comes out is as wide as the widest tensor that goes in
        widest = max([1, *(one.width() for one in given)])

        def written(one, width=None):
            if isinstance(one, list):
                return {"sequence": [part.json(part.width()) for part in one]}
            return None if one is None else one.json(width or one.width())

        if isinstance(self.output, str):
            expected = {"error": self.output, **({"output_count": self.output_count} if self.output_count else {})}
        elif isinstance(self.output, list):
            expected = {"outputs": [written(one, widest) for one in self.output]}
        else:
            expected = {"output": written(self.output, widest)}
        return json.dumps({
            "id": self.id, "specification": self.version.specification, "operator": self.version.operator,
            "version": self.version.number, "attributes": self.attributes, "inputs": [written(one) for one in self.inputs],
            **expected, "class": self.kind, "why": self.why,
        })

    def signature(self):
        """What the case tests, so that two cases that test the same have the same signature.

        Items that are mere labels count as one, whatever they are: they only have to be told apart.
        """
        def of(one):
            if isinstance(one, list):
                return tuple(of(part) for part in one)
            return one and (one.dtype.name, tuple(one.shape), one.made_by or tuple(one.items))
        attributes = {**self.attributes, **({"output_count": self.output_count} if self.output_count else {})}
        return (self.version.specification, self.version.operator, self.version.number,
                json.dumps(attributes, sort_keys=True), tuple(of(one) for one in self.inputs))

    def corner(self):
        """The signature without the version."""
        specification, operator, _, *rest = self.signature()
        return (specification, operator, *rest)


class Version:
    """A version of an operator, as one specification has it, and the cases for it.

    Attributes are keywords. The keyword `output_count` is none of them: it is the number of outputs of the node.
    """

    def __init__(self, suite, specification, operator, number, evaluate, prefix, only):
        self.suite, self.specification, self.operator, self.number = suite, specification, operator, number
        self.evaluate, self.prefix, self.only = evaluate, f"{suite.name}/{prefix or specification}-{number}", only.split()

    def must(self, name, why, *inputs, **attributes):
        """A case of which the specification says what comes out."""
        self._add("must", False, name, why, inputs, attributes)

    def choice(self, name, why, *inputs, **attributes):
        """A case of which the specification does not say what comes out."""
        self._add("choice", False, name, why, inputs, attributes)

    def refusal(self, name, why, *inputs, **attributes):
        """A case that is refused here, although the specification does not say that it must be."""
        self._add("choice", True, name, why, inputs, attributes)

    def reject(self, name, why, *inputs, **attributes):
        """A case that the specification forbids."""
        self._add("reject", True, name, why, inputs, attributes)

    def later(self, attribute, *inputs, **attributes):
        """A case with an attribute that a later version brings; nothing in a version that has it."""
        version = BROUGHT_BY[self.specification, self.operator, attribute]
        if self.number < version:
            self.reject(f"{attribute.replace('_', '-')}-is-later", f"Version {version} brought the attribute {attribute}.", *inputs, **attributes)

    def add(self, kind, name, why, *inputs, **attributes):
        """A case of a class that is given: must, choice, refusal or reject."""
        getattr(self, kind)(name, why, *inputs, **attributes)

    def _add(self, kind, refused, name, why, inputs, attributes):
        if self.only and not any(fnmatch.fnmatchcase(name, pattern) for pattern in [*self.only, "*-is-later"]):
            return
        try:
            self._check(inputs, attributes)
            output = self.evaluate(self, attributes, *inputs)
        except Refused as reason:
            output = str(reason)
        count = attributes.pop("output_count", None)
        case = Case(self, name, list(inputs), attributes, count, output, kind, why)
        assert isinstance(output, str) == refused, f"{case.id}: {output}"
        assert why.endswith("."), f"{case.id}: {why}"
        self.suite.cases.append(case)

    def _check(self, inputs, attributes):
        """Refuses the attributes and types that the version does not have."""
        for name in attributes:
            if self.number < BROUGHT_BY.get((self.specification, self.operator, name), 0):
                raise Refused(f"attribute {name}")
        for n, dtypes in LISTED.get((self.specification, self.operator), {}).items():
            if n < len(inputs) and inputs[n] is not None and inputs[n].dtype.name not in dtypes:
                raise Refused(f"input {n} of dtype {inputs[n].dtype}")
        if self.specification == "openvino" and (self.operator, self.number) in NUMERIC and any(
                one is not None and one.dtype.kind == "string" for one in inputs):
            raise Refused("strings")


class Suite:
    """The cases of one file."""

    def __init__(self, name):
        self.name, self.cases = name, []

    def onnx(self, operator, number, evaluate, prefix=None, only=""):
        """A version of an operator of ONNX.

        `only` has patterns of the names of cases: a version between two others has the cases on what its text or its types
        changed and a few of each kind, since the rest would say again what the first and the last version are asked.
        """
        return Version(self, "onnx", operator, number, evaluate, prefix, only)

    def openvino(self, operator, number, evaluate, prefix=None, only=""):
        """A version of an operator of OpenVINO, as `onnx`."""
        return Version(self, "openvino", operator, number, evaluate, prefix, only)


def numbers(indices):
    """The items of an optional list of integers that is an input."""
    if indices is None:
        return None
    if indices.dtype.kind not in ("int", "uint"):
        raise Refused(f"a list of dtype {indices.dtype}")
    if indices.rank != 1:
        raise Refused(f"a list of shape {indices.shape}")
    return list(indices.items)


def one_number(tensor):
    """The item of an input that is a scalar or a tensor of one axis and one item."""
    if tensor.dtype.kind not in ("int", "uint"):
        raise Refused(f"an axis of dtype {tensor.dtype}")
    if len(tensor.items) != 1:
        raise Refused(f"an axis of {len(tensor.items)} items")
    if len(tensor.shape) > 1:
        raise Refused(f"an axis of shape {list(tensor.shape)}")
    return tensor.items[0]
