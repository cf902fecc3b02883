#!/usr/bin/env bash
# On a machine with GPUs: measures what is still to be shown there, and says of each line whether it was.
#
#   tests/gpu_bars.sh BUILD PLANS OUT [--steps NAME[:RUNS],…] [--seconds S] [--gpus N] [--backend cuda|emulated]
#
# BUILD: a build folder with gaussweep and gpu_tests. PLANS: a folder with night.yaml, big.yaml and noise.yaml.
# OUT: made; OUT/runs/NAME is the run directory of each run (no matrices), OUT/NAME.log what it said, OUT/bars.txt the lines.
#   --steps    which, in this order; `--steps list` names them with their seconds. Default: all
#   --seconds  for all of it (default 540): a run that does not fit into what is left is left out, which is said
#   --gpus     how many (default: those there are, at most 4)
#   --backend  emulated: to try this script where no GPU is
# Steps that are timed run alone on the machine, a GPU each with its share of the cores. Those marked `beside` that follow
# each other share the machine: each takes the next GPU that is free, and that GPU's cores.
set -uo pipefail
tree=$(realpath "$(dirname "${BASH_SOURCE[0]}")/..")
usage() { sed -n '2,13p' "$tree/tests/gpu_bars.sh"; }
wrong() { echo "gpu_bars.sh: $*" >&2; exit 2; }

# step | alone or beside | GPUs (many: all) | runs | seconds a run is expected to take | bound in seconds | plan
table='
noise|alone|1|5|14|40|PLANS/noise.yaml
busy|alone|1|1|30|60|PLANS/noise.yaml
night4|alone|many|3|28|60|PLANS/night.yaml
night1|alone|1|1|85|150|PLANS/night.yaml
small|alone|many|1|15|45|tests/benchmark/small_systems.yaml
suite|beside|1|1|200|280|
vendor_double|beside|1|1|200|280|
vendor_float|beside|1|1|100|180|
paper_figure_6_2|beside|1|1|60|140|
paper_24000|beside|1|1|60|120|
paper_table_6_1|beside|1|1|80|150|
paper_restore_analytic|beside|1|1|30|60|
paper_restore_gemm|beside|1|1|30|60|
paper_table_1_7|beside|1|1|60|120|
paper_figure_6_4|beside|1|1|80|150|
paper_figure_6_5|beside|1|1|30|90|
paper_figure_6_3|beside|1|1|45|90|
paper_figure_6_6|beside|1|1|100|150|
paper_transfer|beside|1|1|40|60|
paper_transfer_64|beside|1|1|40|60|
paper_accuracy|beside|1|1|40|60|
paper_verification|beside|1|1|60|90|
paper_occupancy|beside|1|1|120|180|
paper_restoration|beside|1|1|40|90|
paper_figure_5_15|beside|1|1|80|120|
paper_figure_5_10|beside|1|1|40|90|
paper_figure_5_4|beside|1|1|40|90|
big|alone|1|3|30|70|PLANS/big.yaml
order|beside|1|1|120|240|tests/benchmark/order_100000.yaml
writer|alone|1|2|14|40|PLANS/noise.yaml
thousand4|alone|many|1|60|200|tests/benchmark/thousand.yaml
thousand1|alone|1|1|120|300|tests/benchmark/thousand.yaml
'

seconds=540 backend=cuda gpus='' steps='' places=()
while (($#)); do
  case $1 in
    --steps | --seconds | --gpus | --backend) (($# > 1)) || wrong "$1 needs a value" ;;&
    --steps) steps=$2; shift ;;
    --seconds) seconds=$2; shift ;;
    --gpus) gpus=$2; shift ;;
    --backend) backend=$2; shift ;;
    --help) usage; exit 0 ;;
    -*) wrong "'$1' is none of --steps, --seconds, --gpus, --backend, --help" ;;
    *) places+=("$1") ;;
  esac
  shift
done
if [[ $steps == list ]]; then
  awk -F'|' 'NF > 5 {printf "%-24s %-7s %2d run(s) of about %3d s, at most %3d s\n", $1, $2, $4, $5, $6}' <<<"$table"
  exit 0
fi
((${#places[@]} == 3)) || { usage >&2; exit 2; }
[[ $seconds =~ ^[1-9][0-9]*$ ]] || wrong "--seconds $seconds: a whole number is wanted"
[[ $gpus =~ ^([1-9][0-9]*)?$ ]] || wrong "--gpus $gpus: a whole number is wanted"
[[ $backend =~ ^(cuda|emulated)$ ]] || wrong "--backend $backend: cuda or emulated is wanted"
build=$(realpath "${places[0]}") plans=$(realpath "${places[1]}") || exit 2
mkdir -p "${places[2]}/runs" && out=$(realpath "${places[2]}") || exit 2
for needed in "$build/gaussweep" "$plans/night.yaml" "$plans/big.yaml" "$plans/noise.yaml"; do
  [[ -e $needed ]] || wrong "there is no $needed"
done
cd "$tree" || exit 1
. tests/gpu/papers_left.sh
. jobs/mpi_environment.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
there=4
[[ $backend == emulated ]] || there=$({ nvidia-smi -L 2>/dev/null || true; } | grep -c '^GPU')
gpus=${gpus:-$((there > 4 ? 4 : there))}
((there > 0)) || wrong "there is no GPU; --backend emulated tries the script without one"
((gpus <= there)) || wrong "$there GPUs are there, $gpus are asked for"
share=$(($(nproc) / gpus)) end=$((SECONDS + seconds))
((share > 0)) || share=1

row_of() { grep "^$1|" <<<"$table"; }
say() { printf '%4d s  %s\n' "$SECONDS" "$*"; }
left() { echo $((end - SECONDS - 15)); } # a run that is ended takes some seconds for it
at_most() { echo $(($1 < $(left) ? $1 : $(left))); }
cores_of() { echo "$(($1 * share % $(nproc)))-$(($1 * share % $(nproc) + share - 1))"; }

# note NAME STEP GPUS PLACE CODE SECONDS: a line for bars.py
note() { local IFS=$'\t'; (flock 9; echo "$*" >>"$out/runs.tsv") 9>"$work/lock"; }

# keep NAME: the run directory without its matrices
keep() {
  [[ -d $work/$1 ]] || return 0
  find "$work/$1" -name matrices -prune -exec rm -rf {} +
  rm -rf "$out/runs/$1" && mv "$work/$1" "$out/runs/$1"
}

# on GPU COMMAND…: with this GPU alone and its share of the cores
on() {
  local gpu=$1
  shift
  if [[ $pinned == yes ]]; then set -- taskset -c "$(cores_of "$gpu")" "$@"; fi
  CUDA_VISIBLE_DEVICES=$gpu "$@"
}

# sweep GPU PLAN NAME BOUND: on one GPU, or on all where GPU is `all`, for BOUND seconds at most.
sweep() {
  local gpu=$1 plan=$2 name=$3 bound=$4
  # A time limit would keep back what is guessed not to fit into it.
  local command=("$build/gaussweep" run "$plan" -o "$work/$name" --backend "$backend" --grace 5)
  if [[ $gpu == all ]]; then
    timeout -s USR1 -k 15 "$bound" mpirun -n "$gpus" "${command[@]}" >"$out/$name.log" 2>&1
  else
    on "$gpu" timeout -s USR1 -k 15 "$bound" "${command[@]}" >"$out/$name.log" 2>&1
  fi
}

# neighbours BOUND: three work on the same plan on the other GPUs, over and over, until there is the file `quiet`
neighbours() {
  local i
  for i in 0 1 2; do
    until [[ -e $work/quiet ]]; do
      sweep $((1 + i % (gpus - 1))) "$plans/noise.yaml" "neighbour-$i" "$1" || true
      rm -rf "$work/neighbour-$i"
    done &
  done
  wait
}

# plan_of STEP: its plan; some are made here
plan_of() {
  local plan
  plan=$(row_of "$1" | cut -d'|' -f7)
  case $1 in
    writer) { echo 'store: never'; cat "$plans/noise.yaml"; } >"$work/writer.yaml"; plan=$work/writer.yaml ;;
    vendor_double)
      { echo 'store: never'; sed 's/^precision: .*/precision: double/' jobs/plans/vendor_solve.yaml; } >"$work/vendor_double.yaml"
      plan=$work/vendor_double.yaml ;;
    vendor_float) # only what is not in double alone
      { echo 'store: never'; sed -e 's/^precision: .*/precision: float/' -e '/^  # What float bears/,$d' jobs/plans/vendor_solve.yaml; } >"$work/vendor_float.yaml"
      plan=$work/vendor_float.yaml ;;
    paper_*) paper_plan "$1" "$work/$1.yaml"; plan=$work/$1.yaml ;;
  esac
  echo "${plan/#PLANS/$plans}"
}

# one STEP NAME GPU BOUND PLACE: a run of a step, and its line
one() {
  local step=$1 name=$2 gpu=$3 bound=$4 place=$5 begin code count=1 around=''
  [[ $gpu == all ]] && count=$gpus
  if [[ $step == busy ]] && ((gpus > 1)); then neighbours "$bound" & around=$!; sleep 6; fi
  begin=$(date +%s.%N)
  case $step in
    suite)
      (cd "$build" && on "$gpu" timeout -k 5 "$bound" ctest -L gpu -j 10 >"$out/suite.log" 2>&1) ;;
    paper_restore_*) paper_restorations "${step#paper_restore_}" "$gpu" "$work/$name" >"$out/$name.log" 2>&1 ;;
    paper_occupancy) paper_occupancies "$gpu" "$work/$name" "$(plan_of "$step")" >"$out/$name.log" 2>&1 ;;
    *) sweep "$gpu" "$(plan_of "$step")" "$name" "$bound" ;;
  esac
  code=$?
  note "$name" "$step" "$count" "$place" "$code" "$(date +%s.%N | awk -v begin="$begin" '{printf "%.3f", $1 - begin}')"
  if [[ -n $around ]]; then touch "$work/quiet"; pkill -TERM -f -- "-o $work/neighbour-" ; wait "$around"; rm "$work/quiet"; fi
  keep "$name"
  say "$name: exit code $code"
}

# left_out STEP[:RUNS] SECONDS: for want of time
left_out() {
  say "$1: left out, $(left) s are left and it takes about $2"
  (flock 9; echo "$1" >>"$work/left") 9>"$work/lock"
}

# beside GPU: takes the queue's steps one after the other, on its GPU
beside() {
  local gpu=$1 line step bound expected
  while line=$( (flock 9; head -n 1 "$work/queue"; sed -i 1d "$work/queue") 9>"$work/lock") && [[ -n $line ]]; do
    IFS='|' read -r step _ _ _ expected bound _ <<<"$line"
    if (($(left) < expected)); then left_out "$step" "$expected"; continue; fi
    one "$step" "$step-1" "$gpu" "$(at_most "$bound")" beside
  done
}
share_the_machine() {
  local gpu workers=()
  [[ -s $work/queue ]] || return 0
  for ((gpu = 0; gpu < gpus; ++gpu)); do beside "$gpu" & workers+=($!); done
  wait "${workers[@]}"
  : >"$work/queue"
}

[[ -n $steps ]] || steps=$(awk -F'|' 'NF > 5 {printf "%s%s", comma, $1; comma = ","}' <<<"$table")
for word in ${steps//,/ }; do
  [[ -n $(row_of "${word%:*}") ]] || wrong "'${word%:*}' is no step; --steps list names them"
  [[ $word =~ ^[^:]+(:[1-9][0-9]?)?$ ]] || wrong "'$word': after the colon stands how many runs"
done
: >"$out/runs.tsv" && : >"$work/queue"
{
  date -u; "$build/gaussweep" --version; nvidia-smi -L; nvidia-smi --query-gpu=persistence_mode --format=csv,noheader
  nproc; lscpu; free -g; df -h "$work"
} >"$out/machine.txt" 2>&1
say "$gpus GPUs, $share cores each, $seconds s"
pinned=yes
for ((gpu = 0; gpu < gpus; ++gpu)); do
  taskset -c "$(cores_of "$gpu")" true || { pinned=no; say "runs cannot be kept to their share of the cores: all have all of them"; break; }
done
# A GPU that nobody has open is shut down and started again by the next program, unless its driver is in persistence mode, as clusters have it.
for file in /dev/nvidia[0-9]*; do
  if [[ -r $file ]]; then exec {held}<"$file"; fi
done
# The first program on a machine reads CUDA's libraries from a cold disk: no step shall.
printf 'name: first\nrepeats: 1\nsweep:\n  - {problem: gesv, method: [cusolver, lapack], n: 64}\n' >"$work/first.yaml"
sweep all "$work/first.yaml" first 60 || say "the first run: exit code $?, see $out/first.log"
rm -rf "$work/first"
for word in ${steps//,/ }; do
  IFS='|' read -r step place wants runs expected bound _ <<<"$(row_of "${word%:*}")"
  [[ $word == *:* ]] && runs=${word#*:}
  if [[ $place == beside ]]; then row_of "$step" >>"$work/queue"; continue; fi
  share_the_machine
  gpu=0
  [[ $wants == many ]] && gpu=all
  for ((i = 1; i <= runs; ++i)); do
    if (($(left) < expected)); then left_out "$step:$((runs - i + 1))" "$expected"; break; fi
    one "$step" "$step-$i" "$gpu" "$(at_most "$bound")" alone
  done
done
share_the_machine
python3 -B tests/gpu/bars.py "$build/gaussweep" "$out" >"$out/bars.txt" 2>"$out/bars.log" || { cat "$out/bars.log" >&2; exit 1; }
find "$out/runs" -name journal.jsonl -exec gzip -f {} +
[[ -f $work/left ]] && echo "Left for another time: --steps $(paste -sd, "$work/left")" >>"$out/bars.txt"
cat "$out/bars.txt"
