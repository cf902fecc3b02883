#include "io/image/pgm.hpp"

#include <csetjmp>
#include <cstring>

extern "C" {
#include <netpbm/pgm.h>
}

namespace gaussweep::io {
namespace {

/// What libnetpbm said before it jumped. The library keeps its way back in a variable of its own, so it is
/// used by one thread at a time; this room reads images from one.
thread_local char last_error[256];

void note_error(const char* message) {
  std::strncpy(last_error, message, sizeof last_error - 1);
}
void note_nothing(const char*) {}

/// Calls work(argument) and returns true, or false where libnetpbm jumped out of it. Nothing here may need a
/// destructor: the jump would pass it by.
bool survives(void (*work)(void*), void* argument) {
  jmp_buf way_back;
  std::memset(last_error, 0, sizeof last_error);
  pm_setusererrormsgfn(note_error);
  pm_setusermessagefn(note_nothing);
  if (setjmp(way_back) != 0) {
    pm_setjmpbuf(nullptr);
    return false;
  }
  pm_setjmpbuf(&way_back);
  work(argument);
  pm_setjmpbuf(nullptr);
  return true;
}

}  // namespace

template <class Work>
void PgmReader::guarded(Work work) {
  const bool done = survives([](void* what) { (*static_cast<Work*>(what))(); }, &work);
  if (done) return;
  error_ = last_error[0] == '\0' ? "unreadable" : last_error;
  while (!error_.empty() && (error_.back() == '\n' || error_.back() == '.')) error_.pop_back();
}

PgmReader::PgmReader(const std::string& bytes) {
  // Opened for reading only: the bytes stay as they are.
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
