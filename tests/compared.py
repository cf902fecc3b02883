"""What `gaussweep compare` says, for whoever counts its verdicts."""

import collections
import json
import subprocess


class NotCompared(RuntimeError):
    """`code`: the exit code, which is neither 0 nor 4."""

    def __init__(self, code, words):
        super().__init__(words)
        self.code = code


def compare(gaussweep, base, new):
    """Exit code (0, or 4: something became slower or wrong) and what it said. @raises NotCompared"""
    done = subprocess.run(
        [str(gaussweep), "compare", str(base), str(new), "--format", "json"],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode not in (0, 4):
        words = f"compare {base} {new}: exit code {done.returncode}: {done.stderr.strip()}"
        raise NotCompared(done.returncode, words)
    return done.returncode, json.loads(done.stdout)


def verdicts(said):
    """How often each verdict was given, to trials that have a time."""
    return collections.Counter(t["verdict"] for t in said["trials"] if t["verdict"] != "UNTIMED")
