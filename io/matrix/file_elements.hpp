#pragma once
/// Functions that all readers of matrix files share: the number types that a file may contain, their
/// conversion to double, and the accepted dimensions.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "io/matrix/matrix_file.hpp"

namespace gaussweep::io {

/// A number type in a file. `kind` is NumPy's letter: b (bool), i (signed), u (unsigned), f (floating point).
struct ElementType {
  char kind = 0;
  std::size_t bytes = 0;
  bool swapped = false;  ///< true if the byte order is not this machine's
};

/// The types that every reader accepts, for messages.
constexpr const char* readable_types = "bool, int8 to int64, uint8 to uint64, float16, float32, float64";

/// A description of the integers that every reader accepts, for messages.
constexpr const char* exact_integers = "integers up to 2^53, and larger ones that are exact";

/// Returns true if convert_elements supports the type: a type of `readable_types`, or this machine's long
/// double.
bool is_readable(const ElementType& type);

/// Converts `count` numbers to double. @pre is_readable(type)
/// @return the index of the first number that is NaN, Inf or an integer that double would round; else `count`
std::size_t convert_elements(const ElementType& type, const void* from, std::size_t count, double* to);

/// Returns an error message for an element that double cannot represent, with its exact value. `row` and
/// `col` count from 0.
std::string refused_element(const ElementType& type, const void* at, std::int64_t row, std::int64_t col);

/// Adds an entry to an element of a sparse matrix. @return false if the sum is infinite, or if the numbers
/// are integers and the sum is not exact
bool add_entry(double& element, double value, bool is_integer);

/// The dimensions of a matrix, or the reason why an array is not a matrix.
struct MatrixShape {
  std::int64_t rows = 0, cols = 0;
  std::string why;  ///< empty if the array is a matrix
};
/// Returns the shape of an array: a single number is 1 x 1, and an array with one dimension is a column.
MatrixShape shape_of(const std::vector<std::uint64_t>& dims);

/// Converts and checks blocks of a file's elements and stores them in a matrix. A line is a row of the matrix
/// in row-major files and a column in others.
class ElementSink {
 public:
  /// @param matrix its shape is set; if its `data` is empty, elements are checked but not stored
  /// @param where the beginning of the message for a refused element: "FILE: /A: "
  ElementSink(Dense<double>& matrix, const ElementType& type, bool by_rows, std::string where)
      : matrix_(matrix), type_(type), by_rows_(by_rows), where_(std::move(where)) {}
  /// Returns the number of lines.
  std::int64_t lines() const { return by_rows_ ? matrix_.rows : matrix_.cols; }
  /// Returns the number of elements per line.
  std::int64_t length() const { return by_rows_ ? matrix_.cols : matrix_.rows; }
  /// Stores elements [first, first + width) of `lines` lines, beginning with line `line`. @throws InputError
  void put(const void* block, std::int64_t line, std::int64_t lines, std::int64_t first, std::int64_t width);
  /// Stores all elements; `read(to, bytes)` must return them in the order of the file. @throws InputError
  template <class Read>
  void put_all(const Read& read) {
    // A block has at most 2^17 elements: several whole lines, or a part of one long line.
    constexpr std::int64_t max_block = std::int64_t{1} << 17;
    const std::int64_t width = std::min(length(), max_block),
                       lines_per_block = std::max<std::int64_t>(1, max_block / width);
    std::vector<char> block;
    for (std::int64_t line = 0; line < lines(); line += lines_per_block) {
      const std::int64_t count = std::min(lines_per_block, lines() - line);
      for (std::int64_t first = 0; first < length(); first += width) {
        const std::int64_t part = std::min(width, length() - first);
        block.resize(static_cast<std::size_t>(count * part) * type_.bytes);
        read(block.data(), block.size());
        put(block.data(), line, count, first, part);
      }
    }
  }

 private:
  Dense<double>& matrix_;
  ElementType type_;
  bool by_rows_;
  std::string where_;           ///< the beginning of error messages
  std::vector<double> values_;  ///< a block in double, reused
};

}  // namespace gaussweep::io
