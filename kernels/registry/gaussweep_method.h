/* gaussweep/method.h: the interface between gaussweep and a shared library that contains methods.
 *
 * Such a library exports one function, gaussweep_methods(), which returns a table with one row per method. The
 * command `gaussweep run plan.yaml --methods ./mine.so` loads the library, and verifies and times its methods like
 * those of gaussweep.
 * This header is C99 and C++, has no dependencies, and needs no library to link. docs/your-kernel.md has examples.
 *
 * Matrices are column-major: element (i, j) is at a[i + j * lda]. In a batch, A of system s begins at column s * n
 * (gemm: s * k), and B and X begin at column s * nrhs (gemm, and an inverse or a factor in X: s * n).
 * All operands of a method's functions `cuda` are in device memory, those of `emulated` and `host` in host memory.
 */
#ifndef GAUSSWEEP_METHOD_H
#define GAUSSWEEP_METHOD_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface. A library of another version is refused. */
#define GAUSSWEEP_METHOD_VERSION 1

/* The values that a function of a method returns. Any other value is an error, which is recorded for the trial (one
 * method on one input).
 * A zero pivot is not an error: write LAPACK's info > 0 to info[0]. */
#define GAUSSWEEP_OK 0
#define GAUSSWEEP_SKIP (-1) /* the method does not take this shape or these parameters; the trial is skipped */

/* The arguments of one run. The inputs are restored before every run, so that a method may overwrite them, unless
 * its row sets `keeps_inputs`. */
typedef struct gaussweep_call {
  int64_t m, n, k; /* gemm: C (m x n) = A (m x k) B (k x n); otherwise n is the order of A */
  int64_t nrhs;    /* columns of B; 1 if the problem has no right-hand sides */
  int64_t batch;   /* systems of this run; 1 unless the row's max_batch allows more */
  char uplo;       /* 'L' or 'U': the triangle, if the problem uses one */
  int element;     /* bytes per matrix element: 4 (float) or 8 (double) */
  void *a, *b, *x; /* A; B or NULL; a third matrix for the answer, or NULL if `answer` is 'a' or 'b' */
  int64_t lda, ldb, ldx;
  int *pivots; /* getrf: n row indices per system, from 0: row i was exchanged with row pivots[i] */
  int *info;   /* LAPACK's info, one per system, 0 at the start; in the same memory as the operands */
  void *workspace; /* `workspace_bytes` bytes, aligned to 256 */
  size_t workspace_bytes;
  void *stream;             /* cuda: the cudaStream_t on which all work must run; otherwise NULL */
  const double *parameters; /* the parameters' values in the row's order; for a choice, its index */
  void (*stage)(void *context, const char *name); /* NULL unless stages are measured; see gaussweep_stage */
  void *context;            /* the first argument of `stage` */
} gaussweep_call;

/* Runs a method once. On a GPU (cuda) it queues one run on the stream. */
typedef int (*gaussweep_function)(const gaussweep_call *call);

typedef struct gaussweep_functions {
  gaussweep_function float32, float64; /* NULL: the method does not take this precision */
} gaussweep_functions;

/* A parameter of a method. A plan (the user's list of trials) sets it by its name. */
typedef struct gaussweep_parameter {
  const char *name; /* consists of a-z, 0-9 and _ */
  const char *help;
  char type;                       /* 'i' integer, 'r' real, 'c' one of `choices` */
  double default_value, low, high; /* integers up to 2^53; 'c': only default_value, an index into `choices` */
  const char *const *choices;      /* ends with NULL; NULL for 'i' and 'r' */
} gaussweep_parameter;

/* One method. All members that are 0 or NULL have the default that the comment names. */
typedef struct gaussweep_method {
  const char *name;    /* consists of a-z, 0-9 and _; no method of gaussweep with the same problem has this name */
  const char *problem; /* gemm, trsv, gesv, posv, getrf, potrf, trtri, geinv, poinv */
  const char *summary; /* one line for `gaussweep methods`; NULL: none */
  const char *const *needs; /* properties that A must have, ends with NULL: spd (symmetric positive definite),
                               strongly_regular (no leading principal minor is 0), diagonally_dominant, triangular,
                               nonzero_elements, nonzero_diagonal; NULL: none */
  gaussweep_functions cuda, emulated, host; /* per backend; `emulated` is a stand-in for cuda on the CPU; `host`
                                               is only for rows without the other two */
  int capability;        /* the least compute capability, 80 for 8.0; 0: any */
  char answer;           /* the operand that receives the answer: 'a', 'b' or 'x'; 0: 'x' */
  int keeps_inputs;      /* 1: the method does not change A and B, which are then not restored before every run */
  int mixed_precision;   /* 1: part of the work is in a lower precision, so the rate may exceed the peak */
  char unit_diagonal;    /* getrf: the factor with the unit diagonal, 'L' or 'U'; 0: 'L' */
  int64_t max_nrhs;      /* the largest nrhs that the method takes; 0: any number */
  int64_t max_batch;     /* the largest batch that the method takes; 0: 1 */
  int parameter_count;
  const gaussweep_parameter *parameters;
  size_t (*workspace_bytes)(const gaussweep_call *call); /* reads only sizes, element, parameters; NULL: none */
} gaussweep_method;

typedef struct gaussweep_library {
  int version; /* GAUSSWEEP_METHOD_VERSION */
  int method_count;
  const gaussweep_method *methods;
} gaussweep_library;

#if defined(_WIN32)
#define GAUSSWEEP_EXPORT __declspec(dllexport)
#else
#define GAUSSWEEP_EXPORT __attribute__((visibility("default")))
#endif

/* The function that a library defines. The table must stay valid as long as the process runs. */
GAUSSWEEP_EXPORT const gaussweep_library *gaussweep_methods(void);

/* Begins a stage, e.g. "factor", which ends at the next stage or with the run. In timed runs it does nothing. */
static inline void gaussweep_stage(const gaussweep_call *call, const char *name) {
  if (call->stage != NULL) call->stage(call->context, name);
}

#ifdef __cplusplus
}
#endif

#endif
