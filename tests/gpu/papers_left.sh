# Sourced by tests/gpu_bars.sh: the papers' experiments that were not run to their end on a GPU yet, as they fit into minutes. Uses
# its build, backend, work, out and `on`. shellcheck shell=bash disable=SC2154

# paper_plan STEP FILE: a plan of jobs/plans/papers/, without stored matrices, with fewer samples and sizes; an error where a change of it
# finds nothing to change
paper_plan() {
  local base edit change=() quick=(-e 's/^repeats: .*/repeats: 1/' -e 's/^warmup: .*/warmup: 0/')
  case $1 in
    paper_figure_6_2) base=fuhrmann_figure_6_2 change=(-e 's/^repeats: .*/repeats: 1\nstages: never/') ;;
    paper_figure_6_3) base=fuhrmann_figure_6_3 change=("${quick[@]}" -e '1i stages: never' -e 's/500:5500:1000/500:2500:1000/') ;;
    paper_figure_6_4)
      base=fuhrmann_figure_6_4 change=("${quick[@]}" -e '1i stages: never' -e 's/cuda: 5500/cuda: 2500/' \
        -e 's/\[1, 2, 3, 4, 5, 6.*132\]/[1, 2, 4, 6, 8, 10, 12, 14, 32, 64, 132]/') ;;
    paper_figure_6_5) base=fuhrmann_figure_6_5 change=("${quick[@]}" -e '1i stages: never' -e 's/cuda: 5500/cuda: 2500/') ;;
    paper_figure_6_6) # what is left of it: beyond 2500
      base=fuhrmann_figure_6_6 change=("${quick[@]}" -e '1i stages: never' -e 's/500:5500:1000/3500:4500:1000/') ;;
    paper_table_6_1) # 8 blocks, which are left
      base=fuhrmann_table_6_1 change=("${quick[@]}" -e '1i stages: never\nwarmup: 0' -e 's/\[900:1500:100.*4500\], emu/[900, 1200, 1500, 2500, 3600, 4500], emu/' \
        -e 's/\[900, 1500, 2500, 3600, 4500\]/900/') ;;
    paper_table_1_7)
      base=cejka_table_1_7 change=("${quick[@]}" -e '1i stages: never\nwarmup: 0' -e 's/160, 800, 1600, 8000, 16000, 24000/160, 1600, 8000, 16000/' \
        -e 's/tile: \[32, 16\]/tile: 32/') ;;
    paper_24000)
      base=cejka_table_1_7 change=("${quick[@]}" -e '1i stages: never\nwarmup: 0' -e 's/^inner_repeats: 10/inner_repeats: 2/' -e 's/\[160.*24000\]/24000/' \
        -e 's/tile: \[32, 16\]/tile: 32/') ;;
    # What is left of three plans.
    paper_figure_5_4) base=soriano_figure_5_4 change=(-e 's/^repeats: 5/repeats: 3/' -e 's/256:16384:\*2, 1000, 3000, 6001/8192/' -e 's/\[2048, 8192\]/8192/') ;;
    paper_figure_5_10) base=soriano_figure_5_10 change=(-e 's/^repeats: 5/repeats: 3/' -e 's/256:8192:\*2, 1000, 3000, 6001/6001, 8192/') ;;
    paper_figure_5_15) base=soriano_figure_5_15 change=(-e 's/^repeats: 5/repeats: 3/' -e 's/256:8192:\*2, 3000/3000, 4096, 8192/') ;;
    paper_transfer) base=triangular_transfer change=(-e 's/nrhs: \[1, 64\]/nrhs: 1/') ;;
    paper_transfer_64) base=triangular_transfer change=(-e 's/nrhs: \[1, 64\]/nrhs: 64/' -e 's/, 4096, 8192\]/]/' -e 's/^repeats: 5/repeats: 2/') ;;
    paper_accuracy) base=cejka_accuracy ;;
    paper_verification) base=fuhrmann_verification change=(-e '1i stages: never' -e 's/512, 1500\]/512]/') ;;
    paper_restoration) # what is left of it: 64, 256, and 1024 in float
      base=soriano_restoration change=(-e 's/1024, 4096\]/1024]/' -e 's/\[{method: gauss_seidel}\]/[{method: gauss_seidel}, {n: 1024, precision: double}]/' \
        -e 's/^    max_iterations: 300/&\n    exclude: [{n: 1024, precision: double}]/') ;;
    paper_occupancy) # launch by launch, under the profiler
      printf '%s\n' 'precision: [float]' 'repeats: 1' 'warmup: 0' 'stages: never' 'store: never' 'matrix: {kind: triangular, seed: 1}' \
        'sweep:' '  - {problem: trtri, method: gets, n: {cuda: 1024, emulated: 64}, threads: 512}' >"$2"
      return ;;
  esac
  for edit in "${change[@]}"; do
    [[ $edit == -e || " ${quick[*]} " == *" $edit "* ]] && continue # `quick` may find what it wants there already
    if sed -e "$edit" "jobs/plans/papers/$base.yaml" | cmp -s - "jobs/plans/papers/$base.yaml"; then
      echo "$base.yaml has nothing for $edit" >&2
      return 1
    fi
  done
  { echo 'store: never'; sed "${change[@]}" -e '' "jobs/plans/papers/$base.yaml"; } >"$2"
}

# paper_restorations PRODUCTS GPU FOLDER: Soriano's route, analytic or by n^3 products, through his methods and the library; 64 x 64 pixels
paper_restorations() {
  local products=$1 gpu=$2 folder=$3 image=$work/shapes_$1.png method formula=regularised options=() status=0
  [[ $products == gemm ]] && formula=paper options=(--gemm gemm/shared)
  local methods=(poinv/cholesky_gets poinv/cusolver poinv/gauss_seidel geinv/gauss_jordan) width=64
  [[ $backend == emulated ]] && methods=(poinv/cholesky_gets poinv/lapack) width=12 # more takes minutes there
  python3 -B tests/gpu/png_of.py jobs/plans/data/shapes_64.pgm "$image" "$width" || return 1
  for method in "${methods[@]}"; do
    on "$gpu" timeout 25 "$build/gaussweep" restore --image "$image" --psf gaussian --sigma 1.5 --noise gaussian:8 --lambda 0.01 --precision float \
      --method "$method" --products "$products" --formula "$formula" "${options[@]}" --backend "$backend" \
      -o "$folder/${method//\//_}" --format csv || status=$?
  done
  return $status
}

# paper_occupancies GPU FOLDER PLAN: achieved occupancy of Soriano's GETS kernel over its launches (Figure 5.11), which are counted from 1.
# One run of the profiler, which takes some 90 ms for a launch that it passes over: n = 1024, of whose launches those are looked at that stand
# where he read his off at 4096 (there 180 s were enough for 2 and 1024).
paper_occupancies() {
  local gpu=$1 folder=$2 plan=$3 launches=(2 256 512 768 875 960 1008 1022) said rows numbers
  command -v ncu >/dev/null || { echo "there is no ncu"; return 1; }
  mkdir -p "$folder"
  numbers=$(IFS='|'; echo "${launches[*]}")
  said=$(on "$gpu" timeout 180 ncu --target-processes all --csv --kernel-id "::regex:eliminate:^($numbers)\$" \
    --metrics sm__warps_active.avg.pct_of_peak_sustained_active,gpu__time_duration.sum \
    "$build/gaussweep" run "$plan" -o "$work/profiled" --backend "$backend" 2>&1) || { echo "$said"; return 1; }
  rows=$(grep '^"[0-9]' <<<"$said") || { echo "no row of ncu, which said:"; echo "$said"; return 1; }
  awk -F'"' -v launches="${launches[*]}" 'BEGIN {split(launches, of, " ")} {print of[$2 + 1] "," $0}' <<<"$rows" >"$folder/occupancy.csv"
}
