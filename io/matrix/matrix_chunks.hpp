#pragma once
/// Datasets of the matrix store, written a chunk at a time with checksums that several threads take: HDF5's
/// own filter takes them on one. For the .cpp files of `io/` only.

#include <array>
#include <cstdint>
#include <string>

#include "io/files/hdf5_handles.hpp"
#include "io/matrix/matrix_file.hpp"

namespace gaussweep::io {

/// Columns and rows of a chunk.
std::array<hsize_t, 2> chunk_of(std::int64_t rows, std::int64_t cols, std::size_t element_bytes);

/// The checksum that HDF5's filter "fletcher32" puts behind a chunk. @pre `bytes` is even, and at most 2 MiB
std::uint32_t fletcher32(const void* data, std::size_t bytes);

/// Column-major data: to HDF5, which is row-major, a dataset of (cols, rows). Chunked with a checksum.
/// @param between called between pieces (matrix_file.hpp) @throws h5::Error, and what `between` throws
template <class T>
void write_dense(hid_t file, const std::string& name, const DenseView<T>& matrix,
                 const BetweenWrites& between);

}  // namespace gaussweep::io
