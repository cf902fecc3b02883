#pragma once
/// Image restoration by inversion of a matrix: the image f is degraded to g = H f + noise, and restored from
/// g. H is the matrix of a point-spread function, such as a blur. Source: Soriano Pinedo, Matrix Inversion
/// Speed Up with CUDA, 2011, chapter 6.

#include <limits>
#include <string>
#include <vector>

#include "driver/plan/method_choice.hpp"
#include "io/records/status.hpp"
#include "kernels/check/check.hpp"
#include "kernels/matrix/blur.hpp"
#include "kernels/matrix/noise.hpp"
#include "kernels/registry/method.hpp"

namespace gaussweep::driver {

/// The formula that restores f from g. `regularised`: H^T (H H^T + lambda I)^-1 g, the least-squares solution
/// with Tikhonov regularisation. `paper`: (H H^T + lambda I)^-1 H^T g, which is equal only if H is normal
/// (H H^T = H^T H). `inverse`: H^-1 g.
enum class Formula { regularised, paper, inverse };

/// The algorithm for H H^T and for products with H^T. `analytic`: sums over the point-spread function,
/// without forming H. `gemm`: products of full matrices by a method of gemm, n^3 operations each.
enum class Products { analytic, gemm };

}  // namespace gaussweep::driver

namespace gaussweep {
template <>
struct EnumNames<driver::Formula> {
  static constexpr std::string_view noun = "formula";
  static constexpr std::array<std::pair<driver::Formula, std::string_view>, 3> table{
      {{driver::Formula::regularised, "regularised"},
       {driver::Formula::paper, "paper"},
       {driver::Formula::inverse, "inverse"}}};
};
template <>
struct EnumNames<driver::Products> {
  static constexpr std::string_view noun = "way to make products";
  static constexpr std::array<std::pair<driver::Products, std::string_view>, 2> table{
      {{driver::Products::analytic, "analytic"}, {driver::Products::gemm, "gemm"}}};
};
}  // namespace gaussweep

namespace gaussweep::driver {

/// Selects the method that inverts the formula's matrix, as --method names it. The default problem is geinv
/// for `inverse`, else poinv.
/// @throws UsageError if there is no such method, it inverts another kind of matrix, or it cannot run here
ChosenMethod choose_inverter(const Registry& registry, Formula formula, const std::string& name,
                             Backend requested, Precision precision, int capability);

/// Selects the method of gemm, as --gemm names it. @throws UsageError
ChosenMethod choose_multiplier(const Registry& registry, const std::string& name, Backend requested,
                               Precision precision, int capability);

/// The parameters of a restoration.
struct RestoreJob {
  BlurSpec blur;  ///< width and height are the image's; the formula determines `what`
  NoiseSpec noise;
  std::uint64_t seed = 1;
  Formula formula = Formula::regularised;
  Precision precision = Precision::float64;
  ChosenMethod inverter;
  Products products = Products::analytic;
  ChosenMethod multiplier;  ///< used only for products by gemm
};

/// The results of a restoration: images in grey levels, neither rounded nor clipped, and the seconds of each
/// step. h2d and d2h are copies from the host to the device and back; apply computes the restored image.
struct Restored {
  std::vector<double> degraded, restored;
  /// product_seconds is the time of both products by gemm; 0 without gemm.
  double generate_seconds = 0, allocate_seconds = 0, h2d_seconds = 0, invert_seconds = 0, d2h_seconds = 0,
         verify_seconds = 0, product_seconds = 0, apply_seconds = 0;
  Findings findings{};                           ///< of the inverse
  io::Status product_status = io::Status::pass;  ///< of the first product that does not pass
  std::string product_message;                   ///< the reason
  double product_ratio = std::numeric_limits<double>::quiet_NaN();  ///< the products' larger residual ratio
  double tolerance = 0;
  std::int64_t info = 0;
  Convergence convergence = Convergence::none;
  std::int64_t iterations = 0;
  io::Status status = io::Status::error;  ///< of the inverse, or of a product that fails
  std::string message;                    ///< the reason if `status` is not pass
  DeviceInfo device;
};

/// Returns g = H f + noise. @pre f has width * height elements
std::vector<double> degrade(const RestoreJob& job, const std::vector<double>& f);

/// Degrades and restores the image. Products with H and H^T are sums over the point-spread function in
/// double, except for products by gemm.
/// @param multiplier the device of gemm, if it is not `device`
/// @throws UsageError if the matrices do not fit into memory; errors of the method and the device
Restored restore(const RestoreJob& job, const std::vector<double>& original, Device& device,
                 Device* multiplier = nullptr);

/// Returns the mean of (a - b)^2. @pre equal lengths, not 0
double mean_square_error(const std::vector<double>& a, const std::vector<double>& b);
/// Returns 10 log10(255^2 / mse) in dB; infinite if mse is 0.
double peak_signal_to_noise(double mse);

}  // namespace gaussweep::driver
