"""A run directory of N trials, grown from a small one: for measuring how status, summary, compare and the report scale.

    tests/benchmark/grow_run.py RUN N OUT

The records are RUN's, again and again, each with a key of its own; plan and notes stay. Sizes, seeds and times move on.
"""

import json
import pathlib
import sys
import zlib

MOVING = ["key", "matrix_seed", "n", "seconds_median"]  # in the order of a line


def sealed(body):
    """A line of the journal: the object with its checksum as the last member."""
    return f'{body},"crc":"{zlib.crc32(body.encode()):08x}"}}\n'


def body_of(entry):
    return json.dumps(entry, separators=(",", ":"), ensure_ascii=False)[:-1]


def template(record):
    """The text of a record with places for what moves on."""
    body = body_of({**record, **dict.fromkeys(MOVING, "moving")})
    return body.replace("%", "%%").replace('"moving"', "%s")


def main(run, count, out):
    lines = (pathlib.Path(run) / "journal.jsonl").read_text(encoding="utf-8").splitlines()
    entries = [json.loads(line) for line in lines]
    for entry in entries:
        entry.pop("crc")
    records = [entry for entry in entries if "note" not in entry]
    notes = [entry for entry in entries if "note" in entry]
    folder = pathlib.Path(out)
    folder.mkdir(parents=True)
    (folder / "plan.yaml").write_bytes((pathlib.Path(run) / "plan.yaml").read_bytes())
    templates = [template(record) for record in records]
    with open(folder / "journal.jsonl", "w", encoding="utf-8") as journal:
        for note in notes:
            if note["note"] == "run" and "total" in note:
                note["total"] = int(count)
            if note["note"] != "end":
                journal.write(sealed(body_of(note)))
        for i in range(int(count)):
            record = records[i % len(records)]
            key, median = f"{zlib.crc32(str(i).encode()):08x}{i:024x}", record["seconds_median"]
            median = "null" if median is None else repr(median * (1 + i % 997 / 1e5))
            moved = f'"{key}"', i % 31, record["n"] + i // 1000, median
            journal.write(sealed(templates[i % len(records)] % moved))
        for note in notes:
            if note["note"] == "end":
                journal.write(sealed(body_of(note)))


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
