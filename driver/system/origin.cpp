#include "driver/system/origin.hpp"

#include "driver/system/clock.hpp"
#include "version.hpp"

namespace gaussweep::driver {

Origin this_origin(const std::string& run_id, int rank) {
  Origin origin;
  origin.host = host_name();
  origin.run_id = run_id;
  origin.commit = version_commit;
  origin.job = batch_job();
  origin.rank = rank;
  return origin;
}

}  // namespace gaussweep::driver
