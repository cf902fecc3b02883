#pragma once
/// The macro GAUSSWEEP_SHARED_INLINE marks functions that kernels and host code share.

#ifdef __CUDACC__
#define GAUSSWEEP_SHARED_INLINE __host__ __device__ inline
#else
#define GAUSSWEEP_SHARED_INLINE inline
#endif
