#pragma once
/// A word that one process notes and another reads, also after the first one's end: a page of memory that
/// both see. A message for it would cost a trial of a millisecond a tenth of its time.

#include <string>
#include <string_view>

namespace gaussweep::driver {

/// Owns its view of the page, and on the reader's side the descriptor that a child gets.
class StepNote {
 public:
  /// Without a page: what is noted is lost, and nothing is read.
  StepNote() = default;
  /// A page of its own. Where the system gives none, as the one above.
  static StepNote make();
  /// That of a descriptor that somebody else made; the descriptor is closed. -1, or none of its kind: as the
  /// one above.
  static StepNote of(int descriptor);
  ~StepNote();
  StepNote(StepNote&& other) noexcept { swap(other); }
  StepNote& operator=(StepNote&& other) noexcept {
    StepNote moved(std::move(other));
    swap(moved);
    return *this;
  }
  StepNote(const StepNote&) = delete;
  StepNote& operator=(const StepNote&) = delete;

  /// For a child; -1 where there is no page.
  int descriptor() const { return descriptor_; }
  /// @param step its first 31 characters are kept. By one thread at a time
  void write(std::string_view step);
  /// What was noted last, whole, whenever the writer was stopped; empty: nothing.
  std::string read() const;

 private:
  struct Page;
  void swap(StepNote& other) noexcept {
    std::swap(page_, other.page_);
    std::swap(descriptor_, other.descriptor_);
  }
  Page* page_ = nullptr;
  int descriptor_ = -1;
};

}  // namespace gaussweep::driver
