#!/usr/bin/env python3
"""What the runs of tests/gpu_bars.sh say of each line that is wanted on a machine with GPUs.

    tests/gpu/bars.py GAUSSWEEP OUT

OUT/runs.tsv has a line a run: name, step, GPUs, alone or beside, exit code, seconds by the clock. OUT/runs/NAME holds
its journal, OUT/suite.log what ctest said. Printed is, for each line, what was wanted, what was seen, and yes, no or
"not seen". Reads journals, so it needs nothing but Python.
"""

import collections
import datetime
import gzip
import json
import math
import pathlib
import re
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from compared import NotCompared, compare, verdicts  # noqa: E402

PHASES = "wait prepare store inputs allocate upload warmup timed download verify stages reference compare".split()
USEFUL = ("timed", "warmup", "stages", "reference")
NEAR = 1.03

Run = collections.namedtuple("Run", "name step gpus alone code seconds folder")
Bar = collections.namedtuple("Bar", "issue wanted seen met")


def journal(folder):
    """The last record of each key and round, and the rows of the devices."""
    records, devices = {}, []
    path = pathlib.Path(folder) / "journal.jsonl"
    packed = path.with_suffix(".jsonl.gz")
    if not path.exists() and not packed.exists():
        return [], []
    with gzip.open(packed, "rt") if not path.exists() else path.open() as lines:
        for line in lines:
            if not line.endswith("\n"):  # the run was ended while it wrote
                break
            entry = json.loads(line)
            if "key" in entry:
                records[entry["key"], entry.get("round", 1)] = entry
            elif entry.get("note") == "device":
                devices.append(entry["row"])
    return list(records.values()), devices


def read_runs(out):
    """The runs by step, in the order in which they were made."""
    steps = collections.defaultdict(list)
    for line in (pathlib.Path(out) / "runs.tsv").read_text().splitlines():
        name, step, gpus, place, code, seconds = line.split("\t")
        folder = pathlib.Path(out) / "runs" / name
        steps[step].append(Run(name, step, int(gpus), place == "alone", int(code), float(seconds), folder))
    return steps


def moment(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def phases(records):
    """Seconds in each phase, over all records: a phase ends where the next begins."""
    sums = collections.Counter()
    for record in records:
        if not record.get("end_time"):
            continue
        begun = sorted((record[f"{p}_began"], p) for p in PHASES if record.get(f"{p}_began") is not None)
        ends = [at for at, _ in begun[1:]] + [moment(record["end_time"])]
        for (at, phase), end in zip(begun, ends):
            sums[phase] += end - at
    return sums


def ratio(run):
    """Wall seconds of all GPUs over what was measuring: samples, warm-ups, stage passes, references."""
    sums = phases(journal(run.folder)[0])
    useful = sum(sums[p] for p in USEFUL)
    return run.gpus * run.seconds / useful if useful > 0 else math.nan


def statuses(run):
    return dict(sorted(collections.Counter(r["status"] for r in journal(run.folder)[0]).items()))


def whole(run):
    """Whether every trial has its record."""
    return run.code in (0, 1)


def known_parts(one, other):
    """What the GPU itself needs, where both tell it alike: runs queued at once, or runs the host does not hold up."""
    if one.get("replay_median") and other.get("replay_median"):
        return one["replay_median"], other["replay_median"]
    if one.get("launch_bound") == 0 and other.get("launch_bound") == 0:
        return one["seconds_median"], other["seconds_median"]
    return None


def on_gpu(record, least=1e-3):
    return record["backend"] != "host" and (record.get("seconds_median") or 0) > least


def near(one, other):
    return 1 / NEAR <= other / one <= NEAR


def agreement(base, new, least=1e-3):
    """Of the trials on a GPU above a millisecond: how many, headlines within 3 %; known parts that take as much, of
    them within 3 %."""
    others = {(r["key"], r.get("round", 1)): r for r in new}
    counts = collections.Counter()
    for record in base:
        other = others.get((record["key"], record.get("round", 1)))
        if not on_gpu(record, least) or other is None or not other.get("seconds_median"):
            continue
        counts["trials"] += 1
        counts["headlines"] += near(record["seconds_median"], other["seconds_median"])
        parts = known_parts(record, other)
        if parts and min(parts) > least:
            counts["known"] += 1
            counts["known_near"] += near(*parts)
    return counts


def compared(gaussweep, base, new):
    """Verdicts of the timed trials and the exit code."""
    try:
        code, said = compare(gaussweep, base, new)
    except NotCompared as error:
        print(error, file=sys.stderr)
        return collections.Counter(), error.code
    return verdicts(said), code


def pairs_text(pairs):
    words = ("SAME", "UNCLEAR", "HOST-BOUND", "FASTER", "SLOWER")
    lines = []
    for names, counts, code in pairs:
        lines.append(f"{names}: " + ", ".join(f"{counts[w]} {w}" for w in words) + f", exit code {code}")
    return "; ".join(lines)


def quiet(pairs):
    """At least 99 % neither faster nor slower, at most one in ten unclear, no regression."""
    for _, counts, code in pairs:
        timed = sum(counts.values())
        if not timed or code == 4:
            return False
        if counts["FASTER"] + counts["SLOWER"] > 0.01 * timed or counts["UNCLEAR"] > 0.1 * timed:
            return False
    return bool(pairs)


def all_compared(gaussweep, bases, news):
    return [(f"{a.name} - {b.name}", *compared(gaussweep, a.folder, b.folder)) for a, b in zip(bases, news)]


def noise(gaussweep, steps):
    runs = [r for r in steps["noise"] if whole(r)]
    wanted = "noise.yaml quiet, every pair: 99 % not FASTER or SLOWER, at most 10 % UNCLEAR, no exit code 4"
    pairs = [(a, b) for i, a in enumerate(runs) for b in runs[i + 1 :]]
    found = all_compared(gaussweep, *zip(*pairs)) if pairs else []
    met = quiet(found) if len(runs) >= 5 else (None if quiet(found) or not found else False)
    yield Bar(16, wanted, f"{len(runs)} runs, {len(found)} pairs: {pairs_text(found)}", met)
    busy = [r for r in steps["busy"] if whole(r)]
    found = all_compared(gaussweep, *zip(*[(a, b) for a in runs for b in busy])) if runs and busy else []
    wanted = "the same beside three neighbours on other GPUs and cores, against each quiet run"
    yield Bar(16, wanted, pairs_text(found), quiet(found) if found else None)


def share(part, all_of):
    return f"{part} of {all_of}" + (f" ({100 * part / all_of:.1f} %)" if all_of else "")


def one_against_many(steps):
    ones, manies = ([r for r in steps[s] if r.alone and whole(r)] for s in ("night1", "night4"))
    counts, texts = collections.Counter(), []
    for one in ones:
        for many in manies:
            here = agreement(journal(one.folder)[0], journal(many.folder)[0])
            counts += here
            texts.append(
                f"{one.name} - {many.name}: headlines {share(here['headlines'], here['trials'])}, "
                f"known GPU parts {share(here['known_near'], here['known'])}"
            )
    seen = "; ".join(texts)
    wanted = "night.yaml, 1 GPU against several: trials on a GPU above 1 ms within 3 %, 99 % of them"
    for what, part, of in (("headlines", "headlines", "trials"), ("known GPU parts", "known_near", "known")):
        met = counts[part] >= 0.99 * counts[of] if counts[of] else None
        yield Bar(16, f"{wanted}: {what}", seen, met)


def cost_of_a_night(steps):
    for step, plan, most in (("night1", "night.yaml", 1.3), ("big", "big.yaml", 2.0)):
        runs = [r for r in steps[step] if whole(r)]
        found = [ratio(r) for r in runs]
        texts = [
            f"{r.name} ({'alone' if r.alone else 'beside'}) {r.seconds:.1f} s, {x:.2f}" for r, x in zip(runs, found)
        ]
        middle = statistics.median(found) if found else math.nan
        seen = "; ".join(texts) + (f"; median {middle:.2f}; {statuses(runs[0])}" if found else "")
        wanted = f"{plan} on 1 GPU, median of three: wall over measuring at most {most}"
        yield Bar(15, wanted, seen, middle <= most if len(found) >= 3 else None)


def speed_up(steps):
    for one, many, least_4, least_2 in (("night1", "night4", 3.8, 1.95), ("thousand1", "thousand4", 3.9, 1.97)):
        singles, severals = ([r for r in steps[s] if r.alone and whole(r)] for s in (one, many))
        gpus = severals[0].gpus if severals else 4
        least = least_4 if gpus == 4 else least_2
        wanted = f"{one[:-1]}: wall on 1 GPU over {gpus} at least {least}, medians"
        if not singles or not severals:
            yield Bar(15, wanted, f"{len(singles)} and {len(severals)} whole runs", None)
            continue
        a, b = (statistics.median(r.seconds for r in runs) for runs in (singles, severals))
        seen = f"{a:.2f} s ({len(singles)} runs) over {b:.2f} s ({len(severals)} runs): {a / b:.2f}"
        seen += f"; {statuses(severals[0])}"
        yield Bar(15, wanted, seen, a / b >= least if gpus in (2, 4) else None)


def small_trials(steps):
    texts, best = [], None
    for run in steps["small"]:
        records = [r for r in journal(run.folder)[0] if r.get("end_time")]
        begins = [r[f"{p}_began"] for r in records for p in PHASES if r.get(f"{p}_began") is not None]
        if not begins:
            continue
        span = max(moment(r["end_time"]) for r in records) - min(begins)
        rate = len(records) / run.seconds
        texts.append(
            f"{len(records)} trials on {run.gpus} GPUs in {run.seconds:.2f} s: {rate:.0f} a second "
            f"({len(records) / span:.0f} from the first to the last); {statuses(run)}"
        )
        best = max(best or 0, rate / run.gpus)
    wanted = "small trials: at least 1,500 a second on 4 GPUs, 375 a GPU"
    yield Bar(15, wanted, "; ".join(texts), None if best is None else best >= 375)


def order_100000(steps):
    texts = []
    for run in steps["order"]:
        for r in journal(run.folder)[0]:
            passed = r["status"] == "pass"
            figures = f"median {r['seconds_median']:.2f} s, ratio {r['residual_ratio']:.2g}" if passed else ""
            texts.append(" ".join(filter(None, (r["status"], r.get("message", ""), figures))))
    met = any(text.startswith("pass") for text in texts) if texts else None
    yield Bar(15, "order 100,000 in double through gesv/cusolver on one GPU", "; ".join(texts), met)


def storing(gaussweep, steps):
    """Medians of runs that store no matrices against those of runs that do."""
    withs, withouts = ([r for r in steps[s] if r.alone and whole(r)] for s in ("noise", "writer"))
    pairs = [(a, b) for a in withs for b in withouts]
    found = all_compared(gaussweep, *zip(*pairs)) if pairs else []
    quotients = []
    for a, b in pairs:
        # A plan that stores nothing has trials of other keys.
        name = ("problem", "method", "precision", "n", "nrhs", "uplo", "parameters", "matrix", "round")
        ours, others = ({tuple(r.get(k) for k in name): r for r in journal(x.folder)[0]} for x in (a, b))
        both = [(r, others[k]) for k, r in ours.items() if k in others and on_gpu(r, 0) and on_gpu(others[k], 0)]
        quotients += [parts[0] / parts[1] for parts in (known_parts(*pair) for pair in both) if parts]
    seen = pairs_text(found)
    if len(quotients) > 1:
        q = statistics.quantiles(quotients, n=20)
        seen += f"; known GPU parts with over without, 5 %, median, 95 %: {q[0]:.4f}, {q[9]:.4f}, {q[18]:.4f}"
    yield Bar(
        15, "timed medians do not change with the store's writer beside them", seen, quiet(found) if found else None
    )


def suite(out):
    """What ctest said: of all, of the tests of planted errors, of the large orders of getrf/recursive."""
    path = pathlib.Path(out) / "suite.log"
    tests, total = {}, None
    if path.exists():
        for line in path.read_text(errors="replace").splitlines():
            found = re.match(r"\s*\d+/\d+ Test\s+#\d+: (\S+) \.*\s*(Passed|\*\*\*\w+|Skipped)", line)
            if found:
                tests[found[1]] = found[2].lstrip("*")
            found = re.match(r"Total Test time \(real\) =\s*([\d.]+)", line)
            total = float(found[1]) if found else total
    failed = sorted(name for name, how in tests.items() if how not in ("Passed", "Skipped"))
    skipped = sum(how == "Skipped" for how in tests.values())
    if total is not None:
        seen = (
            f"{len(tests)} tests in {total:.0f} s: {len(failed)} failed, {skipped} skipped {' '.join(failed)}".rstrip()
        )
    else:
        seen = f"{len(tests)} tests, then the time was up: {len(failed)} failed {' '.join(failed)}".rstrip()
    seen = seen if path.exists() else ""
    met = None if not tests or skipped or (total is None and not failed) else not failed
    yield Bar(13, "ctest -L gpu: all pass", seen, met)
    for issue, wanted, part in (
        (15, "wrong answers planted, n to 8192: the GPU's judge says what the CPU's says", "JudgeOnGpu"),
        (18, "getrf/recursive at 1300 to 16500", "RecursiveLuSizes"),
    ):
        its = {name: how for name, how in tests.items() if part in name}
        passed = sum(how == "Passed" for how in its.values())
        wrong = " ".join(sorted(set(its) & set(failed)))
        yield Bar(
            issue,
            wanted,
            f"{passed} of {len(its)} pass {wrong}".rstrip(),
            passed == len(its) if its and not skipped else None,
        )


def mean(values):
    return math.exp(statistics.fmean(math.log(v) for v in values)) if values else math.nan


def getrs_seconds(record):
    return next((s["seconds"] for s in record.get("stages", []) if s["kernel"] == "getrs"), None)


def median_of(record):
    return record.get("seconds_median")


def condition_of(record):
    return json.loads(record.get("matrix_parameters") or "{}").get("condition")


# What is timed, ours, the other, matrices, the least order that counts and one that must be among them; what the mean
# and each quotient must reach.
Race = collections.namedtuple("Race", "problem ours theirs kind condition value least_n most_n mean each")
RACES = (
    Race("trsv", "inverted_blocks", "cublas", "triangular", None, median_of, 1024, 32768, 2.5, 1.5),
    Race("getrf", "recursive", "cusolver", "uniform", None, median_of, 1024, 32768, 2.0, 1.25),
    Race("gesv", "recursive", "cusolver", "uniform", None, median_of, 1024, 32768, 2.0, 1.25),
    Race("gesv", "recursive", "cusolver", "uniform", None, getrs_seconds, 1024, 32768, 4.0, 0),
    Race("gesv", "mixed_gmres", "cusolver", "uniform", None, median_of, 16384, 32768, 0, 2.5),
    Race("gesv", "mixed_gmres", "cusolver", "diagonally_dominant", None, median_of, 16384, 32768, 0, 2.5),
    Race("gesv", "mixed_gmres", "cusolver", "condition", 1e6, median_of, 16384, 16384, 0, 2.5),
    Race("gesv", "mixed_gmres", "recursive", "condition", 1e12, median_of, 1000, 16384, 0, 1 / 1.3),
)


def times(records, race, method, precision):
    """Seconds a size and matrix. Of the vendor's two triangles the better counts."""
    found = {}
    for r in records:
        names = (r["problem"], r["method"], r["precision"], r["matrix_kind"], r["nrhs"])
        if names != (race.problem, method, precision, race.kind, 1) or r["n"] < race.least_n:
            continue
        seconds = race.value(r) if r["status"] == "pass" and condition_of(r) == race.condition else None
        if seconds:
            key = r["n"], r.get("matrix_parameters")
            found[key] = min(seconds, found.get(key, math.inf))
    return found


def run_of(race, records, precision):
    """One race: theirs over ours at each size."""
    ours, theirs = (times(records, race, method, precision) for method in (race.ours, race.theirs))
    quotients = [(n, theirs[n, p] / ours[n, p]) for n, p in sorted(ours) if (n, p) in theirs]
    bars = [f"mean at least {race.mean}"] * (race.mean > 0) + [f"each at least {race.each:.2f}"] * (race.each > 0)
    if precision != "double":
        bars = ["reported"]
    stage = ", stage getrs" if race.value is getrs_seconds else ""
    condition = f" {race.condition:.0e}" if race.condition else ""
    wanted = (
        f"{race.problem}/{race.ours} over {race.theirs}{stage}, {precision}, {race.kind}{condition}: {', '.join(bars)}"
    )
    if not quotients:
        return Bar(18, wanted, "", None)
    middle, least = mean([q for _, q in quotients]), min(q for _, q in quotients)
    seen = " ".join(f"{n}: {q:.2f}" for n, q in quotients) + f"; mean {middle:.2f}"
    met = middle >= race.mean and least >= race.each if precision == "double" else None
    return Bar(18, wanted, seen, None if met and quotients[-1][0] < race.most_n else met)


def accuracy(records):
    """The judged ratios of ours over those of the vendor's method on the same operands."""
    same = ("problem", "precision", "n", "nrhs", "uplo", "matrix_kind", "matrix_parameters")
    theirs = {race.theirs for race in RACES} & {"cublas", "cusolver"}
    ratios = {tuple(r[k] for k in same): r.get("residual_ratio") for r in records if r["method"] in theirs}
    found = []
    for r in records:
        other = ratios.get(tuple(r[k] for k in same))
        if r["method"] not in theirs and other and r.get("residual_ratio") is not None:
            where = (
                f"{r['problem']}/{r['method']} {r['precision']} {r['n']} {r['matrix_kind']} {r['matrix_parameters']}"
            )
            found.append((r["residual_ratio"] / other, f"{where}: {r['residual_ratio']:.2g} over {other:.2g}"))
    worst = max(found, default=None)
    wanted = "ratios as judged: none above 3 times the vendor's on the same operands"
    return Bar(
        18, wanted, f"{len(found)} pairs, at most {worst[0]:.2f}: {worst[1]}" if worst else "", worst and worst[0] <= 3
    )


def vendor(steps):
    records, devices = [], []
    runs = steps["vendor_double"] + steps["vendor_float"]
    for run in runs:
        found = journal(run.folder)
        records += found[0]
        devices += found[1]
    for precision in ("double", "float"):
        for race in RACES:
            yield run_of(race, records, precision)
    yield accuracy(records)
    note = "; ".join(f"{r.name}: {statuses(r)}, exit code {r.code}" for r in runs)
    yield from shares_of_the_floor(records, devices, note)


def rate_of(records, problem, method, kind, what):
    """Of the best trial at 32768 in double; `what` a second: flops or bytes."""
    wanted = (problem, method, "double", kind, 1, 32768)
    rates = (
        r[what] / r["seconds_median"]
        for r in records
        if r.get("seconds_median")
        and r.get(what)
        and (r["problem"], r["method"], r["precision"], r["matrix_kind"], r["nrhs"] or 1, r["n"]) == wanted
    )
    return max(rates, default=0)


def shares_of_the_floor(records, devices, note):
    """Of what the GPU does best: a copy, and DGEMM at the same order in the same run, whose clocks fall as LU's do."""
    copy = max((d.get("copy_bytes_per_second") or 0 for d in devices), default=0)
    short = max((d.get("gemm_flops_double") or 0 for d in devices), default=0)
    gemm = rate_of(records, "gemm", "cublas", "uniform", "flops")
    lines = (
        ("trsv", "inverted_blocks", "triangular", "bytes", copy, "copy bandwidth"),
        ("getrf", "recursive", "uniform", "flops", gemm, "the GEMM rate there"),
    )
    for problem, method, kind, what, peak, name in lines:
        rate = rate_of(records, problem, method, kind, what)
        wanted = f"{problem}/{method} at 32768, double: 75 % of {name}"
        if not rate or not peak:
            yield Bar(18, wanted, note, None)
            continue
        beside = f" ({rate / 1e12:.1f} of {peak / 1e12:.1f} TFLOP/s, {short / 1e12:.1f} in short runs)"
        seen = f"{100 * rate / peak:.0f} %{beside if what == 'flops' else ''}; {note}"
        yield Bar(18, wanted, seen, rate / peak >= 0.75)


def papers(steps):
    for step in sorted(s for s in steps if s.startswith("paper_")):
        for run in steps[step]:
            found = statuses(run)
            trials = f"{sum(found.values())} trials {found}, " if found else ""
            seen = f"{trials}{run.seconds:.0f} s, exit code {run.code}"
            yield Bar(
                17, f"{step.removeprefix('paper_')} runs to its end", seen, whole(run) if found else run.code == 0
            )


def bars(gaussweep, out):
    steps = read_runs(out)
    yield from noise(gaussweep, steps)
    yield from one_against_many(steps)
    yield from cost_of_a_night(steps)
    yield from speed_up(steps)
    yield from small_trials(steps)
    yield from order_100000(steps)
    yield from storing(gaussweep, steps)
    yield from suite(out)
    yield from vendor(steps)
    yield from papers(steps)


def main(gaussweep, out):
    for bar in sorted(bars(gaussweep, out), key=lambda b: b.issue):
        answer = {True: "yes", False: "NO", None: "not seen"}[bar.met]
        print(f"{bar.issue}  {answer:8}  {bar.wanted}\n              {bar.seen or '-'}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
