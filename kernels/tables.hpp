#pragma once
/// The registry's tables, one a problem: `kernels/<problem>/table.cpp`, a row a method.

#include "kernels/core/method.hpp"

namespace gaussweep {

std::vector<Method> gemm_methods();
std::vector<Method> trsv_methods();
std::vector<Method> gesv_methods();
std::vector<Method> getrf_methods();
std::vector<Method> potrf_methods();
std::vector<Method> trtri_methods();
std::vector<Method> geinv_methods();
std::vector<Method> poinv_methods();

}  // namespace gaussweep

/// How a table names the entry points of a method. A portable method is one template in a `.cu` file, in
/// namespace gaussweep::GAUSSWEEP_BACKEND, that exists twice in the program: in gaussweep::emulated, and, in
/// builds with CUDA, in gaussweep::cuda. A host method is one template in gaussweep::host.
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
  ::gaussweep::Entry {                                                    \
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
  ::gaussweep::Entry {}
#endif

/// Explicit instantiation at the end of a method's file.
#define GAUSSWEEP_INSTANTIATE(method)                                                 \
  template void method<float>(::gaussweep::Context&, ::gaussweep::Operands<float>&,   \
                              const ::gaussweep::Parameters&);                        \
  template void method<double>(::gaussweep::Context&, ::gaussweep::Operands<double>&, \
                               const ::gaussweep::Parameters&);
