#pragma once
/// Stages a trial (one method on one input): uploads the inputs in the method's layout, restores them before
/// each run, and downloads the answer.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/device/gapped_layout.hpp"
#include "kernels/registry/method.hpp"
#include "kernels/staging/convert_layout.hpp"
#include "kernels/staging/distributed_matrix.hpp"

namespace gaussweep {

/// Non-owning views of inputs on the host: column-major, `ld == rows`; `b` is empty if the problem has no B.
template <class T>
struct InputViews {
  MatrixView<const T> a;
  MatrixView<const T> b;
};

/// Returns views of the inputs, which must outlive the views. @throws std::invalid_argument if an operand
/// lacks elements
template <class T>
InputViews<T> views_of(const Inputs<T>& inputs);

/// The location of the pristine (unmodified) inputs, from which each run's operands are restored. With
/// on_host, the inputs are uploaded again before each run, so that the device needs memory for only one copy
/// of them.
enum class Pristine { on_device, on_host };

/// Returns the device bytes of a trial: pristine inputs, workspace, and `sets` working sets. A working set is
/// a copy of the operands in which runs compute. If `sets` is 0, runs compute in the pristine inputs. With
/// several GPUs, returns the bytes on the first GPU, which needs the most memory.
/// @param element_bytes bytes per element
std::size_t staging_bytes(const Method& method, const Shape& shape, const Parameters& parameters,
                          std::size_t element_bytes, int sets);
/// Returns the bytes of pinned host memory that `Staging::stage_pinned` allocates for operands and answer.
std::size_t pinned_bytes(const Method& method, const Shape& shape, const Parameters& parameters,
                         std::size_t element_bytes);

/// Pristine inputs on the device that one Staging object passes to the next, so that they need no upload.
template <class T>
struct ResidentInputs {
  Buffer memory;    ///< the memory of a pristine set, or empty
  Problem problem;  ///< problem and layout determine the operands in the set
  Layout layout = Layout::column_major;
  StridedView<T> a, b;  ///< views of `memory`; null data if the next Staging cannot reuse them

  bool has_a() const { return a.data != nullptr; }
};

/// The offsets of the operands in a working set, in the order a, b, pivots, info, x. A pristine set has the
/// same offsets, but no x. A gap (memory_gap.hpp) follows each operand and reveals writes behind it.
struct StagingLayout {
  struct OperandRange {
    std::size_t offset = 0, bytes = 0;
  };
  OperandRange a, b, pivots, info, x;
  GappedLayout set, workspace;
  std::size_t pristine_bytes = 0, workspace_bytes = 0;
  /// The offset of the answer in the pinned memory of `Staging::stage_pinned`, behind a and b, and the size
  /// of that memory.
  std::size_t answer_offset = 0, pinned_bytes = 0;
};

/// The operands of one trial. Each step is a separate call, so that the driver can time it. The pristine set
/// holds the unmodified inputs. Runs compute in `sets` working sets, to which `reset` copies the pristine
/// set. A method that overwrites its inputs needs one set per repeat (working_sets.hpp). With `sets == 0` a
/// run computes in the pristine set itself, which saves device memory. Callers then call `upload` instead of
/// `reset`.
template <class T>
class Staging {
 public:
  /// Allocates the device memory. @throws OutOfMemory, DeviceError
  /// @param resident inputs of this shape on the same device; `upload_from` then copies them instead of
  /// uploading. If the layouts are equal too, their memory becomes the pristine set
  /// @param group with several GPUs: the group that begins with `device`. `sets` is then 0 or 1, there are
  /// no resident inputs, and the functions for pinned memory must not be called
  Staging(Device& device, const Method& method, const Parameters& parameters, const Shape& shape, int sets,
          ResidentInputs<T> resident = {}, DeviceGroup* group = nullptr);
  /// Converts the inputs to the method's layout and uploads them to the pristine set.
  void upload(const Inputs<T>& inputs) { upload(views_of(inputs)); }
  void upload(const InputViews<T>& inputs);
  /// Like upload, but copies resident inputs on the device. @pre `inputs` equal the resident ones
  void upload_from(Context& context, const InputViews<T>& inputs);
  /// Returns true if `resident` became the pristine set, so that `upload_from` has nothing to do.
  bool has_resident_inputs() const { return is_resident_; }
  /// Moves the pristine set out of this object, for the next Staging. Returns an empty ResidentInputs if
  /// there are no working sets, or several GPUs.
  ResidentInputs<T> release_inputs();
  /// Converts the inputs to the method's layout in pinned host memory, which also has space for the answer.
  /// Initializes the pristine set except for a and b. @throws NoPinnedMemory, DeviceError
  void stage_pinned(const InputViews<T>& inputs);
  /// Uploads a and b from the memory of `stage_pinned`.
  void upload_pinned();
  /// Downloads the answer of working set `set` to pinned memory, without conversion. @pre `stage_pinned`
  void download_pinned(int set);
  /// Converts the answer of `download_pinned` to column-major and returns it. Frees the memory of
  /// `stage_pinned`.
  Answer<T> pinned_answer(int set);
  /// Restores the inputs in every working set; fills the answer with NaN, so that unwritten elements are
  /// detected.
  void reset();
  /// Guards a run (guard.hpp): fills the workspace and the unreferenced triangle of A with NaN. If `negated`
  /// is true, also flips the signs of the elements in ProblemRow::negated. Call it after `reset`, or after
  /// `upload` if there are no working sets.
  void guard(Context& context, int set, bool negated);
  /// Restores the signs of the answer of a run on negated operands.
  void restore_signs(Context& context, int set);
  /// Returns a digest of the referenced elements of the answer, the pivots and info. If `negated`, the answer
  /// was computed from negated operands; the digest then equals the digest of the answer with restored signs.
  std::uint64_t answer_digest(Context& context, int set, bool negated);
  /// Describes writes of a run to memory that it must not change. The text is empty if there are none.
  /// Without working sets, overwritten inputs are not detected. With working sets, the function may destroy
  /// the answer.
  /// @pre `guard` was called with the same `negated` before the run
  std::string forbidden_writes(Context& context, int set, bool negated);
  /// Returns the operands of working set `set`, from 0.
  Operands<T> operands(int set);
  /// Returns the answer of working set `set`.
  /// @param column_major_answer the answer, already converted to column-major on the device, or null
  Answer<T> download(int set, const T* column_major_answer = nullptr);
  /// Writes the answer without pivots, column-major, to memory of the answer's size. Returns info.
  std::int64_t download_to(T* destination, int set);
  /// Returns views of the pristine inputs and of a working set's answer on the device. b has null data if the
  /// problem has none.
  /// @pre there are working sets, on one GPU
  StridedView<T> pristine_a() const;
  StridedView<T> pristine_b() const;
  StridedView<T> answer(int set);
  const Buffer& pristine() const;

 private:
  /// Host matrices that become one device matrix, side by side. There is more than one only for the augmented
  /// matrix [A | B].
  struct StagedMatrix {
    std::size_t offset;  ///< byte offset in the pristine set
    std::int64_t ld;
    std::vector<MatrixView<const T>> parts;
  };
  std::vector<StagedMatrix> staged_matrices(const InputViews<T>& inputs) const;
  WritableStridedView<T> writable_view(const StridedView<T>& view) const;
  void upload_one(const StagedMatrix& staged);
  void upload_pivots_and_info();
  Answer<T> uninitialized_answer(int set);
  void download_pivots_and_infos(Answer<T>& answer, int set);
  std::vector<int> download_infos(int set);
  std::int64_t download_info(int set);
  MatrixView<T> answer_view(const Operands<T>& op) const;
  bool answer_is_row_major() const;
  bool has_distributed_answer() const { return distributed_ && answer_in_ == AnswerIn::a; }
  void fill_answer_with_nan(const Buffer& set);
  std::string overrun();
  Region hidden_region() const;
  Region negated_of_answer() const;
  StridedView<T> guarded_a(int set);
  StridedView<T> guarded_b(int set);
  std::uint64_t input_digest(Context& context, int set);
  Device& device_;
  const Method& method_;
  Shape shape_;
  int set_count_;
  AnswerIn answer_in_;
  StagingLayout layout_;
  MatrixView<T> a_, b_, x_;  // only shapes and leading dimensions; data is null
  Buffer pristine_;          // also the working set if set_count_ is 0
  std::vector<Buffer> sets_;
  Buffer workspace_;
  /// With several GPUs: A, which is in neither `pristine_` nor `sets_`, and the workspaces of the GPUs after
  /// the first one.
  std::optional<DistributedMatrix<T>> distributed_pristine_, distributed_;
  std::vector<Buffer> further_workspaces_;
  int gpus_ = 1;
  DeviceGroup* group_ = nullptr;
  ResidentInputs<T> resident_;  // resident inputs in another layout, to be converted
  bool is_resident_ = false;
  HostBuffer pinned_;  // memory of stage_pinned: a and b as in the pristine set, then the answer
};

}  // namespace gaussweep
