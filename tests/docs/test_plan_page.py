"""Compares docs/plan.md and docs/matrices.md with the plan reader, whose errors list all keys: both must have the same
keys and ranges, and every example must be a valid plan."""

import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import h5py
import pages

PAGES = [pages.ROOT / "docs" / name for name in ("plan.md", "matrices.md")]
ENTRY = "problem: gesv, method: lapack, n: 64"
WEIGHTS = "%%MatrixMarket matrix array real general\n3 3\n" + "0\n1\n0\n1\n4\n1\n0\n1\n0\n"


class PlanPage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        shutil.copytree(pages.ROOT / "jobs/plans/data", cls.folder / "data")
        (cls.folder / "weights.mtx").write_text(WEIGHTS)
        for name, word in (("mine.c", "c"), ("method.h", "header")):
            text = subprocess.run([pages.GAUSSWEEP, "methods", "--template", word], stdout=subprocess.PIPE, check=True)
            (cls.folder / name).write_bytes(text.stdout)
        subprocess.run(["cc", "-shared", "-fPIC", "mine.c", "-o", "mine.so"], cwd=cls.folder, check=True)
        with h5py.File(cls.folder / "operands.h5", "w") as file:
            file["A"] = [[2.0, 1.0], [1.0, 2.0]]

    def check_plan(self, text):
        """Returns the exit code and the output of `gaussweep plan` for a plan."""
        (self.folder / "plan.yaml").write_text(text, encoding="utf-8")
        command = [pages.GAUSSWEEP, "plan", self.folder / "plan.yaml", "--backend", "emulated"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600)
        return done.returncode, done.stdout + done.stderr

    def allowed(self, text):
        """Returns the words that the reader's error allows in place of the wrong word in a plan."""
        code, message = self.check_plan(text)
        self.assertEqual(code, 2, message)
        found = re.search(r"; (?:allowed|allowed here|it has): ([^(\n]*)", message)
        self.assertTrue(found, message)
        return {word.strip() for word in found.group(1).split(",")}

    def rows(self, heading):
        """Returns the table rows below a heading as dictionaries by column; the first cell without its backquotes."""
        return pages.tables(self.text, heading)

    def matrix_plan(self, block):
        """Returns a plan whose only entry has this matrix block."""
        return f"sweep: [{{problem: gesv, method: lapack, n: 64, matrix: {{{block}}}}}]\n"

    def plan_with(self, heading, fragment):
        """Returns a complete plan with an example from the table below a heading."""
        if heading == "Keys of the plan":
            return fragment if fragment.startswith("sweep:") else f"{fragment}\nsweep: [{{{ENTRY}}}]\n"
        if heading == "Matrices":
            size = "" if "{file:" in fragment else ", n: 64"
            return f"sweep: [{{problem: gesv, method: lapack{size}, matrix: {fragment}}}]\n"
        present = {key.strip() for key in re.findall(r"(?:^|, )(\w+):", re.sub(r"[\[{].*?[\]}]", "", fragment))}
        defaults = {"problem": "gesv", "method": "all", "n": "64"}
        if "zip" in present or "n" in present:
            del defaults["n"]
        added = [f"{key}: {value}" for key, value in defaults.items() if key not in present]
        return "sweep: [{" + ", ".join([*added, fragment]) + "}]\n"

    def test_every_key_of_the_plan(self):
        known = self.allowed(f"no_such_key: 1\nsweep: [{{{ENTRY}}}]\n")
        self.assertEqual(
            {row["key"] for row in self.rows("Keys of the plan")}, known, "docs/plan.md against the plan's keys"
        )

    def test_every_key_of_an_entry(self):
        known = self.allowed(f"sweep: [{{{ENTRY}, no_such_key: 1}}]\n")
        self.assertEqual({row["key"] for row in self.rows("Keys of an entry")}, known)

    def test_every_key_of_a_matrix(self):
        self.assertEqual(
            {row["key"] for row in self.rows("Matrices")}, self.allowed(self.matrix_plan("no_such_key: 1"))
        )

    def test_every_kind_with_its_keys(self):
        rows = {row["kind"]: row for row in self.rows("Kinds") if "kind" in row}
        self.assertEqual(set(rows), self.allowed(self.matrix_plan("kind: no_such_kind")))
        for kind, row in rows.items():
            with self.subTest(kind=kind):
                # a key that exists, but not for this kind
                other = "low" if kind not in ("uniform", "symmetric") else "value"
                known = self.allowed(self.matrix_plan(f"kind: {kind}, {other}: 1"))
                self.assertEqual(pages.words(row["keys of its own"]), known - {"kind", "seed", "store"})

    def test_every_point_spread_function_with_its_keys(self):
        rows = {row["psf"]: row for row in self.rows("Kinds") if "psf" in row}
        self.assertEqual(set(rows), self.allowed(self.matrix_plan("kind: blur, psf: no_such_function")))
        for psf, row in rows.items():
            with self.subTest(psf=psf):
                other = "amount" if psf != "sharpen" else "sigma"
                known = self.allowed(self.matrix_plan(f"kind: blur, psf: {psf}, {other}: 1"))
                self.assertEqual(pages.words(row["keys of its own"]), known)

    def test_words_of_conditions_statuses_and_backends(self):
        section = pages.section(self.text, "Keys of an entry")
        for words in (
            self.allowed(f"sweep: [{{{ENTRY}, exclude: [{{no_such_key: 1}}]}}]\n"),
            self.allowed(f"sweep: [{{{ENTRY}, expect: {{lapack: no_such_status}}}}]\n"),
            self.allowed("sweep: [{problem: gesv, method: lapack, n: {no_such_backend: 64}}]\n"),
        ):
            self.assertEqual({word for word in words if f"`{word}`" not in section}, set())

    def test_every_range_is_that_of_the_reader(self):
        """The reader's error names the range: "from A to B" for numbers, a list for words."""
        seen = 0
        for heading in ("Keys of the plan", "Keys of an entry", "Matrices"):
            for row in self.rows(heading):
                if re.fullmatch(r"\S+ to \S+", row["range"]):
                    expected = f" from {row['range']}"
                elif row["type"] in ("word", "one or a list") and row["key"] not in ("problem", "method", "kind"):
                    expected = f"allowed: {row['range']}"
                else:
                    continue
                with self.subTest(key=row["key"], section=heading):
                    example = re.sub(
                        rf"\b{row['key']}: (\[[^]]*\]|\{{[^}}]*\}}|[^,}}]+)", f"{row['key']}: no-value", row["example"]
                    )
                    code, message = self.check_plan(self.plan_with(heading, example))
                    self.assertEqual(code, 2, message)
                    self.assertIn(expected, message)
                    seen += 1
        self.assertGreater(seen, 30)

    def trials(self, *entries):
        """Returns the number of trials of these entries; repeated trials count once."""
        code, message = self.check_plan("sweep:\n" + "".join(f"  - {{{entry}}}\n" for entry in entries))
        self.assertEqual(code, 0, message)
        return int(re.search(r"^All: (\d+) trials?,", message, re.M).group(1))

    def test_every_default_is_that_of_the_reader(self):
        """An entry without a key and one with the key's default are the same trial."""
        seen = 0
        for heading in ("Keys of the plan", "Keys of an entry", "Matrices"):
            for row in self.rows(heading):
                key, default = row["key"], row["default"]
                # Skips defaults that are descriptions, and keys that do not affect which trial an entry is.
                if not re.fullmatch(r"[\w.]+", default) or key in ("stages", "timeout", "store", "n", "m", "k"):
                    continue
                with self.subTest(key=key, section=heading):
                    without, with_default = ENTRY, f"{ENTRY}, {key}: {default}"
                    if key == "uplo":
                        without, with_default = (
                            entry.replace("gesv", "trsv").replace("lapack", "serial")
                            for entry in (without, with_default)
                        )
                    if heading == "Matrices":
                        block_without = re.sub(rf", {key}: [^,}}]+", "", row["example"])
                        without, with_default = (
                            f"{ENTRY}, matrix: {block}"
                            for block in (block_without, f"{block_without[:-1]}, {key}: {default}}}")
                        )
                    self.assertEqual(self.trials(without, with_default), 1, f"{without} against {with_default}")
                    seen += 1
        self.assertGreater(seen, 15)

    def test_every_example_is_valid(self):
        for heading in ("Keys of the plan", "Keys of an entry", "Matrices"):
            for row in self.rows(heading):
                with self.subTest(key=row["key"], section=heading):
                    self.assertRegex(row["example"], rf"\b{row['key']}:")
                    code, message = self.check_plan(self.plan_with(heading, row["example"]))
                    self.assertEqual(code, 0, f"{row['example']}: {message}")

    def test_every_whole_plan_of_the_pages_is_valid(self):
        seen = 0
        for page in pages.PAGES:
            for block in re.findall(r"^```yaml\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S):
                if "sweep:" in block:
                    with self.subTest(page=page.name):
                        code, message = self.check_plan(block)
                        self.assertEqual(code, 0, message)
                        seen += 1
        self.assertGreaterEqual(seen, 2)


if __name__ == "__main__":
    unittest.main()
