#pragma once
/// Runs a method: uploads its operands, restores them before every run, measures the time of runs between two
/// events, and downloads the answer.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "kernels/device/cache_flush.hpp"
#include "kernels/device/recording.hpp"
#include "kernels/staging/staging.hpp"
#include "kernels/staging/working_sets.hpp"

namespace gaussweep {

/// The runs of one method with one shape and parameter set.
template <class T>
class MethodRun {
 public:
  /// Allocates the device memory of the operands.
  /// @param repeats the number of runs that are timed together between two events of the stream. A method
  /// that overwrites its operands has a separate working set (a copy of the operands) per repeat. With
  /// Pristine::on_host, such a method allows only one repeat (else std::invalid_argument)
  /// @param pristine where the unmodified inputs are, from which operands are restored (staging.hpp)
  /// @param resident inputs that a previous Staging left on the device
  /// @throws std::invalid_argument if the method does not take the shape; OutOfMemory, DeviceError
  MethodRun(Context& context, const Method& method, Backend backend, const Parameters& parameters,
            const Shape& shape, std::int64_t repeats = 1, Pristine pristine = Pristine::on_device,
            ResidentInputs<T> resident = {})
      : context_(context),
        parameters_(checked_parameters(method, parameters, shape)),
        repeats_(repeats),
        set_count_(working_set_count(method, repeats, pristine)),
        run_(method.entry(backend).template get<T>()),
        staging_(context.device, method, parameters, shape, set_count_, std::move(resident), context.group),
        on_several_gpus_(gpus_of(method, shape, parameters) > 1) {}

  void upload(const Inputs<T>& inputs) { upload(views_of(inputs)); }
  /// Converts and uploads the inputs. With Pristine::on_host they must stay unchanged until the last run.
  void upload(const InputViews<T>& inputs) {
    inputs_ = inputs;
    staging_.upload_from(context_, inputs);
    fresh_ = true;
    guarded_ = false;
  }
  /// Upload in two steps through pinned host memory: the conversion of the inputs to the method's layout,
  /// then the transfer, which a caller can time alone.
  /// @pre Pristine::on_device
  void stage_pinned(const Inputs<T>& inputs) { staging_.stage_pinned(views_of(inputs)); }
  void upload_pinned() {
    staging_.upload_pinned();
    fresh_ = true;
  }
  /// Runs all repeats on restored operands without timing, and waits for the device.
  void warm_up() {
    reset();
    run_all();
    context_.device.synchronize();
  }
  /// Runs all repeats on restored operands and returns the seconds per run between two events.
  double timed_run() {
    const double seconds = between_events([this] {
      const double start = clock_ != nullptr ? clock_() : 0;
      const std::int64_t waits = context_.device.waits();
      run_all();
      waits_ = (context_.device.waits() - waits) / repeats_;
      if (clock_ != nullptr) queue_seconds_ = (clock_() - start) / static_cast<double>(repeats_);
    });
    report_ = context_.report;
    return seconds;
  }
  /// Makes timed runs also measure, with `clock`, the time in which the host queues them.
  void watch_queue(HostClock clock) { clock_ = clock; }
  /// Returns the seconds that the host took to queue one run of the last timed_run; NaN without watch_queue.
  /// The GPU may need longer, because it executes asynchronously.
  double queue_seconds() const { return queue_seconds_; }
  /// Returns how often the host waited for the device per run of the last timed_run. Waits inside vendor
  /// routines are not counted.
  std::int64_t waits() const { return waits_; }
  /// Makes each timed run start with cold caches: the last-level cache is flushed after the operands are
  /// restored.
  /// @throws OutOfMemory, DeviceError
  void run_cold() { flush_.emplace(context_.device); }

  /// Records the repeats of a timed run as a CUDA graph. Returns false if that is impossible (recording.hpp).
  /// It also returns false for several GPUs, and for Pristine::on_host, where each replay would need an
  /// upload.
  /// @param leaves_work see record_work
  bool record(bool* leaves_work = nullptr) {
    if (pristine() == Pristine::on_host || on_several_gpus_) return false;
    const bool fresh = fresh_;
    const IterationReport report_of_last = report_of_last_;
    recording_ = record_work(
        context_.device, [this] { run_all(); }, leaves_work);
    // Recording captures the work without executing it: the operands are as fresh as before.
    fresh_ = fresh;
    report_of_last_ = report_of_last;
    return recording_ != nullptr;
  }
  /// Returns the number of kernels per recorded run. @pre `record` returned true
  std::int64_t recorded_kernels() const {
    return static_cast<std::int64_t>(recording_->kernels()) / repeats_;
  }
  /// Replays the recording on restored operands and returns the seconds per run between two events. @pre
  /// `record` returned true
  double replayed_run() {
    return between_events([this] { recording_->replay(); });
  }
  /// Restores the operands and queues all repeats, `count` times. If `with_runs` is false, it only restores
  /// the operands, so that this cost can be measured.
  void queue(std::int64_t count, bool with_runs) {
    for (std::int64_t i = 0; i < count; ++i) {
      reset();
      if (with_runs) run_all();
    }
  }
  /// Runs once on restored operands and reports the stages to `sink`. Afterwards `report` still returns the
  /// report of the last timed run.
  void observed_run(StageSink& sink) {
    reset();
    context_.stages = &sink;
    struct StageReset {
      Context& context;
      ~StageReset() { context.stages = nullptr; }
    } stage_reset{context_};
    run_set(/*set=*/0);
  }
  /// Runs once on the operands of working set `set`. The first run after an upload gets the uploaded inputs.
  /// Every other run gets the operands as the last run or `queue` left them.
  void run(int set = 0) {
    if (fresh_ && pristine() == Pristine::on_device) {
      staging_.reset();
      guarded_ = false;
    }
    run_set(set);
  }

  /// Returns a digest of each working set's answer; equal answers have equal digests (guard.hpp).
  std::vector<std::uint64_t> answer_digests() {
    std::vector<std::uint64_t> digests;
    for (int set = 0; set <= last_set(); ++set)
      digests.push_back(staging_.answer_digest(context_, set, is_negated(set)));
    return digests;
  }
  /// Restores the signs of an answer that was computed from negated operands (guard.hpp). Call it before
  /// reading the answer on the device.
  void restore_signs(int set) {
    if (is_negated(set)) staging_.restore_signs(context_, set);
    if (guarded_) signs_restored_.at(static_cast<std::size_t>(set)) = true;
  }
  void restore_signs() { restore_signs(last_set()); }
  /// Returns Staging::forbidden_writes of the last run. Destroys the answer.
  std::string forbidden_writes() {
    signs_restored_.assign(signs_restored_.size(), false);
    return staging_.forbidden_writes(context_, last_set(), is_negated(last_set()));
  }

  /// Return the answer of the last run, or of the last run on working set `set` (Staging::download).
  Answer<T> download(const T* column_major_answer = nullptr) {
    return download(last_set(), column_major_answer);
  }
  Answer<T> download(int set, const T* column_major_answer) {
    restore_signs(set);
    return with_report(staging_.download(set, column_major_answer));
  }
  std::int64_t download_to(T* destination) {
    restore_signs();
    return staging_.download_to(destination, last_set());
  }
  /// Download in two steps: the transfer, which a caller can time, and the conversion. @pre `stage_pinned`
  void download_pinned() {
    restore_signs();
    staging_.download_pinned(last_set());
  }
  Answer<T> pinned_answer() { return with_report(staging_.pinned_answer(last_set())); }
  /// Returns the iteration report of the last timed run. If there was no timed run, returns that of the last
  /// run.
  const IterationReport& report() const { return begin_ ? report_ : report_of_last_; }
  Staging<T>& staging() { return staging_; }
  Pristine pristine() const { return set_count_ == 0 ? Pristine::on_host : Pristine::on_device; }
  /// Returns the working set of the last run.
  int last_set() const { return std::max(set_count_ - 1, 0); }

 private:
  static const Parameters& checked_parameters(const Method& method, const Parameters& parameters,
                                              const Shape& shape) {
    const std::string fault = shape_fault(method, shape, parameters);
    if (!fault.empty()) throw std::invalid_argument(fault);
    return parameters;
  }
  static int working_set_count(const Method& method, std::int64_t repeats, Pristine pristine) {
    if (pristine == Pristine::on_device) return needs_set_per_repeat(method) ? static_cast<int>(repeats) : 1;
    if (!needs_set_per_repeat(method) || repeats == 1) return 0;
    throw std::invalid_argument(method.id() +
                                ": repeated runs would overwrite inputs that are uploaded once");
  }
  /// Restores the operands and guards them (guard.hpp). Negates part of A in every second reset and in every
  /// second working set, so that an answer left from another run is wrong.
  void reset() {
    if (pristine() == Pristine::on_device) {
      staging_.reset();
      fresh_ = false;
    } else if (!fresh_) {
      upload(inputs_);
    } else if (guarded_) {
      return;
    }
    guarded_ = true;
    negated_first_ = !negated_first_;
    signs_restored_.assign(static_cast<std::size_t>(last_set() + 1), false);
    for (int set = 0; set <= last_set(); ++set) staging_.guard(context_, set, is_negated(set));
  }
  /// Returns true if a working set's answer was computed from negated operands, and its signs are not
  /// restored.
  bool is_negated(int set) const {
    return guarded_ && !signs_restored_.at(static_cast<std::size_t>(set)) && negated_first_ == (set % 2 == 0);
  }
  /// Restores the operands, performs `work` between two events, and returns the seconds per repeat between
  /// them.
  template <class Work>
  double between_events(Work&& work) {
    if (!begin_) {
      begin_ = context_.device.make_event();
      end_ = context_.device.make_event();
    }
    reset();
    if (flush_) (*flush_)();
    context_.device.synchronize();
    begin_->record();
    std::forward<Work>(work)();
    end_->record();
    context_.device.synchronize();
    return end_->seconds_since(*begin_) / static_cast<double>(repeats_);
  }
  void run_all() {
    for (std::int64_t repeat = 0; repeat < repeats_; ++repeat)
      run_set(set_count_ <= 1 ? 0 : static_cast<int>(repeat));
  }
  /// Runs once on the current operands of working set `set`.
  void run_set(int set) {
    Operands<T> operands = staging_.operands(set);
    context_.report = {};
    fresh_ = false;
    run_(context_, operands, parameters_);
    report_of_last_ = context_.report;
  }
  Answer<T> with_report(Answer<T> answer) const {
    answer.report = report_of_last_;
    return answer;
  }

  Context& context_;
  Parameters parameters_;
  std::int64_t repeats_;
  int set_count_;  ///< number of working sets; 0: runs compute in the pristine set (Pristine::on_host)
  Run<T> run_;
  Staging<T> staging_;
  InputViews<T> inputs_;
  bool on_several_gpus_;
  /// True if no run has used the operands since the last upload, and the working sets have not been restored
  /// since.
  bool fresh_ = false;
  bool guarded_ = false;       ///< true: the operands are guarded, i.e. partly negated or NaN (guard.hpp)
  bool negated_first_ = true;  ///< true: working sets 0, 2, ... are negated; false: 1, 3, ...
  std::vector<bool> signs_restored_;  ///< per working set: restore_signs was called since the last `reset`
  std::unique_ptr<Event> begin_, end_;
  HostClock clock_ = nullptr;
  double queue_seconds_ = std::numeric_limits<double>::quiet_NaN();
  std::int64_t waits_ = 0;
  std::optional<CacheFlush> flush_;
  std::unique_ptr<Recording> recording_;
  IterationReport report_, report_of_last_;
};

}  // namespace gaussweep
