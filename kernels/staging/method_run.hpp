#pragma once
/// The one way to run a method: operands laid out and uploaded, fresh before every timed run, runs between
/// two events, the answer fetched.

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
  /// Allocates what runs need.
  /// @param repeats runs between two events, each on operands of its own where the method overwrites them.
  /// With the pristine inputs on the host there can then be but one (else std::invalid_argument)
  /// @param there what is on the device already of the inputs that will be uploaded (Staging)
  /// @throws OutOfMemory, DeviceError
  MethodRun(Context& context, const Method& method, Backend backend, const Parameters& parameters,
            const Shape& shape, std::int64_t repeats = 1, Pristine pristine = Pristine::on_device,
            Resident<T> there = {})
      : context_(context),
        parameters_(parameters),
        repeats_(repeats),
        copies_(working_sets(method, repeats, pristine)),
        run_(method.entry(backend).template get<T>()),
        staging_(context.device, method, parameters, shape, copies_, std::move(there)) {}

  void upload(const Inputs<T>& inputs) { upload(views_of(inputs)); }
  /// Where the pristine inputs lie on the host, they must stay as they are as long as there are runs.
  void upload(const InputViews<T>& inputs) {
    inputs_ = inputs;
    staging_.upload_from(context_, inputs);
    fresh_ = true;
    guarded_ = false;
  }
  /// `upload` in parts (Staging): the first outside of any clock. @pre the pristine inputs lie on the device
  void lay_out(const Inputs<T>& inputs) { staging_.lay_out(views_of(inputs)); }
  void upload_laid_out() { staging_.upload_laid_out(); }
  /// A run outside of any clock, on fresh operands, and all that follows it on the device.
  void warm_up() {
    reset();
    run_all();
    context_.device.synchronize();
  }
  /// Seconds of one run between two events, operands fresh before the first.
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
  /// From now on a timed run also takes the time in which the host queues it, by `clock`.
  void watch_queue(HostClock clock) { clock_ = clock; }
  /// Seconds that the host needed to queue one run of the last timed run: on a GPU it runs meanwhile, and may
  /// go on longer. NaN where nobody watched.
  double queue_seconds() const { return queue_seconds_; }
  /// How often one run of the last timed run waited for the device; what a vendor's routine waits for is not
  /// in it.
  std::int64_t waits() const { return waits_; }
  /// From now on the caches are emptied between the operands' copies and each timed run.
  /// @throws OutOfMemory, DeviceError
  void run_cold() { flush_.emplace(context_.device); }

  /// Records a timed run's work. False where that is not possible (recording.hpp), and where every replay
  /// would want its operands from the host.
  bool record() {
    if (pristine() == Pristine::on_host) return false;
    recording_ = record_work(context_.device, [this] { run_all(); });
    return recording_ != nullptr;
  }
  /// Kernels of one run as it was recorded. @pre `record` said true
  std::int64_t recorded_kernels() const {
    return static_cast<std::int64_t>(recording_->kernels()) / repeats_;
  }
  /// Seconds of one run as it was recorded, between two events, operands fresh before. @pre `record` said
  /// true
  double replayed_run() {
    return between_events([this] { recording_->replay(); });
  }
  /// Queues `count` runs on fresh operands, or only the making of fresh operands: what those cost is so
  /// known.
  void queue(std::int64_t count, bool with_runs) {
    for (std::int64_t i = 0; i < count; ++i) {
      reset();
      if (with_runs) run_all();
    }
  }
  /// One run on fresh operands whose stages `sink` hears of. What it reports is not kept.
  void observed_run(StageSink& sink) {
    reset();
    context_.stages = &sink;
    struct Quiet {
      Context& context;
      ~Quiet() { context.stages = nullptr; }
    } quiet{context_};
    run(0);
  }
  /// One run on the operands as they are.
  void run(int copy = 0) {
    Operands<T> operands = staging_.operands(copy);
    context_.report = {};
    fresh_ = false;
    run_(context_, operands, parameters_);
    report_of_last_ = context_.report;
  }

  /// Digests of the answers of the last runs, one a working set: equal where the answers are (guard.hpp).
  std::vector<std::uint64_t> answer_digests() {
    std::vector<std::uint64_t> digests;
    for (int copy = 0; copy <= last_copy(); ++copy)
      digests.push_back(staging_.answer_digest(context_, copy, is_negated(copy)));
    return digests;
  }
  /// Gives an answer the signs that it has on the inputs as they are. Before the answer is read where it
  /// lies.
  void settle(int copy) {
    if (is_negated(copy)) staging_.settle(context_, copy);
    if (guarded_) settled_.at(static_cast<std::size_t>(copy)) = true;
  }
  void settle() { settle(last_copy()); }
  /// What the last run wrote where it must not, in words; else empty. The answer is lost.
  /// @pre the pristine inputs lie on the device
  std::string forbidden_writes() {
    settled_.assign(settled_.size(), false);
    return staging_.forbidden_writes(context_, last_copy(), is_negated(last_copy()));
  }

  /// The answer of the last run (Staging::download).
  Answer<T> download(const T* by_columns = nullptr) { return download(last_copy(), by_columns); }
  Answer<T> download(int copy, const T* by_columns) {
    settle(copy);
    return staging_.download(copy, by_columns);
  }
  std::int64_t download_to(T* destination) {
    settle();
    return staging_.download_to(destination, last_copy());
  }
  /// `download` in parts, where the operands were laid out: the second outside of any clock.
  void fetch() {
    settle();
    staging_.fetch(last_copy());
  }
  Answer<T> fetched() { return staging_.fetched(last_copy()); }
  /// What an iterative method said of its last timed run; without one, of its last run.
  const IterationReport& report() const { return begin_ ? report_ : report_of_last_; }
  Staging<T>& staging() { return staging_; }
  Pristine pristine() const { return copies_ == 0 ? Pristine::on_host : Pristine::on_device; }
  /// The working set of the last run.
  int last_copy() const { return std::max(copies_ - 1, 0); }

 private:
  static int working_sets(const Method& method, std::int64_t repeats, Pristine pristine) {
    if (pristine == Pristine::on_device) return method.overwrites ? static_cast<int>(repeats) : 1;
    if (!method.overwrites || repeats == 1) return 0;
    throw std::invalid_argument(method.id() + ": repeated runs overwrite what would have to be uploaded");
  }
  /// Fresh operands. From one time to the next, and from one working set to the next, signs change.
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
    settled_.assign(static_cast<std::size_t>(last_copy() + 1), false);
    for (int copy = 0; copy <= last_copy(); ++copy) staging_.guard(context_, copy, is_negated(copy));
  }
  /// Whether the answer that lies in a working set is that of negated operands.
  bool is_negated(int copy) const {
    return guarded_ && !settled_.at(static_cast<std::size_t>(copy)) && negated_first_ == (copy % 2 == 0);
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
  bool fresh_ = false;  ///< no run has seen what was uploaded last
  bool guarded_ = false, negated_first_ = true;
  std::vector<bool> settled_;  ///< a working set each
  std::unique_ptr<Event> begin_, end_;
  HostClock clock_ = nullptr;
  double queue_seconds_ = std::numeric_limits<double>::quiet_NaN();
  std::int64_t waits_ = 0;
  std::optional<CacheFlush> flush_;
  std::unique_ptr<Recording> recording_;
  IterationReport report_, report_of_last_;
};

}  // namespace gaussweep
