/// Decides if a trial (one method on one matrix) fits into memory. Before every run of the method, its
/// operands (the working copies) are restored from the pristine inputs, an unmodified copy. This copy is on
/// the device (Pristine::on_device) or only on the host (Pristine::on_host). In the second case the operands
/// are uploaded again for every run, and the device needs less memory.

#include "driver/worker/admission.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "driver/base/text_format.hpp"
#include "kernels/staging/working_sets.hpp"

namespace gaussweep::driver {
namespace {

double bytes_of(const Extent& extent, std::size_t element) {
  return static_cast<double>(extent.rows) * static_cast<double>(extent.cols) * static_cast<double>(element);
}

/// The bytes of a trial's operands, each counted once.
struct OperandBytes {
  double inputs, answer;
  double vectors;  ///< bytes of the right-hand sides, which are part of `inputs`
};
OperandBytes operand_bytes(const Trial& trial) {
  const std::size_t element = element_bytes(trial.precision);
  const ProblemRow& problem = trial.problem.row();
  const double a = bytes_of(problem.a(trial.shape), element);
  const double b = problem.b != nullptr ? bytes_of(problem.b(trial.shape), element) : 0;
  const bool is_system = problem.second == SecondOperand::right_hand_sides;
  return {a + b, bytes_of(problem.x(trial.shape), element), is_system ? b : 0};
}

/// Returns the additional bytes while a matrix is generated or read. Matrices of files, and those with a
/// requested condition number, exist in double first.
double generation_bytes(const Trial& trial) {
  const MatrixRequest& matrix = trial.matrix;
  const bool in_double = matrix.kind == "file" || matrix.spec.has_condition();
  return in_double ? bytes_of(trial.problem->a(trial.shape), sizeof(double)) : 0;
}

}  // namespace

Footprint footprint(const Method& method, const Trial& trial, Pristine pristine) {
  const bool on_gpu = trial.backend == Backend::cuda, uploads_again = pristine == Pristine::on_host;
  // The number of working copies in addition to the pristine inputs. A method that overwrites its inputs
  // (needs_set_per_repeat) has one copy per inner repeat (run within one sample). With repeated uploads, runs
  // compute in the uploaded inputs themselves.
  const int copies_per_repeat = needs_set_per_repeat(method) ? static_cast<int>(trial.inner_repeats) : 1;
  const int copies = uploads_again ? 0 : copies_per_repeat;
  const OperandBytes operands = operand_bytes(trial);
  Footprint result;
  result.device_bytes = static_cast<double>(
      staging_bytes(method, trial.shape, trial.parameters, element_bytes(trial.precision), copies));
  // With repeated uploads, the verification uploads the inputs, in addition to the answer, after the memory
  // of the runs is freed. On several GPUs this does not add to the footprint. If the operands do not fit on
  // the first GPU, the verification runs on the CPU.
  if (on_gpu && uploads_again && gpus_of(method, trial.shape, trial.parameters) == 1)
    result.device_bytes = std::max(result.device_bytes, operands.inputs + operands.answer);
  // The working copies of a trial on the CPU are host memory, too.
  const double working_copies =
      on_gpu ? 0 : gpus_of(method, trial.shape, trial.parameters) * result.device_bytes;
  // The answers of the trial and of the vendor's method, with which the trial is compared.
  const double answers = 2 * operands.answer;
  const bool has_pinned_copy = trial.pinned && !uploads_again;
  const double pinned_copy = has_pinned_copy
                                 ? static_cast<double>(pinned_bytes(method, trial.shape, trial.parameters,
                                                                    element_bytes(trial.precision)))
                                 : 0;
  // The trial's right-hand sides are part of `inputs`. Three more sets of vectors of this size are in memory.
  // They are the trial's known solutions, and the right-hand sides and known solutions that are stored with
  // the matrix.
  result.host_bytes = operands.inputs + 3 * operands.vectors +
                      std::max(answers + working_copies + pinned_copy, generation_bytes(trial));
  return result;
}

bool can_upload_again(const Method& method, const Trial& trial) {
  return !needs_set_per_repeat(method) || trial.inner_repeats == 1;
}

bool uploading_again_saves_memory(const Method& method, const Trial& trial) {
  return can_upload_again(method, trial) && footprint(method, trial, Pristine::on_host).device_bytes <
                                                0.9 * footprint(method, trial).device_bytes;
}

Fit fit_of(double need, double free, double total) {
  if (need <= free) return Fit::fits;
  return need <= 0.9 * total ? Fit::not_now : Fit::never;
}

namespace {

/// Returns "needs 149.0 GiB of GPU memory, 74.5 GiB with its operands uploaded again for every run".
/// @param kind such as "GPU memory"
std::string memory_text(double bytes, double bytes_uploaded_again, const char* kind) {
  std::string text = fmt::format("needs {} of {}", bytes_text(bytes), kind);
  if (bytes_uploaded_again < bytes)
    text +=
        fmt::format(", {} with its operands uploaded again for every run", bytes_text(bytes_uploaded_again));
  return text;
}

}  // namespace

Admission admit(const Method& method, const Trial& trial, const FreeMemory& memory) {
  const Footprint usual = footprint(method, trial);
  const auto device_fit = [&](const Footprint& need) {
    return fit_of(need.device_bytes, memory.device_free, memory.device_total);
  };
  // Repeated uploads would use pageable memory. A trial with pinned host memory whose pristine inputs and
  // working copies fit on the device therefore never uploads again.
  const bool needs_pinned = trial.pinned && device_fit(usual) == Fit::fits;
  const bool may_upload_again = can_upload_again(method, trial) && !needs_pinned;
  const Footprint uploading_again = may_upload_again ? footprint(method, trial, Pristine::on_host) : usual;
  const auto host_fit = [&](const Footprint& need) {
    return fit_of(need.host_bytes, memory.host.free, memory.host.limit);
  };
  const auto fits = [&](const Footprint& need) {
    return device_fit(need) == Fit::fits && host_fit(need) == Fit::fits;
  };
  constexpr double large = 0x1p28;  // bytes; on the CPU, inputs larger than this have no second copy
  const bool omits_copy = may_upload_again && trial.backend != Backend::cuda &&
                          usual.device_bytes - uploading_again.device_bytes > large;
  if (fits(usual)) return {omits_copy ? Pristine::on_host : Pristine::on_device, Fit::fits, {}};
  if (may_upload_again && fits(uploading_again))
    return {Pristine::on_host, Fit::fits, omits_copy ? "" : uploaded_again};
  const bool is_on_cpu = trial.backend != Backend::cuda;
  if (const Fit fit = device_fit(uploading_again); fit != Fit::fits && !is_on_cpu) {
    std::string reason = fmt::format(
        "{}; {} are free on {}", memory_text(usual.device_bytes, uploading_again.device_bytes, "GPU memory"),
        bytes_text(memory.device_free), memory.device);
    if (fit == Fit::not_now)
      reason += fmt::format(" of {}: another process holds the rest", bytes_text(memory.device_total));
    return {Pristine::on_device, fit, std::move(reason)};
  }
  const auto host_refusal = [](double need, double need_uploading_again, const io::Memory& host) {
    return Admission{
        Pristine::on_device, fit_of(need_uploading_again, host.free, host.limit),
        fmt::format("{}; {} of {} are free", memory_text(need, need_uploading_again, "host memory"),
                    bytes_text(host.free), bytes_text(host.limit))};
  };
  // A trial on the CPU uploads nothing, so the text has only its smallest footprint. Its `host_bytes` include
  // its `device_bytes`. For the run of the vendor's method, whose host memory was checked before, only
  // `device_bytes` decide.
  if (is_on_cpu && host_fit(uploading_again) == Fit::fits)
    return host_refusal(uploading_again.device_bytes, uploading_again.device_bytes,
                        {memory.device_total, memory.device_free});
  return host_refusal(is_on_cpu ? uploading_again.host_bytes : usual.host_bytes, uploading_again.host_bytes,
                      memory.host);
}

}  // namespace gaussweep::driver
