#!/usr/bin/env bash
# Tests batches of small systems on one GPU: the tests, compute-sanitizer at small orders, then gaussweep's own methods against the vendor's
# by jobs/plans/vendor_batched.yaml. OUT has each result as soon as it exists; `figures` computes the figures again.
#   tests/gpu/batched.sh BUILD OUT [--minutes M] [--plan FILE] [--backend B]     default: 9 minutes, auto
#   tests/gpu/batched.sh BUILD OUT figures
# OUT/table.txt: a line per step; OUT/figures.txt: the table, geometric means, verification times against samples. Exit code: 1 if a step failed.
set -uo pipefail
[[ $# -ge 2 ]] || { sed -n '2,7p' "$0"; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
build=$(realpath "$1") out=$(realpath -m "$2") minutes=9 plan=$here/../../jobs/plans/vendor_batched.yaml backend=auto only_figures=''
shift 2
while (($#)); do
  case $1 in
    --minutes) minutes=$2; shift ;;
    --plan) plan=$2; shift ;;
    --backend) backend=$2; shift ;;
    figures) only_figures=yes ;;
    *) sed -n '2,7p' "$0"; exit 2 ;;
  esac
  shift
done
end=$(awk -v now="$EPOCHREALTIME" -v minutes="$minutes" 'BEGIN { printf "%d", now + 60 * minutes }')
mkdir -p "$out"
failed=0
# step NAME SECONDS COMMAND…: runs the command for at most SECONDS, with its output in OUT/NAME.txt
step() {
  local name=$1 seconds=$2 began=$EPOCHREALTIME code left=$((end - EPOCHSECONDS))
  shift 2
  ((left < seconds)) && seconds=$left
  ((seconds > 0)) || { echo "$name: no time left" | tee -a "$out/table.txt"; failed=1; return; }
  timeout "$seconds" "$@" >"$out/$name.txt" 2>&1
  code=$?
  ((code == 0)) || failed=1
  awk -v name="$name" -v code="$code" -v began="$began" -v now="$EPOCHREALTIME" \
    'BEGIN { printf "%s: exit %d, %.1f s\n", name, code, now - began }' | tee -a "$out/table.txt"
}

if [[ -z $only_figures ]]; then
  if command -v nvidia-smi >/dev/null; then
    nvidia-smi --query-gpu=name,driver_version,clocks.sm --format=csv,noheader >>"$out/table.txt"
  fi
  step tests 100 "$build/tests/gpu_tests" --gtest_filter='BatchOnGpu*:*batched*' --gtest_brief=1
  # The figures come before the sanitizers, so that they exist if the time runs out.
  rm -rf "$out/run"
  step run 300 "$build/gaussweep" run "$plan" -o "$out/run" --backend "$backend"
  if command -v compute-sanitizer >/dev/null; then
    for tool in memcheck racecheck; do
      step "$tool" 60 env GAUSSWEEP_SMALL=1 compute-sanitizer --tool "$tool" --error-exitcode 9 "$build/tests/gpu_tests" \
        --gtest_filter='BatchOnGpu.EverySystemIsRight' --gtest_brief=1
    done
  else
    echo "compute-sanitizer: not found" | tee -a "$out/table.txt"
  fi
fi

"$build/gaussweep" export "$out/run" --format csv >"$out/records.csv" || failed=1
python3 - "$out/records.csv" <<'P' | tee "$out/figures.txt" || failed=1
import csv, math, sys

def number(record, column):
    return float(record.get(column) or "nan")

sets, own_records = {}, []
for record in csv.DictReader(open(sys.argv[1])):
    if not number(record, "seconds_median") > 0:
        print("no time:", record["problem"], record["method"], record["n"], record["status"], record["message"])
        continue
    sizes = tuple(int(record[key]) for key in ("n", "batch", "nrhs"))
    side = "own" if record["method"] == "batched" else "vendor"
    sets.setdefault((record["problem"], record["precision"], *sizes, record["matrix"]), {}).setdefault(side, []).append(record)
    if side == "own":
        own_records.append(record)
time = lambda record: number(record, "seconds_median")
gains = {}
for key, sides in sorted(sets.items()):
    problem, precision, n, batch, nrhs, matrix = key
    for record in sorted(sides.get("own", []), key=time):
        bytes_ = 2 * n * n * batch * (8 if precision == "double" else 4)
        line = "%-5s %-6s n %3d, batch %6d, nrhs %2d, %s, kernel %s: %8.3f ms, %8.3f M/s, %.1f times the floor" % (
            problem, precision, n, batch, nrhs, matrix, record.get("parameter_kernel", ""), time(record) * 1e3, batch / time(record) * 1e-6,
            time(record) / (bytes_ / 4.2e12))
        if "vendor" in sides:
            best = min(sides["vendor"], key=time)
            line += ", %.2f times as fast as %s (%.3f ms), ratio %s against %s" % (
                time(best) / time(record), best["method"], time(best) * 1e3, record["residual_ratio"], best["residual_ratio"])
        print(line + ("" if record["status"] == "pass" else ", " + record["status"].upper()))
    kind = matrix.split()[0].split(":")[0]
    usual = precision == "double" and nrhs == 1 and (kind.startswith("uniform") or kind.startswith("spd"))
    autos = [r for r in sides.get("own", []) if r.get("parameter_kernel", "auto") in ("", "auto")]
    if usual and autos and "vendor" in sides and int(autos[0]["samples"]) >= 7:
        gains.setdefault(problem, {})[n] = min(map(time, sides["vendor"])) / min(map(time, autos))
wanted = {"gesv": 3, "posv": 3, "getrf": 2, "potrf": 2, "geinv": 4}
for problem, by_order in sorted(gains.items()):
    values = by_order.values()
    print("%s: geometric mean %.2f times the vendor's speed (wanted: %s), least %.2f at n = %d, over n = %s" % (
        problem, math.exp(sum(map(math.log, values)) / len(values)), wanted.get(problem, "-"), min(values),
        min(by_order, key=by_order.get), ", ".join(map(str, sorted(by_order)))))
shares = sorted(((number(r, "verify_seconds") / (time(r) * int(r["samples"])), r["problem"], int(r["n"])) for r in own_records), reverse=True)
print("the judge over the samples, worst:", ", ".join("%s n %d %.2f" % (p, n, s) for s, p, n in shares[:5]))
P
exit "$failed"
