"""Tests that every command and option on the pages exists in the program."""

import functools
import json
import re
import shlex
import subprocess
import unittest

import pages

OPTION = re.compile(r"(?<![\w-])(--?[A-Za-z][\w-]*)")


@functools.lru_cache(maxsize=None)
def help_of(*command):
    done = subprocess.run(
        [pages.GAUSSWEEP, *command, "--help"], capture_output=True, text=True, timeout=600, check=True
    )
    return done.stdout


@functools.lru_cache(maxsize=None)
def commands_of(*command):
    """Returns the subcommands of a command (without arguments: of the program)."""
    _, heading, rest = help_of(*command).partition("SUBCOMMANDS:")
    if not heading:
        _, heading, rest = help_of(*command).partition("Subcommands:")
    return set(re.findall(r"^  (\w+)", rest, re.M))


def methods():
    """Returns all methods of the program, as it lists them."""
    done = subprocess.run([pages.GAUSSWEEP, "methods", "--format", "json"], capture_output=True, text=True, check=True)
    listed = json.loads(done.stdout)
    return listed if isinstance(listed, list) else listed["methods"]


def snippets(text):
    """Returns lines of code blocks, with continued lines joined, and inline code."""
    for block in re.findall(r"^ *```\w*\n(.*?)^ *```", text, re.M | re.S):
        yield from block.replace("\\\n", " ").splitlines()
    yield from re.findall(r"`([^`\n]+)`", re.sub(r"^ *```.*?^ *```", "", text, flags=re.M | re.S))


def words_of(snippet):
    """Returns the words of a command, up to a pipe, a redirection or a comment."""
    try:
        words = shlex.split(snippet, comments=True)
    except ValueError:  # not shell, but a piece of a plan
        return []
    ends = [i for i, word in enumerate(words) if re.match(r"[|>&;]|2>", word)]
    return words[: ends[0]] if ends else words


def calls(text):
    """Returns (command, its words) for each call of the program: "gaussweep summary …", or "summary --best" in a
    sentence."""
    for snippet in snippets(text):
        words = words_of(snippet)
        programs = [i for i, word in enumerate(words) if re.fullmatch(r"(\S*/)?gaussweep", word)]
        if programs:
            words = words[programs[-1] + 1 :]
        elif not words or words[0] not in commands_of():
            continue
        if words and re.fullmatch(r"[a-z]+", words[0]):
            yield words[0], words[1:]


class Commands(unittest.TestCase):
    def test_every_command_and_option_exists(self):
        seen = 0
        for page in pages.FOR_USERS:
            for command, words in calls(page.read_text(encoding="utf-8")):
                with self.subTest(page=page.name, call=" ".join([command, *words])):
                    self.assertIn(command, commands_of())
                    path = [command, *(w for w in words[:1] if w in commands_of(command))]
                    known = set(OPTION.findall(help_of(*path)))
                    for word in words:
                        if option := OPTION.match(word):
                            self.assertIn(option.group(1), known)
                            seen += 1
        self.assertGreater(seen, 40)

    def test_the_readme_counts_the_methods_by_origin(self):
        """ "A third" in the README must be between 25 and 42 %. The remaining third are those of the texts."""
        readme = " ".join((pages.ROOT / "README.md").read_text(encoding="utf-8").split())
        own = [method for method in methods() if method["source"].startswith("gaussweep")]
        hopper = [method for method in own if method["capability"] >= 90]
        self.assertIn(f"{len(hopper)} of the {len(own)} need compute capability 9.0", readme)
        self.assertIn("A third implement algorithms of five texts, a third are gaussweep's own fast methods.", readme)
        vendor = re.compile("LAPACK|OpenBLAS|NVIDIA")
        of_vendors = [method for method in methods() if vendor.match(method["source"])]
        for group in (own, of_vendors):
            self.assertTrue(0.25 < len(group) / len(methods()) < 0.42, len(group))

    def test_finds_calls(self):
        text = "`summary DIR --best`, `make -j`\n\n```sh\nsrun build/gaussweep run p.yaml \\\n -o r | tee --no\n```\n"
        found = list(calls(text))
        self.assertEqual(found, [("run", ["p.yaml", "-o", "r"]), ("summary", ["DIR", "--best"])])


if __name__ == "__main__":
    unittest.main()
