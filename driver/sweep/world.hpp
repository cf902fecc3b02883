#pragma once
/// Sends messages between coordinator and supervisors by MPI, and finds out which ranks share a host. The
/// coordinator, on rank 0, assigns trials to ranks. One supervisor per rank runs them.
///
/// `send` and `receive` never block, because two ranks that send to each other, or a frozen rank, would stop
/// the sweep. They start MPI requests, and every call progresses all pending requests. The protocol limits
/// the number of pending messages. A supervisor gets a batch of trials only on request, and starts no trial
/// while `unsent_bytes()` exceeds its limit.

#include <deque>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "driver/sweep/message_port.hpp"

namespace gaussweep::driver {

/// The ranks of this run. Without an MPI launcher there is one rank, and MPI is never initialized.
class World final : public MessagePort {
 public:
  World();
  ~World() override;
  /// Marks that a rank does not answer. MPI_Finalize would wait for this rank for ever, so the run must end
  /// by `abort`.
  void lose_peer() override { lost_peer_ = uses_mpi_; }
  bool lost_peer() const { return lost_peer_; }
  /// Ends all ranks immediately by MPI_Abort. Returns only if MPI is not in use.
  void abort(int exit_code);
  std::size_t unsent_bytes() const override;
  /// Waits until every sent message is received. Calls `lose_peer` if that takes longer than `seconds`.
  void flush(double seconds);
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  int local_rank() const { return local_rank_; }  ///< this rank's index among the ranks of this host
  int local_size() const { return local_size_; }
  /// The number of ranks on this host, including this rank, that may use the same CPUs as this rank. These
  /// ranks divide the CPUs into equal parts, one per rank.
  int cpu_parts() const { return cpu_parts_; }
  int cpu_part() const { return cpu_part_; }  ///< this rank's part, from 0 to cpu_parts() - 1
  double sigkill_delay() const override { return sigkill_delay_; }
  /// Returns the command that starts the same number of ranks, with a space at its end: "mpirun -n 4 ". Empty
  /// for one rank.
  std::string launcher() const;
  /// Returns the number of tasks that srun started if MPI does not connect them. Returns 1 if MPI connects
  /// them or srun did not start this process.
  int unconnected_tasks() const;
  /// Version of the MPI library; empty without MPI.
  const std::string& mpi_version() const { return mpi_version_; }

  /// Returns rank 0's value on every rank. Collective. @throws std::length_error beyond `max_message_bytes`
  nlohmann::json broadcast(const nlohmann::json& value);
  /// Returns every rank's value on rank 0, an empty list elsewhere. Collective.
  /// @throws std::length_error if the values together exceed `max_message_bytes`
  std::vector<nlohmann::json> gather(const nlohmann::json& of_this_rank);

  /// MPI's functions take the number of bytes as an int.
  static constexpr std::size_t max_message_bytes = std::numeric_limits<int>::max();

 protected:
  /// @throws std::length_error beyond `max_message_bytes`
  void send(int to, Mailbox box, const nlohmann::json& message) override;
  std::optional<Arrived> receive(Mailbox box) override;

 private:
  class Traffic;
  std::unique_ptr<Traffic> traffic_;  ///< null without MPI
  bool lost_peer_ = false;
  bool uses_mpi_ = false;
  std::string launch_command_;  ///< the command that started the ranks
  int rank_ = 0, size_ = 1, local_rank_ = 0, local_size_ = 1, cpu_part_ = 0, cpu_parts_ = 1;
  double sigkill_delay_ = std::numeric_limits<double>::infinity();
  std::string mpi_version_;
  std::deque<nlohmann::json> self_messages_[2];  ///< messages of this rank to itself, by mailbox
};

}  // namespace gaussweep::driver
