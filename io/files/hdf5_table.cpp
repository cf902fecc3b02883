/// Reads and writes tables as compound datasets of HDF5, with a checksum per column.

#include "io/files/hdf5_table.hpp"

#include <nlohmann/json.hpp>

#include "io/files/digest.hpp"
#include "io/files/hdf5_inside.hpp"

namespace gaussweep::io::h5 {
namespace {

// The size of a chunk: small enough that the shuffle filter works in cache, and large enough for good
// compression.
constexpr std::size_t chunk_bytes = std::size_t{1} << 18;
// Deflate compresses at most 1032:1. A table that claims more rows is damaged; reading it would take very
// long.
constexpr hsize_t max_compression = 1032;
constexpr std::size_t max_text_bytes = 4096;
constexpr std::string_view ellipsis = "\u2026";

/// Returns HDF5's compound type for packed rows of a layout, with the given types for integers and reals.
/// Columns that the file lacks (`bytes` is 0) are left out.
Type compound(const Layout& layout, hid_t integer, hid_t real, const std::string& action) {
  Type type(H5Tcreate(H5T_COMPOUND, std::max<std::size_t>(layout.row_bytes, 1)), action);
  for (const Member& member : layout.members) {
    if (member.bytes == 0) continue;
    const Type text = fixed_string(member.bytes);
    check(H5Tset_cset(text, member.character_set), action);
    const hid_t kind = member.kind == Kind::text      ? hid_t(text)
                       : member.kind == Kind::integer ? integer
                                                      : real;
    check(H5Tinsert(type, member.name.c_str(), member.offset, kind), action);
  }
  return type;
}

/// Returns the bytes that the file's column takes in a packed row.
/// @param type the column's type in the file @throws Error if the column is not of the expected kind
std::size_t packed_bytes(const Type& type, Kind kind, const std::string& column, const std::string& action) {
  const H5T_class_t found = H5Tget_class(type);
  if (kind == Kind::text) {
    const bool is_fixed = found == H5T_STRING && H5Tis_variable_str(type) == 0;
    if (!is_fixed)
      throw Error("could not " + action + ": its column '" + column + "' must be a string of fixed length");
    return H5Tget_size(type);
  }
  if (found != H5T_INTEGER && !(kind == Kind::real && found == H5T_FLOAT)) {
    throw Error("could not " + action + ": its column '" + column + "' must be " +
                (kind == Kind::integer ? "an integer" : "a floating-point number"));
  }
  return 8;
}

/// Returns the number of rows to read at a time, which is a multiple of the chunk's rows if possible.
hsize_t rows_per_read(hid_t dataset, hsize_t row_bytes, const std::string& action) {
  const Properties creation(H5Dget_create_plist(dataset), action);
  hsize_t rows = 0;
  if (H5Pget_layout(creation) == H5D_CHUNKED) check(H5Pget_chunk(creation, 1, &rows), action);
  // Reads several small chunks together, and the huge chunks of a file from another program in parts.
  const hsize_t target = std::max<hsize_t>(1, 4 * chunk_bytes / std::max<hsize_t>(row_bytes, 1));
  return rows == 0 || rows > target ? target : target / rows * rows;
}

constexpr bool little_endian = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;

/// Appends to `out` the bytes of a cell that its column's checksum covers: text without padding plus one NUL,
/// or a number in little-endian order.
void append_checksummed_bytes(const char* cell, const Member& member, std::string& out) {
  if (member.kind == Kind::text) {
    std::size_t length = member.bytes;
    while (length > 0 && cell[length - 1] == '\0') --length;
    out.append(cell, length);
    out += '\0';
    return;
  }
  out.append(cell, member.bytes);
  if (!little_endian) std::reverse(out.end() - static_cast<std::ptrdiff_t>(member.bytes), out.end());
}

}  // namespace

std::string_view stored_text(std::string_view text, std::string& scratch) {
  const auto is_ascii = [](char c) { return static_cast<unsigned char>(c) < 0x80; };
  const auto is_continuation = [](char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; };
  std::string_view stored = text;
  if (!std::all_of(text.begin(), text.end(), is_ascii)) {
    // Writing the text as JSON and parsing it again replaces invalid UTF-8 by U+FFFD.
    using Json = nlohmann::json;
    const std::string quoted = Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
    scratch = Json::parse(quoted).get<std::string>();
    stored = scratch;
  }
  if (stored.size() > max_text_bytes) {
    std::size_t end = max_text_bytes - ellipsis.size();
    while (end > 0 && is_continuation(stored[end])) --end;  // does not cut within a UTF-8 sequence
    scratch = std::string(stored.substr(0, end)).append(ellipsis);
    stored = scratch;
  }
  return stored;
}

TableChecksums::TableChecksums(const Layout& layout) : layout_(layout), crcs_(layout.members.size(), 0) {}

void TableChecksums::add(const char* packed, std::size_t count) {
  for (std::size_t c = 0; c < crcs_.size(); ++c) {
    const Member& member = layout_.members[c];
    if (member.bytes == 0) continue;
    gathered_.clear();
    for (std::size_t i = 0; i < count; ++i)
      append_checksummed_bytes(packed + i * layout_.row_bytes + member.offset, member, gathered_);
    crcs_[c] = crc32_of(gathered_, crcs_[c]);
  }
  rows_ += count;
}

std::map<std::string, std::string> TableChecksums::columns() const {
  std::map<std::string, std::string> columns;
  for (std::size_t c = 0; c < crcs_.size(); ++c) {
    const Member& member = layout_.members[c];
    columns[member.name] = member.bytes > 0 ? crc32_text(crcs_[c]) : "";
  }
  return columns;
}

TableWriter::TableWriter(hid_t file, const std::string& name, const Layout& layout, std::size_t rows)
    : action_("write the table '" + name + "'"),
      chunk_rows_(std::max<std::size_t>(1, chunk_bytes / layout.row_bytes)) {
  // Files are little-endian; memory has this machine's byte order, and HDF5 converts if they differ.
  const Type type = compound(layout, H5T_STD_I64LE, H5T_IEEE_F64LE, action_);
  memory_ = compound(layout, H5T_NATIVE_INT64, H5T_NATIVE_DOUBLE, action_);
  const hsize_t count = rows, chunk = chunk_rows_, unlimited = H5S_UNLIMITED;
  space_ = Space(H5Screate_simple(1, &count, &unlimited), action_);
  const Properties creation(H5Pcreate(H5P_DATASET_CREATE), action_);
  check(H5Pset_chunk(creation, 1, &chunk), action_);
  check(H5Pset_shuffle(creation), action_);
  check(H5Pset_deflate(creation, 1), action_);
  dataset_ =
      Dataset(H5Dcreate2(file, name.c_str(), type, space_, H5P_DEFAULT, creation, H5P_DEFAULT), action_);
}

void TableWriter::write(std::size_t first, std::size_t count, const char* packed) {
  const hsize_t start = first, length = count;
  check(H5Sselect_hyperslab(space_, H5S_SELECT_SET, &start, nullptr, &length, nullptr), action_);
  const Space block(H5Screate_simple(1, &length, nullptr), action_);
  check(H5Dwrite(dataset_, memory_, block, space_, H5P_DEFAULT, packed), action_);
}

TableReader::TableReader(hid_t file, const std::string& name,
                         const std::vector<std::pair<std::string, Kind>>& wanted)
    : action_("read the table '" + name + "'"), dataset_(open_dataset(file, name)) {
  const Type type(H5Dget_type(dataset_), action_);
  space_ = Space(H5Dget_space(dataset_), action_);
  if (H5Tget_class(type) != H5T_COMPOUND || H5Sget_simple_extent_ndims(space_) != 1) {
    throw Error("could not " + action_ + ": it is not a one-dimensional compound dataset");
  }
  hsize_t rows = 0;
  check(H5Sget_simple_extent_dims(space_, &rows, nullptr), action_);
  const hsize_t row_bytes = H5Tget_size(type);
  if (rows > 0 && rows > H5Dget_storage_size(dataset_) * max_compression / row_bytes + 1) {
    throw Error("could not " + action_ + ": it claims " + std::to_string(rows) + " rows but holds only " +
                std::to_string(H5Dget_storage_size(dataset_)) + " bytes");
  }
  rows_ = rows;
  chunk_rows_ = rows_per_read(dataset_, row_bytes, action_);
  for (const auto& [column, kind] : wanted) {
    const int index = H5Tget_member_index(type, column.c_str());
    if (index < 0) {
      consume_error_stack();  // files of older versions lack the column
      layout_.add(column, kind, 0);
      continue;
    }
    const Type member(H5Tget_member_type(type, static_cast<unsigned>(index)), action_);
    layout_.add(column, kind, packed_bytes(member, kind, column, action_));
    if (kind == Kind::text) layout_.members.back().character_set = H5Tget_cset(member);
  }
  memory_ = compound(layout_, H5T_NATIVE_INT64, H5T_NATIVE_DOUBLE, action_);
}

void TableReader::read(std::size_t first, std::size_t count, char* packed) const {
  const hsize_t start = first, length = count;
  check(H5Sselect_hyperslab(space_, H5S_SELECT_SET, &start, nullptr, &length, nullptr), action_);
  const Space block(H5Screate_simple(1, &length, nullptr), action_);
  check(H5Dread(dataset_, memory_, block, space_, H5P_DEFAULT, packed), action_);
}

}  // namespace gaussweep::io::h5
