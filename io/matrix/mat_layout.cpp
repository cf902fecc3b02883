#include "io/matrix/mat_layout.hpp"

#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace gaussweep::io {
namespace {

// What the format calls miINT8, miINT32, …, and the classes of arrays.
enum MatType : std::uint32_t {
  type_int8 = 1,
  type_int32 = 5,
  type_uint32 = 6,
  type_array = 14,
  type_deflated = 15
};
enum MatClass : std::uint32_t {
  class_cell = 1,
  class_struct = 2,
  first_of_numbers = 6,
  last_of_numbers = 15
};
constexpr std::uint32_t complex_flag = 0x0800;
constexpr int deepest_array = 32;
constexpr const char* cut_off = "it is cut off, or damaged";

struct BrokenMat : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Bytes of a number of this type; 0: it is no type of numbers.
std::size_t bytes_of_type(std::uint32_t type) {
  constexpr std::size_t bytes[] = {0, 1, 1, 2, 2, 4, 4, 4, 0, 8, 0, 0, 8, 8};
  return type < std::size(bytes) ? bytes[type] : 0;
}

/// A section of the file, as it stands or inflated, read from its beginning to its end.
class FileSection {
 public:
  FileSection(const Descriptor& file, off_t begin, off_t end, bool deflated)
      : file_(file), at_(begin), end_(end) {
    if (!deflated) return;
    stream_ = std::make_unique<z_stream>();
    if (inflateInit(stream_.get()) != Z_OK) throw std::bad_alloc();
  }
  ~FileSection() {
    if (stream_) inflateEnd(stream_.get());
  }
  FileSection(const FileSection&) = delete;
  FileSection& operator=(const FileSection&) = delete;

  void read(void* to, std::size_t bytes) {
    if (stream_) return inflate_to(static_cast<unsigned char*>(to), bytes);
    if (static_cast<off_t>(bytes) > end_ - at_ ||
        ::pread(file_.fd(), to, bytes, at_) != static_cast<ssize_t>(bytes)) {
      throw BrokenMat(cut_off);
    }
    at_ += static_cast<off_t>(bytes);
  }
  void skip(std::size_t bytes) {
    if (!stream_) {
      if (static_cast<off_t>(bytes) > end_ - at_) throw BrokenMat(cut_off);
      at_ += static_cast<off_t>(bytes);
      return;
    }
    unsigned char nowhere[1 << 14];
    for (std::size_t count; bytes > 0; bytes -= count) {
      count = std::min(bytes, sizeof nowhere);
      inflate_to(nowhere, count);
    }
  }
  /// Requires the end of the section here, with zlib's checksum.
  void end() {
    unsigned char more;
    if (stream_ && state_ != Z_STREAM_END) inflate_to(&more, 0);
    if (stream_ ? state_ != Z_STREAM_END : at_ != end_)
      throw BrokenMat("an element is longer than its parts");
  }

 private:
  /// With 0 bytes, the end of the stream is looked for.
  void inflate_to(unsigned char* to, std::size_t bytes) {
    stream_->next_out = to;
    stream_->avail_out = static_cast<uInt>(bytes);
    do {
      if (stream_->avail_in == 0) {
        const ssize_t count =
            ::pread(file_.fd(), block_, std::min<std::size_t>(sizeof block_, end_ - at_), at_);
        if (count <= 0) throw BrokenMat(cut_off);
        at_ += count;
        stream_->next_in = block_;
        stream_->avail_in = static_cast<uInt>(count);
      }
      state_ = inflate(stream_.get(), Z_NO_FLUSH);
      if (state_ != Z_OK && state_ != Z_STREAM_END && (state_ != Z_BUF_ERROR || bytes > 0))
        throw BrokenMat("what is compressed in it is damaged");
    } while (state_ == Z_OK && (stream_->avail_out > 0 || stream_->avail_in == 0));
    if (stream_->avail_out > 0) throw BrokenMat(cut_off);
  }

  const Descriptor& file_;
  off_t at_, end_;
  std::unique_ptr<z_stream> stream_;
  int state_ = Z_OK;
  unsigned char block_[1 << 14];
};

/// Walks through the elements of an array.
class ArrayWalk {
 public:
  ArrayWalk(FileSection& source, bool swapped) : source_(source), swapped_(swapped) {}
  /// The type of the next element, which is an array's, and its bytes.
  std::uint64_t array_bytes() {
    std::uint32_t tag[2];
    words(tag, 2);
    if (tag[0] != type_array) throw BrokenMat("an element is no array");
    return tag[1];
  }
  /// The elements of an array of so many bytes.
  void array(std::uint64_t bytes, int depth) {
    if (bytes == 0) return;  // an empty one
    if (depth > deepest_array) throw BrokenMat("arrays lie too deep in one another");
    left_ = bytes;
    std::uint32_t flags[2];
    if (tag() != std::pair<std::uint32_t, std::uint64_t>(type_uint32, sizeof flags))
      throw BrokenMat("an array has no class");
    take(sizeof flags);
    words(flags, 2);
    const std::uint32_t array_class = flags[0] & 0xff;
    const std::uint64_t count = elements();
    skip_element(type_int8);  // its name
    if (array_class >= first_of_numbers && array_class <= last_of_numbers) {
      for (int part = 0; part < ((flags[0] & complex_flag) != 0 ? 2 : 1); ++part) {
        const auto [type, size] = tag();
        if (bytes_of_type(type) == 0 || size % bytes_of_type(type) != 0 ||
            size / bytes_of_type(type) != count)
          throw BrokenMat("an array has fewer or more elements than its dimensions say");
        pass(size);
      }
    } else if (array_class == class_cell || array_class == class_struct) {
      arrays(count, array_class == class_struct, depth);
    } else {
      skip(left_);
    }
    if (left_ != 0) throw BrokenMat("an array is longer than its elements");
  }

 private:
  /// The product of the dimensions.
  std::uint64_t elements() {
    const auto [type, size] = tag();
    constexpr std::uint64_t most = 64;
    if (type != type_int32 || size % 4 != 0 || size < 8 || size > 4 * most)
      throw BrokenMat("an array has no dimensions");
    std::uint32_t dims[most];
    take(size);
    words(dims, size / 4);
    pad(size);
    std::uint64_t count = 1;
    for (std::size_t i = 0; i < size / 4; ++i) {
      if (__builtin_mul_overflow(count, std::uint64_t{dims[i]}, &count))
        throw BrokenMat("an array is too large");
    }
    return count;
  }
  /// The cells, or the fields of each element.
  void arrays(std::uint64_t count, bool with_fields, int depth) {
    if (with_fields) {
      std::uint32_t length = 0;
      if (tag() != std::pair<std::uint32_t, std::uint64_t>(type_int32, 4))
        throw BrokenMat("a struct has no fields");
      take(4);
      words(&length, 1);
      pad(4);
      const std::uint64_t names = skip_element(type_int8);
      if (length == 0 || names % length != 0) throw BrokenMat("a struct's fields have no names");
      if (__builtin_mul_overflow(count, names / length, &count)) throw BrokenMat("a struct is too large");
    }
    for (; count > 0; --count) {
      take(8);
      const std::uint64_t bytes = array_bytes();
      take(bytes);
      const std::uint64_t rest = left_;
      array(bytes, depth + 1);
      left_ = rest;
    }
  }
  /// The type and bytes of the next element. Up to four bytes may stand in the second half of the tag.
  std::pair<std::uint32_t, std::uint64_t> tag() {
    std::uint32_t word = 0;
    take(4);
    words(&word, 1);
    is_small_ = word >> 16 != 0;
    if (is_small_) {
      if (word >> 16 > 4) throw BrokenMat("an element has no size");
      return {word & 0xffff, word >> 16};
    }
    std::uint32_t size = 0;
    take(4);
    words(&size, 1);
    return {word, size};
  }
  std::uint64_t skip_element(std::uint32_t wanted) {
    const auto [type, size] = tag();
    if (type != wanted) throw BrokenMat("an element is of another type than belongs there");
    pass(size);
    return size;
  }
  void pass(std::uint64_t bytes) {
    skip(bytes);
    pad(bytes);
  }
  /// What an element is filled up with, to a multiple of eight.
  void pad(std::uint64_t bytes) {
    skip(is_small_ ? 4 - bytes : std::min<std::uint64_t>(left_, (8 - bytes % 8) % 8));
  }
  void skip(std::uint64_t bytes) {
    take(bytes);
    source_.skip(bytes);
  }
  void take(std::uint64_t bytes) {
    if (bytes > left_) throw BrokenMat("an element is longer than the array that it belongs to");
    left_ -= bytes;
  }
  void words(std::uint32_t* to, std::size_t count) {
    source_.read(to, 4 * count);
    for (std::size_t i = 0; swapped_ && i < count; ++i) to[i] = __builtin_bswap32(to[i]);
  }

  FileSection& source_;
  bool swapped_, is_small_ = false;
  std::uint64_t left_ = 0;  ///< bytes of the array
};

/// What stands before a variable of version 4.
struct Header4 {
  std::uint32_t type = 0, rows = 0, cols = 0, imaginary = 0, name_bytes = 0;
  bool swapped = false;
  std::uint32_t digit(std::uint32_t place) const { return type / place % 10; }
};

std::optional<Header4> header_at(const Descriptor& file, off_t at) {
  std::uint32_t words[6] = {};  // the name is one letter at least
  constexpr ssize_t before_name = 5 * sizeof words[0];
  if (::pread(file.fd(), words, sizeof words, at) <= before_name) return {};
  const bool swapped = words[0] > 0xffff;
  for (int i = 0; swapped && i < 5; ++i) words[i] = __builtin_bswap32(words[i]);
  const Header4 header{words[0], words[1], words[2], words[3], words[4], swapped};
  // Byte order, 0, type of the numbers, class.
  const bool is_type =
      header.type < 2000 && header.digit(100) == 0 && header.digit(10) <= 5 && header.digit(1) <= 2;
  const auto letter = reinterpret_cast<const unsigned char*>(words)[before_name];
  const bool is_header = is_type && header.rows <= INT32_MAX && header.cols <= INT32_MAX &&
                         header.imaginary <= 1 && header.name_bytes > 1 && header.name_bytes <= 64 &&
                         std::isalpha(letter) != 0;
  return is_header ? std::optional(header) : std::nullopt;
}

/// Requires that the entries of a sparse matrix of version 4 are sorted by columns, then rows. Row after row
/// of a table of doubles, whose last one is the size.
void require_sorted(const Descriptor& file, off_t at, const Header4& header) {
  if (header.cols == 4) throw BrokenMat("a sparse matrix is complex; allowed: real numbers");
  if (header.digit(10) != 0 || header.cols != 3 || header.rows < 1)
    throw BrokenMat("a sparse matrix is no table of doubles");
  const auto column = [&](int which) {
    std::vector<double> numbers(header.rows);
    const auto bytes = static_cast<off_t>(numbers.size() * sizeof(double));
    FileSection(file, at + which * bytes, at + (which + 1) * bytes, false)
        .read(numbers.data(), static_cast<std::size_t>(bytes));
    for (double& number : numbers) {
      std::uint64_t bits;
      std::memcpy(&bits, &number, sizeof bits);
      if (header.swapped) bits = __builtin_bswap64(bits);
      std::memcpy(&number, &bits, sizeof bits);
      if (!(number >= 1 && number <= INT32_MAX && number == std::floor(number)))
        throw BrokenMat("an index of a sparse matrix is none");
    }
    return numbers;
  };
  const std::vector<double> rows = column(0), cols = column(1);
  for (std::size_t i = 0; i + 1 < rows.size(); ++i) {
    if (rows[i] > rows.back() || cols[i] > cols.back())
      throw BrokenMat("an entry is outside of its sparse matrix");
    if (i > 0 && std::pair(cols[i - 1], rows[i - 1]) >= std::pair(cols[i], rows[i]))
      throw BrokenMat("the entries of a sparse matrix are not sorted by columns; save it again with -v7");
  }
}

void require_whole4(const Descriptor& file, off_t end) {
  constexpr std::uint64_t bytes[] = {8, 4, 4, 2, 2, 1};
  for (off_t at = 0; at < end;) {
    const std::optional<Header4> header = header_at(file, at);
    if (!header) throw BrokenMat("a variable has no header");
    at += static_cast<off_t>(5 * sizeof(std::uint32_t)) + header->name_bytes;
    const std::uint64_t count = std::uint64_t{header->rows} * header->cols * (header->imaginary + 1);
    if (at > end || count > static_cast<std::uint64_t>(end - at) / bytes[header->digit(10)])
      throw BrokenMat(cut_off);
    if (header->digit(1) == 2) require_sorted(file, at, *header);
    at += static_cast<off_t>(count * bytes[header->digit(10)]);
  }
}

constexpr off_t mat_header_bytes = 128;

/// The two letters that tell the byte order of version 5, "IM" or "MI"; else empty.
std::string byte_order(const Descriptor& file) {
  char end[4] = "";  // the version is 1
  if (::pread(file.fd(), end, 4, mat_header_bytes - 4) != 4) return {};
  using namespace std::string_view_literals;
  const std::string_view words(end, 4);
  return words == "\0\1IM"sv || words == "\1\0MI"sv ? std::string(end + 2, 2) : std::string();
}

void require_whole5(const Descriptor& file, off_t end, bool swapped) {
  for (off_t at = mat_header_bytes; at < end;) {
    std::uint32_t tag[2];
    if (::pread(file.fd(), tag, sizeof tag, at) != sizeof tag) throw BrokenMat(cut_off);
    for (std::uint32_t& word : tag) word = swapped ? __builtin_bswap32(word) : word;
    at += static_cast<off_t>(sizeof tag);
    if (tag[1] > end - at) throw BrokenMat(cut_off);
    if (tag[0] != type_array && tag[0] != type_deflated) throw BrokenMat("an element is no array");
    FileSection source(file, at, at + tag[1], tag[0] == type_deflated);
    ArrayWalk walk(source, swapped);
    walk.array(tag[0] == type_deflated ? walk.array_bytes() : tag[1], 0);
    source.end();
    at += tag[1];
  }
}

}  // namespace

bool is_mat(const Descriptor& file) {
  return !byte_order(file).empty() || header_at(file, 0).has_value();
}

std::string broken_mat(const Descriptor& file) {
  const off_t end = ::lseek(file.fd(), 0, SEEK_END);
  const std::string order = byte_order(file);
  try {
    if (order.empty()) {
      require_whole4(file, end);
    } else {
      require_whole5(file, end, order == "MI");
    }
  } catch (const BrokenMat& e) {
    return e.what();
  }
  return {};
}

}  // namespace gaussweep::io
