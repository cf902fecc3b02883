"""Reads the user's pages: their paths, headings, tables and links."""

import os
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GAUSSWEEP = Path(os.environ.get("GAUSSWEEP_BUILD", ROOT / "build")) / "gaussweep"


def _listed():
    listing = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True)
    if listing.returncode != 0:  # not a git checkout
        return [path for path in ROOT.rglob("*.md") if not any(p.startswith((".", "build")) for p in path.parts)]
    return [ROOT / name for name in listing.stdout.split()]


PAGES = sorted(path for path in _listed() if path.is_file())
NOTEBOOK = ROOT / "docs" / "notebook"
FOR_USERS = [path for path in PAGES if path.parent != NOTEBOOK and path.name != "CHANGELOG.md"]


def headings(text):
    """Returns the headings outside code, in order."""
    return re.findall(r"^#{1,6} +(.*?) *$", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S), re.M)


def anchor(heading):
    """Returns GitHub's anchor of a heading: letters, digits, - and _, in lower case, with - for spaces."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def section(text, heading):
    """Returns the text from a heading to the next one."""
    found = re.search(rf"^#+ {re.escape(heading)}\n(.*?)(?=^#|\Z)", text, re.M | re.S)
    if not found:
        raise AssertionError(f"there is no heading '{heading}'")
    return found.group(1)


def tables(text, heading):
    """Returns the table rows below a heading as dictionaries by column, without backquotes around whole cells."""
    rows, names = [], None
    for line in section(text, heading).splitlines():
        if not line.startswith("|"):
            names = None
            continue
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if names is None:
            names = cells
        elif not set(line) <= set("|-"):
            if len(cells) != len(names):
                raise AssertionError(f"{len(cells)} cells under {len(names)} columns: {line}")
            rows.append({name: re.sub(r"^`([^`]*)`$", r"\1", cell) for name, cell in zip(names, cells)})
    return rows


def words(cell):
    """Returns the words of a comma-separated cell, without backquotes."""
    return {word.strip("` ") for word in cell.split(",")} - {""}


def prose(text):
    """Returns the paragraphs and list items of a page, without code blocks, tables and headings; inline code counts as
    one word, a link as its text."""
    text = re.sub(r"^ *```.*?^ *```", "\n", text, flags=re.M | re.S)
    text = re.sub(r"^ *(\||#).*$", "\n", text, flags=re.M)
    text = re.sub(r"(?<=\n)\n {4}.*", "\n", text)  # an indented block after an empty line
    text = re.sub(r"^ *([-*]|\d+\.) +", "\n\n", text, flags=re.M)
    for paragraph in re.split(r"\n\s*\n", text):
        paragraph = re.sub(r"`[^`]*`", "code", " ".join(paragraph.split()))
        paragraph = re.sub(r"!\[[^]]*\]\([^)]*\)", "", paragraph)
        yield re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", paragraph)


def sentences(text):
    """Returns the sentences of a page as lists of words. A sentence ends with its paragraph or list item, or at a full
    stop before a space, but not after an initial. A word has a letter or a digit."""
    for paragraph in prose(text):
        paragraph = re.sub(r"\b([A-ZČ]|e\.g|i\.e)\. ", r"\1 ", paragraph)
        for sentence in re.split(r"(?<=[.!?])[*\")]* ", paragraph):
            found = [word for word in sentence.split() if re.search(r"\w", word)]
            if found:
                yield found
