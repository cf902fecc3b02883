"""A run directory of N trials, grown from a small one: for measuring how status, summary, compare and the report scale.

    tests/benchmark/grow_run.py RUN N OUT

The records are RUN's, again and again, each with a key of its own; plan and notes stay. Times and seeds move on.
"""

import json
import pathlib
import sys
import zlib


def sealed(entry):
    """A line of the journal: the object with its checksum as the last member."""
    body = json.dumps(entry, separators=(",", ":"), ensure_ascii=False)[:-1]
    return f'{body},"crc":"{zlib.crc32(body.encode()):08x}"}}\n'


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
    with open(folder / "journal.jsonl", "w", encoding="utf-8") as journal:
        for note in notes:
            if note["note"] == "run" and "total" in note:
                note["total"] = int(count)
            if note["note"] != "end":
                journal.write(sealed(note))
        for i in range(int(count)):
            record = dict(records[i % len(records)])
            record["key"] = f"{zlib.crc32(str(i).encode()):08x}{i:024x}"
            record["n"] += i // 1000
            record["matrix_seed"] = i % 31
            journal.write(sealed(record))
        for note in notes:
            if note["note"] == "end":
                journal.write(sealed(note))


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
