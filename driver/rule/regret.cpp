/// Compares the methods that rules choose with the fastest method of each task (one problem on one matrix).

#include "driver/rule/regret.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <tuple>

#include "driver/base/errors.hpp"
#include "driver/results/identity.hpp"
#include "driver/rule/lattice.hpp"
#include "io/records/status.hpp"

namespace gaussweep::driver {
namespace {

// An adviser chooses a method per task: a rule, or "the vendor", which always chooses the vendor's fastest
// method.
constexpr const char* vendor_name = "the vendor";

/// The groups that compete on one task on one device. A group has the records of one method with certain
/// parameters.
struct RuleTask {
  Question question;
  std::vector<const Group*> groups;
  const Group* best = nullptr;  ///< the fastest group that passed
};

MethodChoice choice_of(const Group& group) {
  return {group.first().method, group.first().parameters};
}

/// Returns the task's group of the chosen method and parameters; null if it did not run.
const Group* find_group(const RuleTask& task, const MethodChoice& choice) {
  const auto found = std::find_if(task.groups.begin(), task.groups.end(),
                                  [&](const Group* group) { return choice_of(*group) == choice; });
  return found == task.groups.end() || (*found)->status == io::Status::skipped ? nullptr : *found;
}

/// Returns the vendor's fastest group; null if no vendor's method ran. A method is the vendor's if a group
/// names it as its reference.
const Group* vendor_group(const RuleTask& task) {
  const Group* vendor = nullptr;
  for (const Group* group : task.groups) {
    const bool is_vendor = std::any_of(task.groups.begin(), task.groups.end(), [&](const Group* other) {
      return other->first().reference_method == group->first().method;
    });
    if (!is_vendor || group->status == io::Status::skipped) continue;
    const bool is_faster =
        !(vendor != nullptr && vendor->median <= group->median);  // also true if vendor->median is NaN
    if (vendor == nullptr || (group->has_passed() && is_faster)) vendor = group;
  }
  return vendor;
}

std::string worst_case_text(const RuleTask& task, const Group& chosen) {
  const Question& q = task.question;
  std::string text = fmt::format("{}, n {}", q.precision, q.n);
  if (q.nrhs > 1) text += fmt::format(", nrhs {}", q.nrhs);
  if (q.batch > 1) text += fmt::format(", batch {}", q.batch);
  if (q.uplo != any_name) text += ", " + q.uplo;
  return text + fmt::format(", {}: best {}, chosen {}", q.matrix, choice_of(*task.best).text(),
                            choice_of(chosen).text());
}

/// Adds a task to an adviser's regret. @param chosen the group of its choice; null if the choice did not run
void count(Regret& regret, const RuleTask& task, const Group* chosen) {
  if (chosen == nullptr) {
    ++regret.not_run;
  } else if (!chosen->has_passed()) {
    ++regret.failed;
  } else {
    const double value = chosen->median / task.best->median - 1;
    ++regret.tasks;
    regret.mean += (value - regret.mean) / static_cast<double>(regret.tasks);
    if (value <= regret.worst) return;
    regret.worst = value;
    regret.worst_case = worst_case_text(task, *chosen);
  }
}

/// Adds a row to the sum over all problems.
void add(Regret& sum, const Regret& more) {
  if (more.tasks > 0)
    sum.mean = (sum.mean * static_cast<double>(sum.tasks) + more.mean * static_cast<double>(more.tasks)) /
               static_cast<double>(sum.tasks + more.tasks);
  sum.tasks += more.tasks;
  if (more.worst > sum.worst) {
    sum.worst = more.worst;
    sum.worst_case = more.problem + " " + more.worst_case;
  }
  sum.unmeasured += more.unmeasured;
  sum.not_run += more.not_run;
  sum.failed += more.failed;
}

}  // namespace

std::vector<Regret> regrets_of(const std::vector<NamedRule>& rules, const io::Results& results) {
  std::vector<Regret> rows;
  for (const auto& [device, records] : records_by_device(results)) {
    const std::vector<Group> groups = group_records(records);
    std::map<std::string, RuleTask> tasks;
    for (const Group& group : groups) {
      RuleTask& task = tasks[task_identity(group.first())];
      task.question = question_of(group.first(), device);
      task.groups.push_back(&group);
      if (group.has_passed() && (task.best == nullptr || group.median < task.best->median))
        task.best = &group;
    }
    // Rows per problem: the first rule, the vendor, then the other rules.
    std::map<std::string, std::vector<Regret>> by_problem;
    for (const auto& [identity, task] : tasks) {
      if (task.best == nullptr) continue;
      std::vector<Regret>& regrets = by_problem[task.question.problem];
      if (regrets.empty()) {
        for (const NamedRule& each : rules) regrets.push_back({device, task.question.problem, each.name});
        regrets.insert(regrets.begin() + 1, {device, task.question.problem, vendor_name});
      }
      const Box* answer = rules.front().rule.find(task.question);
      if (answer == nullptr) {
        ++regrets[0].unmeasured;
        continue;  // all advisers are compared on the tasks that the first rule knows
      }
      count(regrets[0], task, find_group(task, answer->choice));
      count(regrets[1], task, vendor_group(task));
      for (std::size_t i = 1; i < rules.size(); ++i) {
        const Box* other = rules[i].rule.find(task.question);
        if (other == nullptr) {
          ++regrets[i + 1].unmeasured;
        } else {
          count(regrets[i + 1], task, find_group(task, other->choice));
        }
      }
    }
    for (const auto& [problem, regrets] : by_problem) rows.insert(rows.end(), regrets.begin(), regrets.end());
  }
  std::vector<Regret> sums;
  for (const Regret& row : rows) {
    auto sum = std::find_if(sums.begin(), sums.end(),
                            [&](const Regret& each) { return each.adviser == row.adviser; });
    if (sum == sums.end()) sum = sums.insert(sums.end(), {any_name, any_name, row.adviser});
    add(*sum, row);
  }
  if (sums.empty() || sums.front().tasks + sums.front().not_run + sums.front().failed == 0)
    throw UsageError(
        "the rule has no choice for any task of the runs: their devices, problems, matrices or sizes differ");
  rows.insert(rows.end(), sums.begin(), sums.end());
  return rows;
}

Table regret_table(const std::vector<Regret>& regrets) {
  Table table;
  table.columns = {{"device", "DEVICE"},
                   {"problem", "PROBLEM"},
                   {"adviser", "CHOICES OF"},
                   {"tasks", "TASKS"},
                   {"mean", "MEAN REGRET", Style::percent},
                   {"worst", "WORST", Style::percent},
                   {"unmeasured", "NOT MEASURED"},
                   {"absent", "DID NOT RUN"},
                   {"failed", "DID NOT PASS"},
                   {"where", "WORST AT"}};
  for (const Regret& row : regrets) {
    const auto value = [&](double regret) { return row.tasks > 0 ? Cell(regret) : Cell(); };
    table.rows.push_back({row.device == any_name ? Cell() : Cell(row.device),
                          row.problem == any_name ? std::string("all") : row.problem, row.adviser, row.tasks,
                          value(row.mean), value(row.worst), row.unmeasured, row.not_run, row.failed,
                          row.worst_case});
  }
  table.key_columns = 3;
  return table;
}

}  // namespace gaussweep::driver
