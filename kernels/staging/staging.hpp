#pragma once
/// Puts a trial's inputs where its method runs, in the layout that its row asks for, and fetches the answer.

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/registry/method.hpp"
#include "kernels/staging/place.hpp"

namespace gaussweep {

/// Inputs on the host that somebody else owns: column-major, `ld == rows`; b where the problem has one.
template <class T>
struct InputViews {
  MatrixView<const T> a;
  MatrixView<const T> b;
};

/// Inputs as views; they must outlive these. @throws std::invalid_argument where an operand lacks elements
template <class T>
InputViews<T> views_of(const Inputs<T>& inputs);

/// Where the inputs lie from which every run gets fresh operands. On the host they are uploaded anew for each
/// run, into the memory in which the last one overwrote them: the device holds nothing twice.
enum class Pristine { on_device, on_host };

/// Device bytes that a trial takes: pristine inputs, `copies` working sets, workspace. Emulated, each operand
/// has a red zone in addition (WatchedMemory).
std::size_t staging_bytes(const Method& method, const Shape& shape, const Parameters& parameters,
                          std::size_t element, int copies);
/// Host bytes of operands and answer as `Staging::lay_out` keeps them.
std::size_t laid_out_bytes(const Method& method, const Shape& shape, const Parameters& parameters,
                           std::size_t element);

/// Inputs that lie on the device as they were uploaded, where one Staging left them for the next.
template <class T>
struct Resident {
  Buffer memory;    ///< a pristine set; none where nothing was left
  Problem problem;  ///< with the layout, what it consists of
  Layout layout = Layout::column_major;
  Strided<T> a, b;  ///< in it; null data where they are not those of the next one

  bool has_a() const { return a.data != nullptr; }
};

/// Where the operands lie in a working set: a, b, pivots, info, x, each aligned. A pristine set ends after
/// info.
struct StagingLayout {
  struct Piece {
    std::size_t offset = 0, bytes = 0;
  };
  Piece a, b, pivots, info, x;
  std::size_t pristine_bytes = 0, set_bytes = 0, workspace_bytes = 0;
  std::size_t answer_offset = 0;  ///< of the answer in what `Staging::lay_out` keeps: behind a and b
  std::size_t laid_out_bytes = 0;
};

/// The operands of one trial. Each step is a call of its own so that the driver can time it.
/// `copies` working sets serve inner repeats: methods that overwrite their inputs need one set a repeat.
/// With `copies == 0` a run works in the memory that the inputs were uploaded to. Nothing is held twice, and
/// `upload` takes the place of `reset`.
template <class T>
class Staging {
 public:
  /// Allocates. @throws OutOfMemory, DeviceError
  /// @param there inputs of this shape on the same device: `upload_from` needs no others. Memory of just this
  /// layout becomes the pristine set
  Staging(Device& device, const Method& method, const Parameters& parameters, const Shape& shape, int copies,
          Resident<T> there = {});
  /// Converts to the row's layout and copies to the device (pristine set).
  void upload(const Inputs<T>& inputs) { upload(views_of(inputs)); }
  void upload(const InputViews<T>& inputs);
  /// The same, with all that is on the device already taken from there. @pre `inputs` are equal to it
  void upload_from(Context& context, const InputViews<T>& inputs);
  /// Whether all of the pristine set is there before `upload_from`.
  bool is_there() const { return is_there_; }
  /// The pristine set, for the next Staging; this one has none any more. Empty where there are no working
  /// sets.
  Resident<T> leave();
  /// The inputs in the row's layout and room for the answer are in memory of `Device::allocate_host`. On the
  /// device is all of the pristine set but a and b. @throws NoPinnedMemory, DeviceError
  void lay_out(const InputViews<T>& inputs);
  /// What is left of `upload` then: a plain copy of a, and of b.
  void upload_laid_out();
  /// A plain copy of the answer of working set `copy` into its room. @pre `lay_out`
  void fetch(int copy);
  /// That answer as `download` gives it; what was laid out is released.
  Answer<T> fetched(int copy);
  /// Fresh inputs in every working set; poisons the answer with NaN so that an unwritten element is seen.
  void reset();
  /// After `reset`, or after `upload` where there are no working sets: NaN in the workspace and in what the
  /// method may not read of A. With `negated`, also the other signs of `ProblemRow::negated`.
  void guard(Context& context, int copy, bool negated);
  /// Gives the answer of a run on negated operands the signs of that on the inputs as they are.
  void settle(Context& context, int copy);
  /// A digest of the answer's elements that count, of pivots and info; of the settled answer, whether it is
  /// or not.
  std::uint64_t answer_digest(Context& context, int copy, bool negated);
  /// What a run wrote where it must not, in words; empty where it did not. @pre working sets, guarded so
  /// (`negated`) before the run. The answer is lost.
  std::string forbidden_writes(Context& context, int copy, bool negated);
  /// Working set `copy`, from 0.
  Operands<T> operands(int copy);
  /// The answer of working set `copy`. @param by_columns its elements column-major on the device, where
  /// somebody has laid them out so
  Answer<T> download(int copy, const T* by_columns = nullptr);
  /// The same without pivots, column-major into the caller's memory, of the answer's size. Returns info.
  std::int64_t download_to(T* destination, int copy);
  /// The inputs as they were uploaded, and the answer of a working set, where they lie. b: null data where
  /// the problem has none. @pre there are working sets
  Strided<T> pristine_a() const;
  Strided<T> pristine_b() const;
  Strided<T> answer(int copy);
  /// All memory of the pristine inputs.
  const Buffer& pristine() const;

 private:
  /// Columns side by side that become a matrix of the row's layout.
  struct Placed {
    std::size_t offset;  ///< in the pristine set
    std::int64_t ld;
    std::vector<MatrixView<const T>> parts;
  };
  std::vector<Placed> placed(const InputViews<T>& inputs) const;
  Destination<T> place_of(const Strided<T>& in_pristine) const;
  void upload_one(const Placed& one);
  void upload_rest();
  Answer<T> unset_answer(int copy);
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
  Buffer pristine_;          // where there are no working sets, it is one
  std::vector<Buffer> sets_;
  Buffer workspace_;
  Resident<T> there_;  // what is to become of the pristine set, in another layout
  bool is_there_ = false;
  HostBuffer laid_out_;  // a and b as in the pristine set, the answer
};

}  // namespace gaussweep
