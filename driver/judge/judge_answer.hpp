#pragma once
/// Verifies answers on the GPU of the worker (the process that runs trials) if it has one, otherwise on the
/// CPU. The CPU also verifies a subset of the answers that the GPU has verified. A trial is one method on one
/// matrix, or on a batch of matrices.

#include <cstdint>
#include <string>
#include <vector>

#include "driver/judge/judge.hpp"
#include "driver/plan/trial.hpp"
#include "kernels/check/check.hpp"
#include "kernels/staging/staging.hpp"

namespace gaussweep::driver {

/// The number of linear systems of a batch per verdict (pass, suspect, failed); -1 if the trial is not a
/// batch.
struct SystemCounts {
  std::int64_t pass = -1, suspect = -1, failed = -1;
  /// Index of the first failed system, otherwise of the first suspect one; -1: none.
  std::int64_t first_failure = -1;
  std::string description;  ///< lists the systems that do not pass, and the reasons; empty if all pass
};

/// The result of an answer's verification; for a batch, the result of its worst system.
struct VerifiedAnswer {
  Findings findings;
  std::string disagreement;  ///< describes how the verdicts of GPU and CPU differ; empty if they agree
  std::int64_t info = 0;     ///< Answer::info of the method
  SystemCounts systems = {};
  Convergence convergence = Convergence::none;  ///< as the method reports it
};

/// Returns the evidence for the verdict on a trial's answer.
Evidence evidence_of(const Trial& trial, const VerifiedAnswer& verified);

/// Returns true if the CPU also verifies a trial that the GPU verified. It verifies all trials of order 128
/// or less, and 1 % of the others, chosen by the trial's key. Verifications of these others that would take
/// the CPU more than about 90 s are left out.
bool is_verified_twice(const Trial& trial);

/// Describes how two verifications of one answer disagree; empty if they agree. They disagree if their
/// verdicts differ, or if their residual ratios differ by more than the sum of both error bounds.
std::string disagreement(const Trial& trial, const Findings& on_gpu, const Findings& on_cpu);

/// The verdicts of a batch's systems.
struct BatchVerdicts {
  std::size_t worst = 0;  ///< index of the system with the worst verdict; among equal ones, the largest ratio
  SystemCounts counts;
  std::vector<std::int64_t> not_passed;  ///< indices of the first 128 systems that do not pass
};

/// Verifies the answers of a method to a trial. If device memory does not suffice, the CPU verifies them.
template <class T>
class AnswerVerifier {
 public:
  /// The references must outlive the object.
  /// @param context context of the worker's device
  /// @param digest hash of the unmodified ("pristine") inputs on the device, taken after their upload; only
  /// the functions with a parameter `staging` use it
  AnswerVerifier(Context& context, const Trial& trial, const Method& method, const Inputs<T>& inputs,
                 std::uint64_t digest = 0)
      : context_(context), trial_(trial), method_(method), inputs_(inputs), digest_(digest) {}

  /// Verifies an answer with one of the functions below. The answer of a GPU trial is verified in device
  /// memory if `staging` still holds it; otherwise it is uploaded. The answer of a CPU trial is uploaded if
  /// the worker has a GPU and the trial is not small; otherwise the CPU verifies it.
  /// @param staging the run's operands in device memory, or null if this memory is freed
  /// @param set index of the working set (copy of the operands) with the answer
  VerifiedAnswer verify(const Answer<T>& answer, Staging<T>* staging, int set) const;

  /// Verifies an answer on the CPU.
  VerifiedAnswer on_cpu(const Answer<T>& answer) const;
  /// Verifies the answer of working set `set` in device memory, against the uploaded inputs. If these inputs
  /// have changed since the upload (see `digest`), the host's inputs are uploaded again.
  /// @param answer the same answer, downloaded
  /// @throws DeviceError
  VerifiedAnswer in_place(const Answer<T>& answer, Staging<T>& staging, int set) const;
  /// Verifies an answer that is on the host, on the context's GPU, with uploaded copies of the operands.
  VerifiedAnswer by_upload(const Answer<T>& answer) const;
  /// Verifies every system of a batch on the CPU.
  VerifiedAnswer systems(const Answer<T>& answer) const;
  /// Verifies every system of a batch in device memory (system_ratios.hpp). The CPU also verifies:
  /// - 1 % of the systems, at most 256, or all of them if A of the whole batch has up to 2^14 elements;
  /// - the worst system and up to 128 systems that do not pass;
  /// - systems that the device could not decide;
  /// - all systems if the device's inputs have changed since the upload.
  VerifiedAnswer systems_in_place(const Answer<T>& answer, Staging<T>& staging, int set) const;

 private:
  /// Verifies an answer on the GPU.
  /// @param copies a function that returns the operands' copies in device memory; the other operands are
  /// uploaded
  template <class Copies>
  VerifiedAnswer on_device(const Answer<T>& answer, Copies&& copies) const;
  VerifiedAnswer of_batch(const Answer<T>& answer, const BatchVerdicts& verdicts, double forward_error,
                          const std::string& disagreement) const;

  Context& context_;
  const Trial& trial_;
  const Method& method_;
  const Inputs<T>& inputs_;
  std::uint64_t digest_;
};

}  // namespace gaussweep::driver
