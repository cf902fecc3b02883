#pragma once
/// The schedule of panels, copies and updates in a right-looking factorisation (LU or Cholesky) of a matrix
/// whose block columns are distributed over GPUs.
///
/// The GPU that owns a block column copies it to a contiguous panel and factors the panel. The other GPUs
/// copy the panel over NVLink. Each GPU then updates its block columns right of the panel, on its streams of
/// low priority (background streams). The owner of the next block column updates and factors that block
/// column first (look-ahead by one panel), on its stream for computations. Factorisation and copies of a
/// panel therefore overlap the updates on all GPUs.
///
/// The two background streams of a GPU split an update and do not wait for each other. This is safe as long
/// as the same stream updates a column every time. The split depends only on the number of the GPU's
/// remaining columns, so it changes only when the GPU owns the next panel. The GPU's stream for computations
/// then waits for both background streams, and both wait for the panel. Both streams therefore never update
/// the same column at the same time.

#include <cstddef>
#include <vector>

#include "kernels/device/device_group.hpp"
#include "kernels/registry/column_blocks.hpp"
#include "kernels/registry/method.hpp"

namespace gaussweep {

/// The GPUs of one factorisation, each with its part of the matrix and two panels.
template <class T>
class DistributedPanels {
 public:
  /// @param panel_bytes the maximum bytes of a panel; the workspace of each GPU provides two panels
  DistributedPanels(Context& context, const ColumnBlocks& blocks, std::vector<OperandPart<T>>& parts,
                    std::size_t panel_bytes)
      : group_(*context.group), blocks_(blocks) {
    for (OperandPart<T>& part : parts) {
      Gpu gpu{part.a, {}};
      for (void*& panel : gpu.panels)
        panel = part.workspace.template take<std::byte>(static_cast<std::int64_t>(panel_bytes));
      gpus_.push_back(gpu);
    }
  }

  DeviceGroup& group() { return group_; }
  const ColumnBlocks& blocks() const { return blocks_; }
  /// Returns the memory of a block column's panel on a GPU. Panels of even and odd block columns alternate.
  void* panel(int gpu, std::int64_t block) { return at(gpu).panels[block % 2]; }
  std::int64_t ld(int gpu) { return at(gpu).a.ld; }
  /// Returns the address of row `row` in the first column of a block, on the GPU that owns the block.
  T* column(std::int64_t block, std::int64_t row) {
    const MatrixView<T>& a = at(blocks_.gpu_of(block)).a;
    return a.data + blocks_.local_begin(block) * a.ld + row;
  }
  /// Returns the address of row `row` in the GPU's column `column`, counted from 0 on this GPU.
  T* local_column(int gpu, std::int64_t column, std::int64_t row) {
    const MatrixView<T>& a = at(gpu).a;
    return a.data + column * a.ld + row;
  }

  /// Queues the factorisation of the first `panels` block columns on the streams of all GPUs, and the update
  /// of all later block columns. The factorisation starts after the earlier work of the first GPU's stream;
  /// that stream then waits for the end of the factorisation. A Device is one stream of a GPU. The group's
  /// `stage` names the work that follows, for runs that measure the times of stages.
  /// @param factor factor(context, block): copies the block column to its panel and factors it; returns the
  /// bytes that the other GPUs need
  /// @param copy_back copy_back(device, block): copies the factors to the matrix, on the owner's stream for
  /// copies
  /// @param update update(gpu, block, first, last, streams): updates the GPU's blocks in [first, last) with
  /// the panel, in the contexts of `streams`
  /// @param finish finish(block): queues further work with the panel on streams of low priority
  template <class Factor, class CopyBack, class Update, class Finish>
  void run(std::int64_t panels, const Factor& factor, const CopyBack& copy_back, const Update& update,
           const Finish& finish) {
    const int count = blocks_.gpus;
    const std::int64_t last = blocks_.count();  // the end of the block columns
    group_.stage(count, "start");
    group_.fork(count);
    // Factors a panel and copies it to the other GPUs and back to the matrix.
    const auto factor_and_send = [&](std::int64_t block) {
      send(block, factor, /*has_background=*/true);
      Device& copy_stream = group_.copy_stream(blocks_.gpu_of(block));
      copy_stream.wait_for(group_.device(blocks_.gpu_of(block)));
      copy_back(copy_stream, block);
    };
    factor_and_send(0);
    for (std::int64_t block = 0; block < panels; ++block) {
      for (int gpu = 0; gpu < count; ++gpu) {
        group_.device(gpu).wait_for(group_.copy_stream(gpu));
        // The owner's background updates wait for its own panel, but not for copy_back.
        const bool is_owner = gpu == blocks_.gpu_of(block);
        group_.make_background_wait(gpu, is_owner ? group_.device(gpu) : group_.copy_stream(gpu));
      }
      std::int64_t next = block + 1;  // below: the first block column that the background streams update
      if (next < panels) {
        const int owner = blocks_.gpu_of(next);
        group_.stage(count, "update_ahead");
        group_.wait_for_background(owner);  // waits for the updates with earlier panels
        update(owner, block, next, next + 1, Streams{group_, owner, /*background=*/false});
        factor_and_send(next);
        group_.make_background_wait(owner, group_.device(owner));
        ++next;
      }
      group_.stage(count, "update");
      for (int gpu = 0; gpu < count; ++gpu)
        update(gpu, block, std::min(next, last), last, Streams{group_, gpu, /*background=*/true});
      finish(block);
    }
    group_.join(count);
  }

  /// Writes a panel on its owner and copies it to all other GPUs, on their streams for copies.
  /// @param write write(context, block): writes the panel and returns its bytes
  /// @param has_background true if background streams also read panels
  template <class Write>
  void send(std::int64_t block, const Write& write, bool has_background = false) {
    const int count = blocks_.gpus, owner = blocks_.gpu_of(block);
    group_.stage(count, "panel");
    Device& device = group_.device(owner);
    // Panels k and k - 2 share memory, which is free when the other GPUs have copied panel k - 2.
    group_.wait_for_others_copies(owner, count);
    const std::size_t bytes = write(group_.use(owner), block);
    group_.stage(count, "transfer");
    for (int gpu = 0; gpu < count; ++gpu) {
      if (gpu == owner) continue;
      Device& copy_stream = group_.copy_stream(gpu);
      copy_stream.wait_for(device);
      // Waits for the kernels that read panel k - 2, whose memory is overwritten.
      copy_stream.wait_for(group_.device(gpu));
      for (int stream = 0; has_background && stream < DeviceGroup::background_streams; ++stream)
        copy_stream.wait_for(group_.background(gpu, stream));
      copy_stream.copy(panel(gpu, block), panel(owner, block), bytes);
    }
  }

  /// The streams of a GPU for one update.
  struct Streams {
    DeviceGroup& group;
    int gpu;
    bool background;  ///< true: the background streams; false: the stream for computations

    int count() const { return background ? DeviceGroup::background_streams : 1; }
    /// Returns the context for part `part` of the update, from 0.
    Context& context(std::int64_t part) const {
      return background ? group.use_background(gpu, static_cast<int>(part % count())) : group.use(gpu);
    }
  };

 private:
  struct Gpu {
    MatrixView<T> a;
    void* panels[2];  ///< of even and odd block columns
  };
  Gpu& at(int gpu) { return gpus_[static_cast<std::size_t>(gpu)]; }

  DeviceGroup& group_;
  ColumnBlocks blocks_;
  std::vector<Gpu> gpus_;
};

}  // namespace gaussweep
