#include "driver/worker/inputs.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>

#include "driver/base/dense_view.hpp"
#include "driver/base/rounded.hpp"
#include "driver/base/transient_failure.hpp"
#include "driver/plan/shared_inputs.hpp"
#include "driver/system/clock.hpp"
#include "io/files/errors.hpp"
#include "io/records/status.hpp"
#include "kernels/check/facts.hpp"
#include "kernels/matrix/system.hpp"

namespace gaussweep::driver {
namespace {

constexpr std::uint64_t file_solution_seed = 1;

template <class T>
HostMatrix<T> to_host(io::Dense<T> dense) {
  HostMatrix<T> result;
  result.rows = dense.rows;
  result.cols = dense.cols;
  result.data = std::move(dense.data);
  return result;
}

/// Reads the matrix of a file. @throws TransientFailure if the file has changed since the plan was read
/// @throws io::StorageError if it cannot be read any more
io::Dense<double> import_as_planned(const MatrixRequest& request) {
  std::string sha256;
  try {
    io::Dense<double> matrix = io::import_matrix(request.file, request.dataset, &sha256);
    if (sha256 == request.file_sha256) return matrix;
  } catch (const io::InputError& e) {
    // The file was readable when the plan was read. Now it is another file, or the medium failed.
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

template <class T>
void add_system(HostMatrix<T>& a, HostMatrix<T>& b, HostMatrix<T>& x_true, std::int64_t nrhs,
                std::uint64_t seed, std::int64_t batch) {
  System<T> system = make_systems(a, nrhs, seed, batch);
  x_true = std::move(system.x_true);
  b = std::move(system.b);
}

/// A requested matrix and, if it is square, its right-hand sides and solution.
template <class T>
struct RequestedMatrix {
  HostMatrix<T> a, b, x_true;
  bool read = false;  ///< true if it was read from the run directory, false if it was made
};

template <class T>
RequestedMatrix<T> make(Context& context, StoreWriter& store, const MatrixRequest& request,
                        std::int64_t nrhs) {
  RequestedMatrix<T> made;
  if (request.kind == "file") {
    io::Dense<double> imported = store.alone([&] { return import_as_planned(request); });
    made.a = to_host(rounded<T>(std::move(imported), request.file));
  } else {
    made.a = generate_on<T>(context, request.spec);
  }
  const std::int64_t batch = request.spec.batch;
  if (made.a.rows * batch == made.a.cols)
    add_system(made.a, made.b, made.x_true, nrhs, solution_seed(request), batch);
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

template <class T>
RequestedMatrix<T> read_or_make(Context& context, StoreWriter& store, const MatrixRequest& request,
                                std::int64_t nrhs) {
  io::StoredMatrix<T> stored;
  if (!request.store || !store.find(request.digest, stored) || !has_sizes(stored, request, nrhs))
    return make<T>(context, store, request, nrhs);
  RequestedMatrix<T> made;
  made.read = true;
  made.a = to_host(std::move(stored.a));
  made.b = to_host(std::move(stored.b));
  made.x_true = to_host(std::move(stored.x_true));
  return made;
}

/// Returns the range [begin, end) of rows of column j outside the triangle. The columns are those of a batch
/// of n × n matrices side by side.
std::pair<std::int64_t, std::int64_t> hidden_rows(std::int64_t n, std::int64_t j, Uplo uplo) {
  if (uplo == Uplo::lower) return {0, j % n};
  return {j % n + 1, n};
}

/// Sets the elements outside the triangle to zero.
template <class T>
void keep_triangle(HostMatrix<T>& a, Uplo uplo) {
  for (std::int64_t j = 0; j < a.cols; ++j) {
    const auto [begin, end] = hidden_rows(a.rows, j, uplo);
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

/// Returns true if the problem reads one triangle and the matrix has nonzero elements (or -0) outside the
/// triangle, which must be cut off.
template <class T>
bool is_cut_for(const Trial& trial, const HostMatrix<T>& a) {
  const Uplo uplo = trial.shape.uplo;
  if (trial.problem->used_of_a != UsedElements::triangle) return false;
  if (trial.matrix.kind == to_string(MatrixKind::triangular) && trial.matrix.spec.uplo == uplo) return false;
  for (std::int64_t j = 0; j < a.cols; ++j) {
    const auto [begin, end] = hidden_rows(a.rows, j, uplo);
    for (std::int64_t i = begin; i < end; ++i) {
      if (a(i, j) != 0 || std::signbit(a(i, j))) return true;
    }
  }
  return false;
}

/// A user's matrix is judged as it is. @throws io::InputError if the problem would ignore elements of a file
template <class T>
void require_all_counts(const Trial& trial, const HostMatrix<T>& a) {
  if (trial.matrix.kind != "file") return;
  const MatrixView<const T> view{a.data.data(), a.rows, a.cols, a.rows};
  const UsedElements counts = trial.problem->used_of_a;
  const auto refuse = [&](const char* lack) {
    throw io::InputError(fmt::format("{} {}: {} with uplo: {} would ignore its other triangle",
                                     trial.matrix.file, lack, to_string(trial.problem),
                                     to_string(trial.shape.uplo)));
  };
  if (counts == UsedElements::triangle && !is_triangular(view, trial.shape.uplo))
    refuse(trial.shape.uplo == Uplo::lower ? "is not lower triangular" : "is not upper triangular");
  if (counts == UsedElements::mirrored_triangle && !is_symmetric(view)) refuse("is not symmetric");
}

/// Adapts inputs to a trial: sets the right-hand sides and, if `cut`, zeroes the elements outside the
/// triangle.
template <class T>
void fit_to(const Trial& trial, bool cut, Prepared<T>& prepared) {
  Inputs<T>& in = prepared.inputs;
  const Shape& s = trial.shape;
  require_size(trial.matrix, in.a.rows, in.a.cols, trial.problem->a(s));
  require_all_counts(trial, in.a);
  in.shape = s;
  in.b = {};
  in.x_true = {};
  prepared.product = false;
  if (cut) {
    keep_triangle(in.a, s.uplo);
    prepared.digest.clear();
  }
  const bool system = trial.problem->second == SecondOperand::right_hand_sides;
  if (system && !cut) {
    in.b = prepared.b;
    in.x_true = prepared.x_true;
    require_size(trial.matrix, in.b.rows, in.b.cols, trial.problem->b(s));
  } else if (system) {  // the stored right-hand sides belong to the whole matrix
    add_system(in.a, in.b, in.x_true, s.nrhs, solution_seed(trial.matrix), s.batch);
  }
  prepared.identity = inputs_identity(trial);
}

/// Returns true if the inputs may be modified in place, because the store's thread (store_writer.hpp) does
/// not read the parts that change.
template <class T>
bool may_modify(const std::shared_ptr<Prepared<T>>& held, bool cut) {
  return held.use_count() == 1 || (!cut && !held->product);
}

/// Queues a matrix to be stored if its request says so.
template <class T>
void queue_store(StoreWriter& store, const MatrixRequest& request, const io::SystemView<T>& system,
                 std::shared_ptr<const void> owner) {
  if (request.store) store.put(request.digest, system, attributes_of<T>(request), std::move(owner));
}
template <class T>
void queue_store_of_a(StoreWriter& store, const MatrixRequest& request,
                      const std::shared_ptr<Prepared<T>>& inputs) {
  if (inputs->is_stored) return;
  queue_store<T>(store, request,
                 {dense_view(inputs->inputs.a), dense_view(inputs->b), dense_view(inputs->x_true)}, inputs);
  inputs->is_stored = request.store;
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
                                            const std::function<void(const std::string&)>& at) {
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  const bool product = trial.problem->second == SecondOperand::matrix;
  if (held && held->digest == trial.matrix.digest && !product) {
    const bool cut = is_cut_for(trial, held->inputs.a);
    if (may_modify(held, cut)) {
      queue_store_of_a(store, trial.matrix, held);
      held->load_seconds = held->generate_seconds = unknown;
      if (!may_modify(held, cut)) held = std::make_shared<Prepared<T>>(*held);
      fit_to(trial, cut, *held);
      return held;
    }
  }
  held.reset();  // frees its memory before new inputs are allocated
  auto result = std::make_shared<Prepared<T>>();
  result->load_seconds = result->generate_seconds = unknown;
  const auto fetch = [&](const MatrixRequest& request) {
    const std::size_t matrix = bytes_of<T>(request, trial.shape.nrhs);
    const bool vectors = trial.problem->second == SecondOperand::right_hand_sides;
    const std::size_t bytes = vectors ? matrix : 3 * matrix;  // plus the answer and the vendor's answer
    if (!store.has_room(bytes, matrix)) {
      if (at) at("store");
      store.make_room(bytes, matrix);
      if (at) at("inputs");
    }
    const double start = now_seconds();
    RequestedMatrix<T> made = read_or_make<T>(context, store, request, trial.shape.nrhs);
    double& field = made.read ? result->load_seconds : result->generate_seconds;
    field = (field > 0 ? field : 0) + (now_seconds() - start);
    return made;
  };

  Inputs<T>& in = result->inputs;
  RequestedMatrix<T> made = fetch(trial.matrix);
  in.a = std::move(made.a);
  result->b = std::move(made.b);
  result->x_true = std::move(made.x_true);
  result->digest = trial.matrix.digest;
  result->is_stored = made.read;
  if (!product) {
    const bool cut = is_cut_for(trial, in.a);
    queue_store_of_a(store, trial.matrix, result);
    // While the whole matrix is being stored, its triangle needs a copy.
    if (cut && !may_modify(result, cut)) result = std::make_shared<Prepared<T>>(*result);
    fit_to(trial, cut, *result);
    return result;
  }
  const Shape& s = trial.shape;
  require_size(trial.matrix, in.a.rows, in.a.cols, trial.problem->a(s));
  const MatrixRequest& request_b = trial.matrix_b.value();
  RequestedMatrix<T> other = fetch(request_b);
  in.shape = s;
  in.b = std::move(other.a);
  require_size(request_b, in.b.rows, in.b.cols, trial.problem->b(s));
  result->b_of_b = std::move(other.b);
  result->x_of_b = std::move(other.x_true);
  result->product = true;
  result->identity = inputs_identity(trial);
  if (!other.read)
    queue_store<T>(store, request_b,
                   {dense_view(in.b), dense_view(result->b_of_b), dense_view(result->x_of_b)}, result);
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
