// Tests that HDF5 reads the elements of the store, which are written without HDF5.

#include "io/matrix/matrix_file.hpp"
#include "tests/io/matrix/matrix_samples.hpp"
#include "tests/testing.hpp"

namespace gaussweep::io {
namespace {

class MatrixElements : public MatrixFolder {
 protected:
  /// Writes and reads a matrix whose element bits are `bits(index)`.
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

TEST_F(MatrixElements, EveryShape) {
  const auto mixed = [](std::size_t i) { return (i + 1) * 0x9e3779b97f4a7c15ull >> 2; };
  round_trip(1, 1, mixed);
  round_trip(1, 300000, mixed);
  round_trip(300000, 1, mixed);
  round_trip(4096, 128, mixed);   // exactly the elements of one thread
  round_trip(4096, 129, mixed);   // a little more
  round_trip(3000, 2500, mixed);  // several pieces
}

TEST_F(MatrixElements, AlternatingZerosAndNonzeros) {
  const auto elements = [](std::size_t bytes) { return bytes / sizeof(double); };
  for (const std::size_t run : {elements(2 << 10), elements(4 << 10), elements(10 << 10)}) {
    const auto in_turn = [&](std::size_t i) { return i / run % 2 == 0 ? i + 1 : 0; };
    round_trip(512, 513, in_turn);
    round_trip(1, 300001, in_turn);
    round_trip(512, 513, [&](std::size_t i) { return in_turn(i + run); });
  }
  round_trip(1000, 1000, [](std::size_t) { return 0; });
  round_trip(1000, 1000, [](std::size_t i) { return std::uint64_t{i == 999999}; });
  round_trip(1000, 1000, [](std::size_t i) { return std::uint64_t{i == 0}; });
}

TEST_F(MatrixElements, ZerosTakeNoSpace) {
  const auto disk_bytes = [&] {
    struct stat facts {};
    EXPECT_EQ(stat((folder() / "m.h5").c_str(), &facts), 0);
    return 512 * static_cast<std::int64_t>(facts.st_blocks);
  };
  std::ofstream(folder() / "hole").put('\0');
  std::filesystem::resize_file(folder() / "hole", 8 << 20);
  struct stat hole {};
  ASSERT_EQ(stat((folder() / "hole").c_str(), &hole), 0);
  if (512 * static_cast<std::int64_t>(hole.st_blocks) >= 8 << 20) GTEST_SKIP() << "files have no holes here";
  const std::int64_t rows = 65536, columns = 16, whole = rows * columns * 8;
  const auto element = [&](std::size_t i, bool is_nonzero) { return is_nonzero ? i + 1 : 0; };
  const auto row = [&](std::size_t i) { return static_cast<std::int64_t>(i) % rows; };
  const auto zeros = [&](std::size_t i) { return static_cast<std::int64_t>(i) / rows * (rows / columns); };
  round_trip(rows, columns, [&](std::size_t i) { return element(i, row(i) >= zeros(i)); });
  EXPECT_LE(disk_bytes(), whole * 6 / 10);
  round_trip(rows, columns, [&](std::size_t i) { return element(i, row(i) <= zeros(i)); });
  EXPECT_LE(disk_bytes(), whole * 6 / 10);
}

}  // namespace
}  // namespace gaussweep::io
