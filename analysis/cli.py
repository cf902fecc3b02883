"""The command `analysis/report`."""

import argparse
import os
import sys

from .loader import ReportError, load
from .page import Page, printable
from .sections import ALL, restoration


def build(night, title="gaussweep report"):
    """The page of a night, ready to be written."""
    page = Page(title)
    # a directory of restored images has no records to speak of
    for section in ALL if night.files else [restoration.restoration]:
        section(page, night)
    return page


def title_of(night):
    if not night.files:
        return "gaussweep: image restoration"
    plans = [p for p in dict.fromkeys(night.records["plan_name"]) if p]
    return "gaussweep: " + (", ".join(plans[:3]) + (" and more" if len(plans) > 3 else "") if plans else "report")


def main(arguments=None):
    parser = argparse.ArgumentParser(
        prog="report",
        description=(
            "Writes OUT/index.html, a page on what a sweep measured, with its data (OUT/data) "
            "and its drawings (OUT/plots)."
        ),
    )
    parser.add_argument(
        "input", nargs="+", metavar="DIR|FILE", help="run directories or results files; several are reported together"
    )
    parser.add_argument(
        "-o", "--output", default="report", metavar="OUT", help="directory to write into (default: report)"
    )
    options = parser.parse_args(arguments)
    try:
        night = load(options.input)
        index = build(night, title_of(night)).write(options.output)
    except ReportError as error:
        return _refuse(str(error))
    except OSError as error:
        return _refuse(f"cannot write the page: {error}")
    except MemoryError:
        return _refuse("there is not enough memory for these files; report on fewer of them")
    for warning in night.warnings:
        print(f"report: {printable(warning)}", file=sys.stderr)
    print(os.fsencode(index).decode("utf-8", "replace"))
    return 0


def _refuse(words):
    print(f"report: {printable(words)}", file=sys.stderr)
    return 2
