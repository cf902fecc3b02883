/// Preloaded: every sync of a file takes as long as GAUSSWEEP_SYNC_SECONDS says, as on a disk that is busy
/// with gigabytes of others.

#include <cstdlib>

#include <dlfcn.h>
#include <unistd.h>

namespace {

int slowly(const char* name, int fd) {
  const char* seconds = std::getenv("GAUSSWEEP_SYNC_SECONDS");
  if (seconds != nullptr) ::usleep(static_cast<useconds_t>(1e6 * std::atof(seconds)));
  const auto real = reinterpret_cast<int (*)(int)>(::dlsym(RTLD_NEXT, name));
  return real(fd);
}

}  // namespace

extern "C" int fdatasync(int fd) {
  return slowly("fdatasync", fd);
}
extern "C" int fsync(int fd) {
  return slowly("fsync", fd);
}
