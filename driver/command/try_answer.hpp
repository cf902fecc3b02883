#pragma once
/// Formats the output of `gaussweep try`: one table per task, then the answer. A task is one problem with
/// fixed precision, nrhs and triangle.

#include <string>
#include <vector>

#include "driver/compare/race.hpp"
#include "driver/plan/try_plan.hpp"
#include "io/records/results.hpp"

namespace gaussweep::driver {

/// One task: its groups of records, one group per method, and the comparison of these methods
/// (compare/race.hpp).
struct TriedTask {
  std::vector<const Group*> groups;
  Race race;
};

/// Returns the tasks to which the groups belong, linear systems before factorisations and inverses.
/// @pre the groups outlive the tasks
std::vector<TriedTask> tried_tasks(const std::vector<Group>& groups);

/// Returns the number of correct decimal digits of an answer, or NaN if it is unknown. The number follows
/// from the forward error of solutions and inverses, and from the backward error of factors.
double correct_digits(const Group& group);

/// Returns one table per task with all methods that were tried.
std::string task_tables(const std::vector<TriedTask>& tasks, std::size_t width);

/// Returns one sentence per task: the fastest method, its lead with the 99 % interval, and its correct
/// digits.
/// @param unreached methods that did not run in time; no winner can be declared over them
std::vector<std::string> race_sentences(const std::vector<TriedTask>& tasks,
                                        const std::vector<const Method*>& unreached);

/// Returns a warning if other programs used the CPUs, or if the times scatter from round to round; else an
/// empty text.
std::string noise_sentence(const std::vector<TriedTask>& tasks, const io::Results& results);

/// Returns true if the matrix is numerically singular in the task's precision. Signs are an estimated
/// condition above 1 / epsilon, a zero pivot in the vendor's method, or answers that passed without any
/// correct digit.
bool is_singular(const InspectedMatrix& matrix, const TriedTask& task);

/// Returns a warning if the matrix is singular, exactly or in a precision that was tried; else an empty text.
std::string singular_text(const InspectedMatrix& matrix, const std::vector<TriedTask>& tasks);

/// Returns up to two command lines: one that solves and one that inverts, in double if double was tried. Each
/// command has the most accurate one of the methods that may be the fastest.
/// @param program, file the names of this program and of the matrix file as the user entered them
std::string solve_commands(const std::vector<TriedTask>& tasks, const TryRequest& request,
                           const std::string& program, const std::string& file);

}  // namespace gaussweep::driver
