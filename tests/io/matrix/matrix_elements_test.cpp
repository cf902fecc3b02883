// The elements of the store, written past HDF5, as HDF5 itself reads them.

#include "io/matrix/matrix_file.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>

#include "tests/io/matrix/matrix_samples.hpp"

namespace gaussweep::io {
namespace {

class MatrixElements : public MatrixFolder {
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

TEST_F(MatrixElements, OfEveryShape) {
  const auto mixed = [](std::size_t i) { return (i + 1) * 0x9e3779b97f4a7c15ull >> 2; };
  round_trip(1, 1, mixed);
  round_trip(1, 300000, mixed);
  round_trip(300000, 1, mixed);
  round_trip(4096, 128, mixed);   // exactly the part of one thread
  round_trip(4096, 129, mixed);   // and a little of the next
  round_trip(3000, 2500, mixed);  // several pieces
}

}  // namespace
}  // namespace gaussweep::io
