#!/usr/bin/env bash
# Tests that jobs/setup.sh names exactly the missing packages, and how to get those that it cannot install. Small stand-in
# programs at the front of PATH simulate the machine. Also tests that the users' first scripts refuse unknown arguments
# before they do anything, and which files the contributors' scripts check.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
failed=0

# stand_in NAME: makes a stand-in program; standard input is its body.
stand_in() {
  { echo '#!/bin/sh'; cat; } >"$stage/$1"
  chmod +x "$stage/$1"
}
# expect WHAT CODE TEXT… -- ARGUMENT…: runs setup.sh with the stand-ins and checks its exit code and output.
expect() {
  local what=$1 code=$2 text exit_code output
  shift 2
  local -a texts=()
  while [[ $1 != -- ]]; do texts+=("$1"); shift; done
  shift
  output=$(PATH="$stage:$PATH" jobs/setup.sh "$@" 2>&1)
  exit_code=$?
  if [[ $exit_code -ne $code ]]; then
    echo "setup_test.sh: $what: exit code $exit_code, wanted $code"
    failed=1
  fi
  for text in "${texts[@]}"; do
    if [[ "$output" != *"$text"* ]]; then
      echo "setup_test.sh: $what: '$text' is not in: $output"
      failed=1
    fi
  done
}

# All packages except cmake and h5py are installed.
stand_in dpkg-query <<'BODY'
for name in "$@"; do
  case $name in
    -*) ;;
    cmake | python3-h5py) missing=1 ;;
    *) echo "installed $name" ;;
  esac
done
exit ${missing:-0}
BODY
stand_in apt-get <<'BODY'
echo "apt-get $*" >>"$(dirname "$0")/called"
exit 100
BODY
stand_in id <<'BODY'
echo 1000
BODY
expect "not root" 2 "missing: cmake python3-h5py" "not root" "apt-get install --no-install-recommends cmake python3-h5py" --
expect "only a check" 2 "missing: cmake python3-h5py" -- --check
[[ ! -e $stage/called ]] || { echo "setup_test.sh: apt-get was called where nothing could be installed"; failed=1; }

stand_in id <<'BODY'
echo 0
BODY
expect "installation fails" 1 "could not install: cmake python3-h5py" --
grep -q '^apt-get update' "$stage/called" || { echo "setup_test.sh: the lists were not fetched before giving up"; failed=1; }

rm "$stage/called"
stand_in dpkg-query <<'BODY'
for name in "$@"; do case $name in -*) ;; *) echo "installed $name" ;; esac; done
BODY
expect "all there" 0 "packages are installed" --
[[ ! -e $stage/called ]] || { echo "setup_test.sh: apt-get was called though all was there"; failed=1; }
expect "unknown option" 2 "unknown option '--quick'" "--for-tests" -- --quick

# refuse TEXT SCRIPT ARGUMENT…: expects that the script refuses the arguments with exit code 2 and this text.
refuse() {
  local text=$1 exit_code output
  shift
  output=$(PATH="$stage:$PATH" "$@" 2>&1)
  exit_code=$?
  if [[ $exit_code -ne 2 || $output != *"$text"* ]]; then
    echo "setup_test.sh: $*: exit code $exit_code, wanted 2 and '$text': $output"
    failed=1
  fi
}
refuse "-n needs a number of ranks" jobs/quickstart.sh -n
refuse "-n needs a number of ranks" jobs/quickstart.sh -n 0
refuse "-o needs a directory" jobs/quickstart.sh -o
refuse "allowed: -o DIR, -n RANKS" jobs/quickstart.sh --ranks 2
refuse "allowed: --all, --unit" tests/run.sh --quick
refuse "unknown module 'analysis'" tests/run.sh --unit analysis
refuse "unexpected argument 'io'" tests/run.sh --all io
refuse "OUT first" jobs/restoration.sh --method poinv/lapack

# style_test.sh also checks new files that git does not know yet, except ignored ones.
mkdir "$stage/tree" "$stage/tree/tests"
cp tests/style_test.sh "$stage/tree/tests"
for name in new ignored; do printf 'TO%s\n' 'DO' >"$stage/tree/$name.md"; done
echo 'ignored*' >"$stage/tree/.gitignore"
git -C "$stage/tree" init --quiet
output=$("$stage/tree/tests/style_test.sh" 2>&1)
if [[ $output != *"new.md:1"* || $output == *"ignored.md"* ]]; then
  echo "setup_test.sh: style_test.sh in a tree with new files: $output"
  failed=1
fi

# portable_compile.sh compiles with CUDA 13 if CUDA 11.8 cannot be installed, and fails.
stand_in nvcc <<'BODY'
while [ "$1" != -o ]; do shift; done
echo object >"$2"
BODY
output=$(PATH="$stage:$PATH" XDG_CACHE_HOME="$stage" CCACHE_DISABLE=1 tests/portable_compile.sh kernels/gemm/direct.cu 2>&1)
exit_code=$?
if [[ $exit_code -ne 1 || $output != *"cuda-13:"*"ok"*"NO CUDA 11.8"* ]]; then
  echo "setup_test.sh: portable_compile.sh without CUDA 11.8: exit code $exit_code: $output"
  failed=1
fi

if ((failed)); then exit 1; fi
echo "setup_test.sh: ok"
