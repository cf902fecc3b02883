#pragma once
/// Helpers for the method tables. There is one table per problem: `kernels/<problem>/table.cpp` describes the
/// problem and lists its methods.

#include "kernels/registry/method.hpp"

namespace gaussweep {

/// A problem and its methods.
struct ProblemTable {
  Problem problem;
  std::vector<Method> (*methods)() = nullptr;
};

/// Returns the tables of kernels/ (defined in registry.cpp).
std::vector<ProblemTable> builtin_tables();
/// Returns the tables from which `all_problems` and `builtin_registry` are made. The default definition
/// returns builtin_tables(). A program can define the function itself to add tables.
std::vector<ProblemTable> problem_tables();

/// The entry points (functions) of a portable method for the backends `cuda` and `emulated`.
struct PortableEntries {
  EntryPoints cuda;
  EntryPoints emulated;
};

/// Returns a Method, a row of the registry, with the fields that every method sets.
inline Method make_method(Problem problem, std::string variant, std::string summary, std::string source) {
  Method method;
  method.problem = problem;
  method.needs = problem->needs;
  method.variant = std::move(variant);
  method.summary = std::move(summary);
  method.source = std::move(source);
  return method;
}
/// Marks the method as CPU code.
inline Method on_cpu(Method method, EntryPoints entry) {
  method.backends = {Backend::host};
  method.host = entry;
  return method;
}
/// Marks the method as CUDA code for compute capability `capability` and later (90 means 9.0). The supported
/// CUDA versions generate no code for GPUs before 3.5.
inline Method on_gpu(Method method, EntryPoints entry, int capability = 35) {
  method.capability = capability;
  method.backends = {Backend::cuda};
  method.cuda = entry;
  return method;
}
/// Marks the method as portable: its kernels are compiled for GPUs and, as C++, for the CPU (backend
/// `emulated`).
inline Method portable(Method method, PortableEntries entries, int capability = 35) {
  method.capability = capability;
  method.backends = {Backend::cuda, Backend::emulated};
  method.cuda = entries.cuda;
  method.emulated = entries.emulated;
  return method;
}
/// Marks the method as a call of a vendor library, with which other methods are compared.
inline Method library(Method method) {
  method.vendor = true;
  return method;
}

/// Marks the method as accepting batches of any size.
inline Method in_batches(Method method) {
  method.max_batch = INT32_MAX;
  return method;
}

/// Returns the columns per block of A for methods that call cuSOLVERMg: their parameter `block`, rounded up
/// to a multiple of 32.
inline std::int64_t mg_column_block(const Shape&, const Parameters& parameters) {
  return (parameters.integer("block") + 31) / 32 * 32;
}
/// Marks the method as a call of cuSOLVERMg: A is distributed over the GPUs in block columns. B must be a
/// single block. Blocks may be as narrow as 32 columns; therefore B may have at most 32 columns.
inline Method on_cusolver_mg(Method method, EntryPoints entry) {
  method.parameters = {gpus_parameter(),
                       integer_parameter("block", /*default_value=*/512, /*low=*/32, /*high=*/8192,
                                         "columns per block, a multiple of 32")};
  method.column_block = mg_column_block;
  method.max_nrhs = 32;
  return library(on_gpu(std::move(method), entry));
}

}  // namespace gaussweep

/// Declares the entry points of a method for a table. A portable method is one template in a `.cu` file, in
/// namespace gaussweep::GAUSSWEEP_BACKEND. It is compiled into gaussweep::emulated and, in builds with CUDA,
/// also into gaussweep::cuda. A host method is one template in gaussweep::host.
#define GAUSSWEEP_DECLARE_IN(space, method)                                                      \
  namespace gaussweep::space {                                                                   \
  template <class T>                                                                             \
  void method(::gaussweep::Context&, ::gaussweep::Operands<T>&, const ::gaussweep::Parameters&); \
  extern template void method<float>(::gaussweep::Context&, ::gaussweep::Operands<float>&,       \
                                     const ::gaussweep::Parameters&);                            \
  extern template void method<double>(::gaussweep::Context&, ::gaussweep::Operands<double>&,     \
                                      const ::gaussweep::Parameters&);                           \
  }
#define GAUSSWEEP_ENTRY(space, method)                                    \
  ::gaussweep::EntryPoints {                                              \
    ::gaussweep::space::method<float>, ::gaussweep::space::method<double> \
  }

#ifdef GAUSSWEEP_HAS_CUDA
#define GAUSSWEEP_DECLARE_PORTABLE(method) \
  GAUSSWEEP_DECLARE_IN(emulated, method)   \
  GAUSSWEEP_DECLARE_IN(cuda, method)
#define GAUSSWEEP_DECLARE_CUDA(method) GAUSSWEEP_DECLARE_IN(cuda, method)
#define GAUSSWEEP_CUDA_ENTRY(method) GAUSSWEEP_ENTRY(cuda, method)
#else
#define GAUSSWEEP_DECLARE_PORTABLE(method) GAUSSWEEP_DECLARE_IN(emulated, method)
#define GAUSSWEEP_DECLARE_CUDA(method)
#define GAUSSWEEP_CUDA_ENTRY(method) \
  ::gaussweep::EntryPoints {}
#endif

/// The CUDA and emulated entries of a portable method.
#define GAUSSWEEP_ENTRIES(method)                                   \
  ::gaussweep::PortableEntries {                                    \
    GAUSSWEEP_CUDA_ENTRY(method), GAUSSWEEP_ENTRY(emulated, method) \
  }

#define GAUSSWEEP_INSTANTIATE_FOR(method, T) \
  template void method<T>(::gaussweep::Context&, ::gaussweep::Operands<T>&, const ::gaussweep::Parameters&);
/// Instantiates a method at the end of its file. Files that compile slowly are compiled once per precision
/// (kernels/cuda/CMakeLists.txt).
#if defined(GAUSSWEEP_ONLY_FLOAT)
#define GAUSSWEEP_INSTANTIATE(method) GAUSSWEEP_INSTANTIATE_FOR(method, float)
#elif defined(GAUSSWEEP_ONLY_DOUBLE)
#define GAUSSWEEP_INSTANTIATE(method) GAUSSWEEP_INSTANTIATE_FOR(method, double)
#else
#define GAUSSWEEP_INSTANTIATE(method)      \
  GAUSSWEEP_INSTANTIATE_FOR(method, float) \
  GAUSSWEEP_INSTANTIATE_FOR(method, double)
#endif
