#pragma once
/// Move-only owners of HDF5 ids (hid_t), and one exception for HDF5's errors, with HDF5's messages. For the
/// .cpp files of `io/` only: headers that other modules include must not include HDF5.
///
///     h5::Quiet quiet;                                 // no error stack on stderr in this scope
///     h5::File file = h5::open_read_only(path, path);  // throws h5::Error
///     h5::Dataset a(H5Dopen2(file, "/A", H5P_DEFAULT), "open /A");
///     h5::check(H5Dread(a, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, data), "read /A");
///
/// The caller converts h5::Error to InputError or StorageError.

#include <hdf5.h>

#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>

namespace gaussweep::io::h5 {

/// An error of HDF5; the message contains the failed action and the innermost entries of HDF5's error stack.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Returns this thread's error stack in one line, innermost entry first, or "", and clears it.
inline std::string consume_error_stack() {
  std::string text;
  const auto visit = [](unsigned depth, const H5E_error2_t* entry, void* out) -> herr_t {
    // The two innermost entries state the cause; the others only name the calling functions.
    if (depth < 2 && entry->desc != nullptr) {
      auto& all = *static_cast<std::string*>(out);
      if (!all.empty()) all += "; ";
      all += entry->desc;
    }
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, visit, &text);
  H5Eclear2(H5E_DEFAULT);
  return text;
}

/// Throws the error "HDF5 could not <action>" with the text of this thread's error stack.
[[noreturn]] inline void fail(const std::string& action) {
  const std::string stack_text = consume_error_stack();
  throw Error("HDF5 could not " + action + (stack_text.empty() ? "" : " (" + stack_text + ")"));
}

/// Throws if a status (herr_t, htri_t or a count) is negative; otherwise returns it.
template <class Status>
Status check(Status status, const std::string& action) {
  if (status < 0) fail(action);
  return status;
}

/// Owns an id and closes it. After writing a file call `close`, because the destructor ignores errors.
template <herr_t (*Close)(hid_t)>
class Handle {
 public:
  Handle() = default;
  /// Takes ownership of a new id. `action` names the call in errors: "open /A". @throws Error "HDF5 could not
  /// <action> (…)" if the id is negative
  Handle(hid_t id, const std::string& action) : id_(check(id, action)) {}
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(id_, other.id_);
    return *this;
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() {
    if (id_ >= 0) Close(id_);
  }
  operator hid_t() const { return id_; }
  /// Closes now. @throws Error
  void close(const std::string& action) {
    if (id_ >= 0) check(Close(std::exchange(id_, -1)), action);
  }

 private:
  hid_t id_ = -1;
};

using File = Handle<H5Fclose>;
using Group = Handle<H5Gclose>;
using Dataset = Handle<H5Dclose>;
using Attribute = Handle<H5Aclose>;
using Type = Handle<H5Tclose>;
using Space = Handle<H5Sclose>;
using Properties = Handle<H5Pclose>;
using Object = Handle<H5Oclose>;

/// Stops HDF5 from printing its error stack; the destructor restores the old setting. It also disables HDF5's
/// cleanup at exit, and must therefore precede all other HDF5 calls. After a damaged file the cleanup may
/// hang and print errors. It is unnecessary, because the handles close everything.
class Quiet {
 public:
  Quiet() {
    static const herr_t without_exit_handler = H5dont_atexit();
    (void)without_exit_handler;
    H5Eget_auto2(H5E_DEFAULT, &function_, &data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  ~Quiet() { H5Eset_auto2(H5E_DEFAULT, function_, data_); }
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;

 private:
  H5E_auto2_t function_ = nullptr;
  void* data_ = nullptr;
};

/// Returns properties for file access without HDF5's locks, which fail on file systems without locking. Our
/// files do not need them: they appear completely by rename and are never modified.
inline Properties access_properties() {
  Properties access(H5Pcreate(H5P_FILE_ACCESS), "make file access properties");
  // HDF5 has this function in 1.10 since 1.10.7, and in later series since 1.12.1.
#if H5_VERSION_GE(1, 12, 1) || (H5_VERSION_GE(1, 10, 7) && H5_VERS_MINOR == 10)
  check(H5Pset_file_locking(access, 0, 1), "switch off file locking");
#endif
  return access;
}

/// Opens a file. @param name the file's name for messages, because `path` may be that of a descriptor
inline File open_read_only(const std::filesystem::path& path, const std::filesystem::path& name) {
  return File(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access_properties()), "open '" + name.string() + "'");
}

/// Returns a string type of a fixed length in bytes (at least 1), UTF-8, null-padded.
inline Type fixed_string(std::size_t bytes) {
  Type type(H5Tcopy(H5T_C_S1), "make a string type");
  check(H5Tset_size(type, bytes == 0 ? 1 : bytes), "size a string type");
  check(H5Tset_strpad(type, H5T_STR_NULLPAD), "pad a string type");
  check(H5Tset_cset(type, H5T_CSET_UTF8), "set a string type to UTF-8");
  return type;
}

/// Returns a string type of variable length, UTF-8. Attributes of this type have no length limit, and h5py
/// reads them as `str`.
inline Type variable_string() {
  Type type(H5Tcopy(H5T_C_S1), "make a string type");
  check(H5Tset_size(type, H5T_VARIABLE), "size a string type");
  check(H5Tset_cset(type, H5T_CSET_UTF8), "set a string type to UTF-8");
  return type;
}

/// Writes a scalar text attribute. `value` is cut at its first NUL.
inline void write_attribute(hid_t object, const std::string& name, const std::string& value) {
  const Type type = variable_string();
  const Space space(H5Screate(H5S_SCALAR), "make a scalar space");
  const Attribute attribute(H5Acreate2(object, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT),
                            "create the attribute '" + name + "'");
  const char* text = value.c_str();
  check(H5Awrite(attribute, type, &text), "write the attribute '" + name + "'");
}

inline void write_attribute(hid_t object, const std::string& name, long long value) {
  const Space space(H5Screate(H5S_SCALAR), "make a scalar space");
  const Attribute attribute(H5Acreate2(object, name.c_str(), H5T_STD_I64LE, space, H5P_DEFAULT, H5P_DEFAULT),
                            "create the attribute '" + name + "'");
  check(H5Awrite(attribute, H5T_NATIVE_LLONG, &value), "write the attribute '" + name + "'");
}

inline void write_attribute(hid_t object, const std::string& name, double value) {
  const Space space(H5Screate(H5S_SCALAR), "make a scalar space");
  const Attribute attribute(H5Acreate2(object, name.c_str(), H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT),
                            "create the attribute '" + name + "'");
  check(H5Awrite(attribute, H5T_NATIVE_DOUBLE, &value), "write the attribute '" + name + "'");
}

/// Reads a scalar text attribute, of fixed or variable length.
inline std::string read_text(const Attribute& attribute, const std::string& name) {
  const Type type(H5Aget_type(attribute), "read the type of the attribute '" + name + "'");
  if (H5Tget_class(type) != H5T_STRING) throw Error("the attribute '" + name + "' is not a string");
  const Space space(H5Aget_space(attribute), "read the shape of the attribute '" + name + "'");
  if (H5Sget_simple_extent_npoints(space) != 1)
    throw Error("the attribute '" + name + "' is not a single string");
  // Copies the type from the file with its character set, because HDF5 does not convert between sets.
  Type memory(H5Tcopy(type), "copy a string type");
  if (check(H5Tis_variable_str(type), "look at a string type") > 0) {
    char* text = nullptr;
    check(H5Aread(attribute, memory, &text), "read the attribute '" + name + "'");
    std::string value = text == nullptr ? "" : text;
    H5free_memory(text);
    return value;
  }
  std::string value(H5Tget_size(type), '\0');
  check(H5Aread(attribute, memory, value.data()), "read the attribute '" + name + "'");
  const auto end =
      H5Tget_strpad(type) == H5T_STR_SPACEPAD ? value.find_last_not_of(' ') + 1 : value.find('\0');
  if (end != std::string::npos) value.resize(end);
  return value;
}

/// Returns the text attributes of a file's root group by name; ignores attributes of other types.
inline std::map<std::string, std::string> read_texts(const File& file) {
  std::map<std::string, std::string> texts;
  const Group root(H5Gopen2(file, "/", H5P_DEFAULT), "open /");
  const int count = check(H5Aget_num_attrs(root), "count the attributes");
  for (int i = 0; i < count; ++i) {
    const Attribute attribute(H5Aopen_by_idx(root, ".", H5_INDEX_NAME, H5_ITER_INC, static_cast<hsize_t>(i),
                                             H5P_DEFAULT, H5P_DEFAULT),
                              "open an attribute");
    const auto length = check(H5Aget_name(attribute, 0, nullptr), "read an attribute's name");
    std::string name(static_cast<std::size_t>(length), '\0');
    check(H5Aget_name(attribute, name.size() + 1, name.data()), "read an attribute's name");
    const Type type(H5Aget_type(attribute), "read the type of the attribute '" + name + "'");
    if (H5Tget_class(type) == H5T_STRING) texts[name] = read_text(attribute, name);
  }
  return texts;
}

}  // namespace gaussweep::io::h5
