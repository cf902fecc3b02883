#pragma once
/// The answers of a trial's samples: if their bits differ, the worst one is recorded.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "driver/judge/judge_answer.hpp"
#include "driver/worker/held_answer.hpp"

namespace gaussweep::driver {

/// Returns true if `one` is the worse answer, which is recorded instead of `other`.
inline bool is_worse(const Judgement& one, const Judgement& other, const Trial& trial) {
  if (one.disagreement.empty() != other.disagreement.empty()) return !one.disagreement.empty();
  const auto of_one = judge(evidence_of(trial, one)), of_other = judge(evidence_of(trial, other));
  if (of_one != of_other) return of_one > of_other;
  return one.findings.ratio > other.findings.ratio;
}

/// Compares the digests of all samples' answers (MethodRun::answer_digests). An answer that differs from the
/// first is verified immediately. The first answer is kept, so that it can be verified later if another one
/// differs.
template <class T>
class SampleAnswers {
 public:
  using Keep = std::function<std::optional<HeldAnswer<T>>()>;
  using JudgeCopy = std::function<Judgement(int copy)>;
  using JudgeKept = std::function<Judgement(HeldAnswer<T>&)>;

  /// @param trial must outlive this object
  /// @param keep copies the answer of working set 0; returns nothing if memory does not suffice
  /// @param judge_copy verifies the answer of a working set
  SampleAnswers(const Trial& trial, Keep keep, JudgeCopy judge_copy)
      : trial_(trial), keep_(std::move(keep)), judge_copy_(std::move(judge_copy)) {}

  /// Compares the answers of one sample, one digest per working set, with the first answer.
  void compare(const std::vector<std::uint64_t>& digests) {
    if (samples_++ == 0) {
      first_ = digests.front();
      if (trial_.sampling.max_samples > 1 || digests.size() > 1) kept_ = keep_();
    }
    for (std::size_t copy = 0; copy < digests.size(); ++copy) {
      if (digests[copy] == first_) continue;
      differ_ = true;
      if (!judged_.insert(digests[copy]).second) continue;
      keep_worst(judge_copy_(static_cast<int>(copy)));
    }
    last_ = digests.back();
  }
  /// Returns 1 if all answers had the same bits, 0 if they differed, -1 if there was only one sample.
  std::int64_t repeats_bits() const { return differ_ ? 0 : samples_ > 1 ? 1 : -1; }
  /// Returns the worst of all verified answers. Frees the kept answer.
  /// @param last the verified answer of the last sample
  /// @param unjudged set if the first answer differs from the last but was not kept
  Judgement worst(Judgement last, const JudgeKept& judge_kept, bool& unjudged) {
    unjudged = differ_ && first_ != last_ && !kept_;
    if (differ_ && first_ != last_ && kept_) keep_worst(judge_kept(*kept_));
    kept_.reset();
    return worst_ && is_worse(*worst_, last, trial_) ? *worst_ : last;
  }
  /// Frees the kept answer if all answers are the same.
  void forget_if_same() {
    if (!differ_) kept_.reset();
  }

 private:
  void keep_worst(Judgement answer) {
    if (!worst_ || is_worse(answer, *worst_, trial_)) worst_ = std::move(answer);
  }

  const Trial& trial_;
  Keep keep_;
  JudgeCopy judge_copy_;
  std::int64_t samples_ = 0;
  std::uint64_t first_ = 0, last_ = 0;
  bool differ_ = false;
  std::set<std::uint64_t> judged_;
  std::optional<HeldAnswer<T>> kept_;
  std::optional<Judgement> worst_;
};

}  // namespace gaussweep::driver
