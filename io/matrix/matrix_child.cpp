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

constexpr double matrix_seconds_per_mib = 0.2;  // allows for a slow file system and decompression

/// The result of matrix_info.
struct Description {
  MatrixInfo info;
  std::string sha256;
};

/// Visits every text and number of a description except its attributes, in the order in which they are sent
/// and received.
template <class Each>
void each_member(Description& what, const Each& each) {
  MatrixInfo& info = what.info;
  for (std::string* text : {&what.sha256, &info.format, &info.dataset, &info.field, &info.symmetry})
    each(*text);
  for (std::int64_t* number : {&info.rows, &info.cols, &info.stored_entries}) each(*number);
}

void put_description(ChildOutput& out, Description& what) {
  each_member(what, [&](const auto& value) { out.put(value); });
  out.put(static_cast<std::int64_t>(what.info.attributes.size()));
  for (const auto& [name, value] : what.info.attributes) {
    out.put(name);
    out.put(value);
  }
}

struct Taken {
  Child& in;
  void operator()(std::string& text) const { text = in.text(); }
  void operator()(std::int64_t& number) const { number = in.integer(); }
};

Description get_description(Child& in) {
  Description what;
  each_member(what, Taken{in});
  for (std::int64_t left = in.integer(); left > 0; --left) {
    std::string name = in.text();
    what.info.attributes[std::move(name)] = in.text();
  }
  return what;
}

constexpr std::size_t piece = std::size_t{1} << 20;  // elements per message

/// Returns whole pages of elements that are no longer needed to the system.
void forget(double* elements, std::size_t count) {
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
  for (std::size_t at = 0; at < matrix.data.size(); at += piece) {
    const std::size_t count = std::min(piece, matrix.data.size() - at);
    out.put(matrix.data.data() + at, count * sizeof(double));
    forget(matrix.data.data() + at, count);
  }
}

Dense<double> get_matrix(Child& in) {
  Dense<double> matrix;
  matrix.rows = in.integer();
  matrix.cols = in.integer();
  const auto all = static_cast<std::size_t>(matrix.rows * matrix.cols);
  matrix.data.reserve(all);
  while (matrix.data.size() < all) {
    const std::size_t at = matrix.data.size();
    matrix.data.resize(at + std::min(piece, all - at));  // the pages are touched only now
    in.get(matrix.data.data() + at, (matrix.data.size() - at) * sizeof(double));
  }
  return matrix;
}

}  // namespace

MatrixInfo matrix_info_in_child(const std::filesystem::path& path, const DatasetChoice& dataset,
                                std::string* sha256, double patience) {
  if (!needs_hdf5(path)) return matrix_info(path, dataset, sha256);
  Description what = read_in_child(
      patience + matrix_seconds_per_mib * mib_of(path), path.string() + ": ", "",
      [&] {
        Description read;
        read.info = matrix_info(path, dataset, sha256 != nullptr ? &read.sha256 : nullptr);
        return read;
      },
      put_description, get_description);
  if (sha256 != nullptr) *sha256 = std::move(what.sha256);
  return std::move(what.info);
}

MatrixSize matrix_size_in_child(const std::filesystem::path& path, const DatasetChoice& dataset,
                                double patience) {
  if (!needs_hdf5(path) && is_matrix_market(path)) return matrix_market_size(path);
  const MatrixInfo info = matrix_info_in_child(path, dataset, nullptr, patience);
  return {info.rows, info.cols};
}

Dense<double> import_matrix_in_child(const std::filesystem::path& path, const DatasetChoice& dataset,
                                     double patience) {
  if (!needs_hdf5(path)) return import_matrix(path, dataset);
  // A small compressed file may hold a large matrix; the time limit therefore includes the elements.
  const MatrixInfo info = matrix_info_in_child(path, dataset, nullptr, patience);
  const double mib = static_cast<double>(info.stored_entries) * sizeof(double) / 0x1p20;
  return read_in_child(
      patience + matrix_seconds_per_mib * std::max(mib, mib_of(path)), path.string() + ": ", "",
      [&] { return import_matrix(path, dataset); }, put_matrix, get_matrix);
}

}  // namespace gaussweep::io
