/// Makes and searches the registry: a table with one row (`Method`) per method.

#include "kernels/registry/method.hpp"

#include <algorithm>
#include <array>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace gaussweep {
namespace {

[[noreturn]] void reject(const Method& method, const std::string& why) {
  throw std::logic_error("registry row '" + method.id() + "': " + why);
}

/// Checks a parameter. @throws std::logic_error
void validate_parameter(const Method& method, const Parameter& parameter) {
  // A plan sets parameters and axes (sizes and options of the problem) by name, so that equal names would be
  // ambiguous.
  static constexpr std::array<std::string_view, 8> axes{"m",    "n",     "k",         "nrhs",
                                                        "uplo", "batch", "precision", "seed"};
  const std::string& name = parameter.name;
  if (!is_word(name)) reject(method, "parameter name '" + name + "' is not of a-z, 0-9 and _");
  if (std::find(axes.begin(), axes.end(), name) != axes.end()) {
    reject(method, "parameter '" + name + "' has the name of an axis");
  }
  const auto has_same_name = [&](const Parameter& other) { return other.name == name; };
  if (std::count_if(method.parameters.begin(), method.parameters.end(), has_same_name) > 1) {
    reject(method, "parameter '" + name + "' is declared twice");
  }
  if (const auto* choice = std::get_if<std::string>(&parameter.default_value)) {
    const auto& choices = parameter.choices;
    if (choices.empty()) reject(method, "parameter '" + name + "' has no choices");
    if (std::find(choices.begin(), choices.end(), *choice) == choices.end()) {
      reject(method, "the default of parameter '" + name + "' is none of its choices");
    }
    return;
  }
  const auto* integer = std::get_if<std::int64_t>(&parameter.default_value);
  const double value =
      integer != nullptr ? static_cast<double>(*integer) : std::get<double>(parameter.default_value);
  if (!(parameter.low <= value && value <= parameter.high)) {
    reject(method, "the default of parameter '" + name + "' is outside its range");
  }
}

/// Checks that the problem and the layout allow the operand that receives the answer. @throws
/// std::logic_error
void validate_answer(const Method& method) {
  const ProblemRow& problem = method.problem.row();
  const bool solver = problem.second == SecondOperand::right_hand_sides;
  if (method.layout == Layout::augmented && !solver) {
    reject(method, "an augmented layout needs right-hand sides, but " + problem.name + " has none");
  }
  switch (method.answer) {
    case AnswerIn::x:
      return;
    case AnswerIn::b:
      if (!solver) reject(method, "an answer in b overwrites right-hand sides, but the problem has none");
      return;
    case AnswerIn::a:
      if (problem.second == SecondOperand::matrix)
        reject(method, problem.name + " needs its answer in x: the product may have another shape than A");
      if (solver && method.layout != Layout::augmented) {
        reject(method, "a solver can leave its answer in a only if the layout is augmented");
      }
      return;
  }
}

/// Checks that a row is complete and consistent. @throws std::logic_error
void validate(const Method& method) {
  if (method.problem == Problem()) reject(method, "no problem");
  if (!is_word(method.variant)) reject(method, "the variant is not of a-z, 0-9 and _");
  if (method.backends.empty()) reject(method, "no backend");
  for (const Backend backend : {Backend::cuda, Backend::emulated, Backend::host}) {
    const auto listed = std::count(method.backends.begin(), method.backends.end(), backend);
    const std::string name(to_string(backend));
    if (listed > 1) reject(method, "backend " + name + " is listed twice");
    // A build without CUDA lacks the entry points for cuda; runs_on then returns false.
    if (listed == 1 && !method.runs_on(backend) && backend != Backend::cuda) {
      reject(method, "backend " + name + " is listed, but has no entry point");
    }
    if (listed == 0 && method.runs_on(backend)) {
      reject(method, "there is an entry point for the backend " + name + ", which is not listed");
    }
  }
  const auto is_gpus = [](const Parameter& parameter) { return parameter.name == "gpus"; };
  const bool has_gpus = std::any_of(method.parameters.begin(), method.parameters.end(), is_gpus);
  if (has_gpus != (method.column_block != nullptr))
    reject(method, "it must have both the function column_block and the parameter 'gpus', or neither");
  if (has_gpus && (method.layout != Layout::column_major || method.max_batch != 1 || !method.overwrites))
    reject(method, "a method with the parameter 'gpus' must overwrite a column-major A and take no batches");
  if (method.max_nrhs < 1) reject(method, "max_nrhs is less than 1");
  if (method.max_batch < 1) reject(method, "max_batch is less than 1");
  if (method.max_batch > 1 && method.layout == Layout::row_major)
    reject(method, "a method for batches cannot be row-major, because the systems are consecutive columns");
  validate_answer(method);
  for (const Parameter& parameter : method.parameters) validate_parameter(method, parameter);
}

}  // namespace

void* Workspace::take_bytes(std::size_t bytes) {
  const bool is_all = used_ == 0 && bytes == bytes_;  // the only piece; its size need not be rounded up
  const std::size_t piece =
      is_all ? bytes : aligned_workspace_bytes(static_cast<std::int64_t>(bytes), /*element_bytes=*/1);
  if (piece > bytes_ - used_) {
    throw std::logic_error("workspace: " + std::to_string(bytes) + " bytes were asked for, but only " +
                           std::to_string(bytes_ - used_) + " of the announced " + std::to_string(bytes_) +
                           " are left");
  }
  void* begin = data_ + used_;
  used_ += piece;
  return begin;
}

std::string capability_fault(const Method& method, int capability) {
  if (method.capability <= capability) return {};
  const auto text = [](int c) { return std::to_string(c / 10) + "." + std::to_string(c % 10); };
  return "needs compute capability " + text(method.capability) + ", the GPU has " + text(capability);
}

Backend usable_backend(const Method& method, std::optional<Backend> wanted, int capability) {
  std::string fault;
  for (const Backend backend : {Backend::cuda, Backend::emulated, Backend::host}) {
    if (wanted && *wanted != backend) continue;
    std::string backend_fault;
    if (!method.runs_on(backend)) {
      backend_fault = "does not run on the backend " + std::string(to_string(backend)) + " of this build";
    } else if (backend == Backend::cuda) {
      backend_fault = capability == 0 ? "needs a GPU" : capability_fault(method, capability);
    }
    if (backend_fault.empty()) return backend;
    if (fault.empty()) fault = backend_fault;
  }
  throw std::invalid_argument(method.id() + " " + fault);
}

Parameter gpus_parameter() {
  return integer_parameter("gpus", /*default_value=*/1, /*low=*/1, max_gpus, "GPUs that share the matrix");
}

int gpus_of(const Method& method, const Shape& shape, const Parameters& parameters) {
  if (method.column_block == nullptr) return 1;
  const bool on_one = method.uses_one_gpu != nullptr && method.uses_one_gpu(shape, parameters);
  return on_one ? 1 : static_cast<int>(parameters.integer("gpus"));
}

std::string shape_fault(const Method& method, const Shape& shape, const Parameters& parameters) {
  if (shape.nrhs > method.max_nrhs)
    return method.id() + " takes at most " + std::to_string(method.max_nrhs) + " right-hand sides";
  if (shape.batch > method.max_batch) {
    return method.id() + (method.max_batch == 1
                              ? std::string(" takes no batches")
                              : " takes batches of at most " + std::to_string(method.max_batch));
  }
  if (method.accepts == nullptr || method.accepts(shape, parameters)) return {};
  std::ostringstream text;
  text << method.id() << " does not take this shape (n = " << shape.n;
  for (const auto& [name, value] : parameters.all())
    std::visit([&, &key = name](const auto& v) { text << ", " << key << " = " << v; }, value);
  text << ")";
  return text.str();
}

AnswerIn answer_in(const Method& method, const Shape& shape, const Parameters& parameters) {
  // On several GPUs methods work in place.
  const bool replaces_a = method.answer == AnswerIn::x && gpus_of(method, shape, parameters) > 1;
  return replaces_a ? AnswerIn::a : method.answer;
}

const EntryPoints& Method::entry(Backend backend) const {
  switch (backend) {
    case Backend::cuda:
      return cuda;
    case Backend::emulated:
      return emulated;
    case Backend::host:
      break;
  }
  return host;
}

EntryPoints& Method::entry(Backend backend) {
  return const_cast<EntryPoints&>(std::as_const(*this).entry(backend));
}

bool Method::has(Precision precision) const {
  // In a build without CUDA, a CUDA-only row has no entries. It then counts as having both precisions.
  bool any_entry = false;
  for (const EntryPoints* entry : {&cuda, &emulated, &host}) {
    if (!*entry) continue;
    any_entry = true;
    if (precision == Precision::float32 ? entry->float32 != nullptr : entry->float64 != nullptr) return true;
  }
  return !any_entry;
}

Registry::Registry(std::vector<Method> methods) {
  methods_.reserve(methods.size());
  for (Method& method : methods) add(std::move(method));
}

void Registry::add(Method method) {
  validate(method);
  if (find(method.problem, method.variant) != nullptr) reject(method, "a row of this id exists already");
  methods_.push_back(std::move(method));
}

const Method* Registry::find(Problem problem, std::string_view variant) const {
  for (const Method& method : methods_) {
    if (method.problem == problem && method.variant == variant) return &method;
  }
  return nullptr;
}

const Method* Registry::reference(Problem problem, Backend backend, std::int64_t batch) const {
  // Emulated kernels run on the CPU, so their reference is a library on the host.
  const Backend library_backend = backend == Backend::cuda ? Backend::cuda : Backend::host;
  for (const Method& method : methods_) {
    if (method.problem == problem && method.vendor && method.runs_on(library_backend) &&
        batch <= method.max_batch)
      return &method;
  }
  return nullptr;
}

bool is_word(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

}  // namespace gaussweep
