#pragma once
/// Methods from shared libraries (kernels/registry/gaussweep_method.h). Only a worker process loads a
/// library. The process that starts the sweep gets the rows (descriptions of the methods, see
/// kernels/registry/method.hpp) from a child process. A library that crashes or hangs can therefore not end a
/// sweep.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kernels/registry/method.hpp"

namespace gaussweep::driver {

/// A shared library, which a worker loads.
struct LibraryFile {
  std::string path;    ///< absolute
  std::string digest;  ///< SHA-256 of the file, in hex
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LibraryFile, path, digest)

/// Adds the rows of libraries to a registry. A child process loads each library and prints its rows. Methods
/// added in this way can be planned, but not run. Libraries whose rows are already in the registry are left
/// out.
/// @throws UsageError naming the library: it cannot be loaded, its table is malformed, or a name is taken
void add_libraries(Registry& registry, const std::vector<std::string>& paths);

/// Returns the libraries of a registry's rows, each once.
std::vector<LibraryFile> libraries_of(const Registry& registry);

/// Returns the rows of a registry's libraries as JSON, for the other ranks and the journal.
nlohmann::json library_rows(const Registry& registry);
/// Adds rows that another process sent or recorded. @throws std::runtime_error if they are malformed or a
/// name is taken
void add_library_rows(Registry& registry, const nlohmann::json& rows);

/// Loads libraries into this process and adds their rows. If a row is already in the registry, only sets its
/// functions.
/// @throws std::runtime_error if a file differs from its digest or cannot be loaded
void load_libraries(Registry& registry, const std::vector<LibraryFile>& libraries);

/// Returns an error text if a file on this host differs from its digest; otherwise an empty text.
std::string library_fault(const std::vector<LibraryFile>& libraries);

/// Loads a library and returns its table of methods as JSON, or {"refused": reason}. The child process of
/// `add_libraries` calls this function.
nlohmann::json library_table(const std::string& path);

}  // namespace gaussweep::driver
