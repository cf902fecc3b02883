"""Which method wins where: `summary --best --by gpu`, as a person and as a program sees it."""

import json
import os
import pty
import subprocess
import unittest

import harness
from harness import SweepTest, run

PLAN = """
name: race
repeats: 3
sweep:
  - {problem: gesv, method: [gauss_serial, lapack], n: [16, 64], matrix: {kind: diagonally_dominant}}
"""


def on_terminal(arguments, **changes):
    """What a command writes to a terminal."""
    master, slave = pty.openpty()
    with subprocess.Popen(
        harness.command(arguments),
        env=harness.environment(**changes),
        stdin=subprocess.DEVNULL,
        stdout=slave,
        stderr=subprocess.PIPE,
    ) as process:
        os.close(slave)
        text = b""
        while True:
            try:
                more = os.read(master, 65536)
            except OSError:  # EIO: the other end is closed
                break
            if not more:
                break
            text += more
        os.close(master)
        process.wait(timeout=60)
        if process.returncode != 0:
            raise AssertionError(process.stderr.read())
    return text.decode().replace("\r\n", "\n")


class Verdict(SweepTest):
    def test_people_see_a_grid_in_colour_on_a_terminal_only(self):
        directory = self.sweep(self.plan(PLAN))
        grid = ["summary", directory, "--best", "--by", "gpu"]
        plain = run(grid)
        self.assertEqual(plain.returncode, 0, plain.stderr)
        self.assertIn("gesv double", plain.stdout)
        self.assertIn("4 records: 4 pass", plain.stdout)
        self.assertNotIn("\033", plain.stdout)
        self.assertIn("\033[1;32m", on_terminal(grid, TERM="xterm", NO_COLOR=""))
        for quiet in ({"NO_COLOR": "1", "TERM": "xterm"}, {"TERM": "dumb"}):
            self.assertEqual(on_terminal(grid, **quiet, COLUMNS="120"), run(grid, COLUMNS="120").stdout)
        narrow = run(grid, COLUMNS="40").stdout
        self.assertEqual(narrow.count("gesv double"), 2, "a block a size")
        self.assertLess(plain.stdout.count("gesv double"), 2)

    def test_programs_see_every_race(self):
        directory = self.sweep(self.plan(PLAN))
        done = run(["summary", directory, "--best", "--by", "gpu", "--format", "json"])
        races = json.loads(done.stdout)["races"]
        self.assertEqual([race["n"] for race in races], [16, 64])
        records = self.records(directory)
        for race in races:
            times = {r["method"]: r["seconds_median"] for r in records if r["n"] == race["n"]}
            winner = min(times, key=times.get)
            self.assertEqual(race["winner"], winner)
            self.assertEqual(race["median"], times[winner])
            self.assertEqual(race["lead"], max(times.values()) / min(times.values()))
            self.assertEqual(race["methods"], 2)
            self.assertEqual(race["share"], race["limit"] / race["median"])

    def test_what_makes_no_sense_beside_it_is_refused(self):
        directory = self.sweep(self.plan(PLAN))
        for words, said in (
            (["--by", "gpu"], "--by gpu: is for --best only"),
            (["--best", "--by", "gpus"], "--by: 'gpus'"),
            (["--best", "--by", "gpu", "--sort", "n"], "--sort: not with --by gpu"),
            (["--best", "--by", "gpu", "--gpu", "*H200*"], "--gpu *H200*: no record names any"),
        ):
            done = run(["summary", directory, *words])
            self.assertEqual(done.returncode, 2, words)
            self.assertIn(said, done.stderr)


if __name__ == "__main__":
    unittest.main()
