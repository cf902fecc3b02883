#include "driver/worker/inputs.hpp"

#include <limits>

#include <fmt/format.h>

#include "driver/base/for_now.hpp"
#include "driver/base/rounded.hpp"
#include "driver/system/clock.hpp"
#include "io/files/errors.hpp"
#include "io/records/status.hpp"
#include "kernels/matrix/system.hpp"

namespace gaussweep::driver {
namespace {

constexpr std::uint64_t file_solution_seed = 1;

template <class T>
io::Dense<T> to_dense(HostMatrix<T> matrix) {
  return {matrix.rows, matrix.cols, std::move(matrix.data)};
}

template <class T>
HostMatrix<T> to_host(io::Dense<T> dense) {
  HostMatrix<T> result;
  result.rows = dense.rows;
  result.cols = dense.cols;
  result.data = std::move(dense.data);
  return result;
}

/// The matrix of a file as it was when the plan was read. @throws ForNow where the file has changed,
/// io::StorageError where it cannot be read any more
io::Dense<double> import_as_planned(const MatrixRequest& request) {
  std::string sha256;
  try {
    io::Dense<double> matrix = io::import_matrix(request.file, request.dataset, &sha256);
    if (sha256 == request.file_sha256) return matrix;
  } catch (const io::InputError& e) {
    // It could be read when the plan was: either it is another file now, or its medium failed.
    try {
      sha256 = io::sha256_file(request.file);
    } catch (const io::InputError&) {
      throw io::StorageError(e.what());
    }
    if (sha256 == request.file_sha256) throw;
  }
  throw ForNow(io::Status::error, request.file + ": the file has changed since the plan was read");
}

std::uint64_t solution_seed(const MatrixRequest& request) {
  return request.kind == "file" ? file_solution_seed : request.spec.seed;
}

template <class T>
void add_system(HostMatrix<T>& a, HostMatrix<T>& b, HostMatrix<T>& x_true, std::int64_t nrhs,
                std::uint64_t seed) {
  System<T> system = make_system(a, nrhs, seed);
  x_true = std::move(system.x_true);
  b = std::move(system.b);
}

/// A of a request, with b and x_true where A is square.
template <class T>
io::StoredMatrix<T> make(Context& context, const MatrixRequest& request, std::int64_t nrhs) {
  HostMatrix<T> a = request.kind == "file" ? to_host(rounded<T>(import_as_planned(request), request.file))
                                           : generate_on<T>(context, request.spec);
  HostMatrix<T> b, x_true;
  if (a.rows == a.cols) add_system(a, b, x_true, nrhs, solution_seed(request));
  io::StoredMatrix<T> stored;
  stored.a = to_dense(std::move(a));
  stored.b = to_dense(std::move(b));
  stored.x_true = to_dense(std::move(x_true));
  stored.attributes = {{"kind", request.kind},
                       {"precision", std::string(to_string(precision_of<T>))},
                       {"seed", std::to_string(solution_seed(request))}};
  if (request.kind == "file") {
    stored.attributes["source_sha256"] = request.file_sha256;
  } else {
    stored.attributes["generator"] = request.spec.canonical(precision_of<T>);
  }
  return stored;
}

/// Zeroes the triangle that trsv and trtri do not see.
template <class T>
void keep_triangle(HostMatrix<T>& a, Uplo uplo) {
  for (std::int64_t j = 0; j < a.cols; ++j) {
    const std::int64_t begin = uplo == Uplo::lower ? 0 : j + 1;
    const std::int64_t end = uplo == Uplo::lower ? std::min(j, a.rows) : a.rows;
    for (std::int64_t i = begin; i < end; ++i) a(i, j) = 0;
  }
}

void require_size(const MatrixRequest& request, std::int64_t rows, std::int64_t cols, std::int64_t want_rows,
                  std::int64_t want_cols) {
  if (rows == want_rows && cols == want_cols) return;
  throw io::InputError(fmt::format("{}: the matrix is {} x {}, the trial needs {} x {}",
                                   request.kind == "file" ? request.file : request.kind, rows, cols,
                                   want_rows, want_cols));
}

}  // namespace

std::string inputs_identity(const Trial& t) {
  const bool triangle = t.problem == Problem::trsv || t.problem == Problem::trtri;
  // A factorisation or inversion of the same matrix has no b and no x_true.
  const bool system = t.problem == Problem::trsv || t.problem == Problem::gesv;
  return fmt::format("{} {} {} {}x{}x{} {}", t.matrix.digest, t.matrix_b ? t.matrix_b->digest : "",
                     to_string(t.precision), t.shape.m, t.shape.n, t.shape.k, t.shape.nrhs) +
         (triangle ? fmt::format(" {}", to_string(t.shape.uplo)) : "") + (system ? " system" : "") +
         (t.problem == Problem::gemm ? " gemm" : "");
}

template <class T>
Prepared<T> prepare_inputs(Context& context, io::MatrixStore& store, const Trial& trial) {
  const double unknown = std::numeric_limits<double>::quiet_NaN();
  Prepared<T> result{{}, inputs_identity(trial), unknown, unknown};
  auto fetch = [&](const MatrixRequest& request) {
    const double start = now_seconds();
    bool made = true;
    const std::function<io::StoredMatrix<T>()> maker = [&] {
      return make<T>(context, request, trial.shape.nrhs);
    };
    io::StoredMatrix<T> stored = request.store ? store.get<T>(request.digest, maker, &made) : maker();
    double& field = made ? result.generate_seconds : result.load_seconds;
    field = (field > 0 ? field : 0) + (now_seconds() - start);
    return stored;
  };

  Inputs<T>& in = result.inputs;
  in.shape = trial.shape;
  io::StoredMatrix<T> stored = fetch(trial.matrix);
  in.a = to_host(std::move(stored.a));
  const Shape& s = trial.shape;
  if (trial.problem == Problem::gemm) {
    require_size(trial.matrix, in.a.rows, in.a.cols, s.m, s.k);
    in.b = to_host(fetch(trial.matrix_b.value()).a);
    require_size(*trial.matrix_b, in.b.rows, in.b.cols, s.k, s.n);
    return result;
  }
  require_size(trial.matrix, in.a.rows, in.a.cols, s.n, s.n);
  if (trial.problem == Problem::trsv || trial.problem == Problem::trtri) keep_triangle(in.a, s.uplo);
  if (trial.problem == Problem::trsv) {
    add_system(in.a, in.b, in.x_true, s.nrhs, solution_seed(trial.matrix));
  } else if (trial.problem == Problem::gesv) {
    in.b = to_host(std::move(stored.b));
    in.x_true = to_host(std::move(stored.x_true));
    require_size(trial.matrix, in.b.rows, in.b.cols, s.n, s.nrhs);
  }
  return result;
}

template struct Prepared<float>;
template struct Prepared<double>;
template Prepared<float> prepare_inputs<float>(Context&, io::MatrixStore&, const Trial&);
template Prepared<double> prepare_inputs<double>(Context&, io::MatrixStore&, const Trial&);

}  // namespace gaussweep::driver
