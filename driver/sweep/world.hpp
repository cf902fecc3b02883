#pragma once
/// Messages between the coordinator (rank 0) and the supervisors (every rank), and who is where.

#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "driver/sweep/post.hpp"

namespace gaussweep::driver {

/// The ranks of this run. Without an MPI launcher: one rank, and MPI is never started.
class World final : public Post {
 public:
  World();
  ~World() override;
  /// MPI_Finalize would wait for it for ever.
  void lose_peer() override { lost_peer_ = mpi_; }
  bool lost_peer() const { return lost_peer_; }
  /// Ends all ranks at once, whatever they do. Returns only where there is no MPI.
  void abort(int exit_code);
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  int local_rank() const { return local_rank_; }  ///< among the ranks of this host
  int local_size() const { return local_size_; }
  /// Of the ranks of this host that may use the very CPUs that this one may: how many there are, and which
  /// this is.
  int cpu_parts() const { return cpu_parts_; }
  int cpu_part() const { return cpu_part_; }
  double launcher_patience() const override { return launcher_patience_; }
  /// What starts as many ranks again, with a space behind it: "mpirun -n 4 "; empty for one rank.
  std::string launcher() const;
  /// Version of the MPI library; empty without MPI.
  const std::string& mpi_version() const { return mpi_version_; }

  /// What rank 0 has, given to all. Collective.
  nlohmann::json broadcast(const nlohmann::json& from_first);
  /// Everybody's value, at rank 0 (elsewhere empty). Collective.
  std::vector<nlohmann::json> gather(const nlohmann::json& mine);

 protected:
  void send(int to, Mailbox box, const nlohmann::json& message) override;
  std::optional<Arrived> receive(Mailbox box) override;

 private:
  bool lost_peer_ = false;
  bool mpi_ = false;
  std::string starter_ = "mpirun";  ///< of the ranks
  int rank_ = 0, size_ = 1, local_rank_ = 0, local_size_ = 1, cpu_part_ = 0, cpu_parts_ = 1;
  double launcher_patience_ = std::numeric_limits<double>::infinity();
  std::string mpi_version_;
  std::deque<nlohmann::json> own_[2];  ///< messages to oneself, by mailbox
};

}  // namespace gaussweep::driver
