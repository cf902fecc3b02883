/// Reads and writes Matrix Market files, with the line number in each error.

#include "io/matrix/matrix_market.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include "io/files/atomic_file.hpp"
#include "io/files/digest.hpp"
#include "io/files/errors.hpp"
#include "io/files/open_file.hpp"
#include "io/matrix/file_elements.hpp"
#include "io/matrix/matrix_limits.hpp"

namespace gaussweep::io {
namespace {

constexpr const char* banner = "%%MatrixMarket";
constexpr const char* byte_order_mark = "\xef\xbb\xbf";
// The format allows 1024 bytes per line, but comments written by hand may be longer.
constexpr std::size_t max_line_bytes = 1 << 16;

/// The header line of a file and the line with the sizes.
struct Header {
  bool coordinate = false, integer = false, pattern = false;  ///< pattern: entries have no values and are 1
  enum class Symmetry { general, symmetric, skew } symmetry = Symmetry::general;
  std::int64_t rows = 0, cols = 0, entries = 0;
};

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

/// Returns text for messages: quoted, shortened, and without bytes that disturb a terminal or JSON.
std::string in_quotes(const std::string& text) {
  std::string safe = text.substr(0, 60);
  std::replace_if(
      safe.begin(), safe.end(), [](unsigned char c) { return c < 0x20 || c > 0x7e; }, '?');
  return "'" + safe + (text.size() > safe.size() ? "…'" : "'");
}

/// Reads lines and counts them; skips comments and blank lines.
class Lines {
 public:
  explicit Lines(const std::filesystem::path& path) : path_(path) {
    const Opened opened = open_regular(path);
    if (!opened) throw InputError(path.string() + ": cannot be opened: " + opened.why);
    file_.open(opened.file.path(), std::ios::binary);
    if (!file_) throw InputError(path.string() + ": cannot be opened: " + std::strerror(errno));
    block_.resize(std::size_t{1} << 16);
    std::error_code error;
    const std::uintmax_t size = std::filesystem::file_size(path, error);
    bytes_ = error ? INT64_MAX : static_cast<std::int64_t>(size);
  }
  /// Returns the size of the file.
  std::int64_t bytes() const { return bytes_; }
  /// Reads the next line, also a comment or a blank line. @return false at the end of the file
  bool raw(std::string& line) {
    line.clear();
    int c = byte();
    if (c == EOF) return false;
    ++number_;
    for (; c != EOF && c != '\n'; c = byte()) {
      if (c == '\0') fail("a NUL byte; Matrix Market is a text format");
      if (line.size() == max_line_bytes) {
        fail("the line is longer than " + std::to_string(max_line_bytes) +
             " characters; allowed: one entry per line");
      }
      line += static_cast<char>(c);
    }
    if (number_ == 1 && line.rfind(byte_order_mark, 0) == 0) line.erase(0, std::strlen(byte_order_mark));
    if (!line.empty() && line.back() == '\r') line.pop_back();
    return true;
  }
  /// Reads the next line with data. @return false at the end of the file
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

  /// Returns the file's digest. @pre the file was read to its end
  std::string sha256() { return digest_.hex(); }

 private:
  int byte() {
    if (at_ == end_) {
      file_.read(block_.data(), static_cast<std::streamsize>(block_.size()));
      at_ = block_.data();
      end_ = at_ + file_.gcount();
      if (file_.bad()) fail(std::string("the file cannot be read on: ") + std::strerror(errno));
      digest_.add(at_, static_cast<std::size_t>(end_ - at_));
      if (at_ == end_) return EOF;
    }
    return static_cast<unsigned char>(*at_++);
  }
  std::filesystem::path path_;
  std::ifstream file_;
  std::string block_;
  const char* at_ = nullptr;
  const char* end_ = nullptr;
  Sha256 digest_;
  std::int64_t number_ = 0, bytes_ = 0;
};

/// Returns true if a word is an integer equal to `value`. Large integers must consist of digits only.
bool is_exact_integer(const char* begin, const char* end, double value) {
  // Parses the word into the type of `number` and compares. `limit` is the first double beyond this type.
  const auto agrees = [&](auto number, double limit) {
    const auto [stop, error] = std::from_chars(begin, end, number);
    return error == std::errc() && stop == end && value < limit &&
           static_cast<decltype(number)>(value) == number;
  };
  return (value == std::floor(value) && std::abs(value) < largest_exact) || agrees(std::int64_t{}, 0x1p63) ||
         agrees(std::uint64_t{}, 0x1p64);
}

/// Returns true for a character that begins a Fortran exponent: 1.5D+02, 1.5-300.
bool begins_fortran_exponent(char c) {
  return c == 'd' || c == 'D' || c == 'q' || c == 'Q' || c == '+' || c == '-';
}

/// Reads the words of a line one after another.
class Words {
 public:
  Words(const Lines& lines, const std::string& line)
      : lines_(lines), at_(line.c_str()), end_(at_ + line.size()) {}
  /// Reads an integer. @param what its name for the error message
  std::int64_t integer(const char* what) {
    skip();
    std::int64_t value = 0;
    const auto [stop, error] = std::from_chars(unsigned_begin(), end_, value);
    if (error != std::errc() || !ends_word(stop)) {
      lines_.fail(std::string(what) + ": " + in_quotes(at_) + "; allowed: a whole number");
    }
    at_ = stop;
    return value;
  }
  /// Reads a number. If `whole` is true, it must be an integer that double represents exactly.
  double real(bool whole) {
    skip();
    const char* const word_end = std::find_if(at_, end_, [](char c) { return c == ' ' || c == '\t'; });
    const char *begin = unsigned_begin(), *end = word_end;
    double value = 0;
    auto [stop, error] = std::from_chars(begin, end, value);
    std::string fortran;  // the number with e as exponent letter
    if (error != std::errc::invalid_argument && stop != end && begins_fortran_exponent(*stop)) {
      fortran = std::string(begin, stop) + 'e' + std::string(stop + (std::isalpha(*stop) != 0 ? 1 : 0), end);
      begin = fortran.c_str();
      end = begin + fortran.size();
      const auto again = std::from_chars(begin, end, value);
      stop = again.ptr;
      error = again.ec;
    }
    // Numbers that are too small become 0 or subnormal; numbers that are too large become infinite.
    if (error == std::errc::result_out_of_range) value = std::strtod(begin, nullptr);
    if (error == std::errc::invalid_argument || stop != end || !std::isfinite(value)) {
      lines_.fail("value: " + in_quotes(at_) + "; allowed: a finite number");
    }
    if (whole && value != std::floor(value))
      lines_.fail("value: " + in_quotes(at_) + " is no integer, as the header says");
    if (whole && !is_exact_integer(begin, end, value))
      lines_.fail("value: " + in_quotes(at_) + " is not exact as a double; allowed: " + exact_integers);
    at_ = word_end;
    return value;
  }
  /// Throws if the line has further words.
  void end() {
    skip();
    if (at_ != end_) lines_.fail(in_quotes(at_) + " follows the last value of the line");
  }

 private:
  void skip() {
    while (*at_ == ' ' || *at_ == '\t') ++at_;
  }
  /// Returns the beginning of a number without a plus sign, which std::from_chars does not accept.
  const char* unsigned_begin() const { return at_[0] == '+' && at_[1] != '-' ? at_ + 1 : at_; }
  static bool ends_word(const char* c) { return *c == '\0' || *c == ' ' || *c == '\t'; }
  const Lines& lines_;
  const char* at_;
  const char* end_;
};

/// Reads and checks the first line and the line with the sizes.
Header read_header(Lines& lines) {
  std::string line;
  while (line.find_first_not_of(" \t") == std::string::npos) {
    if (!lines.raw(line))
      lines.fail("the file is empty; a Matrix Market file begins with " + std::string(banner));
  }
  if (line.find('\r') != std::string::npos)
    lines.fail("the lines end with CR alone; allowed: LF or CR LF (tr '\\r' '\\n' converts)");
  std::istringstream words(line);
  std::string first_word, object, format, field, symmetry, extra;
  words >> first_word >> object >> format >> field >> symmetry;
  if (first_word != banner || lower(object) != "matrix" || symmetry.empty() || words >> extra)
    lines.fail(in_quotes(line) + " is no header; allowed: " + matrix_market_headers);
  Header header;
  format = lower(format);
  field = lower(field);
  symmetry = lower(symmetry);
  if (format != "coordinate" && format != "array")
    lines.fail("format " + in_quotes(format) + "; allowed: coordinate, array");
  header.coordinate = format == "coordinate";
  header.pattern = field == "pattern";
  header.integer = field == "integer" || field == "unsigned-integer" || header.pattern;
  if (!header.integer && field != "real" && field != "double") {
    lines.fail("field " + in_quotes(field) +
               " is not supported; allowed: real, double, integer, unsigned-integer, pattern");
  }
  if (header.pattern && !header.coordinate) lines.fail("a pattern needs the coordinate format");
  if (symmetry == "symmetric" || symmetry == "hermitian") {  // both are the same for real numbers
    header.symmetry = Header::Symmetry::symmetric;
  } else if (symmetry == "skew-symmetric") {
    header.symmetry = Header::Symmetry::skew;
  } else if (symmetry != "general") {
    lines.fail("symmetry " + in_quotes(symmetry) +
               " is not read; allowed: general, symmetric, skew-symmetric, hermitian");
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
  // Compares the number of entries with the file's size before memory is allocated. The shortest entries are
  // "1 1 1", "1 1" (pattern) and "1" (array), each with an end of line.
  if (header.entries > lines.bytes() / (header.pattern ? 4 : header.coordinate ? 6 : 2) + 1) {
    lines.fail("the file is too short for the " + std::to_string(header.entries) + " entries announced");
  }
  return header;
}

/// The matrix that a file's entries are added to. Checks each entry, and stores it if the matrix is kept. For
/// symmetric and skew-symmetric files also stores the mirrored element.
class Target {
 public:
  Target(const Lines& lines, const Header& header, bool keep) : lines_(lines), header_(header), keep_(keep) {
    matrix.rows = header.rows;
    matrix.cols = header.cols;
    if (keep) matrix.data.assign(static_cast<std::size_t>(header.rows * header.cols), 0.0);
  }
  /// Adds the entry (i, j), counted from 0.
  void add(std::int64_t i, std::int64_t j, double value) {
    if (i == j && header_.symmetry == Header::Symmetry::skew) {
      if (value != 0) lines_.fail("the diagonal of a skew-symmetric matrix is zero");
      return;
    }
    store(i, j, value);
    if (i == j || header_.symmetry == Header::Symmetry::general) return;
    const Triangle triangle = i > j ? Triangle::lower : Triangle::upper;
    if (triangle_ != Triangle::unknown && triangle != triangle_) {
      lines_.fail("a symmetric file stores one triangle; this entry is " +
                  std::string(i > j ? "below" : "above") + " the diagonal, unlike those before");
    }
    triangle_ = triangle;
    store(j, i, header_.symmetry == Header::Symmetry::symmetric ? value : -value);
  }
  Dense<double> matrix;

 private:
  void store(std::int64_t i, std::int64_t j, double value) {
    if (!keep_) return;
    double& element = matrix.data[static_cast<std::size_t>(i + j * matrix.rows)];
    if (!add_entry(element, value, header_.integer))
      lines_.fail("the sum of the entries of this element is not exact as a double, or infinite");
  }
  const Lines& lines_;
  const Header& header_;
  bool keep_;
  enum class Triangle { unknown, lower, upper } triangle_ = Triangle::unknown;
};

/// Reads the entries of a coordinate file. @return their number
std::int64_t read_coordinates(Lines& lines, const Header& header, Target& target) {
  std::string line;
  std::int64_t count = 0;
  while (lines.next(line)) {
    if (++count > header.entries)
      lines.fail("more entries than the " + std::to_string(header.entries) + " announced");
    Words words(lines, line);
    const std::int64_t i = words.integer("row"), j = words.integer("column");
    if (i < 1 || i > header.rows || j < 1 || j > header.cols) {
      lines.fail("entry (" + std::to_string(i) + ", " + std::to_string(j) + ") is outside the " +
                 std::to_string(header.rows) + " x " + std::to_string(header.cols) +
                 " matrix; indices begin at 1");
    }
    target.add(i - 1, j - 1, header.pattern ? 1 : words.real(header.integer));
    words.end();
  }
  return count;
}

/// Reads the elements of an array file by columns; a symmetric or skew-symmetric file has only the elements
/// on or below the diagonal. @return their number
std::int64_t read_array(Lines& lines, const Header& header, Target& target) {
  const bool is_general = header.symmetry == Header::Symmetry::general,
             is_skew = header.symmetry == Header::Symmetry::skew;
  const std::int64_t entries_with_diagonal = header.entries + (is_skew ? header.rows : 0);
  std::string line;
  // Buffers the elements of a skew-symmetric file. Older scipy versions also wrote the diagonal; only the
  // number of elements shows this.
  std::vector<double> elements;
  std::int64_t count = 0, row = 0, col = 0;
  // Stores the next element in column-major order. A column begins at row 0 in a general file, and else at
  // row col + `offset`.
  const auto put = [&](double value, std::int64_t offset) {
    target.add(row, col, value);
    if (++row == header.rows) row = is_general ? (++col, 0) : ++col + offset;
  };
  while (lines.next(line)) {
    if (++count > entries_with_diagonal)
      lines.fail("more entries than the " + std::to_string(header.entries) + " announced");
    Words words(lines, line);
    const double value = words.real(header.integer);
    words.end();
    if (is_skew) {
      elements.push_back(value);
    } else {
      put(value, 0);
    }
  }
  // Neither size fits. Returns less than the expected number, so that the caller reports missing entries.
  if (is_skew && count != header.entries && count != entries_with_diagonal)
    return std::min(count, header.entries - 1);
  const std::int64_t offset = count == header.entries ? 1 : 0;  // 1: the file leaves out the diagonal
  row = offset;
  for (const double value : elements) put(value, offset);
  return count;
}

/// Reads and checks all entries; returns elements only if `keep`.
Dense<double> read_entries(Lines& lines, const Header& header, bool keep) {
  Target target(lines, header, keep);
  const std::int64_t count =
      header.coordinate ? read_coordinates(lines, header, target) : read_array(lines, header, target);
  if (count < header.entries) {
    lines.fail("the file ends after " + std::to_string(count) + " of " + std::to_string(header.entries) +
               " entries");
  }
  return std::move(target.matrix);
}

}  // namespace

bool is_matrix_market(const std::filesystem::path& path) {
  constexpr std::size_t max_leading_bytes = 1 << 12;
  std::ifstream file(path, std::ios::binary);
  std::string start(max_leading_bytes, '\0');
  file.read(start.data(), static_cast<std::streamsize>(start.size()));
  start.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  const std::size_t first_word = start.rfind(byte_order_mark, 0) == 0 ? std::strlen(byte_order_mark) : 0;
  const std::size_t begin = start.find_first_not_of(" \t\r\n", first_word);
  return begin != std::string::npos && start.compare(begin, std::strlen(banner), banner) == 0;
}

MatrixSize matrix_market_size(const std::filesystem::path& path) {
  Lines lines(path);
  const Header header = read_header(lines);
  return {header.rows, header.cols};
}

Dense<double> read_matrix_market(const std::filesystem::path& path, bool keep, MatrixInfo& info,
                                 std::string* sha256) {
  Lines lines(path);
  const Header header = read_header(lines);
  Dense<double> matrix = read_entries(lines, header, keep);
  if (sha256 != nullptr) *sha256 = lines.sha256();
  info.format = "matrix market";
  info.rows = header.rows;
  info.cols = header.cols;
  info.stored_entries = header.entries;
  info.field = header.pattern ? "pattern" : header.integer ? "integer" : "real";
  info.symmetry = header.symmetry == Header::Symmetry::general     ? "general"
                  : header.symmetry == Header::Symmetry::symmetric ? "symmetric"
                                                                   : "skew-symmetric";
  return matrix;
}

void export_matrix_market(const std::filesystem::path& path, const Dense<double>& a) {
  if (!std::all_of(a.data.begin(), a.data.end(), [](double x) { return std::isfinite(x); })) {
    throw InputError(path.string() +
                     ": the matrix contains NaN or Inf, which Matrix Market cannot represent");
  }
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
