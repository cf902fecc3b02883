#pragma once
/// Where an answer is judged: on the worker's GPU where it has one, and of a sample of all trials on the CPU
/// too.

#include <cstdint>
#include <string>

#include "driver/plan/trial.hpp"
#include "kernels/check/check.hpp"
#include "kernels/staging/staging.hpp"

namespace gaussweep::driver {

/// The systems of a batch by verdict; -1: it is none.
struct Tally {
  std::int64_t pass = -1, suspect = -1, failed = -1;
  std::int64_t first_failure = -1;  ///< from 0: of those that failed, else of the suspect ones
  std::string words;                ///< which do not pass, and why; empty where all do
};

/// Notes the numbers.
void tell(io::Record& record, const Tally& systems);

/// What the judges of one answer found; of a batch, of its worst system.
struct Judgement {
  Findings findings;
  std::string disagreement;  ///< what two judges found, where they do not agree; else empty
  std::int64_t info = 0;     ///< of the method: Answer::info
  Tally systems = {};
};

/// Judges every system of a batch, on the CPU.
template <class T>
Judgement judge_systems(const Trial& trial, const Method& method, const Inputs<T>& inputs,
                        const Answer<T>& answer);
/// The same on the device, where the answer lies in working set `copy` (system_ratios.hpp). The CPU judges
/// one system in a hundred as well, at most 256 of them, and every one of batches of up to 2^14 elements. It
/// also judges the worst, up to 128 that do not pass, and what the device leaves open. It judges all where
/// inputs on the device have changed (`digest`), or where there is no room.
template <class T>
Judgement judge_systems_in_place(Context& context, const Trial& trial, const Method& method,
                                 Staging<T>& staging, int copy, std::uint64_t digest, const Inputs<T>& inputs,
                                 const Answer<T>& answer);

/// Of order 128 at most.
bool is_small(const Trial& trial);

/// Whether the CPU judges a trial beside the GPU. It judges all small ones. Of the others it judges one in a
/// hundred, by the trial's key, unless that would take more than about a minute.
bool is_judged_twice(const Trial& trial);

/// What two judges of one answer found where they differ, else empty. They differ where their verdicts by the
/// tolerance do, or where their ratios are further apart than both bounds allow.
std::string disagreement(const Trial& trial, const Findings& on_gpu, const Findings& on_cpu);

/// Judges an answer on the CPU.
template <class T>
Judgement judge_on_cpu(const Trial& trial, const Method& method, const Inputs<T>& inputs,
                       const Answer<T>& answer);

/// Judges the answer of working set `copy` where it lies, against the inputs that were uploaded. `digest`,
/// taken then, shows whether they have changed since; then a fresh copy of the host's serves. On the CPU
/// alone where the device has no memory left for that.
/// @param answer downloaded from there @throws DeviceError
template <class T>
Judgement judge_in_place(Context& context, const Trial& trial, const Method& method, Staging<T>& staging,
                         int copy, std::uint64_t digest, const Inputs<T>& inputs, const Answer<T>& answer);

/// Judges an answer of the CPU on the context's GPU, with copies of the host's operands. Otherwise the same.
template <class T>
Judgement judge_by_upload(Context& context, const Trial& trial, const Method& method, const Inputs<T>& inputs,
                          const Answer<T>& answer);

}  // namespace gaussweep::driver
