// The chunks of the store, as HDF5 itself reads them: its filter takes the checksums again.

#include "io/matrix/matrix_file.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>

#include "tests/io/matrix/matrix_samples.hpp"

namespace gaussweep::io {
namespace {

class MatrixChunks : public MatrixFolder {
 protected:
  /// Written and read back, its elements by `bits(place)`.
  template <class Bits>
  void round_trip(std::int64_t rows, std::int64_t cols, Bits&& bits) {
    StoredMatrix<double> whole;
    whole.a = {rows, cols, std::vector<double>(static_cast<std::size_t>(rows * cols))};
    for (std::size_t i = 0; i < whole.a.data.size(); ++i) {
      const std::uint64_t word = bits(i);
      std::memcpy(&whole.a.data[i], &word, sizeof word);
    }
    write_matrix(folder() / "m.h5", whole);
    const StoredMatrix<double> back = read_matrix<double>(folder() / "m.h5");
    ASSERT_EQ(back.a.data.size(), whole.a.data.size());
    EXPECT_EQ(std::memcmp(back.a.data.data(), whole.a.data.data(), 8 * whole.a.data.size()), 0)
        << rows << " x " << cols;
  }
};

// Where the sums are 0, or a multiple of what they are taken modulo, the checksum could be either.
TEST_F(MatrixChunks, ChecksumsAreHdf5sAtTheEdgesOfTheirRange) {
  round_trip(300, 300, [](std::size_t) { return 0ull; });
  round_trip(300, 300, [](std::size_t) { return ~0ull; });
  round_trip(1, 1, [](std::size_t) { return 0xffffull; });
  round_trip(1, 2, [](std::size_t i) { return i == 0 ? 0ull : 0x0100ull; });
  round_trip(40, 40, [](std::size_t i) { return i == 7 ? 0xfeffull : (i == 1500 ? 0x0100ull : 0ull); });
}

TEST_F(MatrixChunks, OfEveryShape) {
  const auto mixed = [](std::size_t i) { return (i + 1) * 0x9e3779b97f4a7c15ull >> 2; };
  round_trip(1, 1, mixed);
  round_trip(1, 300000, mixed);
  round_trip(300000, 1, mixed);  // more rows than a chunk holds, and no whole number of chunks
  round_trip(131072, 5, mixed);  // exactly one chunk a column
  round_trip(131073, 3, mixed);
  round_trip(1000, 1300, mixed);  // several pieces of several chunks
  round_trip(3000, 2500, mixed);
}

}  // namespace
}  // namespace gaussweep::io
