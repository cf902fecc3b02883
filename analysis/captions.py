"""Words of captions: the matrices, the statistic and the number of samples of a figure's points."""

import re

from .words import counted

ONE_CORE = "serial|crout"  # regular expression for the names of CPU methods that run on one core, without BLAS
EMULATED = "emulated on "  # prefix of the device name of emulated kernels, which are GPU kernels that run on the CPU


def basis(rows, statistic="median", with_sizes=False, is_pooled=False):
    """Returns sentences for a caption: the matrices, the statistic and the number of samples of each point.
    `with_sizes`: also the sizes, for figures whose axes do not show them. `is_pooled`: a point is the median over the
    seeds and repetitions."""
    count, trials = pooled(rows) if is_pooled else (1, "")
    words = measured(rows, statistic, f"up to {count} {trials}" if count > 1 else "")
    return f"{matrices(rows, with_sizes)} Each point: {words}."


def measured(rows, statistic="median", over=""):
    """Returns "the median of 3 samples", or "the median over up to 2 seeds of the medians over 3 rounds of the medians
    of 5 samples". `over`: the trials that share a point ("up to 2 seeds")."""
    rounds = range_text(rows["rounds"])
    words = [f"median over {over}"] if over else []
    words += [f"{statistic} over {counted(rounds, 'round')}"] if rounds != "1" else []
    is_single = rows["samples"].max() == 1
    if is_single and not words:
        return _samples(rows)
    words += [] if is_single else [f"{statistic} of {_samples(rows)}"]
    # Makes plurals of all statistics but the outermost: "the median over … of the medians over …".
    words[1:] = [word.replace(" ", "s ", 1) for word in words[1:]]
    return f"the {' of the '.join(words)}" + (f", {_samples(rows)} each" if is_single else "")


def speedup_basis(rows, name, is_pooled=True):
    """As `basis`, for points that are speedups by the parameter `name` (`frames.speedups`). `is_pooled`: a point is the
    median over the seeds."""
    seeds = most_seeds(rows) if is_pooled else 1
    over_seeds = f"the median over up to {seeds} seeds of each seed's ratio: " if seeds > 1 else ""
    bases = " or ".join(f"{base:g}" for base in sorted(rows["base"].unique()))
    return (
        f"{matrices(rows)} Each point: {over_seeds}the median time at the method's smallest value ({name} = {bases})"
        f" over that at the value shown, of {sampled(rows)}."
    )


def pooled(rows):
    """Returns the largest number of trials that share a point of `frames.curves`, and the noun for these trials: (3,
    "seeds"), or (2, "trials") if repetitions or hosts share a point too."""
    point = "problem precision method device matrix_name operands size config runs_ago".split()
    point = [rows[column] for column in point if column in rows]
    # A trial has one record per round, so records with the weight 1 / rounds add up to the number of trials.
    trials = int((1 / rows["rounds"]).groupby(point, observed=True).sum().round().max())
    seeds = rows["matrix_seed"].groupby(point, observed=True).nunique().max()
    return trials, "seeds" if trials == seeds else "trials"


def sampled(rows):
    """Returns "3 samples", "3 to 7 samples", "3 samples of 10 calls" or "3 samples in each of 2 rounds": the numbers of
    samples of the rows."""
    rounds = range_text(rows["rounds"])
    return _samples(rows) + (f" in each of {counted(rounds, 'round')}" if rounds != "1" else "")


def _samples(rows):
    samples, calls = (range_text(rows[name]) for name in ("samples", "inner_repeats"))
    return counted(samples, "sample") + (f" of {calls} calls" if calls not in ("0", "1") else "")


def over_rounds(rows):
    """Returns "the median over 2 rounds of " for a quantity that is measured once per round; an empty text without
    rounds."""
    rounds = range_text(rows["rounds"])
    return f"the median over {counted(rounds, 'round')} of " if rounds != "1" else ""


def most_seeds(rows):
    """Returns the number of seeds of the matrix that has most of them."""
    return rows.groupby("matrix_name")["matrix_seed"].nunique().max()


def range_text(values):
    """Returns the range of the values: "3" or "3 to 7"."""
    least, most = int(values.min()), int(values.max())
    return f"{least}" if least == most else f"{least} to {most}"


def matrices(rows, with_sizes=False, reference=""):
    """Returns a caption's sentences that name the matrices with all their parameters and seeds. They also name the
    operands, triangle and number of BLAS threads that all rows share, and with `with_sizes` the sizes. They define n if
    a row is a product that is not square."""
    seeds_of = rows.groupby("matrix_full")["matrix_seed"]
    names = [name if "(sha256 " in name else f"{name}, {_seeds(seeds)}" for name, seeds in seeds_of]  # files: no seed
    words = f"Matrix: {'; '.join(names)}"
    if with_sizes:
        words += f"; n = {range_text(rows.loc[rows['main'], 'size'] if 'main' in rows else rows['size'])}"
    shared = _shared_conditions(rows, reference)
    words += f". Measured with {', '.join(shared)}" if shared else ""
    return f"{words}. n: the cube root of m·n·k." if is_rectangular(rows).any() else f"{words}."


def is_rectangular(rows):
    """Returns a mask of the products that are not square. Their `size` is not their n."""
    return rows["operands"].str.contains(" × ", regex=False)


def _shared_conditions(rows, reference=""):
    """Returns words for the operands and the triangle that all rows share. If a method of the rows, or the method
    `reference`, may use BLAS on the CPU, they also name the number of BLAS threads."""
    operands = rows["operands"].unique()
    words = [operands[0]] if len(operands) == 1 and operands[0] else []
    words = [f"{word} triangle" if word in ("lower", "upper") else word for word in words]
    # LAPACK's names of problems that read one triangle: po for definite matrices, tr for triangular ones.
    triangles = rows[rows["problem"].str.startswith(("po", "tr"))]
    triangles = triangles.groupby("problem", observed=True)["uplo"].unique().map(list)
    for uplo in ("lower", "upper"):
        names = [problem for problem, read in triangles.items() if read == [uplo]]
        if names and not any(uplo in word for word in words):
            of = f" ({', '.join(names)})" if len(names) < rows["problem"].nunique() else ""
            words.append(f"{uplo} triangle{of}")
    may_use_blas = ~rows["method"].str.contains(ONE_CORE) | bool(reference and not re.search(ONE_CORE, reference))
    threads = rows["threads"][rows["threads"].gt(0) & may_use_blas & ~rows["device"].str.startswith(EMULATED)]
    return [*words, f"BLAS on {counted(range_text(threads), 'thread')}"] if len(threads) else words


def _seeds(values):
    """Returns "seed 1", "seeds 1, 2, 5" or "20 seeds from 1 to 20"."""
    seeds = sorted({int(seed) for seed in values.dropna()})
    if len(seeds) > 6:
        return f"{len(seeds)} seeds from {seeds[0]} to {seeds[-1]}"
    return f"seed{'s' if len(seeds) > 1 else ''} {', '.join(map(str, seeds))}"
