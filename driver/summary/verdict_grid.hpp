#pragma once
/// Grids of the fastest methods: a grid per device, with a row per problem, precision and matrix, and a
/// column per n. A group has the records of one trial (one method on one matrix).

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "driver/base/table.hpp"
#include "driver/summary/summary.hpp"
#include "io/records/results.hpp"

namespace gaussweep::driver {

/// The resource that limits a problem on a device.
enum class Bound { compute, memory };

/// A lower bound on the time of a problem on a device. It is the larger of two times: the problem's usual
/// operations at the measured GEMM rate, and moving its operands and answer once at the measured copy rate.
struct Limit {
  double seconds = io::Record::unknown;  ///< NaN if the device's rates or the problem are unknown
  Bound bound = Bound::compute;          ///< the larger of the two times
};

/// Measured rates of a device, in operations and bytes per second; NaN if unknown.
struct Rates {
  double flops_float = io::Record::unknown, flops_double = io::Record::unknown, copy = io::Record::unknown;
};

/// Returns true if the record's operands are square, so that n is their only order.
bool is_of_one_order(const io::Record& record);

/// Returns the medians of the rates that were measured on some devices.
Rates median_rates(const std::vector<const io::DeviceRow*>& devices);

/// Returns the limit (lower bound on the time) of a record's problem on a device with these rates.
Limit limit_of(const io::Record& record, const Rates& rates);

/// The comparison ("race") of all methods that ran the same task (task_identity).
struct VerdictCell {
  std::vector<const Group*> groups;   ///< all groups of the task
  const Group* any_group = nullptr;   ///< some group of the task; its record has the task's properties
  const Group* winner = nullptr;      ///< the fastest group that passed; null if no group passed
  const Group* runner_up = nullptr;   ///< the fastest passing group of another method; null if there is none
  std::int64_t methods = 0;           ///< number of methods that were tried, without skipped ones
  double lead = io::Record::unknown;  ///< the runner-up's median divided by the winner's
  bool tie = false;                   ///< true if the interquartile ranges of winner and runner-up overlap
  Limit limit;  ///< median over the winner's records, each computed with the rates of its own device
  double limit_fraction = io::Record::unknown;  ///< limit.seconds divided by the winner's median
  /// The group of the requested baseline method, or of the vendor's method if none was requested. Null if
  /// that method did not pass.
  const Group* baseline = nullptr;
  double speedup = io::Record::unknown;  ///< the baseline's median divided by the winner's
  /// In a row that pools seeds: the number of seeds that count (see VerdictGrid::pooled_rows), and the number
  /// of these with which the winner is the fastest.
  std::int64_t races = 1, wins = 1;
  /// True if the winner has no runner-up, but some competing method was tried with seeds that do not count
  /// (see VerdictGrid::pooled_rows).
  bool lacks_seeds = false;
};

/// The races of one problem, precision and matrix, per size.
struct VerdictRow {
  std::string problem, precision;
  std::string matrix;  ///< name that is unique among the matrices of the grid
  /// Further properties that distinguish the row, "nrhs 3, upper, seed 2"; may be empty.
  std::string details;
  std::string details_without_seed;  ///< equal in rows that differ only in their seeds
  /// True if the row has batches of different sizes, counting the rows that differ only in their seeds.
  bool has_batches = false;
  std::map<std::int64_t, VerdictCell> cells;  ///< by n
};

/// The races on one device. Cells point into `groups`.
struct VerdictGrid {
  VerdictGrid() = default;
  VerdictGrid(VerdictGrid&&) = default;
  VerdictGrid& operator=(VerdictGrid&&) = default;

  std::string device;             ///< the model's name of the GPU or CPU
  std::int64_t capability = 0;    ///< the GPU's compute capability; 0: a CPU
  Rates rates;                    ///< of the device; medians over its measurements
  std::vector<std::string> cpus;  ///< models of the CPUs whose methods compete with the GPU's
  std::vector<Group> groups;
  std::vector<VerdictRow> rows;
  /// The rows with the seeds pooled: a method's time is the median over the seeds, and the method passes if
  /// it passed with all seeds. Only seeds with which the same methods were tried count. Cells point into
  /// `groups` and `pooled_groups`.
  std::vector<VerdictRow> pooled_rows;
  std::deque<Group> pooled_groups;
};

/// Returns one grid per GPU model, and one per CPU model of machines without these GPUs. In the grid of a GPU
/// the CPU methods of the same machines also compete. Emulated kernels compete with one another only
/// (`competitors`).
/// @param records must outlive the grids
/// @param baseline "cusolver" or "gesv/cusolver"; empty: the vendor's method on each device
std::vector<VerdictGrid> verdict_grids(const std::vector<io::Record>& records,
                                       const std::vector<io::DeviceRow>& devices,
                                       const std::vector<io::HostRow>& hosts,
                                       const std::string& baseline = {});

/// Options for printing grids.
struct RenderOptions {
  std::size_t width = 120;  ///< in characters; sizes (n) that do not fit go into a further block
  bool colours = false;     ///< one ANSI colour per method
  bool legend = true;       ///< an explanation below the grids
};

/// Returns all grids as text; empty without grids.
std::string verdict_text(const std::vector<VerdictGrid>& grids, const RenderOptions& options);
/// Returns the explanation of the grids' cells.
std::string verdict_legend(const std::vector<VerdictGrid>& grids);
/// Returns the grids as Markdown tables with a heading each, without the explanation; empty without grids.
std::string verdict_markdown(const std::vector<VerdictGrid>& grids);
/// Returns the grids as LaTeX tabulars (package booktabs), each after a comment line with its title.
std::string verdict_latex(const std::vector<VerdictGrid>& grids);
/// Returns a sentence per race, with the seeds pooled: "For X of A X = B in double on NVIDIA H200:
/// gesv/recursive, 3.4 ms, …".
std::string verdict_sentences(const std::vector<VerdictGrid>& grids);
/// Returns a table with one row per race and all its data, for CSV and JSON.
Table verdict_table(const std::vector<VerdictGrid>& grids);

}  // namespace gaussweep::driver
