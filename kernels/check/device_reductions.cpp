/// Chooses whether a reduction of verification runs on the CPU (small matrices) or on the device. Splits
/// products among the devices of a group.

#include "kernels/check/device_reductions.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "kernels/device/device_group.hpp"
#include "kernels/device/scratch.hpp"

namespace gaussweep {
namespace {

/// Reduces small matrices on the CPU and others on the device.
template <class T>
class SmallOnHostReductions final : public ForwardingReductions<T> {
 public:
  SmallOnHostReductions(std::unique_ptr<Reductions<T>> device, std::size_t max_elements)
      : device_(std::move(device)), max_elements_(max_elements) {}
  ElementDifference element_difference(const HostMatrix<T>& x, const HostMatrix<T>& y, MatrixPart part,
                                       double x_norm, double y_norm) override {
    // The CPU compares x and y only if both are small.
    return delegate_for(is_small(x) ? &y : &x).element_difference(x, y, part, x_norm, y_norm);
  }

 private:
  bool is_small(const HostMatrix<T>& a) const {
    return static_cast<std::size_t>(a.rows * a.cols) <= max_elements_ && is_on_host(a);
  }
  Reductions<T>& delegate_for(const HostMatrix<T>* a) override {
    if (a != nullptr && is_small(*a)) return host_;
    return *device_;
  }
  std::unique_ptr<Reductions<T>> device_;
  HostReductions<T> host_;
  std::size_t max_elements_;
};

/// Returns reductions on one device.
template <class T>
std::unique_ptr<Reductions<T>> on_one_device(Context& context, std::vector<DeviceCopy<T>> copies,
                                             std::size_t workspace, const ColumnShare& share) {
#ifdef GAUSSWEEP_HAS_CUDA
  if (context.device.backend() == Backend::cuda)
    return cuda::device_reductions<T>(context, std::move(copies), workspace, share);
#endif
  return emulated::device_reductions<T>(context, std::move(copies), workspace, share);
}

/// Splits products by columns among the devices of a group. The first device does all other reductions.
template <class T>
class GroupReductions final : public ForwardingReductions<T> {
 public:
  GroupReductions(Context& context, std::size_t workspace) : group_(*context.group) {
    for (int index = 0; index < group_.size(); ++index) {
      devices_.push_back(on_one_device<T>(index == 0 ? context : group_.use(index), /*copies=*/{}, workspace,
                                          ColumnShare{index, group_.size()}));
    }
    context.device.make_current();
  }
  std::vector<ColumnResidual> residual_columns(const ProductOperands<T>& operands,
                                               const ResidualTarget<T>& target, Measure measure) override {
    std::vector<std::vector<ColumnResidual>> parts(devices_.size());
    for_each_with_columns(operands.cols(), [&](int index) {
      parts[static_cast<std::size_t>(index)] = at(index).residual_columns(operands, target, measure);
    });
    for (int index = 1; index < group_.size(); ++index) {
      const auto& part = parts[static_cast<std::size_t>(index)];
      const std::int64_t cols = operands.cols();
      ColumnShare{index, group_.size()}.for_columns(cols, cols, [&](std::int64_t begin, std::int64_t width) {
        std::copy_n(part.begin() + begin, width, parts.front().begin() + begin);
      });
    }
    return std::move(parts.front());
  }
  double largest_allowance_ratio(const ProductOperands<T>& operands, const ResidualTarget<T>& target,
                                 const Allowance& allowance) override {
    std::vector<double> parts(devices_.size());
    for_each_with_columns(operands.cols(), [&](int index) {
      parts[static_cast<std::size_t>(index)] = at(index).largest_allowance_ratio(operands, target, allowance);
    });
    double largest = 0;
    for (const double part : parts) largest = std::isnan(part) || part > largest ? part : largest;
    return largest;
  }

 private:
  Reductions<T>& at(int index) { return *devices_[static_cast<std::size_t>(index)]; }
  Reductions<T>& delegate_for(const HostMatrix<T>*) override { return at(0); }
  /// Calls work(index) for the devices that have columns of a product. The other devices get no copies of the
  /// operands.
  template <class Work>
  void for_each_with_columns(std::int64_t cols, const Work& work) {
    const std::int64_t width = ColumnShare{/*device=*/0, group_.size()}.width(cols);
    const std::int64_t used = std::min<std::int64_t>(group_.size(), (cols + width - 1) / width);
    group_.for_each(static_cast<int>(used), work);
  }

  DeviceGroup& group_;
  std::vector<std::unique_ptr<Reductions<T>>> devices_;
};

}  // namespace

template <class T>
std::unique_ptr<Reductions<T>> small_on_host(std::unique_ptr<Reductions<T>> device,
                                             std::size_t max_elements) {
  return std::make_unique<SmallOnHostReductions<T>>(std::move(device), max_elements);
}

template <class T>
std::vector<DeviceCopy<T>> device_copies(Staging<T>& staging, const Inputs<T>& inputs,
                                         const Answer<T>& answer, int set) {
  std::vector<DeviceCopy<T>> copies{{&inputs.a, staging.pristine_a()}, {&answer.x, staging.answer(set)}};
  if (inputs.b.rows * inputs.b.cols > 0) copies.push_back({&inputs.b, staging.pristine_b()});
  return copies;
}

template <class T>
std::unique_ptr<Reductions<T>> device_reductions(Context& context, std::vector<DeviceCopy<T>> copies,
                                                 std::size_t workspace) {
  // `copies` are in the memory of the first device only. The first device therefore computes all reductions.
  if (context.group != nullptr && copies.empty())
    return std::make_unique<GroupReductions<T>>(context, workspace);
  return on_one_device<T>(context, std::move(copies), workspace, ColumnShare{});
}

void start_digest(Context& context, const void* data, std::size_t bytes, unsigned long long* digest) {
#ifdef GAUSSWEEP_HAS_CUDA
  if (context.device.backend() == Backend::cuda) return cuda::start_digest(context, data, bytes, digest);
#endif
  emulated::start_digest(context, data, bytes, digest);
}

std::uint64_t device_digest(Context& context, const void* data, std::size_t bytes) {
  const Scratch::PooledBuffer sum = scratch_of(context).take(sizeof(unsigned long long));
  start_digest(context, data, bytes, sum.as<unsigned long long>());
  unsigned long long digest = 0;
  context.device.to_host(&digest, sum.as<unsigned long long>(), sizeof digest);
  return digest;
}

template std::unique_ptr<Reductions<float>> small_on_host(std::unique_ptr<Reductions<float>>, std::size_t);
template std::unique_ptr<Reductions<double>> small_on_host(std::unique_ptr<Reductions<double>>, std::size_t);
template std::unique_ptr<Reductions<float>> device_reductions(Context&, std::vector<DeviceCopy<float>>,
                                                              std::size_t);
template std::unique_ptr<Reductions<double>> device_reductions(Context&, std::vector<DeviceCopy<double>>,
                                                               std::size_t);
template std::vector<DeviceCopy<float>> device_copies(Staging<float>&, const Inputs<float>&,
                                                      const Answer<float>&, int);
template std::vector<DeviceCopy<double>> device_copies(Staging<double>&, const Inputs<double>&,
                                                       const Answer<double>&, int);

}  // namespace gaussweep
