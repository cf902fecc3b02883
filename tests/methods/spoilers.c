/* Methods that compute the correct answer but leave the process changed, and one that detects such changes. */
#define _GNU_SOURCE
#include <fenv.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "method.h"

/* x = b / a: A is diagonal. x may replace b. */
static int solve(const gaussweep_call *call) {
  const double *a = call->a, *b = call->b;
  double *x = call->x != NULL ? call->x : call->b;
  for (int64_t i = 0; i < call->n; ++i) x[i] = b[i] / a[i + i * call->lda];
  return GAUSSWEEP_OK;
}

static int honest(const gaussweep_call *call) {
  return solve(call);
}

static int rounding(const gaussweep_call *call) {
  fesetround(FE_UPWARD);
  return solve(call);
}

static int traps(const gaussweep_call *call) {
  const int code = solve(call);
  feenableexcept(FE_ALL_EXCEPT);
  return code;
}

static int affinity(const gaussweep_call *call) {
  cpu_set_t set;
  sched_getaffinity(0, sizeof set, &set);
  for (int cpu = 0, seen = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set) && seen++ > 0) CPU_CLR(cpu, &set);
  }
  sched_setaffinity(0, sizeof set, &set);
  return solve(call);
}

static int signals(const gaussweep_call *call) {
  signal(SIGALRM, SIG_IGN);
  return solve(call);
}

static int timer(const gaussweep_call *call) {
  alarm(3600);
  return solve(call);
}

static int directory(const gaussweep_call *call) {
  return chdir("/") != 0 ? 1 : solve(call);
}

static int file_mode(const gaussweep_call *call) {
  umask(0777);
  return solve(call);
}

static volatile unsigned long spins;
static void *spin(void *unused) {
  (void)unused;
  for (;;) ++spins; /* without a sleep */
  return NULL;
}
static int threads(const gaussweep_call *call) {
  static int started = 0;
  pthread_t thread;
  if (!started++ && pthread_create(&thread, NULL, spin, NULL) != 0) return 1;
  return solve(call);
}

/* Forks. The child returns from the method too, and goes on with the worker's code. */
static int forks(const gaussweep_call *call) {
  if (fork() < 0) return 1;
  return solve(call);
}

/* Starts a daemon in its own session, which goes on working after its parent has ended. */
static int daemon_of_own(const gaussweep_call *call) {
  static int started = 0;
  if (!started++ && fork() == 0) {
    setsid();
    if (fork() != 0) _exit(0);
    for (;;) ++spins;
  }
  return solve(call);
}

static int first_cpus;
__attribute__((constructor)) static void count_cpus(void) {
  cpu_set_t set;
  sched_getaffinity(0, sizeof set, &set);
  first_cpus = CPU_COUNT(&set);
}

/* Returns 100 or more if another method's change is still there. */
static int witness(const gaussweep_call *call) {
  struct sigaction action;
  struct itimerval left;
  char path[4096];
  sigaction(SIGALRM, NULL, &action);
  getitimer(ITIMER_REAL, &left);
  const mode_t mask = umask(022);
  umask(mask);
  cpu_set_t set;
  sched_getaffinity(0, sizeof set, &set);
  if (fegetround() != FE_TONEAREST || fegetexcept() != 0) return 100;
  if (CPU_COUNT(&set) != first_cpus) return 101;
  if (action.sa_handler != SIG_DFL) return 102;
  if (left.it_value.tv_sec != 0) return 103;
  if (getcwd(path, sizeof path) == NULL || path[1] == '\0') return 104;
  if (mask == 0777) return 105;
  volatile double subnormal = 1e-310;
  if (subnormal * 0.5 == 0) return 107; /* -ffast-math sets flush to zero when the library is loaded */
  const unsigned long before = spins;
  const struct timespec pause = {0, 20000000};
  nanosleep(&pause, NULL);
  if (spins != before) return 106;
  return solve(call);
}

/* These write outside of an operand or of the workspace of 256 bytes. */
static int behind_a(const gaussweep_call *call) {
  ((double *)call->a)[call->lda * call->n + 59] += 1;
  return solve(call);
}
static int behind_b(const gaussweep_call *call) {
  ((double *)call->b)[call->ldb * call->nrhs + 29] = 0;
  return solve(call);
}
static int before_a(const gaussweep_call *call) {
  ((double *)call->a)[-1] = 0;
  return solve(call);
}
static int wide_info(const gaussweep_call *call) {
  *(int64_t *)call->info = 0;
  return solve(call);
}
static int beyond_answer(const gaussweep_call *call) {
  ((double *)call->x)[call->ldx] = 1;
  return solve(call);
}
static int beyond_workspace(const gaussweep_call *call) {
  ((char *)call->workspace)[call->workspace_bytes] = 1;
  return solve(call);
}
/* Calls a function of this file whose name is also in one of the program's libraries. It must get this file's. */
GAUSSWEEP_EXPORT int openblas_get_num_threads(void) { return -7; }
static int own_names(const gaussweep_call *call) { return openblas_get_num_threads() == -7 ? solve(call) : 6; }

/* Detects whether an earlier repeat of the same timed run has written the answer. */
static int sees_answer(const gaussweep_call *call) {
  const double *x = call->x;
  return x[0] == x[0] ? 5 : solve(call);
}
static size_t workspace(const gaussweep_call *call) { return 8 * (size_t)call->n; /* for n = 5 no multiple of 256 */ }

#define ROW(function) \
  { .name = #function, .problem = "gesv", .host = {.float64 = function} }

static const gaussweep_method methods[] = {
    ROW(honest),
    ROW(rounding),
    ROW(traps),
    ROW(affinity),
    ROW(signals),
    ROW(timer),
    ROW(directory),
    ROW(file_mode),
    ROW(threads),
    ROW(forks),
    ROW(daemon_of_own),
    ROW(witness),
    ROW(beyond_answer),
    ROW(own_names),
    ROW(before_a),
    ROW(wide_info),
    {.name = "behind_a", .problem = "gesv", .host = {.float64 = behind_a}, .answer = 'b'},
    {.name = "behind_b", .problem = "gesv", .host = {.float64 = behind_b}, .answer = 'b'},
    {.name = "sees_answer", .problem = "gesv", .host = {.float64 = sees_answer}, .keeps_inputs = 1},
    {.name = "beyond_workspace",
     .problem = "gesv",
     .host = {.float64 = beyond_workspace},
     .workspace_bytes = workspace},
};

const gaussweep_library *gaussweep_methods(void) {
  static const gaussweep_library library = {GAUSSWEEP_METHOD_VERSION, sizeof methods / sizeof methods[0],
                                            methods};
  return &library;
}
