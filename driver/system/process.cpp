/// Starts and ends child processes: workers, and short helpers whose output is captured.

#include "driver/system/process.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "driver/system/clock.hpp"
#include "io/files/errors.hpp"
#include "io/files/open_file.hpp"

extern char** environ;

namespace gaussweep::driver {
namespace {

constexpr const char* self_path = "/proc/self/exe";
constexpr int poll_ms = 20;  // milliseconds that one poll waits for output
/// Limit on captured output in bytes; the JSON listing of a node's GPUs has about ten thousand.
constexpr std::size_t max_output = std::size_t{1} << 20;

/// Returns true for variables that an MPI launcher sets for its ranks. In a worker's environment they would
/// make it act as a rank.
bool belongs_to_launcher(const std::string& entry) {
  static constexpr std::array<const char*, 7> prefixes = {"OMPI_", "PMIX_",  "PMI_", "PRTE_",
                                                          "MPI_",  "HYDRA_", "ORTE_"};
  return std::any_of(prefixes.begin(), prefixes.end(), [&](const char* p) { return entry.rfind(p, 0) == 0; });
}

/// Returns pointers to the strings with a null pointer at the end, as argv and envp need them.
std::vector<char*> pointers(const std::vector<std::string>& strings) {
  std::vector<char*> result;
  for (const std::string& s : strings) result.push_back(const_cast<char*>(s.c_str()));
  result.push_back(nullptr);
  return result;
}

/// The changes to a child's descriptors. They close descriptors of this process's libraries, such as MPI's
/// sockets, in the child. Otherwise a worker that cannot be killed would keep connections to other ranks
/// open.
struct FileActions {
  FileActions() {
    posix_spawn_file_actions_init(&value);
    std::error_code ignored;  // without /proc, no child can start anyway
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", ignored)) {
      const int fd = std::atoi(entry.path().filename().c_str());
      const int flags = ::fcntl(fd, F_GETFD);
      if (fd > 2 && flags >= 0 && (flags & FD_CLOEXEC) == 0) posix_spawn_file_actions_addclose(&value, fd);
    }
  }
  ~FileActions() { posix_spawn_file_actions_destroy(&value); }
  posix_spawn_file_actions_t value;
};
/// The signal mask, signal handlers and session of a child.
struct SpawnAttributes {
  SpawnAttributes() {
    posix_spawnattr_init(&value);
    sigset_t blocked;
    sigemptyset(&blocked);
    posix_spawnattr_setsigmask(&value, &blocked);
    sigset_t restored;  // signals whose default action is restored in the child
    sigemptyset(&restored);
    for (int signal : {SIGINT, SIGTERM, SIGUSR1, SIGPIPE, SIGHUP}) sigaddset(&restored, signal);
    posix_spawnattr_setsigdefault(&value, &restored);
    posix_spawnattr_setflags(&value, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~SpawnAttributes() { posix_spawnattr_destroy(&value); }
  posix_spawnattr_t value;
};

/// Starts `program`, or this program if `program` is empty. Returns the process id.
pid_t spawn(const std::string& program, const std::vector<std::string>& arguments,
            const std::vector<std::string>& environment, FileActions& actions) {
  std::vector<std::string> command{"gaussweep"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv = pointers(command);
  std::vector<char*> env = pointers(environment);
  SpawnAttributes attributes;
  pid_t pid = -1;
  const int error = posix_spawn(&pid, program.empty() ? self_path : program.c_str(), &actions.value,
                                &attributes.value, argv.data(), env.data());
  if (error != 0) {
    throw std::runtime_error(fmt::format("cannot start '{} {}': {}", program.empty() ? "gaussweep" : program,
                                         arguments.front(), std::strerror(error)));
  }
  return pid;
}

/// Kills a process group and waits for its leader to end, at most 10 seconds.
/// @return false if the system could not kill it
bool kill_group(pid_t pid) noexcept {
  for (int wait = 0; wait < 1000; ++wait) {  // 100 waits of 1 ms and 900 of 11 ms
    ::kill(-pid, SIGKILL);
    ::kill(pid, SIGKILL);  // the child may not have become a group leader yet
    int status = 0;
    if (::waitpid(pid, &status, WNOHANG) != 0) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(wait < 100 ? 1 : 11));
  }
  return false;
}

Ending ending_of(int status) {
  if (WIFEXITED(status)) return {true, WEXITSTATUS(status)};
  return {false, WTERMSIG(status)};
}

bool ready_to_read(int fd, int wait_ms) {
  pollfd waiting{fd, POLLIN, 0};
  return ::poll(&waiting, 1, wait_ms) > 0;
}

/// Opens a log file for appending. @throws io::StorageError
io::Descriptor open_log(const std::filesystem::path& log) {
  const io::Opened folder = io::open_folder(log.parent_path());
  if (!folder) {
    throw io::StorageError(
        fmt::format("cannot open {}: its folder cannot be opened: {}", log.string(), folder.why));
  }
  io::Opened opened =
      io::open_regular(log.filename(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, folder.file.fd());
  if (!opened) throw io::StorageError(fmt::format("cannot open {}: {}", log.string(), opened.why));
  return std::move(opened.file);
}

/// Appends the available output. @return false at the end of the stream
bool read_some(int fd, std::string& output) {
  char buffer[4096];
  const ssize_t count = ::read(fd, buffer, sizeof buffer);
  if (count > 0) output.append(buffer, static_cast<std::size_t>(count));
  return count > 0 || (count < 0 && errno == EINTR);
}

}  // namespace

std::string Ending::text() const {
  if (exited) return fmt::format("exit status {}", code);
  return fmt::format("signal {} ({})", code, strsignal(code));
}

std::vector<std::string> child_environment(const std::vector<std::string>& changes) {
  std::vector<std::string> result;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::string name = text.substr(0, text.find('=') + 1);
    const bool replaced = std::any_of(changes.begin(), changes.end(),
                                      [&](const std::string& change) { return change.rfind(name, 0) == 0; });
    if (!replaced && !belongs_to_launcher(text)) result.push_back(text);
  }
  result.insert(result.end(), changes.begin(), changes.end());
  return result;
}

Process::Process(const std::vector<std::string>& arguments, const std::vector<std::string>& environment,
                 const std::string& log, const std::string& program) {
  // The log is opened before the child starts, so that a failing disk and a failing start give different
  // errors.
  const io::Descriptor output = open_log(log);
  int channel_ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, channel_ends) != 0) {
    throw std::runtime_error(std::string("socketpair: ") + std::strerror(errno));
  }
  channel_ = Channel(channel_ends[0]);
  const io::Descriptor child_end(channel_ends[1]);
  FileActions actions;
  posix_spawn_file_actions_addopen(&actions.value, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions.value, output.fd(), 1);
  posix_spawn_file_actions_adddup2(&actions.value, output.fd(), 2);
  posix_spawn_file_actions_adddup2(&actions.value, child_end.fd(), 3);
  step_ = StepNote::make();
  if (step_.descriptor() >= 0) posix_spawn_file_actions_adddup2(&actions.value, step_.descriptor(), 4);
  pid_ = spawn(program, arguments, environment, actions);
}

bool Process::poll_end(Ending& how) {
  if (pid_ <= 0) return false;
  int status = 0;
  if (::waitpid(pid_, &status, WNOHANG) != pid_) return false;
  ::kill(-pid_, SIGKILL);  // other processes of the child's group
  pid_ = -1;
  channel_.close();
  how = ending_of(status);
  return true;
}

bool Process::kill() noexcept {
  if (pid_ <= 0) return true;
  channel_.close();
  const bool has_ended = kill_group(pid_);
  pid_ = -1;
  return has_ended;
}

std::string captured_output(const std::vector<std::string>& arguments,
                            const std::vector<std::string>& environment, double timeout_seconds,
                            const std::string& program) {
  int pipe_ends[2];
  if (::pipe2(pipe_ends, O_CLOEXEC) != 0)
    throw std::runtime_error(std::string("pipe: ") + std::strerror(errno));
  const io::Descriptor reading(pipe_ends[0]);
  pid_t pid;
  {
    const io::Descriptor writing(pipe_ends[1]);
    FileActions actions;
    posix_spawn_file_actions_addopen(&actions.value, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions.value, writing.fd(), 1);
    pid = spawn(program, arguments, environment, actions);
  }
  const double deadline = now_seconds() + timeout_seconds;
  std::string output;
  int status = 0;
  const auto failure = [&](const std::string& why) {
    return std::runtime_error(fmt::format("'gaussweep {}' {}", arguments.front(), why));
  };
  const auto exceeds_limit = [&] { return output.size() > max_output; };
  // The loop watches both the output and the child: the child may close its output and hang, or end while its
  // children keep the output open.
  bool open = true;
  while (::waitpid(pid, &status, WNOHANG) != pid) {
    if (now_seconds() > deadline || exceeds_limit()) {
      kill_group(pid);
      if (exceeds_limit()) break;
      throw failure(fmt::format("did not end within {} s", timeout_seconds));
    }
    if (!open) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    } else if (ready_to_read(reading.fd(), poll_ms)) {
      open = read_some(reading.fd(), output);
    }
  }
  ::kill(-pid, SIGKILL);  // other processes of the child's group
  while (open && !exceeds_limit() && ready_to_read(reading.fd(), 0)) open = read_some(reading.fd(), output);
  if (exceeds_limit()) throw failure(fmt::format("printed more than {} bytes", max_output));
  const Ending how = ending_of(status);
  if (!how.exited || how.code != 0) throw failure("ended with " + how.text());
  return output;
}

bool die_with_parent(pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  return ::getppid() == parent;
}

void restart_with_variable(const char* name, const char* value, char** argv) {
  if (environment_value(name) == value || ::setenv(name, value, 1) != 0) return;
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink(self_path, error);
  // Executes the program by its real path, so that ps shows the program's name. If that fails because the
  // file was replaced in the meantime, executes the link.
  if (!error) ::execv(program.c_str(), argv);
  ::execv(self_path, argv);
}

void open_standard_descriptors() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(fd, F_GETFD) >= 0) continue;
    // open() returns the lowest free number, which is fd. Standard output is opened read-only, so that a
    // command whose output is lost gets an error.
    [[maybe_unused]] const int opened = ::open("/dev/null", fd == STDERR_FILENO ? O_RDWR : O_RDONLY);
  }
}

std::string environment_value(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace gaussweep::driver
