#include "apps/preload/vendor.hpp"

#include <dlfcn.h>

#include <map>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <utility>

namespace gaussweep::preload {
namespace {

/// Returns true if the function belongs to this library.
bool is_own(const void* function) {
  Dl_info found, own;
  static const int here = 0;
  return dladdr(function, &found) != 0 && dladdr(&here, &own) != 0 && found.dli_fbase == own.dli_fbase;
}

/// Returns a function of a loaded library or of the libraries that it needs; null if there is none.
void* function_of(const char* library, const char* name) {
  void* const handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return nullptr;
  void* const function = dlsym(handle, name);
  dlclose(handle);  // the library stays: others have loaded it
  return function == nullptr || is_own(function) ? nullptr : function;
}

void* look_up(const char* name, const void* caller) {
  Dl_info place;
  if (dladdr(caller, &place) != 0 && place.dli_fname != nullptr) {
    if (void* const function = function_of(place.dli_fname, name)) return function;
  }
  if (void* const function = dlsym(RTLD_NEXT, name)) return function;
  for (const char* const library : {"libcusolver.so.12", "libcusolver.so.11", "libcusolver.so.10"}) {
    if (void* const function = function_of(library, name)) return function;
  }
  return nullptr;
}

}  // namespace

void* vendors_function(const char* name, const void* caller) {
  // Searching a large library for an address takes longer than a small factorisation. A call site always gets
  // the same function. Never destroyed: calls may come at exit.
  static auto& known = *new std::map<std::pair<std::string, const void*>, void*>;
  static auto& access = *new std::shared_mutex;
  const std::pair<std::string, const void*> site(name, caller);
  {
    const std::shared_lock<std::shared_mutex> lock(access);
    if (const auto found = known.find(site); found != known.end()) return found->second;
  }
  void* const function = look_up(name, caller);
  const std::unique_lock<std::shared_mutex> lock(access);
  if (function != nullptr && known.size() < 4096) known.emplace(site, function);
  return function;
}

}  // namespace gaussweep::preload
