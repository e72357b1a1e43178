"""The command line itself: verbs, options, exit codes, where messages go."""
import re

import pytest

VERBS = ["run", "inspect", "bench", "profile", "doctor", "verify", "ops"]


def test_no_verb_is_malformed_and_lists_the_verbs(ingot):
    message = ingot(code=2).stderr
    assert all(verb in message for verb in VERBS)


@pytest.mark.parametrize("verb", ["nonsense", "build", "serve", "--frobnicate"])
def test_unknown_verb_is_malformed_and_lists_the_verbs(ingot, verb):
    done = ingot(verb, code=2)
    assert verb in done.stderr and all(known in done.stderr for known in VERBS)
    assert done.stdout == ""


def test_help_lists_the_verbs(ingot):
    text = ingot("--help").stdout
    assert all(re.search(rf"^  {verb} ", text, re.M) for verb in VERBS)
    assert not re.search("^  (build|serve) ", text, re.M)


@pytest.mark.parametrize("verb", VERBS)
def test_verb_help_names_every_option_and_shows_an_example(ingot, verb):
    text = ingot(verb, "--help").stdout
    assert f"usage: ingot {verb}" in text and "--json" in text
    assert re.search(rf"^example:\n  ingot {verb}\b", text, re.M)


def test_version(ingot):
    assert re.fullmatch(r"ingot \d+\.\d+\.\d+\n", ingot("--version").stdout)


@pytest.mark.parametrize("words, expected", [
    (["run"], "MODEL"),
    (["run", "a", "b"], "b"),
    (["run", "a", "--frobnicate"], "--frobnicate"),
    (["run", "a", "-x"], "-x"),
    (["run", "a", "--thread", "1"], "--thread"),
    (["run", "a", "--threads"], "--threads"),
    (["run", "a", "--threads", "two"], "two"),
    (["run", "a", "--threads", "0"], "from 1"),
    (["run", "a", "--threads=-1"], "from 1"),
    (["run", "a", "--opt-level", "3"], "from 0 to 2"),
    (["run", "a", "--precision", "fp"], "fp32|tf32|fp16|bf16|int8"),
    (["run", "a", "--memory-limit", "4X"], "512M"),
    (["run", "a", "--memory-limit", "99999999999G"], "512M"),
    (["run", "a", "--json=yes"], "no value"),
    (["run", "a", "--labels", "x"], "--top"),
    (["run", "a", "--shape", "x=1xx2"], "1x3x224x224"),
    (["run", "a", "--shape", "x=1x"], "1x3x224x224"),
    (["run", "a", "--preprocess", "cifar"], "cifar"),
    (["run", "a", "--preprocess", "sizes=1x1"], "size, resize"),
    (["run", "a", "--preprocess", "size=0x4"], "WIDTHxHEIGHT"),
    (["run", "a", "--preprocess", "std=1:0:1"], "std"),
    (["run", "a", "--preprocess", "mean=1:2"], "mean"),
    (["bench", "a", "--seconds", "-1"], "from 0"),
    (["bench", "a", "--seconds", "nan"], "nan"),
    (["verify"], "DIR"),
    (["ops", "Conv"], "Conv"),
])
def test_malformed_command_line(ingot, words, expected):
    done = ingot(*words, code=2)
    assert expected in done.stderr and f"ingot {words[0]} --help" in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize("verb", ["run", "inspect", "bench"])
def test_missing_model_fails_and_is_named_once(ingot, verb, tmp_path):
    path = str(tmp_path / "none.onnx")
    done = ingot(verb, path, code=1)
    assert done.stderr.startswith(f"ingot {verb}: ") and done.stderr.count(path) == 1
    assert done.stdout == ""


def test_options_may_stand_anywhere_and_hold_their_value(ingot, float_model):
    ingot("run", "--input", "random", float_model, "--threads=1", "--memory-limit=1G", "--opt-level=0")


def test_words_behind_two_dashes_are_arguments(ingot):
    assert "--help" in ingot("inspect", "--", "--help", code=1).stderr
