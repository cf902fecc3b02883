/// Writes the images, restoration.h5 and the table of `gaussweep restore`.

#include "apps/restore/restore_output.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "driver/base/errors.hpp"
#include "driver/system/clock.hpp"
#include "driver/system/origin.hpp"
#include "io/files/atomic_file.hpp"
#include "io/files/errors.hpp"
#include "io/records/restoration.hpp"
#include "version.hpp"

namespace gaussweep::driver {
namespace {

namespace fs = std::filesystem;

/// Returns the image to show: rounded and clipped levels, NaN as black.
io::GreyImage shown_image(const io::GreyImage& shape, const std::vector<double>& levels) {
  io::GreyImage result{shape.width, shape.height, {}};
  result.pixels.reserve(levels.size());
  for (const double level : levels) {
    const double shown = std::isnan(level) ? 0 : std::clamp(std::nearbyint(level), 0.0, 255.0);
    result.pixels.push_back(static_cast<std::uint8_t>(shown));
  }
  return result;
}

std::string noise_text(const NoiseSpec& noise) {
  if (noise.kind == NoiseKind::none) return "none";
  return fmt::format("{}:{}", to_string(noise.kind), noise.level);
}

/// Returns the point-spread function with its parameters, "gaussian sigma=1.5 radius=3".
std::string psf_text(const BlurSpec& blur) {
  switch (blur.psf) {
    case PointSpread::gaussian:
      return fmt::format("gaussian sigma={} radius={}", blur.sigma, blur.radius);
    case PointSpread::box:
      return fmt::format("box radius={}", blur.radius);
    case PointSpread::motion:
      return fmt::format("motion length={} angle={}", blur.length, blur.angle);
    case PointSpread::sharpen:
      return fmt::format("sharpen amount={}", blur.amount);
    case PointSpread::file:
      break;
  }
  return fmt::format("file {}x{}", blur.weights.rows, blur.weights.cols);
}

/// The errors of the degraded and of the restored image: mean squared error, and PSNR in dB.
struct Errors {
  double mse_degraded, mse_restored, psnr_degraded, psnr_restored;
};
Errors errors_of(const Restoration& r) {
  const double degraded = mean_square_error(r.restored.degraded, r.original);
  const double restored = mean_square_error(r.restored.restored, r.original);
  return {degraded, restored, peak_signal_to_noise(degraded), peak_signal_to_noise(restored)};
}

double lambda_of(const RestoreJob& job) {
  return job.formula == Formula::inverse ? std::nan("") : job.blur.lambda;
}

/// Returns the contents of restoration.h5.
io::Restoration record_of(const Restoration& r) {
  const RestoreJob& job = r.job;
  const Restored& result = r.restored;
  const Errors errors = errors_of(r);
  const HostMatrix<double> weights = point_spread(job.blur);
  io::Restoration record;
  record.width = r.image.width;
  record.height = r.image.height;
  record.original = r.original;
  record.degraded = result.degraded;
  record.restored = result.restored;
  record.psf = {weights.rows, weights.cols, {weights.data.begin(), weights.data.end()}};
  record.texts = {{"image", fs::path(r.image_path).filename().string()},
                  {"image_sha256", r.image_sha256},
                  {"psf", std::string(to_string(job.blur.psf))},
                  {"psf_text", psf_text(job.blur)},
                  {"noise", noise_text(job.noise)},
                  {"formula", std::string(to_string(job.formula))},
                  {"method", job.inverter.method->id()},
                  {"backend", std::string(to_string(job.inverter.backend))},
                  {"products", std::string(to_string(job.products))},
                  {"gemm_method", job.multiplier.method == nullptr ? "" : job.multiplier.method->id()},
                  {"precision", std::string(to_string(job.precision))},
                  {"status", name_of(result.status)},
                  {"convergence", std::string(to_string(result.convergence))},
                  {"device", result.device.name},
                  {"gpu_uuid", result.device.uuid},
                  {"host", host_name()},
                  {"job_id", batch_job().id},
                  {"started", r.started},
                  {"command_line", r.command_line},
                  {"version", version_string},
                  {"commit", version_commit},
                  {"dirty", version_dirty ? "true" : "false"},
                  {"build", version_build},
                  {"compiler", __VERSION__}};
  record.integers = {{"width", r.image.width},
                     {"height", r.image.height},
                     {"n", r.image.width * r.image.height},
                     {"seed", static_cast<std::int64_t>(job.seed)},
                     {"info", result.info},
                     {"iterations", result.iterations},
                     {"capability", result.device.capability}};
  record.reals = {{"lambda", lambda_of(job)},
                  {"mse_degraded", errors.mse_degraded},
                  {"mse_restored", errors.mse_restored},
                  {"psnr_degraded", errors.psnr_degraded},
                  {"psnr_restored", errors.psnr_restored},
                  {"residual_ratio", result.findings.ratio},
                  {"tolerance", result.tolerance},
                  {"backward_error", result.findings.backward_error},
                  {"generate_seconds", result.generate_seconds},
                  {"allocate_seconds", result.allocate_seconds},
                  {"h2d_seconds", result.h2d_seconds},
                  {"invert_seconds", result.invert_seconds},
                  {"d2h_seconds", result.d2h_seconds},
                  {"verify_seconds", result.verify_seconds},
                  {"product_seconds", result.product_seconds},
                  {"product_ratio", result.product_ratio},
                  {"apply_seconds", result.apply_seconds}};
  return record;
}

/// The output folder while it is written. The destructor removes it again unless commit() succeeded.
class OutputFolder {
 public:
  /// @throws io::StorageError
  explicit OutputFolder(const fs::path& directory)
      : target_(fs::absolute(directory / ".").lexically_normal().parent_path()) {
    std::error_code error;
    is_new_ = !fs::is_directory(target_, error);
    folder_ = target_;
    if (!is_new_) return;
    fs::create_directories(target_.parent_path(), error);
    // Tries again if a killed process with the same process id left a folder with the same temporary name.
    constexpr unsigned max_attempts = 100;
    for (unsigned attempt = 0; attempt < max_attempts; ++attempt) {
      folder_ = target_.parent_path() / io::temporary_name(target_, ::getpid(), attempt);
      if (::mkdir(folder_.c_str(), 0777) == 0) return;
      if (errno != EEXIST) break;
    }
    fail("create", errno);
  }
  ~OutputFolder() {
    if (is_committed_) return;
    std::error_code ignored;  // the exception in flight reports the failure
    for (const fs::path& file : files_) fs::remove(file, ignored);
    if (is_new_) fs::remove(folder_, ignored);
  }
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

  /// Returns the path for the file of that name.
  fs::path file(const std::string& name) {
    files_.push_back(folder_ / name);
    return files_.back();
  }
  /// Marks the output as complete. @throws io::StorageError
  void commit() {
    if (is_new_ && std::rename(folder_.c_str(), target_.c_str()) != 0) fail("give its name to", errno);
    is_committed_ = true;
    io::sync_folder(target_.parent_path());
  }

 private:
  [[noreturn]] void fail(const char* what, int error) const {
    throw io::StorageError(
        fmt::format("cannot {} the folder {}: {}", what, target_.string(), std::strerror(error)));
  }
  fs::path target_, folder_;
  std::vector<fs::path> files_;
  bool is_new_ = false, is_committed_ = false;
};

}  // namespace

void check_output_directory(const std::filesystem::path& directory) {
  std::error_code error;
  const bool exists = fs::exists(directory, error);
  if (error)
    throw UsageError(fmt::format("-o {}: cannot be looked at: {}", directory.string(), error.message()));
  if (exists) {
    if (!fs::is_directory(directory, error)) {
      throw UsageError(fmt::format("-o {}: is a file; give the name of a directory, which will be created",
                                   directory.string()));
    }
    const bool is_empty = fs::is_empty(directory, error);
    if (error)
      throw UsageError(fmt::format("-o {}: cannot be looked into: {}", directory.string(), error.message()));
    if (!is_empty) {
      throw UsageError(
          fmt::format("-o {}: the directory exists and is not empty; give a new name", directory.string()));
    }
  }
}

void write_restoration_directory(const std::filesystem::path& directory, const Restoration& r) {
  OutputFolder folder(directory);
  io::write_png(folder.file("original.png"), r.image);
  io::write_png(folder.file("degraded.png"), shown_image(r.image, r.restored.degraded));
  io::write_png(folder.file("restored.png"), shown_image(r.image, r.restored.restored));
  io::write_restoration(folder.file("restoration.h5"), record_of(r));
  folder.commit();
}

Table restoration_table(const Restoration& r) {
  const Errors errors = errors_of(r);
  Table table;
  table.columns = {{"psf", "PSF", Style::plain},
                   {"noise", "NOISE", Style::plain},
                   {"formula", "FORMULA", Style::plain},
                   {"lambda", "LAMBDA", Style::plain},
                   {"method", "METHOD", Style::plain},
                   {"mse_degraded", "MSE DEGRADED", Style::plain},
                   {"mse_restored", "MSE RESTORED", Style::plain},
                   {"psnr_degraded", "PSNR DEGRADED", Style::plain},
                   {"psnr_restored", "PSNR RESTORED", Style::plain},
                   {"products", "PRODUCTS", Style::plain},
                   {"generate_seconds", "MATRIX", Style::seconds},
                   {"product_seconds", "GEMM", Style::seconds},
                   {"invert_seconds", "INVERSION", Style::seconds},
                   {"apply_seconds", "IMAGE", Style::seconds},
                   {"residual_ratio", "RATIO", Style::plain},
                   {"status", "STATUS", Style::plain}};
  table.rows = {{psf_text(r.job.blur), noise_text(r.job.noise), std::string(to_string(r.job.formula)),
                 lambda_of(r.job), r.job.inverter.method->id(), errors.mse_degraded, errors.mse_restored,
                 errors.psnr_degraded, errors.psnr_restored,
                 r.job.multiplier.method == nullptr ? std::string(to_string(r.job.products))
                                                    : r.job.multiplier.method->id(),
                 r.restored.generate_seconds, r.restored.product_seconds, r.restored.invert_seconds,
                 r.restored.apply_seconds, r.restored.findings.ratio, name_of(r.restored.status)}};
  return table;
}

}  // namespace gaussweep::driver
