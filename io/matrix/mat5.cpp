/// Reads MATLAB's files of version 5, which MATLAB's options -v6 and -v7 write. A file is a sequence of
/// tagged elements. An array is an element that contains elements. Each variable may be compressed.

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "io/matrix/mat_layers.hpp"

namespace gaussweep::io {
namespace {

// The format's names for element types (miINT8, miUINT8, …) and array classes.
enum MatType : std::uint32_t {
  type_int8 = 1,
  type_uint8 = 2,
  type_int32 = 5,
  type_uint32 = 6,
  type_array = 14,
  type_deflated = 15,
  type_utf8 = 16
};
enum MatClass : std::uint32_t {
  class_cell = 1,
  class_struct = 2,
  class_text = 4,
  class_sparse = 5,
  class_double = 6,
  class_single = 7,
  class_uint64 = 15,
  class_opaque = 17
};
// Bits of an array's first flag word, whose low byte is the class.
constexpr std::uint32_t complex_flag = 0x0800, logical_flag = 0x0200;
constexpr int max_array_depth = 32;

/// The tag before an element's data: the element's type and its length in bytes.
struct Tag {
  std::uint32_t type = 0;
  std::uint64_t bytes = 0;
  bool is_small = false;  ///< the element's data, at most four bytes, are in the second half of the tag
};

/// Reads an array and the arrays in it (struct fields and cells). `remaining_bytes_` counts the unread bytes
/// of the innermost array, so that an element cannot be longer than its array.
class ArrayWalk {
 public:
  ArrayWalk(MatBytes& source, bool swapped, MatVariables& variables)
      : source_(source), swapped_(swapped), variables_(variables) {}
  /// Reads the tag of an array. @return the array's length in bytes
  std::uint64_t array_bytes() {
    std::uint32_t tag[2];
    words(tag, 2);
    if (tag[0] != type_array) throw BrokenMat("an element is no array");
    return tag[1];
  }
  /// Reads an array of `bytes` bytes. @param parent_name the name for an array in a field or cell, such as
  /// Problem.A, because such arrays store no name @param depth 0 for a variable of the file
  void array(std::uint64_t bytes, const std::string& parent_name, int depth) {
    if (bytes == 0) return add({parent_name, 0, 0, "is empty"});
    if (depth > max_array_depth) throw BrokenMat("arrays are nested too deeply");
    remaining_bytes_ = bytes;
    const std::vector<std::uint32_t> flags = integers("class");
    if (flags.size() != 2) throw BrokenMat("an array has no class");
    const std::uint32_t array_class = flags[0] & 0xff;
    std::vector<std::uint32_t> dims;
    if (array_class != class_opaque) dims = integers("dimensions");
    if (dims.size() < 2 && array_class != class_opaque) throw BrokenMat("an array has no dimensions");
    const std::string stored_name = text();
    const std::string& name = depth == 0 ? stored_name : parent_name;
    if (array_class == class_sparse || (array_class >= class_double && array_class <= class_uint64)) {
      numbers(array_class, flags[0], dims, name);
    } else if (array_class == class_struct || array_class == class_cell) {
      arrays(product(dims), array_class == class_struct, name, depth);
    } else {
      add({name, 0, 0, array_class == class_text ? "is a text; allowed: numbers" : "holds no numbers"});
      skip(remaining_bytes_);
    }
    if (remaining_bytes_ != 0) throw BrokenMat("an array is longer than its elements");
  }

 private:
  /// Adds a variable that is not a matrix. Skips MATLAB's internal variables, which have no name.
  void add(const Candidate& candidate) {
    if (!candidate.name.empty()) variables_.add(candidate);
  }
  static std::uint64_t product(const std::vector<std::uint32_t>& dims) {
    std::uint64_t count = 1;
    for (const std::uint32_t dim : dims) {
      if (__builtin_mul_overflow(count, std::uint64_t{dim}, &count)) throw BrokenMat("an array is too large");
    }
    return count;
  }
  /// Returns the number type for the format's type number (MatType), which is the index into `types`.
  ElementType type_of(std::uint32_t type) const {
    constexpr ElementType types[] = {{},       {'i', 1}, {'u', 1}, {'i', 2}, {'u', 2}, {'i', 4}, {'u', 4},
                                     {'f', 4}, {},       {'f', 8}, {},       {},       {'i', 8}, {'u', 8}};
    if (type >= std::size(types) || types[type].bytes == 0)
      throw BrokenMat("an element has an unexpected type");
    return {types[type].kind, types[type].bytes, swapped_};
  }

  /// Reads or skips the numbers of a full or sparse matrix.
  void numbers(std::uint32_t array_class, std::uint32_t flags, const std::vector<std::uint32_t>& dims,
               const std::string& name) {
    const MatrixShape shape = shape_of({dims.begin(), dims.end()});
    const bool is_complex = (flags & complex_flag) != 0, is_sparse = array_class == class_sparse;
    const bool is_non_vector = shape.why.empty() && shape.rows > 1 && shape.cols > 1;
    const bool is_wanted =
        !name.empty() && variables_.add({name, shape.rows, shape.cols,
                                         is_complex ? "is complex; allowed: real numbers" : shape.why, 0,
                                         is_complex && is_non_vector});
    const bool is_real = (is_sparse || array_class <= class_single) && (flags & logical_flag) == 0;
    if (is_sparse) {
      if (is_wanted) entries(is_real);
      skip(remaining_bytes_);
      return;
    }
    // A complex array has two parts: the real numbers, then the imaginary ones.
    for (int part = 0; part < (is_complex ? 2 : 1); ++part) {
      const Tag tag = next();
      const ElementType type = type_of(tag.type);
      const std::uint64_t count = product(dims);
      if (tag.bytes % type.bytes != 0 || tag.bytes / type.bytes != count)
        throw BrokenMat("an array has fewer or more elements than its dimensions say");
      take(tag.bytes);
      if (is_wanted) {
        variables_.read_full(source_, type, is_real);
      } else {
        source_.skip(tag.bytes);
      }
      pad(tag);
    }
  }
  /// Reads an element of numbers: the row indices, the column starts or the values of a sparse matrix.
  MatNumbers numbers_of_sparse() {
    const Tag tag = next();
    const ElementType type = type_of(tag.type);
    take(tag.bytes);
    MatNumbers numbers = read_numbers(source_, type, tag.bytes / type.bytes);
    source_.skip(tag.bytes % type.bytes);
    pad(tag);
    return numbers;
  }
  /// Reads the entries of a sparse matrix: row indices, column starts and values.
  void entries(bool is_real) {
    const MatNumbers rows = numbers_of_sparse(), starts = numbers_of_sparse();
    MatNumbers values = numbers_of_sparse();
    const auto columns = static_cast<std::size_t>(variables_.matrix().cols);
    // starts[c] is the index of column c's first entry (compressed sparse columns).
    const bool is_consistent = starts.values.size() > columns && starts.values[0] == 0 &&
                               std::is_sorted(starts.values.begin(), starts.values.end()) &&
                               starts.values[columns] <= static_cast<double>(rows.values.size()) &&
                               starts.values[columns] <= static_cast<double>(values.values.size());
    if (!is_consistent) throw BrokenMat("the columns of a sparse matrix do not fit its entries");
    // The arrays may be longer than the number of entries.
    values.values.resize(static_cast<std::size_t>(starts.values[columns]));
    std::size_t column = 0;
    variables_.add_sparse_entries(values, is_real, [&](std::size_t i) {
      while (static_cast<double>(i) >= starts.values[column + 1]) ++column;
      return std::pair(rows.values[i], static_cast<double>(column));
    });
  }
  /// Reads the cells, or the fields of each struct element. Only the fields of a single struct get names.
  void arrays(std::uint64_t count, bool with_fields, const std::string& name, int depth) {
    std::string names;
    std::uint64_t length = 0;
    if (with_fields) {
      const std::vector<std::uint32_t> lengths = integers("fields");
      names = text();
      length = lengths.size() == 1 ? lengths[0] : 0;
      if (length == 0 || names.size() % length != 0) throw BrokenMat("a struct's fields have no names");
    }
    const bool is_single = with_fields && count == 1 && !name.empty();
    if (!is_single)
      add({name, 0, 0, with_fields ? "is no single struct; allowed: a matrix" : "holds no numbers"});
    if (with_fields && __builtin_mul_overflow(count, names.size() / length, &count))
      throw BrokenMat("a struct is too large");
    for (std::uint64_t i = 0; i < count; ++i) {
      // `names` has a fixed number of bytes per field; c_str() below removes the NULs at the end.
      const std::string field = is_single ? names.substr(i * length, length) : std::string();
      take(8);  // the tag
      const std::uint64_t bytes = array_bytes();
      take(bytes);
      const std::uint64_t rest = remaining_bytes_;  // array() counts the inner array in remaining_bytes_
      array(bytes, is_single ? name + "." + field.c_str() : std::string(), depth + 1);
      remaining_bytes_ = rest;
    }
  }

  /// Reads the next tag. If the upper half of its first word is not 0, the element is small. This half is
  /// then the length, and the lower half the type.
  Tag next() {
    std::uint32_t word = 0;
    take(4);
    words(&word, 1);
    if (word >> 16 != 0) {
      if (word >> 16 > 4) throw BrokenMat("an element has no size");
      return {word & 0xffff, word >> 16, true};
    }
    std::uint32_t size = 0;
    take(4);
    words(&size, 1);
    return {word, size, false};
  }
  /// Reads an element of 32-bit integers, signed or not.
  std::vector<std::uint32_t> integers(const char* what) {
    constexpr std::uint64_t max_integers = 64;
    const Tag tag = next();
    if ((tag.type != type_int32 && tag.type != type_uint32) || tag.bytes % 4 != 0 ||
        tag.bytes > 4 * max_integers)
      throw BrokenMat(std::string("an array has no ") + what);
    std::vector<std::uint32_t> values(tag.bytes / 4);
    take(tag.bytes);
    words(values.data(), values.size());
    pad(tag);
    return values;
  }
  /// Reads an element of characters.
  std::string text() {
    const Tag tag = next();
    if (tag.type != type_int8 && tag.type != type_uint8 && tag.type != type_utf8)
      throw BrokenMat("an element has an unexpected type");
    take(tag.bytes);
    std::string characters;
    char block[1 << 10];
    // Reads in blocks, so that a wrong length does not allocate memory for data that the file lacks.
    for (std::uint64_t remaining = tag.bytes; remaining > 0;) {
      const std::size_t count = std::min<std::uint64_t>(remaining, sizeof block);
      source_.read(block, count);
      characters.append(block, count);
      remaining -= count;
    }
    pad(tag);
    return characters;
  }
  /// Skips the padding after an element's data, up to a multiple of eight bytes.
  void pad(const Tag& tag) {
    skip(tag.is_small ? 4 - tag.bytes : std::min<std::uint64_t>(remaining_bytes_, (8 - tag.bytes % 8) % 8));
  }
  void skip(std::uint64_t bytes) {
    take(bytes);
    source_.skip(bytes);
  }
  /// Counts bytes that are about to be read. @throws BrokenMat if the array has fewer
  void take(std::uint64_t bytes) {
    if (bytes > remaining_bytes_) throw BrokenMat("an element is longer than the array that it belongs to");
    remaining_bytes_ -= bytes;
  }
  /// Reads 32-bit words in this machine's byte order.
  void words(std::uint32_t* to, std::size_t count) {
    source_.read(to, 4 * count);
    for (std::size_t i = 0; swapped_ && i < count; ++i) to[i] = __builtin_bswap32(to[i]);
  }

  MatBytes& source_;
  bool swapped_;
  MatVariables& variables_;
  std::uint64_t remaining_bytes_ = 0;  ///< remaining bytes of the array
};

constexpr off_t mat_header_bytes = 128;  // a text, the version and the byte order

/// Returns the two letters that mark the byte order: "IM" for little-endian, "MI" for big-endian files; empty
/// if the file is not of version 5.
std::string byte_order(const Descriptor& file) {
  char end[4] = "";  // two bytes of version (1), then the byte order
  if (::pread(file.fd(), end, 4, mat_header_bytes - 4) != 4) return {};
  using namespace std::string_view_literals;
  const std::string_view words(end, 4);
  return words == "\0\1IM"sv || words == "\1\0MI"sv ? std::string(end + 2, 2) : std::string();
}

}  // namespace

bool is_mat5(const Descriptor& file) {
  return !byte_order(file).empty();
}

void walk_mat5(const Descriptor& file, MatVariables& variables) {
  const bool swapped = byte_order(file) == "MI";
  const off_t end = ::lseek(file.fd(), 0, SEEK_END);
  for (off_t at = mat_header_bytes; at < end;) {
    std::uint32_t tag[2];
    if (::pread(file.fd(), tag, sizeof tag, at) != sizeof tag) throw BrokenMat(mat_cut_off);
    for (std::uint32_t& word : tag) word = swapped ? __builtin_bswap32(word) : word;
    at += static_cast<off_t>(sizeof tag);
    if (tag[1] > end - at) throw BrokenMat(mat_cut_off);
    if (tag[0] != type_array && tag[0] != type_deflated) throw BrokenMat("an element is no array");
    MatBytes source(file, at, at + tag[1], tag[0] == type_deflated);
    ArrayWalk walk(source, swapped, variables);
    walk.array(tag[0] == type_deflated ? walk.array_bytes() : tag[1], "", 0);
    source.end();
    at += tag[1];
  }
}

}  // namespace gaussweep::io
