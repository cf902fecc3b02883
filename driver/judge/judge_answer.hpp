#pragma once
/// Verifies answers: on the worker's GPU if it has one, and for a subset of the trials also on the CPU.

#include <cstdint>
#include <string>

#include "driver/judge/judge.hpp"
#include "driver/plan/trial.hpp"
#include "kernels/check/check.hpp"
#include "kernels/staging/staging.hpp"

namespace gaussweep::driver {

/// The number of systems of a batch per verdict; -1 if the trial is not a batch.
struct Tally {
  std::int64_t pass = -1, suspect = -1, failed = -1;
  /// Index of the first failed system, otherwise of the first suspect one; -1: none.
  std::int64_t first_failure = -1;
  std::string words;  ///< lists the systems that do not pass, and the reasons; empty if all pass
};

/// Copies the numbers into a record.
void record_tally(io::Record& record, const Tally& systems);

/// The result of an answer's verification; for a batch, of its worst system.
struct Judgement {
  Findings findings;
  std::string disagreement;  ///< describes the difference if GPU and CPU disagree; otherwise empty
  std::int64_t info = 0;     ///< Answer::info of the method
  Tally systems = {};
  Convergence convergence = Convergence::none;  ///< as the method reports it
};

/// Returns what the verdict on a trial's answer depends on.
Evidence evidence_of(const Trial& trial, const Judgement& judgement);

/// Verifies an answer in device memory if `staging` holds it there, otherwise the downloaded `answer`: on the
/// worker's GPU if it has one, unless the trial is small and ran on the CPU.
/// @param context of the worker's device
/// @param digest of the uploaded, unmodified ("pristine") inputs on the device (see judge_in_place)
template <class T>
Judgement judge_answer(Context& context, const Trial& trial, const Method& method, Staging<T>* staging,
                       int copy, std::uint64_t digest, const Inputs<T>& inputs, const Answer<T>& answer);

/// Verifies every system of a batch on the CPU.
template <class T>
Judgement judge_systems(const Trial& trial, const Method& method, const Inputs<T>& inputs,
                        const Answer<T>& answer);
/// Verifies every system of a batch on the device, where working set `copy` holds the answer
/// (system_ratios.hpp). The CPU also verifies:
/// - 1 % of the systems, at most 256, or all of them if A of the whole batch has up to 2^14 elements;
/// - the worst system and up to 128 systems that do not pass;
/// - systems that the device could not decide;
/// - all systems if the device's inputs have changed since the upload (`digest`), or if memory does not
/// suffice.
template <class T>
Judgement judge_systems_in_place(Context& context, const Trial& trial, const Method& method,
                                 Staging<T>& staging, int copy, std::uint64_t digest, const Inputs<T>& inputs,
                                 const Answer<T>& answer);

/// Returns true if n and the rows and columns of A are at most 128.
bool is_small(const Trial& trial);

/// Returns true if the CPU also verifies a trial that the GPU verified: all small trials, and 1 % of the
/// others, chosen by the trial's key, unless that would take more than about a minute.
bool is_judged_twice(const Trial& trial);

/// Describes how two verifications of one answer disagree; empty if they agree. They disagree if their
/// verdicts differ, or if their ratios differ by more than the sum of both error bounds.
std::string disagreement(const Trial& trial, const Findings& on_gpu, const Findings& on_cpu);

/// Verifies an answer on the CPU.
template <class T>
Judgement judge_on_cpu(const Trial& trial, const Method& method, const Inputs<T>& inputs,
                       const Answer<T>& answer);

/// Verifies the answer of working set `copy` in device memory, against the uploaded inputs. If
/// their digest is not `digest` any more, they have changed, and the host's inputs are uploaded again. If
/// device memory does not suffice, the CPU verifies the answer.
/// @param answer the same answer, downloaded
/// @throws DeviceError
template <class T>
Judgement judge_in_place(Context& context, const Trial& trial, const Method& method, Staging<T>& staging,
                         int copy, std::uint64_t digest, const Inputs<T>& inputs, const Answer<T>& answer);

/// Verifies an answer of the CPU on the context's GPU, with uploaded copies of the operands; otherwise like
/// `judge_in_place`.
template <class T>
Judgement judge_by_upload(Context& context, const Trial& trial, const Method& method, const Inputs<T>& inputs,
                          const Answer<T>& answer);

}  // namespace gaussweep::driver
