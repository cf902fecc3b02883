#pragma once
/// Runs a method: stages and uploads its operands, restores them before every timed run, times runs between
/// two events, and downloads the answer.

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

namespace gaussweep {

template <class T>
class MethodRun {
 public:
  /// Allocates the memory that runs need.
  /// @param repeats runs between two events; each run has a separate working set if the method overwrites its
  /// operands. With pristine inputs on the host, such a method allows only one repeat (else
  /// std::invalid_argument)
  /// @param resident inputs that are already on the device (Staging)
  /// @throws OutOfMemory, DeviceError
  MethodRun(Context& context, const Method& method, Backend backend, const Parameters& parameters,
            const Shape& shape, std::int64_t repeats = 1, Pristine pristine = Pristine::on_device,
            Resident<T> resident = {})
      : context_(context),
        parameters_(parameters),
        repeats_(repeats),
        copies_(working_sets(method, repeats, pristine)),
        run_(method.entry(backend).template get<T>()),
        staging_(context.device, method, parameters, shape, copies_, std::move(resident)) {}

  void upload(const Inputs<T>& inputs) { upload(views_of(inputs)); }
  /// Stages and uploads the inputs. Pristine inputs on the host must stay unchanged until the last run.
  void upload(const InputViews<T>& inputs) {
    inputs_ = inputs;
    staging_.upload_from(context_, inputs);
    fresh_ = true;
    guarded_ = false;
  }
  /// `upload` in two steps (Staging); only the second is timed. @pre the pristine inputs are on the device
  void stage_pinned(const Inputs<T>& inputs) { staging_.stage_pinned(views_of(inputs)); }
  void upload_pinned() { staging_.upload_pinned(); }
  /// Runs once on fresh operands without timing, and waits for the device.
  void warm_up() {
    reset();
    run_all();
    context_.device.synchronize();
  }
  /// Returns the seconds per run between two events; the operands are fresh before the first run.
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
  /// Makes timed runs also measure, with `clock`, the time that the host takes to queue them.
  void watch_queue(HostClock clock) { clock_ = clock; }
  /// Returns the host's seconds to queue one run of the last timed run. A GPU executes meanwhile, possibly
  /// longer. NaN without watch_queue.
  double queue_seconds() const { return queue_seconds_; }
  /// Returns how often one run of the last timed run waited for the device. Waits inside vendor routines are
  /// not counted.
  std::int64_t waits() const { return waits_; }
  /// Makes each timed run start with empty caches, flushed after the operands are copied.
  /// @throws OutOfMemory, DeviceError
  void run_cold() { flush_.emplace(context_.device); }

  /// Records the work of a timed run. Returns false if that is impossible (recording.hpp) or if every replay
  /// would have to upload its operands.
  bool record() {
    if (pristine() == Pristine::on_host) return false;
    recording_ = record_work(context_.device, [this] { run_all(); });
    return recording_ != nullptr;
  }
  /// Returns the number of kernels per recorded run. @pre `record` returned true
  std::int64_t recorded_kernels() const {
    return static_cast<std::int64_t>(recording_->kernels()) / repeats_;
  }
  /// Replays the recording and returns the seconds per run between two events, on fresh operands. @pre
  /// `record` returned true
  double replayed_run() {
    return between_events([this] { recording_->replay(); });
  }
  /// Queues `count` runs on fresh operands, or, without `with_runs`, only the copies of fresh operands, so
  /// that their cost can be measured.
  void queue(std::int64_t count, bool with_runs) {
    for (std::int64_t i = 0; i < count; ++i) {
      reset();
      if (with_runs) run_all();
    }
  }
  /// Runs once on fresh operands and reports the stages to `sink`. The iteration report is not kept.
  void observed_run(StageSink& sink) {
    reset();
    context_.stages = &sink;
    struct Quiet {
      Context& context;
      ~Quiet() { context.stages = nullptr; }
    } quiet{context_};
    run(0);
  }
  /// Runs once on the current operands.
  void run(int copy = 0) {
    Operands<T> operands = staging_.operands(copy);
    context_.report = {};
    fresh_ = false;
    run_(context_, operands, parameters_);
    report_of_last_ = context_.report;
  }

  /// Returns a digest of each working set's answer; equal answers have equal digests (guard.hpp).
  std::vector<std::uint64_t> answer_digests() {
    std::vector<std::uint64_t> digests;
    for (int copy = 0; copy <= last_copy(); ++copy)
      digests.push_back(staging_.answer_digest(context_, copy, is_negated(copy)));
    return digests;
  }
  /// Restores the signs of an answer that was computed from negated operands. Call before reading the answer
  /// on the device.
  void restore_signs(int copy) {
    if (is_negated(copy)) staging_.restore_signs(context_, copy);
    if (guarded_) signs_restored_.at(static_cast<std::size_t>(copy)) = true;
  }
  void restore_signs() { restore_signs(last_copy()); }
  /// Returns a description of the last run's forbidden writes, or an empty text. Destroys the answer.
  /// @pre the pristine inputs are on the device
  std::string forbidden_writes() {
    signs_restored_.assign(signs_restored_.size(), false);
    return staging_.forbidden_writes(context_, last_copy(), is_negated(last_copy()));
  }

  /// Returns the answer of the last run (Staging::download).
  Answer<T> download(const T* by_columns = nullptr) { return download(last_copy(), by_columns); }
  Answer<T> download(int copy, const T* by_columns) {
    restore_signs(copy);
    return staging_.download(copy, by_columns);
  }
  std::int64_t download_to(T* destination) {
    restore_signs();
    return staging_.download_to(destination, last_copy());
  }
  /// `download` in two steps after `stage_pinned`; the second is not timed.
  void download_pinned() {
    restore_signs();
    staging_.download_pinned(last_copy());
  }
  Answer<T> pinned_answer() { return staging_.pinned_answer(last_copy()); }
  /// Returns the iteration report of the last timed run or, without one, of the last run.
  const IterationReport& report() const { return begin_ ? report_ : report_of_last_; }
  Staging<T>& staging() { return staging_; }
  Pristine pristine() const { return copies_ == 0 ? Pristine::on_host : Pristine::on_device; }
  /// Returns the working set of the last run.
  int last_copy() const { return std::max(copies_ - 1, 0); }

 private:
  static int working_sets(const Method& method, std::int64_t repeats, Pristine pristine) {
    if (pristine == Pristine::on_device) return method.overwrites ? static_cast<int>(repeats) : 1;
    if (!method.overwrites || repeats == 1) return 0;
    throw std::invalid_argument(method.id() +
                                ": repeated runs would overwrite inputs that are uploaded once");
  }
  /// Restores the operands. The negated signs alternate between resets and between working sets, so that an
  /// old answer is wrong.
  void reset() {
    if (pristine() == Pristine::on_device) {
      staging_.reset();
    } else if (!fresh_) {
      upload(inputs_);
    } else if (guarded_) {
      return;
    }
    guarded_ = true;
    negated_first_ = !negated_first_;
    signs_restored_.assign(static_cast<std::size_t>(last_copy() + 1), false);
    for (int copy = 0; copy <= last_copy(); ++copy) staging_.guard(context_, copy, is_negated(copy));
  }
  /// Returns true if a working set holds the answer of negated operands.
  bool is_negated(int copy) const {
    return guarded_ && !signs_restored_.at(static_cast<std::size_t>(copy)) &&
           negated_first_ == (copy % 2 == 0);
  }
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
      run(copies_ <= 1 ? 0 : static_cast<int>(repeat));
  }

  Context& context_;
  Parameters parameters_;
  std::int64_t repeats_;
  int copies_;
  Run<T> run_;
  Staging<T> staging_;
  InputViews<T> inputs_;
  bool fresh_ = false;  ///< no run has used the last upload
  bool guarded_ = false, negated_first_ = true;
  std::vector<bool> signs_restored_;  ///< per working set
  std::unique_ptr<Event> begin_, end_;
  HostClock clock_ = nullptr;
  double queue_seconds_ = std::numeric_limits<double>::quiet_NaN();
  std::int64_t waits_ = 0;
  std::optional<CacheFlush> flush_;
  std::unique_ptr<Recording> recording_;
  IterationReport report_, report_of_last_;
};

}  // namespace gaussweep
