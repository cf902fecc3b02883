/// Finds the functions that a program would call without this library.

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
  static const int own_data = 0;
  return dladdr(function, &found) != 0 && dladdr(&own_data, &own) != 0 && found.dli_fbase == own.dli_fbase;
}

/// Returns a function of a loaded library or of the libraries that it needs; null if there is none.
void* function_of(const char* library, const char* name) {
  void* const handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return nullptr;
  void* const function = dlsym(handle, name);
  dlclose(handle);  // the library stays loaded, because RTLD_NOLOAD finds only loaded ones
  return function == nullptr || is_own(function) ? nullptr : function;
}

/// Searches for the vendor's function, see vendors_function.
void* look_up(const char* name, const void* caller) {
  Dl_info location;
  if (dladdr(caller, &location) != 0 && location.dli_fname != nullptr) {
    if (void* const function = function_of(location.dli_fname, name)) return function;
  }
  if (void* const function = dlsym(RTLD_NEXT, name)) return function;
  for (const char* const library :
       {"libcusolver.so.12", "libcusolver.so.11", "libcublas.so.13", "libcublas.so.12", "libcublas.so.11"}) {
    if (void* const function = function_of(library, name)) return function;
  }
  return nullptr;
}

/// A cache of results per call site. The search for an address in a large library takes longer than a small
/// factorisation, and its result does not change.
template <class Key, class Value>
class CallSiteCache {
 public:
  template <class Find>
  Value get(const Key& key, Find find) {
    {
      const std::shared_lock<std::shared_mutex> lock(access_);
      if (const auto found = values_.find(key); found != values_.end()) return found->second;
    }
    const Value value = find();
    const std::unique_lock<std::shared_mutex> lock(access_);
    if (values_.size() < 4096) values_.emplace(key, value);
    return value;
  }

 private:
  std::shared_mutex access_;
  std::map<Key, Value> values_;
};

}  // namespace

void* vendors_function(const char* name, const void* caller) {
  static auto& cache =
      *new CallSiteCache<std::pair<std::string, const void*>, void*>;  // never destroyed: calls at exit
  return cache.get({name, caller}, [&] { return look_up(name, caller); });
}

bool is_vendors_code(const void* caller) {
  static auto& cache = *new CallSiteCache<const void*, bool>;
  return cache.get(caller, [&] {
    Dl_info location;
    if (dladdr(caller, &location) == 0 || location.dli_fname == nullptr) return false;
    const std::string library = location.dli_fname;
    return library.find("libcusolver") != std::string::npos || library.find("libcublas") != std::string::npos;
  });
}

}  // namespace gaussweep::preload
