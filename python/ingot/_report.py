"""HTML and SVG for notebooks."""
from __future__ import annotations

import html
from typing import Any, Iterable, List, Optional, Sequence, Tuple

from ._types import ValueInfo


def escape(value: Any) -> str:
    return html.escape(str(value))


def table(rows: Iterable[Sequence[Any]], head: Optional[Sequence[str]] = None, caption: Optional[str] = None) -> str:
    """An HTML table of texts."""
    parts = ["<table>"]
    if caption:
        parts.append(f"<caption>{escape(caption)}</caption>")
    if head:
        parts.append("<tr>" + "".join(f"<th>{escape(cell)}</th>" for cell in head) + "</tr>")
    for row in rows:
        parts.append("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>")
    return "".join([*parts, "</table>"])


def text_table(rows: Sequence[Sequence[Any]]) -> str:
    """Lines of columns for a terminal."""
    texts = [[str(cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in texts if i < len(row)) for i in range(max(map(len, texts), default=0))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in texts)


def shape_text(info: ValueInfo) -> str:
    if info.shape is None:
        return ""
    return "[" + ", ".join("?" if size is None else str(size) for size in info.shape) + "]"


def port_rows(inputs: Iterable[ValueInfo], outputs: Iterable[ValueInfo]) -> List[Tuple[str, str, str, str]]:
    rows = [("input", info.name, info.type, shape_text(info)) for info in inputs]
    return rows + [("output", info.name, info.type, shape_text(info)) for info in outputs]


def ports_html(title: str, inputs: Iterable[ValueInfo], outputs: Iterable[ValueInfo]) -> str:
    return table(port_rows(inputs, outputs), ("", "name", "type", "shape"), title)


LINE, BOX, GAP, WIDTH = 22, 360, 8, 640  # of the plan's picture, in pixels


def plan_svg(regions: Sequence[Any], amount: str, words: str, limit: int = 200) -> str:
    """A picture of a plan: a box a step, in the order in which they run, and bars as long as their amount, told in words."""
    shown = regions[:limit]
    most = max([region[amount] for region in shown], default=0) or 1
    height = len(shown) * (LINE + GAP) + GAP + (LINE if len(regions) > limit else 0)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
             'font-family="sans-serif" font-size="12">']
    for i, region in enumerate(shown):
        y = GAP + i * (LINE + GAP)
        name = escape(region["operators"][:48])
        title = escape(f"{region['name']}: {region['operators']}, {region['tactic']}")
        parts.append(f'<g><title>{title}</title><rect x="4" y="{y}" width="{BOX}" height="{LINE}" rx="4" fill="#eef2f7" '
                     f'stroke="#6b7f99"/><text x="12" y="{y + 15}">{name}</text>')
        if i:
            parts.append(f'<line x1="24" y1="{y - GAP}" x2="24" y2="{y}" stroke="#6b7f99"/>')
        bar = (WIDTH - BOX - 90) * region[amount] / most
        if bar > 0:
            parts.append(f'<rect x="{BOX + 12}" y="{y + 4}" width="{bar:.1f}" height="{LINE - 8}" fill="#d98a3d"/>'
                         f'<text x="{BOX + 16 + bar:.1f}" y="{y + 15}">{words.format(region[amount])}</text>')
        parts.append("</g>")
    if len(regions) > limit:
        parts.append(f'<text x="12" y="{height - GAP}">and {len(regions) - limit} more steps</text>')
    return "".join([*parts, "</svg>"])
