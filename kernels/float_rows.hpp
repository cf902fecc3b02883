#pragma once
/// Macros that declare portable methods which exist only in float, for the method tables. Such a method is a
/// function, not a template. tables.hpp has the macros for methods in both precisions.

#include "kernels/tables.hpp"

#define GAUSSWEEP_DECLARE_FLOAT_IN(space, method)                                                    \
  namespace gaussweep::space {                                                                       \
  void method(::gaussweep::Context&, ::gaussweep::Operands<float>&, const ::gaussweep::Parameters&); \
  }

#ifdef GAUSSWEEP_HAS_CUDA
#define GAUSSWEEP_DECLARE_FLOAT(method)        \
  GAUSSWEEP_DECLARE_FLOAT_IN(emulated, method) \
  GAUSSWEEP_DECLARE_FLOAT_IN(cuda, method)
#define GAUSSWEEP_FLOAT_ENTRIES(method)      \
  ::gaussweep::PortableEntries {             \
    {::gaussweep::cuda::method, nullptr}, {  \
      ::gaussweep::emulated::method, nullptr \
    }                                        \
  }
#else
#define GAUSSWEEP_DECLARE_FLOAT(method) GAUSSWEEP_DECLARE_FLOAT_IN(emulated, method)
#define GAUSSWEEP_FLOAT_ENTRIES(method)      \
  ::gaussweep::PortableEntries {             \
    {}, {                                    \
      ::gaussweep::emulated::method, nullptr \
    }                                        \
  }
#endif
