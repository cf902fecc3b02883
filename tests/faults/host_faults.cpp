// Methods on the CPU that crash, hang, leak or return wrong answers, and their rows.
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <list>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

#include "tests/faults/faults.hpp"

namespace gaussweep::faults {
namespace {

/// Solves by elimination without pivoting, column-major and in place; right on the matrices of these tests.
template <class T>
void solve(Operands<T>& op) {
  const std::int64_t n = op.shape.n;
  for (std::int64_t k = 0; k < n; ++k) {
    for (std::int64_t i = k + 1; i < n; ++i) {
      const T factor = op.a.data[i + k * op.a.ld] / op.a.data[k + k * op.a.ld];
      for (std::int64_t j = k; j < n; ++j) op.a.data[i + j * op.a.ld] -= factor * op.a.data[k + j * op.a.ld];
      op.b.data[i] -= factor * op.b.data[k];
    }
  }
  for (std::int64_t i = n - 1; i >= 0; --i) {
    for (std::int64_t j = i + 1; j < n; ++j) op.b.data[i] -= op.a.data[i + j * op.a.ld] * op.b.data[j];
    op.b.data[i] /= op.a.data[i + i * op.a.ld];
  }
}

template <class T>
void none(Context&, Operands<T>& op, const Parameters& p) {
  solve(op);
  std::this_thread::sleep_for(std::chrono::milliseconds(p.integer("milliseconds")));
}
template <class T>
void aborts(Context&, Operands<T>&, const Parameters&) {
  std::abort();
}
template <class T>
void segfaults(Context&, Operands<T>&, const Parameters&) {
  std::signal(SIGSEGV, SIG_DFL);  // a sanitizer would turn the signal into an exit
  ::raise(SIGSEGV);
}
template <class T>
void exits(Context&, Operands<T>&, const Parameters&) {
  ::_exit(0);
}
template <class T>
void hangs(Context&, Operands<T>&, const Parameters&) {
  std::signal(SIGTERM, SIG_IGN);
  for (int second = 0; second < 600; ++second) ::sleep(1);  // far beyond every timeout of these tests
}
template <class T>
void throws(Context&, Operands<T>&, const Parameters& p) {
  throw std::runtime_error("the method threw this" +
                           std::string(static_cast<std::size_t>(p.integer("characters")), '.'));
}
template <class T>
void leaks(Context&, Operands<T>&, const Parameters&) {
  static std::list<std::vector<char>> leaked;
  constexpr std::size_t smallest = std::size_t{16} << 10;
  for (std::size_t bytes = std::size_t{64} << 20; bytes >= smallest; bytes /= 16) {
    try {
      for (int i = 0; i < 1 << 16; ++i) leaked.emplace_back(bytes, 'x');
    } catch (const std::bad_alloc&) {
      if (bytes == smallest) throw;  // not even small blocks are left
    }
  }
}
template <class T>
void gives_nan(Context&, Operands<T>& op, const Parameters&) {
  for (std::int64_t i = 0; i < op.shape.n; ++i) op.b.data[i] = std::numeric_limits<T>::quiet_NaN();
}
template <class T>
void lies(Context&, Operands<T>& op, const Parameters&) {
  solve(op);
  op.b.data[op.shape.n / 2] += 1;
}
template <class T>
void dies_once(Context&, Operands<T>& op, const Parameters&) {
  const char* mark = std::getenv("GAUSSWEEP_FAULT_MARK");
  if (mark == nullptr) throw std::runtime_error("fault_once needs GAUSSWEEP_FAULT_MARK, a file name");
  if (::access(mark, F_OK) != 0) {
    std::ofstream(mark) << "died";
    std::abort();
  }
  solve(op);
}

Method row(const char* variant, const char* summary, EntryPoints entry) {
  Method method;
  method.problem = Problem::named("gesv");
  method.variant = variant;
  method.summary = summary;
  method.source = "tests";
  method.needs = {Need::strongly_regular};
  method.answer = AnswerIn::b;
  method.backends = {Backend::host};
  method.host = entry;
  return method;
}

}  // namespace

std::vector<Method> host_methods() {
  std::vector<Method> rows = {
      row("fault_none", "works", {none<float>, none<double>}),
      row("fault_abort", "calls abort", {aborts<float>, aborts<double>}),
      row("fault_segfault", "segmentation fault", {segfaults<float>, segfaults<double>}),
      row("fault_exit", "exits with status 0", {exits<float>, exits<double>}),
      row("fault_hang", "never returns", {hangs<float>, hangs<double>}),
      row("fault_throw", "throws", {throws<float>, throws<double>}),
      row("fault_leak", "takes memory until none is left", {leaks<float>, leaks<double>}),
      row("fault_nan", "answers NaN", {gives_nan<float>, gives_nan<double>}),
      row("fault_lie", "answers wrongly", {lies<float>, lies<double>}),
      row("fault_once", "aborts the first time", {dies_once<float>, dies_once<double>}),
  };
  rows[0].parameters = {integer_parameter("milliseconds", 0, 0, 3600000, "how long it sleeps")};
  rows[5].parameters = {integer_parameter("characters", 0, 0, 1 << 24, "how many follow its message")};
  return rows;
}

}  // namespace gaussweep::faults
