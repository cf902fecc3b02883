/// Implements `gaussweep restore`: blurs an image, adds noise, and restores the image by matrix inversion.

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <memory>
#include <spdlog/spdlog.h>
#include <utility>

#include "apps/restore/restore_output.hpp"
#include "driver/base/errors.hpp"
#include "driver/base/table.hpp"
#include "driver/command/blur_options.hpp"
#include "driver/command/cli.hpp"
#include "driver/command/matrix_files.hpp"
#include "driver/command/options.hpp"
#include "driver/system/blas.hpp"
#include "driver/system/clock.hpp"
#include "driver/system/terminal.hpp"
#include "driver/worker/probe.hpp"
#include "io/image/image.hpp"
#include "io/plan/plan.hpp"
#include "io/records/status.hpp"

namespace gaussweep::driver {
namespace {

/// Largest number of pixels, which is the order of the matrix. LAPACK's 32-bit indices allow matrices up to
/// 46340 x 46340.
constexpr std::int64_t max_pixels = 46340;

struct RestoreOptions {
  std::string image, noise = "none", formula = "regularised", method, products = "analytic", gemm,
                     precision = "double", backend = "auto", output, format = "table", seed = "1";
  BlurOptions blur;
};

/// Parses "none", "gaussian:SIGMA" or "salt_pepper:PROBABILITY".
NoiseSpec parse_noise(const std::string& text) {
  const std::size_t colon = text.find(':');
  const std::string name = text.substr(0, colon);
  const auto kind = from_string<NoiseKind>(name);
  if (!kind || (*kind == NoiseKind::none) != (colon == std::string::npos)) {
    throw UsageError(
        fmt::format("--noise {}: {}allowed are none, gaussian:SIGMA (grey levels) and "
                    "salt_pepper:PROBABILITY",
                    text, kind ? "" : io::nearest_hint(name, enum_names<NoiseKind>())));
  }
  NoiseSpec noise{*kind, 0};
  if (*kind == NoiseKind::none) return noise;
  const bool gaussian = *kind == NoiseKind::gaussian;
  noise.level = io::parse_real({text.substr(colon + 1), {"--noise " + text, 0, 0}}, 0, gaussian ? 1000 : 1,
                               gaussian ? "SIGMA" : "PROBABILITY");
  return noise;
}

/// Converts the options to a job, the settings of the restoration. @throws UsageError
RestoreJob job_of(RestoreOptions& options) {
  RestoreJob job;
  job.formula = parse_option<Formula>("--formula", options.formula);
  job.products = parse_option<Products>("--products", options.products);
  if (job.products == Products::gemm && job.formula == Formula::inverse)
    throw UsageError("--products gemm: the formula inverse has no products; take regularised or paper");
  if (job.products == Products::analytic && !options.gemm.empty())
    throw UsageError("--gemm: only products by gemm have a method; leave it out, or say --products gemm");
  job.precision = parse_precision(options.precision);
  job.noise = parse_noise(options.noise);
  job.seed = parse_seed(options.seed);
  if (job.formula == Formula::inverse && options.blur.values.count("lambda") > 0) {
    throw UsageError("--lambda: the formula inverse has none; leave it out, or use regularised or paper");
  }
  job.blur = blur_of(options.blur);
  return job;
}

/// Degrades and restores the image, and writes the output. @return the exit code
int run_restore(RestoreOptions& options, const Commands& commands) {
  const Format format = parse_format(options.format);
  RestoreJob job = job_of(options);
  check_output_directory(options.output);
  std::vector<std::string> notices;
  std::string digest;
  const io::GreyImage image = io::read_image(options.image, max_pixels, &notices, &digest);
  for (const std::string& notice : notices) spdlog::warn("{}: {}", options.image, notice);
  job.blur.width = image.width;
  job.blur.height = image.height;
  const std::string fault = blur_fault(job.blur, image.width * image.height, image.width * image.height);
  if (!fault.empty()) throw UsageError(fault);

  std::unique_ptr<Device> device;
  const Backend requested = choose_backend(options.backend, device);
  const int capability = device ? device->info().capability : 0;
  job.inverter =
      choose_inverter(commands.registry, job.formula, options.method, requested, job.precision, capability);
  // The products and the inversion may use different backends; the products then have their own device.
  std::unique_ptr<Device> multiplier;
  if (job.products == Products::gemm) {
    job.multiplier = choose_multiplier(commands.registry, options.gemm, requested, job.precision, capability);
    if (job.multiplier.backend != job.inverter.backend) {
      multiplier = job.multiplier.backend == Backend::cuda ? std::move(device)
                                                           : make_worker_device(job.multiplier.backend);
    }
  }
  if (job.inverter.backend != Backend::cuda) {
    device = make_worker_device(job.inverter.backend);
  }
  const std::vector<double> original(image.pixels.begin(), image.pixels.end());
  const std::string started = time_stamp();
  const Restored restored = restore(job, original, *device, multiplier.get());
  const Restoration facts{job,      options.image, digest,  image,
                          original, restored,      started, command_line(commands)};
  write_restoration_directory(options.output, facts);
  const Table table = restoration_table(facts);
  if (format == Format::csv) {
    fmt::print("{}", render_csv(table));
  } else if (format == Format::json) {
    fmt::print("{}\n", json_text(render_json(table)));
  } else {
    fmt::print("{}", render_text(table, output_width()));
  }
  if (restored.status == io::Status::pass) return exit_ok;
  spdlog::warn("the inverse by {} is {}: {}", job.inverter.method->id(), name_of(restored.status),
               restored.message);
  return restored.status == io::Status::error ? exit_broken : exit_wrong;
}

}  // namespace

void add_restore_command(CLI::App& app, Commands& commands) {
  auto options = std::make_shared<RestoreOptions>();
  CLI::App* sub = app.add_subcommand(
      "restore",
      "Degrade an image and restore it by inversion of a matrix; pictures, errors and HDF5 into a directory");
  sub->add_option("--image", options->image, "PNG or PGM; converted to 8-bit grey")->required();
  add_blur_options(*sub, options->blur);
  sub->add_option("--noise", options->noise, "none, gaussian:SIGMA (grey levels), salt_pepper:PROBABILITY")
      ->capture_default_str();
  sub->add_option("--formula", options->formula,
                  "regularised: H'(HH' + lambda I)^-1 g; paper: (HH' + lambda I)^-1 H'g; inverse: H^-1 g")
      ->capture_default_str();
  sub->add_option("--method", options->method,
                  "Method for the inversion, an id of gaussweep methods [the vendor's library]");
  sub->add_option(
         "--products", options->products,
         "analytic: sums over the point-spread function; gemm: of full matrices, n^3 operations each")
      ->capture_default_str();
  sub->add_option("--gemm", options->gemm, "products gemm: method for the products [the vendor's library]");
  sub->add_option("--precision", options->precision,
                  "float or double, of the inversion and of products by gemm")
      ->capture_default_str();
  add_backend(*sub, options->backend, "auto: cuda where there is a GPU, else emulated");
  sub->add_option("--seed", options->seed, "Seed of the noise")->capture_default_str();
  add_output(*sub, options->output, "The directory; created, or empty").required();
  add_format(*sub, options->format, {"table", "csv", "json"});
  sub->callback([options, &commands] {
    const std::string limit = blas_memory_error(/*threads=*/1);
    if (!limit.empty()) throw UsageError(limit);
    commands.exit_code = run_restore(*options, commands);
  });
}

}  // namespace gaussweep::driver
