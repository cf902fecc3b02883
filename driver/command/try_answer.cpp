/// Formats the output of `gaussweep try`. A race is the comparison of a task's methods over several rounds;
/// its methods are the racers (compare/race.hpp). A rival is a racer that further rounds may show to be as
/// fast as the fastest one.

#include "driver/command/try_answer.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <set>
#include <tuple>

#include "driver/base/printable.hpp"
#include "driver/base/table.hpp"
#include "driver/base/text_format.hpp"
#include "driver/plan/plan_names.hpp"
#include "driver/results/identity.hpp"
#include "driver/results/loading.hpp"
#include "driver/worker/inverse_error.hpp"
#include "io/records/status.hpp"
#include "kernels/check/facts.hpp"

namespace gaussweep::driver {
namespace {

/// Time ratios above this value are shown as "over 1000", ratios below its inverse as "under 0.001".
constexpr double max_factor = 1000;

bool is_emulated(const Group& group) {
  return group.first().backend == "emulated";
}

Problem problem_of(const Group& group) {
  return from_string<Problem>(group.first().problem).value();
}

bool is_solve(Problem problem) {
  return problem->second == SecondOperand::right_hand_sides;
}

/// Returns a method's name for the output: "lapack", "recursive (emulated)".
std::string method_text(const Group& group) {
  return one_line_printable(group.first().method) + (is_emulated(group) ? " (emulated)" : "");
}

/// Returns a task's problem and the properties that distinguish it from other tasks of the problem: "posv
/// float nrhs 3".
std::string task_label(const Group& group, const std::vector<TriedTask>& tasks) {
  const io::Record& r = group.first();
  const auto differs = [&](auto member) {
    return std::any_of(tasks.begin(), tasks.end(), [&](const TriedTask& task) {
      return task.groups.front()->first().problem == r.problem &&
             task.groups.front()->first().*member != r.*member;
    });
  };
  std::string label = one_line_printable(r.problem);
  if (differs(&io::Record::precision)) label += " " + one_line_printable(r.precision);
  if (differs(&io::Record::nrhs)) label += fmt::format(" nrhs {}", r.nrhs);
  return label;
}

/// Returns the lead of the fastest method: "1.25 times as fast as crout (1.2 to 1.3)". If the lower end of
/// the interval is below 1, the other method may be faster.
std::string lead_text(const Race& race) {
  const Racer& other = race.reported();
  const auto times = [](double value) {
    return significant_text(std::clamp(value, 1 / max_factor, max_factor), 3);
  };
  const std::string ends =
      fmt::format("{}{} to {}{}", other.low() < 1 / max_factor ? "under " : "", times(other.low()),
                  other.high() > max_factor ? "over " : "", times(other.high()));
  const std::string few = other.is_rival && other.rounds < least_rounds
                              ? fmt::format(" in only {}", counted(other.rounds, "round"))
                              : "";
  return fmt::format("{} times as fast as {} ({}){}", times(other.slowdown.ratio()),
                     method_text(*other.group), ends, few);
}

/// Returns the task to recommend among those whose problem satisfies `is_such`. Tasks in double come first,
/// then the task whose fastest method takes the least time. Returns null if no method passed.
template <class IsSuch>
const TriedTask* fastest_task(const std::vector<TriedTask>& tasks, IsSuch is_such) {
  const auto sort_key = [](const TriedTask& task) {
    const Group& fastest = *task.race.racers.front().group;
    return std::tuple(fastest.first().precision != "double", fastest.median);
  };
  const TriedTask* best = nullptr;
  for (const TriedTask& task : tasks) {
    if (task.race.racers.empty() || !is_such(problem_of(*task.groups.front()))) continue;
    if (best == nullptr || sort_key(task) < sort_key(*best)) best = &task;
  }
  return best;
}

/// Returns the method to recommend: the most accurate one of the methods that may be the fastest. A lead of
/// up to `least_lead` (1.05) counts as a tie.
const Group& recommended(const Race& race) {
  const Group* best = race.racers.front().group;
  for (const Racer& racer : race.racers) {
    const bool may_be_fastest = racer.is_rival && racer.low() <= least_lead;
    if (may_be_fastest && correct_digits(*racer.group) > correct_digits(*best)) best = racer.group;
  }
  return *best;
}

/// Returns true if the vendor's method met a zero pivot. Other methods and Cholesky factorisations are
/// ignored, because they may meet zero pivots in regular matrices.
bool vendor_met_zero_pivot(const TriedTask& task) {
  const std::vector<Need>& needs = problem_of(*task.groups.front())->needs;
  if (std::count(needs.begin(), needs.end(), Need::spd) > 0) return false;
  return std::any_of(task.groups.begin(), task.groups.end(), [](const Group* group) {
    return std::any_of(group->records.begin(), group->records.end(),
                       [](const io::Record* r) { return r->info > 0 && r->method == r->reference_method; });
  });
}

/// Returns true if at least one answer passed, and no answer that passed has a correct digit.
bool passes_without_digits(const TriedTask& task) {
  const auto has_digits = [](const Racer& racer) { return !(correct_digits(*racer.group) < 1); };
  const std::vector<Racer>& racers = task.race.racers;
  return !racers.empty() && std::none_of(racers.begin(), racers.end(), has_digits);
}

}  // namespace

std::vector<TriedTask> tried_tasks(const std::vector<Group>& groups) {
  std::vector<TriedTask> tasks;
  for (const Group& group : groups) {
    const std::string identity = task_identity(group.first());
    auto found = std::find_if(tasks.begin(), tasks.end(), [&](const TriedTask& task) {
      return task_identity(task.groups.front()->first()) == identity;
    });
    if (found == tasks.end()) found = tasks.insert(tasks.end(), TriedTask{});
    found->groups.push_back(&group);
  }
  for (TriedTask& task : tasks) task.race = race_of(task.groups);
  const auto sort_key = [](const TriedTask& task) {
    const io::Record& r = task.groups.front()->first();
    return std::tuple(!is_solve(problem_of(*task.groups.front())), r.problem, r.precision, r.nrhs);
  };
  std::stable_sort(tasks.begin(), tasks.end(),
                   [&](const TriedTask& a, const TriedTask& b) { return sort_key(a) < sort_key(b); });
  return tasks;
}

double correct_digits(const Group& group) {
  const Problem problem = problem_of(group);
  double error = group.forward_error;
  if (!is_solve(problem) && !is_inverse(problem)) {
    error = io::Record::unknown;
    for (const io::Record* r : group.records) error = std::fmax(error, r->backward_error);
  }
  if (std::isnan(error)) return error;
  const auto precision = from_string<Precision>(group.first().precision).value_or(Precision::float64);
  return std::floor(std::max(0.0, -std::log10(std::max(error, roundoff_of(precision)))));
}

std::string task_tables(const std::vector<TriedTask>& tasks, std::size_t width) {
  std::string text;
  for (const TriedTask& task : tasks) {
    const Group* const fastest = task.race.racers.empty() ? nullptr : task.race.racers.front().group;
    std::vector<const Group*> groups = task.groups;
    const std::vector<Racer>& racers = task.race.racers;  // the fastest first
    // A method that did not pass is no racer; it gets the rank after the last racer.
    const auto rank_of = [&](const Group* group) {
      const auto racer =
          std::find_if(racers.begin(), racers.end(), [&](const Racer& each) { return each.group == group; });
      return static_cast<std::size_t>(racer - racers.begin());
    };
    const auto sort_key = [&](const Group* g) {
      return std::tuple(is_emulated(*g), status_severity(g->status), rank_of(g), g->median);
    };
    std::stable_sort(groups.begin(), groups.end(),
                     [&](const Group* a, const Group* b) { return sort_key(a) < sort_key(b); });
    Table table;
    table.columns = {{"method", "METHOD"},
                     {"backend", "BACKEND"},
                     {"status", "STATUS"},
                     {"rounds", "ROUNDS"},
                     {"median", "MEDIAN", Style::seconds},
                     {"times", "TIMES FASTEST", Style::factor},
                     {"digits", "DIGITS"},
                     {"ratio", "RATIO", Style::scientific}};
    for (const Group* group : groups) {
      const std::size_t rank = rank_of(group);
      double times = io::Record::unknown;
      if (rank < racers.size()) times = group == fastest ? 1 : racers[rank].slowdown.ratio();
      const double digits = correct_digits(*group);
      table.rows.push_back({group->first().method, group->first().backend, group->status,
                            static_cast<std::int64_t>(group->records.size()), group->median, times,
                            std::isnan(digits) ? Cell() : Cell(static_cast<std::int64_t>(digits)),
                            group->residual_ratio});
    }
    const io::Record& any = task.groups.front()->first();
    text += fmt::format("\n{} {}{}: {}\n{}", any.problem, any.precision,
                        is_solve(problem_of(*task.groups.front())) ? fmt::format(", nrhs {}", any.nrhs) : "",
                        one_line_printable(any.problem_title), render_text(table, width));
  }
  return text;
}

std::vector<std::string> race_sentences(const std::vector<TriedTask>& tasks,
                                        const std::vector<const Method*>& unreached) {
  std::vector<std::string> sentences;
  for (const TriedTask& task : tasks) {
    const std::string label = task_label(*task.groups.front(), tasks);
    if (task.race.racers.empty()) {
      const std::size_t tried = competitors(task.groups).size();
      sentences.push_back(fmt::format("{}: none of {} passed.", label, counted(tried, "method")));
      continue;
    }
    const Group& fastest = *task.race.racers.front().group;
    const auto missing =
        static_cast<std::size_t>(std::count_if(unreached.begin(), unreached.end(), [&](const Method* method) {
          return method->problem == problem_of(fastest) && !is_emulated(fastest);
        }));
    std::string sentence = label + ": ";
    if (missing > 0)
      sentence +=
          fmt::format("no clear winner, because {} did not run in time; ", counted(missing, "method"));
    else if (!task.race.is_clear())
      sentence += "no clear winner; ";
    sentence += fmt::format("{}, {}", method_text(fastest), seconds_text(fastest.median));
    if (task.race.has_lead()) sentence += ", " + lead_text(task.race);
    const double digits = correct_digits(fastest);
    if (!std::isnan(digits))
      sentence += ", about " + counted(static_cast<std::size_t>(digits), "correct digit");
    sentences.push_back(sentence + ".");
  }
  return sentences;
}

std::string noise_sentence(const std::vector<TriedTask>& tasks, const io::Results& results) {
  if (std::string busy = busy_text(results.records); !busy.empty()) {
    busy.front() = 'O';
    const bool has_threads = std::any_of(results.hosts.begin(), results.hosts.end(),
                                         [](const io::HostRow& host) { return host.blas_threads > 1; });
    return fmt::format(
        "{}: their times may be too long, those of methods with several threads (OpenBLAS) by far the most, "
        "and "
        "another method may be the fastest. Measure on an idle machine{}.",
        busy, has_threads ? ", or set OPENBLAS_NUM_THREADS=1" : "");
  }
  double noise = 0;
  for (const TriedTask& task : tasks) {
    if (task.race.has_lead()) noise = std::max(noise, task.race.noise);
  }
  if (noise < noisy_sigma) return {};
  return fmt::format(
      "The machine is noisy: times differ by {:.0f} % from round to round. Other programs use it; on an idle "
      "machine the intervals are narrower.",
      100 * noise);
}

bool is_singular(const InspectedMatrix& matrix, const TriedTask& task) {
  const auto precision = from_string<Precision>(task.groups.front()->first().precision);
  const bool is_ill =
      matrix.conditioning && precision && !(matrix.conditioning->condition <= max_condition(*precision));
  return is_ill || vendor_met_zero_pivot(task) || passes_without_digits(task);
}

std::string singular_text(const InspectedMatrix& matrix, const std::vector<TriedTask>& tasks) {
  if (matrix.conditioning && matrix.conditioning->zero_pivot > 0)
    return "The matrix is singular: nothing solves or inverts it.";
  std::set<std::string> precisions;
  for (const TriedTask& task : tasks) {
    if (is_singular(matrix, task)) precisions.insert(task.groups.front()->first().precision);
  }
  if (precisions.empty()) return {};
  return fmt::format(
      "The matrix is numerically singular in {}{}: answers with small residuals may still have no correct "
      "digit.",
      fmt::join(precisions, " and "),
      matrix.conditioning && std::isfinite(matrix.conditioning->condition)
          ? fmt::format(" (condition about {:.2g})", matrix.conditioning->condition)
          : "");
}

std::string solve_commands(const std::vector<TriedTask>& tasks, const TryRequest& request,
                           const std::string& program, const std::string& file) {
  std::string text;
  const auto add = [&](const TriedTask* task, const char* what, const char* operand, const char* output) {
    if (task == nullptr) return;
    const Group& method = recommended(task->race);
    const io::Record& r = method.first();
    text += fmt::format("{} {} solve {}", what, shell_quoted(program), shell_quoted(file));
    if (!request.dataset.empty()) text += " --dataset " + shell_quoted(request.dataset);
    for (const std::string& library : request.libraries) text += " --methods " + shell_quoted(library);
    text += operand;
    if (r.problem != "gesv" && r.problem != "geinv") text += fmt::format(" --problem {}", r.problem);
    text += fmt::format(" --method {}/{}", r.problem, r.method);
    if (problem_of(method)->has_axis("uplo")) text += fmt::format(" --uplo {}", r.uplo);
    if (r.precision != "double") text += fmt::format(" --precision {}", r.precision);
    if (is_emulated(method)) text += " --backend emulated";
    text += fmt::format(" -o {}", output);
    if (&method != task->race.racers.front().group) text += "  # more correct digits than the fastest";
    text += "\n";
  };
  add(fastest_task(tasks, is_solve), "To solve: ", " --rhs b.npy", "x.npy");
  add(fastest_task(tasks, is_inverse), "To invert:", "", "inverse.npy");
  return text;
}

}  // namespace gaussweep::driver
