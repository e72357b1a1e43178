"""Creating a session warms it up with zeros: that takes little time and memory, whatever steps and branches there are."""
import json

import numpy as np
import onnx
import onnx.parser
import pytest

HEAD = '<ir_version: 8, opset_import: ["" : 17]>\n'
PRODUCT = 'r = Einsum <equation = "ij,jk,kl->il"> (x, x, x)'
RANGE = 'm = Add(n, count) r = Range(zero, m, one)'


def branches(inputs, output, initializers, then, otherwise):
    return (f"g (bool c, {inputs}) => ({output} y) <{initializers}> {{ y = If (c) <then_branch = t () => ({output} r) {{ {then} }}, "
            f"else_branch = e () => ({output} r) {{ {otherwise} }}> }}")


def save(tmp_path, text, **inputs):
    """The model's path and the words that give its inputs."""
    onnx.save(onnx.parser.parse_model(HEAD + text), tmp_path / "model.onnx")
    words = []
    for name, content in inputs.items():
        np.save(tmp_path / f"{name}.npy", content)
        words += ["--input", f"{name}={tmp_path / name}.npy"]
    return [tmp_path / "model.onnx", *words]


def expect_little(ingot, words):
    told = json.loads(ingot("bench", *words, "--seconds", .01, "--json").stdout)
    assert told["warmup_ms"] < 2000 and told["rss_mb"] < 1000


@pytest.mark.parametrize("taken", [False, True])
def test_a_branch_with_a_long_step_is_left(ingot, tmp_path, taken):
    both = [PRODUCT, "r = Relu(x)"]  # zeros take the second
    text = branches("float[250,250] x", "float[N,M]", "", *(both[::-1] if taken else both))
    expect_little(ingot, save(tmp_path, text, c=np.array(taken), x=np.zeros((250, 250), np.float32)))


@pytest.mark.parametrize("taken", [False, True])
def test_a_branch_with_a_large_value_is_left(ingot, tmp_path, taken):
    both = [RANGE, "r = Identity(small)"]
    text = branches("int64 n", "int64[N]", "int64 zero = {0}, int64 one = {1}, int64 count = {300000000}, int64[1] small = {1}",
                    *(both[::-1] if taken else both))
    expect_little(ingot, save(tmp_path, text, c=np.array(taken), n=np.array(0)))


@pytest.mark.parametrize("taken", [False, True])
def test_what_the_other_branch_would_take_does_not_count(ingot, tmp_path, taken):
    text = branches("int64 n", "int64[N]", "int64 zero = {0}, int64 one = {1}, int64 count = {9000000}", RANGE, RANGE)
    ingot("run", *save(tmp_path, text, c=np.array(taken), n=np.array(0)), "--memory-limit", "150M")  # of which it needs 144
