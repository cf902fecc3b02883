"""Tests that names with terminal escapes, spreadsheet formulas, or extreme lengths do no harm."""

import csv
import io
import re
import unittest

import harness
from harness import SweepTest, on_terminal

MATRIX = "%%MatrixMarket matrix array real general\n2 2\n4\n1\n1\n3\n"
ESCAPE = "\x1b]0;taken\x07\x1b[2J\x9b31m.mtx"
FORMULA = "=cmd|' !A0'.mtx"


class Names(SweepTest):
    def sweep_of_file(self, name):
        (self.folder / name).write_text(MATRIX)
        quoted = name.replace("\\", "\\\\").replace('"', '\\"')
        for raw, escaped in (("\x1b", "\\e"), ("\x07", "\\a"), ("\x9b", "\\x9b")):
            quoted = quoted.replace(raw, escaped)
        plan = self.plan(
            f'name: odd\nrepeats: 1\nsweep:\n  - {{problem: gesv, method: lapack, matrix: {{file: "{quoted}"}}}}\n'
        )
        return plan, self.sweep(plan)

    def test_escapes_do_not_reach_a_terminal(self):
        plan, directory = self.sweep_of_file(ESCAPE)
        for number, arguments in enumerate(
            (
                ["run", plan, "-o", "x", "--dry-run"],
                ["run", plan, "-o", "y"],
                ["merge", directory, directory, "-o", "all.h5"],
                ["summary", directory, "--format", "csv"],
                ["summary", directory, "--format", "json"],
                ["export", directory],
                ["status", directory],
                ["matrix", "import", ESCAPE, "-o", "out.h5"],
                ["matrix", "info", ESCAPE],
                ["summary", "--\x1b[2Jnone"],
                ["plan", "\x1b[2J\x9b31m.yaml"],
            )
        ):
            shown, _ = on_terminal(arguments, cwd=self.folder)
            self.assertNotEqual(shown, b"", arguments)
            # Colours and the progress bar's escapes are our own.
            rest = re.sub(rb"\x1b\[[0-9;]*m|\r\x1b\[K", b"", shown).replace(b"\r\n", b"\n").decode()
            self.assertNotRegex(rest, "[\x00-\x08\x0b-\x1f\x7f-\x9f]", f"{number}: {arguments}")

    def test_a_pipe_gets_the_original_bytes(self):
        _, directory = self.sweep_of_file(ESCAPE)
        done = harness.run(["export", directory])
        self.assertIn("\x1b]0;taken\x07", done.stdout)

    def test_names_may_be_as_long_as_file_names(self):
        longest = 255
        name = "m" * (longest - 4) + ".mtx"
        _, directory = self.sweep_of_file(name)
        merged = "r" * (longest - 3) + ".h5"
        self.ran(["merge", directory, "-o", merged], cwd=self.folder)
        self.assertTrue((self.folder / merged).exists())
        report = harness.execute([harness.SOURCE / "analysis" / "report", directory, "-o", self.folder / "page"])
        self.assertEqual(report.returncode, 0, report.stderr)

    def test_formulas_do_not_reach_a_spreadsheet(self):
        _, directory = self.sweep_of_file(FORMULA)
        for arguments in (["summary", directory, "--format", "csv"], ["export", directory]):
            rows = list(csv.DictReader(io.StringIO(harness.run(arguments).stdout)))
            self.assertEqual(len(rows), 1)
            for column, value in rows[0].items():
                self.assertNotIn(value[:1], ("=", "@", "\t"), column)
            self.assertIn("'" + FORMULA, rows[0].values())


if __name__ == "__main__":
    unittest.main()
