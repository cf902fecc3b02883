/// Implements distributed_matrix.hpp: a matrix whose block columns are spread over the devices of a group.

#include "kernels/staging/distributed_matrix.hpp"

#include <algorithm>

namespace gaussweep {
namespace {

/// for_blocks visits a block column in two pieces: the rows above the diagonal block (`above` is true), and
/// all other rows. Returns the elements of a piece that lie in the region `region` of the matrix, as a region
/// of the piece.
/// @pre the diagonal block's first row is even, so that the regions `checkered` and `odd_rows` stay the same
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

GappedLayout part_layout(const ColumnBlocks& blocks, int gpu, std::size_t element_bytes) {
  GappedLayout layout(element_bytes);
  layout.append("A", "column", static_cast<std::size_t>(blocks.columns_of(gpu)),
                static_cast<std::size_t>(blocks.n) * element_bytes,
                static_cast<std::size_t>(blocks.leading_dimension()) * element_bytes);
  return layout;
}

template <class T>
DistributedMatrix<T>::DistributedMatrix(DeviceGroup& group, const ColumnBlocks& blocks)
    : group_(&group), blocks_(blocks), ld_(blocks.leading_dimension()) {
  for (int device = 0; device < blocks.gpus; ++device) {
    layouts_.push_back(part_layout(blocks, device, sizeof(T)));
    parts_.emplace_back(group.device(device), layouts_.back().bytes());
    layouts_.back().fill(group.device(device), parts_.back());
    layouts_.back().fill_padding(group.device(device), parts_.back());
  }
}

template <class T>
MatrixView<T> DistributedMatrix<T>::part(int device) const {
  auto* const memory = static_cast<std::byte*>(parts_[static_cast<std::size_t>(device)].data());
  return {reinterpret_cast<T*>(memory + GappedLayout::first_offset), blocks_.n, blocks_.columns_of(device),
          ld_};
}

template <class T>
T* DistributedMatrix<T>::at(std::int64_t block) const {
  return part(blocks_.gpu_of(block)).data + blocks_.local_begin(block) * ld_;
}

template <class T>
void DistributedMatrix<T>::upload(const T* from) {
  for_pieces(
      [&](Device& device, T* piece, std::size_t stride, std::int64_t column, std::size_t columns, T* packed) {
        const std::size_t bytes = static_cast<std::size_t>(blocks_.n) * sizeof(T);
        device.to_device(packed != nullptr ? packed : piece, from + column * blocks_.n, bytes * columns);
        if (packed != nullptr) device.copy_2d(piece, stride, packed, bytes, bytes, columns);
      });
}

template <class T>
void DistributedMatrix<T>::download(T* to) const {
  for_pieces(
      [&](Device& device, T* piece, std::size_t stride, std::int64_t column, std::size_t columns, T* packed) {
        const std::size_t bytes = static_cast<std::size_t>(blocks_.n) * sizeof(T);
        if (packed != nullptr) device.copy_2d(packed, bytes, piece, stride, bytes, columns);
        device.to_host(to + column * blocks_.n, packed != nullptr ? packed : piece, bytes * columns);
      });
}

template <class T>
template <class Copy>
void DistributedMatrix<T>::for_pieces(const Copy& copy) const {
  constexpr std::size_t packed_bytes = std::size_t{64} << 20;
  const std::size_t column = static_cast<std::size_t>(blocks_.n) * sizeof(T);
  const std::size_t stride = static_cast<std::size_t>(ld_) * sizeof(T);
  const bool is_packed = stride == column;
  const auto max_columns = static_cast<std::int64_t>(std::max<std::size_t>(1, packed_bytes / column));
  const std::int64_t width = is_packed ? blocks_.width : std::min(max_columns, blocks_.width);
  group_->for_each(blocks_.gpus, [&](int gpu) {
    Device& device = group_->device(gpu);
    // Direct copies between pageable host memory and columns with gaps would be much slower.
    const Buffer packed(device, is_packed ? 0 : column * static_cast<std::size_t>(width));
    for (std::int64_t block = gpu; block < blocks_.count(); block += blocks_.gpus) {
      for (std::int64_t first = 0; first < blocks_.columns(block); first += width) {
        copy(device, at(block) + first * ld_, stride, blocks_.begin(block) + first,
             static_cast<std::size_t>(std::min(width, blocks_.columns(block) - first)),
             is_packed ? nullptr : static_cast<T*>(packed.data()));
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
    if (begin > 0) visit(context, first, Extent{begin, columns}, /*above=*/true, block);
    visit(context, first + begin, Extent{blocks_.n - begin, columns}, /*above=*/false, block);
  }
  group_->synchronize();
}

template <class T>
void DistributedMatrix<T>::guard(const OperandGuard& guard) {
  for_blocks([&](Context& context, T* first, const Extent& size, bool above, std::int64_t) {
    guard_operand(context, WritableStridedView<T>{first, /*row_stride=*/1, ld_}, size,
                  {region_in(guard.negated, above), region_in(guard.hidden, above), guard.noise});
  });
}

template <class T>
std::uint64_t DistributedMatrix<T>::digest(Region counted, Region negated) const {
  std::uint64_t sum = 0;
  for_blocks([&](Context& context, const T* first, const Extent& size, bool above, std::int64_t block) {
    const std::uint64_t part = digest_elements(context, StridedView<T>{first, /*row_stride=*/1, ld_}, size,
                                               region_in(counted, above), region_in(negated, above));
    // The position distinguishes the two pieces of every block column.
    sum += guard::hashed_word(part, static_cast<unsigned long long>(2 * block + (above ? 1 : 0)));
  });
  return sum;
}

template <class T>
std::int64_t DistributedMatrix<T>::count_overwritten(Region hidden) const {
  std::int64_t sum = 0;
  for_blocks([&](Context& context, const T* first, const Extent& size, bool above, std::int64_t) {
    sum += gaussweep::count_overwritten(context, StridedView<T>{first, /*row_stride=*/1, ld_}, size,
                                        region_in(hidden, above));
  });
  return sum;
}

template <class T>
std::string DistributedMatrix<T>::overrun() const {
  for (int device = 0; device < blocks_.gpus; ++device) {
    const auto index = static_cast<std::size_t>(device);
    const std::string overrun = layouts_[index].overrun(group_->device(device), parts_[index].data());
    if (!overrun.empty()) return overrun + " on GPU " + std::to_string(device);
  }
  return {};
}

template class DistributedMatrix<float>;
template class DistributedMatrix<double>;

}  // namespace gaussweep
