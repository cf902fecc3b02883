"""Tests `plan --schema`: it has every key of the plan reader, accepts the plans that the reader accepts, and marks
common mistakes."""

import json
import os
import re
import unittest

import harness
import jsonschema
import yaml
from harness import SweepTest, run

PLANS = sorted((harness.SOURCE / "jobs/plans").rglob("*.yaml"))
ENTRY = "problem: gesv, method: lapack, n: 64"


class Schema(SweepTest):
    def setUp(self):
        super().setUp()
        self.schema = json.loads(run(["plan", "--schema"]).stdout)
        jsonschema.Draft7Validator.check_schema(self.schema)
        self.validator = jsonschema.Draft7Validator(self.schema)

    def complaints(self, text):
        return [f"{list(e.absolute_path)}: {e.message}" for e in self.validator.iter_errors(yaml.safe_load(text))]

    def reader_allows(self, text):
        """Returns the words that the reader would accept instead of a wrong one."""
        done = self.ran(["plan", self.plan(text)], code=2)
        found = re.search(r"; (?:allowed|allowed here|it has): ([^(\n]*)", done.stderr)
        return {word.strip() for word in found.group(1).split(",")}

    def test_every_setting_is_a_column_of_explain(self):
        shown = run(["plan", self.plan(f"sweep: [{{{ENTRY}}}]\n"), "--explain", "--format", "csv"]).stdout
        columns = set(shown.splitlines()[0].split(",")) | {"rounds"}  # one trial per round: the column is "round"
        settings = set(self.schema["properties"]) & set(self.schema["definitions"]["entry"]["properties"])
        self.assertGreater(len(settings), 8)
        self.assertEqual(settings - columns, set(), "they need a column in driver/command/plan.cpp")

    def test_has_every_key_of_the_reader(self):
        definitions = self.schema["definitions"]
        for text, properties in (
            (f"no_such_key: 1\nsweep: [{{{ENTRY}}}]\n", self.schema["properties"]),
            (f"sweep: [{{{ENTRY}, no_such_key: 1}}]\n", definitions["entry"]["properties"]),
            (f"sweep: [{{{ENTRY}, matrix: {{no_such_key: 1}}}}]\n", definitions["matrix"]["properties"]),
            (f"sweep: [{{{ENTRY}, repeats: {{no_such_key: 1}}}}]\n", definitions["repeats"]["anyOf"][1]["properties"]),
        ):
            known = self.reader_allows(text)
            self.assertGreater(len(known), 4)
            self.assertLessEqual(known, set(properties), text)
        for key in self.schema["properties"].values():
            self.assertTrue(key["description"])
        methods = json.loads(run(["methods", "--format", "json"]).stdout)
        parameters = {parameter["name"] for method in methods for parameter in method["parameters"]}
        self.assertLessEqual(parameters, set(definitions["entry"]["properties"]))

    def test_accepts_the_plans_of_the_repository_and_the_template(self):
        self.assertGreater(len(PLANS), 20)
        for path in PLANS:
            self.assertEqual(self.complaints(path.read_text()), [], path)
        self.assertEqual(self.complaints(run(["plan", "--template"]).stdout), [])

    def test_marks_what_the_reader_refuses(self):
        for text in (
            "sweep: []",
            "name: x",
            f"sweep: [{{{ENTRY}}}]\nrepeat: 3",
            f"sweep: [{{{ENTRY}, repeats: often}}]",
            f"sweep: [{{{ENTRY}, blok: 3}}]",
            f"sweep: [{{{ENTRY}, matrix: {{kind: spdd}}}}]",
            f"sweep: [{{{ENTRY}, expect: {{lapack: passed}}}}]",
            "sweep: [{problem: gessv, method: lapack, n: 64}]",
            "sweep: [{problem: gesv, method: lapack, n: {gpu: 64}}]",
            "sweep: [{problem: gesv, method: lapack, n: '64:'}]",
        ):
            self.assertEqual(run(["plan", self.plan(text)]).returncode, 2, text)
            self.assertTrue(self.complaints(text), text)
        for fragment in (
            "n: {cuda: [1k, '2k:8k:*2'], host: 64}",
            "n: {H200: [1k, 2k], host: 64}",
            "n: '64:1k:*2'",
            "warmup: 500ms",
            "energy: 2s",
            "host_memory: pinned",
            "repeats: {min: 5, max: 200, noise: 1%, time: 2s}",
            "timeout: 1h30min",
            "tolerance: {gesv: 8}",
            "tolerance: 0.5",
            "matrix: [{kind: condition, condition: [10, 1e12]}, {kind: uniform}]",
            "zip: {n: [64, 128], nrhs: [1, 2]}",
            "exclude: [{n: '>64'}]",
        ):
            entry = "problem: gesv, method: lapack" + ("" if re.match("n:|zip", fragment) else ", n: 64")
            text = f"sweep: [{{{entry}, {fragment}}}]"
            self.ran(["plan", self.plan(text)])
            self.assertEqual(self.complaints(text), [], text)


if __name__ == "__main__":
    os.chdir("/")
    unittest.main()
