#pragma once
/// Reads untrusted files in a child process. If the library that reads a file crashes or hangs, this process
/// gets an InputError.

#include <exception>
#include <filesystem>
#include <string>

#include "io/files/child.hpp"
#include "io/files/errors.hpp"

namespace gaussweep::io {

/// Calls `read()` in a child process and returns its result. The child sends the result with
/// `put(ChildOutput&, result)`, and this process receives it with `get(Child&)`.
/// @pre this process, which forks, is no MPI rank and does not use CUDA
/// @param seconds time limit
/// @param before, after texts around the error message of a failed child: `before` names the file, `after`
/// the expected format
/// @throws InputError if `read` throws it, or if the child crashed or timed out; std::runtime_error if `read`
/// threw another exception, or if no child could be started
template <class Read, class Put, class Get>
auto read_in_child(double seconds, const std::string& before, const std::string& after, const Read& read,
                   const Put& put, const Get& get) -> decltype(read()) {
  // Sent first: `read` returned, threw InputError, or threw another exception.
  enum Outcome : std::int64_t { done, refused, failed };
  const auto work = [&](ChildOutput& out) {
    decltype(read()) result;
    try {
      result = read();
    } catch (const std::exception& error) {
      out.put(dynamic_cast<const InputError*>(&error) != nullptr ? refused : failed);
      out.put(std::string(error.what()));
      return;
    }
    out.put(done);
    put(out, result);
  };
  try {
    Child child(work, seconds);
    const std::int64_t outcome = child.integer();
    if (outcome == done) return get(child);
    const std::string why = child.text();
    if (outcome == refused) throw InputError(why);
    throw std::runtime_error(before + why);
  } catch (const NoChild& error) {
    throw std::runtime_error(before + "no process could be started to read it: " + error.what());
  } catch (const ChildFailed& failure) {
    throw InputError(before + "it is damaged: the HDF5 library, reading it, " + failure.what() + after);
  }
}

/// Returns the size of a file in MiB; 0 if there is none.
inline double mib_of(const std::filesystem::path& path) {
  std::error_code error;
  const auto bytes = static_cast<double>(std::filesystem::file_size(path, error));
  return error ? 0 : bytes / 0x1p20;
}

}  // namespace gaussweep::io
