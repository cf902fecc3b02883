/// The worker process: runs the trials (one method on one matrix each) that its supervisor sends over file
/// descriptor 3. It runs one trial at a time, and ends if its supervisor ends.

#include "driver/worker/worker.hpp"

#include <fmt/format.h>
#include <new>
#include <optional>
#include <set>
#include <unistd.h>
#include <vector>

#include "driver/base/errors.hpp"
#include "driver/base/text_format.hpp"
#include "driver/plan/method_library.hpp"
#include "driver/protocol/messages.hpp"
#include "driver/protocol/trial_record.hpp"
#include "driver/system/channel.hpp"
#include "driver/system/clock.hpp"
#include "driver/system/step_note.hpp"
#include "driver/worker/execute.hpp"
#include "driver/worker/process_state.hpp"
#include "io/files/errors.hpp"
#include "io/records/status.hpp"
#include "kernels/core/errors.hpp"

namespace gaussweep::driver {
namespace {

using message::WorkerEnd;

constexpr double peak_seconds = 0.2;  // seconds to measure the device's peak rates

io::DeviceRow row_of(const DeviceInfo& info, const std::string& host, const Peaks& peaks) {
  io::DeviceRow row;
  row.gpu_uuid = info.uuid;
  row.gpu_name = info.name;
  row.host = host;
  row.capability = info.capability;
  row.multiprocessors = info.multiprocessors;
  row.total_bytes = static_cast<std::int64_t>(info.total_bytes);
  row.ecc = info.ecc ? 1 : 0;
  row.driver_version = info.driver_version;
  row.runtime_version = info.runtime_version;
  row.copy_bytes_per_second = peaks.copy_bytes_per_second;
  row.gemm_flops_float = peaks.gemm_flops_float;
  row.gemm_flops_double = peaks.gemm_flops_double;
  return row;
}

/// The result of a trial that threw an exception.
struct Failure {
  io::Status status;
  std::string message;
  bool fatal;                         ///< true if this process cannot use its device any more
  bool is_temporary_failure = false;  ///< true if the cause may be temporary; a resumed run repeats the trial
};

/// Converts an exception that a trial threw to the status and message of its record.
Failure failure_of(std::exception_ptr thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const TransientFailure& e) {
    return {e.status, e.what(), /*fatal=*/false, /*is_temporary=*/true};
  } catch (const OutOfMemory& e) {
    return {io::Status::oom, e.what(), /*fatal=*/false};
  } catch (const std::bad_alloc&) {
    return {io::Status::oom, "host memory ran out", /*fatal=*/false};
  } catch (const NotOffered& e) {
    return {io::Status::skipped, e.what(), /*fatal=*/false};
  } catch (const DeviceError& e) {
    // An emulated kernel that writes outside of its operands gets the status that it would get on a GPU.
    const io::Status status = e.name == "outOfBounds" ? io::Status::failed : io::Status::error;
    return {e.sticky ? io::Status::crashed : status, fmt::format("{}: {}", e.name, e.what()),
            /*fatal=*/e.sticky};
  } catch (const std::exception& e) {
    return {io::Status::error, e.what(), /*fatal=*/false};
  } catch (...) {
    return {io::Status::error, "an exception of unknown type", /*fatal=*/false};
  }
}

/// Returns true if a failed start may succeed later, because other processes use the device or its memory, or
/// because the device is not ready.
bool is_busy(std::exception_ptr thrown) {
  static const std::set<std::string> busy_errors = {
      "cudaErrorDevicesUnavailable",   "cudaErrorSystemNotReady",       "cudaErrorMpsServerNotReady",
      "cudaErrorMpsMaxClientsReached", "CUBLAS_STATUS_NOT_INITIALIZED", "CUSOLVER_STATUS_NOT_INITIALIZED"};
  try {
    std::rethrow_exception(thrown);
  } catch (const OutOfMemory&) {
    return true;
  } catch (const std::bad_alloc&) {
    return true;
  } catch (const DeviceError& e) {
    return busy_errors.count(e.name) > 0;
  } catch (...) {
    return false;
  }
}

using Send = std::function<void(const FromWorker&)>;

/// Sends the last message of a worker that cannot go on. @return its exit code
int send_last(Channel& channel, const FromWorker& message) {
  try {
    channel.send(message_json(message));
  } catch (const ChannelClosed&) {
    // The supervisor is gone; the exit code reports the failure.
  }
  return 1;
}

/// Sends the record of a trial. If the record is too long for a message, removes its lists (samples, stages,
/// iterations) and sends it with the status `error`.
void send_done(const Send& send, message::Done& done) {
  try {
    send(done);
  } catch (const MessageTooLong& e) {
    io::Record& record = done.record;
    append_text(record.message,
                fmt::format("the record cannot be sent: {}; ask for fewer samples or iterations", e.what()));
    record.status = name_of(io::Status::error);
    record.sample_list.clear();
    record.stages.clear();
    record.history.clear();
    send(done);
  }
}

/// Runs a trial. If it failed, probes the device.
/// @param step the executor's current step, for error messages
/// @param phases a record in which the executor notes when each phase (warm-up, samples, ...) began
/// @param reserve memory that is freed to build the error message after a method has used all memory
message::Done do_trial(Executor& executor, const Trial& trial, const std::string& step,
                       const io::Record& phases, std::vector<char>& reserve) {
  message::Done done;
  reserve.resize(std::size_t{16} << 20);
  const std::string began = time_stamp();
  try {
    done.record = executor.run(trial);
  } catch (const ChannelClosed&) {
    throw;
  } catch (const io::StorageError&) {
    throw;
  } catch (...) {
    std::vector<char>().swap(reserve);
    const Failure failure = failure_of(std::current_exception());
    done.record = executor.blank(trial);
    done.record.start_time = began;
    done.record.status = name_of(failure.status);
    done.record.message = failure.message + " (at " + step + ")";
    done.record.is_temporary_failure = failure.is_temporary_failure;
    const WorkerEnd end_if_not_fatal =
        failure.status == io::Status::oom ? WorkerEnd::replace : WorkerEnd::none;
    done.end = failure.fatal ? WorkerEnd::fatal : end_if_not_fatal;
  }
  done.record.end_time = fine_time_stamp();
  for (const Phase& phase : driver::phases()) done.record.*phase.began = phases.*phase.began;
  const std::string& status = done.record.status;
  if (done.end != WorkerEnd::none || status == io::Status::pass || status == io::Status::suspect ||
      status == io::Status::skipped)
    return done;
  // If the device fails its probe now, the record blames the device, not the method.
  try {
    probe(executor.context());
  } catch (const std::exception& e) {
    done.record.message += fmt::format("; after it the device failed: {}", e.what());
    done.record.status = name_of(io::Status::crashed);
    done.end = WorkerEnd::fatal;
  }
  return done;
}

/// Ends this process if it is a copy of the worker that a method made with fork.
void end_if_copy(pid_t worker) {
  if (::getpid() != worker) ::_exit(exit_broken);
}

std::string changes_text(const std::string& changes) {
  return "the method left the process changed: " + changes;
}

/// If a trial of a library's method has changed the process, makes the worker exit, so that the change
/// affects no other trial. The record names the change.
/// @param first_threads number of threads before the first trial
void end_if_changed(message::Done& done, const ProcessState& before, int first_threads, StoreWriter& store) {
  const ProcessState after = ProcessState::now();
  std::string changes = after.changes_since(before);
  if (after.threads() > first_threads) {
    const StoreWriter::Pause pause(store);
    if (has_busy_threads())
      changes += changes.empty() ? "running threads or processes" : ", running threads or processes";
  }
  if (changes.empty()) return;
  end_descendants();
  append_text(done.record.message, changes_text(changes));
  if (done.end == WorkerEnd::none) done.end = WorkerEnd::replace;
}

}  // namespace

int serve_trials(int descriptor, int step_descriptor, const Registry& registry,
                 const DeviceMaker& make_device) {
  Channel channel(descriptor);
  StepNote note = StepNote::from_descriptor(step_descriptor);
  const pid_t worker = ::getpid();
  const Send send = [&](const FromWorker& message) {
    end_if_copy(worker);
    channel.send(message_json(message));
  };
  // The state before the last trial, if its method comes from a shared library.
  std::optional<ProcessState> before;
  try {
    const auto setup =
        std::get<message::Setup>(read_message<ToWorker>(channel.receive(/*timeout_ms=*/-1).value()));
    if (!setup.libraries.empty()) {
      adopt_orphans();
      send(message::StepBegun{"libraries"});
    }
    Registry methods = registry;
    load_libraries(methods, setup.libraries);
    send(message::StepBegun{"device"});
    const std::unique_ptr<Device> device = make_device(setup.backend);
    Context context(*device);
    send(message::StepBegun{"probe"});
    probe(context);
    std::optional<DeviceGroup> group;
    if (setup.gpus > 1 && setup.backend != Backend::host) {
      group.emplace(context, setup.gpus);
      for (int index = 1; index < group->size(); ++index) probe(group->use(index));
      device->make_current();
    }
    std::string step;
    io::Record phases;  // has only the times at which the trial's phases began
    StoreWriter store{io::MatrixStore(setup.matrices)};
    Executor executor(methods, context, store, setup.origin, [&](const std::string& name) {
      end_if_copy(worker);
      step = name;
      begin_phase(phases, name, epoch_seconds());
      note.write(name);
    });
    if (group) executor.use_group(*group);
    send(message::StepBegun{"peaks"});
    const std::optional<io::DeviceRow>& known = setup.device;
    const Peaks peaks =
        known ? Peaks{known->copy_bytes_per_second, known->gemm_flops_float, known->gemm_flops_double}
              : measure_peaks(context, peak_seconds);
    executor.set_peaks(peaks);
    send(message::Hello{row_of(worker_device_info(*device), setup.origin.host, peaks)});

    std::vector<char> reserve;
    const int first_threads = ProcessState::now().threads();
    for (;;) {
      phases = {};
      note.write("start");
      begin_phase(phases, "wait", epoch_seconds());
      const auto message = read_message<ToWorker>(channel.receive(/*timeout_ms=*/-1).value());
      if (std::holds_alternative<message::Close>(message)) {
        store.finish([&] { send(message::StepBegun{"store"}); });
        send(message::Closed{});
        return 0;
      }
      step = "start";
      begin_phase(phases, step, epoch_seconds());
      const Trial& trial = std::get<message::Work>(message).trial;
      before.reset();
      if (!trial.library_digest.empty()) before = ProcessState::now();
      message::Done done = do_trial(executor, trial, step, phases, reserve);
      if (before) end_if_changed(done, *before, first_threads, store);
      if (done.end != WorkerEnd::none) store.finish([&] { send(message::StepBegun{"store"}); });
      done.writing = store.writing();
      send_done(send, done);
      if (done.end != WorkerEnd::none) return 1;
      store.rethrow();
    }
  } catch (const ChannelClosed&) {
    return 0;  // the supervisor is gone or has no more work
  } catch (const io::StorageError& e) {
    // A library's method may have caused the error, because it changed this process's file limits or closed
    // its files.
    const std::string changes = before ? ProcessState::now().changes_since(*before) : std::string();
    if (!changes.empty())
      return send_last(channel,
                       message::WorkerFailed{changes_text(changes) + "; then: " + e.what(), /*busy=*/false});
    // The storage failed, not the method. The run ends, and `--resume` runs the trial again.
    return send_last(channel, message::StorageFailed{e.what()});
  } catch (const std::exception& e) {
    return send_last(channel, message::WorkerFailed{e.what(), is_busy(std::current_exception())});
  }
}

}  // namespace gaussweep::driver
