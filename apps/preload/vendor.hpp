#pragma once
/// Finds the functions that a program would call without this library.

namespace gaussweep::preload {

/// Returns the vendor's function `name` for a caller at this address: in the libraries that the caller's own
/// library needs, else in the program's, else in a loaded cuSOLVER or cuBLAS. Returns null if none has it.
void* vendors_function(const char* name, const void* caller);

/// Returns true if the address is in cuSOLVER or cuBLAS.
bool is_vendors_code(const void* caller);

/// Calls the vendor's function. @return its status; if there is no such function, 1, which means "not
/// initialised" in cuSOLVER and cuBLAS
template <class... Arguments>
int call_vendor(const char* name, const void* caller, Arguments... arguments) {
  void* const function = vendors_function(name, caller);
  return function == nullptr ? 1 : reinterpret_cast<int (*)(Arguments...)>(function)(arguments...);
}

}  // namespace gaussweep::preload
