#include "driver/system/step_note.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

namespace gaussweep::driver {

namespace {
constexpr std::size_t word_bytes = 32;
}

/// Two places: one is read while the other is written. New pages are zeros, two empty words.
struct StepNote::Page {
  std::atomic<unsigned> turn;
  char words[2][word_bytes];
};

void StepNote::Unmap::operator()(Page* page) const {
  ::munmap(page, sizeof(Page));
}

std::unique_ptr<StepNote::Page, StepNote::Unmap> StepNote::page_of(int descriptor) {
  struct stat facts {};
  if (::fstat(descriptor, &facts) != 0 || !S_ISREG(facts.st_mode) || facts.st_size != sizeof(Page)) return {};
  void* place = ::mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  return std::unique_ptr<Page, Unmap>(place == MAP_FAILED ? nullptr : static_cast<Page*>(place));
}

StepNote StepNote::make() {
  constexpr int beyond = 10;  // the numbers that a child gives its descriptors
  StepNote note;
  const io::Descriptor made(::memfd_create("gaussweep step", MFD_CLOEXEC));
  io::Descriptor moved(::fcntl(made.fd(), F_DUPFD_CLOEXEC, beyond));
  if (!moved.open() || ::ftruncate(moved.fd(), sizeof(Page)) != 0) return note;
  note.page_ = page_of(moved.fd());
  note.descriptor_ = std::move(moved);
  return note;
}

StepNote StepNote::of(int descriptor) {
  const io::Descriptor taken(descriptor);
  StepNote note;
  note.page_ = page_of(descriptor);
  return note;
}

void StepNote::write(std::string_view step) {
  if (!page_) return;
  const unsigned next = page_->turn.load(std::memory_order_relaxed) + 1;
  char* word = page_->words[next % 2];
  const std::size_t length = std::min(step.size(), word_bytes - 1);
  std::memcpy(word, step.data(), length);
  word[length] = '\0';
  page_->turn.store(next, std::memory_order_release);
}

std::string StepNote::read() const {
  if (!page_) return {};
  const char* word = page_->words[page_->turn.load(std::memory_order_acquire) % 2];
  return {word, ::strnlen(word, word_bytes)};
}

}  // namespace gaussweep::driver
