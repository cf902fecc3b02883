#!/usr/bin/env bash
# On a machine with a GPU and Nsight Compute: how well Xia and Lee's elimination kernels load global memory, at n = 1024
# in float (their profile). ncu's CSV lines of one launch a kernel, in the middle of the elimination: load efficiency (bytes
# asked for of those moved), requests, sectors, and the shares of the peaks of memory and L2.
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
