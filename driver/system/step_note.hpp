#pragma once
/// A word that one process notes and another reads, also after the first one's end: a page of memory that
/// both see. A message for it would cost a trial of a millisecond a tenth of its time.

#include <memory>
#include <string>
#include <string_view>

#include "io/files/open_file.hpp"

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

  /// For a child; -1 where there is no page.
  int descriptor() const { return descriptor_.fd(); }
  /// @param step its first 31 characters are kept. By one thread at a time
  void write(std::string_view step);
  /// What was noted last, whole, whenever the writer was stopped; empty: nothing.
  std::string read() const;

 private:
  struct Page;
  struct Unmap {
    void operator()(Page* page) const;
  };
  static std::unique_ptr<Page, Unmap> page_of(int descriptor);
  std::unique_ptr<Page, Unmap> page_;
  io::Descriptor descriptor_;
};

}  // namespace gaussweep::driver
