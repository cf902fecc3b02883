/// Fills the static shared memory of emulated kernels with NaN (all bits set), for tests.

#include "kernels/simt/emulated_static_shared.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

namespace gaussweep::emulated::simt::detail {
namespace {

constexpr int filler = 0xff;
constexpr int searched_launches = 8;  ///< all arrays are searched after each of a kernel's first 8 launches

void fill(const std::vector<StaticArray>& arrays) {
  for (const StaticArray& array : arrays) std::memset(array.data, filler, array.bytes);
}
/// Returns true if a byte of the array differs from the filler.
bool is_written(const StaticArray& array) {
  return array.data[0] != filler || std::memcmp(array.data, array.data + 1, array.bytes - 1) != 0;
}

}  // namespace

void StaticShared::set(std::vector<StaticArray> arrays) {
  all_ = std::move(arrays);
  by_kernel_.clear();
  fill(all_);
}

void StaticShared::begin_block(const void* kernel) {
  if (!all_.empty()) fill(by_kernel_[kernel].arrays);
}

void StaticShared::end_launch(const void* kernel) {
  if (all_.empty()) return;
  WrittenArrays& written = by_kernel_[kernel];
  fill(written.arrays);
  if (written.launches++ >= searched_launches) return;
  const std::size_t known_arrays = written.arrays.size();
  std::copy_if(all_.begin(), all_.end(), std::back_inserter(written.arrays), is_written);
  if (written.arrays.size() > known_arrays) fill(written.arrays);
}

}  // namespace gaussweep::emulated::simt::detail
