"""Tests all pages: links work, pictures match their sources, pages and sentences are short, and there are no invented
words."""

import hashlib
import html
import re
import statistics
import sys
import unittest

import pages

sys.path.append(str(pages.ROOT / "docs" / "pictures"))
from speedups import ROWS, speedups  # noqa: E402

LINK = re.compile(r"\[[^\]\n]*\]\(([^)\s]+)\)")
LONGEST = 25  # words per sentence, as counted by pages.sentences
# Invented words and the field's terms for them.
JARGON = {
    r"rooms": "modules",
    r"doors?": "dependency",
    r"is said": "is reported, with a message",
    r"goes before": "takes precedence over",
    r"a finding": "an expected failure",
    r"how right": "how accurate",
    r"planted": "with a known fault",
    r"whoever": "who",
    r"moreover": "also",
}
PICTURES = pages.ROOT / "docs" / "pictures"


class Pages(unittest.TestCase):
    def test_every_link_works(self):
        seen = 0
        for page in pages.PAGES:
            text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.S)
            for link in LINK.findall(text):
                if link.startswith(("http://", "https://")):
                    continue
                with self.subTest(page=page.name, link=link):
                    path, _, part = link.partition("#")
                    target = (page.parent / path).resolve() if path else page
                    self.assertTrue(target.exists(), "there is no such file")
                    if part:
                        anchors = [
                            pages.anchor(heading) for heading in pages.headings(target.read_text(encoding="utf-8"))
                        ]
                        self.assertIn(part, anchors)
                    seen += 1
        self.assertGreater(seen, 20)

    def test_the_readme_names_every_page_of_docs(self):
        readme = (pages.ROOT / "README.md").read_text(encoding="utf-8")
        for page in (pages.ROOT / "docs").glob("*.md"):
            self.assertIn(f"](docs/{page.name})", readme)

    def test_the_readme_is_one_page(self):
        self.assertLessEqual(len((pages.ROOT / "README.md").read_text(encoding="utf-8").splitlines()), 120)

    def test_the_readmes_speedups_are_those_of_the_performance_pages(self):
        readme = " ".join((pages.ROOT / "README.md").read_text(encoding="utf-8").split())

        def row(label):
            return dict(zip(*speedups(*next(row[:3] for row in ROWS if row[3] == label))))

        lu = statistics.geometric_mean(row("LU").values())
        self.assertIn(f"n = 8192 are {row('triangular inverse')[8192]:.0f} times as fast as cuSOLVER", readme)
        self.assertIn(f"LU is {lu:.1f} times as fast (mean of n = {min(row('LU'))} to {max(row('LU'))})", readme)
        self.assertIn(f"mixed-precision solves {row('system, mixed precision')[16384]:.1f} times at 16384", readme)

    def test_pages_have_at_most_150_lines(self):
        for page in (pages.ROOT / "docs").glob("*.md"):
            self.assertLessEqual(len(page.read_text(encoding="utf-8").splitlines()), 150, page.name)

    def test_the_programs_of_the_library_page_are_the_tested_ones(self):
        page = (pages.ROOT / "docs" / "library.md").read_text(encoding="utf-8")
        blocks = re.findall(r"^```(cpp|cmake)\n(.*?)^```", page, re.M | re.S)
        self.assertEqual([language for language, _ in blocks], ["cpp", "cmake", "cpp"])
        for name, (language, block) in zip(("solve.cpp", "CMakeLists.txt", "times.cpp"), blocks):
            lines = [line.split("#")[0].rstrip() if language == "cmake" else line for line in block.splitlines()]
            tested = (pages.ROOT / "tests" / "package" / name).read_text(encoding="utf-8").splitlines()
            self.assertEqual([line for line in tested if not line.startswith("#") or language == "cpp"], lines)

    def test_the_program_of_the_rules_page_is_the_tested_one(self):
        page = (pages.ROOT / "docs" / "rule.md").read_text(encoding="utf-8")
        (block,) = re.findall(r"^```cpp\n(.*?)^```", page, re.M | re.S)
        self.assertEqual((pages.ROOT / "tests" / "package" / "choice.cpp").read_text(encoding="utf-8"), block)

    def test_sentences_are_short(self):
        for page in pages.FOR_USERS:
            for words in pages.sentences(page.read_text(encoding="utf-8")):
                with self.subTest(page=page.name, sentence=" ".join(words)):
                    self.assertLessEqual(len(words), LONGEST)

    def test_counts_the_words_of_a_sentence(self):
        def count(text):
            return [len(words) for words in pages.sentences(text)]

        self.assertEqual(count("One `two words` [three](four five). Six – seven!\nEight\n\nNine"), [3, 2, 1, 1])
        self.assertEqual(count("# Not this\n\n| nor | this |\n\n```\nnor. this\n```\n\n    nor this\n"), [])
        self.assertEqual(count("Two items:\n\n- J. Smith wrote\n  this\n- 1 trial\n"), [2, 4, 2])
        self.assertEqual(count("word " * (LONGEST + 1)), [LONGEST + 1])

    def test_words_are_those_of_the_field(self):
        for page in pages.FOR_USERS:
            text = re.sub(r"```.*?```|`[^`]*`|\([^()\s]*\)", "", page.read_text(encoding="utf-8"), flags=re.S)
            for invented, term in JARGON.items():
                with self.subTest(page=page.name, instead=term):
                    self.assertEqual(re.findall(rf"\b{invented}\b", text, re.IGNORECASE), [])

    def test_the_modules_are_those_of_the_tree(self):
        text = (pages.ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
        for parent in ("driver/", "apps/", "io/"):
            listed = {row["folder"] for row in pages.tables(text, parent)}
            existing = {f"{folder.name}/" for folder in (pages.ROOT / parent).iterdir() if folder.is_dir()}
            self.assertEqual(listed, existing, f"the folders of {parent}")

    def test_pictures_match_their_sources(self):
        """Needs no Graphviz: a picture contains the digest of its source, and its words."""
        sources = sorted(PICTURES.glob("*.dot"))
        self.assertTrue(sources)
        for source in sources:
            with self.subTest(picture=source.stem):
                picture = source.with_suffix(".svg").read_text(encoding="utf-8")
                drawn_from = re.search(r"sha256 ([0-9a-f]{64})", picture)
                self.assertTrue(drawn_from, "the picture has no digest of its source: run docs/pictures/draw.sh")
                digest = hashlib.sha256(source.read_bytes()).hexdigest()
                self.assertEqual(drawn_from.group(1), digest, "the source has changed: run docs/pictures/draw.sh")
                shown = re.findall(r"<text[^>]*>([^<]*)</text>", picture)
                for label in re.findall(r'label="([^"]*)"', source.read_text(encoding="utf-8")):
                    for line in label.split(r"\n"):
                        self.assertIn(line, shown)

    def test_the_sample_report_is_small_whole_and_of_its_plan(self):
        folder = pages.ROOT / "docs" / "sample"
        page = (folder / "index.html").read_text(encoding="utf-8")
        self.assertLessEqual(sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()), 600_000)
        self.assertIn((folder / "plan.yaml").read_text(encoding="utf-8"), html.unescape(page))
        for link in re.findall(r'href="(data/[^"]*)"', page):
            self.assertTrue((folder / link).is_file(), link)
        self.assertEqual(re.findall(r"(?:/home|/root|/tmp|/work|/Users)/[^<\s]*", page), [], "a path on one machine")

    def test_the_citation_has_the_version_of_the_program(self):
        citation = (pages.ROOT / "CITATION.cff").read_text(encoding="utf-8")
        (version,) = re.findall(r"^version: (\S+)$", citation, re.M)
        self.assertIn(f"project(gaussweep VERSION {version} ", (pages.ROOT / "CMakeLists.txt").read_text("utf-8"))
        readme = (pages.ROOT / "README.md").read_text(encoding="utf-8")
        self.assertIn(f"gaussweep {version},", readme)
        for author in re.findall(r"family-names: ([^,]+),", citation):
            self.assertIn(author, readme)

    def test_pictures_are_small(self):
        for picture in PICTURES.glob("*.svg"):
            self.assertLess(picture.stat().st_size, 200_000, picture.name)


if __name__ == "__main__":
    unittest.main()
