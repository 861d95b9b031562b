#!/usr/bin/env python3
"""Runs the conformance vectors in other runtimes, and lists where they differ.

usage: vectors.py [--runtime NAME]... [--tensorop PROGRAM] [--tract PROGRAM] [--results DIR] [--write] [--only GLOB]

Runtimes: onnx's reference evaluator (`reference`), ONNX Runtime (`onnxruntime`), OpenVINO's CPU plugin (`openvino`, its own
operators, and ONNX's through its frontend) and, where they are given, tract by its adapter (`cargo build` in
conformance/adapters/tract makes target/debug/tract-adapter) and tensorop itself, which has to pass everything that it knows.
Each runs in a process of its own that is started again when a case ends it by a signal or takes more than 10 seconds. A case
that a runtime has no kernel for (an operator, a type, a version) is counted and is no deviation. With --write the list takes its place in
conformance/DEVIATIONS.md. With --results the results are written to DIR/RUNTIME as the adapters do, and `tensorop check --actual`
has to come to the verdict of this script on each of them. Exit status 0 unless tensorop fails a case or judges otherwise. Needs numpy, ml_dtypes, onnx, onnxruntime, openvino.
"""
import argparse
import collections
import fnmatch
import io
import json
import multiprocessing
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import warnings

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "conformance"))
from mutants import NARROW, array_of  # noqa: E402

SECONDS = 10
# how ONNX Runtime and OpenVINO say that they have no kernel
NO_KERNEL = ("NOT_IMPLEMENTED", "Could not find an implementation", "not currently registered", "type is not supported",
             "onversion is not supported", "No translator")
# how tract says so, as its adapter has it: operators and types that it does not have, and inputs that are sequences
TRACT_HAS_NONE = re.compile(r"Unimplemented\(|can not be typed|Unknown DatumType|unknown ONNX TensorProto|has no type value"
                            r"| is not a number|doesn't implement num_traits")


# from which input on they are constants, as they are in models: axes, shapes and the ends of slices
CONSTANT_FROM = {"Slice": 1, "SliceScatter": 2, "ScatterUpdate": 3, "Gather": 2, "ScatterElementsUpdate": 3, "Transpose": 1,
                 "Reshape": 1, "Squeeze": 1, "Unsqueeze": 1, "Pad": 1, "Tile": 1, "Roll": 1, "Expand": 1, "Broadcast": 1, "Split": 1,
                 "VariadicSplit": 1, "StridedSlice": 1, "Reverse": 1, "BatchToSpace": 1, "SpaceToBatch": 1, "CenterCropPad": 1}


class NoKernel(Exception):
    """The runtime does not have what a case asks for, by its own words or by what can be given to it."""


# ------------------------------------------------------------------------------------------------------------- ONNX models

def model_of(case, arrays):
    """The model of one node for a case, and what to feed it; axes, shapes and the ends of slices are constants of it."""
    import onnx
    from onnx import helper, numpy_helper
    names, inputs, feeds, constants = [], [], {}, []
    first_constant = CONSTANT_FROM.get(case["operator"], len(arrays))
    for n, array in enumerate(arrays):
        name = "" if array is None else f"input_{n}"
        names.append(name)
        if isinstance(array, list):
            element = helper.make_tensor_type_proto(kind_of(array[0]), None)
            inputs.append(helper.make_value_info(name, helper.make_sequence_type_proto(element)))
            feeds[name] = array
        elif array is not None and n >= first_constant:
            constants.append(numpy_helper.from_array(array, name))
        elif array is not None:
            inputs.append(helper.make_tensor_value_info(name, kind_of(array), array.shape))
            feeds[name] = array
    count = len(case["outputs"]) if "outputs" in case else case.get("output_count", 1)
    node = helper.make_node(case["operator"], names, [f"output_{n}" for n in range(count)])
    for name, value in sorted(case["attributes"].items()):
        kind = onnx.AttributeProto.INTS if isinstance(value, list) else None      # of an empty list there is no telling
        node.attribute.append(helper.make_attribute(name, value, attr_type=kind))
    data = arrays[0][0] if isinstance(arrays[0], list) else arrays[0]
    outputs = [helper.make_tensor_value_info(name, kind_of(data), None) for name in node.output]
    graph = helper.make_graph([node], "case", inputs, outputs, constants)
    opset = helper.make_opsetid("", max(case["version"], 7))
    model = helper.make_model(graph, opset_imports=[opset])
    model.ir_version = 10 if case["version"] < 23 else helper.find_min_ir_version_for([opset])
    return model, feeds


def kind_of(array):
    import onnx
    if array.dtype.kind in "UO":
        return onnx.TensorProto.STRING
    return onnx.helper.np_dtype_to_tensor_dtype(array.dtype)


def plain(array):
    """Strings as objects, which the runtimes take."""
    if isinstance(array, list):
        return [plain(one) for one in array]
    return array.astype(object) if array is not None and array.dtype.kind == "U" else array


def run_reference(case, arrays):
    from onnx.reference import ReferenceEvaluator
    model, feeds = model_of(case, [plain(one) for one in arrays])
    try:
        return ReferenceEvaluator(model).run(None, feeds)
    except (NotImplementedError, ModuleNotFoundError) as error:
        raise NoKernel(str(error)) from None


def run_onnxruntime(case, arrays):
    import onnxruntime
    if any(one.dtype.name in NARROW for array in arrays if array is not None for one in (array if isinstance(array, list) else [array])):
        raise NoKernel("NumPy arrays of this type cannot be given to it")
    onnxruntime.set_default_logger_severity(4)
    model, feeds = model_of(case, [plain(one) for one in arrays])
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    try:
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        return session.run(None, feeds)
    except Exception as error:
        if any(words in str(error) for words in NO_KERNEL):
            raise NoKernel(str(error)) from None
        raise


# ---------------------------------------------------------------------------------------------------------------- OpenVINO

# the operator set that has a version of an operator, and the function that makes it
OPENVINO = {
    ("Slice", 8): (8, "slice"), ("SliceScatter", 15): (15, "slice_scatter"), ("ScatterUpdate", 3): (3, "scatter_update"),
    ("ScatterNDUpdate", 3): (4, "scatter_nd_update"), ("ScatterNDUpdate", 15): (15, "scatter_nd_update"),
    ("GatherND", 5): (5, "gather_nd"), ("GatherND", 8): (8, "gather_nd"), ("Gather", 1): (1, "gather"), ("Gather", 7): (7, "gather"),
    ("Gather", 8): (8, "gather"), ("GatherElements", 6): (6, "gather_elements"),
    ("ScatterElementsUpdate", 3): (3, "scatter_elements_update"), ("ScatterElementsUpdate", 12): (12, "scatter_elements_update"),
    ("Concat", 1): (1, "concat"), ("Transpose", 1): (1, "transpose"), ("Reshape", 1): (1, "reshape"),
    ("Squeeze", 0): (1, "squeeze"), ("Unsqueeze", 0): (1, "unsqueeze"),
}
# the others are made by their name and attributes, of the operator set that has the number of their version but for these
OPENVINO_BY_NAME = {("ShuffleChannels", 1): 3}


def run_openvino(case, arrays):
    import importlib

    import openvino
    from openvino.utils.node_factory import NodeFactory
    if any(one.dtype.kind in "cU" or one.dtype.name in NARROW for array in arrays if array is not None
           for one in (array if isinstance(array, list) else [array])):
        raise NoKernel("NumPy arrays of this type cannot be given to it")
    core = openvino.Core()
    core.set_property({"INFERENCE_NUM_THREADS": 1})
    # in their own precision, else the plugin may compute in another
    exact = {"INFERENCE_PRECISION_HINT": "f32", "EXECUTION_MODE_HINT": "ACCURACY"}
    if case["specification"] == "onnx":
        model, feeds = model_of(case, arrays)
        try:
            read = core.read_model(model.SerializeToString())
        except Exception as error:
            if any(words in str(error) for words in NO_KERNEL):
                raise NoKernel(str(error)) from None
            raise
        return list(core.compile_model(read, "CPU", exact)(list(feeds.values())).values())
    number, name = OPENVINO.get((case["operator"], case["version"]), (1, None))
    opset = importlib.import_module(f"openvino.opset{number}")
    first_constant = CONSTANT_FROM.get(case["operator"], len(arrays))
    nodes, parameters, feeds = [], [], []
    for n, array in enumerate(arrays):
        if n >= first_constant:
            # the function that makes one of an array refuses an array of no items, which OpenVINO itself knows
            if array.size:
                nodes.append(opset.constant(array))
            else:
                nodes.append(openvino.op.Constant(openvino.Type(array.dtype), openvino.Shape(array.shape), []))
        else:
            parameters.append(opset.parameter(array.shape, openvino.Type(array.dtype)))
            nodes.append(parameters[-1])
            feeds.append(array)
    if name is None:
        number = OPENVINO_BY_NAME.get((case["operator"], case["version"]), case["version"])
        made = NodeFactory(f"opset{number}").create(case["operator"], [node.output(0) for node in nodes], case["attributes"])
    else:
        made = getattr(opset, name)(*([nodes] if name == "concat" else nodes), **case["attributes"])
    return list(core.compile_model(openvino.Model(made.outputs(), parameters), "CPU", exact)(feeds).values())


# ------------------------------------------------------------------------------------------------------------------- tract

def run_tract(case, arrays):
    import onnx
    from onnx import numpy_helper
    if isinstance(arrays[0], list):
        raise NoKernel("inputs are tensors")
    model, feeds = model_of(case, [plain(one) for one in arrays])
    with tempfile.TemporaryDirectory() as folder:
        data = pathlib.Path(folder, "test_data_set_0")
        data.mkdir()
        onnx.save(model, pathlib.Path(folder, "model.onnx"))
        for n, array in enumerate(feeds.values()):
            (data / f"input_{n}.pb").write_bytes(numpy_helper.from_array(array).SerializeToString())
        program = os.environ["TRACT_ADAPTER"]
        done = subprocess.run([program, data, folder], capture_output=True, text=True, env={"RUST_BACKTRACE": "0"})
        if done.returncode == 0:
            made = sorted(pathlib.Path(folder).glob("output_*.pb"), key=lambda path: int(path.stem.removeprefix("output_")))
            return [numpy_helper.to_array(onnx.TensorProto.FromString(path.read_bytes())) for path in made]
    if done.returncode < 0:
        os.kill(os.getpid(), -done.returncode)
    if done.returncode == 124:     # the adapter has ended what does not end
        time.sleep(2 * SECONDS)
    if TRACT_HAS_NONE.search(done.stderr):
        raise NoKernel(done.stderr)
    lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
    if done.returncode == 101:
        at = next(n for n, line in enumerate(lines) if "panicked at" in line)
        raise RuntimeError(f"it panics, {lines[at + 1]}")
    # after what was about to be done come the causes, numbered if there are several; the last says what is wrong
    told = lines[lines.index("Caused by:") + 1:] if "Caused by:" in lines else lines
    numbered = [line for line in told if re.match(r"\d+: ", line)]
    raise RuntimeError(re.sub(r"^(\d+|Error): ", "", numbered[-1] if numbered else told[0]))


RUNTIMES = {"reference": run_reference, "onnxruntime": run_onnxruntime, "openvino": run_openvino, "tract": run_tract}
TITLES = {"reference": "onnx's reference evaluator", "onnxruntime": "ONNX Runtime, CPU", "openvino": "OpenVINO, CPU plugin",
          "tract": "tract"}
PACKAGES = {"reference": "onnx", "onnxruntime": "onnxruntime", "openvino": "openvino"}
TAKES = {"reference": ("onnx",), "onnxruntime": ("onnx",), "openvino": ("openvino", "onnx"), "tract": ("onnx",)}


# ---------------------------------------------------------------------------------------------------- a process for a runtime

def work(runtime, pipe):
    """Runs cases that come through a pipe, until there are no more."""
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    sys.stderr = open("/dev/null", "w")
    while (case := pipe.recv()) is not None:
        arrays = [array_of(one) for one in case["inputs"]]
        try:
            made = [np.asarray(one) for one in RUNTIMES[runtime](case, arrays)]
            pipe.send(("output", [one.astype("U") if one.dtype == object else one for one in made]))
        except NoKernel:
            pipe.send(("no kernel", None))
        except Exception as error:
            pipe.send(("refused", reason(error)))


def reason(error):
    """The line of an error that says most; OpenVINO's begin with where in its source they are from."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
    told = [line for line in lines if not line.startswith(("Exception from", "While validating", "For further"))]
    return (told or lines)[0]


class Worker:
    def __init__(self, runtime):
        self.runtime, self.process = runtime, None

    def run(self, case):
        """What a runtime does with a case: a word, and what belongs to it."""
        if self.process is None:
            self.pipe, other = multiprocessing.Pipe()
            self.process = multiprocessing.Process(target=work, args=(self.runtime, other), daemon=True)
            self.process.start()
            other.close()
        self.pipe.send(case)
        try:
            if self.pipe.poll(SECONDS):
                return self.pipe.recv()
            self.process.kill()
            self.process, done = None, ("hangs", None)
            return done
        except (EOFError, ConnectionResetError):
            self.process.join()
            code, self.process = self.process.exitcode, None
            return "ended", signal.Signals(-code).name if code < 0 else f"status {code}"


def same(made, expected):
    if made.shape != expected.shape or (made.dtype != expected.dtype and made.dtype.kind != "U"):
        return False
    if expected.dtype.kind in "U":
        return np.array_equal(made, expected)
    bits, wanted = np.ascontiguousarray(made), np.ascontiguousarray(expected)
    nan = np.zeros(expected.shape, bool)
    if expected.dtype.kind in "fc" or expected.dtype.name in NARROW[:6]:
        nan = (made != made) & (expected != expected)
    size = expected.dtype.itemsize
    if expected.dtype.kind == "c":
        return bool(np.all((made == expected) | nan))
    bits, wanted = (one.reshape(-1).view(np.uint8).reshape(-1, size) for one in (bits, wanted))
    return bool(np.all(np.all(bits == wanted, axis=1) | nan.reshape(-1))) if size else True


def shown(array):
    """An array in one short line."""
    text = np.array2string(array.reshape(-1), threshold=8, edgeitems=4, max_line_width=10**6, separator=" ").replace("\n", "")
    return f"{array.dtype} {list(array.shape)} {text}"


def deviation(case, word, result):
    """What a runtime does otherwise than a case asks, None if nothing."""
    if word == "ended":
        return f"ends by {result}"
    if word == "hangs":
        return f"does not end in {SECONDS} seconds"
    if "error" in case:
        return None if word == "refused" else f"accepts it, and gives {', '.join(map(shown, result))}"
    if word == "refused":
        return f"refuses it: {result[:110]}"
    expected = [array_of(one) for one in case.get("outputs", [case.get("output")])]
    if len(result) != len(expected):
        return f"gives {len(result)} outputs, expected {len(expected)}"
    differ = (of_one(one, wanted) for one, wanted in zip(result, expected))
    return next((differs for differs in differ if differs), None)


def of_one(result, expected):
    """What is otherwise with one output, None if nothing."""
    if same(result, expected):
        return None
    if result.dtype != expected.dtype and result.dtype.kind != "U":
        return f"gives {result.dtype}, expected {expected.dtype}"
    if result.shape != expected.shape:
        return f"gives shape {list(result.shape)}, expected {list(expected.shape)}"
    return f"gives {shown(result)}, expected {shown(expected)}"


# -------------------------------------------------------------------------------------------------------------- the report

def save(folder, word, result):
    """Writes the result of a case as the adapters do."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    if word == "output":
        for n, array in enumerate(result):
            np.save(folder / (f"output_{n}.npy" if len(result) > 1 else "output.npy"), array)
    else:
        (folder / {"refused": "refused", "no kernel": "unsupported"}.get(word, "crashed")).write_text(str(result or word))


def other_verdicts(program, results, verdicts):
    """The cases on which `tensorop check` comes to another verdict than this script, which has `verdicts` by their ids."""
    command = [program, "check", *sorted((ROOT / "conformance").glob("*.json")), "--json", "--actual", results]
    tests = json.loads(subprocess.run(command, capture_output=True).stdout)["tests"]
    judged = {test["id"].split("#")[1]: test["reason"] or "passes" for test in tests}
    return [f"{id}: {judged[id]}" for id, passes in verdicts.items() if (judged[id] == "passes") != passes]


def judge(runtime, cases, results, program):
    """The counts of what a runtime does, and its deviations by operator and version."""
    verdicts = {}
    worker, counts, found = Worker(runtime), collections.Counter(), collections.defaultdict(list)
    for n, case in enumerate(cases):
        if case["specification"] not in TAKES[runtime]:
            continue
        word, result = worker.run(case)
        if results:
            save(results / f"{case['id'].split('/')[0]}#{case['id']}", word, result)
            verdicts[case["id"]] = word != "no kernel" and deviation(case, word, result) is None
        if word == "no kernel":
            counts["no kernel"] += 1
            continue
        differs = deviation(case, word, result)
        counts[case["class"], "differs" if differs else "same"] += 1
        if differs:
            found[f"{'ONNX' if case['specification'] == 'onnx' else 'OpenVINO'} {case['operator']}-{case['version']}"].append((case, differs))
        if sys.stderr.isatty():
            print(f"\r{runtime} {n + 1}/{len(cases)}", end="", file=sys.stderr)
    others = other_verdicts(program, results, verdicts) if results else []
    for other in others:
        print(f"tensorop: another verdict on {runtime}: {other}")
    return counts, found, not others


def report(runtime, counts, found, out):
    import importlib.metadata
    if runtime == "tract":
        lock = (ROOT / "conformance/adapters/tract/Cargo.lock").read_text()
        version = re.search(r'name = "tract-onnx"\nversion = "(.*)"', lock)[1]
    else:
        version = importlib.metadata.version(PACKAGES[runtime])
    print(f"\n## {TITLES[runtime]} {version}\n", file=out)
    print("| class | as expected | otherwise |\n| --- | --- | --- |", file=out)
    for kind in ("must", "reject", "choice"):
        print(f"| {kind} | {counts[kind, 'same']} | {counts[kind, 'differs']} |", file=out)
    print(f"\n{counts['no kernel']} cases are unsupported: it has no kernel for an operator, type or version, or NumPy cannot give it the type.", file=out)
    if runtime == "tract":
        print("Where it must know a value before it runs, such as the shape to reshape to, it was given as a constant.", file=out)
    for operator, cases in sorted(found.items()):
        print(f"\n### {operator}\n", file=out)
        for case, differs in cases:
            text = " ".join(differs.split()).replace("|", "\\|").replace("<", "&lt;")
            print(f"- `{case['id'].split('/', 1)[1]}` ({case['class']}): {text}", file=out)


def check_tensorop(program, only):
    command = [program, "check", *sorted((ROOT / "conformance").glob("*.json")), "--json"]
    done = subprocess.run(command, capture_output=True)
    tests = [test for test in json.loads(done.stdout)["tests"] if fnmatch.fnmatch(test["id"].split("#")[1], only)]
    for test in tests:
        if test["verdict"] in ("failed", "broken"):
            print(f"tensorop: {test['verdict']} {test['id']}: {test['reason']}")
    counts = collections.Counter(test["verdict"] for test in tests)
    print("tensorop:", dict(counts))
    return counts["failed"] + counts["broken"] == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runtime", action="append", choices=sorted(RUNTIMES))
    parser.add_argument("--tensorop", metavar="PROGRAM")
    parser.add_argument("--tract", metavar="PROGRAM", help="its adapter, as it was built")
    parser.add_argument("--results", metavar="DIR", type=pathlib.Path, help="where results go for tensorop to judge")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--only", default="*", metavar="GLOB", help="ids of cases")
    args = parser.parse_args()
    np.seterr(all="ignore")
    if args.tract:
        os.environ["TRACT_ADAPTER"] = str(pathlib.Path(args.tract).resolve())
    if "tract" in (args.runtime or []) and not args.tract:
        parser.error("--runtime tract needs --tract PROGRAM")
    if args.results and not args.tensorop:
        parser.error("--results needs --tensorop PROGRAM")
    good = check_tensorop(args.tensorop, args.only) if args.tensorop else True
    cases = [case for path in sorted((ROOT / "conformance").glob("*.json")) for case in json.loads(path.read_text())
             if fnmatch.fnmatch(case["id"], args.only)]
    runtimes = args.runtime or ([] if args.tensorop and not args.write and not args.results else [name for name in RUNTIMES if name != "tract" or args.tract])
    reports = {}
    for runtime in runtimes:
        out = io.StringIO()
        counts, found, agrees = judge(runtime, cases, args.results and args.results / runtime, args.tensorop)
        good &= agrees
        report(runtime, counts, found, out)
        reports[TITLES[runtime]] = out.getvalue()
        if not args.write:
            print(out.getvalue(), end="")
    if args.write:
        write(reports)
    sys.exit(0 if good else 1)


def write(reports):
    """Puts reports in the place of older ones; what the list says of other runtimes stays."""
    path = ROOT / "conformance" / "DEVIATIONS.md"
    head, *sections = path.read_text().split("\n## ")
    for title, text in reports.items():
        others = [section for section in sections if not section.startswith(title)]
        at = next((n for n, section in enumerate(sections) if section.startswith(title)), len(others))
        sections = [*others[:at], text.strip().removeprefix("## ") + "\n", *others[at:]]
    path.write_text("\n## ".join([head, *sections]))


if __name__ == "__main__":
    main()
