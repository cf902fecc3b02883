#!/usr/bin/env python3
"""Tests the dependency rules between the modules (docs/architecture.md).

    tests/dependencies_test.py BUILD        a configured build folder

Compiles every forbidden header with the real flags of each module's target: each must fail because it is forbidden.
Also searches the sources for violations that compile: other headers of the same libraries, clocks, printing,
relative includes, methods named in the driver.
"""
import collections
import json
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[1]
PROBLEMS = sorted(p.parent.name for p in (SOURCE / "kernels").glob("*/table.cpp"))
CUDA = ["cuda.h", "cuda_runtime.h", "cuda_runtime_api.h", "cublas_v2.h", "cusolverDn.h"]
PRINTING = ["spdlog/spdlog.h", "fmt/core.h", "fmt/format.h"]

# The layers of driver/ and of apps/: the layers that each may include, one of its headers, and libraries that only it
# may use.
DRIVER = {
    "base": ([], "driver/base/errors.hpp", []),
    "system": (["base"], "driver/system/clock.hpp", []),
    "plan": (["system"], "driver/plan/trial.hpp", []),
    "protocol": (["plan"], "driver/protocol/messages.hpp", []),
    "judge": (["plan"], "driver/judge/judge.hpp", []),
    "results": (["plan"], "driver/results/loading.hpp", []),
    "summary": (["protocol", "judge", "results"], "driver/summary/summary.hpp", []),
    "worker": (["protocol", "judge"], "driver/worker/probe.hpp", []),
    "sweep": (["summary"], "driver/sweep/queue.hpp", ["mpi.h"]),
    "restore": (["judge"], "apps/restore/restoration.hpp", []),
    "compare": (["summary"], "driver/compare/compare_rule.hpp", []),
    "rule": (["summary"], "driver/rule/rule.hpp", []),
    "duet": (["sweep"], "driver/duet/duet.hpp", []),
    "command": (["duet", "worker", "restore", "compare", "rule"], "driver/command/options.hpp", ["CLI/CLI.hpp"]),
}  # fmt: skip


def folder_of(layer):
    """Returns the folder of a layer, in which its header in DRIVER is."""
    return str(pathlib.PurePosixPath(DRIVER[layer][1]).parent)


def below(layer):
    """Returns all layers that this one may include."""
    return {b for direct in DRIVER[layer][0] for b in {direct} | below(direct)}


# Module: targets, headers that it may include, headers that it may not, and libraries whose headers it may not include.
MODULES = {
    "kernels": dict(
        targets=["gaussweep_kernels", "gaussweep_kernels_cuda"],
        allowed=["kernels/registry/method.hpp", "vector"],
        forbidden=["io/records/record.hpp", "io/plan/plan.hpp", "driver/plan/trial.hpp", "hdf5.h", "H5Cpp.h",
                   "yaml-cpp/yaml.h", "nlohmann/json.hpp", "png.h", "netpbm/pgm.h", "sqlite3.h",
                   "mpi.h", "CLI/CLI.hpp", "iostream"] + PRINTING,
        libraries=r"hdf5|H5|yaml-cpp/|nlohmann/|png|netpbm|sqlite|mpi|CLI/|spdlog/|fmt/|iostream|print|chrono"
        r"|ctime|time\.h|sys/time"),
    "io": dict(
        targets=["gaussweep_io"],
        allowed=["io/records/record.hpp", "io/plan/plan.hpp", "hdf5.h", "yaml-cpp/yaml.h",
                 "nlohmann/json.hpp", "png.h"],
        forbidden=["kernels/core/enums.hpp", "kernels/registry/method.hpp", "driver/plan/trial.hpp", "mpi.h",
                   "CLI/CLI.hpp"] + CUDA + PRINTING,
        libraries=r"cuda|cublas|cusolver|nvml|mpi|CLI/|spdlog/|fmt/"),
    **{folder_of(layer): dict(
        targets=[f"gaussweep_driver_{layer}"],
        allowed=["kernels/registry/method.hpp", "io/records/record.hpp", DRIVER[layer][1]] + DRIVER[layer][2]
        + PRINTING,
        forbidden=["hdf5.h", "yaml-cpp/yaml.h", "png.h", "netpbm/pgm.h", "sqlite3.h"] + CUDA
        + [h for h in ("mpi.h", "CLI/CLI.hpp") if h not in DRIVER[layer][2]]
        + [DRIVER[other][1] for other in DRIVER if other != layer and other not in below(layer)],
        libraries=r"cuda|cublas|cusolver|hdf5|H5|yaml-cpp/|png|netpbm|sqlite")
       for layer in DRIVER},
    # A separate program in the process of MATLAB or Octave, which uses only the registry.
    "apps/mex": dict(
        targets=["gaussweep_mex_octave", "gaussweep_mex_matlab"],
        allowed=["kernels/registry/method.hpp", "apps/mex/choice.hpp", "mex.h"],
        forbidden=["io/records/record.hpp", "io/plan/plan.hpp", "driver/plan/trial.hpp", "hdf5.h", "H5Cpp.h",
                   "yaml-cpp/yaml.h", "nlohmann/json.hpp", "mpi.h", "CLI/CLI.hpp", "iostream"] + CUDA + PRINTING,
        libraries=r"cuda|cublas|cusolver|hdf5|H5|yaml-cpp/|nlohmann/|mpi|CLI/|spdlog/|fmt/|iostream"),
    # A shared library for programs that know nothing of gaussweep.
    "apps/c_api": dict(
        targets=["gaussweep_c"],
        allowed=["kernels/registry/method.hpp", "apps/c_api/gaussweep.h"],
        forbidden=["io/records/record.hpp", "io/plan/plan.hpp", "driver/plan/trial.hpp", "hdf5.h", "H5Cpp.h",
                   "yaml-cpp/yaml.h", "nlohmann/json.hpp", "mpi.h", "CLI/CLI.hpp", "iostream"] + CUDA + PRINTING,
        libraries=r"cuda|cublas|cusolver|hdf5|H5|yaml-cpp/|nlohmann/|mpi|CLI/|spdlog/|fmt/|iostream"),
    # A shared library that LD_PRELOAD loads into programs; it loads libgaussweep.
    "apps/preload": dict(
        targets=["gaussweep_cusolver"],
        allowed=["apps/c_api/gaussweep.h", "apps/preload/cutoffs.hpp", "nlohmann/json.hpp"],
        forbidden=["kernels/registry/method.hpp", "io/records/record.hpp", "driver/plan/trial.hpp", "hdf5.h", "H5Cpp.h",
                   "yaml-cpp/yaml.h", "mpi.h", "CLI/CLI.hpp", "iostream"] + CUDA + PRINTING,
        libraries=r"cuda|cublas|cusolver|hdf5|H5|yaml-cpp/|mpi|CLI/|spdlog/|fmt/|iostream"),
}  # fmt: skip
# Module: prefixes of the project's headers that it may include (in quotes).
INCLUDABLE = {
    "kernels": ("kernels/",),
    "io": ("io/",),
    "apps/mex": ("apps/mex/", "kernels/"),
    "apps/c_api": ("apps/c_api/", "kernels/"),
    "apps/preload": ("apps/preload/", "apps/c_api/gaussweep.h"),
}
for each in DRIVER:
    layers = tuple(folder_of(layer) + "/" for layer in {each} | below(each))
    INCLUDABLE[folder_of(each)] = layers + ("kernels/", "io/", "version.hpp")
TREES = ("kernels", "io", "driver", "apps")
MAX_FILES = 44  # per folder
# Built only if nvcc, Octave or MATLAB is installed.
OPTIONAL = ("gaussweep_kernels_cuda", "gaussweep_mex_octave", "gaussweep_mex_matlab")
READS_CLOCK_OR_PRINTS = re.compile(
    r"std::chrono|\bclock_gettime\b|\bgettimeofday\b|\bclock64\s*\(|\bclock\s*\(|globaltimer|%clock"
    r"|\b(?:f|v|vf|d)?printf\s*\(|\bputs\s*\(|\bputchar\s*\(|std::(?:cout|cerr|clog)\b"
)

complaints = []
checks = 0


def check(good, complaint):
    global checks
    checks += 1
    if not good:
        complaints.append(complaint)


def without_comments(text):
    """Returns the text with spaces instead of comments. Line breaks and string literals stay."""
    pattern = re.compile(r'//[^\n]*|/\*.*?\*/|("(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\')', re.S)
    return pattern.sub(lambda m: m.group(1) if m.group(1) else re.sub(r"[^\n]", " ", m.group(0)), text)


def sources(module):
    files = [p for p in sorted((SOURCE / module).rglob("*")) if p.suffix in (".cpp", ".hpp", ".cu", ".cuh")]
    if not files:
        complaints.append(f"{module}/: no sources found")
    return [(p.relative_to(SOURCE), without_comments(p.read_text(encoding="utf-8"))) for p in files]


def compile_command(database, target):
    """Returns the flags of one source of the target, without source and output; for nvcc, one architecture only."""
    entries = [e for e in database if f"/{target}.dir/" in e["command"]]
    if not entries:
        return None
    cuda = [e for e in entries if e["file"].endswith(".cu") and "nvcc" in e["command"]]
    entry = (cuda or entries)[0]
    words = shlex.split(entry["command"])
    flags, skip = [], False
    for word in words:
        if skip:
            skip = False
        elif word in ("-o", "-MF", "-MT", "-x", "-include"):  # precompiled headers include nothing new
            skip = True
        elif word not in ("-c", "-MD", entry["file"], "-lineinfo") and not word.startswith("--generate-code"):
            flags.append(word)
    return flags, entry["directory"], bool(cuda)


def preprocess(command, source, folder):
    """Preprocesses a source with the target's flags. Returns true if it succeeds, and the output."""
    words, directory, cuda = command
    probe = pathlib.Path(folder) / ("probe.cu" if cuda else "probe.cpp")
    probe.write_text(source, encoding="utf-8")
    ending = [*([] if cuda else ["-x", "c++"]), "-E", "-o", "/dev/null", str(probe)]
    done = subprocess.run(words + ending, cwd=directory, capture_output=True, text=True, check=False)
    return done.returncode == 0, done.stdout + done.stderr


def compile_forbidden_includes(build, folder):
    database = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    for module, rule in MODULES.items():
        for target in rule["targets"]:
            command = compile_command(database, target)
            if command is None:
                check(target in OPTIONAL, f"{target}: not in {build}/compile_commands.json")
                continue
            source = "".join(f"#include <{header}>\n" for header in rule["allowed"])
            good, message = preprocess(command, source, folder)
            check(good, f"{target} should be able to include {', '.join(rule['allowed'])}:\n{message}")
            # An existing header must be refused by name, and not because of another header.
            source = "".join(
                f"#if __has_include(<{header}>)\n#include <{header}>\n#else\n#error absent <{header}>\n#endif\n"
                for header in rule["forbidden"]
            )
            _, message = preprocess(command, source, folder)
            for header in rule["forbidden"]:
                refused = f"must not include <{header}>" in message or f"absent <{header}>" in message
                check(refused, f"{target} can include <{header}>, or fails on it for another reason:\n{message}")


def search_sources():
    files = [p for problem in PROBLEMS for p in (SOURCE / "kernels" / problem).iterdir()]
    stems = {p.stem for p in files if p.suffix in (".cpp", ".cu") and p.stem != "table"}
    check(len(stems) > 5, f"only {len(stems)} methods found below kernels/")
    for path in files:
        header = re.match(r"(///.*\n)*", path.read_text())[0]
        if re.match(r"/// [a-z]+/[a-z_]+: ", header):
            states_bound = re.search(r"\bError:\s|error bound", header)
            check(states_bound, f"{path}: the method's header states no error bound; write `Error: …`")
    for module, rule in MODULES.items():
        libraries = re.compile(rule["libraries"])
        for path, text in sources(module):
            for kind, header in re.findall(r'^\s*#\s*include\s*([<"])([^>"]+)', text, re.M):
                if kind == '"':
                    check(
                        header.startswith(INCLUDABLE[module]),
                        f'{path}: #include "{header}" leaves the module {module}/',
                    )
                else:
                    check(not libraries.match(header), f"{path}: #include <{header}> is not for {module}/")
            if module == "kernels":
                found = READS_CLOCK_OR_PRINTS.search(text)
                check(not found, f"{path}: {found and found.group(0)!r}: kernels/ has no clock and does not print")
            if module.startswith(("driver", "apps")):
                for literal in re.findall(r'"((?:\\.|[^"\\\n])*)"', text):
                    named = {s for s in stems if literal == s or re.search(rf"(^|[^\w]){s}($|[^\w])", literal)
                             and ("_" in s or f"/{s}" in literal)}  # fmt: skip
                    check(
                        not named,
                        f'{path}: "{literal}" names a method; the driver knows them by the registry only. '
                        "If the text existed before your method, give the method (its file) another name",
                    )


OPENS = re.compile(
    r"\bnamespace\s*(?P<namespace>[\w:]*)\s*\{"
    r"|(?P<template><>\s*)?\b(?:struct|class|enum(?:\s+class)?)\s+(?:alignas\([^)]*\)\s*)?(?P<type>\w+)"
    r"(?:\s+final)?(?:\s*:(?!:)[^;{}()]*)?\s*\{"
    r"|(?P<other>\{)|(?P<close>\})|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+'"
)


def types_defined(text):
    """Returns the types that a source defines in named namespaces, as gaussweep::driver::Trial."""
    enclosing = []  # names of the open namespaces; None for other braces
    for found in OPENS.finditer(text):
        kind = found.lastgroup
        if kind == "namespace":
            enclosing.append(found["namespace"] or None)
        elif kind == "type":
            if None not in enclosing and not found["template"]:
                yield "::".join(enclosing + [found["type"]])
            enclosing.append(None)
        elif kind == "other":
            enclosing.append(None)
        elif kind == "close" and enclosing:
            enclosing.pop()


def type_names_are_unique():
    """Checks that no two types with one namespace have the same name, which would break the one-definition rule."""
    where = collections.defaultdict(set)
    for module in TREES:
        for path, text in sources(module):
            for name in types_defined(text):
                where[name].add(str(path))
    check(len(where) > 200, f"only {len(where)} types found")
    for name, files in sorted(where.items()):
        check(len(files) == 1, f"{name} is defined in {', '.join(sorted(files))}: two types with one name")


def cycles(graph):
    """Returns the cycles of a graph: its strongly connected components with two or more nodes (Tarjan's algorithm)."""
    number, lowest, stack, found = {}, {}, [], []

    def visit(node):
        number[node] = lowest[node] = len(number)
        stack.append(node)
        for other in graph.get(node, ()):
            if other not in number:
                visit(other)
            if other in stack:
                lowest[node] = min(lowest[node], lowest[other])
        if lowest[node] == number[node]:
            cycle = stack[stack.index(node) :]
            del stack[stack.index(node) :]
            if len(cycle) > 1:
                found.append(sorted(cycle))

    for node in sorted(graph):
        if node not in number:
            visit(node)
    return found


# The folders of kernels/ from the lowest layer to the highest one. A folder may include those of lower layers.
KERNEL_LAYERS = ["core", "device", "registry", "simt", "staging matrix vendor", "check", "<problem>", "solves"]


def no_include_cycles():
    """Checks that includes have no cycles, neither of files (a .cpp and its .hpp count as one) nor of folders, and that
    the folders of kernels/ keep to their order. The folders of problems, whose methods share steps, count as one."""
    problems = {f"kernels/{problem}": "kernels/<problem>" for problem in PROBLEMS}
    files, folders = collections.defaultdict(set), collections.defaultdict(set)
    for module in TREES:
        for path, text in sources(module):
            for header in re.findall(r'^\s*#\s*include\s*"([^"]+)"', text, re.M):
                if not (SOURCE / header).is_file():
                    continue
                one, other = path.with_suffix(""), pathlib.Path(header).with_suffix("")
                if one != other:
                    files[str(one)].add(str(other))
                from_folder, to_folder = (problems.get(str(p.parent), str(p.parent)) for p in (one, other))
                if from_folder != to_folder:
                    folders[from_folder].add(to_folder)
    check(len(files) > 200, f"only {len(files)} files include others")
    levels = {f"kernels/{folder}": level for level, layer in enumerate(KERNEL_LAYERS) for folder in layer.split()}
    unordered = {p.name for p in (SOURCE / "kernels").iterdir() if p.is_dir()} - set(PROBLEMS) - {"cuda"}
    unordered -= {name for layer in KERNEL_LAYERS for name in layer.split()}
    check(not unordered, f"these folders of kernels/ have no place in KERNEL_LAYERS: {sorted(unordered)}")
    for one, others in folders.items():
        for other in others:
            if one in levels and other in levels:
                is_lower = levels[other] < levels[one]
                check(is_lower, f"{one} includes {other}, against the order of docs/architecture.md, kernels/")
    for cycle in cycles(files):
        check(False, f"these files include each other in a cycle: {', '.join(cycle)}")
    for cycle in cycles(folders):
        check(False, f"these folders include each other in a cycle: {', '.join(cycle)}")


def used_functions_are_included():
    """Checks that a source in io/ or driver/ includes, directly or through other headers, a header that declares each
    project function that the source calls. A unity build hides such an error, because it compiles several sources
    together; other builds fail. Looks only at names with an underscore, which libraries seldom share."""
    declared = re.compile(
        r"^(?!\s|#|using |namespace |return |template )[\w:<>,&*\s\[\]]*?[\s&*]([a-z]\w*_\w+)\(", re.M
    )
    text_of = {str(path): text for tree in ("io", "driver") for path, text in sources(tree)}
    headers_of = collections.defaultdict(set)  # function -> the headers that declare it
    for path, text in text_of.items():
        if path.endswith(".hpp"):
            for name in declared.findall(text):
                headers_of[name].add(path)
    for _, text in sources("kernels"):  # overloads in kernels/ are declared elsewhere
        for name in declared.findall(text):
            headers_of.pop(name, None)
    check(len(headers_of) > 400, f"only {len(headers_of)} declared functions found")

    def add_included(path, found):
        if path in text_of and path not in found:
            found.add(path)
            for header in re.findall(r'^\s*#\s*include\s*"([^"]+)"', text_of[path], re.M):
                add_included(header, found)

    for path, text in text_of.items():
        if not path.endswith(".cpp"):
            continue
        text = re.sub(r'"(?:\\.|[^"\\\n])*"', '""', text)
        included = set()
        add_included(path, included)
        called = set(re.findall(r"(?<![\w.>:])([a-z]\w*_\w+)\s*\(", text))
        local = set(re.findall(r"[\w>&*\]]\s+[&*]*([a-z]\w*_\w+)\(", text))
        for name in sorted(called - local):
            headers = {h for h in headers_of.get(name, ()) if path.startswith("driver/") or h.startswith("io/")}
            check(not headers or headers & included, f"{path} calls {name}, but includes none of: {', '.join(headers)}")


def methods_have_rows():
    """Checks that every method that a source instantiates has a row in a table; without a row no program finds it."""
    texts = sources("kernels")
    tables = " ".join(text for path, text in texts if path.name == "table.cpp")
    with_rows = set(re.findall(r"_ENTR(?:Y|IES)\((?:host, )?(\w+)\)", tables))
    check(len(with_rows) > 80, f"only {len(with_rows)} methods found in the tables of kernels/")
    for path, text in texts:
        for method in re.findall(r"^GAUSSWEEP_INSTANTIATE(?:_FOR)?\((\w+)", text, re.M):
            check(
                method in with_rows,
                f"{path}: {method} has no row in {path.parent}/table.cpp; add its declaration and its row there"
                " (CONTRIBUTING.md, part 2)",
            )


def count_files():
    """Checks that folders of code stay small enough to be read as a list."""
    for folder in sorted({p.parent for tree in ("driver", "apps", "io") for p in (SOURCE / tree).rglob("*.?pp")}):
        count = sum(1 for p in folder.iterdir() if p.suffix in (".cpp", ".hpp"))
        check(count <= MAX_FILES, f"{folder.relative_to(SOURCE)}/: {count} files; at most {MAX_FILES} are allowed")
    stray = sorted(p.name for tree in ("driver", "apps", "io") for p in (SOURCE / tree).glob("*.?pp"))
    check(not stray, f"outside of the folders of driver/, apps/ and io/: {', '.join(stray)}")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    build = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        compile_forbidden_includes(build, folder)
    search_sources()
    type_names_are_unique()
    no_include_cycles()
    used_functions_are_included()
    methods_have_rows()
    count_files()
    for complaint in complaints:
        print("dependencies_test.py:", complaint)
    if complaints:
        sys.exit(1)
    print(f"dependencies_test.py: {checks} checks")


if __name__ == "__main__":
    main()
