#!/usr/bin/env bash
# Installs the packages that gaussweep needs to be built, run and tested, by name, from Debian 12.
#
#   jobs/setup.sh [--for-tests] [--check]
#
#   --for-tests  also install the packages that only the tests need (tests/run.sh needs them)
#   --check      install nothing, list the missing packages
#
# Exit codes: 0 all packages are installed, 1 the installation failed, 2 packages are missing and this script cannot
# install them (not root, or no apt). The message then names the missing packages and the command to install them.
# If all packages are installed, the script calls dpkg once and fetches no package list.
set -euo pipefail

# One line per package: its Debian name, then a probe. On systems without dpkg a package counts as installed if its probe, a
# command, a header or a Python module, exists.
packages_to_build_and_run=(
  "build-essential     command:g++"
  "cmake               command:cmake"
  "ninja-build         command:ninja"
  "ccache              command:ccache"
  "libopenmpi-dev      command:mpicc"
  "openmpi-bin         command:mpirun"
  "libhdf5-dev         header:hdf5.h"
  "hdf5-tools          command:h5dump"
  "libyaml-cpp-dev     header:yaml-cpp/yaml.h"
  "libcli11-dev        header:CLI/CLI.hpp"
  "libspdlog-dev       header:spdlog/spdlog.h"
  "libfmt-dev          header:fmt/core.h"
  "nlohmann-json3-dev  header:nlohmann/json.hpp"
  "libopenblas-dev     header:cblas.h"
  "liblapacke-dev      header:lapacke.h"
  "libboost-context-dev header:boost/context/fiber.hpp"
  "libssl-dev          header:openssl/sha.h"
  "libpng-dev          header:png.h"
  "libnetpbm-dev       header:netpbm/pgm.h"
  "libsqlite3-dev      header:sqlite3.h"
  "libgtest-dev        header:gtest/gtest.h"
  "libgmock-dev        header:gmock/gmock.h"
  "python3-h5py        module:h5py"
  "python3-numpy       module:numpy"
  "python3-matplotlib  module:matplotlib"
  "python3-pandas      module:pandas"
)
# g++-11 is the host compiler of CUDA 11.8 (tests/cuda11_toolchain.sh). The tests use git to list the tracked files, and
# clang-format, shellcheck, black and flake8 to check their style. jsonschema validates plans against the editors' schema.
# The Slurm tests start their own small cluster; the gateway for MATLAB and Octave is built and tested with Octave.
# The report is tested in a headless Chromium, and its figures with LaTeX (pgf is in texlive-pictures). Test programs in
# Fortran and C, built with pkg-config, call the library.
packages_for_tests=(
  "g++-11              command:g++-11"
  "clang-format-14     command:clang-format-14"
  "git                 command:git"
  "shellcheck          command:shellcheck"
  "black               command:black"
  "flake8              command:flake8"
  "slurm-wlm           command:slurmctld"
  "munge               command:munged"
  "python3-jsonschema  module:jsonschema"
  "python3-yaml        module:yaml"
  "octave              command:octave-cli"
  "octave-dev          command:mkoctfile"
  "chromium-driver     command:chromedriver"
  "python3-selenium    module:selenium"
  "texlive-pictures    command:pdflatex"
  "gfortran            command:gfortran"
  "pkg-config          command:pkg-config"
)

for_tests=false
check_only=false
for argument in "$@"; do
  case "$argument" in
    --for-tests) for_tests=true ;;
    --check) check_only=true ;;
    -h | --help) sed -n '2,/^set -/{/^#/s/^# \{0,1\}//p}' "$0"; exit 0 ;;
    *) echo "setup.sh: unknown option '$argument'; allowed: --for-tests, --check, --help" >&2; exit 2 ;;
  esac
done

packages=("${packages_to_build_and_run[@]}")
if $for_tests; then packages+=("${packages_for_tests[@]}"); fi
names=()
probes=()
for line in "${packages[@]}"; do
  read -r name probe <<<"$line"
  names+=("$name")
  probes+=("$probe")
done

# has_header NAME: returns true if g++ finds the header. Also looks in CPATH and in Debian's folders for HDF5 and OpenBLAS.
has_header() {
  local folder
  local -a folders=(-I/usr/include/hdf5/serial -I/usr/include/openblas)
  for folder in ${CPATH:+${CPATH//:/ }}; do folders+=("-I$folder"); done
  command -v g++ >/dev/null && printf '#include <%s>\n' "$1" | g++ -std=c++17 "${folders[@]}" -E -x c++ - >/dev/null 2>&1
}

# is_installed PROBE: returns true if the command, header or Python module exists.
is_installed() {
  case "$1" in
    command:*) command -v "${1#command:}" >/dev/null ;;
    header:*) has_header "${1#header:}" ;;
    module:*) "${PYTHON:-python3}" -c "import ${1#module:}" 2>/dev/null ;;
  esac
}

missing=()
# Sets `missing` to the packages that are not installed.
find_missing() {
  missing=()
  local i
  if command -v dpkg-query >/dev/null; then
    local installed
    # dpkg-query fails if it does not know one of the names; its output is valid nevertheless.
    installed=" $( (dpkg-query -W -f='${db:Status-Status} ${Package}\n' "${names[@]}" 2>/dev/null || true) \
      | awk '$1 == "installed" {print $2}' | tr '\n' ' ')"
    for i in "${!names[@]}"; do
      [[ "$installed" == *" ${names[$i]} "* ]] || missing+=("${names[$i]}")
    done
  else
    for i in "${!names[@]}"; do
      is_installed "${probes[$i]}" || missing+=("${names[$i]} (${probes[$i]/:/ })")
    done
  fi
}

find_missing
if [[ ${#missing[@]} -eq 0 ]]; then
  echo "setup.sh: all ${#names[@]} packages are installed"
  exit 0
fi

fail_missing() {
  {
    echo "setup.sh: missing: ${missing[*]}"
    echo "setup.sh: $1"
  } >&2
  exit 2
}
if ! command -v apt-get >/dev/null; then
  fail_missing "this system has no apt-get; install the equivalents of these Debian packages with its package manager or modules"
fi
how="as root: apt-get update && apt-get install --no-install-recommends ${missing[*]}"
if $check_only; then fail_missing "$how"; fi
if [[ $(id -u) -ne 0 ]]; then fail_missing "not root; $how"; fi

echo "setup.sh: installing ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
install() { apt-get install -y -qq --no-install-recommends "${missing[@]}" </dev/null; }
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# Try the existing package lists first; fetch them if they are absent or outdated.
if ! install >"$log" 2>&1; then
  if ! { apt-get update -qq && install; } >>"$log" 2>&1; then
    tail -n 40 "$log" >&2
    echo "setup.sh: apt-get could not install: ${missing[*]}" >&2
    exit 1
  fi
fi
find_missing
if [[ ${#missing[@]} -ne 0 ]]; then
  echo "setup.sh: still missing after the installation: ${missing[*]}" >&2
  exit 1
fi
echo "setup.sh: all ${#names[@]} packages are installed"
