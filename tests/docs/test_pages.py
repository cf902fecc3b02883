"""The pages as a whole: links lead somewhere, pictures are what their sources say, README stays a page."""

import hashlib
import re
import unittest

import pages

LINK = re.compile(r"\[[^\]\n]*\]\(([^)\s]+)\)")
PICTURES = pages.ROOT / "docs" / "pictures"


class Pages(unittest.TestCase):
    def test_every_link_leads_somewhere(self):
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

    def test_every_page_of_docs_is_named_in_the_readme(self):
        readme = (pages.ROOT / "README.md").read_text(encoding="utf-8")
        for page in (pages.ROOT / "docs").glob("*.md"):
            self.assertIn(f"](docs/{page.name})", readme)

    def test_the_readme_is_a_page(self):
        self.assertLessEqual(len((pages.ROOT / "README.md").read_text(encoding="utf-8").splitlines()), 120)

    def test_the_rooms_are_those_of_the_tree(self):
        text = (pages.ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
        for room in ("driver/", "io/"):
            named = {row["folder"] for row in pages.tables(text, room)}
            there = {f"{folder.name}/" for folder in (pages.ROOT / room).iterdir() if folder.is_dir()}
            self.assertEqual(named, there - {"mex/"}, f"the folders of {room}; driver/mex/ is a room of its own")

    def test_pictures_are_what_their_sources_say(self):
        """Without Graphviz here: a picture has the digest of what it was drawn from, and shows its words."""
        sources = sorted(PICTURES.glob("*.dot"))
        self.assertTrue(sources)
        for source in sources:
            with self.subTest(picture=source.stem):
                picture = source.with_suffix(".svg").read_text(encoding="utf-8")
                drawn_from = re.search(r"sha256 ([0-9a-f]{64})", picture)
                self.assertTrue(drawn_from, "it does not say what it was drawn from: docs/pictures/draw.sh")
                digest = hashlib.sha256(source.read_bytes()).hexdigest()
                self.assertEqual(drawn_from.group(1), digest, "drawn from another source: docs/pictures/draw.sh")
                shown = re.findall(r"<text[^>]*>([^<]*)</text>", picture)
                for label in re.findall(r'label="([^"]*)"', source.read_text(encoding="utf-8")):
                    for line in label.split(r"\n"):
                        self.assertIn(line, shown)

    def test_pictures_are_small(self):
        for picture in PICTURES.glob("*.svg"):
            self.assertLess(picture.stat().st_size, 200_000, picture.name)


if __name__ == "__main__":
    unittest.main()
