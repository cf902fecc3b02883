"""The page: sections of words, tables and figures; one HTML file that needs nothing beside it."""

import base64
import hashlib
import html
import math
import os
import re
import shutil
import socket
import tempfile
import time
from pathlib import Path

import numpy as np

from . import plots
from .drawings import Drawings
from .svg import Styles, compact

LONGEST_NAME = 200  # bytes of a file's, without number and ending
EMBED_MOST = 20_000  # bytes of a CSV that also travels inside the page
EMBED_ALL = 400_000  # and of all of them together: a page is sent by mail
DRAWN_MOST = 2_200_000  # bytes of drawings in the page; further ones stand in the files beside it
LONG_TABLE = 18  # rows beyond which a table scrolls under its headings
PLACE = re.compile("\0(\\d+)\0")  # of a drawing that is still being drawn; no text of a page holds the character


def printable(value):
    """Any text for a page or a terminal: control characters and what is no UTF-8 are shown as �."""
    return re.sub("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]", "\ufffd", str(value))


def text(value):
    """Any text as HTML."""
    return html.escape(printable(value))


def seconds(value):
    """1.23 ms, three digits."""
    if not _finite(value):
        return "–"
    if value == 0:
        return "0 s"
    for unit, factor in (("s", 1), ("ms", 1e-3), ("µs", 1e-6)):
        if abs(value) >= factor * 0.9995 or unit == "µs":
            return f"{_three(value / factor)} {unit}"


def number(value):
    return _three(value) if _finite(value) else ("∞" if isinstance(value, float) and math.isinf(value) else "–")


def whole(value):
    return f"{int(value)}" if _finite(value) else "–"


def percent(value):
    """A share of 1 as percent."""
    return f"{_three(100 * value)} %" if _finite(value) else "–"


def factor(value):
    return f"{_three(value)}×" if _finite(value) else "–"


def _finite(value):
    try:
        return bool(np.isfinite(value))
    except TypeError:
        return False


def _three(value):
    if value == 0:
        return "0"
    if 1e-3 <= abs(value) < 1e6:
        digits = max(0, 2 - math.floor(math.log10(abs(float(f"{value:.3g}")))))
        return f"{value:.{digits}f}"
    return f"{value:.2e}"


_STAGED = f".report-{socket.gethostname()}-"


def _remove_left_behind(out):
    """Removes what killed reports left: of this host by their process numbers, of others after an hour."""
    for staged in out.glob(".report-*"):
        pid = staged.name.removeprefix(_STAGED).split("-")[0]
        if staged.name.startswith(_STAGED) and pid.isdigit():
            if not os.path.exists(f"/proc/{pid}"):
                shutil.rmtree(staged, ignore_errors=True)
        elif time.time() - staged.stat().st_mtime > 3600:
            shutil.rmtree(staged, ignore_errors=True)


def _no_formula(value):
    """A text that a spreadsheet would compute, with an apostrophe before it."""
    return f"'{value}" if isinstance(value, str) and value[:1] in tuple("=+-@\t\r") else value


class Page:
    """Collects sections. `add_*` write into the section begun last."""

    def __init__(self, title, drawings=None):
        """`drawings`: who draws; by default this process, each plot when it is added."""
        self.title = title
        self.sections = []  # [id, title, [html]]
        self.files = {}  # name -> CSV or SVG text, relative to OUT
        self.drawings = drawings or Drawings(workers=1)
        self.places = []  # (plot, what gives its drawing), by the number of their place in the page
        self.styles, self.drawn = Styles(), 0
        self.embedded = 0  # bytes of CSV in the page
        self.problem = ""  # whose block is written

    def begin(self, name, title, words=""):
        """A section; in the block of a problem a part of it."""
        self.sections.append([f"{self.problem}/{name}" if self.problem else name, title, []])
        if words:
            self.add(words)

    def drop_if_bare(self):
        """Takes the last section away where it shows nothing but that there is nothing."""
        parts = [part for part in self.sections[-1][2] if not part.startswith('<p class="none">No ')]
        self.sections[-1][2] = parts
        if not any(part.startswith("<figure") or part.startswith('<div class="plots"') for part in parts):
            self.sections.pop()

    def fold(self, summary, mark=0):
        """What was written since the mark, or all of the last section, behind a line to open it."""
        parts = self.sections[-1][2]
        parts[mark:] = [f"<details><summary>{text(summary)}</summary>", *parts[mark:], "</details>"]

    def grid(self, name, parts, frame=None):
        """Parts of sizes and rows each: a row a label, a column a size; cells are markup. Its CSV is the frame, if
        there is one. The sizes of a single part are the head of the table, which paper repeats on each sheet."""
        bodies = []
        for sizes, rows in parts:
            head = "".join(f'<th data-v="{float(n)!r}">{whole(n)}</th>' for n in sizes)
            body = "".join(
                f"<tr><th>{label}</th>" + "".join(f"<td>{cells.get(n, '')}</td>" for n in sizes) + "</tr>"
                for label, cells in rows
            )
            head = f'<tr class="sizes"><th>n</th>{head}</tr>'
            bodies.append(
                f"<thead>{head}</thead><tbody>{body}</tbody>" if len(parts) == 1 else f"<tbody>{head}{body}</tbody>"
            )
        caption = f"<figcaption>{self._csv(name, frame)}</figcaption>" if frame is not None else ""
        self._put(
            f'<figure class="table"><div class="scroll"><table class="grid" data-grid="{text(name)}">'
            f'{"".join(bodies)}</table></div>{caption}</figure>'
        )

    def _put(self, markup):
        self.sections[-1][2].append(markup)

    def mark(self):
        """A place in the section to go back to."""
        return len(self.sections[-1][2])

    def back_to(self, mark):
        """Takes away what was written since."""
        del self.sections[-1][2][mark:]

    def shows_data(self, mark):
        """Whether more was written since than that there is nothing."""
        return any(not part.startswith('<p class="none"') for part in self.sections[-1][2][mark:])

    def add(self, words):
        """A paragraph of plain text."""
        self._put(f"<p>{text(words)}</p>")

    def nothing(self, words):
        """The one line of a section that has no data."""
        self._put(f'<p class="none">{text(words)}</p>')

    def heading(self, words, name=None):
        anchor = f' id="{text(name)}"' if name else ""
        self._put(f"<h3{anchor}>{text(words)}</h3>")

    def items(self, sentences):
        """A list of sentences; (sentence, section) ends in a link to the section."""
        pairs = [s if isinstance(s, tuple) else (s, "") for s in sentences]
        self._put(
            "<ul>"
            + "".join(
                f"<li>{text(s)}" + (f' <a href="#{text(to)}">more</a>' if to else "") + "</li>" for s, to in pairs
            )
            + "</ul>"
        )

    def preformatted(self, summary, words):
        self._put(f"<details><summary>{text(summary)}</summary><pre>{text(words)}</pre></details>")

    def table(self, name, frame, columns, limit=40, caption=""):
        """A table of `columns` (column, heading, format or None) and its CSV with every row and column of the frame."""
        if not len(frame):
            return
        rows = []
        for row in frame.head(limit)[[c for c, _, _ in columns]].itertuples(index=False):
            cells = []
            for value, (_, _, form) in zip(row, columns):
                if form is None:
                    wide = ' class="w"' if len(str(value)) > 30 else ""
                    cells.append(f"<td{wide}>{text(value)}</td>")
                else:
                    exact = f' data-v="{float(value)!r}"' if _finite(value) else ""
                    cells.append(f'<td class="n"{exact}>{text(form(value))}</td>')
            rows.append("<tr>" + "".join(cells) + "</tr>")
        heads = "".join(f'<th{"" if form is None else " class=n"}>{text(h)}</th>' for _, h, form in columns)
        left = len(frame) - limit
        tail = f" {left} more rows are in the CSV." if left > 0 else ""
        self._put(
            f'<figure class="table"><figcaption>{text(caption + tail)} {self._csv(name, frame)}</figcaption>'
            f'<div class="scroll{" long" if len(rows) > LONG_TABLE else ""}"><table class="sortable"'
            f' data-table="{text(name)}"><thead><tr>{heads}</tr></thead>'
            f'<tbody>{"".join(rows)}</tbody></table></div></figure>'
        )

    def plots(self, several, most=12):
        """Figures side by side; what has no data says so in one line. Returns how many were drawn."""
        drawn, empty, beyond = [], [], 0
        for plot in several:
            if len(drawn) == most:
                beyond += bool(plot.drawable())
                continue
            if not plot.drawable():
                empty.append(plot.title)
                continue
            plot.name = self._free("plots", plot.name, ".svg")
            self.files[f"plots/{plot.name}.svg"] = ""
            drawn.append(
                f'<figure class="plot" data-plot="{text(plot.name)}">\0{len(self.places)}\0'
                f" {self._csv(plot.name, plot.frame())}"
                f' <a href="plots/{text(plot.name)}.svg">SVG</a></figcaption></figure>'
            )
            self.places.append((plot, self.drawings.draw(plot)))
        if drawn:
            self._put('<div class="plots">' + "".join(drawn) + "</div>")
        if empty:
            self.nothing("No data to draw: " + "; ".join(empty[:6]) + ("; …" if len(empty) > 6 else "") + ".")
        if beyond:
            self.nothing(
                f"Figures of this kind left out, to keep the page readable: {beyond}. Report on fewer files to see"
                " them."
            )
        return len(drawn)

    def _placed(self):
        """What stands at each place: drawings in the page as long as that is small enough, further ones from the files
        beside it. In the order in which they were added, whichever was drawn first."""
        placed = []
        for place, (plot, drawing) in enumerate(self.places, 1):
            svg, left_out = drawing()
            self.files[f"plots/{plot.name}.svg"] = plots.for_paper(svg)
            small = compact(svg, self.styles, f"i{place:x}_")
            if self.drawn + len(small) > DRAWN_MOST:
                # Fetched once the page is open (tables.js), as near as the reader comes; its room is kept.
                wide, high = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg).groups()
                size = f'width="{float(wide):.0f}" height="{float(high):.0f}" alt="{text(plot.title)}"'
                source = f'src="plots/{text(plot.name)}.svg"'
                small = (
                    f'<img class="beside" loading="lazy" {size} data-{source}>'
                    f'<noscript><img class="beside" {size} {source}></noscript>'
                )
            else:
                self.drawn += len(small)
            words = " ".join(s if s.endswith(".") else s + "." for s in [plot.note, *left_out] if s)
            placed.append(f"{small}<figcaption>{text(words)}")
        return placed

    def drawing(self, name, caption, svg, frame):
        """An SVG of the section's own, as wide as the page, with the rows that it shows as a CSV."""
        name = self._free("plots", name, ".svg")
        self.files[f"plots/{name}.svg"] = plots.for_paper(svg)
        link = f'<a href="plots/{text(name)}.svg">SVG</a>'
        self._put(
            f'<figure class="plot" data-plot="{text(name)}">{svg}'
            f"<figcaption>{text(caption)} {self._csv(name, frame)} {link}</figcaption></figure>"
        )

    def pictures(self, name, caption, several):
        """Pictures side by side, (what, PNG bytes) each, every pixel as a square."""
        images = "".join(
            f'<img alt="{text(what)}" title="{text(what)}"'
            f' src="data:image/png;base64,{base64.b64encode(png).decode()}">'
            for what, png in several
        )
        self._put(
            '<figure class="pictures"'
            f' data-pictures="{text(name)}"><div>{images}</div><figcaption>{text(caption)}</figcaption></figure>'
        )

    def _free(self, folder, name, ending):
        """The name, or one with a number where it is taken; a long one shortened, for file systems refuse it."""
        if len(name.encode()) > LONGEST_NAME:
            digest = hashlib.sha256(name.encode()).hexdigest()[:12]
            name = name.encode()[: LONGEST_NAME - 13].decode(errors="ignore") + "-" + digest
        number = 1
        while f"{folder}/{name}{'' if number == 1 else f'-{number}'}{ending}" in self.files:
            number += 1
        return name if number == 1 else f"{name}-{number}"

    def _csv(self, name, frame):
        told = frame.drop(columns=["parameter"], errors="ignore")
        content = told.apply(lambda c: c.map(_no_formula) if c.dtype == object else c).to_csv(index=False)
        name = self._free("data", name, ".csv")
        self.files[f"data/{name}.csv"] = content
        raw = content.encode()
        if len(raw) > EMBED_MOST or self.embedded + len(raw) > EMBED_ALL:
            return f'<a href="data/{text(name)}.csv">CSV (beside the page)</a>'
        self.embedded += len(raw)
        return f'<a download="{text(name)}.csv" href="data:text/csv;base64,{base64.b64encode(raw).decode()}">CSV</a>'

    def write(self, out):
        """OUT/index.html, OUT/data/*.csv, OUT/plots/*.svg. Where that fails, what stood in OUT before is as it was."""
        placed = self._placed()
        out = Path(out)
        is_new = not out.exists()
        out.mkdir(parents=True, exist_ok=True)
        files = {**self.files, "index.html": self._html(placed)}  # the page last: it names the others
        _remove_left_behind(out)
        try:
            # Written whole before anything of an older report is replaced: the disk may be full.
            with tempfile.TemporaryDirectory(prefix=f"{_STAGED}{os.getpid()}-", dir=out) as staged:
                for folder in ("data", "plots"):
                    (Path(staged) / folder).mkdir()
                for name, content in files.items():
                    (Path(staged) / name).write_text(content, encoding="utf-8")
                for folder in ("data", "plots"):
                    (out / folder).mkdir(exist_ok=True)
                for name in files:
                    os.replace(Path(staged) / name, out / name)
        except BaseException:
            if is_new and not any(out.iterdir()):
                out.rmdir()
            raise
        return out / "index.html"

    def _headline(self, name, title):
        level = 3 if "/" in name else 2  # a part of a problem's block, or a section
        return f"<h{level}>{text(title)}</h{level}>"

    def _html(self, placed):
        here = Path(__file__).parent
        style = (here / "style.css").read_text(encoding="utf-8")
        script = (here / "tables.js").read_text(encoding="utf-8")
        links = "".join(
            f'<a href="#{name}">{text(title.split(": ")[0])}</a>' for name, title, _ in self.sections if "/" not in name
        )
        body = "".join(
            f'<section id="{text(name)}">{self._headline(name, title)}' f'{"".join(parts)}</section>'
            for name, title, parts in self.sections
        )
        body = PLACE.sub(lambda m: placed[int(m.group(1))], body)
        there = set(re.findall(r'id="([^"]+)"', body))  # a sentence may point to a section that had nothing to say
        body = re.sub(r' <a href="#([^"]+)">more</a>', lambda m: m.group(0) if m.group(1) in there else "", body)
        return (
            '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f'<meta name="color-scheme" content="light dark"><title>{text(self.title)}</title>'
            f"<style>{style}{self.styles.css()}</style></head>\n"
            f"<body><header><h1>{text(self.title)}</h1><nav>{links}</nav></header>\n"
            f"<main>{body}</main>\n<script>{script}</script></body></html>\n"
        )
