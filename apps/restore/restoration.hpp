#pragma once
/// Image restoration by inversion of a matrix: f is degraded to g = H f + noise and restored from g.
/// Source: Soriano Pinedo, Matrix Inversion Speed Up with CUDA, 2011, chapter 6.

#include <limits>
#include <string>
#include <vector>

#include "io/records/status.hpp"
#include "kernels/check/check.hpp"
#include "kernels/matrix/blur.hpp"
#include "kernels/matrix/noise.hpp"
#include "kernels/registry/method.hpp"

namespace gaussweep::driver {

/// `regularised`: H^T (H H^T + lambda I)^-1 g, right for every H. `paper`: (H H^T + lambda I)^-1 H^T g, the
/// same only where H is normal. `inverse`: H^-1 g.
enum class Formula { regularised, paper, inverse };

/// How H H^T and the product of its inverse with H^T come about. `analytic`: by sums over the point-spread
/// function, H is not formed. `gemm`: as products of full matrices by a method of gemm, n^3 operations each.
enum class Products { analytic, gemm };

}  // namespace gaussweep::driver

namespace gaussweep {
template <>
struct EnumNames<driver::Formula> {
  static constexpr std::string_view what = "formula";
  static constexpr std::array<std::pair<driver::Formula, std::string_view>, 3> table{
      {{driver::Formula::regularised, "regularised"},
       {driver::Formula::paper, "paper"},
       {driver::Formula::inverse, "inverse"}}};
};
template <>
struct EnumNames<driver::Products> {
  static constexpr std::string_view what = "way to make products";
  static constexpr std::array<std::pair<driver::Products, std::string_view>, 2> table{
      {{driver::Products::analytic, "analytic"}, {driver::Products::gemm, "gemm"}}};
};
}  // namespace gaussweep

namespace gaussweep::driver {

/// A method and where it runs.
struct Inverter {
  const Method* method = nullptr;
  Backend backend = Backend::host;
};

/// Finds the method. `word` is an id ("poinv/lapack"), a variant of the formula's usual problem, or empty for
/// the vendor's reference there. The usual problem is geinv for `inverse`, else poinv.
/// @param capability of the GPU, 0 where there is none
/// @throws UsageError: no such method, one that inverts another kind of matrix, or one that cannot run here
Inverter choose_inverter(const Registry& registry, Formula formula, const std::string& word,
                         Backend requested, Precision precision, int capability);

/// Finds the method of gemm likewise: an id, a variant, or empty for the vendor's. @throws UsageError
Inverter choose_multiplier(const Registry& registry, const std::string& word, Backend requested,
                           Precision precision, int capability);

/// Finds a method of `problem` likewise, for --method. @throws UsageError
Inverter choose_method(const Registry& registry, Problem problem, const std::string& word, Backend requested,
                       Precision precision, int capability);

/// What is restored, and how.
struct RestoreJob {
  BlurSpec blur;  ///< width and height are the image's; `what` is set by the formula
  NoiseSpec noise;
  std::uint64_t seed = 1;
  Formula formula = Formula::regularised;
  Precision precision = Precision::float64;
  Inverter inverter;
  Products products = Products::analytic;
  Inverter multiplier;  ///< products by gemm only
};

/// Pictures in grey levels, neither rounded nor clipped; seconds of each step.
struct Restored {
  std::vector<double> degraded, restored;
  /// product_seconds: of both products by gemm, 0 without them.
  double generate_seconds = 0, allocate_seconds = 0, h2d_seconds = 0, invert_seconds = 0, d2h_seconds = 0,
         verify_seconds = 0, product_seconds = 0, apply_seconds = 0;
  Findings findings{};                                              ///< of the inverse
  io::Status product_status = io::Status::pass;                     ///< of the first product that is no pass
  std::string product_message;                                      ///< why it is none
  double product_ratio = std::numeric_limits<double>::quiet_NaN();  ///< the larger of the products by gemm
  double tolerance = 0;
  std::int64_t info = 0;
  Convergence convergence = Convergence::none;
  std::int64_t iterations = 0;
  io::Status status = io::Status::error;  ///< of the inverse, as in a sweep; of a product that is no pass
  std::string message;                    ///< likewise: why it is no pass
  DeviceInfo device;
};

/// g = H f + noise. @pre f has width * height elements
std::vector<double> degrade(const RestoreJob& job, const std::vector<double>& f);

/// Degrades and restores. But for products by gemm, those with H and H^T are sums over the point-spread
/// function, in double.
/// @param multiplier what gemm runs on, where it is not `device`
/// @throws UsageError where the matrices do not fit into memory; what the method or the device throws
Restored restore(const RestoreJob& job, const std::vector<double>& original, Device& device,
                 Device* multiplier = nullptr);

/// Mean of (a - b)^2. @pre equal lengths, not 0
double mean_square_error(const std::vector<double>& a, const std::vector<double>& b);
/// 10 log10(255^2 / mse) in dB; infinite where mse is 0.
double peak_signal_to_noise(double mse);

}  // namespace gaussweep::driver
