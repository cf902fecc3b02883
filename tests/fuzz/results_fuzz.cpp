/// Fuzzes the reader of results.h5 in a child, as the program reads foreign files: a crash or a hang of HDF5
/// must become an InputError, like every other failure. An input that begins like HDF5 is a results file. Any
/// other input is a list of changes to a file with known records, 5 bytes each: the offset (4 bytes,
/// little-endian), and a value that is XORed with the byte there. If the changed file passes its checksums,
/// its records must be the known ones.

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include <nlohmann/json.hpp>

#include "io/files/errors.hpp"
#include "io/records/results.hpp"
#include "tests/fuzz/children.hpp"
#include "tests/fuzz/memory_file.hpp"

namespace {

using namespace gaussweep;

constexpr double timeout_seconds = 5;  // less than run.sh allows per input

/// Returns two trials with every part that a record may have.
io::Results known_results() {
  io::Results results;
  for (int i = 1; i <= 2; ++i) {
    io::Record record;
    record.key = "key-" + std::to_string(i);
    record.problem = "gesv";
    record.method = "lapack";
    record.status = "pass";
    record.message = "‖b − Ax‖";
    record.n = 64 * i;
    record.seconds_median = 0.125 * i;
    record.residual_ratio = 0.5;
    record.sample_list = {{0.1, 1980, false}, {0.15, io::Record::unknown, true}};
    record.stages = {{"eliminate", 2, 0.1, 0.05, 0.5, 1}};
    record.history = {1, 0.5, 0.25};
    results.records.push_back(record);
  }
  results.devices.resize(1);
  results.devices[0].gpu_name = "A GPU";
  results.hosts.resize(1);
  results.hosts[0].host = "a host";
  results.attributes = {{"plan", "name: fuzz\n"}, {"commit", "abc"}};
  return results;
}

std::string text_of(const io::Results& results) {
  nlohmann::json json = {results.attributes};
  for (const io::Record& record : results.records) json.push_back(to_json(record));
  for (const io::DeviceRow& r : results.devices)
    json.push_back({r.gpu_uuid, r.gpu_name, r.host, r.capability, r.multiprocessors, r.total_bytes, r.ecc,
                    r.driver_version, r.runtime_version, r.copy_bytes_per_second, r.gemm_flops_float,
                    r.gemm_flops_double});
  for (const io::HostRow& r : results.hosts) json.push_back({r.host, r.cpu, r.os, r.cores, r.memory_bytes});
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// The bytes of a results.h5, and its contents as text.
struct Known {
  std::string bytes, text;
  Known() {
    const io::Results results = known_results();
    const auto path = std::filesystem::temp_directory_path() / ("gaussweep-fuzz-" + std::to_string(getpid()));
    io::write_results(path, results);
    std::ifstream file(path, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(file), {});
    std::filesystem::remove(path);
    text = text_of(results);
  }
};

/// Returns the verified contents of a file; empty if it was refused or had no checksums.
std::string read(const std::string& bytes) {
  const fuzz::MemoryFile file(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  try {
    const io::Results results = io::read_results_in_child(file.path(), true, timeout_seconds);
    fuzz::require_no_fault_in_our_code();
    return results.checked ? text_of(results) : "";
  } catch (const io::InputError& error) {
    fuzz::require_no_fault_in_our_code();
    if (std::string(error.what()).find(file.path().string()) == std::string::npos) std::abort();
    return "";
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Known known = [] {
    fuzz::prepare_for_children();
    return Known();
  }();
  const std::string input(reinterpret_cast<const char*>(data), size);
  if (input.compare(0, 4, "\x89HDF") == 0) {
    read(input);
    return 0;
  }
  std::string bytes = known.bytes;
  for (std::size_t change = 0; change + 5 <= size; change += 5) {
    std::size_t offset = 0;
    for (std::size_t i = 4; i-- > 0;) offset = offset << 8 | data[change + i];
    char& byte = bytes[offset % bytes.size()];
    byte = static_cast<char>(byte ^ static_cast<char>(data[change + 4]));
  }
  const std::string text = read(bytes);
  if (!text.empty() && text != known.text) std::abort();  // wrong records behind valid checksums
  if (bytes == known.bytes && text != known.text) std::abort();
  return 0;
}
