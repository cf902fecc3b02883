#!/usr/bin/env bash
# Counts what compare, trend and duet detect, on one GPU or emulated: false alarms of unchanged runs, methods that are slowed, launch or wait
# more often, and two builds that differ by 1 % or not at all. OUT has each result as soon as it exists; `figures` computes the figures again.
#   tests/gpu/what_changed.sh BUILD OUT [--minutes M] [--runs N] [--backend B]     default: 7.5 minutes (and one to count), 12 runs, auto
#   tests/gpu/what_changed.sh BUILD OUT figures
# OUT/table.txt: a line per run; OUT/runs, OUT/duets: results; OUT/figures.txt. Exit code: 1 if a run failed, else 0.
set -uo pipefail
[[ $# -ge 2 ]] || { sed -n '2,6p' "$0"; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
build=$(realpath "$1") out=$(realpath -m "$2") minutes=7.5 runs=12 backend=auto only_figures=''
shift 2
while (($#)); do
  case $1 in
    --minutes) minutes=$2; shift ;;
    --runs) runs=$2; shift ;;
    --backend) backend=$2; shift ;;
    figures) only_figures=yes ;;
    *) sed -n '2,6p' "$0"; exit 2 ;;
  esac
  shift
done
end=$(awk -v now="$EPOCHREALTIME" -v minutes="$minutes" 'BEGIN { printf "%d", now + 60 * minutes }')
mkdir -p "$out/runs" "$out/duets" "$out/logs"
broken=0
is_late() { ((EPOCHSECONDS >= end)); }
# note NAME CODE BEGAN: adds a line with the exit code and duration of a run to the table
note() {
  awk -v name="$1" -v code="$2" -v began="$3" -v now="$EPOCHREALTIME" \
    'BEGIN { printf "%s: exit %d, %.1f s\n", name, code, now - began }' | tee -a "$out/table.txt"
}
# run NAME PROGRAM PLAN [CHANGE]: runs a plan; CHANGE is GAUSSWEEP_FAULT_CHANGE
run() {
  is_late && return
  local began=$EPOCHREALTIME code folder=$out/work-$1
  rm -rf "$folder"
  GAUSSWEEP_FAULT_CHANGE=${4:-} "$build/$2" run "$here/$3" -o "$folder" --backend "$backend" >"$out/logs/$1.txt" 2>&1
  code=$?
  ((code == 0)) || broken=1
  mv "$folder/results.h5" "$out/runs/$1.h5" || broken=1
  rm -rf "$folder"
  note "$1" "$code" "$began"
}
# duet NAME CHANGE: runs a duet; this build has the change, the other one does not
duet() {
  is_late && return
  local began=$EPOCHREALTIME code side folder=$out/work-$1
  rm -rf "$folder"
  timeout "$((end - EPOCHSECONDS + 20))" env GAUSSWEEP_FAULT_CHANGE="$2" "$build/gaussweep_faulty" duet "$out/other" \
    "$here/duet.yaml" --backend "$backend" -o "$folder" >"$out/logs/$1.txt" 2>&1
  code=$?
  if ((code == 0 || code == 4)); then
    mkdir -p "$out/duets/$1"
    for side in base new; do mv "$folder/$side/results.h5" "$out/duets/$1/$side.h5" || broken=1; done
  elif ! is_late; then
    broken=1
  fi
  rm -rf "$folder"
  note "$1" "$code" "$began"
}

if [[ -z $only_figures ]]; then
  printf '#!/bin/sh\nexec env GAUSSWEEP_FAULT_CHANGE= "%s" "$@"\n' "$build/gaussweep_faulty" >"$out/other"
  chmod +x "$out/other"
  if command -v nvidia-smi >/dev/null; then
    nvidia-smi --query-gpu=name,driver_version,clocks.sm --format=csv,noheader >>"$out/table.txt"
  fi
  # Short runs come first, so that each kind has results if the time runs out.
  for ((i = 1; i <= runs; ++i)); do run "short$i" gaussweep short.yaml; done
  for ((i = 1; i <= runs; ++i)); do
    run "changed-none$i" gaussweep_faulty changed.yaml
    if ((i > 4)); then continue; fi
    for change in work=1.03 work=1.05 launches=2 waits=1; do
      run "changed-$change-$i" gaussweep_faulty changed.yaml "$change"
    done
  done
  duet same0 ''
  duet one0 work=1.01
  for ((i = 1; i <= runs; ++i)); do run "noise$i" gaussweep noise.yaml; done
  for ((i = 1; i <= 10; ++i)); do
    for turn in 1 2 3 4; do duet "same$i-$turn" ''; done
    duet "one$i" work=1.01
  done
fi

python3 - "$build/gaussweep" "$out" <<'P' | tee "$out/figures.txt" || broken=1
import collections, itertools, json, pathlib, re, subprocess, sys
program, out = sys.argv[1], pathlib.Path(sys.argv[2])

def output_of(*arguments):
    """Returns the JSON output of gaussweep, and whether it found a regression."""
    done = subprocess.run([program, *map(str, arguments), "--format", "json"], capture_output=True, text=True)
    if done.returncode not in (0, 4):
        raise SystemExit(f"FAILED: {arguments}: {done.stderr}")
    return json.loads(done.stdout), done.returncode == 4

def files(name):
    found = [f for f in (out / "runs").glob("*.h5") if re.fullmatch(name + r"\d+", f.stem)]
    return sorted(found, key=lambda f: int(re.search(r"\d+$", f.stem).group()))

for plan in ("short", "noise", "changed-none"):
    pairs = list(itertools.permutations(files(plan), 2))
    alarms = [(a.stem, b.stem, result["regressions"]) for a, b in pairs for result, is_alarm in [output_of("compare", a, b)] if is_alarm]
    print(f"{plan}: {len(alarms)} of {len(pairs)} ordered pairs without a change have a regression")
    for alarm in alarms[:10]:
        print("  ", *alarm)
bases = files("changed-none")
for change in ("work=1.03", "work=1.05", "launches=2", "waits=1"):
    counts, ends = collections.defaultdict(collections.Counter), collections.Counter()
    for base, new in itertools.product(bases, files(f"changed-{change}-")):
        result, is_alarm = output_of("compare", base, new, "--all")
        ends[is_alarm] += 1
        for trial in result["trials"]:
            parameters = json.loads(trial["parameters"]) if isinstance(trial.get("parameters"), str) else trial
            kind = " ".join(f"{k}={parameters[k]}" for k in ("steps", "launches", "waits") if k in parameters)
            counts[f"{trial['precision']} n={trial['n']} {kind}"][trial["verdict"] + (f" ({trial['reason']})" if trial["reason"] else "")] += 1
    print(f"{change}: {ends[True]} of {sum(ends.values())} pairs have a regression")
    for kind, verdicts in sorted(counts.items()):
        print(f"   {kind}: {', '.join(f'{count} {verdict}' for verdict, count in verdicts.most_common())}")
nights = files("changed-work=1.03-")[:3]
if len(bases) >= 6 and len(nights) == 3:
    series = output_of("trend", *bases[-9:], *nights)[0]["series"]
    print(f"3 % within three nights: {sum(bool(s['steps']) for s in series)} of {len(series)} trials are found by trend")
for kind in ("same", "one"):
    folders, different, trials = sorted((out / "duets").glob(kind + "*")), collections.Counter(), collections.Counter()
    alarms = 0
    for folder in folders:
        result, is_alarm = output_of("compare", folder / "base.h5", folder / "new.h5", "--all")
        alarms += is_alarm
        for trial in result["trials"]:
            category = ("changed" if "fault_changed" in trial["method"] and kind == "one" else "unchanged") + (
                "" if trial["base_median"] >= 1e-4 else ", below 100 us")
            trials[category] += 1
            different[category] += trial["verdict"] in ("SLOWER", "FASTER")
    print(f"duets, {'1 % slower' if kind == 'one' else 'identical'}: {alarms} of {len(folders)} have a regression")
    for category in sorted(trials):
        print(f"   {category}: {different[category]} of {trials[category]} trials are called different")
P
exit "$broken"
