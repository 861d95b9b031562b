"""Compares tensors with the files in the folder `golden` beside this file."""

from typing import Any

import numpy as np
import pytest

import tensorop_cli
from tensorop_cli.pytest_plugin import Golden


def softmax(logits: Any, axis: int) -> Any:
    """The operator that is tested."""
    powers = np.exp(logits - logits.max(axis, keepdims=True))
    return powers / powers.sum(axis, keepdims=True)


LOGITS = np.array([[0, 1, 2], [-3, 0.5, 100]], dtype=np.float32)


@pytest.mark.parametrize("axis", [0, 1])
def test_one_tensor(golden: Golden, axis: int) -> None:
    golden.check(softmax(LOGITS, axis), ulp=4)


def test_several_tensors(golden: Golden) -> None:
    golden.check({"rows": softmax(LOGITS, 0), "columns": softmax(LOGITS, 1)}, "both.safetensors", rtol=1e-5)


def test_a_sum_without_a_file() -> None:
    tensorop_cli.assert_close(expected=[1, 1], actual=softmax(LOGITS, 1).sum(1), atol=1e-6)


def test_an_axis_that_is_not_there_is_refused() -> None:
    with pytest.raises(tensorop_cli.Error, match="2 is outside"):
        tensorop_cli.run("gather", "[[0, 1, 2]]", "[0]", "--axis", "2")
