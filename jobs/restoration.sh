#!/usr/bin/env bash
# Repeats Soriano's six restorations (chapter 6 of his thesis, docs/papers.md). One image is blurred or sharpened, each
# without noise, with salt and pepper noise, and with gaussian noise. Three more cases have the same noises and a motion blur.
#
#   jobs/restoration.sh OUT [IMAGE] [OPTION…]
#
#   OUT      a new directory with one folder per restoration; analysis/report OUT shows them as one page
#   IMAGE    PNG or PGM (default: jobs/plans/data/shapes_64.pgm)
#   OPTION…  options of every gaussweep restore, e.g. --method poinv/cholesky_gets --precision float --backend cuda
#
# GAUSSWEEP names the program (default: build/gaussweep). Exit code: the largest one of the gaussweep restore calls.
set -uo pipefail
jobs=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
gaussweep=${GAUSSWEEP:-$jobs/../build/gaussweep}

if [[ $# -lt 1 || $1 == -h || $1 == --help ]]; then
  sed -n '2,/^set -/{/^#/s/^# \{0,1\}//p}' "$0"
  [[ $# -ge 1 ]] && exit 0 || exit 2
fi
if [[ $1 == -* ]]; then
  echo "restoration.sh: give the new directory OUT first, then options" >&2
  exit 2
fi
out=$1
shift
image=$jobs/plans/data/shapes_64.pgm
if [[ $# -gt 0 && $1 != -* ]]; then
  image=$1
  shift
fi
if ! command -v "$gaussweep" >/dev/null; then
  echo "restoration.sh: no program $gaussweep; build it (README.md), or name it by GAUSSWEEP" >&2
  exit 2
fi
if [[ -e $out ]]; then
  echo "restoration.sh: $out exists; give the name of a new directory" >&2
  exit 2
fi

# name | point-spread function | noise | regularisation parameter lambda. More noise or a stronger blur needs a larger lambda.
cases=(
  "blurred_none          |--psf gaussian --sigma 1.5|none            |1e-6"
  "blurred_salt_pepper   |--psf gaussian --sigma 1.5|salt_pepper:0.05|0.1"
  "blurred_gaussian      |--psf gaussian --sigma 1.5|gaussian:8      |0.01"
  "sharpened_none        |--psf sharpen --amount 1  |none            |1e-4"
  "sharpened_salt_pepper |--psf sharpen --amount 1  |salt_pepper:0.05|1e-3"
  "sharpened_gaussian    |--psf sharpen --amount 1  |gaussian:8      |1e-3"
  "motion_none           |--psf motion --length 7   |none            |1e-6"
  "motion_salt_pepper    |--psf motion --length 7   |salt_pepper:0.05|0.1"
  "motion_gaussian       |--psf motion --length 7   |gaussian:8      |0.03"
)
mkdir -p "$out" || exit 3
worst=0
for line in "${cases[@]}"; do
  IFS='|' read -r name psf noise lambda <<<"$line"
  name=${name// /}
  read -ra psf_options <<<"$psf"
  table=$("$gaussweep" restore --image "$image" "${psf_options[@]}" --noise "${noise// /}" --lambda "$lambda" \
    -o "$out/$name" --format csv "$@")
  code=$?
  if [[ $code -gt $worst ]]; then worst=$code; fi
  # 2 is a usage error, which all other restorations would repeat.
  if [[ $code -eq 2 ]]; then exit 2; fi
  if [[ -z $table ]]; then continue; fi
  if [[ ! -s $out/table.csv ]]; then echo "case,${table%%$'\n'*}" >"$out/table.csv"; fi
  echo "$name,${table#*$'\n'}" >>"$out/table.csv"
done

[[ -s $out/table.csv ]] || exit "$worst"
# MSE and PSNR use levels of 0 to 255 that are neither rounded nor clipped.
awk -F, '
  { gsub(/\r/, "") }
  NR == 1 { for (i = 1; i <= NF; ++i) column[$i] = i; print_row("CASE", "LAMBDA", "MSE DEGRADED", "MSE RESTORED", "PSNR DEGRADED", "PSNR RESTORED", "STATUS"); next }
  { print_row($1, $column["lambda"], sprintf("%.4g", $column["mse_degraded"]), sprintf("%.4g", $column["mse_restored"]),
              sprintf("%.2f", $column["psnr_degraded"]), sprintf("%.2f", $column["psnr_restored"]), $column["status"]) }
  function print_row(a, b, c, d, e, f, g) { printf "%-22s %8s %13s %13s %14s %14s  %s\n", a, b, c, d, e, f, g }
' "$out/table.csv"
exit "$worst"
