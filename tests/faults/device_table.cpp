// The rows of the methods of device_faults.cu.
#include "kernels/tables.hpp"
#include "tests/faults/faults.hpp"

GAUSSWEEP_DECLARE_PORTABLE(fault_endless_kernel)
GAUSSWEEP_DECLARE_PORTABLE(fault_illegal_address)
GAUSSWEEP_DECLARE_PORTABLE(fault_barrier)
GAUSSWEEP_DECLARE_PORTABLE(fault_device_memory)
GAUSSWEEP_DECLARE_PORTABLE(fault_good_kernel)

namespace gaussweep::faults {
namespace {

Method row(const char* variant, const char* summary, EntryPoints cuda, EntryPoints emulated) {
  Method method;
  method.problem = Problem::named("gesv");
  method.variant = variant;
  method.summary = summary;
  method.source = "tests";
  method.answer = AnswerIn::b;
  method.backends = {Backend::cuda, Backend::emulated};
  method.cuda = cuda;
  method.emulated = emulated;
  return method;
}

}  // namespace

std::vector<Method> device_methods() {
  return {
      row("fault_endless_kernel", "a kernel that does not end", GAUSSWEEP_CUDA_ENTRY(fault_endless_kernel),
          GAUSSWEEP_ENTRY(emulated, fault_endless_kernel)),
      row("fault_illegal_address", "writes where nothing is", GAUSSWEEP_CUDA_ENTRY(fault_illegal_address),
          GAUSSWEEP_ENTRY(emulated, fault_illegal_address)),
      row("fault_barrier", "a barrier that half of the threads miss", EntryPoints{},
          GAUSSWEEP_ENTRY(emulated, fault_barrier)),
      row("fault_device_memory", "allocates beyond memory", GAUSSWEEP_CUDA_ENTRY(fault_device_memory),
          GAUSSWEEP_ENTRY(emulated, fault_device_memory)),
      row("fault_good_kernel", "divides by the diagonal", GAUSSWEEP_CUDA_ENTRY(fault_good_kernel),
          GAUSSWEEP_ENTRY(emulated, fault_good_kernel)),
  };
}

}  // namespace gaussweep::faults
