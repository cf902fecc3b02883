/// Detects the format of a matrix file and calls its reader.

#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "io/files/errors.hpp"
#include "io/files/open_file.hpp"
#include "io/matrix/dataset_choice.hpp"
#include "io/matrix/file_containers.hpp"
#include "io/matrix/hdf5_matrix.hpp"
#include "io/matrix/mat.hpp"
#include "io/matrix/matrix_file.hpp"
#include "io/matrix/matrix_market.hpp"
#include "io/matrix/npy.hpp"

namespace gaussweep::io {
namespace {

[[noreturn]] void fail(const std::filesystem::path& path, const std::string& message) {
  throw InputError(path.string() + ": " + message);
}

/// Opens the file. Reading through its descriptor then reads this regular file, even if the name is replaced.
Descriptor require_file(const std::filesystem::path& path) {
  const std::string& name = path.native();
  const std::size_t nul = name.find('\0');
  if (nul != std::string::npos) {
    // System calls would truncate the name at the NUL, and so would the message.
    throw InputError(name.substr(0, nul) + "\\0" + name.substr(nul + 1, name.find('\0', nul + 1) - nul - 1) +
                     ": a NUL byte in the name; no file can have one");
  }
  Opened opened = open_regular(path);
  if (opened) return std::move(opened.file);
  if (opened.error == ENOENT) fail(path, "there is no such file");
  if (opened.error != 0) fail(path, "cannot be read: " + opened.why);
  fail(path, "is no file (" + opened.why + "); give a Matrix Market, NumPy, MATLAB or HDF5 file");
}

/// Returns the beginning of a text file's first line; empty if the file begins with binary data.
std::string first_line(const Descriptor& file) {
  char start[60];
  const ssize_t count = ::pread(file.fd(), start, sizeof start, 0);
  std::string line(start, static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  line.resize(std::min(line.find_first_of("\r\n"), line.size()));
  const auto is_text = [](unsigned char c) { return c >= 0x20 && c < 0x7f; };
  return std::all_of(line.begin(), line.end(), is_text) ? line : std::string();
}

/// Throws an error with advice for a file that no reader accepts.
[[noreturn]] void refuse_format(const std::filesystem::path& path, const Descriptor& file) {
  const std::string advice = container_advice(path, file);
  if (!advice.empty()) fail(path, advice);
  // "%MatrixMarket" and "%%matrixmarket" are misspelt Matrix Market headers.
  const std::string line = first_line(file);
  if (!line.empty() && (line.front() == '%' || path.extension() == ".mtx")) {
    fail(path.string() + ":1",
         "'" + line + "' is no first line of Matrix Market; allowed: " + matrix_market_headers);
  }
  fail(path, "is neither Matrix Market nor NumPy's .npy nor MATLAB's nor HDF5; numpy.save writes .npy");
}

/// Reads a file with the reader for its format. @param keep false: returns no elements
Dense<double> read_any(const std::filesystem::path& path, const DatasetChoice& choice, std::string* sha256,
                       bool keep, MatrixInfo& info) {
  const Descriptor file = require_file(path);
  const bool market = is_matrix_market(file.path()), npy = is_npy(file);
  if (market || npy) {
    const std::string format = market ? "a Matrix Market file" : "a .npy file";
    if (!choice.name.empty()) fail(path, format + " has no datasets; leave out " + option_of(choice));
    if (choice.operand == Operand::right_hand_sides_in_same_file)
      fail(path, format + " holds one matrix; give the right-hand sides in another file");
  }
  if (market) return read_matrix_market(path, keep, info, sha256);
  Dense<double> matrix = npy             ? read_npy(path, file, keep, info)
                         : is_mat(file)  ? read_mat(path, file, choice, keep, info)
                         : is_hdf5(file) ? read_hdf5(path, file, choice, keep, info)
                                         : (refuse_format(path, file), Dense<double>());
  if (sha256 != nullptr) *sha256 = sha256_file(file.path());  // only after the file was read successfully
  return matrix;
}

}  // namespace

bool needs_hdf5(const std::filesystem::path& path) {
  const Descriptor file = require_file(path);
  return !is_matrix_market(file.path()) && !is_npy(file) && !is_mat(file);
}

Dense<double> import_matrix(const std::filesystem::path& path, const DatasetChoice& dataset,
                            std::string* sha256) {
  MatrixInfo unused;
  return read_any(path, dataset, sha256, true, unused);
}

MatrixInfo matrix_info(const std::filesystem::path& path, const DatasetChoice& dataset, std::string* sha256) {
  MatrixInfo info;
  read_any(path, dataset, sha256, false, info);
  return info;
}

}  // namespace gaussweep::io
