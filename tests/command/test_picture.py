"""From a picture to an input: Pillow and NumPy say what it must be."""
import numpy as np
import pytest
from onnx import TensorProto
from PIL import Image

FILTERS = {"bilinear": Image.BILINEAR, "bicubic": Image.BICUBIC, "nearest": Image.NEAREST}


def drawn(width, height, mode="RGB"):
    """Waves, edges and noise, the same every time."""
    rng = np.random.default_rng(1)
    y, x = np.mgrid[0:height, 0:width]
    channels = [127 + 90 * np.sin(x / (3 + c)) * np.cos(y / (5 + c)) + 60 * ((x // 9 + y // 7) % 2) for c in range(3)]
    pixels = np.stack(channels, -1) + rng.integers(-30, 30, (height, width, 3))
    picture = Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8))
    return picture.convert(mode)


def nchw(picture):
    pixels = np.asarray(picture)
    return (pixels[None] if pixels.ndim == 2 else pixels.transpose(2, 0, 1))[None]


@pytest.fixture
def prepared(through, tmp_path):
    """The input that the command makes of a picture."""
    def run(picture, element, shape, steps=None, name="x.png"):
        if isinstance(picture, Image.Image):
            picture.save(tmp_path / name)
            picture = tmp_path / name
        return through(picture, element, shape, *(["--preprocess", steps] if steps else []))
    return run


@pytest.mark.parametrize("size", [(20, 31), (64, 48), (97, 64), (150, 101)])
@pytest.mark.parametrize("kind", FILTERS)
def test_resizing_is_pillows(prepared, size, kind):
    picture = drawn(64, 48)
    got = prepared(picture, TensorProto.UINT8, [1, 3, "H", "W"], f"size={size[0]}x{size[1]},filter={kind}")
    assert np.array_equal(got, nchw(picture.resize(size, FILTERS[kind])))


def test_without_steps_the_picture_is_stretched_to_the_models_size(prepared):
    picture = drawn(50, 40)
    got = prepared(picture, TensorProto.FLOAT, [1, 3, 24, 32])
    assert np.array_equal(got, nchw(picture.resize((32, 24), Image.BILINEAR)).astype(np.float32))


def test_a_model_of_free_size_takes_the_pictures(prepared):
    picture = drawn(19, 23)
    assert np.array_equal(prepared(picture, TensorProto.UINT8, ["N", 3, "H", "W"]), nchw(picture))


@pytest.mark.parametrize("size", [(300, 400), (500, 333), (256, 256)])
def test_imagenet(prepared, size):
    picture = drawn(*size)
    got = prepared(picture, TensorProto.FLOAT, ["N", 3, 224, 224], "imagenet")
    shorter = min(size)
    resized = picture.resize(tuple(int(256 * side / shorter) for side in size), Image.BILINEAR)
    left, top = (round((side - 224) / 2) for side in resized.size)
    pixels = np.asarray(resized.crop((left, top, left + 224, top + 224))) / 255
    expected = (pixels - [0.485, 0.456, 0.406]) / [0.229, 0.224, 0.225]
    assert got.dtype == np.float32
    np.testing.assert_allclose(got, expected.transpose(2, 0, 1)[None], rtol=1e-6, atol=1e-6)


def test_a_preset_may_be_changed(prepared):
    picture = drawn(300, 300)
    got = prepared(picture, TensorProto.FLOAT, [1, 3, 64, 64], "imagenet,resize=shorter:64,crop=64x64,mean=0,std=1")
    expected = nchw(picture.resize((64, 64), Image.BILINEAR)) / 255
    np.testing.assert_allclose(got, expected, rtol=1e-6)


def test_pad_keeps_proportions_and_fills_right_and_bottom(prepared):
    picture = drawn(80, 40)
    got = prepared(picture, TensorProto.UINT8, [1, 3, 60, 60], "resize=pad,fill=114")
    expected = np.full((60, 60, 3), 114, np.uint8)
    expected[:30, :60] = np.asarray(picture.resize((60, 30), Image.BILINEAR))
    assert np.array_equal(got, expected.transpose(2, 0, 1)[None])


@pytest.mark.parametrize("channels, expected", [("rgb", [0, 1, 2]), ("bgr", [2, 1, 0])])
def test_channel_order_with_mean_and_std_in_the_order_used(prepared, channels, expected):
    picture = drawn(8, 8)
    got = prepared(picture, TensorProto.FLOAT, [1, 3, 8, 8], f"channels={channels},mean=1:2:3,std=2:4:8,scale=.5")
    pixels = np.asarray(picture)[..., expected] * 0.5
    assert np.array_equal(got, ((pixels - [1, 2, 3]) / [2, 4, 8]).astype(np.float32).transpose(2, 0, 1)[None])


def test_gray_is_pillows(prepared):
    picture = drawn(33, 21)
    assert np.array_equal(prepared(picture, TensorProto.UINT8, [1, "C", 21, 33], "channels=gray"), nchw(picture.convert("L")))


def test_a_model_of_one_channel_takes_gray(prepared):
    picture = drawn(33, 21)
    assert np.array_equal(prepared(picture, TensorProto.UINT8, [1, 1, 21, 33]), nchw(picture.convert("L")))


def test_layout_is_the_models(prepared):
    picture = drawn(16, 12)
    assert np.array_equal(prepared(picture, TensorProto.UINT8, ["N", 12, 16, 3]), np.asarray(picture)[None])


def test_layout_by_name(prepared):
    picture = drawn(16, 12)
    assert np.array_equal(prepared(picture, TensorProto.UINT8, ["A", "B", "C", "D"], "layout=nhwc"), np.asarray(picture)[None])


def test_without_a_batch(prepared):
    picture = drawn(16, 12)
    assert np.array_equal(prepared(picture, TensorProto.UINT8, [3, 12, 16]), nchw(picture)[0])


def test_half_precision_rounds_once_more(prepared):
    picture = drawn(16, 12)
    got = prepared(picture, TensorProto.FLOAT16, [1, 3, 12, 16], "scale=1/255,mean=.485,std=.229")
    expected = ((nchw(picture) / 255 - 0.485) / 0.229).astype(np.float32).astype(np.float16)
    assert got.dtype == np.float16
    assert np.abs(got.view(np.int16) - expected.view(np.int16)).max() <= 1  # 1/255 is a factor here
    assert (got == expected).mean() > 0.99


@pytest.mark.parametrize("mode", ["RGB", "L", "1", "P", "RGBA", "LA", "I;16"])
def test_kinds_of_png(prepared, tmp_path, mode):
    source = drawn(40, 30, "L")
    if mode == "I;16":
        picture = Image.fromarray(np.asarray(source).astype(np.uint16) * 257)
        expected = nchw(source.convert("RGB"))
    elif mode in ("RGBA", "LA"):
        picture = drawn(40, 30, mode)
        picture.putalpha(77)
        expected = nchw(drawn(40, 30, "RGB" if mode == "RGBA" else "L").convert("RGB"))
    else:
        picture = drawn(40, 30, mode)
        expected = nchw(picture.convert("RGB"))
    assert np.array_equal(prepared(picture, TensorProto.UINT8, [1, 3, 30, 40]), expected)


@pytest.mark.parametrize("mode", ["RGB", "L"])
@pytest.mark.parametrize("progressive", [False, True])
def test_jpeg(prepared, tmp_path, mode, progressive):
    drawn(41, 31, mode).save(tmp_path / "y.jpg", quality=90, progressive=progressive)
    got = prepared(tmp_path / "y.jpg", TensorProto.UINT8, [1, 3, 31, 41])
    expected = nchw(Image.open(tmp_path / "y.jpg").convert("RGB"))
    assert np.abs(got.astype(int) - expected.astype(int)).max() <= 2  # decoders may round differently


@pytest.mark.parametrize("extension", ["png", "jpg"])
def test_cut_and_damaged_pictures_are_refused(ingot, identity, tmp_path, extension):
    model = identity(x=(TensorProto.UINT8, [1, 3, 30, 40]))
    path = tmp_path / f"x.{extension}"
    drawn(40, 30).save(path)
    content = path.read_bytes()
    for bad in (b"", content[:10], content[:len(content) // 2], b"\0" * 500, content[100:]):
        path.write_bytes(bad)
        message = ingot("run", model, "--input", path, code=1).stderr
        assert str(path) in message and message.count("\n") == 1


def test_a_crop_larger_than_the_picture_is_refused(ingot, identity, tmp_path):
    drawn(40, 30).save(tmp_path / "x.png")
    message = ingot("run", identity(x=(TensorProto.UINT8, [1, 3, 30, 40])), "--input", tmp_path / "x.png",
                    "--preprocess", "resize=none,crop=41x10", code=1).stderr
    assert "41 x 10" in message and "40 x 30" in message


@pytest.mark.parametrize("element, shape", [(TensorProto.STRING, [1, 3, 30, 40]), (TensorProto.FLOAT, [3, 4])])
def test_an_input_that_takes_no_picture_says_so(ingot, identity, tmp_path, element, shape):
    drawn(40, 30).save(tmp_path / "x.png")
    assert "picture" in ingot("run", identity(x=(element, shape)), "--input", tmp_path / "x.png", code=1).stderr
