#include "driver/system/step_note.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>

namespace gaussweep::driver {

namespace {
constexpr std::size_t word_bytes = 32;
}

/// Two places: one is read while the other is written. New pages are zeros, two empty words.
struct StepNote::Page {
  std::atomic<unsigned> turn;
  char words[2][word_bytes];
};

StepNote StepNote::make() {
  StepNote note;
  const int made = ::memfd_create("gaussweep step", MFD_CLOEXEC);
  if (made < 0) return note;
  // Beyond the numbers that a child gives its descriptors.
  constexpr int beyond = 10;
  const int moved = ::fcntl(made, F_DUPFD_CLOEXEC, beyond);
  ::close(made);
  if (moved < 0) return note;
  if (::ftruncate(moved, sizeof(Page)) != 0) {
    ::close(moved);
    return note;
  }
  note = of(::fcntl(moved, F_DUPFD_CLOEXEC, beyond));
  note.descriptor_ = moved;
  return note;
}

StepNote StepNote::of(int descriptor) {
  StepNote note;
  struct stat facts {};
  if (::fstat(descriptor, &facts) != 0) return note;
  if (S_ISREG(facts.st_mode) && facts.st_size == sizeof(Page)) {
    void* place = ::mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (place != MAP_FAILED) note.page_ = static_cast<Page*>(place);
  }
  ::close(descriptor);
  return note;
}

StepNote::~StepNote() {
  if (page_ != nullptr) ::munmap(page_, sizeof(Page));
  if (descriptor_ >= 0) ::close(descriptor_);
}

void StepNote::write(std::string_view step) {
  if (page_ == nullptr) return;
  const unsigned next = page_->turn.load(std::memory_order_relaxed) + 1;
  char* word = page_->words[next % 2];
  const std::size_t length = std::min(step.size(), word_bytes - 1);
  std::memcpy(word, step.data(), length);
  word[length] = '\0';
  page_->turn.store(next, std::memory_order_release);
}

std::string StepNote::read() const {
  if (page_ == nullptr) return {};
  const char* word = page_->words[page_->turn.load(std::memory_order_acquire) % 2];
  return {word, ::strnlen(word, word_bytes)};
}

}  // namespace gaussweep::driver
