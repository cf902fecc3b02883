/// A library to preload that simulates a slow or failing disk.
///
/// GAUSSWEEP_SYNC_SECONDS: the time of every sync, as on a disk that is busy with gigabytes of other files.
/// GAUSSWEEP_SYNCS: the number of data syncs (of the journal) that succeed; later ones fail.

#include <atomic>
#include <cerrno>
#include <cstdlib>

#include <dlfcn.h>
#include <unistd.h>

namespace {

int slowly(const char* name, int fd) {
  if (const char* seconds = std::getenv("GAUSSWEEP_SYNC_SECONDS"))
    ::usleep(static_cast<useconds_t>(1e6 * std::atof(seconds)));
  const auto real = reinterpret_cast<int (*)(int)>(::dlsym(RTLD_NEXT, name));
  return real(fd);
}

}  // namespace

extern "C" int fdatasync(int fd) {
  static std::atomic<int> done = 0;
  const char* good = std::getenv("GAUSSWEEP_SYNCS");
  if (good != nullptr && done++ >= std::atoi(good)) {
    errno = EIO;
    return -1;
  }
  return slowly("fdatasync", fd);
}
extern "C" int fsync(int fd) {
  return slowly("fsync", fd);
}
