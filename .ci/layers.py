"""Draw the layers of voile from .importlinter: docs/pictures/layers.svg.

`layers.py` writes the picture; `layers.py --check` fails if it is not current.
"""

from __future__ import annotations

import re
import sys
from configparser import ConfigParser
from pathlib import Path

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs/pictures/layers.svg"
WIDTH, HEIGHT, GAP, LEFT = 720, 30, 10, 20
STYLE = """<style>
text { font: 13px sans-serif; fill: #1f2933; text-anchor: middle; dominant-baseline: central }
rect { fill: #e8f0f7; stroke: #52718f }
@media (prefers-color-scheme: dark) {
  text { fill: #e4ebf2 } rect { fill: #22303d; stroke: #7f9db9 }
}
</style>"""


def read_layers() -> list[list[str]]:
    """Return the packages of each layer, the highest first."""
    config = ConfigParser()
    config.read(ROOT / ".importlinter")
    lines = config["importlinter:contract:arrows"]["layers"].split("\n")
    return [re.findall(r"voile\.(\w+)", line) for line in lines if line.strip()]


def draw(layers: list[list[str]]) -> str:
    """Return the picture: a row for each layer, a box for each package."""
    height = len(layers) * (HEIGHT + GAP) + GAP
    title = "Layers of voile: a package imports packages of lower rows only"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">',
        f"<title>{title}</title>",
        STYLE,
    ]
    for row, packages in enumerate(layers):
        wide = (WIDTH - 2 * LEFT - GAP * (len(packages) - 1)) / len(packages)
        top = GAP + row * (HEIGHT + GAP)
        for column, name in enumerate(packages):
            left = LEFT + column * (wide + GAP)
            parts.append(
                f'<rect x="{left:.1f}" y="{top}" width="{wide:.1f}" height="{HEIGHT}" rx="4"/>'
                f'<text x="{left + wide / 2:.1f}" y="{top + HEIGHT / 2:g}">{name}</text>'
            )
    return "\n".join([*parts, "</svg>", ""])


def main() -> int:
    """Write the picture, or compare the one that is there."""
    picture = draw(read_layers())
    if "--check" in sys.argv:
        is_current = PICTURE.read_text("utf-8") == picture
        print("" if is_current else "docs/pictures/layers.svg: run .ci/layers.py", file=sys.stderr)
        return 0 if is_current else 1
    PICTURE.write_text(picture, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
