#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <optional>

#include "io/files/errors.hpp"
#include "io/files/hdf5_handles.hpp"
#include "io/files/hdf5_inside.hpp"
#include "io/files/open_file.hpp"
#include "io/matrix/file_seal.hpp"
#include "io/matrix/mat.hpp"
#include "io/matrix/mat_layout.hpp"
#include "io/matrix/matrix_file.hpp"
#include "io/matrix/matrix_limits.hpp"
#include "io/matrix/matrix_market.hpp"
#include "io/matrix/npy.hpp"

namespace gaussweep::io {
namespace {

[[noreturn]] void fail(const std::filesystem::path& path, const std::string& message) {
  throw InputError(path.string() + ": " + message);
}

/// Opens the file, so that what is read under its descriptor's name is a regular file whatever happens.
Descriptor require_file(const std::filesystem::path& path) {
  const std::string& name = path.native();
  const std::size_t nul = name.find('\0');
  if (nul != std::string::npos) {
    // The system would end the name there, and so would the message.
    throw InputError(name.substr(0, nul) + "\\0" + name.substr(nul + 1, name.find('\0', nul + 1) - nul - 1) +
                     ": a NUL byte in the name; no file can have one");
  }
  Opened opened = open_regular(path);
  if (opened) return std::move(opened.file);
  if (opened.error == ENOENT) fail(path, "there is no such file");
  if (opened.error != 0) fail(path, "cannot be read: " + opened.why);
  fail(path, "is no file (" + opened.why + "); give a Matrix Market, NumPy, MATLAB or HDF5 file");
}

/// A MATLAB v7.3 file is an HDF5 file behind a block of 512 bytes that begins with this text.
bool is_matlab(const Descriptor& file) {
  char start[10] = "";
  return ::pread(file.fd(), start, sizeof start, 0) == sizeof start &&
         std::memcmp(start, "MATLAB 7.3", sizeof start) == 0;
}

std::string text_attribute(hid_t object, const char* name) {
  if (H5Aexists(object, name) <= 0) return {};
  const h5::Attribute attribute(H5Aopen(object, name, H5P_DEFAULT), std::string("open ") + name);
  const h5::Type type(H5Aget_type(attribute), std::string("read the type of ") + name);
  return H5Tget_class(type) == H5T_STRING ? h5::read_text(attribute, name) : std::string();
}

/// An absent flag is false. One that is no number (or h5py's bool) is an error: it would turn the matrix
/// over.
bool flag_attribute(hid_t object, const char* name) {
  if (H5Aexists(object, name) <= 0) return false;
  const h5::Attribute attribute(H5Aopen(object, name, H5P_DEFAULT), std::string("open ") + name);
  const h5::Space space(H5Aget_space(attribute), std::string("read the shape of ") + name);
  const h5::Type type(H5Aget_type(attribute), std::string("read the type of ") + name);
  const H5T_class_t type_class = H5Tget_class(type);
  const bool boolean = type_class == H5T_ENUM && H5Tget_size(type) == 1;
  if (H5Sget_simple_extent_npoints(space) != 1 || (type_class != H5T_INTEGER && !boolean)) {
    throw h5::Error(std::string("the attribute ") + name + " is no single integer; allowed: 0 or 1");
  }
  long long value = 0;
  if (boolean) {
    unsigned char byte = 0;
    h5::check(H5Aread(attribute, type, &byte), std::string("read ") + name);
    value = byte;
  } else {
    h5::check(H5Aread(attribute, H5T_NATIVE_LLONG, &value), std::string("read ") + name);
  }
  return value != 0;
}

/// Returns true for a variable that Octave wrote: a group with the datasets `type` and `value`.
bool is_octave_variable(hid_t object) {
  return H5Aexists(object, "OCTAVE_NEW_FORMAT") > 0;
}

/// A dataset that may be a matrix.
struct Found {
  std::string name;
  std::int64_t dims[2] = {0, 0};
  bool column_major = false;  ///< the first dimension is the column's
  std::string field;
};

/// Looks at a dataset. `why` says why it is no matrix that can be read.
bool look_at(hid_t file, const std::string& name, bool matlab, Found& found, std::string& why) {
  const h5::Object dataset = h5::open_object(file, name);
  const std::string matlab_class = text_attribute(dataset, "MATLAB_class");
  if (matlab && matlab_class != "double" && matlab_class != "single") {
    why = name + " is of MATLAB class '" + matlab_class + "'; allowed: full double or single";
    return false;
  }
  if (H5Aexists(dataset, "MATLAB_empty") > 0 && flag_attribute(dataset, "MATLAB_empty")) {
    why = name + " is empty";
    return false;
  }
  const h5::Type type(H5Dget_type(dataset), "read the type of " + name);
  const H5T_class_t type_class = H5Tget_class(type);
  if (type_class == H5T_COMPOUND) {
    why = name + " is complex (or another compound type); allowed: real numbers";
    return false;
  }
  if (type_class != H5T_FLOAT && type_class != H5T_INTEGER) {
    why = name + " holds no numbers";
    return false;
  }
  const h5::Space space(H5Dget_space(dataset), "read the shape of " + name);
  if (H5Sget_simple_extent_ndims(space) != 2) {
    why = name + " has " + std::to_string(H5Sget_simple_extent_ndims(space)) + " dimensions; allowed: 2";
    return false;
  }
  hsize_t dims[2];
  h5::check(H5Sget_simple_extent_dims(space, dims, nullptr), "read the shape of " + name);
  if (dims[0] == 0 || dims[1] == 0) {
    why = name + " is empty";
    return false;
  }
  why = h5::why_not_inside(dataset, name);
  if (!why.empty()) return false;
  found.name = name;
  found.dims[0] = static_cast<std::int64_t>(std::min<hsize_t>(dims[0], INT64_MAX));
  found.dims[1] = static_cast<std::int64_t>(std::min<hsize_t>(dims[1], INT64_MAX));
  const std::size_t group = name.rfind('/');
  const bool octave = group != std::string::npos && group > 0 &&
                      is_octave_variable(h5::open_object(file, name.substr(0, group)));
  found.column_major = matlab || octave || flag_attribute(dataset, "column_major");
  found.field = type_class == H5T_FLOAT ? "real" : "integer";
  return true;
}

/// What a group of a MATLAB file is.
std::string group_words(hid_t object, const std::string& path) {
  return path + (H5Aexists(object, "MATLAB_sparse") > 0
                     ? " is sparse; allowed: full matrices (use full() in MATLAB)"
                     : " is a struct; allowed: a full matrix");
}

struct Search {
  bool matlab;
  std::vector<Found> matrices;
  std::string why;  ///< of the first dataset that was no matrix
};

herr_t visit(hid_t file, const char* name, const H5O_info_t* info, void* out) {
  auto& search = *static_cast<Search*>(out);
  const std::string path = std::string("/") + name;
  // MATLAB's own (#refs#, #subsystem#), and the parts of sparse matrices and structs.
  if (search.matlab && path.find_first_of("#/", 1) != std::string::npos) return 0;
  try {
    std::string why;
    if (info->type == H5O_TYPE_GROUP && search.matlab && std::string(name) != ".") {
      const h5::Object object = h5::open_object(file, path);
      why = group_words(object, path);
    }
    Found found;
    if (info->type == H5O_TYPE_DATASET && look_at(file, path, search.matlab, found, why)) {
      search.matrices.push_back(found);
    }
    if (search.why.empty()) search.why = why;
    return 0;
  } catch (const std::exception& e) {  // whatever it is must not pass through HDF5's frames
    search.why = e.what();
    return -1;
  }
}

/// The dataset that is meant: the one named, /A, or the only matrix.
Found choose(const std::filesystem::path& path, hid_t file, const std::string& dataset, bool matlab) {
  Found found;
  std::string why;
  std::string wanted = !dataset.empty() ? dataset : "/A";
  if (wanted.find('\0') != std::string::npos) fail(path, "a NUL byte in the name of the dataset");
  if (h5::has_object(file, wanted) && is_octave_variable(h5::open_object(file, wanted))) wanted += "/value";
  Search search{matlab, {}, {}};
  if (h5::has_object(file, wanted)) {
    const h5::Object object = h5::open_object(file, wanted);
    H5O_info_t info;
    h5::check(H5Oget_info(object, &info), "look at " + wanted);
    if (info.type == H5O_TYPE_DATASET) {
      if (look_at(file, wanted, matlab, found, why)) return found;
      fail(path, why);
    }
    if (!dataset.empty() || matlab) {
      fail(path, matlab ? group_words(object, wanted) : wanted + " is a group; allowed: a dataset");
    }
  }
  const herr_t visited = H5Ovisit(file, H5_INDEX_NAME, H5_ITER_NATIVE, visit, &search);
  if (visited < 0) fail(path, search.why.empty() ? h5::take_error_text() : search.why);
  std::string names;
  for (const Found& matrix : search.matrices) names += (names.empty() ? "" : ", ") + matrix.name;
  if (!dataset.empty())
    fail(path, "has no dataset '" + dataset + "'; it has: " + (names.empty() ? "no matrix" : names));
  if (search.matrices.size() == 1) return search.matrices.front();
  if (search.matrices.empty()) fail(path, "holds no matrix" + (search.why.empty() ? "" : ": " + search.why));
  fail(path, "holds several matrices (" + names + "); name one with dataset (--dataset)");
}

/// How many rows of a row-major dataset are read at a time: about 64 MiB, and whole chunks, so that none is
/// unpacked twice.
hsize_t panel_rows(hid_t dataset, hsize_t rows, hsize_t cols) {
  constexpr hsize_t panel_elements = (hsize_t{64} << 20) / sizeof(double);
  const h5::Properties creation(H5Dget_create_plist(dataset), "read the layout of a dataset");
  hsize_t chunk[2] = {1, cols};
  if (H5Pget_layout(creation) == H5D_CHUNKED)
    h5::check(H5Pget_chunk(creation, 2, chunk), "read the chunks of a dataset");
  const hsize_t chunks = std::max<hsize_t>(1, panel_elements / cols / std::max<hsize_t>(1, chunk[0]));
  return std::min(rows, chunks * std::max<hsize_t>(1, chunk[0]));
}

/// What a dataset of a file holds, and how.
struct Source {
  const std::filesystem::path& path;
  const Found& found;
  hid_t dataset;
  hid_t space;
  bool integers;
};

/// Element (row, col) of the file's own layout as it stands there, exact: "nan", "1e+400",
/// "9007199254740993".
std::string stored_text(const Source& source, hsize_t row, hsize_t col) {
  const hsize_t start[2] = {row, col}, count[2] = {1, 1};
  const std::string what = "read " + source.found.name;
  h5::check(H5Sselect_hyperslab(source.space, H5S_SELECT_SET, start, nullptr, count, nullptr), what);
  const h5::Space one(H5Screate_simple(2, count, nullptr), what);
  const auto read = [&](hid_t type, auto value) {
    h5::check(H5Dread(source.dataset, type, one, source.space, H5P_DEFAULT, &value), what);
    return value;
  };
  if (source.integers) {
    const h5::Type type(H5Dget_type(source.dataset), what);
    return H5Tget_sign(type) == H5T_SGN_NONE ? std::to_string(read(H5T_NATIVE_ULLONG, 0ULL))
                                             : std::to_string(read(H5T_NATIVE_LLONG, 0LL));
  }
  char text[64];
  std::snprintf(text, sizeof text, "%Lg", read(H5T_NATIVE_LDOUBLE, 0.0L));
  return text;
}

/// Refuses what a double cannot hold: NaN, Inf, floating-point numbers beyond its range, integers beyond
/// 2^53. `value` is what HDF5 made of the element. (It makes 2^53 of 2^53 + 1: such an element is looked at
/// twice.)
void require_held(const Source& source, hsize_t row, hsize_t col, double value) {
  if (source.integers ? std::abs(value) < largest_exact : std::isfinite(value)) return;
  const std::string text = stored_text(source, row, col);
  if (text == "9007199254740992" || text == "-9007199254740992") return;
  const std::string place = source.found.column_major
                                ? std::to_string(col + 1) + ", " + std::to_string(row + 1)
                                : std::to_string(row + 1) + ", " + std::to_string(col + 1);
  fail(source.path,
       source.found.name + ": element (" + place + ") is " + text +
           (source.integers ? ", which may not be exact as a double; allowed: integers up to 2^53"
                            : "; allowed: finite numbers that a double holds"));
}

/// Reads the elements into a matrix, panel by panel: a large one is not held twice.
void read_panels(const Source& source, Dense<double>& matrix) {
  const auto rows = static_cast<hsize_t>(source.found.dims[0]),
             cols = static_cast<hsize_t>(source.found.dims[1]);
  const std::string& name = source.found.name;
  const hsize_t step = panel_rows(source.dataset, rows, cols);
  std::vector<double> panel(step * cols);
  for (hsize_t first = 0; first < rows; first += step) {
    const hsize_t start[2] = {first, 0}, count[2] = {std::min(step, rows - first), cols};
    h5::check(H5Sselect_hyperslab(source.space, H5S_SELECT_SET, start, nullptr, count, nullptr),
              "select rows of " + name);
    const h5::Space block(H5Screate_simple(2, count, nullptr), "make a space for rows of " + name);
    h5::check(H5Dread(source.dataset, H5T_NATIVE_DOUBLE, block, source.space, H5P_DEFAULT, panel.data()),
              "read " + name);
    for (hsize_t j = 0; j < cols; ++j) {
      for (hsize_t i = 0; i < count[0]; ++i) {
        const double value = panel[i * cols + j];
        require_held(source, first + i, j, value);
        matrix.data[source.found.column_major ? (first + i) * cols + j : j * rows + first + i] = value;
      }
    }
  }
}

Dense<double> read_dataset(const std::filesystem::path& path, hid_t file, const Found& found) {
  const std::int64_t rows = found.column_major ? found.dims[1] : found.dims[0];
  const std::int64_t cols = found.column_major ? found.dims[0] : found.dims[1];
  const std::string why = too_large(rows, cols);
  if (!why.empty()) fail(path, found.name + ": " + why);
  const h5::Dataset dataset = h5::open_dataset(file, found.name);
  const h5::Space space(H5Dget_space(dataset), "read the shape of " + found.name);
  Dense<double> matrix{rows, cols, std::vector<double>(static_cast<std::size_t>(rows * cols))};
  read_panels({path, found, dataset, space, found.field == "integer"}, matrix);
  return matrix;
}

/// HDF5 would not notice elements that have changed.
void require_whole(const std::filesystem::path& path, const Descriptor& opened) {
  if (!has_seal(opened.fd())) return;
  const std::string why = broken_seal(opened.fd());
  if (!why.empty())
    fail(path, "is not what gaussweep wrote: " + why +
                   "; a matrix that was changed since belongs into another file");
}

/// The beginning of a text's first line; empty where the file begins with bytes that are no text.
std::string first_line(const Descriptor& file) {
  char start[60];
  const ssize_t count = ::pread(file.fd(), start, sizeof start, 0);
  std::string line(start, static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  line.resize(std::min(line.find_first_of("\r\n"), line.size()));
  const auto is_text = [](unsigned char c) { return c >= 0x20 && c < 0x7f; };
  return std::all_of(line.begin(), line.end(), is_text) ? line : std::string();
}

h5::File open_hdf5(const std::filesystem::path& path, const Descriptor& opened) {
  if (H5Fis_hdf5(opened.path().c_str()) <= 0) {
    H5Eclear2(H5E_DEFAULT);
    // Whoever wrote "%MatrixMarket" or "%%matrixmarket" meant Matrix Market.
    const std::string line = first_line(opened);
    if (!line.empty() && (line.front() == '%' || path.extension() == ".mtx")) {
      fail(path.string() + ":1",
           "'" + line +
               "' is no first line of Matrix Market; allowed: %%MatrixMarket matrix "
               "coordinate|array real|integer|pattern general|symmetric|skew-symmetric");
    }
    char start[2] = "";
    if (::pread(opened.fd(), start, sizeof start, 0) == 2 && start[0] == '\x1f' && start[1] == '\x8b') {
      const bool archive = path.extension() == ".tgz" || path.stem().extension() == ".tar";
      fail(path, std::string("is compressed; unpack it first (") + (archive ? "tar -xzf" : "gunzip -k") +
                     ") and give the " + (archive ? ".mtx file in it" : "file that is left"));
    }
    fail(path, "is neither Matrix Market nor NumPy's .npy nor MATLAB's nor HDF5; numpy.save writes .npy");
  }
  h5::File file = h5::open_read_only(opened.path(), path);
  require_whole(path, opened);
  return file;
}

/// What a file holds that is NumPy's or an older one of MATLAB's; nothing where it is neither.
std::optional<Dense<double>> import_array(const std::filesystem::path& path, const Descriptor& file,
                                          const std::string& dataset, std::string* sha256, bool keep,
                                          MatrixInfo& info) {
  const bool npy = is_npy(file);
  if (!npy && !is_mat(file)) return {};
  if (npy && !dataset.empty()) fail(path, "a .npy file has no datasets; leave dataset out");
  Dense<double> matrix = npy ? read_npy(path, file, keep, info) : read_mat(path, file, dataset, keep, info);
  if (sha256 != nullptr) *sha256 = sha256_file(file.path());
  return matrix;
}

}  // namespace

bool left_to_library(const std::filesystem::path& path) {
  const Descriptor file = require_file(path);
  return !is_matrix_market(file.path()) && !is_npy(file);
}

Dense<double> import_matrix(const std::filesystem::path& path, const std::string& dataset,
                            std::string* sha256) {
  const Descriptor opened = require_file(path);
  if (is_matrix_market(opened.path())) {
    if (!dataset.empty()) fail(path, "a Matrix Market file has no datasets; leave dataset out");
    return read_matrix_market(path, sha256);
  }
  MatrixInfo of_array;
  if (auto matrix = import_array(path, opened, dataset, sha256, true, of_array)) return std::move(*matrix);
  const h5::Quiet quiet;
  try {
    const h5::File file = open_hdf5(path, opened);
    if (sha256 != nullptr) *sha256 = sha256_file(opened.path());  // not before it is worth reading
    return read_dataset(path, file, choose(path, file, dataset, is_matlab(opened)));
  } catch (const h5::Error& e) {
    fail(path, e.what());
  }
}

MatrixInfo matrix_info(const std::filesystem::path& path, const std::string& dataset, std::string* sha256) {
  const Descriptor opened = require_file(path);
  if (is_matrix_market(opened.path())) {
    if (!dataset.empty()) fail(path, "a Matrix Market file has no datasets; leave dataset out");
    return matrix_market_info(path, sha256);
  }
  MatrixInfo of_array;
  if (import_array(path, opened, dataset, sha256, false, of_array)) return of_array;
  const h5::Quiet quiet;
  try {
    const h5::File file = open_hdf5(path, opened);
    if (sha256 != nullptr) *sha256 = sha256_file(opened.path());  // not before it is worth reading
    const bool matlab = is_matlab(opened);
    const Found found = choose(path, file, dataset, matlab);
    MatrixInfo info;
    info.format = matlab ? "matlab" : text_attribute(file, "gaussweep").empty() ? "hdf5" : "gaussweep";
    info.dataset = found.name;
    info.rows = found.column_major ? found.dims[1] : found.dims[0];
    info.cols = found.column_major ? found.dims[0] : found.dims[1];
    info.stored_entries = info.rows > INT64_MAX / info.cols ? INT64_MAX : info.rows * info.cols;
    info.field = found.field;
    info.symmetry = "general";
    for (const char* name : {"kind", "precision", "seed", "generator", "source_sha256"}) {
      const std::string value = text_attribute(file, name);
      if (!value.empty()) info.attributes[name] = value;
    }
    return info;
  } catch (const h5::Error& e) {
    fail(path, e.what());
  }
}

}  // namespace gaussweep::io
