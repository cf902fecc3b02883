/// Loads records from a run directory, a journal or a results file.

#include "driver/results/loading.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <tuple>
#include <unistd.h>
#include <unordered_map>
#include <utility>

#include "driver/base/lookup.hpp"
#include "driver/base/printable.hpp"
#include "driver/base/text_format.hpp"
#include "driver/results/device_peaks.hpp"
#include "driver/results/journal_results.hpp"
#include "driver/results/run_parts.hpp"
#include "driver/system/console.hpp"
#include "driver/system/machine.hpp"
#include "io/files/errors.hpp"
#include "io/files/open_file.hpp"
#include "io/records/journal.hpp"
#include "io/records/status.hpp"

namespace gaussweep::driver {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t max_shards = 100'000;  // limits the search if a sweep has a huge number of shards

bool is_hdf5(const fs::path& path) {
  const io::Opened opened = io::open_regular(path);
  if (!opened) throw io::InputError(fmt::format("{}: cannot be read: {}", path.string(), opened.why));
  std::array<char, 8> head{};
  return ::pread(opened.file.fd(), head.data(), head.size(), 0) == 8 &&
         std::string_view(head.data(), 8) == std::string_view("\x89HDF\r\n\x1a\n", 8);
}

/// Reads a results.h5 of unknown origin in a child process, because HDF5 may crash on damaged files.
io::Results read_file(const fs::path& path, bool with_details, std::vector<std::string>& remarks) {
  io::Results results = io::read_results_in_child(path, with_details);
  if (!results.checked) {
    remarks.push_back(
        fmt::format("{}: has no checksums (an older gaussweep or another program wrote it), so it was not "
                    "checked for damage",
                    path.string()));
  }
  unify_peaks(results);  // files of earlier versions may have several peaks per device
  return results;
}

/// Sets `loaded` to a run's results.h5 if it agrees with the undamaged lines of the journal.
/// @return true if it agrees
bool use_results_file(Loaded& loaded, const fs::path& path, const std::vector<io::Record>& journal,
                      bool with_details) {
  std::vector<std::string> remarks;
  try {
    io::Results results = read_file(path, with_details, remarks);
    std::unordered_map<std::string_view, const io::Record*> by_key;
    for (const io::Record& record : results.records) by_key[record.key] = &record;
    const bool agrees = std::all_of(journal.begin(), journal.end(), [&](const io::Record& record) {
      const auto found = by_key.find(record.key);
      if (found == by_key.end()) return false;
      const io::Record& other = *found->second;
      return other.status == record.status && other.start_time == record.start_time &&
             other.run_id == record.run_id && other.expected == record.expected;
    });
    if (agrees) {
      loaded.results = std::move(results);
      remarks.push_back(fmt::format(
          "{} {} and was read", path.string(),
          journal.empty() ? "holds records, unlike the journal," : "has the records of the damaged lines"));
    } else {
      remarks.push_back(fmt::format("{} differs from the journal and was not read", path.string()));
    }
    loaded.remarks.insert(loaded.remarks.end(), remarks.begin(), remarks.end());
    return agrees;
  } catch (const io::InputError& e) {
    loaded.remarks.push_back(fmt::format("{} cannot be read ({})", path.string(), e.what()));
    return false;
  }
}

/// Sets `loaded` to the journal's records, or to those of results.h5 if lines of the journal are damaged.
/// @param results the results.h5 next to the journal; empty: none
void use_journal(Loaded& loaded, const fs::path& path, const fs::path& results, bool with_details) {
  io::JournalContents contents = io::read_journal(path, with_details);
  loaded.has_notes = !contents.notes.empty();
  if (contents.torn) {
    loaded.remarks.push_back(
        fmt::format("{}: the last line is incomplete (a writer was killed or is writing) and was left out",
                    path.string()));
  }
  if (contents.damaged > 0) {
    loaded.remarks.push_back(fmt::format("{}: {} damaged line{} left out ({}{})", path.string(),
                                         contents.damaged, contents.damaged == 1 ? " was" : "s were",
                                         contents.damaged == 1 ? "" : "the first is ",
                                         io::first_damage(contents)));
  }
  // A journal has at least a note about the run's start. If it has neither records nor notes, all of its
  // lines are lost.
  const bool is_blank = contents.records.empty() && contents.notes.empty();
  if (!results.empty() && (contents.damaged > 0 || is_blank) &&
      use_results_file(loaded, results, contents.records, with_details))
    return;
  loaded.results = results_of(std::move(contents));
}

/// Returns false only if the path certainly does not exist. If it cannot be examined, reading it gives the
/// error.
bool may_exist(const fs::path& path) {
  std::error_code error;
  return fs::status(path, error).type() != fs::file_type::not_found;
}

/// Compares names with numbers by the numbers' values: "shard-9-of-12" < "shard-10-of-12".
bool comes_before(const std::string& a, const std::string& b) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (!is_digit(a[i]) || !is_digit(b[j])) {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i, ++j;
      continue;
    }
    const auto number = [&](const std::string& text, std::size_t& at) {
      const std::size_t start = std::min(text.find_first_not_of('0', at), text.size());
      for (at = start; at < text.size() && is_digit(text[at]);) ++at;
      return text.substr(start, at - start);
    };
    const std::string x = number(a, i), y = number(b, j);
    if (x != y) return std::pair(x.size(), x) < std::pair(y.size(), y);
  }
  return std::pair(a.size() - i, a) < std::pair(b.size() - j, b);
}

/// Implements runs_under: appends the run directories at or below `directory`, at most `levels` levels deep.
void find_runs(const fs::path& directory, int levels, bool by_journal, std::vector<fs::path>& found) {
  if (may_exist(directory / "journal.jsonl")) {
    found.push_back(directory);
    return;
  }
  std::vector<fs::path> subfolders;
  std::error_code error;
  fs::directory_iterator entry, end;
  if (levels > 0) entry = fs::directory_iterator(directory, error);
  for (; !error && entry != end; entry.increment(error)) {
    std::error_code unknown;
    if (entry->is_directory(unknown)) subfolders.push_back(entry->path());
  }
  std::sort(subfolders.begin(), subfolders.end(), [](const fs::path& a, const fs::path& b) {
    return comes_before(a.filename().string(), b.filename().string());
  });
  std::vector<fs::path> below;
  for (const fs::path& each : subfolders) find_runs(each, levels - 1, by_journal, below);
  // If there are journals below, results.h5 is a merged copy of them. The journals are read instead, because
  // they also have the records that were added after the merge.
  const auto has_journal = [](const fs::path& run) { return may_exist(run / "journal.jsonl"); };
  if (!by_journal && may_exist(directory / "results.h5") &&
      std::none_of(below.begin(), below.end(), has_journal))
    return found.push_back(directory);
  found.insert(found.end(), below.begin(), below.end());
}

Loaded load_directory(const fs::path& directory, bool with_details) {
  Loaded loaded;
  const fs::path results = directory / "results.h5", journal = directory / "journal.jsonl";
  const bool has_results = may_exist(results), has_journal = may_exist(journal);
  if (!has_results && !has_journal) {
    throw io::InputError(
        fmt::format("{}: neither journal.jsonl nor results.h5 is there; expected a run directory, "
                    "as `gaussweep run PLAN -o DIR` makes it",
                    directory.string()));
  }
  if (has_journal) {
    use_journal(loaded, journal, has_results ? results : fs::path(), with_details);
  } else {
    loaded.results = read_file(results, with_details, loaded.remarks);
  }
  return loaded;
}

}  // namespace

std::size_t records_only_in(const fs::path& results,
                            const std::function<const std::vector<io::Record>&()>& others) {
  if (!may_exist(results)) return 0;
  io::Results found;
  try {
    found = io::read_results_in_child(results, /*with_details=*/false);
  } catch (const std::exception&) {
    return 0;  // a damaged file can be rebuilt from the journal
  }
  std::set<std::pair<std::string_view, std::string_view>> known;
  for (const io::Record& record : others()) known.emplace(record.key, record.run_id);
  return static_cast<std::size_t>(
      std::count_if(found.records.begin(), found.records.end(), [&](const io::Record& record) {
        return known.count({record.key, record.run_id}) == 0;
      }));
}

std::vector<fs::path> runs_under(const fs::path& path, bool by_journal) {
  constexpr int max_levels = 3;  // e.g. architecture/night/shard
  std::vector<fs::path> found;
  std::error_code error;
  if (fs::is_directory(path, error)) find_runs(path, max_levels, by_journal, found);
  if (found.empty()) found.push_back(path);
  return found;
}

std::vector<std::string> unread_results(const std::vector<fs::path>& requested) {
  std::vector<std::string> notes;
  for (const fs::path& path : requested) {
    const fs::path results = path / "results.h5";
    if (!may_exist(results) || runs_under(path).front() == path) continue;
    notes.push_back(one_line_printable(
        fmt::format("{} was not read: the runs below its folder were; give the file's name to read it",
                    results.string())));
  }
  return notes;
}

fs::path sweep_of(const fs::path& run) {
  return parse_shard_name(run.filename().string(), '-') ? run.parent_path() : run;
}

namespace {

/// The shards of one sweep.
struct Sweep {
  fs::path folder;                ///< of the shards with names such as "shard-1-of-3"
  std::string plan_name;          ///< of all other shards
  std::vector<std::size_t> runs;  ///< indices of the run directories
  std::set<std::int64_t> numbers;
  std::int64_t count = 0;
};

fs::path without_last_slash(const fs::path& path) {
  return path.has_filename() ? path : path.parent_path();
}

/// Groups run directories that are shards by their sweeps.
std::vector<Sweep> sweeps_of(const std::vector<PlanPart>& parts) {
  using Key = std::tuple<fs::path, std::string, std::int64_t>;  // folder, plan's name, number of shards
  std::map<Key, std::vector<std::pair<std::size_t, std::int64_t>>> groups;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const fs::path path = without_last_slash(parts[i].directory);
    if (const auto named = parse_shard_name(path.filename().string(), '-'))
      groups[{path.parent_path(), "", named->count}].emplace_back(i, named->number);
    else if (parts[i].shard.count > 1)
      groups[{"", parts[i].plan_name, parts[i].shard.count}].emplace_back(i, parts[i].shard.number);
  }
  std::vector<Sweep> sweeps;
  for (const auto& [key, runs] : groups) {
    const auto& [folder, plan_name, count] = key;
    const auto parent_of = [&](std::size_t run) {
      return without_last_slash(parts[run].directory).parent_path();
    };
    // Several sweeps of one plan have a parent directory each. A shard that ran twice is no other sweep.
    std::set<std::int64_t> numbers;
    std::map<fs::path, std::set<std::int64_t>> numbers_below;
    for (const auto& [run, number] : runs) {
      numbers.insert(number);
      numbers_below[parent_of(run)].insert(number);
    }
    const bool is_several =
        numbers.size() < runs.size() &&
        std::any_of(numbers_below.begin(), numbers_below.end(),
                    [](const auto& parent_numbers) { return parent_numbers.second.size() > 1; });
    std::map<fs::path, Sweep> by_folder;
    for (const auto& [run, number] : runs) {
      Sweep& sweep = by_folder[is_several ? parent_of(run) : fs::path()];
      sweep.folder = folder;
      sweep.plan_name = plan_name;
      sweep.count = count;
      sweep.runs.push_back(run);
      sweep.numbers.insert(number);
    }
    for (auto& [parent, sweep] : by_folder) sweeps.push_back(std::move(sweep));
  }
  return sweeps;
}

/// Reads the shard and the plan's name from the first start in a run's journal. If it cannot be read, the
/// shard stays unknown, because the caller reads the journal later and then reports the error.
PlanPart part_of(const fs::path& directory) {
  PlanPart part{directory, {}, ""};
  try {
    const std::optional<io::note::Run> start = io::read_first_start(directory / "journal.jsonl");
    if (start) part = {directory, read_shard(start->shard).value_or(Shard{}), start->plan_name};
  } catch (const std::runtime_error&) {
  }
  return part;
}

}  // namespace

std::vector<IncompleteSweep> incomplete_sweeps(const std::vector<PlanPart>& parts,
                                               const std::vector<std::string>& requested) {
  const auto is_requested = [&](std::size_t run) {
    return std::find(requested.begin(), requested.end(), parts[run].directory) != requested.end();
  };
  std::vector<IncompleteSweep> incomplete;
  for (const Sweep& sweep : sweeps_of(parts)) {
    if (sweep.numbers.size() == 1 && std::all_of(sweep.runs.begin(), sweep.runs.end(), is_requested))
      continue;
    IncompleteSweep found{sweep.runs, {}};
    for (std::int64_t number = 1; number <= std::min(sweep.count, max_shards); ++number) {
      if (sweep.numbers.count(number) > 0) continue;
      const fs::path shard = sweep.folder / fmt::format("shard-{}-of-{}", number, sweep.count);
      if (!sweep.plan_name.empty())
        found.missing.push_back(one_line_printable(
            fmt::format("shard {} of {} of the plan {} is not there", number, sweep.count, sweep.plan_name)));
      else if (!may_exist(shard / "journal.jsonl") && !may_exist(shard / "results.h5"))
        found.missing.push_back(one_line_printable(fmt::format("{} is not there", shard.string())));
    }
    if (!found.missing.empty()) incomplete.push_back(std::move(found));
  }
  return incomplete;
}

std::vector<std::string> missing_shards(const std::vector<fs::path>& directories,
                                        const std::vector<std::string>& requested) {
  std::vector<PlanPart> parts;
  for (const fs::path& directory : directories) parts.push_back(part_of(directory));
  std::vector<std::string> missing;
  for (const IncompleteSweep& sweep : incomplete_sweeps(parts, requested))
    missing.insert(missing.end(), sweep.missing.begin(), sweep.missing.end());
  return missing;
}

namespace {

/// Returns the part of `mixed_builds` about commits; empty if all records are of one commit.
std::string mixed_commits(const std::vector<io::Record>& records, const std::string& commit) {
  std::map<std::string_view, std::int64_t> counts;
  for (const io::Record& record : records) {
    if (!record.commit.empty() && record.status != io::Status::skipped) ++counts[record.commit];
  }
  const bool is_new = !commit.empty() && counts.try_emplace(commit).second;
  if (counts.size() < 2) return {};
  std::string list;
  for (const auto& [name, count] : counts) {
    const std::string count_text = is_new && name == commit ? "this one" : fmt::to_string(count);
    list += fmt::format("{}commit {} ({})", list.empty() ? "" : ", ", name, count_text);
  }
  return fmt::format("the records are from {} builds: {}", counts.size(), list);
}

}  // namespace

Loaded load(const fs::path& path, bool with_details) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::none) {
    throw io::InputError(fmt::format("{}: cannot be examined: {}", path.string(), error.message()));
  }
  if (!fs::exists(status)) {
    throw io::InputError(fmt::format("{}: no such file or directory", path.string()));
  }
  Loaded loaded;
  if (fs::is_directory(status)) {
    loaded = load_directory(path, with_details);
  } else if (is_hdf5(path)) {
    loaded.results = read_file(path, with_details, loaded.remarks);
  } else {
    use_journal(loaded, path, /*results=*/{}, with_details);
    if (loaded.results.records.empty() && !loaded.has_notes) {
      throw io::InputError(fmt::format("{}: neither a results.h5 nor a journal of gaussweep", path.string()));
    }
  }
  loaded.path = path;
  const std::string builds = mixed_commits(loaded.results.records, /*commit=*/{});
  if (!builds.empty()) loaded.remarks.push_back(fmt::format("{}: {}", path.string(), builds));
  for (std::string& remark : loaded.remarks) remark = printable_lines(remark);
  return loaded;
}

Loaded load_and_warn(const fs::path& path, bool with_details) {
  Loaded loaded = load(path, with_details);
  for (const std::string& remark : loaded.remarks) print_stderr(fmt::format("note: {}\n", remark));
  return loaded;
}

namespace {

/// Returns "library mine.so has 2 versions: 1a2b (12), 3c4d (30)"; empty if no library has two.
std::string mixed_libraries(const std::vector<io::Record>& records) {
  std::map<std::string_view, std::map<std::string_view, std::int64_t>> versions;
  for (const io::Record& record : records) {
    if (!record.library.empty() && record.status != io::Status::skipped)
      ++versions[record.library][record.library_digest];
  }
  std::string text;
  for (const auto& [library, counts] : versions) {
    if (counts.size() < 2) continue;
    std::string list;
    for (const auto& [digest, count] : counts)
      list += fmt::format("{}{:.12} ({})", list.empty() ? "" : ", ", digest, count);
    append_text(text, fmt::format("library {} has {} versions: {}", library, counts.size(), list));
  }
  return text;
}

}  // namespace

bool is_disturbed(const io::Record& record) {
  return record.backend != "cuda" && record.cpu_demand > max_cpu_demand;
}

std::string busy_text(const std::vector<io::Record>& records) {
  // A smaller fraction of busy trials may be chance, because a short trial has a single reading of the CPU
  // demand.
  constexpr double min_fraction = 0.2;
  std::size_t trials = 0;
  std::vector<double> busy;  // threads per CPU
  for (const io::Record& record : records) {
    if (record.samples == 0 || record.backend == "cuda") continue;
    ++trials;
    if (is_disturbed(record)) busy.push_back(record.cpu_demand);
  }
  if (busy.empty() || static_cast<double>(busy.size()) < min_fraction * static_cast<double>(trials))
    return {};
  const auto [least, most] = std::minmax_element(busy.begin(), busy.end());
  const std::string from = fmt::format("{:.1f}", *least), to = fmt::format("{:.1f}", *most);
  return fmt::format(
      "other programs used the CPUs during {} of {} on the CPU ({} threads per CPU wanted to run)",
      busy.size(), counted(trials, "trial"), from == to ? to : from + " to " + to);
}

void note_conditions(const std::vector<io::Record>& records, const std::string& where) {
  std::size_t on_gpu = 0, throttled = 0;
  std::set<std::string_view> reasons;
  for (const io::Record& record : records) {
    if (record.samples == 0) continue;
    on_gpu += record.backend == "cuda" ? 1 : 0;
    if (record.throttled > 0) {
      ++throttled;
      if (!record.throttle_reason.empty()) reasons.insert(record.throttle_reason);
    }
  }
  if (const std::string busy = busy_text(records); !busy.empty())
    print_stderr(fmt::format("note: {}{}: their times may be too long\n", where, busy));
  if (throttled > 0) {
    print_stderr(fmt::format("note: {}{} of {} on a GPU had samples under throttling{}{}\n", where, throttled,
                             counted(on_gpu, "trial"), reasons.empty() ? "" : ": ",
                             fmt::join(reasons, ", ")));
  }
}

void note_libraries(const std::vector<io::Record>& pooled, const std::string& where) {
  if (const std::string versions = mixed_libraries(pooled); !versions.empty())
    print_stderr(fmt::format("note: {}{}; their times are pooled\n", where, versions));
}

std::set<std::int64_t> cpu_threads(const io::Results& results) {
  std::vector<const io::Record*> records;
  for (const io::Record& record : results.records) records.push_back(&record);
  return cpu_threads(records, threads_by_host(results.hosts));
}

std::map<std::string, std::int64_t> threads_by_host(const std::vector<io::HostRow>& hosts) {
  std::map<std::string, std::int64_t> threads;
  for (const io::HostRow& host : hosts) threads[host.host] = host.blas_threads;
  return threads;
}

std::set<std::int64_t> cpu_threads(const std::vector<const io::Record*>& records,
                                   const std::map<std::string, std::int64_t>& of_host) {
  std::set<std::int64_t> threads;
  for (const io::Record* record : records) {
    const auto host = of_host.find(record->host);
    if (record->backend != "cuda" && host != of_host.end()) threads.insert(host->second);
  }
  threads.erase(0);  // unknown
  return threads;
}

void note_threads(const std::set<std::int64_t>& threads, const std::string& where, const char* effect) {
  if (threads.size() > 1)
    print_stderr(fmt::format("note: {}CPU methods ran with {} threads per rank; {}\n", where,
                             fmt::join(threads, " and "), effect));
}

void note_conditions(const io::Results& pooled, const std::string& where) {
  note_threads(cpu_threads(pooled), where, "their times are pooled");
  note_conditions(pooled.records, where);
  note_libraries(pooled.records, where);
}

std::string mixed_builds(const std::vector<io::Record>& records, const std::string& commit) {
  std::string text = mixed_commits(records, commit);
  append_text(text, mixed_libraries(records));
  return text;
}

}  // namespace gaussweep::driver
