/// Prepares the operands of a trial (one method on one matrix) on the host. Generates or reads the operands,
/// and reuses them while consecutive trials have the same matrix. Matrices are stored in the run directory
/// for later trials.

#include "driver/worker/inputs.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>

#include "driver/base/dense.hpp"
#include "driver/base/errors.hpp"
#include "driver/plan/trial.hpp"
#include "driver/system/clock.hpp"
#include "io/files/errors.hpp"
#include "io/records/status.hpp"
#include "kernels/check/facts.hpp"
#include "kernels/matrix/system.hpp"

namespace gaussweep::driver {
namespace {

constexpr std::uint64_t file_solution_seed = 1;  // seed of the known solutions for a file's matrix

template <class T>
HostMatrix<T> to_host(io::Dense<T> dense) {
  HostMatrix<T> result;
  result.rows = dense.rows;
  result.cols = dense.cols;
  result.data = std::move(dense.data);
  return result;
}

/// Reads a matrix from the file that the plan names.
/// @throws TransientFailure if the file has changed since the plan was read
/// @throws io::StorageError if the file cannot be read any more
io::Dense<double> import_as_planned(const MatrixRequest& request) {
  std::string sha256;
  try {
    io::Dense<double> matrix = io::import_matrix(request.file, request.dataset, &sha256);
    if (sha256 == request.file_sha256) return matrix;
  } catch (const io::InputError& e) {
    // The file was valid when the plan was read: either its content has changed, or it cannot be read now.
    try {
      sha256 = io::sha256_file(request.file);
    } catch (const io::InputError&) {
      throw io::StorageError(e.what());
    }
    if (sha256 == request.file_sha256) throw;
  }
  throw TransientFailure(io::Status::error, request.file + ": the file has changed since the plan was read");
}

std::uint64_t solution_seed(const MatrixRequest& request) {
  return request.kind == "file" ? file_solution_seed : request.spec.seed;
}

/// Makes known solutions and right-hand sides for the square matrix `in.a`.
template <class T>
void add_system(Inputs<T>& in, std::int64_t nrhs, std::uint64_t seed, std::int64_t batch) {
  System<T> system = make_systems(in.a, nrhs, seed, batch);
  in.x_true = std::move(system.x_true);
  in.b = std::move(system.b);
}

/// Generates or imports a requested matrix `a`. If the matrix is square, also makes known solutions and
/// right-hand sides.
template <class T>
Inputs<T> make_requested(Context& context, StoreWriter& store, const MatrixRequest& request,
                         std::int64_t nrhs) {
  Inputs<T> made;
  if (request.kind == "file") {
    io::Dense<double> imported = store.while_paused([&] { return import_as_planned(request); });
    made.a = to_host(rounded<T>(std::move(imported), request.file));
  } else {
    made.a = generate_on<T>(context, request.spec);
  }
  const std::int64_t batch = request.spec.batch;
  if (made.a.rows * batch == made.a.cols) add_system(made, nrhs, solution_seed(request), batch);
  return made;
}

template <class T>
io::MatrixAttributes attributes_of(const MatrixRequest& request) {
  io::MatrixAttributes attributes = {{"kind", request.kind},
                                     {"precision", std::string(to_string(precision_of<T>))},
                                     {"seed", std::to_string(solution_seed(request))}};
  if (request.kind == "file") {
    attributes["source_sha256"] = request.file_sha256;
  } else {
    attributes["generator"] = request.spec.canonical(precision_of<T>);
  }
  if (request.spec.batch > 1) attributes["batch"] = std::to_string(request.spec.batch);
  return attributes;
}

/// Returns true if a stored matrix has the sizes of a request.
template <class T>
bool has_sizes(const io::StoredMatrix<T>& stored, const MatrixRequest& request, std::int64_t nrhs) {
  const auto has_size = [](const io::Dense<T>& dense, std::int64_t rows, std::int64_t cols) {
    return rows == 0 || cols == 0 ? dense.data.empty() : dense.rows == rows && dense.cols == cols;
  };
  const std::int64_t rows = request.spec.rows, cols = request.spec.cols, batch = request.spec.batch;
  const std::int64_t rhs_cols = rows == cols ? nrhs * batch : 0;
  return has_size(stored.a, rows, cols * batch) && has_size(stored.b, rows, rhs_cols) &&
         has_size(stored.x_true, cols, rhs_cols);
}

/// Reads a requested matrix and its linear system from the run directory. @return false if they are not
/// stored
template <class T>
bool read_stored(StoreWriter& store, const MatrixRequest& request, std::int64_t nrhs, Inputs<T>& result) {
  io::StoredMatrix<T> stored;
  if (!request.store || !store.find(request.digest, stored) || !has_sizes(stored, request, nrhs))
    return false;
  result.a = to_host(std::move(stored.a));
  result.b = to_host(std::move(stored.b));
  result.x_true = to_host(std::move(stored.x_true));
  return true;
}

/// Returns the range [begin, end) of rows of column j that are outside the triangle. Columns are counted over
/// a batch of n × n matrices side by side.
std::pair<std::int64_t, std::int64_t> rows_outside(std::int64_t n, std::int64_t j, Uplo uplo) {
  if (uplo == Uplo::lower) return {0, j % n};
  return {j % n + 1, n};
}

/// Sets the elements outside the triangle to zero.
template <class T>
void keep_triangle(HostMatrix<T>& a, Uplo uplo) {
  for (std::int64_t j = 0; j < a.cols; ++j) {
    const auto [begin, end] = rows_outside(a.rows, j, uplo);
    for (std::int64_t i = begin; i < end; ++i) a(i, j) = 0;
  }
}

void require_size(const MatrixRequest& request, std::int64_t rows, std::int64_t cols,
                  const Extent& expected) {
  if (Extent{rows, cols} == expected) return;
  throw io::InputError(fmt::format("{}: the matrix is {} x {}, the trial needs {} x {}",
                                   request.kind == "file" ? request.file : request.kind, rows, cols,
                                   expected.rows, expected.cols));
}

/// Returns true if the problem reads one triangle and the matrix has nonzero elements (or -0) outside it,
/// which must be set to zero.
template <class T>
bool needs_zeroed_triangle(const Trial& trial, const HostMatrix<T>& a) {
  const Uplo uplo = trial.shape.uplo;
  if (trial.problem->used_of_a != UsedElements::triangle) return false;
  if (trial.matrix.kind == to_string(MatrixKind::triangular) && trial.matrix.spec.uplo == uplo) return false;
  for (std::int64_t j = 0; j < a.cols; ++j) {
    const auto [begin, end] = rows_outside(a.rows, j, uplo);
    for (std::int64_t i = begin; i < end; ++i) {
      if (a(i, j) != 0 || std::signbit(a(i, j))) return true;
    }
  }
  return false;
}

/// Rejects a matrix of a file if the problem would ignore some of its elements, because the answer would then
/// belong to another matrix. @throws io::InputError
template <class T>
void require_all_elements_used(const Trial& trial, const HostMatrix<T>& a) {
  if (trial.matrix.kind != "file") return;
  const MatrixView<const T> view{a.data.data(), a.rows, a.cols, a.rows};
  const UsedElements used = trial.problem->used_of_a;
  const auto refuse = [&](const char* fault) {
    throw io::InputError(fmt::format("{} {}: {} with uplo: {} would ignore its other triangle",
                                     trial.matrix.file, fault, to_string(trial.problem),
                                     to_string(trial.shape.uplo)));
  };
  if (used == UsedElements::triangle && !is_triangular(view, trial.shape.uplo))
    refuse(trial.shape.uplo == Uplo::lower ? "is not lower triangular" : "is not upper triangular");
  if (used == UsedElements::mirrored_triangle && !is_symmetric(view)) refuse("is not symmetric");
}

/// Adapts inputs to a trial: sets the right-hand sides. If `zeroes_triangle`, also sets A to zero outside the
/// triangle that the problem reads.
template <class T>
void adapt(const Trial& trial, bool zeroes_triangle, Prepared<T>& prepared) {
  Inputs<T>& in = prepared.inputs;
  const Shape& s = trial.shape;
  require_size(trial.matrix, in.a.rows, in.a.cols, trial.problem->a(s));
  require_all_elements_used(trial, in.a);
  in.shape = s;
  in.b = {};
  in.x_true = {};
  prepared.is_product = false;
  if (zeroes_triangle) {
    keep_triangle(in.a, s.uplo);
    prepared.digest.clear();
  }
  const bool is_system = trial.problem->second == SecondOperand::right_hand_sides;
  if (is_system && zeroes_triangle) {  // the stored right-hand sides belong to the whole matrix
    add_system(in, s.nrhs, solution_seed(trial.matrix), s.batch);
  } else if (is_system) {
    in.b = prepared.rhs_of_a;
    in.x_true = prepared.solution_of_a;
    require_size(trial.matrix, in.b.rows, in.b.cols, trial.problem->b(s));
  }
  prepared.identity = inputs_identity(trial);
}

/// Queues a matrix to be stored if `request.store` is set.
template <class T>
void queue_store(StoreWriter& store, const MatrixRequest& request, const io::SystemView<T>& system,
                 std::shared_ptr<const void> owner) {
  if (request.store) store.put(request.digest, system, attributes_of<T>(request), std::move(owner));
}
template <class T>
void queue_store_of_a(StoreWriter& store, const MatrixRequest& request,
                      const std::shared_ptr<Prepared<T>>& prepared) {
  if (prepared->is_stored) return;
  queue_store<T>(
      store, request,
      {dense_view(prepared->inputs.a), dense_view(prepared->rhs_of_a), dense_view(prepared->solution_of_a)},
      prepared);
  prepared->is_stored = request.store;
}

/// Returns true if the inputs can be modified in place. The thread that stores matrices (store_writer.hpp)
/// must have no reference to them, or must not read the parts that change.
template <class T>
bool can_modify(const std::shared_ptr<Prepared<T>>& prepared, bool zeroes_triangle) {
  return prepared.use_count() == 1 || (!zeroes_triangle && !prepared->is_product);
}

/// Stores A if necessary and adapts inputs to a problem with one requested matrix.
template <class T>
std::shared_ptr<Prepared<T>> store_and_adapt(StoreWriter& store, const Trial& trial,
                                             std::shared_ptr<Prepared<T>> prepared, bool zeroes_triangle) {
  queue_store_of_a(store, trial.matrix, prepared);
  // If the store's thread may still read the inputs that `adapt` changes, a copy is changed.
  if (!can_modify(prepared, zeroes_triangle)) prepared = std::make_shared<Prepared<T>>(*prepared);
  adapt(trial, zeroes_triangle, *prepared);
  return prepared;
}

/// Returns the bytes of a requested matrix with its linear system.
template <class T>
std::size_t bytes_of(const MatrixRequest& request, std::int64_t nrhs) {
  const auto rows = static_cast<std::size_t>(request.spec.rows);
  const auto cols = static_cast<std::size_t>(request.spec.cols) + 2 * static_cast<std::size_t>(nrhs);
  return rows * cols * static_cast<std::size_t>(request.spec.batch) * sizeof(T);
}

}  // namespace

template <class T>
std::shared_ptr<Prepared<T>> prepare_inputs(Context& context, StoreWriter& store, const Trial& trial,
                                            std::shared_ptr<Prepared<T>> held,
                                            const std::function<void(const std::string&)>& begin_step) {
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  const bool is_product = trial.problem->second == SecondOperand::matrix;
  if (held && held->digest == trial.matrix.digest && !is_product) {
    const bool zeroes_triangle = needs_zeroed_triangle(trial, held->inputs.a);
    if (can_modify(held, zeroes_triangle)) {
      held->load_seconds = held->generate_seconds = unknown;
      return store_and_adapt(store, trial, std::move(held), zeroes_triangle);
    }
  }
  held.reset();  // frees its memory before new inputs are allocated
  auto result = std::make_shared<Prepared<T>>();
  result->load_seconds = result->generate_seconds = unknown;
  // Reads or makes a matrix. @return true if it was read
  const auto fetch = [&](const MatrixRequest& request, Inputs<T>& fetched) {
    const std::size_t matrix_bytes = bytes_of<T>(request, trial.shape.nrhs);
    // If the answer is a matrix, three matrices are in memory: A, the answer, and the vendor's answer.
    const bool has_vectors = trial.problem->second == SecondOperand::right_hand_sides;
    const std::size_t bytes = has_vectors ? matrix_bytes : 3 * matrix_bytes;
    if (!store.has_room(bytes, matrix_bytes)) {
      if (begin_step) begin_step("store");
      store.make_room(bytes, matrix_bytes);
      if (begin_step) begin_step("inputs");
    }
    const double start = now_seconds();
    const bool is_read = read_stored(store, request, trial.shape.nrhs, fetched);
    if (!is_read) fetched = make_requested<T>(context, store, request, trial.shape.nrhs);
    double& seconds = is_read ? result->load_seconds : result->generate_seconds;
    seconds = (seconds > 0 ? seconds : 0) + (now_seconds() - start);
    return is_read;
  };

  Inputs<T>& in = result->inputs;
  result->is_stored = fetch(trial.matrix, in);
  result->rhs_of_a = std::move(in.b);
  result->solution_of_a = std::move(in.x_true);
  result->digest = trial.matrix.digest;
  if (!is_product) {
    const bool zeroes_triangle = needs_zeroed_triangle(trial, in.a);
    return store_and_adapt(store, trial, std::move(result), zeroes_triangle);
  }
  const MatrixRequest& request_b = trial.matrix_b.value();
  Inputs<T> second;
  in.shape = trial.shape;
  require_size(trial.matrix, in.a.rows, in.a.cols, trial.problem->a(in.shape));
  const bool is_b_stored = fetch(request_b, second);
  in.b = std::move(second.a);
  require_size(request_b, in.b.rows, in.b.cols, trial.problem->b(in.shape));
  result->rhs_of_b = std::move(second.b);
  result->solution_of_b = std::move(second.x_true);
  result->is_product = true;
  result->identity = inputs_identity(trial);
  if (!is_b_stored)
    queue_store<T>(store, request_b,
                   {dense_view(in.b), dense_view(result->rhs_of_b), dense_view(result->solution_of_b)},
                   result);
  queue_store_of_a(store, trial.matrix, result);
  return result;
}

template struct Prepared<float>;
template struct Prepared<double>;
#define GAUSSWEEP_PREPARE(T)                                                                 \
  template std::shared_ptr<Prepared<T>> prepare_inputs(Context&, StoreWriter&, const Trial&, \
                                                       std::shared_ptr<Prepared<T>>,         \
                                                       const std::function<void(const std::string&)>&);
GAUSSWEEP_PREPARE(float)
GAUSSWEEP_PREPARE(double)
#undef GAUSSWEEP_PREPARE

}  // namespace gaussweep::driver
