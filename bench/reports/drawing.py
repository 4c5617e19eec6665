"""Numbers for people, tables and charts."""

import math
from xml.sax.saxutils import escape

OURS, PEER, LIMIT = "#1b6ca8", "#9aa5ad", "#c8553d"
LINE_COLOURS = ["#1b6ca8", "#c8553d", "#3a7d44", "#8a5a9e", "#b8860b", "#5f6b73", "#2aa198"]


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


def svg(width, height, title, body):
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="13" '
            f'fill="#222" role="img">\n<title>{escape(title)}</title>\n'
            f'<rect width="{width}" height="{height}" fill="#fff"/>\n'
            f'<text x="12" y="24" font-size="15" font-weight="bold">{escape(title)}</text>\n'
            + "\n".join(body) + "\n</svg>\n")


def bars(title, rows, mark=None):
    """Horizontal bars of (label, value, colour), and a dashed line at `mark` = (label, value)."""
    left, right, step, top = 420, 90, 24, 44
    width, height = 960, top + step * len(rows) + (34 if mark else 12)
    scale = (width - left - right) / max([v for _, v, _ in rows] + ([mark[1]] if mark else []))
    body = []
    for i, (label, value, colour) in enumerate(rows):
        y = top + step * i
        body.append(f'<text x="{left - 8}" y="{y + 15}" text-anchor="end">{escape(label)}</text>')
        body.append(f'<rect x="{left}" y="{y + 3}" width="{max(1, value * scale):.1f}" '
                    f'height="{step - 7}" fill="{colour}"/>')
        body.append(f'<text x="{left + value * scale + 6:.1f}" y="{y + 15}">{figure(value)}</text>')
    if mark:
        x, bottom = left + mark[1] * scale, top + step * len(rows)
        body.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{top}" y2="{bottom + 6}" '
                    f'stroke="{LIMIT}" stroke-width="2" stroke-dasharray="5 4"/>')
        body.append(f'<text x="{x:.1f}" y="{bottom + 22}" text-anchor="middle" fill="{LIMIT}">'
                    f'{escape(mark[0])}: {figure(mark[1])}</text>')
    return svg(width, height, title, body)


def binary(n):
    for power, unit in ((20, "Mi"), (10, "Ki")):
        if n >= 1 << power:
            return f"{n >> power}{unit}"
    return str(n)


def lines(title, across, series, marks, label=binary, decades=None, right=410):
    """Curves of (name, [(x, y), ...]) whose x stand in equal steps, and horizontal lines (name, y).

    `decades` makes the vertical axis logarithmic, with a tick at each power of ten: it is the function that writes a
    tick. A dot ends a curve that does not reach the last x. `right` is the room for the names of the curves.
    """
    left, top, bottom, width, height = 64 if decades else 50, 44, 52, 1040, 420
    xs = sorted({x for _, points in series for x, _ in points})
    ys = [y for _, points in series for _, y in points] + [y for _, y in marks]
    inner_width, inner_height = width - left - right, height - top - bottom
    places = {x: left + inner_width * i / max(1, len(xs) - 1) for i, x in enumerate(xs)}
    if decades:
        lowest, highest = math.floor(math.log10(min(ys))), math.ceil(math.log10(max(ys)))
        ticks = [(10.0**power, decades(10.0**power)) for power in range(lowest, highest + 1)]
    else:
        most = 1.08 * max(ys)
        ticks = [(most * i / 5, f"{most * i / 5:.1f}") for i in range(6)]

    def at(y):
        share = (math.log10(y) - lowest) / (highest - lowest) if decades else y / most
        return top + inner_height * (1 - share)

    body = []
    for y, text in ticks:
        body.append(f'<line x1="{left}" x2="{left + inner_width}" y1="{at(y):.1f}" '
                    f'y2="{at(y):.1f}" stroke="#ddd"/>')
        body.append(f'<text x="{left - 8}" y="{at(y) + 4:.1f}" text-anchor="end">{text}</text>')
    for x in xs[::1 + len(xs) // 16]:
        body.append(f'<text x="{places[x]:.1f}" y="{height - bottom + 20}" '
                    f'text-anchor="middle">{label(x)}</text>')
    body.append(f'<text x="{left + inner_width / 2}" y="{height - 12}" '
                f'text-anchor="middle">{escape(across)}</text>')
    names = []
    for i, (name, points) in enumerate(series):
        colour = LINE_COLOURS[i % len(LINE_COLOURS)]
        path = " ".join(f"{places[x]:.1f},{at(y):.1f}" for x, y in points)
        body.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        last_x, last_y = points[-1]
        if last_x != xs[-1]:
            body.append(f'<circle cx="{places[last_x]:.1f}" cy="{at(last_y):.1f}" r="4" fill="{colour}"/>')
        names.append((at(last_y), name, colour))
    for name, y in marks:
        body.append(f'<line x1="{left}" x2="{left + inner_width}" y1="{at(y):.1f}" '
                    f'y2="{at(y):.1f}" stroke="#222" stroke-dasharray="5 4"/>')
        names.append((at(y), name, "#222"))
    last = 0
    for y, name, colour in sorted(names):  # one below the other
        last = max(y + 4, last + 15)
        body.append(f'<text x="{left + inner_width + 8}" y="{last:.1f}" fill="{colour}">'
                    f'{escape(name)}</text>')
    return svg(width, max(height, int(last) + 12), title, body)
