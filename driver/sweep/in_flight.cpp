/// Writes the key (identifier) of each rank's running trial to a file if the trial's method comes from a
/// shared library. The code of a library can end all processes of the rank, so that the trial gets no record.

#include "driver/sweep/in_flight.hpp"

#include <algorithm>
#include <fcntl.h>
#include <fmt/format.h>
#include <fstream>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include "driver/base/printable.hpp"
#include "driver/protocol/trial_record.hpp"
#include "driver/system/clock.hpp"
#include "io/records/status.hpp"

namespace gaussweep::driver {
namespace {

std::filesystem::path log_folder(const std::filesystem::path& directory) {
  return directory / "logs";
}

constexpr const char* in_flight_prefix = "running-";  // the rank's number follows

}  // namespace

InFlight::InFlight(const std::filesystem::path& directory, const Origin& origin)
    : path_(log_folder(directory) / (in_flight_prefix + std::to_string(origin.rank))), host_(origin.host) {}

void InFlight::begin(const Trial& trial) {
  if (trial.library_digest.empty()) return;
  if (!file_.open()) file_ = io::open_regular(path_, O_WRONLY | O_CREAT | O_NOFOLLOW).file;
  const std::string text = trial.key + ' ' + host_ + '\n';
  is_noted_ = file_.open() && ::ftruncate(file_.fd(), 0) == 0 &&
              ::pwrite(file_.fd(), text.data(), text.size(), 0) == static_cast<ssize_t>(text.size());
}

void InFlight::end() noexcept {
  if (is_noted_) is_noted_ = ::ftruncate(file_.fd(), 0) != 0;
}

void record_in_flight(RunDirectory& directory, const std::vector<Trial>& trials, const Registry& registry) {
  std::error_code error;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(log_folder(directory.path()), error)) {
    if (entry.path().filename().string().rfind(in_flight_prefix, 0) == 0) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const std::filesystem::path& path : files) {
    std::string key, host;
    if (const io::Opened opened = io::open_regular(path, O_RDONLY | O_NOFOLLOW))
      std::ifstream(opened.file.path()) >> key >> host;
    std::filesystem::remove(path, error);
    const auto trial =
        std::find_if(trials.begin(), trials.end(), [&](const Trial& t) { return t.key == key; });
    if (trial == trials.end()) continue;
    const auto& records = directory.journal().records;
    const auto known =
        std::find_if(records.begin(), records.end(), [&](const io::Record& r) { return r.key == key; });
    // `is_temporary_failure` marks the record of the trial's first crash.
    const bool is_second =
        known != records.end() && known->is_temporary_failure && known->status == io::Status::crashed;
    if (known != records.end() && !is_second) continue;  // the record arrived before the rank ended
    Origin origin = this_origin(directory.run_id());
    origin.host = host;
    origin.rank = std::atoll(path.filename().c_str() + std::string(in_flight_prefix).size());
    io::Record record = blank_record(*trial, registry.find(trial->problem, trial->method), origin);
    record.status = name_of(io::Status::crashed);
    record.message =
        fmt::format("its rank ended without notice while it ran{}", is_second ? ", twice in a row" : "");
    record.expected = as_expected(*trial, record.status) ? 1 : 0;
    record.is_temporary_failure = !is_second;
    record.end_time = fine_time_stamp();
    spdlog::warn("{}: rank {} ended without notice while it ran; {}", one_line_printable(describe(*trial)),
                 origin.rank, is_second ? "recorded as crashed" : "it runs once more");
    directory.append(std::move(record));
  }
}

}  // namespace gaussweep::driver
