"""Builds the report: sections of sentences, tables and figures, in one self-contained HTML file."""

import base64
import hashlib
import os
import re
import shutil
import socket
import tempfile
import time
from pathlib import Path

from . import colours, plots
from .words import counted, factor, gibibytes, is_finite, number, percent  # noqa: F401
from .words import prefixed, printable, seconds, span, text, whole  # noqa: F401

LONGEST_NAME = 200  # bytes of a file name, without the number that makes it unique and without its ending
EMBED_MOST = 20_000  # bytes of the largest CSV that is embedded in the page
ROWS_AT_ONCE = 50_000  # CSV rows that are formatted together, which bounds the memory
EMBED_ALL = 300_000  # bytes of all embedded CSVs together, because pages are sent by mail
DRAWN_MOST = 1_200_000  # bytes of plots in the page, which then has at most 3 MB
LONG_TABLE = 18  # rows beyond which a table scrolls under its headings


# Columns that many tables have: (heading, function that formats a value; None for texts).
COLUMNS = {
    **dict.fromkeys(("task", "matrix_name", "matrix_kind"), ("matrix", None)),
    **dict.fromkeys(("config", "rest"), ("parameters", None)),
    **dict(size=("n", whole), n=("n", whole), smallest=("n from", whole), largest=("to", whole)),
    **dict(status=("status", None), seconds_median=("median", seconds), peak_share=("fraction of peak", percent)),
    **dict(trials=("trials", whole), iterations=("iterations", whole), gflops=("GFLOP/s", number)),
}
SIZES = {"size", "smallest", "largest"}  # columns of sizes; of a product that is not square: the cube root of m·n·k


def columns_of(listed):
    """Yields (column, heading, format or None) of each column. An entry of `listed` is such a tuple, or a text with
    several columns, "problem size …". Columns in a text have the headings and formats of COLUMNS; columns that COLUMNS
    lacks are texts under their own names."""
    for entry in listed:
        yield from ((c, *COLUMNS.get(c, (c, None))) for c in entry.split()) if isinstance(entry, str) else [entry]


# Prefix of the temporary folders of this host's reports; the process id follows it (see `staging`).
_STAGED = f".report-{socket.gethostname()}-"


def _remove_left_behind(out):
    """Removes temporary folders that killed reports left. Folders of this host are removed if their process has ended,
    others if they are older than an hour."""
    for staged in out.glob(".report-*"):
        pid = staged.name.removeprefix(_STAGED).split("-")[0]
        if staged.name.startswith(_STAGED) and pid.isdigit():
            if not os.path.exists(f"/proc/{pid}"):
                shutil.rmtree(staged, ignore_errors=True)
        elif time.time() - staged.stat().st_mtime > 3600:
            shutil.rmtree(staged, ignore_errors=True)


def staging(out):
    """Returns a temporary folder in `out`, in which files are completed before anything in `out` is replaced."""
    return tempfile.TemporaryDirectory(prefix=f"{_STAGED}{os.getpid()}-", dir=out)


def _no_formula(value):
    """Returns the value. A text that a spreadsheet would evaluate as a formula gets an apostrophe before it."""
    return f"'{value}" if isinstance(value, str) and value[:1] in tuple("=+-@\t\r") else value


def _breakable(markup):
    """Lets the browser break long names after their underscores, in print and on narrow screens. Leaves scripts,
    drawings and texts of files as they are."""
    parts = re.split(r"(<script.*?</script>|<pre>.*?</pre>|<svg.*?</svg>|<[^>]*>)", markup, flags=re.S)
    # The odd parts are the matches of the group, which stay as they are.
    return "".join(part if i % 2 else part.replace("_", "_<wbr>") for i, part in enumerate(parts))


class Page:
    """Collects the sections of the report. `begin` starts a section, to which all other methods add. A block is the
    heading and the sections of one problem. A mark is a position in a section, which `mark` returns."""

    def __init__(self, title, methods=None):
        """`methods`: name -> number of its colour and dashes."""
        self.title = title
        self.methods = methods or {}
        self.rectangular = set()  # problems with products that are not square
        self.facts = []  # texts below the title: date, commit, GPU, driver
        self.sections = []  # [id, title, [html]]
        # All CSV text until the page is written. The file has no name, so that nothing remains if the report is killed.
        self.data = tempfile.TemporaryFile()
        self.files = {}  # name, relative to OUT -> (begin, size) in `data`
        self.drawn = []  # (plot, series, remarks) of each plot
        self.plot_bytes = 0  # bytes of all plots in the page
        self.embedded = 0  # bytes of CSV in the page
        self.problem = ""  # the problem whose block is being written, as in the block's id; else empty
        self.dashes = {}  # problem -> `Plot.dashes` of its lines, so that a line looks alike in the problem's plots
        self.explanations = set()  # texts that `add_once` has added

    def begin(self, name, title, words=""):
        """Begins a section. While `problem` is set, the section is a part of that problem's block."""
        self.sections.append([f"{self.problem}/{name}" if self.problem else name, title, []])
        if words:
            self.add(words)

    def fold(self, summary, mark=0, name=""):
        """Folds the content since the mark, by default the whole last section, behind a summary line. In print, folded
        content is missing, and the summary line too, unless `name` is the style sheet's class "kept"."""
        parts = self.sections[-1][2]
        begin = f'<details class="{name}">' if name else "<details>"
        parts[mark:] = [f"{begin}<summary>{text(summary)}</summary>", *parts[mark:], "</details>"]

    def grid(self, name, parts, frame=None):
        """Adds a table that consists of parts. A part is (sizes, rows): it has one column per size, and its rows are
        (label, {size: cell}), as HTML. `frame`: the content of the table's CSV. The sizes of a single part become the
        table's head, which print repeats on each sheet."""
        bodies = []
        for sizes, rows in parts:
            head = "".join(f'<th scope="col" data-v="{float(n)!r}">{whole(n)}</th>' for n in sizes)
            body = "".join(
                f'<tr><th scope="row">{label}</th>' + "".join(f"<td>{cells.get(n, '')}</td>" for n in sizes) + "</tr>"
                for label, cells in rows
            )
            head = f'<tr class="sizes"><th scope="col">n</th>{head}</tr>'
            bodies.append(
                f"<thead>{head}</thead><tbody>{body}</tbody>" if len(parts) == 1 else f"<tbody>{head}{body}</tbody>"
            )
        caption = f"<figcaption>{self._csv(name, frame)}</figcaption>" if frame is not None else ""
        table = f'<table class="grid" data-grid="{text(name)}">{"".join(bodies)}</table>'
        self.put(
            f'<figure class="table">{f"""<div class="scroll">{table}</div>""" if bodies else ""}{caption}</figure>'
        )

    def put(self, markup):
        """Adds HTML."""
        self.sections[-1][2].append(markup)

    def mark(self):
        """Returns the current end of the section, as the argument `mark` of other methods."""
        return len(self.sections[-1][2])

    def remove_since(self, mark):
        """Removes everything written since the mark."""
        del self.sections[-1][2][mark:]

    def shows_data(self, mark):
        """Returns whether anything but remarks of `remark` was added since the mark."""
        return any(not part.startswith('<p class="none"') for part in self.sections[-1][2][mark:])

    def add(self, words):
        """Adds a paragraph of plain text."""
        self.put(f"<p>{text(words)}</p>")

    def add_once(self, words):
        """Adds an explanation if the page does not have it yet."""
        if words not in self.explanations:
            self.explanations.add(words)
            self.add(words)

    def remark(self, words):
        """Adds a remark, such as the reason why there are no data. A section with nothing but remarks is not shown."""
        self.put(f'<p class="none">{text(words)}</p>')

    def heading(self, words, name=None):
        anchor = f' id="{text(name)}"' if name else ""
        self.put(f"<h3{anchor}>{text(words)}</h3>")

    def items(self, sentences):
        """Adds a list of sentences. An element (sentence, section) ends in a link to the section."""
        pairs = [s if isinstance(s, tuple) else (s, "") for s in sentences]
        self.put(
            "<ul>"
            + "".join(
                f"<li>{text(s)}" + (f' <a href="#{text(to)}">more</a>' if to else "") + "</li>" for s, to in pairs
            )
            + "</ul>"
        )

    def preformatted(self, summary, words):
        self.put(f"<details><summary>{text(summary)}</summary><pre>{text(words)}</pre></details>")

    def table(self, name, frame, columns, limit=40, caption="", more_csv_columns=None):
        """Adds a table with the first `limit` rows of the frame, and a CSV with all rows. `columns`: as for
        `columns_of`. The CSV has these columns and `more_csv_columns`; if that is None, all columns of the
        frame."""
        if not len(frame):
            return
        columns = list(columns_of(columns))
        if more_csv_columns is not None:
            frame = frame[[c for c, _, _ in columns] + list(more_csv_columns)]
        rows = []
        for row in frame.head(limit)[[c for c, _, _ in columns]].itertuples(index=False):
            cells = []
            for value, (_, _, form) in zip(row, columns):
                if form is None:
                    wide = ' class="w"' if len(str(value)) > 30 else ""
                    cells.append(f"<td{wide}>{text(value)}</td>")
                else:
                    exact = f' data-v="{float(value)!r}"' if is_finite(value) else ""
                    cells.append(f'<td class="n"{exact}>{text(form(value))}</td>')
            rows.append("<tr>" + "".join(cells) + "</tr>")
        heads = "".join(f'<th scope="col"{"" if form is None else " class=n"}>{text(h)}</th>' for _, h, form in columns)
        left = len(frame) - limit
        tail = f" {counted(left, 'more row')} in the CSV." if left > 0 else ""
        if self.rectangular and SIZES.intersection(c for c, _, _ in columns) and "problem" in frame:
            problems = sorted(self.rectangular.intersection(frame["problem"]))
            tail = f" n of {', '.join(problems)}: the cube root of m·n·k.{tail}" if problems else tail
        markup = (
            f'<figure class="table"><figcaption>{text(caption + tail)} {self._csv(name, frame)}</figcaption>'
            f'<div class="scroll{" long" if len(rows) > LONG_TABLE else ""}"><table class="sortable"'
            f' data-table="{text(name)}"><thead><tr>{heads}</tr></thead>'
            f'<tbody>{"".join(rows)}</tbody></table></div></figure>'
        )
        if self.problem:  # in a problem's block tables are folded
            markup = f"<details><summary>Table: {text(caption)}</summary>{markup}</details>"
        self.put(markup)

    def plots(self, candidates):
        """Adds the plots that have data, side by side. Returns their number."""
        figures, left_out = [], 0
        for plot in candidates:
            shown, drawn, remarks = plot.drawable()
            if not drawn:
                continue
            if shown.kind == "lines" and self.problem:
                shown.dashes = self.dashes.setdefault(self.problem, {})
            markup = plots.markup(shown, drawn, self.methods)
            if self.plot_bytes + len(markup) > DRAWN_MOST:
                left_out += 1
                continue
            self.plot_bytes += len(markup)
            shown.name = self._free("data", plot.name, ".csv")
            self.drawn.append((shown, drawn, remarks))
            values = f"Values: {shown.ylabel}" if shown.kind == "bars" else ""  # lines have an axis with a label
            notes = [values, shown.note, plots.unpassed(drawn), *remarks]
            words = " ".join(s if s.endswith(".") else s + "." for s in notes if s)
            figures.append(
                f'<figure class="plot" data-plot="{text(shown.name)}"><h4>{text(shown.title)}</h4>{markup}'
                f"<figcaption>{text(words)} {self._csv(shown.name, plots.frame(shown, drawn))}</figcaption></figure>"
            )
        if figures:
            self.put('<div class="plots">' + "".join(figures) + "</div>")
        if left_out:
            self.remark(f"Figures left out, to keep the page small: {left_out}. Report on fewer files to see them.")
        return len(figures)

    def drawing(self, name, caption, svg, frame):
        """Adds an SVG as wide as the page, and its data as a CSV."""
        name = self._free("data", name, ".csv")
        self.put(
            f'<figure class="plot" data-plot="{text(name)}"><div class="wide">{svg}</div>'
            f"<figcaption>{text(caption)} {self._csv(name, frame)}</figcaption></figure>"
        )

    def pictures(self, name, caption, described):
        """Adds pictures side by side. A picture is (description, PNG bytes). Its pixels stay squares if it is
        enlarged."""
        images = "".join(
            f'<img alt="{text(what)}" title="{text(what)}"'
            f' src="data:image/png;base64,{base64.b64encode(png).decode()}">'
            for what, png in described
        )
        self.put(
            '<figure class="pictures"'
            f' data-pictures="{text(name)}"><div>{images}</div><figcaption>{text(caption)}</figcaption></figure>'
        )

    def _free(self, folder, name, ending):
        """Returns an unused file name: `name`, with a number if the folder has it already. Shortens names that are too
        long for file systems."""
        if len(name.encode()) > LONGEST_NAME:
            digest = hashlib.sha256(name.encode()).hexdigest()[:12]
            name = name.encode()[: LONGEST_NAME - 13].decode(errors="ignore") + "-" + digest
        found, again = name, 1
        while f"{folder}/{found}{ending}" in self.files:
            again += 1
            found = f"{name}-{again}"
        return found

    def _csv(self, name, frame):
        """Stores the frame as CSV. Returns a link to it: embedded in the page if it is small, else to a file."""
        name = self._free("data", name, ".csv")
        raw = self._data(f"data/{name}.csv", frame)
        if len(raw) > EMBED_MOST or self.embedded + len(raw) > EMBED_ALL:
            return f'<a href="data/{text(name)}.csv">CSV (separate file)</a>'
        self.embedded += len(raw)
        return f'<a download="{text(name)}.csv" href="data:text/csv;base64,{base64.b64encode(raw).decode()}">CSV</a>'

    def _data(self, name, frame):
        """Writes a frame as CSV to `data`, not to memory, because the text of a large frame is larger than the frame.
        Returns at most its first EMBED_MOST + 1 bytes: enough for the caller to see whether it may be embedded."""
        begin = self.data.seek(0, os.SEEK_END)
        for start in range(0, max(1, len(frame)), ROWS_AT_ONCE):
            part = frame.iloc[start : start + ROWS_AT_ONCE].drop(columns="parameter", errors="ignore")
            part = part.apply(lambda c: c.map(_no_formula) if c.dtype.kind == "O" else c)
            self.data.write(part.to_csv(index=False, header=start == 0).encode())
        self.files[name] = begin, self.data.tell() - begin
        self.data.seek(begin)
        return self.data.read(EMBED_MOST + 1)

    def write(self, out):
        """Writes OUT/index.html and OUT/data/*.csv. If that fails, the earlier content of OUT is unchanged."""
        out = Path(out)
        is_new = not out.exists()
        out.mkdir(parents=True, exist_ok=True)
        _remove_left_behind(out)
        try:
            # All files are written before one replaces a file of an older report, because the disk may become full.
            with staging(out) as staged:
                (Path(staged) / "data").mkdir()
                for name, (begin, size) in self.files.items():
                    self.data.seek(begin)
                    with open(Path(staged) / name, "wb") as file:
                        for start in range(0, size, EMBED_ALL):
                            file.write(self.data.read(min(EMBED_ALL, size - start)))
                (Path(staged) / "index.html").write_text(self._html(), encoding="utf-8")
                (out / "data").mkdir(exist_ok=True)
                for name in [*self.files, "index.html"]:  # the page last, because it links to the others
                    os.replace(Path(staged) / name, out / name)
        except BaseException:
            if is_new and not any(out.iterdir()):
                out.rmdir()
            raise
        return out / "index.html"

    def _shown(self):
        """Returns the sections that have more than remarks, and the headings of problems' blocks with such sections."""
        with_content = [s for s in self.sections if any(not part.startswith('<p class="none"') for part in s[2])]
        blocks = {f"problem-{name.partition('/')[0]}" for name, _, _ in with_content if "/" in name}
        return [s for s in self.sections if s in with_content or s[0] in blocks]

    def _html(self):
        folder = Path(__file__).parent

        def file(name):
            return (folder / name).read_text(encoding="utf-8")

        shown = self._shown()
        links = "".join(
            f'<a href="#{text(name)}">{text(title.split(": ")[0])}</a>' for name, title, _ in shown if "/" not in name
        )
        body = ""
        for name, title, parts in shown:
            # Each section has its own div. The parts of a problem's block (level 3) share one div after the block's
            # heading.
            level = 3 if "/" in name else 2
            body += "</div><div>" if level == 2 else ""
            body += f'<section id="{text(name)}"><h{level}>{text(title)}</h{level}>{"".join(parts)}</section>'
            body += '</div><div class="block">' if name.startswith("problem-") else ""
        body = f"<div>{body}</div>".replace("<div></div>", "")
        ids = set(re.findall(r'id="([^"]+)"', body))  # links to sections without content are removed
        body = re.sub(r' <a href="#([^"]+)">more</a>', lambda m: m.group(0) if m.group(1) in ids else "", body)
        facts = "".join(f"<span>{text(fact)}</span>" for fact in self.facts)
        script = (
            f"const DASHES = {colours.DASHES}, UNPASSED = {plots.UNPASSED};"
            + file("plots.js")
            + file("uplot/uPlot.iife.min.js")
            if self.drawn
            else ""
        )
        licence = f"<!-- uPlot: {file('uplot/LICENSE')} -->\n" if self.drawn else ""
        return (
            f'<!DOCTYPE html>\n{licence}<html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f'<meta name="color-scheme" content="light dark"><title>{text(self.title)}</title>'
            f"<style>{file('uplot/uPlot.min.css')}{file('style.css')}{colours.sheet()}</style></head>\n"
            f'<body><header><h1>{text(self.title)}</h1><p class="facts">{facts}</p></header><nav>{links}</nav>\n'
            "<noscript><p>The plots need scripts; tables and CSV files hold the same numbers.</p></noscript>\n"
            f"<main>{_breakable(body)}</main>\n<script>{script}{file('tables.js')}</script></body></html>\n"
        )
