/// Sends and receives messages between the ranks by MPI, and finds out which ranks share a host and its CPUs.

#include "driver/sweep/world.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <fstream>
#include <list>
#include <mpi.h>
#include <sched.h>
#include <set>
#include <stdexcept>
#include <unistd.h>
#include <utility>

#include "driver/system/clock.hpp"

namespace gaussweep::driver {
namespace {

using Bytes = std::vector<std::uint8_t>;

void check(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw std::runtime_error(fmt::format("{}: {}", call, text));
}

/// Returns the length of a message as MPI counts it.
int length_of(std::size_t bytes) {
  if (bytes <= World::max_message_bytes) return static_cast<int>(bytes);
  throw std::length_error(fmt::format("a message of {} bytes cannot be sent: MPI takes at most {}", bytes,
                                      World::max_message_bytes));
}

/// Returns true if a launcher (mpirun, srun, ...) started this process. Launchers set these variables.
bool started_by_launcher() {
  static constexpr std::array<const char*, 5> variables = {"OMPI_COMM_WORLD_SIZE", "PMI_RANK", "PMIX_RANK",
                                                           "PMI_SIZE", "MPI_LOCALNRANKS"};
  for (const char* variable : variables) {
    if (std::getenv(variable) != nullptr) return true;
  }
  return false;
}

/// Returns the launcher's command. Must be called before MPI_Init, because MPI_Init of Open MPI sets the
/// variables of mpirun under srun, too.
std::string launch_command() {
  const bool by_mpirun =
      std::getenv("OMPI_COMM_WORLD_SIZE") != nullptr || std::getenv("MPI_LOCALNRANKS") != nullptr;
  if (by_mpirun || std::getenv("SLURM_STEP_ID") == nullptr) return "mpirun";
  const char* const interface = std::getenv("SLURM_MPI_TYPE");
  return interface == nullptr ? "srun" : fmt::format("srun --mpi={}", interface);
}

/// Returns the CPUs that this process may use; an empty set if the system does not report them.
cpu_set_t usable_cpu_set() {
  cpu_set_t set;
  CPU_ZERO(&set);
  ::sched_getaffinity(0, sizeof set, &set);
  return set;
}

/// Returns the seconds between SIGTERM and SIGKILL if Open MPI's mpirun started this process, otherwise
/// infinity. If mpirun gets SIGINT, SIGTERM or SIGHUP, it sends its ranks SIGTERM after this delay, and
/// SIGKILL after the same delay again. The default delay is 1 s. The exit code of mpirun is then always 1
/// (seen with Open MPI 4.1.4).
double launcher_sigkill_delay() {
  std::string name;
  std::getline(std::ifstream(fmt::format("/proc/{}/comm", ::getppid())), name);
  for (const char* launcher : {"mpirun", "mpiexec", "orterun", "orted", "prterun", "prted"}) {
    if (name != launcher) continue;
    const char* timeout = std::getenv("OMPI_MCA_odls_base_sigkill_timeout");
    return timeout == nullptr ? 1 : std::atof(timeout);
  }
  return std::numeric_limits<double>::infinity();
}

/// Restricts Open MPI to shared memory if all ranks run on this host, because probing for networks takes
/// 0.2 s. A user's own setting is kept.
void skip_network_probing() {
  const char* const ranks = std::getenv("OMPI_COMM_WORLD_SIZE");
  const char* const local_ranks = std::getenv("OMPI_COMM_WORLD_LOCAL_SIZE");
  if (ranks == nullptr || local_ranks == nullptr || std::strcmp(ranks, local_ranks) != 0) return;
  constexpr int overwrite = 0;
  // Excludes the message layers that open network devices.
  ::setenv("OMPI_MCA_pml", "^cm,ucx", overwrite);
}

}  // namespace

/// The messages that are not sent or received completely: pending requests of MPI_Isend and MPI_Imrecv.
class World::Traffic {
 public:
  explicit Traffic(int ranks) : max_incoming_(64 + 4 * static_cast<std::size_t>(ranks)) {}
  struct Received {
    int from;
    Bytes bytes;
  };

  void send(int to, int tag, Bytes bytes) {
    progress();
    const int length = length_of(bytes.size());
    Outgoing& message = outgoing_.emplace_back(Outgoing{std::move(bytes), MPI_REQUEST_NULL});
    unsent_ += message.bytes.size();
    check(MPI_Isend(message.bytes.data(), length, MPI_BYTE, to, tag, MPI_COMM_WORLD, &message.request),
          "MPI_Isend");
  }

  /// Returns the next message that has arrived completely, if any. Messages of one rank keep their order.
  std::optional<Received> receive(int tag) {
    progress();
    post_receives(tag);
    std::set<int> unfinished;  // ranks whose earlier message has not arrived completely
    for (auto message = incoming_.begin(); message != incoming_.end(); ++message) {
      if (message->tag != tag || unfinished.count(message->from) > 0) continue;
      if (is_complete(message->request)) {
        Received received{message->from, std::move(message->bytes)};
        incoming_.erase(message);
        return received;
      }
      unfinished.insert(message->from);
    }
    return std::nullopt;
  }

  /// Frees the buffers of messages that are sent completely.
  void progress() {
    for (auto message = outgoing_.begin(); message != outgoing_.end();) {
      if (is_complete(message->request)) {
        unsent_ -= message->bytes.size();
        message = outgoing_.erase(message);
      } else {
        ++message;
      }
    }
  }

  std::size_t unsent_bytes() const { return unsent_; }
  bool all_sent() const { return outgoing_.empty(); }

 private:
  struct Outgoing {
    Bytes bytes;
    MPI_Request request;
  };
  struct Incoming {
    int from, tag;
    Bytes bytes;
    MPI_Request request;
  };

  static bool is_complete(MPI_Request& request) {
    int complete = 0;
    check(MPI_Test(&request, &complete, MPI_STATUS_IGNORE), "MPI_Test");
    return complete != 0;
  }

  /// Starts to receive the messages that have been announced.
  void post_receives(int tag) {
    while (incoming_.size() < max_incoming_) {
      int found = 0, length = 0;
      MPI_Message matched = MPI_MESSAGE_NULL;
      MPI_Status status;
      check(MPI_Improbe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &found, &matched, &status), "MPI_Improbe");
      if (found == 0) return;
      check(MPI_Get_count(&status, MPI_BYTE, &length), "MPI_Get_count");
      Incoming& message = incoming_.emplace_back(
          Incoming{status.MPI_SOURCE, tag, Bytes(static_cast<std::size_t>(length)), MPI_REQUEST_NULL});
      check(MPI_Imrecv(message.bytes.data(), length, MPI_BYTE, &matched, &message.request), "MPI_Imrecv");
    }
  }

  // Lists, because MPI keeps pointers to the buffers of pending requests.
  std::list<Outgoing> outgoing_;
  std::list<Incoming> incoming_;
  /// Maximum number of unfinished receives, which limits their memory. Grows with the number of ranks,
  /// because a message of a frozen rank never completes and occupies an entry of `incoming_`.
  std::size_t max_incoming_;
  std::size_t unsent_ = 0;
};

World::World() : uses_mpi_(started_by_launcher()), launch_command_(launch_command()) {
  if (!uses_mpi_) return;
  sigkill_delay_ = launcher_sigkill_delay();
  skip_network_probing();
  // Only this thread calls MPI. MPI_THREAD_SINGLE would forbid other threads, such as the one that syncs the
  // journal.
  int level = MPI_THREAD_SINGLE;
  check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &level), "MPI_Init_thread");
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (level < MPI_THREAD_FUNNELED) {
    MPI_Finalize();
    throw std::runtime_error("this MPI library does not support threads (MPI_THREAD_FUNNELED)");
  }
  check(MPI_Comm_rank(MPI_COMM_WORLD, &rank_), "MPI_Comm_rank");
  check(MPI_Comm_size(MPI_COMM_WORLD, &size_), "MPI_Comm_size");
  traffic_ = std::make_unique<Traffic>(size_);
  MPI_Comm local = MPI_COMM_NULL;
  check(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &local),
        "MPI_Comm_split_type");
  check(MPI_Comm_rank(local, &local_rank_), "MPI_Comm_rank");
  check(MPI_Comm_size(local, &local_size_), "MPI_Comm_size");
  const cpu_set_t cpus = usable_cpu_set();
  std::vector<cpu_set_t> by_rank(static_cast<std::size_t>(local_size_));
  check(MPI_Allgather(&cpus, sizeof cpus, MPI_BYTE, by_rank.data(), sizeof cpus, MPI_BYTE, local),
        "MPI_Allgather");
  // Ranks with the same CPU set divide its CPUs into equal parts: one part per rank, in the order of ranks.
  const auto is_equal = [&](const cpu_set_t& other) { return CPU_EQUAL(&cpus, &other) != 0; };
  cpu_parts_ = static_cast<int>(std::count_if(by_rank.begin(), by_rank.end(), is_equal));
  cpu_part_ = static_cast<int>(std::count_if(by_rank.begin(), by_rank.begin() + local_rank_, is_equal));
  MPI_Comm_free(&local);
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(text, &length);
  mpi_version_ = std::string(text, static_cast<std::size_t>(length)).substr(0, std::string(text).find(','));
}

std::string World::launcher() const {
  return size_ > 1 ? fmt::format("{} -n {} ", launch_command_, size_) : "";
}

int World::unconnected_tasks() const {
  // If this MPI cannot talk to srun, every task is a world of one rank, although the step has several tasks.
  const char* const tasks = std::getenv("SLURM_STEP_NUM_TASKS");
  if (size_ > 1 || launch_command_ == "mpirun" || tasks == nullptr) return 1;
  return std::max(1, std::atoi(tasks));
}

World::~World() {
  if (uses_mpi_) MPI_Finalize();
}

std::size_t World::unsent_bytes() const {
  return traffic_ ? traffic_->unsent_bytes() : 0;
}

void World::flush(double seconds) {
  if (!traffic_) return;
  const double end = now_seconds() + seconds;
  for (traffic_->progress(); !traffic_->all_sent(); traffic_->progress()) {
    if (now_seconds() > end) return lose_peer();  // some rank does not answer any more
    ::usleep(1000);
  }
}

void World::abort(int exit_code) {
  if (uses_mpi_) MPI_Abort(MPI_COMM_WORLD, exit_code);
}

nlohmann::json World::broadcast(const nlohmann::json& value) {
  if (!uses_mpi_) return value;
  Bytes bytes;
  if (rank_ == 0) bytes = nlohmann::json::to_cbor(value);
  int length = length_of(bytes.size());
  check(MPI_Bcast(&length, 1, MPI_INT, 0, MPI_COMM_WORLD), "MPI_Bcast");
  bytes.resize(static_cast<std::size_t>(length));
  check(MPI_Bcast(bytes.data(), length, MPI_BYTE, 0, MPI_COMM_WORLD), "MPI_Bcast");
  return nlohmann::json::from_cbor(bytes);
}

std::vector<nlohmann::json> World::gather(const nlohmann::json& of_this_rank) {
  if (!uses_mpi_) return {of_this_rank};
  const Bytes bytes = nlohmann::json::to_cbor(of_this_rank);
  const int length = length_of(bytes.size());
  const auto ranks = static_cast<std::size_t>(size_);
  std::vector<int> lengths(ranks), offsets(ranks);
  check(MPI_Gather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, MPI_COMM_WORLD), "MPI_Gather");
  std::size_t total = 0;
  for (std::size_t i = 0; i < ranks; ++i) {
    offsets[i] = length_of(total);
    total += static_cast<std::size_t>(lengths[i]);
  }
  Bytes all(static_cast<std::size_t>(length_of(total)));
  check(MPI_Gatherv(bytes.data(), length, MPI_BYTE, all.data(), lengths.data(), offsets.data(), MPI_BYTE, 0,
                    MPI_COMM_WORLD),
        "MPI_Gatherv");
  std::vector<nlohmann::json> result;
  if (rank_ != 0) return result;
  for (std::size_t i = 0; i < ranks; ++i) {
    const auto begin = all.begin() + offsets[i];
    result.push_back(nlohmann::json::from_cbor(begin, begin + lengths[i]));
  }
  return result;
}

void World::send(int to, Mailbox box, const nlohmann::json& message) {
  if (to == rank_) {
    self_messages_[box].push_back(message);
    return;
  }
  traffic_->send(to, box, nlohmann::json::to_cbor(message));
}

std::optional<MessagePort::Arrived> World::receive(Mailbox box) {
  if (!self_messages_[box].empty()) {
    Arrived arrived{rank_, std::move(self_messages_[box].front())};
    self_messages_[box].pop_front();
    return arrived;
  }
  if (!traffic_) return std::nullopt;
  const auto received = traffic_->receive(box);
  if (!received) return std::nullopt;
  return Arrived{received->from, nlohmann::json::from_cbor(received->bytes)};
}

}  // namespace gaussweep::driver
