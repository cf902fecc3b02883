/* A method library with methods that cheat, each in another way, and an honest one. tests/mpi/test_libraries.py
   tests that the program detects each. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "method.h"

/* C = A B for one system. */
static void multiply(const gaussweep_call *call) {
  const double *a = call->a, *b = call->b;
  double *c = call->x;
  for (int64_t j = 0; j < call->n; ++j) {
    for (int64_t i = 0; i < call->m; ++i) {
      double sum = 0;
      for (int64_t k = 0; k < call->k; ++k) sum += a[i + k * call->lda] * b[k + j * call->ldb];
      c[i + j * call->ldx] = sum;
    }
  }
}

static int honest(const gaussweep_call *call) {
  multiply(call);
  return GAUSSWEEP_OK;
}

static int does_nothing(const gaussweep_call *call) {
  (void)call;
  return GAUSSWEEP_OK;
}

/* Returns the answer of an earlier call. */
static int keeps_answer(const gaussweep_call *call) {
  static double *kept = NULL;
  const size_t bytes = (size_t)(call->ldx * call->n) * sizeof(double);
  if (kept != NULL) {
    memcpy(call->x, kept, bytes);
    return GAUSSWEEP_OK;
  }
  multiply(call);
  kept = malloc(bytes);
  memcpy(kept, call->x, bytes);
  return GAUSSWEEP_OK;
}

/* Returns before the answer is complete; another thread completes it. */
static void *later(void *argument) {
  gaussweep_call *call = argument;
  usleep(500);
  multiply(call);
  free(call);
  return NULL;
}
static int goes_on_later(const gaussweep_call *call) {
  gaussweep_call *copy = malloc(sizeof *copy);
  pthread_t thread;
  *copy = *call;
  memset(call->x, 0, (size_t)(call->ldx * call->n) * sizeof(double));
  if (pthread_create(&thread, NULL, later, copy) != 0) return 1;
  pthread_detach(thread);
  return GAUSSWEEP_OK;
}

/* Replaces A and B by 0, whose product costs nothing, although its row says that it keeps them. */
static int changes_inputs(const gaussweep_call *call) {
  memset(call->a, 0, (size_t)(call->lda * call->k) * sizeof(double));
  memset(call->x, 0, (size_t)(call->ldx * call->n) * sizeof(double));
  return GAUSSWEEP_OK;
}

/* Computes in float and returns the result as double. */
static int float_as_double(const gaussweep_call *call) {
  const double *a = call->a, *b = call->b;
  double *c = call->x;
  for (int64_t j = 0; j < call->n; ++j) {
    for (int64_t i = 0; i < call->m; ++i) {
      float sum = 0;
      for (int64_t k = 0; k < call->k; ++k) sum += (float)a[i + k * call->lda] * (float)b[k + j * call->ldb];
      c[i + j * call->ldx] = sum;
    }
  }
  return GAUSSWEEP_OK;
}

/* Solves a triangular system, and adds an error to x that is small enough for the tolerance. */
static int exploits_tolerance(const gaussweep_call *call) {
  const double *a = call->a, *b = call->b;
  double *x = call->x;
  for (int64_t i = 0; i < call->n; ++i) {
    double sum = b[i];
    for (int64_t j = 0; j < i; ++j) sum -= a[i + j * call->lda] * x[j];
    x[i] = sum / a[i + i * call->lda];
  }
  for (int64_t i = 0; i < call->n; ++i) x[i] *= i % 2 == 0 ? 1 + 1e-13 : 1 - 1e-13;
  return GAUSSWEEP_OK;
}

/* Computes at most 64 rows and columns, and sums of at most 64 products. */
static int guesses_size(const gaussweep_call *call) {
  const int64_t n = 64;
  gaussweep_call guessed = *call;
  if (n < call->n) guessed.m = guessed.n = guessed.k = n;
  multiply(&guessed);
  return GAUSSWEEP_OK;
}

/* Is correct for multiples of 32 only: for other orders, it does not compute the last rows. */
static int only_timed_sizes(const gaussweep_call *call) {
  gaussweep_call part = *call;
  part.m = call->m - call->m % 32;
  multiply(&part);
  for (int64_t j = 0; j < call->n; ++j) {
    for (int64_t i = part.m; i < call->m; ++i) ((double *)call->x)[i + j * call->ldx] = 0;
  }
  return GAUSSWEEP_OK;
}

/* A clock that stands still. It replaces the C library's in a program whose symbol lookup finds this library's. */
GAUSSWEEP_EXPORT int clock_gettime(clockid_t clock, struct timespec *now) {
  (void)clock;
  now->tv_sec = 1;
  now->tv_nsec = 0;
  return 0;
}
static int changes_clock(const gaussweep_call *call) {
  usleep(2000);
  multiply(call);
  return GAUSSWEEP_OK;
}

#define ROW(function, of) \
  { .name = #function, .problem = of, .host = {.float64 = function}, .keeps_inputs = 1 }

static const gaussweep_method methods[] = {
    ROW(honest, "gemm"),          ROW(does_nothing, "gemm"),       ROW(keeps_answer, "gemm"),
    ROW(goes_on_later, "gemm"),   ROW(changes_inputs, "gemm"),     ROW(float_as_double, "gemm"),
    ROW(guesses_size, "gemm"),    ROW(exploits_tolerance, "trsv"), ROW(only_timed_sizes, "gemm"),
    ROW(changes_clock, "gemm"),
};

const gaussweep_library *gaussweep_methods(void) {
  static const gaussweep_library library = {GAUSSWEEP_METHOD_VERSION, sizeof methods / sizeof methods[0], methods};
  return &library;
}
