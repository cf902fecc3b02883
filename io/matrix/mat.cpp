#include "io/matrix/mat.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <type_traits>

#ifdef GAUSSWEEP_HAS_MATIO
#include <matio.h>
#endif

#include "io/files/errors.hpp"
#include "io/matrix/mat_layout.hpp"
#include "io/matrix/matrix_limits.hpp"

namespace gaussweep::io {

#ifndef GAUSSWEEP_HAS_MATIO

Dense<double> read_mat(const std::filesystem::path& path, const Descriptor&, const std::string&, bool,
                       MatrixInfo&) {
  throw InputError(path.string() +
                   ": a MATLAB file older than v7.3, for which this build lacks libmatio; save it again with "
                   "-v7.3");
}

#else

namespace {

struct MatCloser {
  void operator()(mat_t* file) const { Mat_Close(file); }
  void operator()(matvar_t* variable) const { Mat_VarFree(variable); }
};
using MatVariable = std::unique_ptr<matvar_t, MatCloser>;

class MatReader {
 public:
  MatReader(const std::filesystem::path& path, const Descriptor& opened) : path_(path) {
    const std::string why = broken_mat(opened);
    if (!why.empty()) fail("the MATLAB file cannot be read: " + why);
    file_.reset(Mat_Open(opened.path().c_str(), MAT_ACC_RDONLY));
    if (!file_) fail("the MATLAB file cannot be opened; it may be damaged");
  }
  Dense<double> read(const std::string& dataset, bool keep, MatrixInfo& info);

 private:
  [[noreturn]] void fail(const std::string& message) const {
    throw InputError(path_.string() + ": " + message);
  }
  std::string why_not(const matvar_t& variable, const std::string& name) const;
  void look_at(const matvar_t* variable, const std::string& name);
  std::string choose(const std::string& dataset);
  template <class Each>
  void each_element(const matvar_t& variable, const Each& each) const;
  template <class Each>
  void each_stored(const matvar_t& variable, const Each& each) const;

  const std::filesystem::path& path_;
  std::unique_ptr<mat_t, MatCloser> file_;
  std::vector<std::string> names_;  ///< of matrices that can be read
  std::string first_why_;           ///< of the first variable that is none
  std::map<std::string, std::string> whys_;
};

/// Why a variable is no matrix that can be read; empty where it is one.
std::string MatReader::why_not(const matvar_t& variable, const std::string& name) const {
  const bool is_number = variable.class_type >= MAT_C_SPARSE && variable.class_type <= MAT_C_UINT64;
  if (!is_number) return name + " holds no numbers";
  if (variable.isComplex != 0) return name + " is complex; allowed: real numbers";
  if (variable.rank != 2) return name + " has " + std::to_string(variable.rank) + " dimensions; allowed: 2";
  if (variable.dims == nullptr || variable.dims[0] == 0 || variable.dims[1] == 0) return name + " is empty";
  return {};
}

/// Notes a variable, and the fields of a struct.
void MatReader::look_at(const matvar_t* variable, const std::string& name) {
  if (variable->class_type == MAT_C_STRUCT && name.find('.') == std::string::npos) {
    auto* whole = const_cast<matvar_t*>(variable);  // matio asks for it, and changes nothing
    const unsigned count = Mat_VarGetNumberOfFields(whole);
    char* const* fields = Mat_VarGetStructFieldnames(whole);
    for (unsigned i = 0; fields != nullptr && i < count; ++i) {
      const matvar_t* field = Mat_VarGetStructFieldByIndex(whole, i, 0);
      if (field != nullptr && fields[i] != nullptr) look_at(field, name + "." + fields[i]);
    }
    return;
  }
  const std::string why = why_not(*variable, name);
  if (why.empty()) {
    names_.push_back(name);
  } else {
    whys_.emplace(name, why);
    if (first_why_.empty()) first_why_ = why;
  }
}

/// The name of the matrix that is meant.
std::string MatReader::choose(const std::string& dataset) {
  while (const MatVariable variable{Mat_VarReadNextInfo(file_.get())}) {
    if (variable->name != nullptr) look_at(variable.get(), variable->name);
  }
  // As the paths of HDF5, which MATLAB's newer files have.
  std::string wanted = dataset.substr(dataset.rfind('/', 0) == 0 ? 1 : 0);
  std::replace(wanted.begin(), wanted.end(), '/', '.');
  const auto has = [&](const std::string& name) {
    return std::find(names_.begin(), names_.end(), name) != names_.end();
  };
  for (const std::string& name : {wanted, std::string("A"), std::string("Problem.A")}) {
    if (has(name)) return name;
    const auto why = whys_.find(name);
    if (why != whys_.end()) fail(why->second);
    if (!wanted.empty()) break;
  }
  std::string all;
  for (const std::string& name : names_) all += (all.empty() ? "" : ", ") + name;
  if (!wanted.empty()) fail("has no matrix '" + wanted + "'; it has: " + (all.empty() ? "no matrix" : all));
  if (names_.empty()) fail("holds no matrix" + (first_why_.empty() ? "" : ": " + first_why_));
  if (names_.size() > 1) fail("holds several matrices (" + all + "); name one with dataset (--dataset)");
  return names_.front();
}

/// Calls each(i, value as double, whether it is an integer) for `count` numbers of matio's type.
template <class Each>
bool each_number(enum matio_types type, const void* data, std::size_t count, const Each& each) {
  const auto visit = [&](auto* numbers) {
    using T = std::remove_const_t<std::remove_pointer_t<decltype(numbers)> >;
    for (std::size_t i = 0; i < count; ++i) each(i, static_cast<double>(numbers[i]), std::is_integral_v<T>);
    return true;
  };
  switch (type) {
    case MAT_T_DOUBLE:
      return visit(static_cast<const double*>(data));
    case MAT_T_SINGLE:
      return visit(static_cast<const float*>(data));
    case MAT_T_INT8:
      return visit(static_cast<const std::int8_t*>(data));
    case MAT_T_UINT8:
      return visit(static_cast<const std::uint8_t*>(data));
    case MAT_T_INT16:
      return visit(static_cast<const std::int16_t*>(data));
    case MAT_T_UINT16:
      return visit(static_cast<const std::uint16_t*>(data));
    case MAT_T_INT32:
      return visit(static_cast<const std::int32_t*>(data));
    case MAT_T_UINT32:
      return visit(static_cast<const std::uint32_t*>(data));
    case MAT_T_INT64:
      return visit(static_cast<const std::int64_t*>(data));
    case MAT_T_UINT64:
      return visit(static_cast<const std::uint64_t*>(data));
    default:
      return false;
  }
}

/// Calls each(row, column, value, whether it is an integer) for what a sparse matrix stores, after the
/// indices were checked.
template <class Each>
void MatReader::each_stored(const matvar_t& variable, const Each& each) const {
  const auto& sparse = *static_cast<const mat_sparse_t*>(variable.data);
  const std::size_t rows = variable.dims[0], cols = variable.dims[1];
  bool is_whole = sparse.ir != nullptr && sparse.jc != nullptr && sparse.njc == cols + 1 && sparse.jc[0] == 0;
  for (std::size_t j = 0; is_whole && j < cols; ++j) is_whole = sparse.jc[j] <= sparse.jc[j + 1];
  const std::size_t entries = is_whole ? sparse.jc[cols] : 0;
  is_whole = is_whole && entries <= sparse.nir && entries <= sparse.ndata &&
             (entries == 0 || sparse.data != nullptr) &&
             std::all_of(sparse.ir, sparse.ir + entries, [&](std::size_t row) { return row < rows; });
  for (std::size_t j = 0; is_whole && j < cols; ++j) {
    const mat_uint32_t *begin = sparse.ir + sparse.jc[j], *end = sparse.ir + sparse.jc[j + 1];
    is_whole = std::adjacent_find(begin, end, std::greater_equal<>()) == end;  // no place comes twice
  }
  std::size_t col = 0;
  const bool is_read = is_whole && each_number(variable.data_type, sparse.data, entries,
                                               [&](std::size_t i, double value, bool is_integer) {
                                                 while (i >= sparse.jc[col + 1]) ++col;
                                                 each(sparse.ir[i], col, value, is_integer);
                                               });
  if (!is_read) fail(std::string(variable.name) + ": the sparse matrix is damaged or cut off");
}

template <class Each>
void MatReader::each_element(const matvar_t& variable, const Each& each) const {
  if (variable.class_type == MAT_C_SPARSE) return each_stored(variable, each);
  const std::size_t rows = variable.dims[0], count = rows * variable.dims[1];
  const bool is_read = variable.nbytes == count * static_cast<std::size_t>(variable.data_size) &&
                       each_number(variable.data_type, variable.data, count,
                                   [&](std::size_t i, double value, bool is_integer) {
                                     each(i % rows, i / rows, value, is_integer);
                                   });
  if (!is_read) fail(std::string(variable.name) + ": the matrix is damaged or cut off");
}

Dense<double> MatReader::read(const std::string& dataset, bool keep, MatrixInfo& info) {
  const std::string name = choose(dataset);
  const std::size_t point = name.find('.');
  const std::string top = name.substr(0, point);
  Mat_Rewind(file_.get());
  const MatVariable head(Mat_VarReadInfo(file_.get(), top.c_str()));
  matvar_t* variable = head.get();
  if (variable != nullptr && point != std::string::npos)
    variable = Mat_VarGetStructFieldByName(variable, name.substr(point + 1).c_str(), 0);
  if (variable == nullptr) fail(name + " cannot be read");
  info.format = "matlab";
  info.dataset = name;
  info.field = "real";
  info.symmetry = "general";
  const auto require_room = [&] {
    info.rows = static_cast<std::int64_t>(std::min<std::size_t>(variable->dims[0], INT64_MAX));
    info.cols = static_cast<std::int64_t>(std::min<std::size_t>(variable->dims[1], INT64_MAX));
    // matio has the elements at the same time.
    const std::string why =
        info.rows < 1 || info.cols < 1 ? "is empty" : too_large(info.rows, info.cols, available_bytes() / 2);
    if (!why.empty()) fail(name + ": " + why);
  };
  require_room();
  if (Mat_VarReadDataAll(file_.get(), variable) != 0 || variable->data == nullptr)
    fail(name + ": the elements are damaged or cut off");
  require_room();  // how large a sparse matrix of version 4 is stands among its elements
  Dense<double> matrix{info.rows, info.cols, {}};
  if (keep) matrix.data.assign(static_cast<std::size_t>(info.rows * info.cols), 0.0);
  each_element(*variable, [&](std::size_t i, std::size_t j, double value, bool is_integer) {
    if (is_integer ? std::abs(value) >= largest_exact : !std::isfinite(value)) {
      fail(name + ": element (" + std::to_string(i + 1) + ", " + std::to_string(j + 1) +
           ") is no finite number, or an integer beyond 2^53");
    }
    info.stored_entries += 1;
    if (is_integer) info.field = "integer";
    if (keep) matrix.data[i + j * static_cast<std::size_t>(info.rows)] = value;
  });
  return matrix;
}

}  // namespace

Dense<double> read_mat(const std::filesystem::path& path, const Descriptor& file, const std::string& dataset,
                       bool keep, MatrixInfo& info) {
  return MatReader(path, file).read(dataset, keep, info);
}

#endif

}  // namespace gaussweep::io
