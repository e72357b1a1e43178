"""Which way up is a page? usage: page.py MODEL [PICTURE]. Needs pillow; quickstart.sh fetches the model."""
import sys

import ingot
import numpy as np
from PIL import Image

MEAN, DEVIATION = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]


def main(model: str, picture: str = "examples/data/page.jpg") -> None:
    session = ingot.load(model)
    pixels = np.asarray(Image.open(picture).convert("RGB").resize((224, 224)), np.float32) / 255
    x = ((pixels - MEAN) / DEVIATION).transpose(2, 0, 1)[None].astype(np.float32)
    scores = session(x)[0]
    for label, score in sorted(zip(session.metadata["character"].split(), scores), key=lambda pair: -pair[1]):
        print(f"{label:>4} {score:.3f}")


if __name__ == "__main__":
    main(*sys.argv[1:3])
