"""Shows a map of verdicts (statuses such as pass, suspect and failed): one row per method, one column per matrix. A
precision with fewer than three matrices has no map."""

from ..frames import brief
from ..colours import border
from ..page import number, text

LEAST_MATRICES = 3
MARKS = {"pass": "✓", "suspect": "~", "failed": "✗"}


def verdict_map(page, results):
    page.begin("judgements", "Verdicts by matrix")
    rows = results.take("method precision matrix_name status residual_ratio tolerance")
    rows = rows[rows["status"].isin([*MARKS, "diverged"])]
    rows = rows.assign(verdict=rows["status"].replace("diverged", "failed"))
    for precision, part in rows.groupby("precision"):
        if part["matrix_name"].nunique() >= LEAST_MATRICES:
            _map(page, precision, part)


def _map(page, precision, rows):
    """Adds the map of one precision. Rows and columns are sorted by the fraction of trials that passed, largest
    first."""
    cells = rows.groupby(["method", "matrix_name"]).agg(
        passed=("verdict", lambda v: int((v == "pass").sum())),
        suspect=("verdict", lambda v: int((v == "suspect").sum())),
        trials=("verdict", "size"),
        worst=("residual_ratio", "max"),
        tolerance=("tolerance", "max"),
    )
    pass_rate = (cells["passed"] / cells["trials"]).unstack()
    methods = pass_rate.mean(axis=1).sort_values(ascending=False, kind="stable").index
    matrices = pass_rate.mean().sort_values(ascending=False, kind="stable").index
    head = "".join(f'<th scope="col"><span>{text(brief(name))}</span></th>' for name in matrices)
    body = ""
    for method in methods:
        body += f'<tr><th scope="row" style="{border(page.methods.get(method, 0), "left")}">{text(method)}</th>'
        for matrix in matrices:
            if (method, matrix) not in cells.index:
                body += "<td></td>"
                continue
            cell = cells.loc[(method, matrix)]
            passed, trials = f"{cell['passed']:.0f}", f"{cell['trials']:.0f}"
            failed = cell["trials"] - cell["passed"] - cell["suspect"]
            is_unanimous = max(cell["passed"], cell["suspect"], failed) == cell["trials"]
            common_verdict = "pass" if cell["passed"] else "suspect" if cell["suspect"] else "failed"
            kind = common_verdict if is_unanimous else "mixed"
            words = f"{method}, {matrix}: {passed} of {trials} pass, ratio up to {number(cell['worst'])}"
            sign = MARKS[common_verdict] if is_unanimous else f"{passed}/{trials}"
            body += f'<td class="{kind}" title="{text(words)}">{sign}</td>'
        body += "</tr>"
    page.put(
        f'<figure class="table"><figcaption>{text(precision)}: ✓ pass, ~ suspect (up to ten times the tolerance), ✗'
        " failed; otherwise passes/trials.</figcaption>"
        f'<div class="scroll"><table class="map" data-grid="judgements"><thead><tr><th></th>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div></figure>"
    )
