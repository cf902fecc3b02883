#!/usr/bin/env bash
# Makes a CUDA 11.8 toolchain in a separate folder, to compile for Kepler (sm_35) and Maxwell (sm_52), which
# newer toolkits do not support. Unpacks Debian's non-free packages without installing them, and changes neither
# the system's package sources nor its packages.
#
#   tests/cuda11_toolchain.sh [FOLDER]      default: ${XDG_CACHE_HOME:-$HOME/.cache}/gaussweep/cuda-11.8
#
# The last printed line is the path of a script `nvcc` that compiles with g++-11 as host compiler. Next to it is
# FOLDER/toolkit with the layout of NVIDIA's toolkit, for CMake (-DCUDAToolkit_ROOT). It has no shared libraries, because
# the program loads those of the machine on which it runs.
# About 860 MB are fetched once; a stamp file makes later calls fast. Needs apt, dpkg and g++-11, not root.
set -euo pipefail

folder=${1:-${XDG_CACHE_HOME:-$HOME/.cache}/gaussweep/cuda-11.8}
layout=1  # increased when the output of this script changes, so that older folders are made again
stamp=$folder/stamp
packages=(nvidia-cuda-toolkit nvidia-cuda-dev libthrust-dev libcub-dev libcu++-dev)

fail() {
  echo "cuda11_toolchain.sh: $*" >&2
  exit 1
}

# Makes the toolkit's folder, if it is incomplete: links to the unpacked files, and nvcc by its script.
make_toolkit() {
  local usr=$folder/root/usr toolkit=$folder/toolkit
  if [[ -f $toolkit/whole ]]; then return; fi
  rm -rf "$toolkit"
  mkdir -p "$toolkit/bin" "$toolkit/lib64"
  ln -s "$usr"/bin/* "$toolkit/bin"
  cp --remove-destination "$folder/nvcc" "$toolkit/bin/nvcc"  # no link, because CMake follows links
  ln -s "$usr/include" "$toolkit/include"
  ln -s "$usr/lib/nvidia-cuda-toolkit" "$toolkit/nvvm"
  ln -s "$usr"/lib/x86_64-linux-gnu/*.a "$toolkit/lib64"
  ln -s libcudart_static.a "$toolkit/lib64/libcudart.a"
  touch "$toolkit/whole"
}

if [[ -f $stamp && $(cat "$stamp") == "$layout" && -x $folder/nvcc && -f $folder/toolkit/whole ]]; then
  echo "$folder/nvcc"
  exit 0
fi
for tool in apt-get dpkg g++-11; do
  command -v "$tool" >/dev/null || fail "needs $tool (jobs/setup.sh --for-tests installs g++-11; the rest is Debian's)"
done
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
# The lock is needed because two concurrent runs would unpack over each other.
exec 9>"$folder/lock"
flock 9
if [[ -f $folder/stamp && $(cat "$folder/stamp") == "$layout" && -x $folder/nvcc ]]; then
  make_toolkit
  echo "$folder/nvcc"
  exit 0
fi

apt=$folder/apt
rm -rf "$folder/root" "$folder/deb" "$apt"
mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$folder/deb"
# Uses the system's own mirror, from which it takes Debian's main component. apt reports it even before the first
# update.
release=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
mirror=$(apt-get -o "Dir::State::Lists=$apt/lists" update --print-uris \
  | sed -n "s|^'\(.*\)/dists/$release/main/binary-.*|\1|p")
mirror=${mirror%%$'\n'*}
[[ -n $release && -n $mirror ]] || fail "apt's sources name no mirror of Debian's main component"
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
[[ -f $keyring ]] || fail "needs $keyring (package debian-archive-keyring)"

echo "deb [signed-by=$keyring] $mirror $release main contrib non-free" >"$apt/sources.list"
options=(-qq -o "Dir::Etc::sourcelist=$apt/sources.list" -o Dir::Etc::sourceparts=- -o "Dir::State::Lists=$apt/lists"
  -o "Dir::Cache=$apt/cache" -o Acquire::Languages=none -o APT::Sandbox::User=root
  -o APT::Update::Post-Invoke::= -o APT::Update::Post-Invoke-Success::=)

echo "cuda11_toolchain.sh: fetching CUDA 11.8 (about 860 MB) into $folder" >&2
apt-get "${options[@]}" update >&2 || fail "could not read the package lists of $release non-free"
(cd "$folder/deb" && apt-get "${options[@]}" download "${packages[@]}" >&2) || fail "could not fetch ${packages[*]}"
version=$(dpkg-deb -f "$folder"/deb/nvidia-cuda-toolkit_*.deb Version)
[[ $version == 11.8.* ]] || fail "$release has CUDA $version; 11.8 is needed (Debian 12)"
root=$folder/root
for package in "$folder"/deb/*.deb; do
  dpkg -x "$package" "$root"
  rm -f "$package"
done
rm -rf "$folder/deb" "$apt"
# The vendor's static libraries are nine tenths of the unpacked files, and nothing here links them.
find "$root/usr/lib" -name '*_static*.a' ! -name 'libcudart_static.a' -delete

# nvcc finds its parts by nvcc.profile, a link to a file with absolute paths in /usr/lib; they are replaced by our
# paths.
bin=$root/usr/lib/nvidia-cuda-toolkit/bin
rm -f "$bin/nvcc.profile"
sed "s|/usr/lib|$root/usr/lib|g" "$root/etc/nvcc.profile" >"$bin/nvcc.profile"
cat >"$folder/nvcc" <<SCRIPT
#!/bin/sh
PATH="$bin:$root/usr/bin:\$PATH" exec "$bin/nvcc" -ccbin g++-11 -I "$root/usr/include" "\$@"
SCRIPT
chmod +x "$folder/nvcc"

# Checks that it compiles for both architectures.
trial=$(mktemp -d)
trap 'rm -rf "$trial"' EXIT
cat >"$trial/scale.cu" <<'CODE'
#include <cuda_runtime.h>
template <class T>
__global__ void scale(T* x, T factor, int n) {
  __shared__ T tile[32];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) tile[threadIdx.x % 32] = x[i];
  __syncthreads();
  if (i < n) x[i] = factor * tile[threadIdx.x % 32];
}
template __global__ void scale<float>(float*, float, int);
template __global__ void scale<double>(double*, double, int);
CODE
"$folder/nvcc" -std=c++17 -Wno-deprecated-gpu-targets -gencode arch=compute_35,code=sm_35 \
  -gencode arch=compute_52,code=sm_52 -c "$trial/scale.cu" -o "$trial/scale.o" >&2 \
  || fail "the toolchain in $folder was made, but does not compile"
rm -rf "$folder/toolkit"
make_toolkit
echo "$layout" >"$folder/stamp"
echo "$folder/nvcc"
