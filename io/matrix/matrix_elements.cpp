/// Writes the elements of stored matrices on several threads, and computes the file's seal.

#include "io/matrix/matrix_elements.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "io/files/errors.hpp"
#include "io/files/parallel_for.hpp"
#include "io/matrix/file_seal.hpp"

namespace gaussweep::io {
namespace {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "elements are written as they lie in memory");

// Elements are written in blocks, to which each thread contributes `step_bytes`. A caller that wants the
// write to pause waits for the current block to end. This takes some milliseconds, because writes to one file
// are serialised.
constexpr std::size_t step_bytes = std::size_t{512} << 10;
constexpr std::size_t grain_bytes = std::size_t{4} << 10;  // size and alignment of holes in the file

/// Returns the type of elements in the file.
template <class T>
hid_t file_type() {
  return sizeof(T) == 4 ? H5T_IEEE_F32LE : H5T_IEEE_F64LE;
}

/// Writes all bytes. @return 0, or errno
int write_fully(int fd, const char* data, std::size_t bytes, off_t offset) {
  while (bytes > 0) {
    const ssize_t written = pwrite(fd, data, bytes, offset);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return written < 0 ? errno : ENOSPC;
    data += written;
    offset += written;
    bytes -= static_cast<std::size_t>(written);
  }
  return 0;
}

/// Returns true if all bytes are 0: the first one is, and each one equals its successor.
bool is_zero(const char* data, std::size_t bytes) {
  return data[0] == 0 && std::memcmp(data, data + 1, bytes - 1) == 0;
}

/// The result of writing one thread's part of a block.
struct Part {
  SealSum sum;
  int error = 0;  ///< errno, or 0
};

/// Writes a part, except for grains (ranges of `grain_bytes`) that are zero. They become holes in the file,
/// which read as zeros, so that a triangle of zeros needs neither space nor time. @pre the file has no data
/// at this offset yet
Part write_part(int fd, const ElementRange& part) {
  static const SealSum zeros = [] {
    const std::vector<char> grain(grain_bytes);
    SealSum sum;
    sum.add(grain.data(), grain.size());
    return sum;
  }();
  Part done;
  const auto grain_size_at = [&](std::size_t at) { return std::min(grain_bytes, part.bytes - at); };
  const auto is_zero_grain_at = [&](std::size_t at) { return is_zero(part.data + at, grain_size_at(at)); };
  for (std::size_t at = 0; at < part.bytes && done.error == 0;) {
    if (grain_size_at(at) == grain_bytes && is_zero_grain_at(at)) {
      done.sum.add(zeros);
      at += grain_bytes;
      continue;
    }
    std::size_t end = at + grain_size_at(at);
    while (end < part.bytes && !is_zero_grain_at(end)) end += grain_size_at(end);
    done.sum.add(part.data + at, end - at);
    done.error = write_fully(fd, part.data + at, end - at, part.begin + static_cast<off_t>(at));
    at = end;
  }
  return done;
}

/// Writes one block, in parts of step_bytes on several threads. @return the block's checksum
SealSum write_block(int fd, const ElementRange& block) {
  std::vector<Part> parts((block.bytes + step_bytes - 1) / step_bytes);
  parallel_for(parts.size(), [&](std::size_t i) {
    const std::size_t begin = i * step_bytes, bytes = std::min(step_bytes, block.bytes - begin);
    parts[i] = write_part(fd, {block.begin + static_cast<off_t>(begin), block.data + begin, bytes});
  });
  SealSum sum;
  for (const Part& part : parts) {
    if (part.error != 0) throw StorageError(std::string("cannot be written: ") + std::strerror(part.error));
    sum.add(part.sum);
  }
  return sum;
}

}  // namespace

template <class T>
ElementRange create_dense(hid_t file, const std::string& name, const DenseView<T>& matrix) {
  const hsize_t dims[2] = {static_cast<hsize_t>(matrix.cols), static_cast<hsize_t>(matrix.rows)};
  const h5::Space space(H5Screate_simple(2, dims, nullptr), "make a space for " + name);
  const h5::Properties properties(H5Pcreate(H5P_DATASET_CREATE), "make dataset properties");
  h5::check(H5Pset_layout(properties, H5D_CONTIGUOUS), "set the layout of " + name);
  // Early allocation fixes the dataset's offset in the file. HDF5 writes no fill values, because
  // write_elements sets all elements.
  h5::check(H5Pset_alloc_time(properties, H5D_ALLOC_TIME_EARLY), "set the allocation time of " + name);
  h5::check(H5Pset_fill_time(properties, H5D_FILL_TIME_NEVER), "switch off the filling of " + name);
  const h5::Dataset dataset(
      H5Dcreate2(file, name.c_str(), file_type<T>(), space, H5P_DEFAULT, properties, H5P_DEFAULT),
      "create " + name);
  h5::write_attribute(dataset, "column_major", 1LL);
  const haddr_t offset = H5Dget_offset(dataset);
  if (offset == HADDR_UNDEF) throw h5::Error("HDF5 reports no file offset for " + name);
  return {static_cast<off_t>(offset), reinterpret_cast<const char*>(matrix.data),
          static_cast<std::size_t>(dims[0] * dims[1] * sizeof(T))};
}

std::string write_elements(int fd, const std::vector<ElementRange>& ranges, const WriteCallback& between) {
  const std::size_t block_bytes = step_bytes * parallel_threads();
  SealSum sum;
  auto end = static_cast<off_t>(seal_bytes);
  for (const ElementRange& range : ranges) {
    sum.add(sum_of_file(fd, end, range.begin));
    for (std::size_t done = 0; done < range.bytes; done += block_bytes) {
      const std::size_t bytes = std::min(block_bytes, range.bytes - done);
      sum.add(write_block(fd, {range.begin + static_cast<off_t>(done), range.data + done, bytes}));
      if (between) between(WriteStep::block);
    }
    end = range.begin + static_cast<off_t>(range.bytes);
  }
  struct stat file_status {};
  if (fstat(fd, &file_status) != 0)
    throw StorageError(std::string("its size cannot be read: ") + std::strerror(errno));
  if (file_status.st_size < end) throw StorageError("it is shorter than its elements");
  sum.add(sum_of_file(fd, end, file_status.st_size));
  return sum.seal();
}

template ElementRange create_dense(hid_t, const std::string&, const DenseView<float>&);
template ElementRange create_dense(hid_t, const std::string&, const DenseView<double>&);

}  // namespace gaussweep::io
