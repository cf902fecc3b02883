/// Writes the result of an image restoration: the original image, the degraded (blurred) one, the restored
/// one, and the point-spread function, in one HDF5 file.

#include "io/records/restoration.hpp"

#include "io/files/atomic_file.hpp"
#include "io/files/errors.hpp"
#include "io/files/hdf5_memory.hpp"

namespace gaussweep::io {
namespace {

constexpr long long restoration_version = 1;

/// Writes a dataset of rows x cols numbers in row-major order.
void write_numbers(const h5::File& file, const std::string& name, std::int64_t rows, std::int64_t cols,
                   const double* values) {
  const hsize_t shape[2] = {static_cast<hsize_t>(rows), static_cast<hsize_t>(cols)};
  const h5::Space space(H5Screate_simple(2, shape, nullptr), "make the shape of " + name);
  const h5::Dataset dataset(
      H5Dcreate2(file, name.c_str(), H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
      "create " + name);
  h5::check(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), "write " + name);
}

}  // namespace

void write_restoration(const std::filesystem::path& path, const Restoration& r) {
  const h5::Quiet quiet;
  std::vector<char> file_bytes;
  try {
    const h5::File file = h5::create_in_memory("restoration.h5");
    h5::write_attribute(file, "gaussweep", "restoration");
    h5::write_attribute(file, "schema_version", restoration_version);
    for (const auto& [name, value] : r.texts) h5::write_attribute(file, name, value);
    for (const auto& [name, value] : r.integers) {
      h5::write_attribute(file, name, static_cast<long long>(value));
    }
    for (const auto& [name, value] : r.reals) h5::write_attribute(file, name, value);
    write_numbers(file, "/original", r.height, r.width, r.original.data());
    write_numbers(file, "/degraded", r.height, r.width, r.degraded.data());
    write_numbers(file, "/restored", r.height, r.width, r.restored.data());
    std::vector<double> by_rows;  // the point-spread function, which is column-major in memory
    for (std::int64_t i = 0; i < r.psf.rows; ++i) {
      for (std::int64_t j = 0; j < r.psf.cols; ++j) {
        by_rows.push_back(r.psf.data[static_cast<std::size_t>(i + j * r.psf.rows)]);
      }
    }
    write_numbers(file, "/psf", r.psf.rows, r.psf.cols, by_rows.data());
    file_bytes = h5::image_of(file);
  } catch (const h5::Error& error) {
    throw StorageError("Cannot write '" + path.string() + "': " + error.what() +
                       ". An earlier file of this name is unchanged.");
  }
  write_atomically(path, file_bytes.data(), file_bytes.size());
}

}  // namespace gaussweep::io
