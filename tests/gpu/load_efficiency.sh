#!/usr/bin/env bash
# Measures how efficiently Xia and Lee's elimination kernels load global memory, on a machine with a GPU and Nsight
# Compute, at n = 1024 in float (the order of their profile). Prints ncu's CSV lines for one launch per kernel, in the
# middle of the elimination: load efficiency (requested bytes / moved bytes), requests, sectors, and fractions of peak
# for memory and L2.
# Usage: tests/gpu/load_efficiency.sh BUILD [N]
set -euo pipefail
build=$1 n=${2:-1024}
metrics=smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct
metrics+=,l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum,l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum
metrics+=,dram__throughput.avg.pct_of_peak_sustained_elapsed,lts__throughput.avg.pct_of_peak_sustained_elapsed
metrics+=,gpu__time_duration.sum
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for method in gauss_jordan_global gauss_jordan_shared; do
  cat > "$work/plan.yaml" <<P
name: load-efficiency
precision: [float]
repeats: 1
warmup: 0
matrix: {kind: uniform, low: -1, high: 1, seed: 1}
sweep:
  - {problem: gesv, method: $method, n: $n}
P
  ncu --target-processes all --csv --kernel-name regex:eliminate --launch-skip $((n / 2)) --launch-count 1 --metrics "$metrics" \
    "$build/gaussweep" run "$work/plan.yaml" -o "$work/$method" --backend cuda > "$work/log" 2>&1 || { cat "$work/log"; exit 1; }
  grep '^"' "$work/log" || { cat "$work/log"; exit 1; }
done
