"""Numbers for people, tables and charts."""

import json
import math
import pathlib
import re
from xml.sax.saxutils import escape


# -- numbers for people -----------------------------------------------------------------------


def figure(value, digits=3):
    """As many significant digits, and no more than two behind the point."""
    if value is None:
        return "–"
    if value >= 1000:
        return f"{value:,.0f}"
    whole = len(str(int(value)))
    return f"{value:.{max(0, min(2, digits - whole))}f}"


def times(value):
    return "–" if value is None else f"{value:.2f}x"


def count(n):
    for size, unit in ((10**9, "G"), (10**6, "M"), (10**3, "k")):
        if n >= size:
            return f"{n / size:.4g} {unit}"
    return str(n)


def size_of(n):
    for size, unit in ((10**9, "GB"), (10**6, "MB"), (10**3, "kB")):
        if n >= size:
            return f"{n / size:.3g} {unit}"
    return f"{n} B"


def percent(rate):
    return f"{100 * rate:.3g}%"


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|---" + "|---:" * (len(head) - 1) + "|"]
    return "\n".join(lines + ["| " + " | ".join(map(str, row)) + " |" for row in rows])


# -- charts -----------------------------------------------------------------------------------

# The colours of the explorer page: a kind has the same one everywhere, and other libraries are grey.
KIND_COLOURS = json.loads((pathlib.Path(__file__).parents[2] / "explorer" / "src" / "kind-colours.json").read_text())
COLOURS = {**KIND_COLOURS, "ground": {"light": "#ffffff", "dark": "#1a2029"}, "ink": {"light": "#1b2330", "dark": "#e8ecf2"},
           "grid": {"light": "#d5dae2", "dark": "#414c5c"}, "peer": {"light": "#78828f", "dark": "#98a3b2"},
           "limit": {"light": "#b34700", "dark": "#ff9d5c"}}
DASHES = ("", "7 4", "2 3", "12 4 2 4", "1 5", "16 5")
WIDTH = 860
PER_CHARACTER = 6.9  # of a text, in units of the picture


def colour_of(name):
    """The kind's name, or `peer`: a key of COLOURS."""
    name = name.removeprefix("bloomset ")
    return next((kind for kind in KIND_COLOURS if re.match(rf"{kind}\b", name)), "peer")


def paint(**painted):
    """Attributes that paint in a light page, and classes that paint in a dark one: paint(fill="bloom")."""
    attributes = " ".join(f'{what}="{COLOURS[name]["light"]}"' for what, name in painted.items())
    return f'{attributes} class="{" ".join(f"{what}-{name}" for what, name in painted.items())}"'


def text_at(x, y, text, anchor="start", colour="ink", more=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" {paint(fill=colour)}{more}>{escape(text)}</text>'


def svg(height, title, body):
    body = "\n".join([f'<title>{escape(title)}</title>', f'<rect width="{WIDTH}" height="{height}" rx="8" {paint(fill="ground")}/>',
                      text_at(14, 26, title, more=' font-size="15" font-weight="bold"'), *body])
    used = sorted(set(re.findall(rf"\b(fill|stroke)-({'|'.join(COLOURS)})\b", body)))
    dark = " ".join(f".{what}-{name} {{ {what}: {COLOURS[name]['dark']} }}" for what, name in used)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" '
            f'font-family="sans-serif" font-size="13" role="img">\n'
            f"<style>@media (prefers-color-scheme: dark) {{ {dark} }}</style>\n{body}\n</svg>\n")


def bars(title, rows, mark=None):
    """Horizontal bars of (label, value, key of COLOURS), and a dashed line at `mark` = (label, value)."""
    left = 22 + PER_CHARACTER * max(len(label) for label, _, _ in rows)
    right, step, top = 64, 23, 42
    height = top + step * len(rows) + (32 if mark else 12)
    scale = (WIDTH - left - right) / max([v for _, v, _ in rows] + ([mark[1]] if mark else []))
    body = []
    for i, (label, value, colour) in enumerate(rows):
        y = top + step * i
        body.append(text_at(left - 8, y + 16, label, "end"))
        body.append(f'<rect x="{left:.1f}" y="{y + 3}" width="{max(1, value * scale):.1f}" height="{step - 6}" {paint(fill=colour)}/>')
        body.append(text_at(left + value * scale + 6, y + 16, figure(value)))
    if mark:
        x, bottom = left + mark[1] * scale, top + step * len(rows)
        body.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{top}" y2="{bottom + 6}" stroke-width="2" '
                    f'stroke-dasharray="5 4" {paint(stroke="limit")}/>')
        body.append(text_at(x, bottom + 22, f"{mark[0]}: {figure(mark[1])}", "middle", "limit"))
    return svg(height, title, body)


def binary(n):
    for power, unit in ((20, "Mi"), (10, "Ki")):
        if n >= 1 << power:
            return f"{n >> power}{unit}"
    return str(n)


class Linear:
    """An axis from `lowest` to `highest`, with four to seven ticks at round numbers."""

    def __init__(self, lowest, highest):
        self.lowest, self.highest = lowest, highest
        step = next(m * 10.0**power for power in range(-9, 12) for m in (1, 2, 5) if (highest - lowest) / (m * 10.0**power) <= 7)
        self.ticks = [step * i for i in range(math.ceil(lowest / step - 1e-9), math.floor(highest / step + 1e-9) + 1)]

    def share(self, value):
        return (value - self.lowest) / (self.highest - self.lowest)


class Logarithmic:
    """An axis whose ticks are powers of ten, or more numbers where these would be too few."""

    def __init__(self, lowest, highest):
        per_decade = next((each for each in ((1,), (1, 2, 5), (1, 1.5, 2, 3, 5, 7))
                           if len(self.between(lowest, highest, each)) >= 4), (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9))
        self.ticks = self.between(lowest, highest, per_decade)
        self.lowest, self.highest = math.log(min(lowest, self.ticks[0])), math.log(max(highest, self.ticks[-1]))

    @staticmethod
    def between(lowest, highest, per_decade):
        """With one tick on either side, where that is near."""
        return [m * 10.0**power for power in range(-9, 12) for m in per_decade if lowest / 1.12 <= m * 10.0**power <= highest * 1.12]

    def share(self, value):
        return (math.log(value) - self.lowest) / (self.highest - self.lowest)


def apart(places, step, lowest, highest):
    """The places, moved as little as need be so that they are `step` apart."""
    groups = [[place, 1] for place in sorted(places)]  # of the middle of a group, and its size
    merged = []
    for middle, size in groups:
        merged.append([middle, size])
        while len(merged) > 1 and merged[-1][0] - merged[-2][0] < step * (merged[-1][1] + merged[-2][1]) / 2:
            (a, m), (b, n) = merged[-2:]
            merged[-2:] = [[(a * m + b * n) / (m + n), m + n]]
        half = step * (merged[-1][1] - 1) / 2
        merged[-1][0] = min(max(merged[-1][0], lowest + half), highest - half)
    return [middle + step * (i - (size - 1) / 2) for middle, size in merged for i in range(size)]


def lines(title, across, series, marks, x_ticks=None, label=binary, axis=Logarithmic, x_axis=Logarithmic, tick="{:g}".format):
    """Curves of (name, [(x, y), ...]) and horizontal lines (name, y).

    `x_ticks` are the numbers below the chart, written by `label`, and `tick` writes those beside it. A dot ends a curve
    that does not reach the last x. Curves of one kind differ by their dashes.
    """
    xs = sorted({x for _, points in series for x, _ in points})
    ys = [y for _, points in series for _, y in points] + [y for _, y in marks]
    right = 26 + PER_CHARACTER * max(len(name) for name, _ in [*series, *marks])
    left, top, bottom, height = 62, 46, 54, 430
    inner_width, inner_height = WIDTH - left - right, height - top - bottom
    across_axis, up = x_axis(xs[0], xs[-1]), axis(0 if axis is Linear else min(ys), max(ys))
    if x_axis is Logarithmic:
        across_axis.lowest, across_axis.highest = math.log(xs[0]), math.log(xs[-1])

    def x_of(x):
        return left + inner_width * across_axis.share(x)

    def y_of(y):
        return top + inner_height * (1 - up.share(y))

    body = []
    for y in up.ticks:
        body.append(f'<line x1="{left}" x2="{left + inner_width:.1f}" y1="{y_of(y):.1f}" y2="{y_of(y):.1f}" {paint(stroke="grid")}/>')
        body.append(text_at(left - 8, y_of(y) + 4, tick(y), "end"))
    for x in x_ticks or xs[::1 + len(xs) // 12]:
        body.append(text_at(x_of(x), height - bottom + 20, label(x), "middle"))
    body.append(text_at(left + inner_width / 2, height - 12, across, "middle"))
    names = []
    for name, y in marks:
        body.append(f'<line x1="{left}" x2="{left + inner_width:.1f}" y1="{y_of(y):.1f}" y2="{y_of(y):.1f}" '
                    f'stroke-dasharray="5 4" {paint(stroke="ink")}/>')
        names.append((y_of(y), name, "ink", left + inner_width))
    drawn = {}
    for name, points in series:
        colour = colour_of(name)
        dash = DASHES[drawn.setdefault(colour, 0) % len(DASHES)]
        drawn[colour] += 1
        path = " ".join(f"{x_of(x):.1f},{y_of(y):.1f}" for x, y in points)
        body.append(f'<polyline points="{path}" fill="none" stroke-width="2"{f""" stroke-dasharray="{dash}" """ if dash else " "}'
                    f'{paint(stroke=colour)}/>')
        last_x, last_y = points[-1]
        if last_x != xs[-1]:
            body.append(f'<circle cx="{x_of(last_x):.1f}" cy="{y_of(last_y):.1f}" r="4" {paint(fill=colour)}/>')
        names.append((y_of(last_y), name, colour, x_of(last_x)))
    names.sort()
    for (y, name, colour, end), place in zip(names, apart([y for y, *_ in names], 16, top, height - bottom)):
        if abs(place - y) > 5 and end >= left + inner_width - 1:  # from the end of the curve to its name
            body.append(f'<path d="M{end:.1f},{y:.1f}L{left + inner_width + 12:.1f},{place:.1f}" fill="none" {paint(stroke=colour)}/>')
        body.append(text_at(left + inner_width + 15, place + 4, name, colour=colour))
    return svg(height, title, body)
