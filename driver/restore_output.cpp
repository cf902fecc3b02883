#include "driver/restore_output.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>

#include <fmt/format.h>
#include <sys/stat.h>

#include "driver/batch_job.hpp"
#include "driver/cli.hpp"
#include "driver/process.hpp"
#include "io/errors.hpp"
#include "io/restoration.hpp"
#include "version.hpp"

namespace gaussweep::driver {
namespace {

/// A picture to look at: rounded and clipped. What is no number is black.
io::GreyImage picture(const io::GreyImage& shape, const std::vector<double>& levels) {
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

/// The point-spread function with its own numbers, "gaussian sigma=1.5 radius=3".
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

io::Restoration record_of(const Restoration& r) {
  const RestoreJob& job = r.job;
  const Restored& done = r.restored;
  const Errors errors = errors_of(r);
  const HostMatrix<double> weights = point_spread(job.blur);
  io::Restoration record;
  record.width = r.image.width;
  record.height = r.image.height;
  record.original = r.original;
  record.degraded = done.degraded;
  record.restored = done.restored;
  record.psf = {weights.rows, weights.cols, weights.data};
  record.texts = {{"image", std::filesystem::path(r.image_path).filename().string()},
                  {"image_sha256", io::sha256_file(r.image_path)},
                  {"psf", std::string(to_string(job.blur.psf))},
                  {"psf_text", psf_text(job.blur)},
                  {"noise", noise_text(job.noise)},
                  {"formula", std::string(to_string(job.formula))},
                  {"method", job.inverter.method->id()},
                  {"backend", std::string(to_string(job.inverter.backend))},
                  {"precision", std::string(to_string(job.precision))},
                  {"status", done.status},
                  {"convergence", std::string(to_string(done.convergence))},
                  {"device", done.device.name},
                  {"gpu_uuid", done.device.uuid},
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
                     {"info", done.info},
                     {"iterations", done.iterations},
                     {"capability", done.device.capability}};
  record.reals = {{"lambda", lambda_of(job)},
                  {"mse_degraded", errors.mse_degraded},
                  {"mse_restored", errors.mse_restored},
                  {"psnr_degraded", errors.psnr_degraded},
                  {"psnr_restored", errors.psnr_restored},
                  {"residual_ratio", done.findings.ratio},
                  {"tolerance", done.tolerance},
                  {"backward_error", done.findings.backward_error},
                  {"generate_seconds", done.generate_seconds},
                  {"allocate_seconds", done.allocate_seconds},
                  {"h2d_seconds", done.h2d_seconds},
                  {"invert_seconds", done.invert_seconds},
                  {"d2h_seconds", done.d2h_seconds},
                  {"verify_seconds", done.verify_seconds},
                  {"apply_seconds", done.apply_seconds}};
  return record;
}

}  // namespace

void check_output_directory(const std::filesystem::path& directory) {
  std::error_code error;
  if (std::filesystem::exists(directory, error)) {
    if (!std::filesystem::is_directory(directory, error)) {
      throw UsageError(fmt::format("-o {}: is a file; give the name of a directory, which will be created",
                                   directory.string()));
    }
    if (!std::filesystem::is_empty(directory, error) || error) {
      throw UsageError(
          fmt::format("-o {}: the directory exists and is not empty; give a new name", directory.string()));
    }
  }
}

void write_restoration_directory(const std::filesystem::path& directory, const Restoration& r) {
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::absolute(directory).parent_path(), error);
  if (::mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST) {
    throw io::StorageError(
        fmt::format("cannot create the folder {}: {}", directory.string(), std::strerror(errno)));
  }
  io::write_png(directory / "original.png", r.image);
  io::write_png(directory / "degraded.png", picture(r.image, r.restored.degraded));
  io::write_png(directory / "restored.png", picture(r.image, r.restored.restored));
  io::write_restoration(directory / "restoration.h5", record_of(r));
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
                   {"invert_seconds", "INVERSION", Style::seconds},
                   {"residual_ratio", "RATIO", Style::plain},
                   {"status", "STATUS", Style::plain}};
  table.rows = {{psf_text(r.job.blur), noise_text(r.job.noise), std::string(to_string(r.job.formula)),
                 lambda_of(r.job), r.job.inverter.method->id(), errors.mse_degraded, errors.mse_restored,
                 errors.psnr_degraded, errors.psnr_restored, r.restored.invert_seconds,
                 r.restored.findings.ratio, r.restored.status}};
  return table;
}

}  // namespace gaussweep::driver
