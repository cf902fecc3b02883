/// Reads PGM images with libnetpbm. Errors of libnetpbm, which by default end the process, are caught here.

#include "io/image/pgm.hpp"

#include <csetjmp>
#include <cstring>

extern "C" {
#include <netpbm/pgm.h>
}

namespace gaussweep::io {
namespace {

/// libnetpbm's last error message before it called longjmp. Only one thread at a time may use libnetpbm,
/// because its jump buffer is a global variable.
char last_error[256];

void keep_message(const char* message) {
  std::strncpy(last_error, message, sizeof last_error - 1);
}
void ignore_message(const char*) {}

/// Calls work(argument) and returns true, or returns false if libnetpbm jumped out of the call (longjmp).
/// Objects with destructors are not allowed in this function, because the jump skips them.
bool call_guarded(void (*work)(void*), void* argument) {
  jmp_buf jump_target;
  std::memset(last_error, 0, sizeof last_error);
  pm_setusererrormsgfn(keep_message);
  pm_setusermessagefn(ignore_message);
  if (setjmp(jump_target) != 0) {
    pm_setjmpbuf(nullptr);
    return false;
  }
  pm_setjmpbuf(&jump_target);
  work(argument);
  pm_setjmpbuf(nullptr);
  return true;
}

}  // namespace

template <class Work>
void PgmReader::guarded(Work work) {
  const bool done = call_guarded([](void* function) { (*static_cast<Work*>(function))(); }, &work);
  if (done) return;
  error_ = last_error[0] == '\0' ? "unreadable" : last_error;
  while (!error_.empty() && (error_.back() == '\n' || error_.back() == '.')) error_.pop_back();
}

PgmReader::PgmReader(const std::string& bytes) {
  // The const_cast is safe: mode "rb" opens the bytes read-only.
  file_ = fmemopen(const_cast<char*>(bytes.data()), bytes.size(), "rb");
  if (file_ == nullptr) {
    error_ = "cannot be opened in memory";
    return;
  }
  guarded([this] { pgm_readpgminit(file_, &width_, &height_, &top_level_, &format_); });
  if (ok() && top_level_ == 0) error_ = "its highest level is 0";
}

PgmReader::~PgmReader() {
  if (file_ != nullptr) std::fclose(file_);
}

bool PgmReader::read_row(unsigned* levels) {
  guarded([&] { pgm_readpgmrow(file_, levels, width_, top_level_, format_); });
  return ok();
}

}  // namespace gaussweep::io
