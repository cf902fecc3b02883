#pragma once
/// Which method wins where: a grid for each device, a row for what is solved, a column for each size.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "driver/base/table.hpp"
#include "driver/summary/summary.hpp"
#include "io/records/results.hpp"

namespace gaussweep::driver {

/// What holds a problem back on a device, however it is solved.
enum class Bound { compute, memory };

/// The least time in which a device could solve a problem, whatever the method. It takes the usual operations
/// at the measured GEMM rate, or operands and answer once at the measured copy rate.
struct Limit {
  double seconds = io::Record::unknown;  ///< NaN where the device's rates or the problem are unknown
  Bound bound = Bound::compute;          ///< which of the two takes longer
};

/// What a device was measured to do: operations and bytes a second; NaN: not known.
struct Rates {
  double flops_float = io::Record::unknown, flops_double = io::Record::unknown, copy = io::Record::unknown;
};

Limit limit_of(const io::Record& record, const Rates& rates);

/// One race: the methods that solved one task (task_identity).
struct VerdictCell {
  const Group* first = nullptr;       ///< any of the task, for what they share
  const Group* winner = nullptr;      ///< the fastest that passed; none: nothing passed
  const Group* runner_up = nullptr;   ///< the fastest of another method that passed; none: uncontested
  std::int64_t methods = 0;           ///< that were tried, skipped ones not counted
  double lead = io::Record::unknown;  ///< the runner-up's median over the winner's
  bool tie = false;                   ///< the two's samples overlap from first to third quartile
  Limit limit;
  double share = io::Record::unknown;    ///< of the limit: its time over the winner's median
  const Group* baseline = nullptr;       ///< what was asked for, else the vendor's; none: it did not pass
  double speedup = io::Record::unknown;  ///< the baseline's median over the winner's
};

struct VerdictRow {
  std::string problem, precision;
  std::string matrix;        ///< its name among the matrices of the grid, as people read it
  std::string details;       ///< what else tells the row from others: "nrhs 3, upper, seed 2"; empty: nothing
  bool has_batches = false;  ///< each cell has a number of systems of its own
  std::map<std::int64_t, VerdictCell> cells;  ///< by n
};

/// The races on one device. Cells point into `groups`.
struct VerdictGrid {
  VerdictGrid() = default;
  VerdictGrid(VerdictGrid&&) = default;
  VerdictGrid& operator=(VerdictGrid&&) = default;

  std::string device;             ///< GPU's name, or the CPU's
  std::int64_t capability = 0;    ///< 0: a CPU
  std::vector<std::string> cpus;  ///< whose methods race beside the GPU's
  std::vector<Group> groups;
  std::vector<VerdictRow> rows;
};

/// A grid for each GPU model, methods of the CPUs beside it in the race; and for each CPU that stands beside
/// none. Emulated kernels race on a CPU of its own only: beside a GPU their times say nothing.
/// @param records @pre they outlive the grids
/// @param baseline "cusolver" or "gesv/cusolver"; empty: the vendor's method on each device
std::vector<VerdictGrid> verdict_grids(const std::vector<io::Record>& records,
                                       const std::vector<io::DeviceRow>& devices,
                                       const std::vector<io::HostRow>& hosts,
                                       const std::string& baseline = {});

/// How a grid is printed.
struct RenderOptions {
  std::size_t width = 120;  ///< columns; sizes that do not fit stand in a further block
  bool colours = false;     ///< a colour a method, by ANSI's sequences
};

/// All grids for people, with a word on how to read them; empty without grids.
std::string verdict_text(const std::vector<VerdictGrid>& grids, const RenderOptions& options);
/// A sentence a race: "For X of A X = B in double on NVIDIA H200: gesv/recursive, 3.4 ms, …".
std::string race_sentences(const std::vector<VerdictGrid>& grids);
/// A row a race, with everything that is known of it: for CSV and JSON.
Table verdict_table(const std::vector<VerdictGrid>& grids);

}  // namespace gaussweep::driver
