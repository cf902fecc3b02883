#pragma once
/// Stages a trial's inputs on its method's device in the method's layout, and downloads the answer.

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/registry/method.hpp"
#include "kernels/staging/convert_layout.hpp"

namespace gaussweep {

/// Non-owning views of inputs on the host: column-major, `ld == rows`; `b` is empty if the problem has none.
template <class T>
struct InputViews {
  MatrixView<const T> a;
  MatrixView<const T> b;
};

/// Returns views of the inputs, which must outlive the views. @throws std::invalid_argument if an operand
/// lacks elements
template <class T>
InputViews<T> views_of(const Inputs<T>& inputs);

/// The location of the pristine inputs, from which each run's operands are restored. With on_host they are
/// uploaded again for each run, over the overwritten ones, so that the device holds one copy only.
enum class Pristine { on_device, on_host };

/// Returns the device bytes of a trial: pristine inputs, `copies` working sets, workspace. Emulated devices
/// add a red zone behind each operand (WatchedMemory).
std::size_t staging_bytes(const Method& method, const Shape& shape, const Parameters& parameters,
                          std::size_t element, int copies);
/// Returns the host bytes of operands and answer that `Staging::stage_pinned` allocates.
std::size_t pinned_bytes(const Method& method, const Shape& shape, const Parameters& parameters,
                         std::size_t element);

/// Pristine inputs on the device that one Staging leaves for the next.
template <class T>
struct Resident {
  Buffer memory;    ///< a pristine set, or empty
  Problem problem;  ///< determines, with the layout, the operands in the set
  Layout layout = Layout::column_major;
  Strided<T> a, b;  ///< views of `memory`; null data if the next Staging cannot reuse them

  bool has_a() const { return a.data != nullptr; }
};

/// The offsets of the operands in a working set: a, b, pivots, info, x, each aligned. A pristine set ends
/// after info.
struct StagingLayout {
  struct Piece {
    std::size_t offset = 0, bytes = 0;
  };
  Piece a, b, pivots, info, x;
  std::size_t pristine_bytes = 0, set_bytes = 0, workspace_bytes = 0;
  std::size_t answer_offset =
      0;  ///< offset of the answer in the memory of `Staging::stage_pinned`, behind a and b
  std::size_t pinned_bytes = 0;
};

/// The operands of one trial. Each step is a separate call so that the driver can time it. `copies` working
/// sets serve inner repeats: a method that overwrites its inputs needs one set per repeat. With `copies == 0`
/// a run uses the uploaded inputs themselves as operands, which saves device memory; `upload` then replaces
/// `reset`.
template <class T>
class Staging {
 public:
  /// Allocates. @throws OutOfMemory, DeviceError
  /// @param resident inputs of this shape on the same device, which `upload_from` then need not upload.
  /// Memory with the same layout becomes the pristine set
  Staging(Device& device, const Method& method, const Parameters& parameters, const Shape& shape, int copies,
          Resident<T> resident = {});
  /// Converts the inputs to the method's layout and uploads them to the pristine set.
  void upload(const Inputs<T>& inputs) { upload(views_of(inputs)); }
  void upload(const InputViews<T>& inputs);
  /// Like upload, but copies resident inputs on the device. @pre `inputs` equal the resident ones
  void upload_from(Context& context, const InputViews<T>& inputs);
  /// Returns true if the whole pristine set is resident before `upload_from`.
  bool has_resident_inputs() const { return is_resident_; }
  /// Hands the pristine set over to the next Staging; this one has none afterwards. Returns an empty Resident
  /// if there are no working sets.
  Resident<T> release_inputs();
  /// Converts the inputs to the method's layout in memory of `Device::allocate_host`, with space for the
  /// answer, and completes the pristine set except for a and b. @throws NoPinnedMemory, DeviceError
  void stage_pinned(const InputViews<T>& inputs);
  /// Completes the upload after `stage_pinned`: copies a and b without conversion.
  void upload_pinned();
  /// Copies the answer of working set `copy` to the host without conversion. @pre `stage_pinned`
  void download_pinned(int copy);
  /// Returns the answer of `download_pinned` converted as by `download`, and frees the memory of
  /// `stage_pinned`.
  Answer<T> pinned_answer(int copy);
  /// Restores the inputs in every working set; fills the answer with NaN, so that unwritten elements are
  /// detected.
  void reset();
  /// Fills the workspace and the unreferenced part of A with NaN. With `negated`, also flips the signs of
  /// `ProblemRow::negated`. Call after `reset`, or after `upload` if there are no working sets.
  void guard(Context& context, int copy, bool negated);
  /// Restores the signs of the answer of a run on negated operands.
  void restore_signs(Context& context, int copy);
  /// Returns a digest of the referenced elements of the answer, of pivots and of info. The digest is that of
  /// the answer with restored signs; `negated`: the signs are not yet restored.
  std::uint64_t answer_digest(Context& context, int copy, bool negated);
  /// Returns a description of a run's forbidden writes, or an empty text. Destroys the answer. @pre there are
  /// working sets, and `guard` was called with the same `negated` before the run.
  std::string forbidden_writes(Context& context, int copy, bool negated);
  /// Returns the operands of working set `copy`, from 0.
  Operands<T> operands(int copy);
  /// Returns the answer of working set `copy`. @param by_columns the answer, already converted to
  /// column-major on the device, or null
  Answer<T> download(int copy, const T* by_columns = nullptr);
  /// Writes the answer without pivots, column-major, to memory of the answer's size. Returns info.
  std::int64_t download_to(T* destination, int copy);
  /// Returns views of the pristine inputs and of a working set's answer on the device. b has null data if the
  /// problem has none.
  /// @pre there are working sets
  Strided<T> pristine_a() const;
  Strided<T> pristine_b() const;
  Strided<T> answer(int copy);
  /// Returns the memory of the pristine inputs.
  const Buffer& pristine() const;

 private:
  /// Host matrices that are staged side by side as one matrix in the method's layout.
  struct StagedMatrix {
    std::size_t offset;  ///< byte offset in the pristine set
    std::int64_t ld;
    std::vector<MatrixView<const T>> parts;
  };
  std::vector<StagedMatrix> staged_matrices(const InputViews<T>& inputs) const;
  Destination<T> writable_view(const Strided<T>& in_pristine) const;
  void upload_one(const StagedMatrix& staged);
  void upload_rest();
  Answer<T> uninitialized_answer(int copy);
  void download_rest(Answer<T>& answer, int copy);
  std::vector<int> download_infos(int copy);
  std::int64_t download_info(int copy);
  MatrixView<T> answer_view(const Operands<T>& op) const;
  bool answer_by_rows() const;
  void poison(const Buffer& set);
  void guard_gaps(const Buffer& set);
  Region hidden_region() const;
  Region negated_of_answer() const;
  Strided<T> guarded_a(int copy);
  Strided<T> guarded_b(int copy);
  std::uint64_t input_digest(Context& context, int copy);
  Device& device_;
  const Method& method_;
  Shape shape_;
  int copies_;
  StagingLayout layout_;
  MatrixView<T> a_, b_, x_;  // shapes and strides, data unset
  Buffer pristine_;          // without working sets, it serves as one
  std::vector<Buffer> sets_;
  Buffer workspace_;
  Resident<T> resident_;  // inputs to convert into the pristine set
  bool is_resident_ = false;
  HostBuffer pinned_;  // memory of stage_pinned: a and b as in the pristine set, then the answer
};

}  // namespace gaussweep
