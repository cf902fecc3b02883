/// Reads matrices of HDF5 and MATLAB files in a child process, which sends the result through a pipe.

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

#include "io/files/child_reader.hpp"
#include "io/matrix/matrix_file.hpp"
#include "io/matrix/matrix_market.hpp"

namespace gaussweep::io {
namespace {

constexpr double matrix_seconds_per_mib = 0.2;  // time limit; allows for a slow file system and decompression

/// The result of matrix_info.
struct Description {
  MatrixInfo info;
  std::string sha256;
};

/// Visits every text and number of a description except its attributes, in the order in which they are sent
/// and received.
template <class Each>
void each_member(Description& description, const Each& each) {
  MatrixInfo& info = description.info;
  for (std::string* text : {&description.sha256, &info.format, &info.dataset, &info.field, &info.symmetry})
    each(*text);
  for (std::int64_t* number : {&info.rows, &info.cols, &info.stored_entries}) each(*number);
}

void put_description(ChildOutput& out, Description& description) {
  each_member(description, [&](const auto& value) { out.put(value); });
  out.put(static_cast<std::int64_t>(description.info.attributes.size()));
  for (const auto& [name, value] : description.info.attributes) {
    out.put(name);
    out.put(value);
  }
}

/// Receives the members of a description.
struct MemberReader {
  Child& in;
  void operator()(std::string& text) const { text = in.text(); }
  void operator()(std::int64_t& number) const { number = in.integer(); }
};

Description get_description(Child& in) {
  Description description;
  each_member(description, MemberReader{in});
  for (std::int64_t remaining = in.integer(); remaining > 0; --remaining) {
    std::string name = in.text();
    description.info.attributes[std::move(name)] = in.text();
  }
  return description;
}

constexpr std::size_t message_elements = std::size_t{1} << 20;  // elements per message

/// Returns the memory of elements that are no longer needed to the system, in whole pages.
void release_pages(double* elements, std::size_t count) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = (reinterpret_cast<std::uintptr_t>(elements) + page - 1) / page * page;
  const auto end = reinterpret_cast<std::uintptr_t>(elements + count) / page * page;
  if (begin < end) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

/// Sends a matrix and frees the memory of elements that were sent, so that a large matrix is not in memory
/// twice.
void put_matrix(ChildOutput& out, Dense<double>& matrix) {
  out.put(matrix.rows);
  out.put(matrix.cols);
  for (std::size_t offset = 0; offset < matrix.data.size(); offset += message_elements) {
    const std::size_t count = std::min(message_elements, matrix.data.size() - offset);
    out.put(matrix.data.data() + offset, count * sizeof(double));
    release_pages(matrix.data.data() + offset, count);
  }
}

Dense<double> get_matrix(Child& in) {
  Dense<double> matrix;
  matrix.rows = in.integer();
  matrix.cols = in.integer();
  const auto element_count = static_cast<std::size_t>(matrix.rows * matrix.cols);
  matrix.data.reserve(element_count);
  while (matrix.data.size() < element_count) {
    const std::size_t offset = matrix.data.size();
    matrix.data.resize(offset +
                       std::min(message_elements, element_count - offset));  // pages are allocated only now
    in.get(matrix.data.data() + offset, (matrix.data.size() - offset) * sizeof(double));
  }
  return matrix;
}

}  // namespace

MatrixInfo matrix_info_in_child(const std::filesystem::path& path, const DatasetChoice& dataset,
                                std::string* sha256, double extra_seconds) {
  if (!needs_hdf5(path)) return matrix_info(path, dataset, sha256);
  Description description = read_in_child(
      extra_seconds + matrix_seconds_per_mib * mib_of(path), path.string() + ": ", "",
      [&] {
        Description read;
        read.info = matrix_info(path, dataset, sha256 != nullptr ? &read.sha256 : nullptr);
        return read;
      },
      put_description, get_description);
  if (sha256 != nullptr) *sha256 = std::move(description.sha256);
  return std::move(description.info);
}

MatrixSize matrix_size_in_child(const std::filesystem::path& path, const DatasetChoice& dataset,
                                double extra_seconds) {
  if (!needs_hdf5(path) && is_matrix_market(path)) return matrix_market_size(path);
  const MatrixInfo info = matrix_info_in_child(path, dataset, nullptr, extra_seconds);
  return {info.rows, info.cols};
}

Dense<double> import_matrix_in_child(const std::filesystem::path& path, const DatasetChoice& dataset,
                                     double extra_seconds) {
  if (!needs_hdf5(path)) return import_matrix(path, dataset);
  // A compressed file may be much smaller than its matrix. The time limit therefore depends on the larger of
  // both.
  const MatrixInfo info = matrix_info_in_child(path, dataset, nullptr, extra_seconds);
  const double mib = static_cast<double>(info.stored_entries) * sizeof(double) / 0x1p20;
  return read_in_child(
      extra_seconds + matrix_seconds_per_mib * std::max(mib, mib_of(path)), path.string() + ": ", "",
      [&] { return import_matrix(path, dataset); }, put_matrix, get_matrix);
}

}  // namespace gaussweep::io
