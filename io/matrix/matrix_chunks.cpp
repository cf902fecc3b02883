#include "io/matrix/matrix_chunks.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "io/files/shared_out.hpp"

#if !H5_VERSION_GE(1, 10, 3)
#error "gaussweep needs HDF5 1.10.3 or later: earlier ones have no H5Dwrite_chunk"
#endif
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "chunks are written as they lie in memory");

namespace gaussweep::io {
namespace {

constexpr hsize_t chunk_bytes = 1 << 20;
constexpr std::size_t piece_bytes = std::size_t{24} << 20;
constexpr std::size_t checksum_bytes = 4;

template <class T>
hid_t file_type() {
  return sizeof(T) == 4 ? H5T_IEEE_F32LE : H5T_IEEE_F64LE;
}

/// The sums are below 65536 and stand for themselves modulo 65535; where anything was added, 0 is 65535.
std::uint32_t reduced(std::uint64_t sum) {
  return sum == 0 ? 0 : static_cast<std::uint32_t>((sum - 1) % 65535 + 1);
}

/// A chunk as it stands in the file: its elements, zeros beyond the matrix's edge, its checksum.
template <class T>
void fill_chunk(const DenseView<T>& matrix, std::int64_t first_row, std::int64_t first_col,
                std::int64_t chunk_rows, std::int64_t chunk_cols, std::vector<char>& out) {
  const auto column_bytes = static_cast<std::size_t>(chunk_rows) * sizeof(T);
  const std::size_t bytes = column_bytes * static_cast<std::size_t>(chunk_cols);
  out.resize(bytes + checksum_bytes);
  const std::int64_t rows = std::min(chunk_rows, matrix.rows - first_row);
  const auto used = static_cast<std::size_t>(rows) * sizeof(T);
  for (std::int64_t j = 0; j < chunk_cols; ++j) {
    char* to = out.data() + static_cast<std::size_t>(j) * column_bytes;
    const bool inside = first_col + j < matrix.cols;
    if (inside) std::memcpy(to, matrix.data + first_row + (first_col + j) * matrix.rows, used);
    std::memset(to + (inside ? used : 0), 0, column_bytes - (inside ? used : 0));
  }
  const std::uint32_t sum = fletcher32(out.data(), bytes);
  std::memcpy(out.data() + bytes, &sum, checksum_bytes);
}

}  // namespace

std::array<hsize_t, 2> chunk_of(std::int64_t rows, std::int64_t cols, std::size_t element_bytes) {
  const hsize_t elements = chunk_bytes / element_bytes;
  const hsize_t chunk_rows = std::min(static_cast<hsize_t>(rows), elements);
  return {std::clamp<hsize_t>(elements / chunk_rows, 1, static_cast<hsize_t>(cols)), chunk_rows};
}

std::uint32_t fletcher32(const void* data, std::size_t bytes) {
  // Fletcher's sums over 16-bit words, high byte first: of the words, and of the sums of the words so far.
  constexpr std::size_t block = 128;
  std::uint64_t sum = 0, sums = 0;
  const char* next = static_cast<const char*>(data);
  std::size_t words = bytes / 2;
  while (words > 0) {
    const std::size_t count = std::min(words, block);
    std::uint16_t held[block];
    std::memcpy(held, next, 2 * count);
    std::uint32_t own = 0, weighted = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const auto word = static_cast<std::uint16_t>(held[i] << 8 | held[i] >> 8);
      own += word;
      weighted += static_cast<std::uint32_t>(count - i) * word;
    }
    sums += count * sum + weighted;
    sum += own;
    next += 2 * count;
    words -= count;
  }
  return reduced(sums) << 16 | reduced(sum);
}

template <class T>
void write_dense(hid_t file, const std::string& name, const DenseView<T>& matrix,
                 const BetweenWrites& between) {
  const hsize_t dims[2] = {static_cast<hsize_t>(matrix.cols), static_cast<hsize_t>(matrix.rows)};
  const std::array<hsize_t, 2> chunk = chunk_of(matrix.rows, matrix.cols, sizeof(T));
  const h5::Space space(H5Screate_simple(2, dims, nullptr), "make a space for " + name);
  const h5::Properties properties(H5Pcreate(H5P_DATASET_CREATE), "make dataset properties");
  h5::check(H5Pset_chunk(properties, 2, chunk.data()), "set chunks of " + name);
  h5::check(H5Pset_fletcher32(properties), "set the checksum of " + name);
  const h5::Dataset dataset(
      H5Dcreate2(file, name.c_str(), file_type<T>(), space, H5P_DEFAULT, properties, H5P_DEFAULT),
      "create " + name);

  std::vector<std::array<hsize_t, 2>> places;
  for (hsize_t col = 0; col < dims[0]; col += chunk[0]) {
    for (hsize_t row = 0; row < dims[1]; row += chunk[1]) places.push_back({col, row});
  }
  const std::size_t bytes = chunk[0] * chunk[1] * sizeof(T);
  const std::size_t together = std::clamp<std::size_t>(piece_bytes / bytes, 1, places.size());
  std::vector<std::vector<char>> chunks(together);
  for (std::size_t begin = 0; begin < places.size(); begin += together) {
    const std::size_t count = std::min(together, places.size() - begin);
    const std::size_t threads = count * bytes < chunk_bytes ? 1 : std::min(count, sharing_threads());
    share_out(threads, [&](std::size_t thread) {
      for (std::size_t i = thread; i < count; i += threads) {
        const auto& [col, row] = places[begin + i];
        fill_chunk(matrix, static_cast<std::int64_t>(row), static_cast<std::int64_t>(col),
                   static_cast<std::int64_t>(chunk[1]), static_cast<std::int64_t>(chunk[0]), chunks[i]);
      }
    });
    for (std::size_t i = 0; i < count; ++i) {
      h5::check(H5Dwrite_chunk(dataset, H5P_DEFAULT, 0, places[begin + i].data(), chunks[i].size(),
                               chunks[i].data()),
                "write " + name);
    }
    if (between) between(WriteStep::piece);
  }
  h5::write_attribute(dataset, "column_major", 1LL);
}

template void write_dense(hid_t, const std::string&, const DenseView<float>&, const BetweenWrites&);
template void write_dense(hid_t, const std::string&, const DenseView<double>&, const BetweenWrites&);

}  // namespace gaussweep::io
