/// Loads methods from a user's shared library, which exports the table of registry/gaussweep_method.h.

#include "kernels/registry/library.hpp"

#include <dlfcn.h>
#include <fenv.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <fstream>
#include <stdexcept>

#include "kernels/core/errors.hpp"
#include "kernels/registry/gaussweep_method.h"

namespace gaussweep {
namespace {

// Limits for the entries of a library's table, and for the workspace that a method requests. Larger values
// are rejected as mistakes.
constexpr std::size_t max_text_bytes = 200, max_needs = 16, max_choices = 64;
constexpr int max_rows = 1000, max_parameters = 32;
constexpr double max_exact_integer = 9007199254740992.0;  // 2^53
constexpr std::size_t max_workspace = std::size_t{1} << 50;

/// With RTLD_DEEPBIND a library calls the functions that it is linked to, e.g. MKL's dgemm_, instead of
/// functions of the same name in this program's libraries. The sanitizers do not support this flag.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int symbol_scope = 0;
#else
constexpr int symbol_scope = RTLD_DEEPBIND;
#endif

/// Restores the floating-point mode (rounding, flush to zero, traps) on destruction, because code of a
/// library may change it. A library that is linked with -ffast-math sets flush to zero when it is loaded.
class FloatingPointMode {
 public:
  FloatingPointMode() { ::fegetmode(&mode_); }
  ~FloatingPointMode() { ::fesetmode(&mode_); }
  FloatingPointMode(const FloatingPointMode&) = delete;
  FloatingPointMode& operator=(const FloatingPointMode&) = delete;

 private:
  ::femode_t mode_{};
};

/// Returns the error "<where>: <what>"; `where` names a row of the table, and perhaps a member.
std::runtime_error fault(const std::string& where, const std::string& what) {
  return std::runtime_error(where + ": " + what);
}

/// Returns a checked text of the table. `where` names its row and member in messages.
/// @throws std::runtime_error if it has more than `max_text_bytes` bytes or a control character
std::string text_of(const char* text, const std::string& where) {
  const std::size_t length = strnlen(text, max_text_bytes + 1);
  if (length > max_text_bytes)
    throw fault(where, "the text has more than " + std::to_string(max_text_bytes) + " bytes, the limit");
  for (const char* c = text; c != text + length; ++c) {
    if (static_cast<unsigned char>(*c) < ' ') throw fault(where, "the text has a control character");
  }
  return {text, length};
}

std::string required(const char* text, const std::string& where) {
  if (text == nullptr) throw fault(where, "is NULL; allowed: a text");
  return text_of(text, where);
}

/// Returns the texts of a list that ends with NULL; empty if the list itself is NULL.
std::vector<std::string> list_of(const char* const* list, std::size_t max_texts, const std::string& where) {
  std::vector<std::string> all;
  for (std::size_t i = 0; list != nullptr && list[i] != nullptr; ++i) {
    if (i == max_texts)
      throw fault(where, "no NULL after " + std::to_string(max_texts) + " texts, which is the limit");
    all.push_back(text_of(list[i], where));
  }
  return all;
}

void require_flag(int value, const std::string& where) {
  if (value != 0 && value != 1) throw fault(where, "is " + std::to_string(value) + "; allowed: 0, 1");
}

/// Converts parameter `number` (from 1) of a row. @throws std::runtime_error if it is malformed
Parameter parameter_of(const gaussweep_parameter& from, const std::string& row_name, int number) {
  std::string where = row_name + ", parameter " + std::to_string(number);
  std::string name = required(from.name, where + ": name");
  where += " ('" + name + "')";
  std::string help = from.help == nullptr ? "" : text_of(from.help, where + ": help");
  switch (from.type) {
    case 'i':
      for (const double value : {from.default_value, from.low, from.high}) {
        if (!(std::abs(value) <= max_exact_integer) || value != std::floor(value))
          throw fault(where, "default, low or high is not an integer of at most 2^53");
      }
      return integer_parameter(std::move(name), static_cast<std::int64_t>(from.default_value),
                               static_cast<std::int64_t>(from.low), static_cast<std::int64_t>(from.high),
                               std::move(help));
    case 'r':
      for (const double value : {from.default_value, from.low, from.high}) {
        if (!std::isfinite(value)) throw fault(where, "default, low or high is not finite");
      }
      return real_parameter(std::move(name), from.default_value, from.low, from.high, std::move(help));
    case 'c': {
      std::vector<std::string> choices = list_of(from.choices, max_choices, where + ": choices");
      const auto count = static_cast<double>(choices.size());
      if (choices.empty()) throw fault(where, "has no choices");
      if (!(from.default_value >= 0 && from.default_value < count) ||
          from.default_value != std::floor(from.default_value))
        throw fault(where, "the default is not an index into the choices");
      Parameter parameter = choice_parameter(std::move(name), std::move(choices), std::move(help));
      parameter.default_value = parameter.choices[static_cast<std::size_t>(from.default_value)];
      return parameter;
    }
    default:
      throw fault(where, "the type has code " + std::to_string(from.type) +
                             "; allowed: 'i' (integer), 'r' (real), 'c' (choice)");
  }
}

/// Returns the values of the parameters in the order of `declared`; a choice is represented by its index.
std::vector<double> values_of(const std::vector<Parameter>& declared, const Parameters& parameters) {
  std::vector<double> values;
  for (const Parameter& parameter : declared) {
    if (std::holds_alternative<std::int64_t>(parameter.default_value)) {
      values.push_back(static_cast<double>(parameters.integer(parameter.name)));
    } else if (std::holds_alternative<double>(parameter.default_value)) {
      values.push_back(parameters.real(parameter.name));
    } else {
      const auto& all = parameter.choices;
      const auto chosen = std::find(all.begin(), all.end(), parameters.choice(parameter.name));
      values.push_back(static_cast<double>(chosen - all.begin()));
    }
  }
  return values;
}

/// Returns a call with the sizes and parameters of a trial, but without operands.
gaussweep_call call_of(const Shape& shape, std::size_t element_bytes, const std::vector<double>& values) {
  gaussweep_call call{};
  call.m = shape.m;
  call.n = shape.n;
  call.k = shape.k;
  call.nrhs = shape.nrhs;
  call.batch = shape.batch;
  call.uplo = shape.uplo == Uplo::lower ? 'L' : 'U';
  call.element = static_cast<int>(element_bytes);
  call.parameters = values.data();
  return call;
}

/// The function gaussweep_call::stage.
void begin_stage(void* context, const char* name) {
  if (name != nullptr) static_cast<Context*>(context)->stage({name, strnlen(name, max_text_bytes)});
}

using WorkspaceBytes = decltype(Method::workspace_bytes);

/// Returns the function by which the registry runs a library's function; null if the library has none.
template <class T>
Run<T> run_of(gaussweep_function function, const Method& row,
              decltype(gaussweep_method::workspace_bytes) workspace_bytes) {
  if (function == nullptr) return nullptr;
  return [function, id = row.id(), declared = row.parameters, workspace_bytes](
             Context& context, Operands<T>& op, const Parameters& parameters) {
    const std::vector<double> values = values_of(declared, parameters);
    gaussweep_call call = call_of(op.shape, sizeof(T), values);
    call.a = op.a.data;
    call.b = op.b.data;
    call.x = op.x.data;
    call.lda = op.a.ld;
    call.ldb = op.b.ld;
    call.ldx = op.x.ld;
    call.pivots = op.pivots;
    call.info = op.info;
    if (workspace_bytes != nullptr) {
      call.workspace_bytes = workspace_bytes(&call);
      call.workspace = op.workspace.template take<char>(static_cast<std::int64_t>(call.workspace_bytes));
    }
    call.stream = context.device.stream();
    if (context.stages != nullptr) call.stage = begin_stage;
    call.context = &context;
    const int code = [&] {
      const FloatingPointMode restored;
      return function(&call);
    }();
    if (code == GAUSSWEEP_SKIP) throw NotOffered(id + " does not take this shape or these parameters");
    if (code != GAUSSWEEP_OK) throw std::runtime_error(id + " returned the error " + std::to_string(code));
  };
}

EntryPoints entry_points_of(const gaussweep_functions& functions, const Method& row,
                            const gaussweep_method& from) {
  return {run_of<float>(functions.float32, row, from.workspace_bytes),
          run_of<double>(functions.float64, row, from.workspace_bytes)};
}

/// Returns the function for Method::workspace_bytes, which calls the library's function.
WorkspaceBytes workspace_of(const gaussweep_method& from, const Method& row) {
  if (from.workspace_bytes == nullptr) return nullptr;
  return [function = from.workspace_bytes, id = row.id(), declared = row.parameters](
             const Shape& shape, const Parameters& parameters, std::size_t element_bytes) {
    const std::vector<double> values = values_of(declared, parameters);
    const gaussweep_call call = call_of(shape, element_bytes, values);
    const FloatingPointMode restored;
    const std::size_t bytes = function(&call);
    if (bytes > max_workspace)
      throw std::runtime_error(id + ": workspace_bytes returned " + std::to_string(bytes) +
                               "; allowed: up to 2^50");
    return bytes;  // not rounded up, so that writes behind the workspace are detected
  };
}

AnswerIn answer_of(char answer, const std::string& where) {
  switch (answer) {
    case 'a':
      return AnswerIn::a;
    case 'b':
      return AnswerIn::b;
    case 'x':
    case 0:
      return AnswerIn::x;
    default:
      throw fault(where, "answer has code " + std::to_string(answer) + "; allowed: 'a', 'b', 'x', 0");
  }
}

/// Sets the method's needs (required properties of A): the needs of the problem, then `names`.
void add_needs(Method& method, const std::vector<std::string>& names, const std::string& where) {
  method.needs = method.problem->needs;
  for (const std::string& name : names) {
    const auto need = from_string<Need>(name);
    if (!need) throw fault(where, "no need '" + name + "'; allowed: " + allowed_names<Need>());
    if (std::find(method.needs.begin(), method.needs.end(), *need) == method.needs.end())
      method.needs.push_back(*need);
  }
}

/// Converts row `number` (from 1) of the table. @throws std::runtime_error if it is malformed
Method method_of(const gaussweep_method& from, int number) {
  std::string where = "row " + std::to_string(number);
  Method method;
  method.variant = required(from.name, where + ": name");
  where += " ('" + method.variant + "')";
  const std::string problem = required(from.problem, where + ": problem");
  const auto known_problem = from_string<Problem>(problem);
  if (!known_problem)
    throw fault(where, "no problem '" + problem + "'; allowed: " + allowed_names<Problem>());
  method.problem = *known_problem;
  if (from.summary != nullptr) method.summary = text_of(from.summary, where + ": summary");
  add_needs(method, list_of(from.needs, max_needs, where + ": needs"), where);
  if (from.parameter_count < 0 || from.parameter_count > max_parameters)
    throw fault(where, "parameter_count is " + std::to_string(from.parameter_count) + "; allowed: 0 to " +
                           std::to_string(max_parameters));
  if (from.parameter_count > 0 && from.parameters == nullptr) throw fault(where, "parameters is NULL");
  for (int i = 0; i < from.parameter_count; ++i)
    method.parameters.push_back(parameter_of(from.parameters[i], where, i + 1));
  if (from.capability < 0 || from.capability > 999)
    throw fault(where,
                "capability is " + std::to_string(from.capability) + "; allowed: 0, or e.g. 80 for 8.0");
  method.capability = from.capability;
  method.answer = answer_of(from.answer, where);
  require_flag(from.keeps_inputs, where + ": keeps_inputs");
  require_flag(from.mixed_precision, where + ": mixed_precision");
  method.overwrites = from.keeps_inputs == 0;
  method.mixed_precision = from.mixed_precision != 0;
  if (from.unit_diagonal != 0 && from.unit_diagonal != 'L' && from.unit_diagonal != 'U')
    throw fault(where, "unit_diagonal is neither 'L', 'U' nor 0");
  if (from.unit_diagonal == 'U') method.unit_diagonal = UnitDiagonal::upper;
  if (from.max_nrhs < 0 || from.max_batch < 0) throw fault(where, "max_nrhs or max_batch is negative");
  if (from.max_nrhs > 0) method.max_nrhs = from.max_nrhs;
  if (from.max_batch > 0) method.max_batch = from.max_batch;
  method.workspace_bytes = workspace_of(from, method);
  const std::pair<Backend, const gaussweep_functions*> all[] = {
      {Backend::cuda, &from.cuda}, {Backend::emulated, &from.emulated}, {Backend::host, &from.host}};
  for (const auto& [backend, functions] : all) {
    EntryPoints entry = entry_points_of(*functions, method, from);
    if (!entry) continue;
    method.backends.push_back(backend);
    method.entry(backend) = std::move(entry);
  }
  if (method.backends.empty()) throw fault(where, "all functions of cuda, emulated and host are NULL");
  if (method.backends.size() > 1 && method.backends.back() == Backend::host)
    throw fault(where,
                "host runs only in a row without cuda and emulated; name the function emulated, or give it a "
                "row of its own");
  return method;
}

/// Returns the number of the processor (e_machine) for which an ELF file is built; 0 if it is not an ELF
/// file.
int machine_of(const std::string& path) {
  std::array<char, 20> header{};
  std::ifstream(path, std::ios::binary).read(header.data(), header.size());
  if (std::memcmp(header.data(), "\177ELF", 4) != 0) return 0;
  // e_machine is stored in bytes 18 and 19, here in little-endian order.
  return static_cast<unsigned char>(header[18]) + 256 * static_cast<unsigned char>(header[19]);
}

/// Returns the reason why dlopen failed. For a library that is built for another processor, dlopen reports a
/// missing file; this function then names the processors instead.
std::string load_fault(const std::string& path) {
  const std::string fault = ::dlerror();
  const int library_machine = machine_of(path), own_machine = machine_of("/proc/self/exe");
  if (library_machine == 0 || library_machine == own_machine) return fault;
  return "it is built for another processor (ELF machine " + std::to_string(library_machine) +
         "; allowed: " + std::to_string(own_machine) + ")";
}

}  // namespace

std::vector<Method> load_library(const std::string& path) {
  const FloatingPointMode restored;  // restores the caller's mode at the end of the scope
  void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | symbol_scope);
  if (library == nullptr) throw std::runtime_error(load_fault(path));
  const auto methods = reinterpret_cast<decltype(&gaussweep_methods)>(::dlsym(library, "gaussweep_methods"));
  if (methods == nullptr)
    throw std::runtime_error("it exports no function gaussweep_methods (in C++: extern \"C\")");
  const gaussweep_library* const table = methods();
  if (table == nullptr) throw std::runtime_error("gaussweep_methods returned NULL");
  if (table->version != GAUSSWEEP_METHOD_VERSION)
    throw std::runtime_error("it has version " + std::to_string(table->version) +
                             " of gaussweep/method.h; allowed: " + std::to_string(GAUSSWEEP_METHOD_VERSION));
  if (table->method_count < 1 || table->method_count > max_rows)
    throw std::runtime_error("method_count is " + std::to_string(table->method_count) + "; allowed: 1 to " +
                             std::to_string(max_rows));
  if (table->methods == nullptr) throw std::runtime_error("methods is NULL");
  std::vector<Method> rows;
  for (int i = 0; i < table->method_count; ++i) rows.push_back(method_of(table->methods[i], i + 1));
  return rows;
}

}  // namespace gaussweep
