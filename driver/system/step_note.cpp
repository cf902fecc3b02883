/// Keeps the current step of a worker's trial in shared memory, where the supervisor can read it after a
/// crash.

#include "driver/system/step_note.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace gaussweep::driver {

namespace {
constexpr std::size_t text_bytes = 32;
}

/// A double buffer: the reader reads one text while the writer writes the other. A new page is zero, i.e. its
/// texts are empty.
struct StepNote::Page {
  std::atomic<unsigned> latest;
  char texts[2][text_bytes];
};

void StepNote::Unmap::operator()(Page* page) const {
  ::munmap(page, sizeof(Page));
}

std::unique_ptr<StepNote::Page, StepNote::Unmap> StepNote::page_of(int descriptor) {
  struct stat facts {};
  if (::fstat(descriptor, &facts) != 0 || !S_ISREG(facts.st_mode) || facts.st_size != sizeof(Page)) return {};
  void* address = ::mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  return std::unique_ptr<Page, Unmap>(address == MAP_FAILED ? nullptr : static_cast<Page*>(address));
}

StepNote StepNote::make() {
  constexpr int min_descriptor = 10;  // descriptors below this are reserved for the child
  StepNote note;
  const io::Descriptor created(::memfd_create("gaussweep step", MFD_CLOEXEC));
  io::Descriptor duplicate(::fcntl(created.fd(), F_DUPFD_CLOEXEC, min_descriptor));
  if (!duplicate.open() || ::ftruncate(duplicate.fd(), sizeof(Page)) != 0) return note;
  note.page_ = page_of(duplicate.fd());
  note.descriptor_ = std::move(duplicate);
  return note;
}

StepNote StepNote::from_descriptor(int descriptor) {
  const io::Descriptor owned(descriptor);
  StepNote note;
  note.page_ = page_of(descriptor);
  return note;
}

void StepNote::write(std::string_view step) {
  if (!page_) return;
  const unsigned next = page_->latest.load(std::memory_order_relaxed) + 1;
  char* text = page_->texts[next % 2];
  const std::size_t length = std::min(step.size(), text_bytes - 1);
  std::memcpy(text, step.data(), length);
  text[length] = '\0';
  page_->latest.store(next, std::memory_order_release);
}

std::string StepNote::read() const {
  if (!page_) return {};
  const char* text = page_->texts[page_->latest.load(std::memory_order_acquire) % 2];
  return {text, ::strnlen(text, text_bytes)};
}

}  // namespace gaussweep::driver
