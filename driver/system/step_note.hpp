#pragma once
/// The current step of a worker's trial, as a short text in shared memory. A worker is a child process that
/// runs trials. Its parent, the supervisor, reads the text to report in which step a trial crashed, even
/// after the worker's end. Sending a message per step would take a tenth of the time of a 1 ms trial.

#include <memory>
#include <string>
#include <string_view>

#include "io/files/open_file.hpp"

namespace gaussweep::driver {

/// One process's mapping of the shared memory page. The parent process reads it, and owns the descriptor that
/// its child inherits.
class StepNote {
 public:
  /// A note without a page: `write` does nothing and `read` returns an empty text.
  StepNote() = default;
  /// Creates a page. Returns a note without a page if the system provides none.
  static StepNote make();
  /// Maps the page of an inherited descriptor, and closes the descriptor. Returns a note without a page if
  /// the descriptor is -1 or does not belong to such a page.
  static StepNote from_descriptor(int descriptor);

  /// Returns the descriptor for a child; -1 without a page.
  int descriptor() const { return descriptor_.fd(); }
  /// Writes the step. Only one thread may write at a time. @param step truncated to 31 characters
  void write(std::string_view step);
  /// Returns the last text that was written completely; empty if there is none.
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
