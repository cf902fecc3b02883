/// Finds the matrix in an HDF5 file of gaussweep, MATLAB, Octave, Julia, netCDF or others, and reads it.

#include "io/matrix/hdf5_matrix.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "io/files/errors.hpp"
#include "io/files/hdf5_handles.hpp"
#include "io/files/hdf5_inside.hpp"
#include "io/matrix/dataset_choice.hpp"
#include "io/matrix/file_elements.hpp"
#include "io/matrix/file_seal.hpp"
#include "io/matrix/matrix_limits.hpp"

namespace gaussweep::io {
namespace {

[[noreturn]] void refuse_hdf5(const std::filesystem::path& path, const std::string& message) {
  throw InputError(path.string() + ": " + message);
}

/// The program that wrote the file. MATLAB and Julia (JLD, JLD2) store the first dimension last.
enum class Writer { other, matlab, julia };

/// Returns the writer. Files of MATLAB and Julia begin with a block of 512 bytes that contains one of these
/// texts.
Writer writer_of(const Descriptor& file) {
  constexpr std::pair<std::string_view, Writer> texts[] = {{"MATLAB 7.3", Writer::matlab},
                                                           {"HDF5-based Julia Data Format", Writer::julia},
                                                           {"Julia data file (HDF5)", Writer::julia}};
  char start[32] = "";
  const ssize_t count = ::pread(file.fd(), start, sizeof start, 0);
  const std::string_view found(start, static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  for (const auto& [text, writer] : texts) {
    if (found.substr(0, text.size()) == text) return writer;
  }
  return Writer::other;
}

/// Returns a text attribute; empty if it is absent or no text.
std::string text_attribute(hid_t object, const char* name) {
  if (H5Aexists(object, name) <= 0) return {};
  const h5::Attribute attribute(H5Aopen(object, name, H5P_DEFAULT), std::string("open ") + name);
  const h5::Type type(H5Aget_type(attribute), std::string("read the type of ") + name);
  return H5Tget_class(type) == H5T_STRING ? h5::read_text(attribute, name) : std::string();
}

/// Returns true for h5py's bool: an enumeration of one byte with the members FALSE = 0 and TRUE = 1.
bool is_boolean(hid_t type) {
  if (H5Tget_class(type) != H5T_ENUM || H5Tget_size(type) != 1 || H5Tget_nmembers(type) != 2) return false;
  char no = -1, yes = -1;
  return H5Tenum_valueof(type, "FALSE", &no) >= 0 && no == 0 && H5Tenum_valueof(type, "TRUE", &yes) >= 0 &&
         yes == 1;
}

/// Returns the value of a flag; an absent flag is false. A flag that is neither a number nor h5py's bool is
/// an error, because ignoring it would transpose the matrix.
bool flag_attribute(hid_t object, const char* name) {
  if (H5Aexists(object, name) <= 0) return false;
  const h5::Attribute attribute(H5Aopen(object, name, H5P_DEFAULT), std::string("open ") + name);
  const h5::Space space(H5Aget_space(attribute), std::string("read the shape of ") + name);
  const h5::Type type(H5Aget_type(attribute), std::string("read the type of ") + name);
  if (H5Sget_simple_extent_npoints(space) != 1 || (H5Tget_class(type) != H5T_INTEGER && !is_boolean(type))) {
    throw h5::Error(std::string("the attribute ") + name + " is no single integer; allowed: 0 or 1");
  }
  long long value = 0;
  if (is_boolean(type)) {
    unsigned char byte = 0;
    h5::check(H5Aread(attribute, type, &byte), std::string("read ") + name);
    value = byte;
  } else {
    h5::check(H5Aread(attribute, H5T_NATIVE_LLONG, &value), std::string("read ") + name);
  }
  return value != 0;
}

/// A dataset that may be a matrix.
struct InspectedDataset {
  Candidate candidate;
  std::vector<hsize_t> dims;  ///< in the order of the file
  bool by_rows = true;        ///< the file stores the matrix row by row; false: column by column
  ElementType element;        ///< the type that HDF5 converts the elements to
};

/// Returns the type into which H5Dread converts elements of the stored type; its kind is 0 if the stored type
/// is not readable.
ElementType element_of(hid_t type) {
  const std::size_t bytes = H5Tget_size(type);
  switch (H5Tget_class(type)) {
    case H5T_FLOAT:
      return {'f', bytes > sizeof(double) ? sizeof(long double) : sizeof(double)};
    case H5T_INTEGER:
      return bytes > 8 ? ElementType{} : ElementType{H5Tget_sign(type) == H5T_SGN_NONE ? 'u' : 'i', 8};
    case H5T_ENUM:
      return is_boolean(type) ? ElementType{'b', 1} : ElementType{};
    case H5T_BITFIELD:  // bool of PyTables and of Julia
      return bytes == 1 ? ElementType{'u', 1} : ElementType{};
    default:
      return {};
  }
}

/// Returns HDF5's id of the type in memory; bool and bit fields are not converted.
hid_t memory_type(const ElementType& element, hid_t stored) {
  if (element.bytes == 1) return stored;
  if (element.kind == 'f') return element.bytes == sizeof(double) ? H5T_NATIVE_DOUBLE : H5T_NATIVE_LDOUBLE;
  return element.kind == 'i' ? H5T_NATIVE_INT64 : H5T_NATIVE_UINT64;
}

/// Returns the reason why a MATLAB variable of this class is not a full numeric matrix; empty if it is.
std::string unsupported_class_reason(const std::string& name) {
  static const std::array<const char*, 11> classes = {"double", "single", "logical", "int8",
                                                      "int16",  "int32",  "int64",   "uint8",
                                                      "uint16", "uint32", "uint64"};
  if (std::find(classes.begin(), classes.end(), name) != classes.end()) return {};
  return " is of MATLAB class '" + name + "'; allowed: full double, single, int8 to uint64 and logical";
}

/// Returns the dimensions; empty for a scalar.
std::vector<hsize_t> dims_of(hid_t dataset, const std::string& name) {
  const h5::Space space(H5Dget_space(dataset), "read the shape of " + name);
  if (H5Sget_simple_extent_type(space) == H5S_NULL) return {0, 0};
  const int rank = h5::check(H5Sget_simple_extent_ndims(space), "read the shape of " + name);
  std::vector<hsize_t> dims(static_cast<std::size_t>(rank));
  h5::check(H5Sget_simple_extent_dims(space, dims.data(), nullptr), "read the shape of " + name);
  return dims;
}

/// Returns true if a matrix with these dimensions is not a vector.
bool is_proper_matrix(const std::vector<hsize_t>& dims) {
  return dims.size() == 2 && dims[0] > 1 && dims[1] > 1;
}

/// Inspects a dataset. `candidate.why` becomes the reason why it cannot be read as a matrix.
/// @param is_by_columns true if the writing program stores the first dimension last (column-major)
InspectedDataset inspect_dataset(hid_t file, const std::string& name, Writer writer, bool is_by_columns) {
  InspectedDataset found;
  found.candidate.name = name;
  const auto refused = [&](const std::string& why) {
    found.candidate.why = name + why;
    return found;
  };
  const h5::Object dataset = h5::open_object(file, name);
  if (writer == Writer::matlab) {
    const std::string why = unsupported_class_reason(text_attribute(dataset, "MATLAB_class"));
    if (!why.empty()) return refused(why);
  }
  if (flag_attribute(dataset, "MATLAB_empty")) return refused(" is empty");
  const h5::Type type(H5Dget_type(dataset), "read the type of " + name);
  if (H5Tget_class(type) == H5T_COMPOUND) {
    found.candidate.is_unread_matrix = is_proper_matrix(dims_of(dataset, name));
    return refused(" is complex (or another compound type); allowed: real numbers");
  }
  for (const char* packing : {"scale_factor", "add_offset"}) {
    if (H5Aexists(dataset, packing) > 0)
      return refused(std::string(" is packed (netCDF's ") + packing + "); allowed: the numbers themselves");
  }
  found.element = element_of(type);
  if (found.element.kind == 0) return refused(std::string(" holds no numbers; allowed: ") + readable_types);
  found.dims = dims_of(dataset, name);
  const bool by_columns = is_by_columns || flag_attribute(dataset, "column_major");
  found.by_rows = !by_columns || found.dims.size() < 2;
  std::vector<std::uint64_t> dims(found.dims.begin(), found.dims.end());
  if (!found.by_rows) std::reverse(dims.begin(), dims.end());
  const MatrixShape shape = shape_of(dims);
  if (!shape.why.empty()) return refused(" " + shape.why);
  found.candidate.rows = shape.rows;
  found.candidate.cols = shape.cols;
  found.candidate.why = h5::outside_data_reason(dataset, name);
  return found;
}

/// Returns Octave's name of a variable's type: "matrix", "sparse matrix".
std::string octave_type(hid_t file, const std::string& name) {
  if (!h5::has_object(file, name + "/type")) return {};
  const h5::Dataset dataset = h5::open_dataset(file, name + "/type");
  const h5::Type type(H5Dget_type(dataset), "read the type of " + name);
  const h5::Space space(H5Dget_space(dataset), "read the shape of " + name);
  constexpr std::size_t max_bytes = 64;
  if (H5Tget_class(type) != H5T_STRING || H5Tis_variable_str(type) > 0 || H5Tget_size(type) > max_bytes ||
      H5Sget_simple_extent_npoints(space) != 1)
    return {};
  std::string text(max_bytes, '\0');
  h5::check(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text.data()), "read the type of " + name);
  return text.c_str();
}

/// Returns true for a group that represents one variable of Octave. A struct does not count, because its
/// fields are such groups themselves.
bool is_octave_variable(hid_t file, const std::string& name) {
  return H5Aexists(h5::open_object(file, name), "OCTAVE_NEW_FORMAT") > 0 &&
         octave_type(file, name) != "scalar struct";
}

/// Inspects a variable of Octave: a group with the datasets `type` and `value`.
InspectedDataset inspect_octave_variable(hid_t file, const std::string& name) {
  InspectedDataset found;
  found.candidate.name = name + "/value";
  const std::string type = octave_type(file, name);
  const bool is_full = type.find("sparse") == std::string::npos &&
                       type.find("complex") == std::string::npos &&
                       (type.find("matrix") != std::string::npos ||
                        type.find("scalar") != std::string::npos || type == "bool");
  if (H5Aexists(h5::open_object(file, name), "OCTAVE_EMPTY_MATRIX") > 0) {
    found.candidate.why = name + " is empty";
  } else if (!is_full || !h5::has_object(file, name + "/value")) {
    found.candidate.is_unread_matrix = type.find("matrix") != std::string::npos;
    found.candidate.why =
        name + " is Octave's '" + type +
        "'; allowed: real numbers in a full matrix (full() makes one of a sparse matrix or a range)";
  } else {
    found = inspect_dataset(file, name + "/value", Writer::other, true);
  }
  return found;
}

/// Describes a group: a sparse matrix, another object of MATLAB, or a folder of datasets (Candidate::why is
/// then empty). A MATLAB struct is a folder of its fields.
Candidate inspect_group(hid_t file, hid_t object, const std::string& path, Writer writer) {
  Candidate group{path, 0, 0, {}};
  const std::string matlab_class = text_attribute(object, "MATLAB_class");
  if (H5Aexists(object, "MATLAB_sparse") > 0) {
    group.why = path + " is sparse; allowed: full matrices (use full() in MATLAB)";
  } else if (h5::has_object(file, path + "/indptr") && h5::has_object(file, path + "/indices")) {
    group.why = path + " is sparse (indptr, indices); allowed: full matrices (use toarray() in SciPy)";
  } else if (writer == Writer::matlab && !matlab_class.empty() && matlab_class != "struct") {
    group.why = path + unsupported_class_reason(matlab_class);
    return group;
  }
  group.is_unread_matrix = !group.why.empty();
  return group;
}

/// The state of a search for matrices in all objects of a file.
struct Search {
  Writer writer;
  std::vector<InspectedDataset> found = {};
  /// The path, with a slash at the end, of the last visited group that represents one variable, such as a
  /// sparse matrix. The objects in this group are its parts and are skipped.
  std::string variable = {};
  std::string error = {};
};

/// Adds an object of the file to the search if it may be a matrix. HDF5 calls this for each object.
herr_t visit(hid_t file, const char* name, const H5O_info_t* info, void* out) {
  auto& search = *static_cast<Search*>(out);
  const std::string path = std::string("/") + name;
  // Skips internal groups of JLD (/_types, /_creator) and of MATLAB (#refs#, #subsystem#), and the parts of
  // sparse matrices.
  if (search.writer == Writer::julia && path[1] == '_') return 0;
  if (search.writer == Writer::matlab && path[1] == '#') return 0;
  if (!search.variable.empty() && path.compare(0, search.variable.size(), search.variable) == 0) return 0;
  try {
    if (info->type == H5O_TYPE_GROUP && std::string(name) != ".") {
      const bool is_octave = is_octave_variable(file, path);
      const InspectedDataset variable =
          is_octave
              ? inspect_octave_variable(file, path)
              : InspectedDataset{
                    inspect_group(file, h5::open_object(file, path), path, search.writer), {}, true, {}};
      if (!variable.candidate.why.empty() || is_octave) {
        search.found.push_back(variable);
        search.variable = path + "/";
      }
    }
    if (info->type == H5O_TYPE_DATASET)
      search.found.push_back(inspect_dataset(file, path, search.writer, search.writer != Writer::other));
    return 0;
  } catch (const std::exception& e) {  // exceptions must not unwind through HDF5's C frames
    search.error = e.what();
    return -1;
  }
}

/// Returns the paths at which a name like Problem.A may be found. These are an object of this name, a field
/// of a MATLAB struct or member of a group (Problem/A), and a field of an Octave struct (Problem/value/A).
std::array<std::string, 3> paths_of(const std::string& name) {
  std::string path = name, octave_path;
  std::replace(path.begin(), path.end(), '.', '/');
  for (const char c : path) octave_path += c == '/' && !octave_path.empty() ? "/value/" : std::string(1, c);
  return {name, path, octave_path};
}

/// Returns the dataset to read: the named one, the first of the default names, or the only matrix.
InspectedDataset chosen_dataset(const std::filesystem::path& path, hid_t file, const DatasetChoice& choice,
                                Writer writer) {
  std::vector<std::string> paths;
  for (const std::string& name : default_names(choice)) {
    for (const std::string& path_of_name : paths_of((choice.name.empty() ? "/" : "") + name))
      paths.push_back(path_of_name);
  }
  for (const std::string& wanted : paths) {
    if (wanted.find('\0') != std::string::npos) refuse_hdf5(path, "a NUL byte in the name of the dataset");
    if (!h5::has_object(file, wanted)) continue;
    const h5::Object object = h5::open_object(file, wanted);
    const std::string group =
        wanted.substr(0, wanted.rfind('/') == std::string::npos ? 0 : wanted.rfind('/'));
    H5O_info_t info;
    h5::check(H5Oget_info(object, &info), "look at " + wanted);
    // `wanted` may name a variable of Octave (/A) or the dataset in it (/A/value).
    const bool is_octave = is_octave_variable(file, wanted);
    if (is_octave || info.type == H5O_TYPE_DATASET) {
      const InspectedDataset found = is_octave ? inspect_octave_variable(file, wanted)
                                     : !group.empty() && is_octave_variable(file, group)
                                         ? inspect_octave_variable(file, group)
                                         : inspect_dataset(file, wanted, writer, writer != Writer::other);
      if (!found.candidate.why.empty()) refuse_hdf5(path, found.candidate.why);
      return found;
    }
    const Candidate candidate = inspect_group(file, object, wanted, writer);
    if (!candidate.why.empty()) refuse_hdf5(path, candidate.why);
    if (!choice.name.empty()) refuse_hdf5(path, wanted + " is a group (or struct); allowed: a dataset");
  }
  Search search{writer};
  if (H5Ovisit(file, H5_INDEX_NAME, H5_ITER_NATIVE, visit, &search) < 0)
    refuse_hdf5(path, search.error.empty() ? h5::consume_error_stack() : search.error);
  std::vector<Candidate> candidates;
  for (const InspectedDataset& found : search.found) candidates.push_back(found.candidate);
  return search.found[sole_matrix(path, candidates, choice)];
}

/// The size of the blocks in which a dataset is read: `lines` lines of `width` elements each. A line is a
/// row, or a column if the file stores columns. A block has about 64 MiB in whole chunks, so that no chunk is
/// decompressed twice.
struct BlockSize {
  hsize_t lines, width;
};
/// Chooses the block size. @param lines number of lines of the dataset @param length elements per line
BlockSize block_size(hid_t dataset, hsize_t lines, hsize_t length, int rank) {
  constexpr hsize_t elements = (hsize_t{64} << 20) / sizeof(double);
  const h5::Properties creation(H5Dget_create_plist(dataset), "read the layout of a dataset");
  hsize_t chunk[2] = {1, 1};
  if (H5Pget_layout(creation) == H5D_CHUNKED)
    h5::check(H5Pget_chunk(creation, rank, chunk), "read the chunks of a dataset");
  for (hsize_t& size : chunk) size = std::max<hsize_t>(1, size);
  const hsize_t width = std::min(length, std::max<hsize_t>(1, elements / chunk[0] / chunk[1]) * chunk[1]);
  return {std::min(lines, std::max<hsize_t>(1, elements / width / chunk[0]) * chunk[0]), width};
}

/// Reads the elements into a matrix block by block, so that a large matrix is not in memory twice.
void read_blocks(hid_t file, const InspectedDataset& found, ElementSink& sink) {
  const std::string& name = found.candidate.name;
  const h5::Dataset dataset = h5::open_dataset(file, name);
  const h5::Space space(H5Dget_space(dataset), "read the shape of " + name);
  const h5::Type stored(H5Dget_type(dataset), "read the type of " + name);
  const hid_t type = memory_type(found.element, stored);
  const auto lines = static_cast<hsize_t>(sink.lines()), length = static_cast<hsize_t>(sink.length());
  const auto rank = static_cast<int>(found.dims.size());
  const BlockSize size = block_size(dataset, lines, length, rank);
  std::vector<char> block(size.lines * size.width * found.element.bytes);
  for (hsize_t line = 0; line < lines; line += size.lines) {
    for (hsize_t first = 0; first < length; first += size.width) {
      const hsize_t start[2] = {line, first};
      const hsize_t count[2] = {std::min(size.lines, lines - line), std::min(size.width, length - first)};
      if (rank > 0)
        h5::check(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, nullptr, count, nullptr),
                  "select elements of " + name);
      const hsize_t all = count[0] * count[1];
      const h5::Space memory(H5Screate_simple(1, &all, nullptr), "make a space for elements of " + name);
      h5::check(H5Dread(dataset, type, memory, space, H5P_DEFAULT, block.data()), "read " + name);
      sink.put(block.data(), static_cast<std::int64_t>(line), static_cast<std::int64_t>(count[0]),
               static_cast<std::int64_t>(first), static_cast<std::int64_t>(count[1]));
    }
  }
}

/// Checks the seal if there is one, because HDF5 does not detect modified elements.
void require_intact(const std::filesystem::path& path, const Descriptor& opened) {
  if (!has_seal(opened.fd())) return;
  const std::string why = broken_seal(opened.fd());
  if (!why.empty())
    refuse_hdf5(path, "is not what gaussweep wrote: " + why +
                          "; a matrix that was changed since belongs into another file");
}

}  // namespace

bool is_hdf5(const Descriptor& file) {
  const h5::Quiet quiet;
  const bool found = H5Fis_hdf5(file.path().c_str()) > 0;
  H5Eclear2(H5E_DEFAULT);
  return found;
}

Dense<double> read_hdf5(const std::filesystem::path& path, const Descriptor& opened,
                        const DatasetChoice& choice, bool keep, MatrixInfo& info) {
  const h5::Quiet quiet;
  try {
    const h5::File file = h5::open_read_only(opened.path(), path);
    require_intact(path, opened);
    const Writer writer = writer_of(opened);
    const InspectedDataset found = chosen_dataset(path, file, choice, writer);
    Dense<double> matrix{found.candidate.rows, found.candidate.cols, {}};
    info.format = writer == Writer::matlab                    ? "matlab"
                  : text_attribute(file, "gaussweep").empty() ? "hdf5"
                                                              : "gaussweep";
    info.dataset = found.candidate.name;
    info.rows = matrix.rows;
    info.cols = matrix.cols;
    info.stored_entries = info.rows > INT64_MAX / info.cols ? INT64_MAX : info.rows * info.cols;
    info.field = found.element.kind == 'f' ? "real" : "integer";
    info.symmetry = "general";
    for (const char* name : {"kind", "precision", "seed", "generator", "source_sha256"}) {
      const std::string value = text_attribute(file, name);
      if (!value.empty()) info.attributes[name] = value;
    }
    if (!keep) return matrix;
    const std::string where = path.string() + ": " + info.dataset + ": ",
                      why = too_large(info.rows, info.cols);
    if (!why.empty()) throw InputError(where + why);
    matrix.data.resize(static_cast<std::size_t>(info.stored_entries));
    ElementSink sink(matrix, found.element, found.by_rows, where);
    read_blocks(file, found, sink);
    return matrix;
  } catch (const h5::Error& e) {
    refuse_hdf5(path, e.what());
  }
}

}  // namespace gaussweep::io
