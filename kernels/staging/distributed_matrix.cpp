#include "kernels/staging/distributed_matrix.hpp"

#include <algorithm>

namespace gaussweep {
namespace {

/// Returns the part of a region that lies in the rows above or from a diagonal block on. @pre the block's
/// first row is even
Region region_in(Region region, bool above) {
  switch (region) {
    case Region::lower:
    case Region::below:
      return above ? Region::none : region;
    case Region::upper:
    case Region::above:
      return above ? Region::all : region;
    default:
      return region;
  }
}

}  // namespace

template <class T>
DistributedMatrix<T>::DistributedMatrix(DeviceGroup& group, const ColumnBlocks& blocks)
    : group_(&group), blocks_(blocks), ld_(blocks.leading_dimension()) {
  for (int device = 0; device < blocks.gpus; ++device)
    parts_.emplace_back(group.device(device),
                        static_cast<std::size_t>(ld_ * blocks.columns_of(device)) * sizeof(T));
}

template <class T>
MatrixView<T> DistributedMatrix<T>::part(int device) const {
  return {static_cast<T*>(parts_[static_cast<std::size_t>(device)].data()), blocks_.n,
          blocks_.columns_of(device), ld_};
}

template <class T>
T* DistributedMatrix<T>::at(std::int64_t block) const {
  return part(blocks_.gpu_of(block)).data + blocks_.local_begin(block) * ld_;
}

template <class T>
void DistributedMatrix<T>::upload(const T* from) {
  const std::size_t column = static_cast<std::size_t>(blocks_.n) * sizeof(T);
  const std::size_t stride = static_cast<std::size_t>(ld_) * sizeof(T);
  group_->for_each(blocks_.gpus, [&](int gpu) {
    Device& device = group_->device(gpu);
    for (std::int64_t block = gpu; block < blocks_.count(); block += blocks_.gpus) {
      const T* const source = from + blocks_.begin(block) * blocks_.n;
      const auto columns = static_cast<std::size_t>(blocks_.columns(block));
      if (stride == column) {
        device.to_device(at(block), source, column * columns);
      } else {
        device.to_device_2d(at(block), stride, source, column, column, columns);
      }
    }
  });
  group_->synchronize();
}

template <class T>
void DistributedMatrix<T>::download(T* to) const {
  const std::size_t column = static_cast<std::size_t>(blocks_.n) * sizeof(T);
  const std::size_t stride = static_cast<std::size_t>(ld_) * sizeof(T);
  group_->for_each(blocks_.gpus, [&](int gpu) {
    Device& device = group_->device(gpu);
    for (std::int64_t block = gpu; block < blocks_.count(); block += blocks_.gpus) {
      T* const target = to + blocks_.begin(block) * blocks_.n;
      const auto columns = static_cast<std::size_t>(blocks_.columns(block));
      if (stride == column) {
        device.to_host(target, at(block), column * columns);
      } else {
        device.to_host_2d(target, column, at(block), stride, column, columns);
      }
    }
  });
  group_->synchronize();
}

template <class T>
void DistributedMatrix<T>::copy_from(const DistributedMatrix& other) {
  for (int device = 0; device < blocks_.gpus; ++device) {
    const Buffer& from = other.parts_[static_cast<std::size_t>(device)];
    group_->device(device).copy(parts_[static_cast<std::size_t>(device)].data(), from.data(), from.bytes());
  }
  group_->synchronize();
}

template <class T>
template <class Visit>
void DistributedMatrix<T>::for_blocks(Visit&& visit) const {
  for (std::int64_t block = 0; block < blocks_.count(); ++block) {
    Context& context = group_->use(blocks_.gpu_of(block));
    const std::int64_t begin = blocks_.begin(block), columns = blocks_.columns(block);
    T* const first = at(block);
    if (begin > 0) visit(context, first, Extent{begin, columns}, true, block);
    visit(context, first + begin, Extent{blocks_.n - begin, columns}, false, block);
  }
  group_->synchronize();
}

template <class T>
void DistributedMatrix<T>::guard(const OperandGuard& guard) {
  for_blocks([&](Context& context, T* first, const Extent& size, bool above, std::int64_t) {
    guard_operand(context, Destination<T>{first, 1, ld_}, size,
                  {region_in(guard.negated, above), region_in(guard.hidden, above), guard.noise});
  });
}

template <class T>
std::uint64_t DistributedMatrix<T>::digest(Region counted, Region negated) const {
  std::uint64_t sum = 0;
  for_blocks([&](Context& context, const T* first, const Extent& size, bool above, std::int64_t block) {
    const std::uint64_t part = digest_elements(context, Strided<T>{first, 1, ld_}, size,
                                               region_in(counted, above), region_in(negated, above));
    sum += guard::mixed(part, static_cast<unsigned long long>(2 * block + (above ? 1 : 0)));
  });
  return sum;
}

template <class T>
std::int64_t DistributedMatrix<T>::count_overwritten(Region hidden) const {
  std::int64_t sum = 0;
  for_blocks([&](Context& context, const T* first, const Extent& size, bool above, std::int64_t) {
    sum += gaussweep::count_overwritten(context, Strided<T>{first, 1, ld_}, size, region_in(hidden, above));
  });
  return sum;
}

template class DistributedMatrix<float>;
template class DistributedMatrix<double>;

}  // namespace gaussweep
