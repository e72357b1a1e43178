#!/usr/bin/env python3
"""Draw page.jpg, the picture that quickstart.sh shows to a model: a printed page, photographed.

usage: make_page.py [OUT.jpg]      needs pillow, numpy and the DejaVu fonts (Debian: fonts-dejavu-core)
"""
import os
import sys

import numpy as np
from PIL import Image, ImageDraw, ImageFilter, ImageFont

FONTS = "/usr/share/fonts/truetype/dejavu/"
PAGE = (960, 1280)  # width and height of the sheet, before it is photographed
PHOTO = (480, 640)
MARGIN = 96

TITLE = "On the Casting of Ingots"
PARAGRAPHS = [
    "An ingot is metal in its plainest form: poured once, left to cool, and kept until somebody knows what it is to "
    "become. It has no shape but that of its mould, and it wants none. What matters is that it is whole, that it is "
    "sound, and that the founder can say what is in it.",
    "The mould is warmed before the pour. A cold mould chills the first metal that touches it, and the skin that forms "
    "there will never join the rest. Dry it slowly beside the furnace and dress it with chalk; a single drop of water "
    "under the melt is enough to throw it across the room.",
    "Skim the melt, wait for the colour to settle, and pour in one steady stream, neither so fast that air is carried "
    "down nor so slow that the stream breaks. Fill the head a finger higher than the ingot is to be, for the metal "
    "shrinks as it sets and draws on what stands above it.",
    "When the head has gone dull, cover it and leave it alone. Most faults of an ingot are made after the pour, by a "
    "founder who could not wait. Weigh it cold, strike it once with a hammer, and listen: a sound ingot rings.",
]


def wrap(draw, text, font, width):
    lines, line = [], ""
    for word in text.split():
        longer = f"{line} {word}".strip()
        if draw.textlength(longer, font=font) > width:
            lines.append(line)
            longer = word
        line = longer
    return lines + [line]


def draw_sheet():
    sheet = Image.new("L", PAGE, 244)
    draw = ImageDraw.Draw(sheet)
    title = ImageFont.truetype(FONTS + "DejaVuSerif-Bold.ttf", 50)
    body = ImageFont.truetype(FONTS + "DejaVuSerif.ttf", 29)
    width = PAGE[0] - 2 * MARGIN
    draw.text((PAGE[0] / 2, MARGIN), TITLE, font=title, fill=30, anchor="ma")
    y = MARGIN + 110
    for paragraph in PARAGRAPHS:
        for line in wrap(draw, paragraph, body, width):
            draw.text((MARGIN, y), line, font=body, fill=40)
            y += 40
        y += 22
    draw.text((PAGE[0] / 2, PAGE[1] - 70), "17", font=body, fill=60, anchor="ma")
    return sheet


def perspective(corners, size):
    """The coefficients with which Image.transform maps a size rectangle onto the quadrilateral corners."""
    rows, targets = [], []
    for (x, y), (u, v) in zip(corners, [(0, 0), (size[0], 0), size, (0, size[1])]):
        rows += [[x, y, 1, 0, 0, 0, -u * x, -u * y], [0, 0, 0, x, y, 1, -v * x, -v * y]]
        targets += [u, v]
    return np.linalg.solve(np.array(rows, float), np.array(targets, float))


def photograph(sheet):
    """Lays the sheet on a dark table, seen a little from the left, under a lamp at the upper right."""
    size = (PHOTO[0] * 2, PHOTO[1] * 2)
    corners = [(40, 36), (size[0] - 28, 14), (size[0] - 52, size[1] - 30), (26, size[1] - 14)]
    coefficients = perspective(corners, sheet.size)
    page = sheet.transform(size, Image.Transform.PERSPECTIVE, coefficients, Image.Resampling.BICUBIC, fillcolor=0)
    mask = Image.new("L", sheet.size, 255).transform(size, Image.Transform.PERSPECTIVE, coefficients)
    photo = Image.composite(page, Image.new("L", size, 70), mask).filter(ImageFilter.GaussianBlur(0.8)).resize(PHOTO)
    y, x = np.mgrid[0:PHOTO[1], 0:PHOTO[0]]
    light = 1.0 - 0.22 * np.hypot(x / PHOTO[0] - 0.8, y / PHOTO[1] - 0.15)
    noise = np.random.default_rng(17).normal(0, 3, (PHOTO[1], PHOTO[0]))
    grey = np.asarray(photo, float) * light + noise
    warm = grey[..., None] * np.array([1.0, 0.985, 0.95])
    return Image.fromarray(np.clip(warm, 0, 255).astype(np.uint8))


def main():
    out = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "page.jpg")
    photograph(draw_sheet()).save(out, quality=82, optimize=True)


if __name__ == "__main__":
    main()
