#pragma once
/// What `try` prints once its methods ran: a table per task, then the answer.

#include <string>
#include <vector>

#include "driver/compare/race.hpp"
#include "driver/plan/try_plan.hpp"

namespace gaussweep::driver {

/// One task and its race.
struct TriedTask {
  std::vector<const Group*> groups;
  Race race;
};

/// The tasks of some groups, systems before factors and inverses. @pre the groups outlive them
std::vector<TriedTask> tried_tasks(const std::vector<Group>& groups);

/// Returns the decimal digits of an answer that are correct, or NaN if nobody knows: those of a solution or
/// an inverse by its forward error, and those in which the product of factors agrees with A.
double correct_digits(const Group& group);

/// Returns a table per task, with every method that was tried.
std::string task_tables(const std::vector<TriedTask>& tasks, std::size_t width);

/// Returns a sentence per task: the fastest method, its lead with the interval of 95 %, and its digits.
/// @param unreached methods that did not run in time: there is no winner over them
std::vector<std::string> race_words(const std::vector<TriedTask>& tasks,
                                    const std::vector<const Method*>& unreached);

/// Returns the warning that the times scatter from round to round; empty if they do not.
std::string noise_words(const std::vector<TriedTask>& tasks);

/// Returns the commands that solve with the fastest methods, and invert, a line each.
/// @param program, file as the user named them
std::string solve_commands(const std::vector<TriedTask>& tasks, const TryRequest& request,
                           const std::string& program, const std::string& file);

}  // namespace gaussweep::driver
