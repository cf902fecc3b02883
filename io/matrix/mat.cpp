/// Reads MATLAB files of versions 4 and 5 in two passes: the first lists the variables, the second reads one
/// of them.

#include "io/matrix/mat.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "io/files/errors.hpp"
#include "io/matrix/mat_layers.hpp"
#include "io/matrix/matrix_limits.hpp"

namespace gaussweep::io {
namespace {

/// Returns the variable to read.
Candidate chosen_variable(const std::filesystem::path& path, const std::vector<Candidate>& candidates,
                          DatasetChoice choice) {
  // Also accepts paths like /A, which MATLAB's newer files (HDF5) have.
  choice.name = choice.name.substr(choice.name.rfind('/', 0) == 0 ? 1 : 0);
  std::replace(choice.name.begin(), choice.name.end(), '/', '.');
  for (const std::string& name : default_names(choice)) {
    const auto found = std::find_if(candidates.begin(), candidates.end(),
                                    [&](const Candidate& candidate) { return candidate.name == name; });
    if (found == candidates.end()) continue;
    if (!found->why.empty()) throw InputError(path.string() + ": " + found->why);
    return *found;
  }
  return candidates[sole_matrix(path, candidates, choice)];
}

}  // namespace

MatBytes::MatBytes(const Descriptor& file, off_t begin, off_t end, bool is_deflated)
    : file_(file), at_(begin), end_(end) {
  if (!is_deflated) return;
  stream_ = std::make_unique<z_stream>();
  if (inflateInit(stream_.get()) != Z_OK) throw std::bad_alloc();
}

MatBytes::~MatBytes() {
  if (stream_) inflateEnd(stream_.get());
}

void MatBytes::read(void* to, std::size_t bytes) {
  if (bytes == 0) return;  // inflate_to treats 0 as a check for the end
  if (stream_) return inflate_to(static_cast<unsigned char*>(to), bytes);
  if (static_cast<off_t>(bytes) > end_ - at_) throw BrokenMat(mat_cut_off);
  for (auto* at = static_cast<char*>(to); bytes > 0;) {
    const ssize_t count = ::pread(file_.fd(), at, bytes, at_);
    if (count <= 0) throw BrokenMat(mat_cut_off);
    at += count;
    at_ += count;
    bytes -= static_cast<std::size_t>(count);
  }
}

void MatBytes::skip(std::size_t bytes) {
  if (!stream_) {
    if (static_cast<off_t>(bytes) > end_ - at_) throw BrokenMat(mat_cut_off);
    at_ += static_cast<off_t>(bytes);
    return;
  }
  unsigned char discarded[1 << 14];
  for (std::size_t count; bytes > 0; bytes -= count) {
    count = std::min(bytes, sizeof discarded);
    inflate_to(discarded, count);
  }
}

void MatBytes::end() {
  unsigned char more;
  if (stream_ && state_ != Z_STREAM_END) inflate_to(&more, 0);
  if (stream_ ? state_ != Z_STREAM_END : at_ != end_)
    throw BrokenMat("an element is shorter than the file says");
}

/// Inflates `bytes` bytes. With 0 bytes, checks that the stream ends here.
void MatBytes::inflate_to(unsigned char* to, std::size_t bytes) {
  stream_->next_out = to;
  stream_->avail_out = static_cast<uInt>(bytes);
  do {
    if (stream_->avail_in == 0) {
      const ssize_t count =
          ::pread(file_.fd(), block_, std::min<std::size_t>(sizeof block_, end_ - at_), at_);
      if (count <= 0) throw BrokenMat(mat_cut_off);
      at_ += count;
      stream_->next_in = block_;
      stream_->avail_in = static_cast<uInt>(count);
    }
    state_ = inflate(stream_.get(), Z_NO_FLUSH);
    if (state_ == Z_BUF_ERROR && stream_->avail_in == 0) state_ = Z_OK;  // zlib only needs more input
    if (state_ == Z_BUF_ERROR && bytes == 0) return;                     // the stream has not ended yet
    if (state_ != Z_OK && state_ != Z_STREAM_END) throw BrokenMat("its compressed data are damaged");
  } while (state_ == Z_OK && (stream_->avail_out > 0 || bytes == 0));
  if (stream_->avail_out > 0) throw BrokenMat(mat_cut_off);
}

MatNumbers read_numbers(MatBytes& source, const ElementType& type, std::size_t count) {
  MatNumbers numbers;
  numbers.type = type;
  std::string bytes(count * type.bytes, '\0');
  source.read(bytes.data(), bytes.size());
  numbers.values.resize(count);
  numbers.exact_count = convert_elements(type, bytes.data(), count, numbers.values.data());
  if (numbers.exact_count < count)
    numbers.first_inexact = bytes.substr(numbers.exact_count * type.bytes, type.bytes);
  return numbers;
}

MatVariables::MatVariables(const Candidate& wanted, std::string where, bool keep, MatrixInfo& info)
    : wanted_(wanted), where_(std::move(where)), keep_(keep), info_(&info) {
  matrix_.rows = wanted.rows;
  matrix_.cols = wanted.cols;
}

bool MatVariables::add(Candidate candidate) {
  candidate.order = ++variable_count_;
  if (info_ != nullptr) {
    if (candidate.order != wanted_.order) return false;
    if (candidate.rows != wanted_.rows || candidate.cols != wanted_.cols)
      throw BrokenMat("it changed while it was read");
    return true;
  }
  if (!candidate.why.empty()) candidate.why = candidate.name + " " + candidate.why;
  const auto same = std::find_if(candidates_.begin(), candidates_.end(),
                                 [&](const Candidate& other) { return other.name == candidate.name; });
  if (same != candidates_.end()) candidates_.erase(same);
  candidates_.push_back(std::move(candidate));
  return false;
}

void MatVariables::start(bool is_real) {
  info_->field = is_real ? "real" : "integer";
  info_->stored_entries = matrix_.rows * matrix_.cols;
  if (keep_) matrix_.data.assign(static_cast<std::size_t>(matrix_.rows * matrix_.cols), 0.0);
}

void MatVariables::read_full(MatBytes& source, const ElementType& type, bool is_real) {
  start(is_real);
  ElementSink sink(matrix_, type, false, where_);
  sink.put_all([&](char* to, std::size_t bytes) { source.read(to, bytes); });
}

void MatVariables::add_sparse_entry(const MatNumbers& entries, std::size_t i, double row, double col,
                                    bool is_real) {
  const auto rows = static_cast<double>(matrix_.rows), cols = static_cast<double>(matrix_.cols);
  if (!(row >= 0 && row < rows && row == std::floor(row) && col >= 0 && col < cols && col == std::floor(col)))
    throw BrokenMat("an entry is outside of its sparse matrix");
  const auto r = static_cast<std::int64_t>(row), c = static_cast<std::int64_t>(col);
  if (i == entries.exact_count)
    throw InputError(where_ + refused_element(entries.type, entries.first_inexact.data(), r, c));
  if (keep_ &&
      !add_entry(matrix_.data[static_cast<std::size_t>(r + c * matrix_.rows)], entries.values[i], !is_real))
    throw InputError(where_ + "the sum of the entries of (" + std::to_string(r + 1) + ", " +
                     std::to_string(c + 1) + ") is not exact as a double, or infinite");
}

bool is_mat(const Descriptor& file) {
  return is_mat5(file) || is_mat4(file);
}

Dense<double> read_mat(const std::filesystem::path& path, const Descriptor& file, const DatasetChoice& choice,
                       bool keep, MatrixInfo& info) {
  const auto walk = is_mat5(file) ? walk_mat5 : walk_mat4;
  const std::string file_prefix = path.string() + ": ";
  try {
    MatVariables all;
    walk(file, all);
    const Candidate wanted = chosen_variable(path, all.candidates(), choice);
    const std::string where = file_prefix + wanted.name + ": ";
    const std::string why = too_large(wanted.rows, wanted.cols);
    if (!why.empty()) throw InputError(where + why);
    info.format = "matlab";
    info.dataset = wanted.name;
    info.rows = wanted.rows;
    info.cols = wanted.cols;
    info.symmetry = "general";
    MatVariables one(wanted, where, keep, info);
    walk(file, one);
    return std::move(one.matrix());
  } catch (const BrokenMat& e) {
    throw InputError(file_prefix + "the MATLAB file cannot be read: " + e.what());
  }
}

}  // namespace gaussweep::io
