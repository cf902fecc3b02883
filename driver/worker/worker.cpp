#include "driver/worker/worker.hpp"

#include <cmath>
#include <new>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "driver/base/for_now.hpp"
#include "driver/records/origin_rows.hpp"
#include "driver/system/channel.hpp"
#include "driver/worker/execute.hpp"
#include "io/files/errors.hpp"
#include "kernels/core/errors.hpp"

namespace gaussweep::driver {
namespace {

using nlohmann::json;

constexpr double peak_seconds = 0.2;

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

/// The status of what was thrown while a trial ran, and whether this process can go on.
struct Failure {
  std::string status, message;
  bool fatal;
  bool for_now = false;
};

Failure failure_of(std::exception_ptr thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const ForNow& e) {
    return {e.status, e.what(), false, true};
  } catch (const OutOfMemory& e) {
    return {"oom", e.what(), false};
  } catch (const std::bad_alloc&) {
    return {"oom", "host memory ran out", false};
  } catch (const DeviceError& e) {
    return {e.sticky ? "crashed" : "error", fmt::format("{}: {}", e.name, e.what()), e.sticky};
  } catch (const std::exception& e) {
    return {"error", e.what(), false};
  } catch (...) {
    return {"error", "an exception of unknown type", false};
  }
}

/// Whether what kept a worker from starting may pass by itself: another process fills the device or has it in
/// exclusive use, or it is being reset.
bool is_busy(std::exception_ptr thrown) {
  static const std::set<std::string> names = {
      "cudaErrorDevicesUnavailable",   "cudaErrorSystemNotReady",       "cudaErrorMpsServerNotReady",
      "cudaErrorMpsMaxClientsReached", "CUBLAS_STATUS_NOT_INITIALIZED", "CUSOLVER_STATUS_NOT_INITIALIZED"};
  try {
    std::rethrow_exception(thrown);
  } catch (const OutOfMemory&) {
    return true;
  } catch (const std::bad_alloc&) {
    return true;
  } catch (const DeviceError& e) {
    return names.count(e.name) > 0;
  } catch (...) {
    return false;
  }
}

Peaks peaks_in(const io::DeviceRow& row) {
  return {row.copy_bytes_per_second, row.gemm_flops_float, row.gemm_flops_double};
}

/// The last message of a worker that cannot go on. @return its exit code
int say_last(Channel& channel, const json& message) {
  try {
    channel.send(message);
  } catch (const ChannelClosed&) {
    // nobody is left to hear it; the exit code says the same
  }
  return 1;
}

/// One trial: its record, and what becomes of this process after it.
struct Done {
  io::Record record;
  std::string end;
};

Done do_trial(Executor& executor, const Trial& trial, const std::string& step) {
  Done done;
  // For the words that are needed where a method has taken all memory; given back before they are.
  std::vector<char> reserve(std::size_t{16} << 20);
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
    done.record.status = failure.status;
    done.record.message = failure.message + " (at " + step + ")";
    done.record.for_now = failure.for_now;
    done.end = failure.fatal ? "fatal" : failure.status == "oom" ? "spent" : "";
  }
  const std::string& status = done.record.status;
  if (!done.end.empty() || status == "pass" || status == "suspect" || status == "skipped") return done;
  // Was it the trial, or is it the device? What a broken one did must not stand as the method's fault.
  try {
    probe(executor.context());
  } catch (const std::exception& e) {
    done.record.message += fmt::format("; after it the device failed: {}", e.what());
    done.record.status = "crashed";
    done.end = "fatal";
  }
  return done;
}

}  // namespace

int serve_trials(int descriptor, const Registry& registry, const DeviceMaker& make_device) {
  Channel channel(descriptor);
  try {
    const json setup = channel.receive(-1).value();
    const auto backend = from_string<Backend>(setup.at("backend").get<std::string>()).value();
    channel.send({{"type", "at"}, {"step", "device"}});
    const std::unique_ptr<Device> device = make_device(backend);
    const Origin origin = origin_from_json(setup.at("origin"));
    std::string step;
    Executor executor(registry, *device, io::MatrixStore(setup.at("matrices").get<std::string>()), origin,
                      [&](const std::string& name) {
                        step = name;
                        channel.send({{"type", "at"}, {"step", name}});
                      });
    channel.send({{"type", "at"}, {"step", "probe"}});
    probe(executor.context());
    channel.send({{"type", "at"}, {"step", "peaks"}});
    const json& known = setup.at("device");
    const Peaks peaks = known.is_null() ? measure_peaks(executor.context(), peak_seconds)
                                        : peaks_in(device_row_from_json(known));
    executor.set_peaks(peaks);
    channel.send(
        {{"type", "hello"}, {"device", to_json(row_of(worker_device_info(*device), origin.host, peaks))}});

    for (;;) {
      const json message = channel.receive(-1).value();
      step = "start";
      const Done done = do_trial(executor, trial_from_json(message.at("trial")), step);
      channel.send({{"type", "record"}, {"record", io::to_json(done.record)}, {"end", done.end}});
      if (!done.end.empty()) return 1;
    }
  } catch (const ChannelClosed&) {
    return 0;  // the supervisor is gone or has no more work
  } catch (const io::StorageError& e) {
    // the medium failed, not the method: the run ends, and the trial is done by the next --resume
    return say_last(channel, {{"type", "storage_failed"}, {"message", e.what()}});
  } catch (const std::exception& e) {
    const bool busy = is_busy(std::current_exception());
    return say_last(channel, {{"type", "unfit"}, {"message", e.what()}, {"busy", busy}});
  }
}

}  // namespace gaussweep::driver
