#pragma once
/// What makes a trial this one and no other.

#include <string>

#include "io/records/record.hpp"

namespace gaussweep::driver {

/// What methods must share to compete, as text that nothing else has. It is problem, precision, sizes,
/// right-hand sides, triangle, matrices and their seed, and whether caches were cold or host memory
/// pinned.
std::string task_identity(const io::Record& record);

/// The same of a trial: its task, method, backend and parameters. Not how often it is repeated, nor in which
/// round, where and by which build it ran.
std::string trial_identity(const io::Record& record);

/// The matrix file's name, else the kind.
const io::Text& matrix_label(const io::Record& record);

}  // namespace gaussweep::driver
