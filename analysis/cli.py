"""The command line of `analysis/report`: reads its options, loads the results and writes the page."""

import argparse
import errno
import os
import signal
import sys
from pathlib import Path

from . import figures
from .filters import select
from .captions import is_rectangular
from .frames import methods
from .loader import TABLES, ReportError, load
from .page import Page, printable
from .sections import FIRST, LAST, overview, papers, problems, restoration, verdict
from .sections.changes import followed, left_out_words, too_few_words
from .trend_text import MOST_RUNS, table

# Columns of `records` that no section shows. They are not loaded, to save memory. Of `samples` only `throttled` is
# needed. Files may have the columns matrix_condition and condition, which conditions.py uses.
NOT_SHOWN = """judged_time node warmup device_index seconds_stdev load_seconds
generate_seconds verify_seconds reference_seconds memory_clock_mhz replay_q1 replay_q3 energy_power_w repeats_bits
systems_pass systems_suspect systems_failed first_failure enough""".split()
SHOWN = {
    "records": {*TABLES["records"], "matrix_condition", "condition"}.difference(NOT_SHOWN),
    "samples": {"trial", "throttled"},
}


def build(results, title="gaussweep report", baseline="", of_papers="run"):
    """Builds the page. `results`: `loader.Results`, the data of all input files; `baseline`: the method with which
    speedups are computed, empty for the vendor's. `of_papers`: the experiments of papers to draw: "run" (those whose
    plans were run), "all" or "none"."""
    page = Page(title, methods(results.take("method problem")))
    # A directory of restored images has no records.
    if not results.files:
        restoration.restoration(page, results)
        return page
    sizes = results.take("problem operands")
    page.rectangular = set(sizes.loc[is_rectangular(sizes), "problem"])
    page.facts = facts(results)
    only_papers = of_papers != "none" and papers.are_all_plans(results)
    for section in FIRST:
        section(page, results, *([baseline] if section is verdict.verdict else []))
        if section is overview.overview and only_papers:
            papers.papers(page, results, of_papers == "all", is_folded=False)
    problems.problems(page, results, baseline)
    for section in LAST:
        if section is not papers.papers:
            section(page, results)
        elif of_papers != "none" and not only_papers:
            papers.papers(page, results, of_papers == "all")
    return page


def facts(results):
    """Returns the texts below the page's title: dates, devices, driver, versions."""

    def listed(words, values):
        values = list(dict.fromkeys(v for v in values if v))
        return [f"{words}{', '.join(values[:3])}{' and more' if len(values) > 3 else ''}"] if values else []

    records, attributes = results.take("start_time backend device commit"), [
        attributes for _, attributes, _ in results.files
    ]
    days = sorted(time[:10] for time in records["start_time"].unique() if time)
    gpus = records.loc[records["backend"] == "cuda", "device"].value_counts().index
    drivers = [a.get("driver_version", "") for a in attributes]
    cuda = [f"{v // 1000}.{v % 1000 // 10}" for v in results.devices["driver_version"] if v > 0]
    return [
        *listed("", [" to ".join(dict.fromkeys([days[0], days[-1]]))] if days else []),
        *listed("GPU ", gpus),
        *listed("CPU ", [] if len(gpus) else results.hosts["cpu"]),
        *listed("driver ", drivers),
        *listed("CUDA ", cuda),
        *listed("gaussweep ", [a.get("version", "") for a in attributes]),
        *listed("commit ", [c[:10] for c in records["commit"].unique()]),
    ]


def title_of(results):
    """Returns the page's default title, which names the plans."""
    if not results.files:
        return "gaussweep: image restoration"
    plans = [p for p in results.take("plan_name")["plan_name"].unique() if p]
    return "gaussweep: " + (", ".join(plans[:3]) + (" and more" if len(plans) > 3 else "") if plans else "report")


class _Parser(argparse.ArgumentParser):
    def print_help(self, file=None):
        self.exit(_print(self.format_help(), end=""))


def main(arguments=None):
    parser = _Parser(
        prog="report",
        description="Writes OUT/index.html, a page with a sweep's results, and its data (OUT/data).",
        epilog="Examples:\n  gaussweep report runs/first -o report\n  gaussweep report runs/first --figures pgf",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "input", nargs="+", metavar="DIR|FILE", help="run directories or results files; several are reported together"
    )
    parser.add_argument(
        *("-o", "--output"),
        default="report",
        metavar="OUT",
        type=_folder,
        help="directory to write into (default: report)",
    )
    for name, what in (("problem", "gesv,trsv"), ("method", "cusolver,gauss_*"), ("gpu", "*H200*")):
        parser.add_argument(f"--{name}", metavar="LIST", help=f"only these, e.g. {what}; * and ? are wildcards")
    parser.add_argument(
        "--baseline", default="", metavar="METHOD", help="reference of speedups, e.g. lapack (default: the vendor's)"
    )
    parser.add_argument("--title", help="title of the page")
    parser.add_argument(
        "--figures",
        choices=figures.KINDS,
        help="also write the plots for a paper into OUT/figures, with captions (needs matplotlib; pgf needs TeX)",
    )
    parser.add_argument(
        "--only",
        metavar="LIST",
        help="with --figures: only figures whose file name contains one of these words, e.g. time-gesv,stages",
    )
    parser.add_argument(
        "--trend",
        action="store_true",
        help="write no page; print the times of the fastest trial of each problem at its largest size in the last"
        f" {MOST_RUNS} runs of its plan (if there are three or more)",
    )
    of_papers = parser.add_mutually_exclusive_group()
    of_papers.add_argument(
        "--no-papers",
        dest="papers",
        action="store_const",
        const="none",
        default="run",
        help="leave out the papers' figures and tables (default: those of papers whose plans were run)",
    )
    of_papers.add_argument(
        "--all-papers",
        dest="papers",
        action="store_const",
        const="all",
        help="draw every paper's experiments from all records that fit, whatever their plans",
    )
    options = parser.parse_args(arguments)
    if options.only is not None and not options.figures:
        parser.error("--only needs --figures")
    try:
        figures.check(options.figures)  # fails early, because building the page may take long
        if not options.trend:
            is_replacing = _is_report(Path(options.output) / "index.html")
        results = select(load(options.input, SHOWN), options.problem, options.method, options.gpu, options.baseline)
        if options.trend:
            times = followed(results)
            lines = [*map(printable, table(times)), *filter(None, [left_out_words(times)])]
            return _print("\n".join(lines) or too_few_words(results))
        title = options.title if options.title is not None else title_of(results)
        page = build(results, title, options.baseline, options.papers)
        drawn = figures.selected(page, options.only)  # fails before the page is written
        index = page.write(options.output)
        if options.figures:
            figures.write(page, options.output, options.figures, drawn, is_replacing)
        elif is_replacing:
            figures.remove_earlier(options.output)
    except ReportError as error:
        return _refuse(str(error))
    except OSError as error:
        return _refuse(f"cannot write the page in {options.output}: {error}")
    except MemoryError:
        return _refuse("there is not enough memory for these files; report on fewer of them")
    for warning in results.warnings:
        print(f"report: {printable(warning)}", file=sys.stderr)
    return _print(printable(os.fsencode(index).decode("utf-8", "replace")))


def _is_report(path):
    """Returns true if the file is a report, false if it does not exist. @raises ReportError if it is another page,
    which must not be overwritten"""
    if not path.is_file():
        return False
    if '<p class="facts">' not in path.read_text(encoding="utf-8", errors="replace"):
        raise ReportError(f"{path} is not a report of gaussweep and is kept; give another directory (-o)")
    return True


def _folder(name):
    if not name:  # Path("") is the current folder
        raise argparse.ArgumentTypeError("an empty name; allowed: the name of a directory")
    return name


def _print(words, end="\n"):
    """Prints the text. Returns the exit code, as gaussweep does: 0, or 3 if standard output cannot be written, or 128 +
    SIGPIPE if its reader has closed it."""
    try:
        if sys.stdout is None:  # the caller closed the descriptor
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        print(words, end=end, flush=True)
        return 0
    except OSError as error:
        if sys.stdout is not None:  # Python flushes again at exit, which succeeds only on /dev/null
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if error.errno == errno.EPIPE:
            return 128 + signal.SIGPIPE
        print(f"report: standard output cannot be written: {error.strerror}", file=sys.stderr)
        return 3


def _refuse(words):
    """Prints an error. Returns the exit code of wrong usage or input."""
    print(f"report: {printable(words)}", file=sys.stderr)
    return 2
