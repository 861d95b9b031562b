import onnxruntime  # type: ignore[import-untyped]
import pytest
import tensorop_cli

CASES = tensorop_cli.cases("Gather", layout="onnx", class_=["must", "reject"], exclude="*/type-*")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_gather(case: tensorop_cli.Case) -> None:
    def run() -> object:
        session = onnxruntime.InferenceSession(case.model)
        return session.run(None, {f"input_{n}": x for n, x in enumerate(case.inputs) if x is not None})[0]

    if case.error:
        pytest.raises(Exception, run)
    else:
        tensorop_cli.assert_close(case.expected, run())
