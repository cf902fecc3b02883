// Tests the block-row solve (block_chain) on a GPU, where its blocks run concurrently. Thousands of runs must
// terminate with the bits of the first one, alone and while another stream keeps the GPU busy.

#include "tests/testing.hpp"

#ifdef GAUSSWEEP_HAS_CUDA

#include "kernels/trsv/block_chain.hpp"
#include "tests/gpu/on_gpu.hpp"

namespace gaussweep {
namespace {

/// A matrix on a stream of its own, and its solutions of all kinds for `nrhs` right-hand sides.
class Solves {
 public:
  /// The kinds of solves: with the lower triangle, with the upper triangle, or with both triangles after row
  /// exchanges, as after LU.
  enum Kind { lower, upper, lu, kinds };

  Solves(std::int64_t order, std::int64_t nrhs)
      : n_(order),
        nrhs_(nrhs),
        device_(make_cuda_device(/*index=*/0)),
        context_(*device_),
        a_(*device_, bytes(n_ * n_)),
        b_(*device_, bytes(n_ * nrhs_)),
        right_hand_side_(*device_, bytes(n_ * nrhs_)),
        info_(*device_, sizeof(int)),
        pivots_(*device_, static_cast<std::size_t>(n_) * sizeof(int)),
        memory_(*device_, solve_lu_workspace(n_, nrhs_, sizeof(double))) {
    std::mt19937_64 random(5);
    std::uniform_real_distribution<double> unit(-1, 1);
    std::vector<double> a(static_cast<std::size_t>(n_ * n_)), b(static_cast<std::size_t>(n_ * nrhs_));
    for (double& value : a) value = unit(random) / static_cast<double>(n_);
    for (double& value : b) value = unit(random);
    std::vector<int> pivots(static_cast<std::size_t>(n_));
    for (std::int64_t i = 0; i < n_; ++i) {
      const auto k = static_cast<std::size_t>(i);
      a[static_cast<std::size_t>(i * (n_ + 1))] = 1 + unit(random) / 2;
      pivots[k] =
          static_cast<int>(i + 1 + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n_ - i)));
    }
    device_->to_device(a_.data(), a.data(), a_.bytes());
    device_->to_device(right_hand_side_.data(), b.data(), right_hand_side_.bytes());
    device_->to_device(pivots_.data(), pivots.data(), pivots_.bytes());
    device_->fill(info_.data(), /*byte=*/0, info_.bytes());
    for (auto& answer : expected_) answer = solve(static_cast<Kind>(&answer - expected_));
  }

  std::vector<double> solve(Kind kind) {
    auto* const a = static_cast<const double*>(a_.data());
    auto* const b = static_cast<double*>(b_.data());
    auto* const info = static_cast<int*>(info_.data());
    device_->copy(b, right_hand_side_.data(), b_.bytes());
    if (kind == lu) {
      cuda::solve_lu<double>(context_, n_, nrhs_, a, n_, static_cast<const int*>(pivots_.data()), b, n_,
                             memory_.data(), info);
    } else {
      cuda::solve_triangle<double>(context_, kind == lower ? Uplo::lower : Uplo::upper,
                                   vendor::Diagonal::stored, n_, nrhs_, a, n_, b, n_, memory_.data(), info);
    }
    std::vector<double> answer(static_cast<std::size_t>(n_ * nrhs_));
    device_->to_host(answer.data(), b, b_.bytes());
    return answer;
  }
  /// Returns the number of runs whose bits differ from the first run of the same kind.
  int count_differing(int runs) {
    int count = 0;
    for (int run = 0; run < runs; ++run) {
      const std::vector<double> answer = solve(static_cast<Kind>(run % kinds));
      if (std::memcmp(answer.data(), expected_[run % kinds].data(), b_.bytes()) != 0) ++count;
    }
    return count;
  }
  int info() {
    int value = 0;
    device_->to_host(&value, info_.data(), sizeof(value));
    return value;
  }

 private:
  static std::size_t bytes(std::int64_t count) { return static_cast<std::size_t>(count) * sizeof(double); }
  std::int64_t n_, nrhs_;
  std::unique_ptr<Device> device_;
  Context context_;
  Buffer a_, b_, right_hand_side_, info_, pivots_, memory_;
  std::vector<double> expected_[kinds];
};

using BlockChainOnGpu = OnGpu;

TEST_F(BlockChainOnGpu, TenThousandRunsHaveTheSameBits) {
  for (const std::int64_t nrhs : {1, 19}) {
    Solves solves(small() ? 300 : 1000, nrhs);
    EXPECT_EQ(solves.count_differing(small() ? 6 : 10000), 0) << nrhs;
    EXPECT_EQ(solves.info(), 0) << nrhs;
  }
}

TEST_F(BlockChainOnGpu, TerminatesNextToABusyStream) {
  Solves solves(small() ? 300 : 1500, /*nrhs=*/19);
  std::atomic<bool> done{false};
  std::atomic<int> other_differing{0};
  std::thread neighbour([&] {
    // At order 6000 there are more thread blocks than the GPU can hold next to the thread blocks of the other
    // stream.
    Solves concurrent(small() ? 300 : 6000, /*nrhs=*/1);
    do {
      other_differing += concurrent.count_differing(/*runs=*/3);
    } while (!done);
  });
  const int differing = solves.count_differing(small() ? 6 : 3000);
  done = true;
  neighbour.join();
  EXPECT_EQ(differing, 0);
  EXPECT_EQ(other_differing, 0);
  EXPECT_EQ(solves.info(), 0);
}

}  // namespace
}  // namespace gaussweep

#endif
