// The MEX function gaussweep_mex(call, operands…, method, name, value, …) for MATLAB and Octave.
// gaussweep_inv.m, gaussweep_solve.m and gaussweep_mtimes.m call it.
//
// A function of MATLAB's C interface that fails (out of memory) calls longjmp, and mexErrMsgIdAndTxt always
// does. A longjmp skips every destructor. Therefore mexFunction itself has no object with a destructor. Such
// objects exist only in the bodies that `guarded` runs: these call no MATLAB function that can fail, and
// `guarded` catches their exceptions.

#include <mex.h>

#include <algorithm>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "apps/mex/call_error.hpp"
#include "apps/mex/choice.hpp"
#include "apps/mex/engine.hpp"
#include "apps/mex/operands.hpp"
#include "kernels/check/facts.hpp"
#include "kernels/core/errors.hpp"

namespace gaussweep::mex {
namespace {

/// One of the functions gaussweep_inv, gaussweep_solve and gaussweep_mtimes. `operands` has the names of its
/// matrices. A method is searched for in `problems`, in order.
struct Call {
  std::string name;
  std::string function;
  std::vector<const char*> operands;
  std::vector<Problem> problems;
};

const std::vector<Call>& calls() {
  static const std::vector<Call> all{
      {"inv", "gaussweep_inv", {"A"}, {Problem::named("geinv"), Problem::named("poinv")}},
      {"solve", "gaussweep_solve", {"A", "b"}, {Problem::named("gesv"), Problem::named("trsv")}},
      {"mtimes", "gaussweep_mtimes", {"A", "B"}, {Problem::named("gemm")}}};
  return all;
}

const Registry& registry() {
  static const Registry rows = builtin_registry();
  return rows;
}

/// Returns the process's engine; null before its first use and after `release`.
std::unique_ptr<Engine>& engine_pointer() {
  static std::unique_ptr<Engine> engine;
  return engine;
}

Engine& engine() {
  if (!engine_pointer()) engine_pointer() = std::make_unique<Engine>();
  return *engine_pointer();
}

/// Frees the engine. MATLAB calls this function before it unloads this file, and before it ends.
void release() {
  engine_pointer().reset();
}

/// A parsed and checked call.
struct Request {
  const Call* call = nullptr;
  std::vector<Operand> operands;
  mxClassID type = mxDOUBLE_CLASS;  ///< of the answer
  Shape shape;
  const Method* method = nullptr;
  Backend backend = Backend::host;
  Parameters parameters;
};

/// Returns the function that the first argument names.
const Call& find_call(int nrhs, const mxArray* prhs[]) {
  const auto name = nrhs > 0 ? text_of(prhs[0]) : std::nullopt;
  for (const Call& call : calls()) {
    if (name == call.name) return call;
  }
  throw CallError("gaussweep:usage", "call gaussweep_inv, gaussweep_solve or gaussweep_mtimes");
}

std::string usage(const Call& call) {
  std::string names;
  for (const char* name : call.operands) names += std::string(name) + ", ";
  return "usage: " + call.function + "(" + names + "method, name, value, ...), all after " +
         call.operands.back() + " optional";
}

/// Checks the sizes and returns the shape. The contents are not checked.
Shape shape_of(const Call& call, const std::vector<Operand>& operands) {
  const Operand& a = operands.front();
  const Operand& b = operands.back();
  if (call.problems.front()->second == SecondOperand::matrix) {
    if (a.cols != b.rows) {
      throw CallError("gaussweep:size", "A is " + size_text(a) + " and B is " + size_text(b) +
                                            ": A must have as many columns as B has rows");
    }
    return {a.rows, b.cols, a.cols, 1, Uplo::lower};
  }
  if (a.rows != a.cols) {
    throw CallError("gaussweep:nonSquare", "A is " + size_text(a) + ", but must be square");
  }
  if (operands.size() == 1) return {a.rows, a.rows, a.rows, 1, Uplo::lower};
  if (b.rows != a.rows) {
    throw CallError("gaussweep:size", "A is " + size_text(a) + " and b is " + size_text(b) +
                                          ": they must have the same number of rows");
  }
  return {a.rows, a.rows, a.rows, b.cols, Uplo::lower};
}

std::string require_text(const mxArray* array, const char* what) {
  auto text = text_of(array);
  if (!text)
    throw CallError("gaussweep:usage", std::string(what) + " must be a character array, like 'this'");
  return *std::move(text);
}

/// Reads the method, and the names and values after it.
void parse_method(Request& request, int nrhs, const mxArray* prhs[]) {
  const int first = 1 + static_cast<int>(request.operands.size());
  const std::string name = nrhs > first ? require_text(prhs[first], "the method") : "";
  const Gpu& gpu = engine().gpu();
  request.method = &choose_method(registry(), request.call->problems, name, gpu);
  std::string backend = "auto";
  std::map<std::string, ParameterValue> options;
  for (int i = first + 1; i < nrhs; i += 2) {
    const std::string option = require_text(prhs[i], "a parameter's name");
    if (i + 1 == nrhs) throw CallError("gaussweep:usage", "the parameter " + option + " has no value");
    if (option == "backend") {
      backend = require_text(prhs[i + 1], "backend");
    } else {
      options[option] = option_value(prhs[i + 1], option);
    }
  }
  request.backend = choose_backend(*request.method, backend, gpu);
  request.parameters = choose_parameters(*request.method, options);
}

Request parse_call(int nlhs, int nrhs, const mxArray* prhs[]) {
  Request request;
  request.call = &find_call(nrhs, prhs);
  const Call& call = *request.call;
  if (nlhs > 1 || nrhs < 1 + static_cast<int>(call.operands.size()))
    throw CallError("gaussweep:usage", usage(call));
  for (std::size_t i = 0; i < call.operands.size(); ++i) {
    request.operands.push_back(checked_operand(prhs[1 + i], call.operands[i]));
    // As in MATLAB's own operators, one operand in single precision makes the answer single.
    if (mxIsSingle(prhs[1 + i])) request.type = mxSINGLE_CLASS;
  }
  request.shape = shape_of(call, request.operands);
  parse_method(request, nrhs, prhs);
  const Method& method = *request.method;
  const std::string fault = shape_fault(method, request.shape, request.parameters);
  if (!fault.empty()) throw CallError("gaussweep:size", fault);
  const Precision precision = request.type == mxSINGLE_CLASS ? Precision::float32 : Precision::float64;
  if (!method.has(precision)) {
    throw CallError("gaussweep:type",
                    method.id() + " has no " + std::string(to_string(precision)) + " version");
  }
  return request;
}

bool has_need(const std::vector<Need>& needs, Need need) {
  return std::find(needs.begin(), needs.end(), need) != needs.end();
}

/// Checks that A is triangular or symmetric if the method needs that. Otherwise the method would compute a
/// wrong answer without an error. For a triangular A, sets the triangle of the request's shape.
template <class T>
void check_contents(Request& request, const MatrixView<const T>& a) {
  const Method& method = *request.method;
  if (method.problem->used_of_a == UsedElements::triangle) {
    const Uplo uplo = is_triangular(a, Uplo::lower) ? Uplo::lower : Uplo::upper;
    if (!is_triangular(a, uplo))
      throw CallError("gaussweep:notTriangular", "A is not triangular, " + method.id() + " needs that");
    request.shape.uplo = uplo;
  }
  const bool spd = has_need(method.needs, Need::spd) || has_need(method.problem->needs, Need::spd);
  if (spd && !is_symmetric(a))
    throw CallError("gaussweep:notSymmetric", "A is not symmetric, " + method.id() + " needs that");
}

/// Returns the method's needs that A may not meet, as text for the error message of a zero pivot: without row
/// exchanges, nonsingular matrices have zero pivots too.
std::string unmet_needs(const Method& method) {
  std::string needs;
  for (const Need need : method.needs) {
    if (need == Need::strongly_regular || need == Need::nonzero_elements) {
      needs += (needs.empty() ? "" : " and ") + std::string(to_string(need));
    }
  }
  return needs.empty() ? needs : ", or not " + needs + ", which " + method.id() + " needs";
}

/// Throws the error of a run that gave no usable answer.
[[noreturn]] void throw_outcome_error(const Method& method, const Outcome& outcome) {
  const std::string where = method.id() + ", pivot " + std::to_string(outcome.info);
  if (outcome.info < 0) {
    throw CallError("gaussweep:device", method.id() + " gave up (info " + std::to_string(outcome.info) + ")");
  }
  if (outcome.info > 0 && has_need(method.problem->needs, Need::spd)) {
    throw CallError("gaussweep:notPositiveDefinite", "A is not positive definite (" + where + ")");
  }
  if (outcome.info > 0) {
    throw CallError("gaussweep:singular", "A is singular" + unmet_needs(method) + " (" + where + " is 0)");
  }
  throw CallError("gaussweep:diverged",
                  method.id() + " diverged on A (" + std::to_string(outcome.iterations) + " iterations)");
}

/// Computes the answer. Returns the text of a warning, or "".
template <class T>
std::string compute(Request& request, T* answer) {
  Converted<T> buffers[2];
  InputViews<T> inputs{};
  inputs.a = view_of<T>(request.operands.front(), buffers[0]);
  if (request.operands.size() > 1) inputs.b = view_of<T>(request.operands.back(), buffers[1]);
  check_contents(request, inputs.a);
  const Method& method = *request.method;
  const Outcome outcome =
      engine().run(Task<T>{method, request.backend, request.parameters, request.shape, inputs, answer});
  if (outcome.info != 0 || outcome.convergence == Convergence::diverged) throw_outcome_error(method, outcome);
  if (outcome.convergence == Convergence::none || outcome.convergence == Convergence::converged) return {};
  return method.id() + " did not converge (" + std::string(to_string(outcome.convergence)) + " after " +
         std::to_string(outcome.iterations) + " iterations)";
}

/// A text that survives a longjmp, because it needs no destructor.
struct Message {
  char identifier[64];
  char text[4096];
  void set(const std::string& id, const std::string& message) {
    identifier[id.copy(identifier, sizeof(identifier) - 1)] = '\0';
    text[message.copy(text, sizeof(text) - 1)] = '\0';
  }
};

/// Runs `body`. If it throws, returns false and stores the message.
template <class Body>
bool guarded(Message& failure, Body body) noexcept {
  try {
    body();
    return true;
  } catch (const CallError& e) {
    failure.set(e.identifier, e.what());
  } catch (const OutOfMemory& e) {
    failure.set("gaussweep:outOfMemory", e.what());
  } catch (const std::bad_alloc&) {
    failure.set("gaussweep:outOfMemory", "out of memory");
  } catch (const DeviceError& e) {
    failure.set("gaussweep:device",
                std::string(e.what()) + (e.sticky ? "; the GPU is lost to this process: restart it" : ""));
  } catch (const std::exception& e) {
    failure.set("gaussweep:internal", e.what());
  } catch (...) {
    failure.set("gaussweep:internal", "an unknown exception");
  }
  return false;
}

struct AnswerType {
  mwSize rows;
  mwSize cols;
  mxClassID type;
};

}  // namespace
}  // namespace gaussweep::mex

extern "C" __attribute__((visibility("default"))) void mexFunction(int nlhs, mxArray* plhs[], int nrhs,
                                                                   const mxArray* prhs[]) {
  using namespace gaussweep::mex;
  mexAtExit(release);
  Message message{};
  AnswerType answer_type{};
  // Parses the call twice: a Request has destructors, so that none may exist while MATLAB creates the answer.
  bool succeeded = guarded(message, [&] {
    const Request request = parse_call(nlhs, nrhs, prhs);
    const bool is_inverse = request.operands.size() == 1;
    answer_type.rows = static_cast<mwSize>(request.operands.front().rows);
    answer_type.cols = static_cast<mwSize>(is_inverse ? request.shape.n : request.operands.back().cols);
    answer_type.type = request.type;
  });
  if (succeeded) {
    mxArray* answer =
        mxCreateUninitNumericMatrix(answer_type.rows, answer_type.cols, answer_type.type, mxREAL);
    succeeded = guarded(message, [&] {
      Request request = parse_call(nlhs, nrhs, prhs);
      void* data = mxGetData(answer);
      const std::string warning = answer_type.type == mxSINGLE_CLASS
                                      ? compute(request, static_cast<float*>(data))
                                      : compute(request, static_cast<double*>(data));
      message.set("gaussweep:notConverged", warning);
    });
    if (succeeded) {
      plhs[0] = answer;
      if (message.text[0] != '\0') mexWarnMsgIdAndTxt(message.identifier, "%s", message.text);
      return;
    }
    mxDestroyArray(answer);
  }
  mexErrMsgIdAndTxt(message.identifier, "%s", message.text);
}
