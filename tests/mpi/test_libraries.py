"""Methods from shared libraries: loading, errors, records, resume, cheats, and the examples of docs/your-kernel.md.

GAUSSWEEP_TEST_GPUS: the GPUs for methods in CUDA (as in CUDA_VISIBLE_DEVICES); without it, they are only compiled.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import unittest

import h5py
import harness
from harness import SweepTest

GPUS = os.environ.get("GAUSSWEEP_TEST_GPUS", "")
NVCC = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
SOURCES = harness.SOURCE / "tests" / "methods"
PAGE = (harness.SOURCE / "docs" / "your-kernel.md").read_text()
HEAD = '#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\n#include "method.h"\n'
TABLE = """
static int run(const gaussweep_call *call) { (void)call; return 0; }
static const gaussweep_parameter parameters[] = {{"width", "", 'i', 4, 1, 8, NULL}, {"width", "", 'i', 4, 1, 8, NULL}};
static const gaussweep_method rows[] = {{.name = "mine", .problem = "gesv", .host = {.float64 = run}},
                                        {.name = "mine", .problem = "gesv", .host = {.float64 = run}}};
"""
LIBRARY = "const gaussweep_library *gaussweep_methods(void) { return &table; }\n"


def table_of(row, rows=1, version="GAUSSWEEP_METHOD_VERSION"):
    """Returns a library whose first row has the members `row`."""
    return (
        HEAD
        + TABLE
        + f"static const gaussweep_method listed[] = {{{{{row}}}}};\n"
        + f"static const gaussweep_library table = {{{version}, {rows}, listed}};\n"
        + LIBRARY
    )


def good(name="mine", more=""):
    return table_of(f'.name = "{name}", .problem = "gesv", .host = {{.float64 = run}}{more}')


class LibraryTest(SweepTest):
    def setUp(self):
        super().setUp()
        (self.folder / "method.h").write_text(self.ran(["methods", "--template", "header"]).stdout)

    def compiled(self, source, name="mine", flags=()):
        """Compiles a text or a file in C and returns the library."""
        file = self.folder / f"{name}.c"
        file.write_text(source if isinstance(source, str) else source.read_text())
        library = self.folder / f"{name}.so"
        words = ["cc", "-std=gnu11", "-Wall", "-Wno-unused", "-O2", "-shared", "-fPIC", f"-I{self.folder}", file]
        done = harness.execute([*words, "-o", library, *flags])
        self.assertEqual(done.returncode, 0, done.stderr)
        return library


class Loading(LibraryTest):
    def refused(self, library, *words):
        plan = self.plan(f"libraries: {library}\nsweep: [{{problem: gesv, method: lapack, n: 8}}]\n")
        done = harness.run(["run", plan, "-o", self.folder / "never"])
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertFalse((self.folder / "never").exists())
        self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
        for word in (library, *words):
            self.assertIn(str(word), done.stderr)

    def test_malformed_tables_name_row_fault_and_allowed_values(self):
        row = '.name = "mine", .problem = "gesv", .host = {.float64 = run}'
        parameter = ", .parameters = parameters, .parameter_count = "
        need = '(const char *[]){"spdd", NULL}'
        bad = '&(gaussweep_parameter){"width", "", '
        cases = {
            "version 7": table_of(row, version="7"),
            "method_count is -1": table_of(row, rows=-1),
            "row 1: name": table_of('.problem = "gesv"'),
            "no problem 'gesw'": table_of(row.replace("gesv", "gesw")),
            "no need 'spdd'; allowed: spd, ": table_of(f"{row}, .needs = {need}"),
            "are NULL": table_of('.name = "mine", .problem = "gesv"'),
            "host runs only": table_of(row + ", .cuda = {.float64 = run}"),
            "'width' is declared twice": table_of(f"{row}{parameter}2"),
            "parameter_count is 99": table_of(f"{row}{parameter}99"),
            "allowed: 'i' (integer)": table_of(f"{row}, .parameter_count = 1, .parameters = {bad}'z', 1, 1, 1, NULL}}"),
            "outside its range": table_of(f"{row}, .parameter_count = 1, .parameters = {bad}'i', 9, 1, 8, NULL}}"),
            "has no choices": table_of(f"{row}, .parameter_count = 1, .parameters = {bad}'c', 0, 0, 0, NULL}}"),
            "answer has code 113": table_of(f"{row}, .answer = 'q'"),
            "an answer in b": table_of(f"{row.replace('gesv', 'geinv')}, .answer = 'b'"),
            "keeps_inputs: is 2": table_of(f"{row}, .keeps_inputs = 2"),
            "max_batch is negative": table_of(f"{row}, .max_batch = -1"),
            "more than 200 bytes": table_of(f'{row}, .summary = "{"x" * 300}"'),
            "row 1 ('my row')": table_of(row.replace("mine", "my row") + ", .capability = -1"),
            "of a-z, 0-9 and _": good("Mine"),
            "gaussweep has a method gesv/lapack": good("lapack"),
            "'repeats' has the name of a key": table_of(
                f"{row}, .parameter_count = 1, .parameters = {bad.replace('width', 'repeats')}'i', 1, 1, 8, NULL}}"
            ),
            "exports no function gaussweep_methods": HEAD,
            "returned NULL": HEAD + "const gaussweep_library *gaussweep_methods(void) { return NULL; }\n",
        }
        for words, text in cases.items():
            with self.subTest(words):
                self.refused(self.compiled(text), words)
        twice = HEAD + TABLE + "static const gaussweep_library table = {1, 2, rows};\n" + LIBRARY
        self.refused(self.compiled(twice), "gesv/mine", "exists already")

    def test_a_second_library_with_the_method_is_named(self):
        first = self.compiled(good())
        second = self.folder / "second.so"
        second.write_bytes(first.read_bytes())
        plan = self.plan(f"libraries: {first}\nsweep: [{{problem: gesv, method: mine, n: 8}}]\n")
        done = harness.run(["run", plan, "--methods", second, "-o", self.folder / "never"])
        self.assertEqual(done.returncode, 2, done.stderr)
        for word in (first, second, "gesv/mine", "--methods adds"):
            self.assertIn(str(word), done.stderr)

    def test_files_that_are_no_library(self):
        self.refused(self.folder / "missing.so", "is no file")
        self.refused(self.folder, "is no file")
        text = self.folder / "text.so"
        text.write_text("not ELF\n" * 100)
        self.refused(text, "invalid ELF header")
        foreign = bytearray(self.compiled(good()).read_bytes())
        foreign[18] = 243  # the machine in the ELF header: RISC-V
        (self.folder / "foreign.so").write_bytes(foreign)
        self.refused(self.folder / "foreign.so", "another processor", "243")

    def test_constructors_that_crash_or_end_or_hang_or_print(self):
        begin = "__attribute__((constructor)) static void begin(void) { "
        self.refused(self.compiled(good() + begin + "abort(); }\n"), "signal 6")
        self.refused(self.compiled(good() + begin + "_exit(0); }\n"), "without printing its table")
        self.refused(self.compiled(good() + begin + "for (;;) pause(); }\n"), "did not end within 30 s")
        self.refused(self.compiled(table_of(".name = (const char *)8")), "signal 11")
        noisy = self.compiled(good() + begin + 'puts("[1, 2]"); fflush(stdout); }\n')
        listed = json.loads(self.ran(["methods", "--methods", noisy, "--format", "json", "gesv/mine"]).stdout)
        self.assertEqual([row["id"] for row in listed], ["gesv/mine"])


BEHAVIOURS = (
    HEAD
    + r"""
#include <string.h>
#include <sys/stat.h>
static void fill(const gaussweep_call *call, double value) { /* A is diagonal */
  const double *a = call->a, *b = call->b;
  for (int64_t i = 0; i < call->n; ++i) ((double *)call->x)[i] = value * b[i] / a[i + i * call->lda];
}
static int good(const gaussweep_call *call) {
  gaussweep_stage(call, "first");
  memset(call->workspace, 1, call->workspace_bytes);
  if (call->workspace_bytes != (size_t)(8 * call->n + 1)) return 5;
  gaussweep_stage(call, "second");
  fill(call, call->parameters[0] == 3 && call->parameters[1] == 0.5 && call->parameters[2] == 1 ? 1 : 2);
  return GAUSSWEEP_OK;
}
static size_t workspace(const gaussweep_call *call) { return (size_t)(8 * call->n + 1); }
static int crashes(const gaussweep_call *call) { (void)call; abort(); }
static int hangs(const gaussweep_call *call) { puts("it waits"); for (;;) pause(); }
static int fails(const gaussweep_call *call) { puts("a reason"); return 7; }
static int skips(const gaussweep_call *call) { (void)call; return GAUSSWEEP_SKIP; }
static int stops(const gaussweep_call *call) { call->info[0] = 2; return GAUSSWEEP_OK; }
static int replaces(const gaussweep_call *call) { /* its own file, by a copy of it with one byte more */
  const char *path = getenv("OWN_LIBRARY");
  char command[1000];
  snprintf(command, sizeof command, "cp %s %s.new && echo >> %s.new && mv %s.new %s", path, path, path, path, path);
  if (system(command) != 0) return 1;
  abort();
}
static const char *const colours[] = {"red", "blue", NULL};
static const gaussweep_parameter parameters[] = {{"width", "", 'i', 1, 1, 8, NULL},
                                                 {"share", "", 'r', 0.25, 0, 1, NULL},
                                                 {"colour", "", 'c', 0, 0, 0, colours}};
#define ROW(function) {.name = #function, .problem = "gesv", .host = {.float64 = function}}
static const gaussweep_method listed[] = {
    {.name = "good", .problem = "gesv", .host = {.float64 = good}, .parameters = parameters, .parameter_count = 3,
     .workspace_bytes = workspace},
    ROW(crashes), ROW(hangs), ROW(fails), ROW(skips), ROW(stops), ROW(replaces)};
static const gaussweep_library table = {1, 7, listed};
"""
    + LIBRARY
)
IDENTITY = "repeats: 2\ntimeout: 3s\nmatrix: {kind: identity}\n"
GOOD = "{problem: gesv, method: good, n: [4, 9], width: 3, share: 0.5, colour: blue}"


class Running(LibraryTest):
    def test_each_outcome_costs_its_own_trial_on_every_rank(self):
        library = self.compiled(BEHAVIOURS)
        plan = self.plan(
            f"{IDENTITY}libraries: [mine.so]\nsweep:\n  - {GOOD}\n"
            "  - {problem: gesv, method: [crashes, hangs, fails, skips, stops, lapack], n: 6}\n"
        )
        directory = self.sweep(plan, "--backend", "host", ranks=2, code=3)
        records = self.records(directory)
        expected = {
            "good": ("pass", ""),
            "lapack": ("pass", ""),
            "crashes": ("crashed", "Aborted"),
            "hangs": ("timeout", "3 s"),
            "fails": ("error", "gesv/fails returned the error 7"),
            "skips": ("skipped", "does not take this shape"),
            "stops": ("failed", ""),
        }
        self.assertEqual(len(records), 8)
        digest = hashlib.sha256(library.read_bytes()).hexdigest()
        for record in records:
            status, words = expected[record["method"]]
            self.assertEqual(record["status"], status, record["message"])
            self.assertIn(words, record["message"])
            printed = {"error": "a reason", "timeout": "it waits"}.get(status, "")
            log = f"logs/worker-{record['rank']}.log"
            self.assertIn(printed, (directory / log).read_text())
            self.assertEqual(record["message"].endswith(log), status == "error")
            from_library = record["method"] != "lapack"
            self.assertEqual(record["library"], "mine.so" if from_library else "")
            self.assertEqual(record["library_digest"], digest if from_library else "")
        with h5py.File(directory / "results.h5") as file:
            self.assertLessEqual({b"first", b"second"}, set(file["stages"]["kernel"]))

    def test_keys_have_the_digest_and_resume_repeats_a_new_version_only(self):
        self.compiled(BEHAVIOURS)
        text = f"{IDENTITY}sweep: [{GOOD}, {{problem: gesv, method: lapack, n: 5}}]\n"
        plan = self.plan(text)
        option = ("--methods", self.folder / "mine.so", "--backend", "host")
        directory = self.sweep(plan, *option)
        keys = {(r["method"], r["n"]): r["key"] for r in self.records(directory)}
        plain = self.plan(f"{IDENTITY}sweep: [{{problem: gesv, method: lapack, n: 5}}]\n", "plain.yaml")
        done = self.ran(["plan", plain, "--explain", "--format", "json", "--backend", "host"])
        self.assertEqual(json.loads(done.stdout)[0]["key"], keys["lapack", 5])
        self.sweep(plan, "--resume", *option)
        self.assertEqual(harness.count_of(directory), 3)
        self.compiled(BEHAVIOURS + "int another_version;\n")
        self.sweep(plan, "--resume", *option)
        self.assertEqual(harness.count_of(directory), 5)
        self.assertIn("no longer in the plan: 2 records; kept; 2 from another version of mine.so", self.stderr)
        new = {(r["method"], r["n"], r["key"]) for r in self.records(directory)} - {(*k, v) for k, v in keys.items()}
        self.assertEqual({(method, n) for method, n, _ in new}, {("good", 4), ("good", 9)})
        self.assertEqual(len(self.records(directory)), 3, "the earlier version's trials are in the journal only")

    def test_a_workspace_that_grows_is_an_error(self):
        row = '.name = "grows", .problem = "gesv", .host = {.float64 = run}, .workspace_bytes = size'
        size = "static size_t size(const gaussweep_call *call) { return call->a == NULL ? 40 : 4096; }\n"
        rows = "static const gaussweep_method listed"
        text = table_of(row).replace(rows, size + rows)
        library = self.compiled(text, "grows")
        plan = self.plan("repeats: 1\nsweep: [{problem: gesv, method: grows, n: 5}]\n")
        directory = self.sweep(plan, "--methods", library, "--backend", "host", code=3)
        (record,) = self.records(directory)
        self.assertIn("4096 bytes were asked for, but only 40 of the announced 40 are left", record["message"])

    def test_a_file_that_changes_during_the_run_is_not_loaded(self):
        library = self.compiled(BEHAVIOURS)
        plan = self.plan(f"{IDENTITY}libraries: mine.so\nsweep: [{{problem: gesv, method: replaces, n: 6}}]\n")
        directory = self.folder / "run"
        done = harness.run(["run", plan, "-o", directory, "--backend", "host"], OWN_LIBRARY=str(library))
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("its digest here is", done.stderr)

    def test_a_run_of_another_library_in_another_folder_is_no_earlier_run(self):
        plan = self.plan(f"{IDENTITY}sweep: [{GOOD}]\n")
        one = self.compiled(BEHAVIOURS)
        other = self.compiled(BEHAVIOURS + "int another_version;\n", "other")
        for project, library, pairs in (("a", one, False), ("b", other, False), ("c", one, True)):
            self.sweep(plan, "--methods", library, "--backend", "host", output=f"{project}/first")
            self.assertEqual("Since" in self.stderr, pairs, self.stderr)
        self.sweep(plan, "--methods", other, "--backend", "host", output="c/second")  # the next version
        self.assertRegex(self.stderr, r"Since \S*c/first: 2 trials in both")

    def test_a_night_is_compared_with_the_last_one_although_the_library_was_compiled_anew(self):
        plan = self.plan(f"{IDENTITY}libraries: mine.so\nsweep: [{GOOD}]\n")
        for day in (1, 2, 3):
            self.compiled(BEHAVIOURS + f"int version_{min(day, 2)};\n")
            self.sweep(plan, "--backend", "host", output=f"nights/2020-02-0{day}/sweep")
            if day > 1:
                self.assertRegex(self.stderr, rf"Since \S*nights/2020-02-0{day - 1}/sweep: 2 trials in both")

    def test_status_names_missing_trials_of_a_library_that_was_compiled_anew(self):
        (self.folder / "eye.mtx").write_text("%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n2 2 1\n")
        with_file = "{problem: gesv, method: lapack, matrix: {file: eye.mtx}}"
        plan = self.plan(f"{IDENTITY}libraries: mine.so\nsweep: [{GOOD}, {with_file}]\n")
        self.compiled(BEHAVIOURS)
        journal = self.sweep(plan, "--backend", "host") / "journal.jsonl"
        lines = journal.read_text().splitlines(keepends=True)
        journal.write_text("".join(line for line in lines if '"n":9' not in line and '"n":2' not in line))
        self.compiled(BEHAVIOURS + "int another_version;\n")
        shown = self.ran(["status", journal.parent, "--missing", "5"]).stdout.partition("Missing in ")[2]
        self.assertEqual(
            re.findall(r"^  (gesv/\w+ \w+ n=\d+)", shown, re.M), ["gesv/good double n=9", "gesv/lapack double n=2"]
        )

    def test_run_names_methods_that_do_not_run_here(self):
        library = self.compiled(good("mine").replace(".host", ".cuda"))
        plan = self.plan(f"{IDENTITY}sweep: [{{problem: gesv, method: [mine, lapack], n: [4, 9]}}]\n")
        self.sweep(plan, "--methods", library, "--backend", "host")
        self.assertIn("gesv/mine: 2 trials skipped, gesv/mine does not run on the backend host", self.stderr)
        self.assertNotIn("lapack: 2 trials skipped", self.stderr)

    def test_duet_names_the_parameter_that_differs(self):
        self.compiled(BEHAVIOURS)
        new = self.compiled(BEHAVIOURS.replace("'i', 1, 1, 8", "'i', 3, 1, 8"), "new")
        sweep = "[{problem: gesv, method: [good, cusolver], n: 4, share: 0.5, colour: blue}]"
        plan = self.plan(f"{IDENTITY}libraries: mine.so\nsweep: {sweep}\n")
        words = ["duet", harness.GAUSSWEEP, plan, "-o", self.folder / "duet", "--methods", new, "--backend", "host"]
        done = harness.run(words)
        self.assertEqual(done.returncode, 2, done.stderr)
        for part in (r"the plan has gesv/good \S+ n=4.* width=1 ", r"with these gesv/good .* width=3 "):
            self.assertRegex(done.stderr, part)
        self.assertIn("set width: in the plan", done.stderr)
        self.assertEqual(done.stderr.count("is left out"), 1, done.stderr)

    def test_try_plan_solve_and_duet_take_a_library(self):
        library = self.compiled(BEHAVIOURS)
        matrix = self.folder / "eye.mtx"
        matrix.write_text("%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n2 2 1\n")
        option = ["--methods", library, "--backend", "host"]
        kept = self.folder / "tried"
        tried = harness.run(["try", matrix, "--method", "skips,lapack", "--problem", "gesv", "-o", kept, *option])
        self.assertEqual(tried.returncode, 0, tried.stderr)
        self.assertIn(str(library), (kept / "plan.yaml").read_text())
        right = self.folder / "right.mtx"
        right.write_text("%%MatrixMarket matrix array real general\n2 1\n3\n4\n")
        answer = self.folder / "x.mtx"
        done = harness.run(["solve", matrix, "--rhs", right, "--method", "good", "-o", answer, *option])
        self.assertEqual(done.returncode, 1, done.stderr)  # with its default parameters it is wrong
        faster = self.compiled(BEHAVIOURS + "int another_version;\n", "faster")
        plan = self.plan(f"{IDENTITY}libraries: mine.so\nsweep: [{GOOD}]\n")
        self.ran(["plan", plan, "--backend", "host"])
        words = ["-o", self.folder / "duet", "--methods", faster, "--backend", "host", "--rounds", "1"]
        done = harness.run(["duet", harness.GAUSSWEEP, plan, *words])
        self.assertIn(done.returncode, (0, 4), done.stderr)
        digests = [self.records(self.folder / "duet" / side)[0]["library_digest"] for side in ("base", "new")]
        self.assertEqual(digests, [hashlib.sha256(file.read_bytes()).hexdigest() for file in (library, faster)])


SPOILERS = {
    "rounding": "",
    "traps": "",
    "affinity": "CPU affinity" if len(os.sched_getaffinity(0)) > 1 else "",
    "signals": "signal handling",
    "timer": "timers",
    "directory": "working directory",
    "file_mode": "umask",
    "threads": "running threads",
    "forks": "",
}


class Spoilers(LibraryTest):
    """Tests methods that change the worker's state, such as its signal handlers. No later trial may see the change."""

    def setUp(self):
        super().setUp()
        self.library = self.compiled(SOURCES / "spoilers.c", "spoilers", ["-pthread", "-lm"])

    def test_no_later_trial_sees_what_a_method_changed(self):
        trials = "".join(
            f"  - {{problem: gesv, method: {name}, n: {60 - 2 * i}}}\n"
            f"  - {{problem: gesv, method: witness, n: {59 - 2 * i}}}\n"
            for i, name in enumerate(SPOILERS)
        )
        plan = self.plan(f"repeats: 2\nmatrix: {{kind: identity}}\nsweep:\n{trials}")
        directory = self.sweep(plan, "--methods", self.library, "--backend", "host")
        journal = harness.journal(directory)[0]
        self.assertEqual([r["n"] for r in journal], [60 - i for i in range(2 * len(SPOILERS))])  # the larger first
        for record in journal:
            self.assertEqual(record["status"], "pass", record["message"])
            self.assertIn(SPOILERS.get(record["method"], ""), record["message"])
            self.assertEqual(record["message"] == "", SPOILERS.get(record["method"], "") == "")

    def test_a_daemon_is_named_and_ended(self):
        plan = self.plan(
            "repeats: 2\nmatrix: {kind: identity}\nsweep: [{problem: gesv, method: daemon_of_own, n: 5}]\n"
        )
        directory = self.sweep(plan, "--methods", self.library, "--backend", "host")
        self.assertIn("running threads or processes", self.records(directory)[0]["message"])

    def test_the_compiler_option_for_fast_arithmetic_changes_no_other_method(self):
        self.compiled(SOURCES / "spoilers.c", "spoilers", ["-pthread", "-lm", "-ffast-math"])
        plan = self.plan(
            "repeats: 2\nmatrix: {kind: identity}\nsweep: [{problem: gesv, method: [witness, lapack], n: 5}]\n"
        )
        directory = self.sweep(plan, "--methods", self.library, "--backend", "host")
        self.assertEqual({r["status"] for r in self.records(directory)}, {"pass"})

    def test_a_library_calls_its_own_functions_first(self):
        plan = self.plan(
            "repeats: 2\nmatrix: {kind: identity}\nsweep: [{problem: gesv, method: [own_names, lapack], n: 5}]\n"
        )
        directory = self.sweep(plan, "--methods", self.library, "--backend", "host")
        self.assertEqual({r["status"] for r in self.records(directory)}, {"pass"})

    def test_no_repeat_sees_the_answer_of_an_earlier_one(self):
        plan = self.plan(
            "repeats: 2\ninner_repeats: 3\nmatrix: {kind: identity}\n"
            "sweep: [{problem: gesv, method: sees_answer, n: 5}]\n"
        )
        directory = self.sweep(plan, "--methods", self.library, "--backend", "host")
        self.assertEqual([r["status"] for r in self.records(directory)], ["pass"])

    def test_writes_outside_of_the_operands_are_found(self):
        messages = {
            "beyond_answer": "element 1 behind X",
            "beyond_workspace": "byte 1 behind the workspace",
            "behind_a": "element 60 behind A",
            "behind_b": "element 30 behind B",
            "before_a": "element 1 before A",
            "wide_info": "element 1 behind info",
        }
        plan = self.plan(
            "repeats: 2\nmatrix: {kind: identity}\n"
            f"sweep: [{{problem: gesv, method: [honest, {', '.join(messages)}], n: [5, 32]}}]\n"
        )
        directory = self.sweep(plan, "--methods", self.library, "--backend", "host", code=1)
        for record in self.records(directory):
            message = messages.get(record["method"])
            self.assertEqual(record["status"], "failed" if message else "pass", record["method"])
            self.assertIn(message or "", record["message"])
        failures = json.loads(self.ran(["summary", directory, "--format", "json"]).stdout)["failures"]
        for row in failures:
            self.assertIn(messages[row["method"].split("/")[1]] + " in 2 answers", row["cause"])


class Cheats(LibraryTest):
    def test_each_is_caught_and_its_honest_twin_is_not(self):
        library = self.compiled(SOURCES / "cheats.c", "cheats", ["-pthread"])
        plan = self.plan(
            "repeats: 12\nmatrix: {kind: uniform, low: -1, high: 1}\nsweep:\n"
            "  - {problem: gemm, method: [honest, does_nothing, keeps_answer, goes_on_later, changes_inputs,\n"
            "     float_as_double, guesses_size, only_timed_sizes, changes_clock], n: [64, 96, 100]}\n"
            "  - {problem: trsv, method: exploits_tolerance, n: 100, matrix: {kind: triangular}}\n"
        )
        directory = self.sweep(plan, "--methods", library, "--backend", "host", code=1)
        records = {(r["method"], r["n"]): r for r in self.records(directory)}
        for (method, n), words in {
            ("does_nothing", 64): "NaN",
            ("keeps_answer", 64): "residual ratio",
            ("goes_on_later", 64): "",
            ("changes_inputs", 64): "overwrote its inputs",
            ("float_as_double", 64): "residual ratio",
            ("guesses_size", 96): "NaN",
            ("only_timed_sizes", 100): "residual ratio",
        }.items():
            self.assertEqual(records[method, n]["status"], "failed", method)
            self.assertIn(words, records[method, n]["message"], method)
        self.assertEqual(records["only_timed_sizes", 64]["status"], "pass")
        self.assertGreater(records["changes_clock", 64]["seconds_min"], 0.002)
        self.assertEqual(records["exploits_tolerance", 100]["status"], "pass")
        doubts = json.loads(self.ran(["summary", directory, "--format", "json"]).stdout)["doubts"]
        self.assertEqual({(row["method"], row["doubt"]) for row in doubts}, {("trsv/exploits_tolerance", "accuracy")})
        for n in (64, 96, 100):
            self.assertEqual(records["honest", n]["status"], "pass")
            self.assertEqual(records["honest", n]["repeats_bits"], 1)

    @unittest.skipUnless(NVCC, "no nvcc")
    def test_on_other_streams(self):
        library = self.folder / "cheats.so"
        words = [NVCC, "-shared", "-Xcompiler", "-fPIC", f"-I{self.folder}", SOURCES / "cheats_cuda.cu", "-o", library]
        done = harness.execute([*words, "-arch=native" if GPUS else "-arch=sm_80"])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.ran(["methods", "--methods", library, "gemm/on_other_stream"])
        if not GPUS:
            self.skipTest("no GPU named by GAUSSWEEP_TEST_GPUS: only compiled")
        plan = self.plan(
            "repeats: 12\nsweep: [{problem: gemm, n: 1024, method: [honest, on_other_stream, goes_on_later]}]\n"
        )
        directory = self.sweep(plan, "--methods", library, code=1, CUDA_VISIBLE_DEVICES=GPUS)
        records = {r["method"]: r for r in self.records(directory)}
        self.assertEqual(records["honest"]["status"], "pass")
        for method in ("on_other_stream", "goes_on_later"):
            self.assertEqual(records[method]["status"], "failed", method)


HOSTILE = (
    HEAD
    + r"""
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
static int solve(const gaussweep_call *call) { /* A is diagonal */
  const double *a = call->a, *b = call->b;
  for (int64_t i = 0; i < call->n; ++i) ((double *)call->x)[i] = b[i] / a[i + i * call->lda];
  return GAUSSWEEP_OK;
}
static int honest(const gaussweep_call *call) { return solve(call); }
static int kills_rank(const gaussweep_call *call) { kill(getppid(), SIGKILL); sleep(60); return solve(call); }
static int asks_rank_to_end(const gaussweep_call *call) { kill(getppid(), SIGTERM); return solve(call); }
static int kills_group(const gaussweep_call *call) { kill(0, SIGKILL); return solve(call); }
static int exits(const gaussweep_call *call) { _exit(0); return solve(call); }
static int closes_all(const gaussweep_call *call) { for (int i = 0; i < 1000; ++i) close(i); return solve(call); }
static int limits_files(const gaussweep_call *call) {
  const struct rlimit limit = {4, 4};
  setrlimit(RLIMIT_NOFILE, &limit);
  return solve(call);
}
static int limits_size(const gaussweep_call *call) {
  const struct rlimit limit = {0, 0};
  setrlimit(RLIMIT_FSIZE, &limit);
  return solve(call);
}
static int prints_much(const gaussweep_call *call) {
  for (int i = 0; i < 1 << 20; ++i) fputs("0123456789", stdout);
  return solve(call);
}
static int removes_results(const gaussweep_call *call) {
  return system("rm -f \"$RUN\"/results.h5 \"$RUN\"/plan.yaml") != 0 ? 1 : solve(call);
}
#define ROW(function) {.name = #function, .problem = "gesv", .host = {.float64 = function}}
static const gaussweep_method listed[] = {ROW(honest), ROW(kills_rank), ROW(asks_rank_to_end), ROW(kills_group),
    ROW(exits), ROW(closes_all), ROW(limits_files), ROW(limits_size), ROW(prints_much),
    ROW(removes_results)};
static const gaussweep_library table = {1, 10, listed};
"""
    + LIBRARY
)


class Hostile(LibraryTest):
    """Tests methods that attack the run: each may spoil its own trial, but no other."""

    def hostile(self, methods):
        """Compiles the library. Returns a plan with these methods and trials of `honest`, and the options of `run`."""
        library = self.compiled(HOSTILE, "hostile")
        plan = self.plan(
            "repeats: 1\ntimeout: 20s\nmatrix: {kind: identity}\nsweep:\n"
            f"  - {{problem: gesv, method: [{methods}], n: 5}}\n  - {{problem: gesv, method: honest, n: [2:9]}}\n"
        )
        return plan, ("--methods", library, "--backend", "host")

    def statuses(self, directory):
        records = self.records(directory)
        self.assertEqual({r["status"] for r in records if r["method"] == "honest"}, {"pass"})
        self.assertEqual(sum(r["method"] == "honest" for r in records), 8)
        return {r["method"]: r for r in records if r["method"] != "honest"}

    def test_each_spoils_its_own_trial_only(self):
        expected = {
            "asks_rank_to_end": (["pass"], ""),
            "kills_group": (["crashed"], "Killed"),
            "exits": (["crashed"], "exit status 0"),
            "closes_all": (["crashed"], ""),
            "limits_files": (("pass", "crashed"), "limits"),  # crashed, if the trial's matrix was not stored yet
            "limits_size": (("pass", "crashed"), "limits"),
            "prints_much": (["pass"], ""),
            "removes_results": (["pass"], ""),
        }
        plan, options = self.hostile(", ".join(expected))
        directory = self.sweep(plan, *options, ranks=2, code=3, RUN=str(self.folder / "run"))
        for method, record in self.statuses(directory).items():
            self.assertIn(record["status"], expected[method][0], method + record["message"])
            self.assertIn(expected[method][1], record["message"], method)

    def test_a_trial_that_kills_its_rank_twice_is_recorded_as_crashed(self):
        plan, options = self.hostile("kills_rank")
        words = ["run", plan, "-o", self.folder / "run", *options]
        self.assertNotIn(harness.run(words, ranks=2).returncode, (0, 1, 3))
        second = harness.run([*words, "--resume"], ranks=2)
        self.assertNotIn(second.returncode, (0, 1, 3))
        self.assertIn("gesv/kills_rank", second.stderr)
        self.ran([*words, "--resume"], ranks=2, code=3)
        record = self.statuses(self.folder / "run")["kills_rank"]
        self.assertEqual((record["status"], "twice" in record["message"]), ("crashed", True), record["message"])


class Builtins(LibraryTest):
    """Tests the built-in methods as methods of a library (tests/methods/builtins.cpp). They are honest, so no check may
    fail."""

    AXES = ("problem", "precision", "m", "n", "k", "nrhs", "batch", "uplo", "matrix_digest", "parameters")
    FACTS = ("status", "message", "info", "repeats_bits", "systems_pass", "residual_ratio", "backward_error")
    FACTS += ("forward_error", "componentwise_error", "pivot_growth", "first_row_percent", "reference_difference")
    FACTS += ("largest_relative_difference", "mean_relative_difference", "mean_absolute_difference")

    def plan_of(self, library, orders, repeats):
        """Returns a plan of all methods of the problems in the library."""
        listed = json.loads(self.ran(["methods", "--methods", library, "--format", "json"]).stdout)
        axes = {"gemm": ", m: [3, 33], k: [1, 34]"}
        axes.update(dict.fromkeys(("gesv", "posv", "trsv"), ", nrhs: [1, 3]"))
        for problem in ("posv", "trsv", "potrf", "trtri"):
            axes[problem] = axes.get(problem, "") + ", uplo: [lower, upper]"
        kinds = {"gem": "uniform", "pos": "spd", "pot": "spd", "poi": "spd", "trs": "triangular", "trt": "triangular"}
        entries = "".join(
            f"  - {{problem: {problem}, method: all, n: {orders}, batch: [1, 3]{axes.get(problem, '')}, "
            f"matrix: {{kind: {kinds.get(problem[:3], 'diagonally_dominant')}}}}}\n"
            for problem in sorted({row["problem"] for row in listed})
        )
        # Elimination without pivoting is less accurate than the usual tolerance, here and in the program.
        return self.plan(f"precision: [float, double]\nrepeats: {repeats}\ntolerance: 10\nsweep:\n{entries}")

    def test_each_ends_as_the_program_s_own_with_the_same_answer(self):
        library = harness.BUILD / "builtin_methods.so"
        plan = self.plan_of(library, [1, 7, 33], "2\ninner_repeats: 2")
        directory = self.sweep(plan, "--methods", library, "--backend", "emulated", ranks=2)
        built_in, loaded = {}, {}
        for record in self.records(directory):
            found = loaded if record["library"] else built_in
            found[(record["method"], *(record[axis] for axis in self.AXES))] = record
        self.assertGreater(len(loaded), 100)
        for key, record in loaded.items():
            self.assertEqual(record["timing"], "", key)
            record["message"] = record["message"].replace("plugin_", "")
            twin = built_in[(key[0].removeprefix("plugin_"), *key[1:])]
            for fact in self.FACTS:
                if record[fact] != twin[fact] and not (record[fact] != record[fact] and twin[fact] != twin[fact]):
                    self.fail(f"{key}: {fact} is {record[fact]}, for the built-in method {twin[fact]}")

    @unittest.skipUnless(GPUS, "no GPU named by GAUSSWEEP_TEST_GPUS")
    def test_none_is_blamed_on_a_gpu(self):
        library = harness.BUILD / "builtin_methods.so"
        plan = self.plan_of(library, [1, 33, 600], "12")
        directory = self.folder / "gpu"
        words = ["run", plan, "-o", directory, "--methods", library, "--backend", "cuda"]
        harness.run(words, ranks=len(GPUS.split(",")), CUDA_VISIBLE_DEVICES=GPUS)
        records = self.records(directory)
        built_in = {(r["method"], *(r[axis] for axis in self.AXES)): r for r in records if not r["library"]}
        # Records with one of two messages are left out. The library has no GPU code for methods with special layouts.
        # cuSOLVER's batched Cholesky writes the unreferenced triangle of A, which only built-in vendor methods may do.
        left_out = ("does not run on the backend cuda", "of the unreferenced triangle of A")
        loaded = [r for r in records if r["library"] and not any(e in r["message"] for e in left_out)]
        self.assertGreater(sum(r["status"] == "pass" for r in loaded), 500)
        differences = []
        for record in loaded:
            twin = built_in[(record["method"].removeprefix("plugin_"), *(record[axis] for axis in self.AXES))]
            for fact in ("status", "timing", "info", "systems_pass"):
                if record[fact] != twin[fact]:
                    differences.append(f"{record['key']}: {fact} {record[fact]}, not {twin[fact]}; {record['message']}")
        self.assertEqual(differences, [])
        triangle = {r["method"] for r in records if r["library"] and left_out[1] in r["message"]}
        self.assertLessEqual(triangle, {"plugin_cusolver", "plugin_cublas"})


def block(language, word):
    """Returns the page's code block in a language that contains a word."""
    return next(b for b in re.findall(rf"```{language}\n(.*?)```", PAGE, re.S) if word in b)


class Examples(LibraryTest):
    def passes(self, **environment):
        """Runs the plan of the page with mine.so in the folder."""
        plan = self.plan(self.ran(["methods", "--template", "plan"]).stdout)
        directory = self.sweep(plan, "--backend", "host", **environment)
        records = [r for r in self.records(directory) if r["method"] == "mine"]
        self.assertEqual({r["status"] for r in records}, {"pass"})
        self.assertEqual(len(records), 16)

    def with_function(self, function):
        """Returns the template with another function, changed as the page says."""
        text = self.ran(["methods", "--template", "c"]).stdout
        begin, end = text.index("/* Column-major"), text.index("static const gaussweep_method")
        text = text[:begin] + function + text[end:]
        self.assertIn("write `.float64 = run` and delete `.max_batch`", PAGE)
        return text.replace(".float64 = multiply", ".float64 = run").replace("    .max_batch = 1 << 20,\n", "")

    def test_c(self):
        self.compiled(self.ran(["methods", "--template", "c"]).stdout, flags=["-Werror"])
        self.passes()

    @unittest.skipUnless(NVCC, "no nvcc")
    def test_cuda(self):
        (self.folder / "mine.cu").write_text(self.ran(["methods", "--template", "cuda"]).stdout)
        words = [NVCC, "-O3", "-arch=sm_80", "-shared", "-Xcompiler", "-fPIC", "mine.cu", "-o", "mine.so"]
        done = harness.execute(words, cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        listed = self.ran(["methods", "--methods", self.folder / "mine.so", "--format", "json", "gemm/mine"]).stdout
        self.assertEqual(json.loads(listed)[0]["precisions"], ["float", "double"])

    @unittest.skipUnless(shutil.which("gfortran"), "no gfortran")
    def test_fortran(self):
        (self.folder / "mine.c").write_text(self.with_function(block("c", "void multiply")))
        (self.folder / "mine.f90").write_text(block("fortran", "matmul"))
        line = re.search(r"! (cc .*)", block("fortran", "matmul")).group(1)
        done = subprocess.run(line, shell=True, cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.passes()

    @unittest.skipUnless(os.path.exists("/usr/include/python3.11/Python.h"), "no header of Python 3.11")
    def test_python(self):
        text = self.with_function(block("c", "Py_InitializeEx"))
        self.compiled(text, flags=["-I/usr/include/python3.11", "-lpython3.11"])
        (self.folder / "kernel.py").write_text(block("python", "np.ctypeslib"))
        self.passes(PYTHONPATH=str(self.folder))

    def test_the_installed_header_is_the_printed_one(self):
        source = harness.SOURCE / "kernels" / "registry" / "gaussweep_method.h"
        self.assertEqual((self.folder / "method.h").read_text(), source.read_text())


if __name__ == "__main__":
    unittest.main()
