#pragma once
/// Fills the static shared memory of emulated kernels with NaN (all bits set), for tests. Otherwise static
/// shared memory keeps the previous block's values. Tests would then miss reads of elements that the block
/// has not written.

#include <cstddef>
#include <map>
#include <vector>

namespace gaussweep::emulated::simt {

/// A `__shared__` array.
struct StaticArray {
  unsigned char* data;
  std::size_t bytes;
};

/// Makes all later launches fill static shared memory with NaN before every block. `arrays` are the static
/// arrays of all kernels, several megabytes together. To save time, only the arrays that an earlier launch of
/// the same kernel wrote are filled before a block. The other arrays still contain NaN from before.
void fill_static_shared(std::vector<StaticArray> arrays);

namespace detail {

/// The arrays of fill_static_shared. Between launches all contain NaN.
class StaticShared {
 public:
  void set(std::vector<StaticArray> arrays);
  /// Fills the arrays that the kernel is known to write.
  void begin_block(const void* kernel);
  /// Finds further arrays that the launch wrote, and fills all arrays that the kernel writes. The search
  /// takes place only after the first launches of a kernel.
  void end_launch(const void* kernel);

 private:
  /// The arrays that a kernel is known to write, and the number of its launches.
  struct WrittenArrays {
    std::vector<StaticArray> arrays;
    int launches = 0;
  };
  std::vector<StaticArray> all_;
  std::map<const void*, WrittenArrays> by_kernel_;
};

}  // namespace detail
}  // namespace gaussweep::emulated::simt
