/// Loads cuBLAS, cuBLASLt, cuSOLVER and cuSOLVERMg on first use, because a process without a GPU must work
/// without them.

#include "kernels/vendor/libraries_cuda.hpp"

#include <dlfcn.h>

#include <string>

#include "kernels/core/errors.hpp"
#include "kernels/device/device.hpp"

// Converts the expansion of a macro to a string.
#define GAUSSWEEP_TEXT_OF(tokens) #tokens
#define GAUSSWEEP_TEXT(macro) GAUSSWEEP_TEXT_OF(macro)

namespace gaussweep {
namespace vendor {
namespace {

/// A shared library, which dlopen finds in LD_LIBRARY_PATH, the build's path or a system folder. It stays
/// loaded until the process ends.
class Library {
 public:
  explicit Library(const char* file) : handle_(dlopen(file, RTLD_NOW | RTLD_LOCAL)) {
    if (handle_ == nullptr) {
      fail(std::string("cannot be loaded (") + dlerror() + "); add the folder that has " + file +
           " to LD_LIBRARY_PATH");
    }
  }
  /// Finds a function. find_optional() sets `function` to null if the library lacks it; find() then throws.
  template <class Function>
  void find_optional(Function*& function, const char* name) const {
    function = reinterpret_cast<Function*>(dlsym(handle_, name));
  }
  template <class Function>
  void find(Function*& function, const char* name) const {
    find_optional(function, name);
    if (function == nullptr) fail(std::string("lacks ") + name + " (" + dlerror() + ")");
  }

 private:
  [[noreturn]] static void fail(const std::string& problem) {
    throw DeviceError("a library of CUDA " + problem, "vendorLibrary", /*is_sticky=*/false);
  }
  void* handle_;
};

// The functions below load a library and find all functions of the lists in libraries_cuda.hpp.

Cublas load_cublas() {
  const Library library("libcublas.so." GAUSSWEEP_TEXT(CUBLAS_VER_MAJOR));
  Cublas found;
#define GAUSSWEEP_FIND(name) library.find(found.name, GAUSSWEEP_TEXT(name));
  GAUSSWEEP_CUBLAS_FUNCTIONS(GAUSSWEEP_FIND)
  library.find(found.cublasGemmEx, "cublasGemmEx");
  library.find(found.cublasGemmStridedBatchedEx, "cublasGemmStridedBatchedEx");
#if CUBLAS_VERSION >= 130100
  library.find_optional(found.cublasSetEmulationStrategy, "cublasSetEmulationStrategy");
#endif
#define GAUSSWEEP_FIND_OPTIONAL(name) library.find_optional(found.name, GAUSSWEEP_TEXT(name));
  GAUSSWEEP_CUBLAS_EMULATION(GAUSSWEEP_FIND_OPTIONAL)
#undef GAUSSWEEP_FIND_OPTIONAL
  return found;
}

CublasLt load_cublas_lt() {
  const Library library("libcublasLt.so." GAUSSWEEP_TEXT(CUBLAS_VER_MAJOR));
  CublasLt found;
  GAUSSWEEP_CUBLASLT_FUNCTIONS(GAUSSWEEP_FIND)
  return found;
}

Cusolver load_cusolver() {
  const Library library("libcusolver.so." GAUSSWEEP_TEXT(CUSOLVER_VER_MAJOR));
  Cusolver found;
  GAUSSWEEP_CUSOLVER_FUNCTIONS(GAUSSWEEP_FIND)
  return found;
}

CusolverMg load_cusolver_mg() {
  const Library library("libcusolverMg.so." GAUSSWEEP_TEXT(CUSOLVER_VER_MAJOR));
  CusolverMg found;
  GAUSSWEEP_CUSOLVER_MG_FUNCTIONS(GAUSSWEEP_FIND)
#undef GAUSSWEEP_FIND
  return found;
}

}  // namespace

const Cublas& cublas_library() {
  static const Cublas library = load_cublas();
  return library;
}

const CublasLt& cublas_lt_library() {
  static const CublasLt library = load_cublas_lt();
  return library;
}

const Cusolver& cusolver_library() {
  static const Cusolver library = load_cusolver();
  return library;
}

const CusolverMg& cusolver_mg_library() {
  static const CusolverMg library = load_cusolver_mg();
  return library;
}

}  // namespace vendor

void load_vendor_libraries() {
  vendor::cublas_library();
  vendor::cusolver_library();
}

}  // namespace gaussweep
