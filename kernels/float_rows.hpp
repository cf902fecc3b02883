#pragma once
/// Macros for method tables: declare portable methods that exist only in float. tables.hpp has the macros for
/// methods in both precisions. A method in float is a function, not a template.

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
