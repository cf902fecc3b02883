/// A method library that offers the built-in methods as `plugin_<variant>`. With it,
/// tests/mpi/test_libraries.py tests that the program does not call a correct method of a library wrong or a
/// cheat.

#include <array>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#ifdef GAUSSWEEP_HAS_CUDA
#include <cuda_runtime_api.h>
#endif

#include "kernels/core/errors.hpp"
#include "kernels/device/callers_stream.hpp"
#include "kernels/registry/gaussweep_method.h"
#include "kernels/registry/method.hpp"
#include "kernels/staging/method_run.hpp"

namespace gaussweep {
namespace {

constexpr std::size_t max_rows = 256;

/// Returns true if the method has code for the GPU that takes column-major operands, as the interface gives
/// them.
bool is_for_gpu(const Method& method) {
  return method.cuda && method.layout == Layout::column_major;
}

/// Returns the built-in methods that this library offers: all except those that use several devices, and
/// those that run only on a GPU with another layout than column-major.
const std::vector<Method>& offered() {
  static const std::vector<Method> methods = [] {
    const Registry registry = builtin_registry();
    std::vector<Method> all;
    for (const Method& method : registry.all()) {
      if (method.column_block == nullptr && (method.emulated || method.host || is_for_gpu(method)))
        all.push_back(method);
    }
    return all;
  }();
  return methods;
}

/// Returns the operand into which the answer goes. Methods with another layout compute on copies, so for them
/// it is X.
AnswerIn answer_of(const Method& method) {
  return method.layout == Layout::column_major ? method.answer : AnswerIn::x;
}

/// Returns the parameters of a call, which passes them as numbers in the order of the method's list. A choice
/// is passed as its index.
Parameters values_of(const Method& method, const gaussweep_call& call) {
  Parameters values = defaults(method.parameters);
  const double* next = call.parameters;
  for (const Parameter& each : method.parameters) {
    const double value = *next++;
    if (!each.choices.empty()) {
      values.set(each.name, each.choices.at(static_cast<std::size_t>(value)));
    } else if (std::holds_alternative<std::int64_t>(each.default_value)) {
      values.set(each.name, static_cast<std::int64_t>(value));
    } else {
      values.set(each.name, value);
    }
  }
  return values;
}

/// Passes a method's stages on to the caller.
class Forwarder : public StageSink {
 public:
  explicit Forwarder(const gaussweep_call& call) : call_(call) {}
  void mark(std::string_view name) override { gaussweep_stage(&call_, std::string(name).c_str()); }
  void launched(double /*occupancy*/) override {}

 private:
  const gaussweep_call& call_;
};

template <class T>
HostMatrix<T> copy_of(const void* data, std::int64_t ld, const Extent& extent) {
  HostMatrix<T> copy(extent.rows, extent.cols);
  for (std::int64_t j = 0; j < extent.cols; ++j)
    std::copy_n(static_cast<const T*>(data) + j * ld, extent.rows, &copy(0, j));
  return copy;
}

/// Writes the elements of the answer that the problem uses.
template <class T>
void write(const HostMatrix<T>& x, const Method& method, const Shape& shape, T* to, std::int64_t ld) {
  const bool all = method.problem->used_of_x == UsedElements::all;
  for (std::int64_t j = 0; j < x.cols; ++j) {
    for (std::int64_t i = 0; i < x.rows; ++i) {
      const std::int64_t column = j % shape.n;
      if (all || (shape.uplo == Uplo::lower ? i >= column : i <= column)) to[i + j * ld] = x(i, j);
    }
  }
}

Shape shape_of(const gaussweep_call& call) {
  return {call.m, call.n, call.k, call.nrhs, call.uplo == 'L' ? Uplo::lower : Uplo::upper, call.batch};
}

#ifdef GAUSSWEEP_HAS_CUDA
/// A device on the call's stream. The calls of a stream share it, because its first use allocates.
struct StreamContext {
  explicit StreamContext(void* stream)
      : device(make_cuda_device_on(current_gpu(), stream)), context(*device) {}
  static int current_gpu() {
    int gpu = 0;
    if (cudaGetDevice(&gpu) != cudaSuccess) throw std::runtime_error("no current GPU");
    return gpu;
  }
  std::unique_ptr<Device> device;
  Context context;
};

template <class T>
int run_on_gpu(const Method& method, const gaussweep_call& call) {
  // Never destroyed, because CUDA may shut down before static objects are destroyed.
  static auto& contexts = *new std::map<void*, StreamContext>;
  const Shape shape = shape_of(call);
  const Parameters parameters = values_of(method, call);
  if (method.accepts != nullptr && !method.accepts(shape, parameters)) return GAUSSWEEP_SKIP;
  const auto view = [](void* data, const Extent& extent, std::int64_t ld) {
    return MatrixView<T>{static_cast<T*>(data), extent.rows, extent.cols, ld};
  };
  Operands<T> op;
  op.shape = shape;
  op.a = view(call.a, method.problem->a(shape), call.lda);
  if (method.problem->second != SecondOperand::none) op.b = view(call.b, method.problem->b(shape), call.ldb);
  if (method.answer == AnswerIn::x) op.x = view(call.x, method.problem->x(shape), call.ldx);
  op.pivots = call.pivots;
  op.info = call.info;
  op.workspace = Workspace(call.workspace, call.workspace_bytes);
  Context& context = contexts.try_emplace(call.stream, call.stream).first->second.context;
  Forwarder stages(call);
  context.stages = call.stage != nullptr ? &stages : nullptr;
  method.cuda.get<T>()(context, op, parameters);
  context.stages = nullptr;
  return GAUSSWEEP_OK;
}
#endif

template <class T>
int run(const Method& method, Backend backend, const gaussweep_call& call) {
#ifdef GAUSSWEEP_HAS_CUDA
  if (backend == Backend::cuda) return run_on_gpu<T>(method, call);
#endif
  const Shape shape = shape_of(call);
  const Parameters parameters = values_of(method, call);
  if (method.accepts != nullptr && !method.accepts(shape, parameters)) return GAUSSWEEP_SKIP;
  Inputs<T> inputs;
  inputs.shape = shape;
  inputs.a = copy_of<T>(call.a, call.lda, method.problem->a(shape));
  if (method.problem->second != SecondOperand::none)
    inputs.b = copy_of<T>(call.b, call.ldb, method.problem->b(shape));
  const std::unique_ptr<Device> device = make_host_device(backend, nullptr);
  Context context(*device);
  MethodRun<T> run(context, method, backend, parameters, shape);
  run.upload(inputs);
  Forwarder stages(call);
  run.observed_run(stages);
  const Answer<T> answer = run.download();
  const AnswerIn in = answer_of(method);
  void* const to = in == AnswerIn::a ? call.a : in == AnswerIn::b ? call.b : call.x;
  write(answer.x, method, shape, static_cast<T*>(to),
        in == AnswerIn::a   ? call.lda
        : in == AnswerIn::b ? call.ldb
                            : call.ldx);
  if (!answer.pivots.empty()) std::copy(answer.pivots.begin(), answer.pivots.end(), call.pivots);
  call.info[0] = static_cast<int>(answer.info);
  std::copy(answer.infos.begin(), answer.infos.end(), call.info);
  return GAUSSWEEP_OK;
}

/// The function of the interface for one method. The index is a template argument, because a function pointer
/// can carry no data.
template <std::size_t row, Backend backend, class T>
int entry(const gaussweep_call* call) {
  try {
    return run<T>(offered()[row], backend, *call);
  } catch (const NotOffered&) {
    return GAUSSWEEP_SKIP;
  } catch (const std::exception&) {
    return 1;
  }
}

/// Returns the bytes of workspace that the method's code for the GPU needs.
template <std::size_t row>
std::size_t workspace(const gaussweep_call* call) {
  const Method& method = offered()[row];
  return method.workspace_bytes(shape_of(*call), values_of(method, *call),
                                static_cast<std::size_t>(call->element));
}

struct Functions {
  gaussweep_functions cuda, emulated, host;
  std::size_t (*workspace)(const gaussweep_call*);
};
template <std::size_t... rows>
std::array<Functions, sizeof...(rows)> functions(std::index_sequence<rows...> /*rows*/) {
  return {Functions{{entry<rows, Backend::cuda, float>, entry<rows, Backend::cuda, double>},
                    {entry<rows, Backend::emulated, float>, entry<rows, Backend::emulated, double>},
                    {entry<rows, Backend::host, float>, entry<rows, Backend::host, double>},
                    workspace<rows>}...};
}

/// Returns the functions for the precisions that the entry has.
gaussweep_functions functions_of(const EntryPoints& entry, const gaussweep_functions& all) {
  return {entry.float32 ? all.float32 : nullptr, entry.float64 ? all.float64 : nullptr};
}

/// The rows of gaussweep_methods(), and the strings and lists to which their pointers point.
struct Table {
  std::deque<std::string> names;
  std::deque<std::vector<const char*>> lists;
  std::deque<std::vector<gaussweep_parameter>> parameters;
  std::vector<gaussweep_method> rows;

  const char* text(std::string name) { return names.emplace_back(std::move(name)).c_str(); }
  const char* const* list(const std::vector<std::string>& all) {
    std::vector<const char*>& pointers = lists.emplace_back();
    for (const std::string& each : all) pointers.push_back(text(each));
    pointers.push_back(nullptr);
    return pointers.data();
  }

  gaussweep_parameter parameter(const Parameter& from) {
    gaussweep_parameter to{};
    to.name = text(from.name);
    to.low = from.low;
    to.high = from.high;
    if (!from.choices.empty()) {
      to.type = 'c';
      to.choices = list(from.choices);
      while (from.choices[static_cast<std::size_t>(to.default_value)] !=
             std::get<std::string>(from.default_value))
        ++to.default_value;
    } else if (const auto* integer = std::get_if<std::int64_t>(&from.default_value)) {
      to.type = 'i';
      to.default_value = static_cast<double>(*integer);
    } else {
      to.type = 'r';
      to.default_value = std::get<double>(from.default_value);
    }
    return to;
  }

  void add(const Method& method, const Functions& all) {
    gaussweep_method row{};
    row.name = text("plugin_" + method.variant);
    row.problem = text(std::string(to_string(method.problem)));
    std::vector<std::string> needs;
    for (const Need need : method.needs) needs.emplace_back(to_string(need));
    row.needs = list(needs);
    if (is_for_gpu(method)) {
      row.cuda = functions_of(method.cuda, all.cuda);
      if (method.workspace_bytes != nullptr) row.workspace_bytes = all.workspace;
    }
    row.capability = method.capability;
    row.emulated = functions_of(method.emulated, all.emulated);
    row.host = functions_of(method.host, all.host);
    const AnswerIn in = answer_of(method);
    row.answer = in == AnswerIn::a ? 'a' : in == AnswerIn::b ? 'b' : 'x';
    row.keeps_inputs = in == AnswerIn::x && !(is_for_gpu(method) && method.overwrites) ? 1 : 0;
    row.mixed_precision = method.mixed_precision ? 1 : 0;
    row.unit_diagonal = method.unit_diagonal == UnitDiagonal::upper ? 'U' : 'L';
    row.max_nrhs = method.max_nrhs;
    row.max_batch = method.max_batch;
    std::vector<gaussweep_parameter>& declared = parameters.emplace_back();
    for (const Parameter& each : method.parameters) declared.push_back(parameter(each));
    row.parameter_count = static_cast<int>(declared.size());
    row.parameters = declared.data();
    rows.push_back(row);
  }
};

}  // namespace
}  // namespace gaussweep

extern "C" const gaussweep_library* gaussweep_methods() {
  using namespace gaussweep;
  static Table table;
  static gaussweep_library library{GAUSSWEEP_METHOD_VERSION, 0, nullptr};
  if (table.rows.empty()) {
    static const auto all = functions(std::make_index_sequence<max_rows>());
    for (std::size_t i = 0; i < offered().size(); ++i) table.add(offered()[i], all.at(i));
    library.method_count = static_cast<int>(table.rows.size());
    library.methods = table.rows.data();
  }
  return &library;
}
