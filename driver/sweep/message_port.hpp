#pragma once
/// The message interface between the coordinator (on rank 0, assigns trials to ranks) and the supervisors
/// (one per rank, run the trials). `World` implements it with MPI; tests implement it within one process.

#include <optional>

#include "driver/protocol/messages.hpp"

namespace gaussweep::driver {

/// Sends and receives messages between the ranks.
class MessagePort {
 public:
  virtual ~MessagePort() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// Returns the seconds between the SIGTERM and the SIGKILL with which mpirun ends its ranks; infinity if
  /// unknown.
  virtual double sigkill_delay() const = 0;
  /// Marks that some rank does not answer any more, so that the run does not wait for this rank at its end.
  virtual void lose_peer() = 0;
  /// Returns the bytes of sent messages that their receivers have not received yet.
  virtual std::size_t unsent_bytes() const { return 0; }

  void send_to_supervisor(int rank, const ToSupervisor& message) {
    send(rank, supervisor, message_json(message));
  }
  void send_to_coordinator(const ToCoordinator& message) { send(0, coordinator, message_json(message)); }
  /// Returns the next message that has arrived, if any; does not wait. @throws BadMessage
  std::optional<ToSupervisor> next_for_supervisor() {
    const auto arrived = receive(supervisor);
    if (!arrived) return std::nullopt;
    return read_message<ToSupervisor>(arrived->message);
  }
  /// A message to the coordinator, and the rank that sent it.
  struct FromRank {
    int rank;
    ToCoordinator message;
  };
  /// Returns the next message that has arrived, if any; does not wait. @throws BadMessage
  std::optional<FromRank> next_for_coordinator() {
    const auto arrived = receive(coordinator);
    if (!arrived) return std::nullopt;
    return FromRank{arrived->from, read_message<ToCoordinator>(arrived->message)};
  }

 protected:
  /// The receiver of a message on its rank: the coordinator or the supervisor. Rank 0 has both, other ranks
  /// only a supervisor. Messages from one rank to one mailbox arrive in order.
  enum Mailbox : int { coordinator = 0, supervisor = 1 };
  struct Arrived {
    int from;
    nlohmann::json message;
  };
  virtual void send(int to, Mailbox box, const nlohmann::json& message) = 0;
  virtual std::optional<Arrived> receive(Mailbox box) = 0;
};

}  // namespace gaussweep::driver
