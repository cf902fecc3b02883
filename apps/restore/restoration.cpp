/// Degrades an image, g = H f + noise, and restores it by inverting a matrix of H (restoration.hpp has the
/// formulas).

#include "apps/restore/restoration.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "driver/base/errors.hpp"
#include "driver/base/text_format.hpp"
#include "driver/judge/judge.hpp"
#include "driver/plan/trial.hpp"
#include "driver/system/clock.hpp"
#include "driver/system/machine.hpp"
#include "driver/system/timed.hpp"
#include "kernels/check/device_reductions.hpp"
#include "kernels/core/errors.hpp"
#include "kernels/matrix/generate.hpp"
#include "kernels/staging/method_run.hpp"

namespace gaussweep::driver {
namespace {

/// @throws UsageError if inverting or verifying needs more memory than is available
void require_memory(const RestoreJob& job, const Shape& shape, const Parameters& parameters,
                    const Device& device) {
  const std::size_t element = element_bytes(job.precision);
  const double matrix = static_cast<double>(shape.n) * static_cast<double>(shape.n);
  const auto staging_of = [&](const ChosenMethod& chosen, const Parameters& method_parameters) {
    return static_cast<double>(staging_bytes(*chosen.method, shape, method_parameters, element, 1));
  };
  const bool inverts_on_gpu = job.inverter.backend == Backend::cuda;
  const double inversion = staging_of(job.inverter, parameters);
  double on_gpu = inverts_on_gpu ? inversion : 0;
  if (job.products == Products::gemm && job.multiplier.backend == Backend::cuda)
    on_gpu = std::max(on_gpu, staging_of(job.multiplier, defaults_of(*job.multiplier.method)));
  const std::string image =
      fmt::format("an image of {} x {} pixels makes matrices of order {} ({} each)", job.blur.width,
                  job.blur.height, shape.n, bytes_text(matrix * static_cast<double>(element)));
  const auto gpu_free = static_cast<double>(device.info().free_bytes);
  if (on_gpu > gpu_free) {
    throw UsageError(fmt::format("{}; restoring it needs {} of GPU memory, {} are free", image,
                                 bytes_text(on_gpu), bytes_text(gpu_free)));
  }
  // The host stores the matrix and its inverse, with gemm also H and its transpose. In addition it needs the
  // method's own memory, and after that the memory of verification: a product in double and, for float,
  // copies of both matrices in double.
  const double matrices_bytes =
      (job.products == Products::gemm ? 4 : 2) * matrix * static_cast<double>(element);
  const double verification_bytes = matrix * sizeof(double) * (job.precision == Precision::float32 ? 3 : 1);
  const double host = matrices_bytes + std::max(verification_bytes, inverts_on_gpu ? 0 : inversion);
  if (host > available_memory_bytes()) {
    throw UsageError(
        fmt::format("{}; restoring it needs {} of memory, {} are available; take a smaller image", image,
                    bytes_text(host), bytes_text(available_memory_bytes())));
  }
}

/// Returns X v. Adds the columns of X in double, from left to right.
template <class T>
std::vector<double> product(const HostMatrix<T>& x, const std::vector<double>& v) {
  std::vector<double> result(v.size(), 0.0);
  for (std::int64_t j = 0; j < x.cols; ++j) {
    const double factor = v[static_cast<std::size_t>(j)];
    for (std::int64_t i = 0; i < x.rows; ++i) {
      result[static_cast<std::size_t>(i)] += static_cast<double>(x(i, j)) * factor;
    }
  }
  return result;
}

/// Inverts the matrix of the formula, and records the seconds of each step in `result`.
template <class T>
Answer<T> invert(const RestoreJob& job, const Inputs<T>& inputs, const Parameters& parameters, Device& device,
                 Restored& result) {
  const Method& method = *job.inverter.method;
  Context context(device);
  std::optional<MethodRun<T>> run;
  result.allocate_seconds =
      timed(device, [&] { run.emplace(context, method, job.inverter.backend, parameters, inputs.shape); });
  result.h2d_seconds = timed(device, [&] { run->upload(inputs); });
  if (device.backend() == Backend::cuda) run->warm_up();  // the first run loads libraries and kernels
  result.invert_seconds = run->timed_run();
  result.convergence = run->report().convergence;
  result.iterations = run->report().iterations;
  Answer<T> answer;
  result.d2h_seconds = timed(device, [&] { answer = run->download(); });
  return answer;
}

/// Verifies the answer on the GPU if its memory suffices, because a CPU takes minutes for order 16384.
/// Otherwise verifies it on the CPU.
template <class T>
Findings verify_answer(Device& device, const Method& method, const Inputs<T>& inputs, const Answer<T>& answer,
                       double tolerance) {
  if (device.backend() == Backend::cuda) {
    try {
      Context context(device);
      return check(method, inputs, answer, tolerance, *small_on_host(device_reductions<T>(context)));
    } catch (const OutOfMemory&) {
    }
  }
  return check(method, inputs, answer, tolerance);
}

template <class T>
HostMatrix<T> transposed(const HostMatrix<T>& a) {
  HostMatrix<T> t = HostMatrix<T>::uninitialized(a.cols, a.rows);
  for (std::int64_t j = 0; j < a.cols; ++j) {
    for (std::int64_t i = 0; i < a.rows; ++i) t(j, i) = a(i, j);
  }
  return t;
}

/// Returns A B, computed by the method of gemm. Adds the time of its run, and keeps the verdict of the first
/// product that does not pass. A and B are unchanged afterwards.
template <class T>
HostMatrix<T> multiply(const RestoreJob& job, HostMatrix<T>& a, HostMatrix<T>& b, Device& device,
                       Restored& result) {
  const Method& method = *job.multiplier.method;
  Context context(device);
  Inputs<T> inputs;
  inputs.shape = {a.rows, b.cols, a.cols, 1, Uplo::lower};
  inputs.a = std::move(a);  // moved, and moved back below, because they are large
  inputs.b = std::move(b);
  MethodRun<T> run(context, method, job.multiplier.backend, defaults_of(method), inputs.shape);
  run.upload(inputs);
  run.warm_up();
  result.product_seconds += run.timed_run();
  Answer<T> answer = run.download();
  const double tolerance = default_tolerance(Problem::named("gemm"));
  const Findings found = verify_answer(device, method, inputs, answer, tolerance);
  // The negated comparison also holds while product_ratio is NaN, its initial value.
  if (!(found.ratio <= result.product_ratio)) result.product_ratio = found.ratio;
  const Evidence evidence{Problem::named("gemm"), found.ratio, tolerance, answer.info,
                          Convergence::none,      found.flaw};
  const io::Status status = judge(evidence);
  if (status != io::Status::pass && result.product_status == io::Status::pass) {
    result.product_status = status;
    result.product_message = method.id() + ": " + finding_text(evidence);
  }
  a = std::move(inputs.a);
  b = std::move(inputs.b);
  return std::move(answer.x);
}

/// Generates the matrix, inverts it, verifies the inverse and applies it to the degraded image, in precision
/// T.
template <class T>
void restore_typed(const RestoreJob& job, Device& device, Device& multiplier, Restored& result) {
  const Method& method = *job.inverter.method;
  const Parameters parameters = defaults_of(method);
  Inputs<T> inputs;
  const std::int64_t n = job.blur.width * job.blur.height;
  inputs.shape = {n, n, n, 1, Uplo::lower};
  require_memory(job, inputs.shape, parameters, device);

  MatrixSpec spec;
  spec.kind = MatrixKind::blur;
  spec.rows = spec.cols = n;
  spec.blur = job.blur;
  const bool by_gemm = job.products == Products::gemm;
  // h is H itself, system is H H^T + lambda I.
  spec.blur.what = job.formula == Formula::inverse || by_gemm ? BlurMatrix::h : BlurMatrix::system;
  double start = now_seconds();
  inputs.a = generate<T>(spec);
  result.generate_seconds = now_seconds() - start;
  HostMatrix<T> h_transposed;
  if (by_gemm) {
    h_transposed = transposed(inputs.a);
    inputs.a = multiply(job, inputs.a, h_transposed, multiplier, result);
    for (std::int64_t i = 0; i < n; ++i) inputs.a(i, i) += static_cast<T>(job.blur.lambda);
  }

  Answer<T> answer = invert(job, inputs, parameters, device, result);
  start = now_seconds();
  result.tolerance = default_tolerance(method.problem);
  result.findings = verify_answer(device, method, inputs, answer, result.tolerance);
  result.verify_seconds = now_seconds() - start;
  result.info = answer.info;
  const Evidence evidence{method.problem, result.findings.ratio, result.tolerance,
                          result.info,    result.convergence,    result.findings.flaw};
  result.status = judge(evidence);
  result.message = finding_text(evidence);

  if (by_gemm) {
    const bool paper = job.formula == Formula::paper;
    const HostMatrix<T> restoring = paper ? multiply(job, answer.x, h_transposed, multiplier, result)
                                          : multiply(job, h_transposed, answer.x, multiplier, result);
    start = now_seconds();
    result.restored = product(restoring, result.degraded);
    result.apply_seconds = now_seconds() - start;
    if (result.product_status != io::Status::pass) {  // a wrong product explains a wrong result
      result.status = result.product_status;
      result.message = result.product_message;
    }
    return;
  }
  start = now_seconds();
  switch (job.formula) {
    case Formula::regularised:
      result.restored = apply_blur(job.blur, product(answer.x, result.degraded), true);
      break;
    case Formula::paper:
      result.restored = product(answer.x, apply_blur(job.blur, result.degraded, true));
      break;
    case Formula::inverse:
      result.restored = product(answer.x, result.degraded);
      break;
  }
  result.apply_seconds = now_seconds() - start;
}

}  // namespace

ChosenMethod choose_inverter(const Registry& registry, Formula formula, const std::string& name,
                             Backend requested, Precision precision, int capability) {
  const Problem geinv = Problem::named("geinv"), poinv = Problem::named("poinv");
  const bool inverts_h = formula == Formula::inverse;
  MethodQuery query{{poinv, geinv}, name, requested, precision, capability};
  // H is not positive definite for most point-spread functions; H H^T + lambda I is.
  if (inverts_h) query.problems = {geinv};
  query.allowed = fmt::format("allowed with --formula {}", to_string(formula));
  query.wrong_problem_reason = "it does not invert a matrix";
  if (inverts_h) query.wrong_problem_reason += ", or only symmetric positive definite ones, which H is not";
  return choose_method(registry, query);
}

ChosenMethod choose_multiplier(const Registry& registry, const std::string& name, Backend requested,
                               Precision precision, int capability) {
  MethodQuery query{{Problem::named("gemm")}, name, requested, precision, capability, "--gemm"};
  query.wrong_problem_reason = "it does not multiply matrices";
  return choose_method(registry, query);
}

std::vector<double> degrade(const RestoreJob& job, const std::vector<double>& f) {
  std::vector<double> g = apply_blur(job.blur, f, false);
  add_noise(g, job.noise, job.seed);
  return g;
}

Restored restore(const RestoreJob& job, const std::vector<double>& original, Device& device,
                 Device* multiplier) {
  if (job.products == Products::gemm && job.formula == Formula::inverse)
    throw UsageError("--products gemm: the formula inverse has no products; take regularised or paper");
  Device& gemm_device = multiplier != nullptr ? *multiplier : device;
  Restored result;
  result.device = device.info();
  result.degraded = degrade(job, original);
  if (job.precision == Precision::float32) {
    restore_typed<float>(job, device, gemm_device, result);
  } else {
    restore_typed<double>(job, device, gemm_device, result);
  }
  return result;
}

double mean_square_error(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t p = 0; p < a.size(); ++p) sum += (a[p] - b[p]) * (a[p] - b[p]);
  return sum / static_cast<double>(a.size());
}

double peak_signal_to_noise(double mse) {
  return mse == 0 ? std::numeric_limits<double>::infinity() : 10 * std::log10(255.0 * 255.0 / mse);
}

}  // namespace gaussweep::driver
