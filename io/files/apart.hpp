#pragma once
/// Files from elsewhere read in a child process: a crash or a hang of the library that reads them is an
/// InputError of this process.

#include <exception>
#include <filesystem>
#include <string>

#include "io/files/child.hpp"
#include "io/files/errors.hpp"

namespace gaussweep::io {

/// What `read()` gives, called in a child, sent by `put(ChildOutput&, result)`, taken by `get(Child&)`.
/// @pre no rank of MPI, no CUDA
/// @param seconds that it may take
/// @param before, after what stands around the words of a child that died: the file's name, what was expected
/// @throws InputError as `read`, and where the child crashed or its time was over; std::runtime_error where
/// `read` threw anything else
template <class Read, class Put, class Get>
auto read_apart(double seconds, const std::string& before, const std::string& after, const Read& read,
                const Put& put, const Get& get) -> decltype(read()) {
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
  } catch (const ChildFailed& failure) {
    throw InputError(before + "it is damaged: the HDF5 library, reading it, " + failure.what() + after);
  }
}

/// MiB of a file; 0 where there is none.
inline double mib_of(const std::filesystem::path& path) {
  std::error_code error;
  const auto bytes = static_cast<double>(std::filesystem::file_size(path, error));
  return error ? 0 : bytes / 0x1p20;
}

}  // namespace gaussweep::io
