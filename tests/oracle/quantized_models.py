"""Quantised models of ONNX Runtime and OpenVINO: `--dequantize` against the weights that the runtimes compute.

    python tests/oracle/quantized_models.py PROGRAM [onnx|openvino|nodes|chains] [COUNT]
    python tests/oracle/quantized_models.py golden      writes models into tests/golden/quantized/models/

Models of random weights are quantised by ONNX Runtime's quantisers (static, dynamic, blocks) and by NNCF. Each weight that
`PROGRAM convert --dequantize` writes is compared with the output of the nodes that compute it. Models of random nodes and chains are
compared with formulas in NumPy. Prints how many weights differ by more than a rounding. Without a package its part is left out.
"""

import pathlib
import random
import subprocess
import sys
import tempfile

import ml_dtypes
import numpy as np

import quantized as q

GOLDEN = q.GOLDEN / "models"


def converted(program, path, file):
    out = path / "out.safetensors"
    out.unlink(missing_ok=True)
    done = subprocess.run([program, "convert", file, "--dequantize", "-o", "out.safetensors"], cwd=path, capture_output=True, text=True)
    return (q.read(out) if done.returncode == 0 else {}), done.stderr.strip()


def is_close(found, expected, bits):
    """Within one rounding to `bits` of mantissa."""
    if found.shape != expected.shape:
        return False
    found, expected = found.astype("f8"), expected.astype("f8")
    return bool(np.all(np.abs(found - expected) <= np.maximum(np.abs(expected), 2.0**-14) * 2.0**-bits))


def float_model(rng, chance, opset):
    """A convolution, products and an embedding."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper
    k, n, hidden = (chance.choice([32, 48, 64]) for _ in range(3))
    weights = {
        "conv.weight": rng.standard_normal((6, 3, 3, 3)), "conv.bias": rng.standard_normal(6), "up.weight": rng.standard_normal((k, hidden)),
        "down.weight": rng.standard_normal((n, hidden)), "down.bias": rng.standard_normal(n), "table": rng.standard_normal((20, k))}
    nodes = [
        helper.make_node("Conv", ["image", "conv.weight", "conv.bias"], ["features"], "conv"),
        helper.make_node("Gather", ["table", "ids"], ["x"], "gather"),
        helper.make_node("MatMul", ["x", "up.weight"], ["h"], "up"),
        helper.make_node("Gemm", ["h", "down.weight", "down.bias"], ["y"], "down", transB=1)]
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 3, 8, 8]), helper.make_tensor_value_info("ids", TensorProto.INT64, [4])],
        [helper.make_tensor_value_info("features", TensorProto.FLOAT, None), helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(value.astype("f4"), name) for name, value in weights.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


def quantise(path, rng, chance, kind):
    """Writes q.onnx, of one of the quantisers."""
    import onnx
    from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_dynamic, quantize_static
    from onnxruntime.quantization.matmul_nbits_quantizer import DefaultWeightOnlyQuantConfig, MatMulNBitsQuantizer

    class Reader(CalibrationDataReader):
        left = 2

        def get_next(self):
            self.left -= 1
            feeds = {"image": rng.standard_normal((1, 3, 8, 8)).astype("f4"), "ids": rng.integers(0, 20, 4)}
            return feeds if self.left >= 0 else None

    opset = chance.choice([13, 17, 19]) if kind in ("static", "operators", "dynamic") else 21
    onnx.save(float_model(rng, chance, opset), path / "f.onnx")
    types = [QuantType.QInt8, QuantType.QUInt8]
    own = [QuantType.QInt4, QuantType.QUInt4, QuantType.QInt16, QuantType.QUInt16] if kind == "static21" else types
    options = {"per_channel": chance.choice([True, False]), "weight_type": chance.choice(own)}
    if kind == "dynamic":
        quantize_dynamic(path / "f.onnx", path / "q.onnx", **options)
    elif kind == "blocks":
        form = chance.choice([QuantFormat.QOperator, QuantFormat.QDQ])
        bits = chance.choice([4, 8] if form == QuantFormat.QOperator else [4])
        config = DefaultWeightOnlyQuantConfig(
            block_size=chance.choice([16, 32, 64]), is_symmetric=chance.choice([True, False]), bits=bits, quant_format=form,
            op_types_to_quantize=("MatMul", "Gather") if bits == 4 and form == QuantFormat.QOperator else ("MatMul",),
            quant_axes=(("MatMul", 0), ("Gather", 1)))
        quantiser = MatMulNBitsQuantizer(onnx.load(path / "f.onnx"), algo_config=config)
        quantiser.process()
        quantiser.model.save_model_to_file(str(path / "q.onnx"), False)
    else:
        form = QuantFormat.QOperator if kind == "operators" else QuantFormat.QDQ
        quantize_static(path / "f.onnx", path / "q.onnx", Reader(), quant_format=form, 
                        activation_type=QuantType.QUInt8 if options["weight_type"] == QuantType.QUInt8 else chance.choice(types), **options)


def runtime_weights(path):
    """The weights that the runtime computes, by the name of their codes, and whether they are transposed."""
    import onnx
    import onnxruntime as ort
    from onnx import TensorProto, helper, numpy_helper
    model = onnx.load(path / "q.onnx")
    constants = {tensor.name: tensor for tensor in model.graph.initializer}
    opsets, found = list(model.opset_import), {}

    def run(nodes, names, feeds=None, inputs=()):
        own = [constants[name] for name in names if name in constants]
        graph = helper.make_graph(nodes, "w", list(inputs), [helper.make_tensor_value_info("out", TensorProto.FLOAT, None)], own)
        settings = ort.SessionOptions()
        settings.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
        settings.log_severity_level = 4
        one = helper.make_model(graph, opset_imports=opsets, ir_version=10)
        return ort.InferenceSession(one.SerializeToString(), settings, providers=["CPUExecutionProvider"]).run(None, feeds or {})[0]

    for node in model.graph.node:
        attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        inputs = list(node.input)
        if node.op_type == "DequantizeLinear" and inputs[0] in constants:
            copy = onnx.NodeProto()
            copy.CopyFrom(node)
            copy.output[0] = "out"
            found[inputs[0]] = run([copy], inputs)
        elif node.op_type == "MatMulNBits":
            copy = onnx.NodeProto()
            copy.CopyFrom(node)
            copy.output[0], copy.input[0] = "out", "one"
            size = attributes["K"]
            found[inputs[1]] = run([copy], inputs[1:], {"one": np.eye(size, dtype="f4")}, [helper.make_tensor_value_info("one", TensorProto.FLOAT, [size, size])])
        elif node.op_type == "GatherBlockQuantized":
            copy = onnx.NodeProto()
            copy.CopyFrom(node)
            copy.output[0], copy.input[1] = "out", "all"
            constants["all"] = numpy_helper.from_array(np.arange(20), "all")
            found[inputs[0]] = run([copy], inputs + ["all"])
        elif node.op_type.startswith(("QLinear", "QGemm", "MatMulInteger", "ConvInteger", "DynamicQuantizeMatMul")):
            place = {"MatMulInteger": (1, None, 3), "ConvInteger": (1, None, 3)}.get(node.op_type, (3, 4, 5))
            codes = inputs[place[0]]
            if codes not in constants:
                continue
            scale_name = codes.replace("_quantized", "_scale") if place[1] is None else inputs[place[1]]
            values, scale = (numpy_helper.to_array(constants[name]).astype("f4") for name in (codes, scale_name))
            zero = numpy_helper.to_array(constants[inputs[place[2]]]).astype("f4") if len(inputs) > place[2] else np.float32(0)
            axis = 0 if "Conv" in node.op_type or attributes.get("transB") else values.ndim - 1
            shape = [-1 if a == axis else 1 for a in range(values.ndim)]
            if node.op_type in ("QLinearConv", "QGemm") and len(inputs) > (place := 8 if "Conv" in node.op_type else 6) and inputs[place]:
                bias, whole = numpy_helper.to_array(constants[inputs[place]]).astype("f4"), numpy_helper.to_array(constants[inputs[1]])
                found[inputs[place]] = bias * (scale * whole)
            found[codes] = (values - (zero.reshape(shape) if zero.size > 1 else zero)) * (scale.reshape(shape) if scale.size > 1 else scale)
    return found


def onnx_models(program, count):
    weights, wrong = 0, 0
    for seed in range(count):
        rng, chance = np.random.default_rng(seed), random.Random(seed)
        kind = ["static", "operators", "dynamic", "blocks", "static21"][seed % 5]
        with tempfile.TemporaryDirectory() as name:
            path = pathlib.Path(name)
            quantise(path, rng, chance, kind)
            expected = runtime_weights(path)
            found, error = converted(program, path, "q.onnx")
            for codes, value in expected.items():
                weights += 1
                plain = codes
                for ending in ["_quantized", "_DQ_Q4", "_Q4", "_Q8"]:
                    plain = plain.removesuffix(ending)
                if plain not in found or not is_close(found[plain], value, 23):
                    wrong += 1
                    print(seed, kind, codes, value.shape, found[plain].shape if plain in found else sorted(found), error)
            left = [key for key, value in found.items() if value.dtype.kind in "iu" and value.size > 16]
            if left or not expected:
                wrong += 1
                print(seed, kind, "codes are left", left, len(expected))
    print(f"{count} ONNX models, {weights} weights, {wrong} wrong")
    return wrong


def openvino_models(program, count):
    import nncf
    import openvino as ov
    from openvino import opset13 as op
    nncf.set_log_level(40)
    modes = ["int8_asym", "int8_sym", "int4_asym", "int4_sym", "nf4", "mxfp4", "mxfp8_e4m3", "fp8_e4m3", "fp4"]
    weights, wrong = 0, 0
    for seed in range(count):
        rng, chance = np.random.default_rng(seed), random.Random(seed)
        mode = modes[seed % len(modes)]
        k, n, hidden = (chance.choice([64, 128, 192]) for _ in range(3))
        constant = lambda name, *shape: op.constant(rng.standard_normal(shape).astype("f4"), name=name)
        x, ids = op.parameter([-1, k], np.float32, name="x"), op.parameter([-1], np.int64, name="ids")
        up = op.matmul(x, constant("up.weight", hidden, k), False, True)
        down = op.matmul(up, constant("down.weight", hidden, n), False, False)
        total = op.add(down, op.gather(constant("table", 20, n), ids, op.constant(np.int64(0))))
        model = ov.Model([total], [x, ids], "m")
        options = {"mode": nncf.CompressWeightsMode(mode)}
        if not mode.startswith("int8"):
            options |= {"group_size": 32 if mode.startswith("mx") else chance.choice([32, 64, -1]), "ratio": 1.0, "all_layers": True}
        model = nncf.compress_weights(model, **options)
        with tempfile.TemporaryDirectory() as name:
            path = pathlib.Path(name)
            ov.save_model(model, path / "q.xml", compress_to_fp16=chance.choice([True, False]))
            loaded = ov.Core().read_model(path / "q.xml")
            found, error = converted(program, path, "q.xml")
            for layer in [node for node in loaded.get_ops() if node.get_type_name() == "Multiply"]:
                codes = layer
                while codes.get_type_name() != "Constant":
                    codes = codes.input_value(0).get_node()
                last = layer
                for _ in range(2):
                    after = [target.get_node() for target in last.output(0).get_target_inputs()]
                    last = next((node for node in after if node.get_type_name() in ("Reshape", "Convert")), last)
                one = ov.Model([last.output(0)], [], "w")
                value = next(iter(ov.Core().compile_model(one, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})({}).values()))
                weights, plain = weights + 1, codes.get_friendly_name()
                if plain not in found or not is_close(found[plain], value, 10):
                    wrong += 1
                    print(seed, mode, plain, value.shape, found[plain].shape if plain in found else sorted(found), error)
            left = [key for key, value in found.items() if value.dtype.kind in "iu" and value.size > 16]
            if left:
                wrong += 1
                print(seed, mode, "codes are left", left)
    print(f"{count} OpenVINO models, {weights} weights, {wrong} wrong")
    return wrong


def packed(items, bits):
    """Codes along the last axis, from the low bits of each byte on; the last byte of a row is filled with zeros."""
    each = 8 // bits
    items = np.concatenate([items, np.zeros((*items.shape[:-1], -items.shape[-1] % each), "u1")], -1)
    return np.bitwise_or.reduce([items[..., k::each] << (bits * k) for k in range(each)]).astype("u1")


def node_model(rng, chance, count):
    """Nodes whose inputs are constants, and the weights by formulas."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper
    nodes, constants, expected = [], [], {}
    opset = chance.choice([10, 13, 19, 21, 23, 25])

    def constant(name, value, typed=None):
        value = np.asarray(value)
        if typed or value.ndim == 0 and chance.random() < 0.5 and value.dtype.name in ("float32", "uint8", "int8"):
            constants.append(helper.make_tensor(name, typed or helper.np_dtype_to_tensor_dtype(value.dtype), value.shape, value.flatten().tolist()))
        else:
            constants.append(numpy_helper.from_array(value, name))

    def linear(name):
        rank = chance.randint(1, 4)
        shape = [chance.randint(1, 6) for _ in range(rank)]
        dtypes = ["int8", "uint8"] + (["int32"] if opset < 21 else ["int16", "uint16", "int4", "uint4", "int32"]) + (["float8_e4m3fn", "float8_e5m2"] if opset >= 19 else [])
        dtypes += ["float4_e2m1fn"] if opset >= 23 else []
        dtype = chance.choice(dtypes)
        real = np.dtype(getattr(ml_dtypes, dtype, dtype))
        draw = lambda shape: rng.integers(0, 256, (*shape, real.itemsize), "u1").view(real)[..., 0] if dtype not in ("int4", "uint4", "float4_e2m1fn") else (
            rng.integers(0, 16, shape, "u1") if dtype != "int4" else rng.integers(-8, 8, shape, "i1")).astype("i1" if dtype == "int4" else "u1")
        codes = draw(shape)
        if dtype == "float4_e2m1fn":
            codes = codes.view(real)
        elif dtype in ("int4", "uint4"):
            codes = codes.astype(real)
        axis, kind = chance.randrange(rank), chance.choice(["all", "axis", "block"])
        kind = "all" if opset == 10 else "axis" if opset < 21 and kind == "block" else kind
        block = chance.randint(1, 4)
        grid = {"all": chance.choice([[], [1]]) if opset > 10 else [], "axis": [shape[axis]], "block": [-(-n // block) if a == axis else n for a, n in enumerate(shape)]}[kind]
        if grid == [1] and kind == "all" and rank == 1 and shape[0] > 1 and opset >= 13:
            grid = []
        scales = rng.standard_normal(grid).astype(chance.choice(["f4", "f2"]) if opset >= 19 else "f4")
        zeros = None if dtype in ("int32", "float4_e2m1fn") or chance.random() < 0.3 or dtype.startswith("float8") else draw(grid).astype(real)
        constant(f"{name}_quantized", codes)
        constant(f"{name}_scale", scales)
        if zeros is not None:
            constant(f"{name}_zero_point", zeros)
        attributes = {} if opset == 10 else {"axis": chance.choice([axis, axis - rank])}
        if kind == "block":
            attributes["block_size"] = block
        nodes.append(helper.make_node("DequantizeLinear", [f"{name}_quantized", f"{name}_scale"] + ([f"{name}_zero_point"] if zeros is not None else []), [name + "_out"], name, **attributes))
        def spread(numbers):
            numbers = numbers.astype("f4")
            if kind == "all":
                return numbers.reshape(())
            if kind == "axis":
                return numbers.reshape([-1 if a == axis else 1 for a in range(rank)])
            return np.take(np.repeat(numbers, block, axis), range(shape[axis]), axis)
        values = codes.astype("f4")
        expected[name] = ((values - spread(zeros) if zeros is not None else values) * spread(scales)).reshape(shape)

    def rows(name):
        bits, block = chance.choice([2, 4, 8]), chance.choice([16, 32])
        n, k = chance.randint(1, 5), chance.randint(1, 70)
        blocks = -(-k // block)
        codes, scales = rng.integers(0, 2**bits, (n, blocks * block), "u1"), rng.standard_normal((n, blocks)).astype("f4")
        kind, places = chance.choice(["none", "packed", "float"]), np.arange(k) // block
        inputs = ["x", f"{name}_Q{bits}", f"{name}_scales"]
        constant(inputs[1], packed(codes, bits).reshape(n, blocks, -1))
        constant(inputs[2], scales.reshape(chance.choice([(n, blocks), (n * blocks,)])))
        zeros = np.full((n, blocks), 2 ** (bits - 1), "f4")
        if kind != "none":
            zeros = rng.integers(0, 2**bits, (n, blocks), "u1")
            constant(f"{name}_zero_points", packed(zeros, bits).flatten() if kind == "packed" else zeros.astype("f4"))
            inputs.append(f"{name}_zero_points")
        if chance.random() < 0.3:
            places = rng.integers(0, blocks, k).astype("i4")
            constant(f"{name}_g_idx", places)
            inputs += [""] * (4 - len(inputs)) + [f"{name}_g_idx"]
        nodes.append(helper.make_node("MatMulNBits", inputs, [name + "_out"], name, domain="com.microsoft", N=n, K=k, bits=bits, block_size=block))
        expected[name] = ((codes[:, :k].astype("f4") - zeros.astype("f4")[:, places]) * scales[:, places]).T

    def gathered(name):
        bits, block = chance.choice([4, 8]), chance.choice([16, 32])
        n, k = chance.randint(1, 5), chance.randint(1, 40) * 2
        blocks = -(-k // block)
        is_typed = bits == 4 and chance.random() < 0.4
        codes, scales = rng.integers(0, 2**bits, (n, k), "u1"), rng.standard_normal((n, blocks)).astype("f4")
        zeros = rng.integers(0, 2**bits, (n, blocks), "u1") if chance.random() < 0.5 else None
        inputs = [f"{name}.qweight", "ids", f"{name}.scales"] + ([f"{name}.zeros"] if zeros is not None else [])
        constant(inputs[0], codes.astype(ml_dtypes.uint4) if is_typed else packed(codes, bits))
        constant(inputs[2], scales)
        if zeros is not None:
            constant(inputs[3], zeros.astype(ml_dtypes.uint4) if is_typed else packed(zeros, bits))
        nodes.append(helper.make_node("GatherBlockQuantized", inputs, [name + "_out"], name, domain="com.microsoft", bits=bits, block_size=block, quantize_axis=1, gather_axis=0))
        zero = (0 if is_typed else 2 ** (bits - 1)) if zeros is None else np.repeat(zeros.astype("f4"), block, 1)[:, :k]
        expected[f"{name}.weight"] = (codes.astype("f4") - np.float32(zero)) * np.repeat(scales, block, 1)[:, :k]

    for number in range(count):
        [linear, linear, linear, rows, gathered][number % 5](f"w{number}")
    constant("image_scale", np.float32(0.5))
    nodes.append(helper.make_node("QuantizeLinear", ["image", "image_scale"], ["image_quantized"], "q"))
    constant("plain", np.arange(3, dtype="f4"))
    # the first half of the nodes in a branch, which finds its constants in the graph around it
    branch = helper.make_graph(nodes[:count // 2], "b", [], [])
    nodes = nodes[count // 2:] + [helper.make_node("If", ["flag"], ["chosen"], "if", then_branch=branch, else_branch=branch)]
    graph = helper.make_graph(nodes, "g", [], [], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)], ir_version=10), expected


def chain_model(rng, chance, count):
    """Chains of OpenVINO that compute weights, and the weights by formulas."""
    import openvino as ov
    from openvino import opset13 as op
    outputs, expected = [], {}
    for number in range(count):
        name, rank = f"w{number}.weight", chance.randint(1, 3)
        shape = [chance.randint(1, 5) for _ in range(rank - 1)] + [chance.randint(1, 4) * 2]
        kind = ["u8", "i8", "u4", "i4", "nf4", "f8e4m3"][number % 6]
        broadcast = [1 if chance.random() < 0.5 else n for n in shape]
        codes = rng.integers(0, 256 if "8" in kind else 16, shape, "u1")
        values = {"u8": codes.astype("f4"), "i8": codes.view("i1").astype("f4"), "u4": codes.astype("f4"), "i4": (codes ^ 8).astype("f4") - 8,
                  "nf4": NF4[codes % 16], "f8e4m3": codes.view(q.F8).astype("f4")}[kind]
        stored = codes.tobytes() if "8" in kind else packed(codes.reshape(1, -1), 4).tobytes()
        tensor = ov.Tensor(getattr(ov.Type, kind), ov.Shape(shape))
        np.copyto(np.frombuffer(tensor.data, "u1") if False else tensor.data.view("u1").reshape(-1), np.frombuffer(stored, "u1"))
        node = op.convert(op.constant(tensor, name=name), "f32")
        if kind in ("u8", "u4", "i8") and chance.random() < 0.6:
            zeros = rng.integers(0, 16, chance.choice([broadcast, [1] * rank])).astype("i1" if kind == "i8" else "u1")
            node, values = op.subtract(node, op.convert(op.constant(zeros, name=f"{name}/zero"), "f32")), values - zeros.astype("f4")
        scales = rng.standard_normal(broadcast).astype(chance.choice(["f4", "f2"]))
        scale = op.constant(scales, name=f"{name}/scale")
        scale = op.convert(scale, "f32") if scales.dtype == np.float16 else scale
        node = op.multiply(node, scale) if chance.random() < 0.7 else op.multiply(scale, node)
        values = values * scales.astype("f4")
        if chance.random() < 0.5:
            values = values.reshape(-1, 2)
            node = op.reshape(node, op.constant(np.array(values.shape, "i8")), False)
        outputs.append(op.result(node))
        expected[name] = values
    return ov.Model(outputs, [], "m"), expected


# the values of OpenVINO's nf4
NF4 = np.float32([-1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635, -0.18477343022823334,
                  -0.09105003625154495, 0.0, 0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224,
                  0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0])


def written(part, path, seed, count):
    """Writes a model of nodes or chains. Returns the name of its file and the weights."""
    rng, chance = np.random.default_rng(seed), random.Random(seed)
    with np.errstate(all="ignore"):
        model, expected = (node_model if part == "nodes" else chain_model)(rng, chance, count)
    if part == "nodes":
        import onnx
        onnx.save(model, path / "nodes.onnx")
        return "nodes.onnx", expected
    import openvino as ov
    ov.save_model(model, path / "chains.xml", compress_to_fp16=False)
    return "chains.xml", expected


def by_formulas(part):
    def run(program, count):
        weights, wrong = 0, 0
        for seed in range(count):
            with tempfile.TemporaryDirectory() as name:
                path = pathlib.Path(name)
                file, expected = written(part, path, seed, 20)
                found, error = converted(program, path, file)
                for key, value in expected.items():
                    weights += 1
                    value = np.ascontiguousarray(value, "f4")
                    if key not in found or not q.same(found[key], value):
                        wrong += 1
                        print(seed, key, value.shape, found[key].shape if key in found else sorted(found), error)
        print(f"{count} models of {part}, {weights} weights, {wrong} wrong")
        return wrong
    return run


def golden():
    GOLDEN.mkdir(exist_ok=True)
    for part in ["nodes", "chains"]:
        _, expected = written(part, GOLDEN, 20 if part == "nodes" else 1, 15 if part == "nodes" else 12)
        plain = {"plain": np.arange(3, dtype="f4")} if part == "nodes" else {}
        q.write_safetensors(GOLDEN / f"{part}.safetensors", plain | {key: np.ascontiguousarray(value, "f4") for key, value in expected.items()})


if __name__ == "__main__":
    if sys.argv[1] == "golden":
        sys.exit(golden())
    program = str(pathlib.Path(sys.argv[1]).absolute())
    parts = {"nodes": (by_formulas("nodes"), 50), "chains": (by_formulas("chains"), 50), "onnx": (onnx_models, 40), "openvino": (openvino_models, 27)}
    asked = [sys.argv[2]] if len(sys.argv) > 2 else list(parts)
    failed = 0
    for part in asked:
        run, count = parts[part]
        try:
            failed += run(program, int(sys.argv[3]) if len(sys.argv) > 3 else count)
        except ImportError as error:
            print(f"{part} is left out: {error}")
    sys.exit(failed > 0)
