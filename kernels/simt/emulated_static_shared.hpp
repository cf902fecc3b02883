#pragma once
/// Static shared memory of emulated kernels, which keeps the values of the previous block. For tests it is
/// filled with NaN (all bits set), so that reads of memory that no thread wrote become visible.

#include <cstddef>
#include <map>
#include <vector>

namespace gaussweep::emulated::simt {

/// A `__shared__` array.
struct StaticArray {
  unsigned char* data;
  std::size_t bytes;
};

/// Fills static shared memory for every block of all later launches. `arrays`: those of all kernels. They
/// have megabytes together, so a block fills only arrays that an earlier launch of its kernel wrote. The
/// others are filled since then, or since this call.
void fill_static_shared(std::vector<StaticArray> arrays);

namespace detail {

/// The arrays of fill_static_shared. All are filled between launches.
class StaticShared {
 public:
  void set(std::vector<StaticArray> arrays);
  /// Fills the arrays that the kernel is known to write.
  void begin_block(const void* kernel);
  /// Searches the arrays that the launch wrote, and fills them. Only the first launches of a kernel are
  /// searched.
  void end_launch(const void* kernel);

 private:
  struct Written {
    std::vector<StaticArray> arrays;
    int launches = 0;
  };
  std::vector<StaticArray> all_;
  std::map<const void*, Written> by_kernel_;
};

}  // namespace detail
}  // namespace gaussweep::emulated::simt
