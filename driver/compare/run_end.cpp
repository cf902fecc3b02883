/// Makes the text at the end of `gaussweep run`: the fastest methods, and changes since the last run of the
/// same plan.

#include "driver/compare/run_end.hpp"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <set>
#include <vector>

#include "driver/base/lookup.hpp"
#include "driver/base/printable.hpp"
#include "driver/base/text_format.hpp"
#include "driver/compare/compare.hpp"
#include "driver/compare/compare_sets.hpp"
#include "driver/plan/plan_names.hpp"
#include "driver/results/journal_results.hpp"
#include "driver/summary/sweep_status.hpp"
#include "driver/summary/verdict_grid.hpp"
#include "driver/system/process.hpp"
#include "io/plan/plan.hpp"
#include "kernels/registry/problem.hpp"

namespace gaussweep::driver {
namespace {

namespace fs = std::filesystem;

/// If there are more races (comparisons of all methods on one task) than this, only the wins per method are
/// reported.
constexpr std::size_t max_sentences = 4;

/// Returns directories that may have earlier runs of the same plan, newest first: those next to `run`, and
/// those of the same name in the neighbours of its parent directory.
std::vector<fs::path> neighbour_runs(const fs::path& run) {
  std::error_code error;
  const fs::path self = fs::weakly_canonical(run, error);
  std::vector<std::pair<fs::file_time_type, fs::path>> found;
  std::set<fs::path> known{self};  // a run may be reachable by symbolic links, too
  const auto add_if_run = [&](const fs::path& folder) {
    const auto time = fs::last_write_time(folder / "journal.jsonl", error);
    if (!error && known.insert(fs::weakly_canonical(folder, error)).second) found.emplace_back(time, folder);
  };
  const fs::path parent = self.parent_path();
  for (const auto& each : fs::directory_iterator(parent, error)) add_if_run(each.path());
  for (const auto& each : fs::directory_iterator(parent.parent_path(), error)) {
    if (each.path() != parent) add_if_run(each.path() / self.filename());
  }
  std::sort(found.rbegin(), found.rend());
  std::vector<fs::path> folders;
  for (auto& [time, folder] : found) folders.push_back(std::move(folder));
  return folders;
}

/// Returns the name of a run's plan; empty if the plan cannot be read, for example because another version
/// wrote it.
std::string plan_name_in(const fs::path& run) {
  try {
    return io::read_plan((run / "plan.yaml").string(), enum_names<Problem>()).name;
  } catch (const std::runtime_error&) {
    return {};
  }
}

/// Returns one sentence per race if there are few races, otherwise the number of wins per method.
std::string winners_text(const std::vector<VerdictGrid>& grids) {
  std::size_t races = 0;
  for (const VerdictGrid& grid : grids) {
    for (const VerdictRow& row : grid.pooled_rows) races += row.cells.size();
  }
  if (races == 0) return {};
  if (races <= max_sentences) {
    std::string text = verdict_sentences(grids);
    text.pop_back();
    return text;
  }
  std::string text;
  for (const VerdictGrid& grid : grids) {
    std::map<std::string, std::size_t> wins, doubtful;
    std::size_t cases = 0, ties = 0, emulated = 0, without_winner = 0;
    for (const VerdictRow& row : grid.pooled_rows) {
      for (const auto& [n, cell] : row.cells) {
        if (cell.any_group->first().backend == "emulated") {
          ++emulated;
          continue;
        }
        ++cases;
        if (cell.winner == nullptr) {
          ++without_winner;
        } else if (cell.tie) {
          ++ties;
        } else {
          const std::string method = row.problem + "/" + cell.winner->first().method;
          ++wins[method];
          if (is_doubtful(*cell.winner)) ++doubtful[method];
        }
      }
    }
    std::vector<std::pair<std::size_t, std::string>> order;
    for (const auto& [method, count] : wins) order.emplace_back(count, method);
    std::stable_sort(order.begin(), order.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    if (emulated > 0)
      text += fmt::format("{}{} ran only emulated kernels, whose times say nothing about a GPU.",
                          text.empty() ? "" : "\n", counted(emulated, "case"));
    if (cases == 0) continue;
    std::vector<std::string> parts;
    for (const auto& [count, method] : order) {
      const std::size_t* const doubts = find_in(doubtful, method);
      parts.push_back(fmt::format(
          "{} {}{}", one_line_printable(method), count,
          doubts == nullptr ? ""
                            : fmt::format(" ({} doubtful: faster than the device's peaks allow)", *doubts)));
    }
    if (ties > 0) parts.push_back(counted(ties, "tie"));
    if (without_winner > 0) parts.push_back(fmt::format("no method passed in {}", without_winner));
    text += fmt::format("{}Fastest on {}, of {}: {}", text.empty() ? "" : "\n",
                        one_line_printable(grid.device), counted(cases, "case"), fmt::join(parts, ", "));
  }
  return text;
}

/// Compares a run with an earlier one. Returns an empty text if the runs have no trial in common on the same
/// GPU and CPU models.
std::string changes_text(const std::string& program, const std::string& run, const std::string& base,
                         io::Results before, const io::Results& now) {
  keep_models_of(now, before);
  CompareRules rules;
  rules.same_places = true;
  const Comparison comparison = compare(before, now, rules);
  if (comparison.pairs.empty()) return {};
  std::string text = fmt::format("Since {}: {}.\n  {}", one_line_printable(base), count_sentence(comparison),
                                 regression_text(comparison));
  if (!comparison.changed_parameters.empty() || !comparison.changed_tolerances.empty())
    text += "\n  " + one_line_printable(changed_sentence(comparison));
  const std::vector<std::string> advice = unclear_sentences(comparison);
  if (!advice.empty()) text += "\n  " + one_line_printable(advice.front());
  return text + fmt::format("\n  {} compare {} {} --same-models", shell_quoted(program), shell_quoted(base),
                            shell_quoted(run));
}

/// Returns true if the runs have no shared library with the same file name in common, unless neither has any.
/// Digests do not count, because the library of a nightly run may be compiled anew every night.
bool have_other_libraries(const std::vector<io::Record>& records, const std::vector<io::Record>& others) {
  const auto libraries_in = [](const std::vector<io::Record>& all) {
    std::set<io::Text> names;
    for (const io::Record& record : all) names.insert(record.library);
    names.erase("");
    return names;
  };
  const std::set<io::Text> names = libraries_in(records), other_names = libraries_in(others);
  if (names.empty() && other_names.empty()) return false;
  return std::none_of(names.begin(), names.end(),
                      [&](const io::Text& name) { return other_names.count(name) > 0; });
}

/// Compares a run with the newest ended run of the same plan and shard. For the run `runs/b` searches all
/// of `runs/*`. For a run of a nightly series, `nights/DATE/sweep`, also searches `nights/*/sweep`. In the
/// latter, runs with other shared libraries (have_other_libraries) are skipped, because they belong to
/// another project. Runs on other GPU or CPU models are skipped, too. Returns an empty text if there is no
/// such run, and the error if one cannot be read.
std::string since_text(const std::string& program, const std::string& run, const io::JournalContents& journal,
                       const io::Results& now) {
  const io::note::Run this_run = last_start(journal);
  std::error_code error;
  const fs::path parent = fs::weakly_canonical(run, error).parent_path();
  for (const fs::path& other : neighbour_runs(run)) {
    if (is_locked(other / "lock") || plan_name_in(other) != this_run.plan_name) continue;
    const std::string base = (fs::path(run).is_absolute() ? other : fs::proximate(other)).string();
    try {
      const io::JournalContents before = io::read_journal(other / "journal.jsonl");
      if (last_start(before).shard != this_run.shard) continue;
      if (other.parent_path() != parent && have_other_libraries(before.records, now.records)) continue;
      std::string text = changes_text(program, run, base, results_of(before), now);
      if (!text.empty()) return text;
    } catch (const std::runtime_error& e) {
      return fmt::format("Not compared with {}: {}", one_line_printable(base), one_line_printable(e.what()));
    }
  }
  return {};
}

}  // namespace

std::string run_end_text(const std::string& program, const std::string& run,
                         const io::JournalContents& journal) {
  const io::Results now = results_of(journal);
  std::string text = winners_text(verdict_grids(now.records, now.devices, now.hosts));
  const auto add = [&](const std::string& part) {
    if (!part.empty()) text += (text.empty() ? "" : "\n") + part;
  };
  add(since_text(program, run, journal, now));
  add(fmt::format("Next: {0} summary {1} --best --by gpu, or {0} report {1} -o report", shell_quoted(program),
                  shell_quoted(run)));
  return text;
}

}  // namespace gaussweep::driver
