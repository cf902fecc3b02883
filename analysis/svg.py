"""Drawings made small: the same picture in a quarter of the letters."""

import re

TOKEN = re.compile(r"<[^>]+>|[^<]+")
LINE_STYLE = '<style type="text/css">*{stroke-linejoin: round; stroke-linecap: butt}</style>'  # the page says it
PATH = r'<path d="([^"z]*)"( clip-path="[^"]*")?( class="\w+")/>'
NUMBER = re.compile(r"(?<![\w.#-])-?\d+\.\d+")


class Styles:
    """Style texts that a page says once, as classes."""

    def __init__(self):
        self._names = {}

    def name(self, style):
        style = re.sub(r"\s*([:;,])\s*", r"\1", style).strip(";")
        return self._names.setdefault(style, f"z{len(self._names):x}")

    def css(self):
        return "".join(f".{name}{{{style}}}" for style, name in self._names.items())


def compact(svg, styles, prefix):
    """Less groups that say nothing, long ids, styles said again and again, and digits that nobody sees. `prefix`: of
    ids, its own for each drawing of a page."""
    ids = {}

    def identity(match):
        return match.group(1) + ids.setdefault(match.group(2), f"{prefix}{len(ids):x}")

    svg = svg.replace("xlink:href", "href").replace(' xmlns:xlink="http://www.w3.org/1999/xlink"', "")
    svg = re.sub(r' transform="rotate\(-?0 [^"]*\)"', "", svg)
    svg = re.sub(r'(\bid="|"#|url\(#)([\w.-]+)', identity, svg)
    svg = re.sub(r' style="([^"]*)"', lambda m: f' class="{styles.name(m.group(1))}"', svg)
    svg = re.sub(
        r' (d|x|y|points)="([^"]*)"', lambda m: f' {m.group(1)}="{NUMBER.sub(_tenth, m.group(2)).strip()}"', svg
    )
    svg = re.sub(r"> +<", "><", _without_bare_groups(svg).replace(LINE_STYLE, ""))
    return _one_path(_one_use(svg))


def _tenth(match):
    return f"{float(match.group(0)):.1f}".removesuffix(".0")


def _without_bare_groups(svg):
    kept, open_groups = [], []
    for token in TOKEN.findall(svg):
        if token.startswith("<g") and token[2] in " >" and not token.endswith("/>"):
            bare = token == "<g>"
            open_groups.append(bare)
            if bare:
                continue
        elif token == "</g>" and open_groups.pop():
            continue
        kept.append(token)
    return "".join(kept)


USE = r'<use href="#(?P<id>\w+)" x="[\d.]+" y="[\d.]+" class="(?P<class>\w+)"\s*/>'


def _one_use(svg):
    """The marks of a series as one line that is not drawn, with a mark at each of its points."""
    made = []

    def line(match):
        name, style = match.group("id"), match.group("class")
        points = re.findall(r'x="([\d.]+)" y="([\d.]+)"', match.group(0))
        shape = re.search(rf'<path id="{name}" d="([^"]*)"(?: class="\w+")?\s*/>', svg)
        if len(points) < 4 or shape is None:
            return match.group(0)
        marker = f"{name}m{len(made):x}"
        made.append(
            f'<marker id="{marker}" overflow="visible" markerUnits="userSpaceOnUse"><path d="{shape.group(1)}"'
            f' class="{style}"/></marker>'
        )
        at = f'"url(#{marker})"'
        return (
            f'<path d="M{" ".join(f"{x},{y}" for x, y in points)}" fill="none" stroke="none"'
            f" marker-start={at} marker-mid={at} marker-end={at}/>"
        )

    svg = re.sub(rf"{USE}(?:\s*<use href=\"#(?P=id)\" x=\"[\d.]+\" y=\"[\d.]+\" class=\"(?P=class)\"\s*/>)+", line, svg)
    return svg.replace("</svg>", f'<defs>{"".join(made)}</defs></svg>') if made else svg


def _one_path(svg):
    """Lines of one style that follow each other, as one element: error bars."""

    def line(match):
        found = re.findall(PATH, match.group(0))
        return f'<path d="{"".join(d for d, _, _ in found)}"{found[0][1]}{found[0][2]}/>'

    return re.sub(rf"{PATH}(?:<path d=\"[^\"z]*\"\2\3/>)+", line, svg)
