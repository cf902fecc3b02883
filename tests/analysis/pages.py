"""Makes reports, as a user does or in this process, and parses their pages."""

import base64
import io
import json
import subprocess
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from html.parser import HTMLParser
from pathlib import Path

from analysis.cli import build, main
from analysis.loader import load

ROOT = Path(__file__).resolve().parents[2]
SECTIONS = (
    "overview verdict roofline judgements time baseline speedup stages costs energy trend accuracy convergence "
    "transfer trials ranking architectures timeline failures papers provenance"
).split()

ALWAYS = ["overview", "papers", "provenance"]  # all other sections are left out if empty


def section_names(page):
    """Returns the names of a page's sections, without those that only contain the sections of one problem."""
    return {name for name in page.sections if not name.startswith("problem-")}


def command(*arguments, out):
    """Runs analysis/report as a user does, with the papers, and returns (page, stderr)."""
    line = [str(ROOT / "analysis" / "report"), *map(str, arguments), "--all-papers", "-o", str(out)]
    done = subprocess.run(line, capture_output=True, text=True, timeout=600, check=False)
    if done.returncode != 0:
        raise AssertionError(f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}")
    return Reader.of(Path(out) / "index.html"), done.stderr


def report(*arguments, out, expect=0):
    """Makes a report in this process, without the papers. The page is None if the report must fail."""
    line = [*map(str, arguments), "-o", str(out)]
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()) as output:
        code = main([*line, "--no-papers"])
    if code != expect:
        raise AssertionError(f"exit code {code}, expected {expect}\n{output.getvalue()}")
    return (Reader.of(Path(out) / "index.html") if expect == 0 else None), output.getvalue()


def page_of(*nights, papers="none"):
    """Returns the page of a report on these fixture.Nights, made in this process."""
    with tempfile.TemporaryDirectory() as folder:
        inputs = Path(folder) / "night"  # a fixed name, because the page's tables name a file with its folder
        inputs.mkdir()
        files = [night.write(inputs / f"{i}.h5") for i, night in enumerate(nights)]
        page = Reader.of(build(load(files), of_papers=papers).write(Path(folder) / "out"))
        page.data = {
            path.stem: path.read_text(encoding="utf-8") for path in (Path(folder) / "out" / "data").glob("*.csv")
        }
        return page


class Reader(HTMLParser):
    """Parses a page into sections with their words, tables, figures and addresses. A cell of a table is
    (text, exact value or None)."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.sections, self.tables, self.figures, self.headings = {}, {}, {}, []
        self.addresses, self.tags = [], set()
        self.none = {}  # section -> texts that say that there is nothing to show
        self.pictures = {}  # name -> [(kind, PNG bytes)]
        self.section = self.table = self.cell = self.inside_heading = None
        self.in_none = self.in_script = False
        self.plots = {}  # name -> input of plots.js
        self.bars = {}  # name -> [(value, lowest, highest)]
        self.plot = ""
        self.repeated = 0  # number of rows that earlier tables with the current name had

    @classmethod
    def of(cls, path):
        reader = cls()
        reader.text = path.read_text(encoding="utf-8").replace("<wbr>", "")  # where the browser may break a line
        reader.folder = path.parent
        reader.feed(reader.text)
        return reader

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.tags.add(tag)
        self.addresses += [attributes[a] for a in ("href", "src", "xlink:href") if a in attributes]
        if tag == "section":
            # Merges the same section of several problems ("gesv/time", "trsv/time"), because tests look for contents.
            self.section = attributes["id"].rpartition("/")[2]
            for found in (self.sections, self.none, self.figures):
                found.setdefault(self.section, [])
        elif tag == "table":
            self.table = attributes.get("data-table") or attributes["data-grid"]
            self.repeated = len(self.tables.setdefault(self.table, []))
        elif tag == "tr" and self.table:
            self.tables[self.table].append([])
        elif tag in ("td", "th") and self.table:
            self.cell = ["", float(attributes["data-v"]) if "data-v" in attributes else None]
        elif tag == "figure" and "data-plot" in attributes:
            self.plot = attributes["data-plot"]
            self.figures[self.section].append(self.plot)
        elif tag == "i" and "data-v" in attributes:
            self.bars.setdefault(self.plot, []).append([float(attributes["data-v"])] * 3)
        elif tag == "s":
            self.bars[self.plot][-1][1:] = float(attributes["data-low"]), float(attributes["data-high"])
        elif tag == "script":
            self.in_script = True
        elif tag == "figure" and "data-pictures" in attributes:
            self.pictures[attributes["data-pictures"]] = self.picture = []
        elif tag == "img" and "title" in attributes:
            self.picture.append(
                (attributes["alt"], base64.b64decode(attributes["src"].removeprefix("data:image/png;base64,")))
            )
        elif tag == "p":
            self.in_none = attributes.get("class") == "none"
        elif tag == "h3":
            self.headings.append(attributes.get("id", ""))

    def handle_endtag(self, tag):
        if tag in ("td", "th") and self.cell is not None:
            self.tables[self.table][-1].append(tuple(self.cell))
            self.cell = None
        elif tag == "table":
            if self.repeated:  # Another table with this name was read before: drops this one's heading.
                del self.tables[self.table][self.repeated]
            self.table = None
        elif tag == "section":
            self.section = None
        elif tag == "p":
            self.in_none = False
        elif tag == "script":
            self.in_script = False

    def handle_data(self, data):
        if self.in_script:
            if self.section:
                self.plots[self.plot] = json.loads(data)
        elif self.cell is not None:
            self.cell[0] += data
        elif self.section:
            self.sections[self.section].append(data)
            if self.in_none:
                self.none[self.section].append(data)

    def words(self, section):
        return " ".join(self.sections.get(section, []))

    def rows(self, table):
        """Returns rows as dicts: heading -> exact value if there is one, else text. Repeated headings get a number."""
        head, *body = self.tables[table]
        names = []
        for text, _ in head:
            names.append(text if text not in names else f"{text} {sum(n.split(' #')[0] == text for n in names) + 1}")
        return [{n: v if v is not None else t for n, (t, v) in zip(names, row)} for row in body]
