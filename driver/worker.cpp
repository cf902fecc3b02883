#include "driver/worker.hpp"

#include <cmath>
#include <new>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "driver/channel.hpp"
#include "driver/execute.hpp"
#include "driver/for_now.hpp"
#include "driver/machine.hpp"
#include "driver/process.hpp"
#include "io/errors.hpp"
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
    const Site site = site_from_json(setup.at("site"));
    std::string step;
    Executor executor(registry, *device, io::MatrixStore(setup.at("matrices").get<std::string>()), site,
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
        {{"type", "hello"}, {"device", to_json(row_of(worker_device_info(*device), site.host, peaks))}});

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

json to_json(const io::DeviceRow& r) {
  const auto real = [](double value) { return std::isnan(value) ? json(nullptr) : json(value); };
  return {{"gpu_uuid", r.gpu_uuid},
          {"gpu_name", r.gpu_name},
          {"host", r.host},
          {"capability", r.capability},
          {"multiprocessors", r.multiprocessors},
          {"total_bytes", r.total_bytes},
          {"ecc", r.ecc},
          {"driver_version", r.driver_version},
          {"runtime_version", r.runtime_version},
          {"copy_bytes_per_second", real(r.copy_bytes_per_second)},
          {"gemm_flops_float", real(r.gemm_flops_float)},
          {"gemm_flops_double", real(r.gemm_flops_double)}};
}

io::DeviceRow device_row_from_json(const json& j) {
  const auto real = [&](const char* name) {
    return j.at(name).is_null() ? io::Record::unknown : j.at(name).get<double>();
  };
  io::DeviceRow r;
  r.gpu_uuid = j.at("gpu_uuid");
  r.gpu_name = j.at("gpu_name");
  r.host = j.at("host");
  r.capability = j.at("capability");
  r.multiprocessors = j.at("multiprocessors");
  r.total_bytes = j.at("total_bytes");
  r.ecc = j.at("ecc");
  r.driver_version = j.at("driver_version");
  r.runtime_version = j.at("runtime_version");
  r.copy_bytes_per_second = real("copy_bytes_per_second");
  r.gemm_flops_float = real("gemm_flops_float");
  r.gemm_flops_double = real("gemm_flops_double");
  return r;
}

json to_json(const io::HostRow& r) {
  return {{"host", r.host},
          {"cpu", r.cpu},
          {"os", r.os},
          {"cores", r.cores},
          {"memory_bytes", r.memory_bytes},
          {"blas_threads", r.blas_threads}};
}

io::HostRow host_row_from_json(const json& j) {
  io::HostRow r;
  r.host = j.at("host");
  r.cpu = j.at("cpu");
  r.os = j.at("os");
  r.cores = j.at("cores");
  r.memory_bytes = j.at("memory_bytes");
  r.blas_threads = j.value("blas_threads", std::int64_t{0});  // older journals do not say
  return r;
}

}  // namespace gaussweep::driver
