#pragma once
/// Identities of tasks and trials as text. A task is one problem on one matrix under the same conditions.
/// Methods with the same task are compared. A trial is one method on a task.

#include <string>

#include "io/records/record.hpp"

namespace gaussweep::driver {

/// Returns the conditions of measurement that distinguish tasks, such as cold caches, as text; a space
/// precedes each.
std::string task_conditions(const io::Record& record);

/// Returns the identity of a task: problem, precision, sizes, right-hand sides, triangle, matrices and their
/// seed, and conditions such as cold caches or pinned host memory. Methods on one GPU and on several GPUs can
/// have the same task.
std::string task_identity(const io::Record& record);

/// Returns the identity of a trial: its task, method, backend and parameters. The number of repeats, round,
/// machine and build are not part of it.
std::string trial_identity(const io::Record& record);

/// Returns the name of the matrix file, or the kind of a generated matrix.
const io::Text& matrix_label(const io::Record& record);

}  // namespace gaussweep::driver
