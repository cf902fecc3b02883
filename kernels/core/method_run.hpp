#pragma once
/// The one way to run a method: operands laid out and uploaded, fresh before every timed run, runs between
/// two events, the answer fetched.

#include <algorithm>
#include <cstdint>
#include <memory>

#include "kernels/core/staging.hpp"

namespace gaussweep {

template <class T>
class MethodRun {
 public:
  /// Allocates what runs need that are repeated.
  /// @param repeats runs between two events, each on operands of its own where the method overwrites them
  /// @throws OutOfMemory, DeviceError
  MethodRun(Context& context, const Method& method, Backend backend, const Parameters& parameters,
            const Shape& shape, std::int64_t repeats = 1)
      : MethodRun(context, method, backend, parameters, shape, repeats,
                  method.overwrites ? static_cast<int>(repeats) : 1) {}
  /// What a single run needs, in the memory that its inputs were uploaded to: `upload`, `run`, `download_to`.
  static MethodRun single(Context& context, const Method& method, Backend backend,
                          const Parameters& parameters, const Shape& shape) {
    return MethodRun(context, method, backend, parameters, shape, 1, 0);
  }

  template <class Source>
  void upload(const Source& inputs) {
    staging_.upload(inputs);
  }
  /// A run outside of any clock, on fresh operands, and all that follows it on the device.
  void warm_up() {
    reset();
    run_all();
    context_.device.synchronize();
  }
  /// Seconds of one run between two events, operands fresh before the first.
  double timed_run() {
    if (!begin_) {
      begin_ = context_.device.make_event();
      end_ = context_.device.make_event();
    }
    reset();
    context_.device.synchronize();
    begin_->record();
    run_all();
    end_->record();
    context_.device.synchronize();
    report_ = context_.report;
    return end_->seconds_since(*begin_) / static_cast<double>(repeats_);
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
    run_(context_, operands, parameters_);
    report_of_last_ = context_.report;
  }

  /// The answer of the last run.
  Answer<T> download() { return staging_.download(last_copy()); }
  std::int64_t download_to(T* destination) { return staging_.download_to(destination, last_copy()); }
  /// What an iterative method said of its last timed run; without one, of its last run.
  const IterationReport& report() const { return begin_ ? report_ : report_of_last_; }
  Staging<T>& staging() { return staging_; }
  /// The working set of the last run.
  int last_copy() const { return std::max(copies_ - 1, 0); }

 private:
  MethodRun(Context& context, const Method& method, Backend backend, const Parameters& parameters,
            const Shape& shape, std::int64_t repeats, int copies)
      : context_(context),
        parameters_(parameters),
        repeats_(repeats),
        copies_(copies),
        run_(method.entry(backend).template get<T>()),
        staging_(context.device, method, parameters, shape, copies) {}
  void reset() { staging_.reset(); }
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
  std::unique_ptr<Event> begin_, end_;
  IterationReport report_, report_of_last_;
};

}  // namespace gaussweep
