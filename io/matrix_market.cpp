#include "io/matrix_market.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include "io/atomic_file.hpp"
#include "io/errors.hpp"
#include "io/matrix_limits.hpp"

namespace gaussweep::io {
namespace {

constexpr const char* banner = "%%MatrixMarket";

struct Header {
  bool coordinate = false, integer = false;
  enum class Symmetry { general, symmetric, skew } symmetry = Symmetry::general;
  std::int64_t rows = 0, cols = 0, entries = 0;
};

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

/// Lines with their numbers; comments and blank lines are passed over.
class Lines {
 public:
  explicit Lines(const std::filesystem::path& path) : path_(path), file_(path, std::ios::binary) {
    if (!file_) throw InputError(path.string() + ": cannot be opened: " + std::strerror(errno));
  }
  /// The next line as it is.
  bool raw(std::string& line) {
    if (!std::getline(file_, line)) return false;
    ++number_;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    return true;
  }
  /// The next line with content.
  bool next(std::string& line) {
    while (raw(line)) {
      const std::size_t first = line.find_first_not_of(" \t");
      if (first != std::string::npos && line[first] != '%') return true;
    }
    return false;
  }
  [[noreturn]] void fail(const std::string& message) const {
    throw InputError(path_.string() + ":" + std::to_string(number_) + ": " + message);
  }

 private:
  std::filesystem::path path_;
  std::ifstream file_;
  std::int64_t number_ = 0;
};

/// The words of a line, read one after the other.
class Words {
 public:
  Words(const Lines& lines, const std::string& line) : lines_(lines), at_(line.c_str()) {}
  std::int64_t integer(const char* what) {
    skip();
    std::int64_t value = 0;
    const char* end = at_ + std::strlen(at_);
    const auto [stop, error] = std::from_chars(at_, end, value);
    if (error != std::errc() || (*stop != '\0' && *stop != ' ' && *stop != '\t')) {
      lines_.fail(std::string(what) + ": '" + at_ + "'; allowed: a whole number");
    }
    at_ = stop;
    return value;
  }
  double real(bool whole) {
    skip();
    char* stop = nullptr;
    const double value = std::strtod(at_, &stop);
    if (stop == at_ || (*stop != '\0' && *stop != ' ' && *stop != '\t') || !std::isfinite(value)) {
      lines_.fail(std::string("value: '") + at_ + "'; allowed: a finite number");
    }
    if (whole && value != std::floor(value))
      lines_.fail(std::string("value: '") + at_ + "' is no integer, as the header says");
    at_ = stop;
    return value;
  }
  void end() {
    skip();
    if (*at_ != '\0') lines_.fail(std::string("'") + at_ + "' is more than a line should hold");
  }

 private:
  void skip() {
    while (*at_ == ' ' || *at_ == '\t') ++at_;
  }
  const Lines& lines_;
  const char* at_;
};

Header read_header(Lines& lines) {
  std::string line;
  if (!lines.raw(line))
    lines.fail("the file is empty; a Matrix Market file begins with " + std::string(banner));
  std::istringstream words(line);
  std::string mark, object, format, field, symmetry, more;
  words >> mark >> object >> format >> field >> symmetry;
  if (mark != banner || lower(object) != "matrix" || symmetry.empty() || words >> more) {
    lines.fail("'" + line.substr(0, 80) + "' is no header; allowed: " + banner +
               " matrix coordinate|array real|integer " + "general|symmetric|skew-symmetric");
  }
  Header header;
  format = lower(format);
  field = lower(field);
  symmetry = lower(symmetry);
  if (format != "coordinate" && format != "array")
    lines.fail("format '" + format + "'; allowed: coordinate, array");
  if (field != "real" && field != "integer")
    lines.fail("field '" + field + "' is not read; allowed: real, integer");
  header.coordinate = format == "coordinate";
  header.integer = field == "integer";
  if (symmetry == "symmetric") {
    header.symmetry = Header::Symmetry::symmetric;
  } else if (symmetry == "skew-symmetric") {
    header.symmetry = Header::Symmetry::skew;
  } else if (symmetry != "general") {
    lines.fail("symmetry '" + symmetry + "' is not read; allowed: general, symmetric, skew-symmetric");
  }
  if (!lines.next(line)) lines.fail("the line with the sizes is missing");
  Words sizes(lines, line);
  header.rows = sizes.integer("rows");
  header.cols = sizes.integer("columns");
  if (header.rows < 1 || header.cols < 1) lines.fail("a matrix needs at least one row and one column");
  const bool general = header.symmetry == Header::Symmetry::general;
  if (!general && header.rows != header.cols) lines.fail("a " + symmetry + " matrix must be square");
  const std::string why = too_large(header.rows, header.cols);
  if (!why.empty()) lines.fail(why);
  if (header.coordinate) {
    header.entries = sizes.integer("entries");
    if (header.entries < 0) lines.fail("the number of entries is negative");
  } else if (general) {
    header.entries = header.rows * header.cols;
  } else {
    const bool skew = header.symmetry == Header::Symmetry::skew;
    header.entries = header.rows * (header.rows + (skew ? -1 : 1)) / 2;
  }
  sizes.end();
  return header;
}

/// Stores an entry and its mirror image.
class Target {
 public:
  Target(const Lines& lines, const Header& header) : lines_(lines), header_(header) {
    matrix.rows = header.rows;
    matrix.cols = header.cols;
    matrix.data.assign(static_cast<std::size_t>(header.rows * header.cols), 0.0);
  }
  void add(std::int64_t i, std::int64_t j, double value) {
    at(i, j) += value;
    if (i == j) {
      if (header_.symmetry == Header::Symmetry::skew) lines_.fail("a skew-symmetric file stores no diagonal");
      return;
    }
    if (header_.symmetry == Header::Symmetry::general) return;
    if (i < j)
      lines_.fail("a symmetric file stores the lower triangle only; this entry is above the diagonal");
    at(j, i) += header_.symmetry == Header::Symmetry::symmetric ? value : -value;
  }
  Dense<double> matrix;

 private:
  double& at(std::int64_t i, std::int64_t j) {
    return matrix.data[static_cast<std::size_t>(i + j * matrix.rows)];
  }
  const Lines& lines_;
  const Header& header_;
};

}  // namespace

bool is_matrix_market(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string start(std::strlen(banner), '\0');
  file.read(start.data(), static_cast<std::streamsize>(start.size()));
  return file && start == banner;
}

Dense<double> read_matrix_market(const std::filesystem::path& path) {
  Lines lines(path);
  const Header header = read_header(lines);
  Target target(lines, header);
  std::string line;
  std::int64_t count = 0;
  std::int64_t row = header.symmetry == Header::Symmetry::skew ? 1 : 0, col = 0;  // of the array format
  while (lines.next(line)) {
    if (++count > header.entries)
      lines.fail("more entries than the " + std::to_string(header.entries) + " announced");
    Words words(lines, line);
    if (header.coordinate) {
      const std::int64_t i = words.integer("row"), j = words.integer("column");
      if (i < 1 || i > header.rows || j < 1 || j > header.cols) {
        lines.fail("entry (" + std::to_string(i) + ", " + std::to_string(j) + ") is outside the " +
                   std::to_string(header.rows) + " x " + std::to_string(header.cols) +
                   " matrix; indices begin at 1");
      }
      target.add(i - 1, j - 1, words.real(header.integer));
    } else {
      target.add(row, col, words.real(header.integer));
      if (++row == header.rows) {
        ++col;
        row = header.symmetry == Header::Symmetry::general ? 0
              : header.symmetry == Header::Symmetry::skew  ? col + 1
                                                           : col;
      }
    }
    words.end();
  }
  if (count < header.entries) {
    lines.fail("the file ends after " + std::to_string(count) + " of " + std::to_string(header.entries) +
               " entries");
  }
  return std::move(target.matrix);
}

MatrixInfo matrix_market_info(const std::filesystem::path& path) {
  Lines lines(path);
  const Header header = read_header(lines);
  MatrixInfo info;
  info.format = "matrix market";
  info.rows = header.rows;
  info.cols = header.cols;
  info.stored_entries = header.entries;
  info.field = header.integer ? "integer" : "real";
  switch (header.symmetry) {
    case Header::Symmetry::general:
      info.symmetry = "general";
      break;
    case Header::Symmetry::symmetric:
      info.symmetry = "symmetric";
      break;
    case Header::Symmetry::skew:
      info.symmetry = "skew-symmetric";
      break;
  }
  return info;
}

void export_matrix_market(const std::filesystem::path& path, const Dense<double>& a) {
  AtomicFile file(path);
  std::string text = std::string(banner) + " matrix array real general\n" + std::to_string(a.rows) + " " +
                     std::to_string(a.cols) + "\n";
  constexpr std::size_t flush_at = 1 << 20;
  for (const double value : a.data) {
    char number[40];
    std::snprintf(number, sizeof number, "%.17g\n", value);
    text += number;
    if (text.size() > flush_at) {
      file.write(text.data(), text.size());
      text.clear();
    }
  }
  file.write(text.data(), text.size());
  file.commit();
}

}  // namespace gaussweep::io
