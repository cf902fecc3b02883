#include "driver/protocol/phases.hpp"

#include <cmath>

namespace gaussweep::driver {

const std::vector<Phase>& phases() {
  using R = io::Record;
  static const std::vector<Phase> all = {{"wait", "wait", &R::wait_began, false},
                                         {"prepare", "start", &R::prepare_began, false},
                                         {"store", "store", &R::store_began, false},
                                         {"inputs", "inputs", &R::inputs_began, false},
                                         {"allocate", "allocate", &R::allocate_began, false},
                                         {"upload", "upload", &R::upload_began, false},
                                         {"warm-up", "warm-up", &R::warmup_began, true},
                                         {"timed", "samples", &R::timed_began, true},
                                         {"download", "download", &R::download_began, false},
                                         {"verify", "verify", &R::verify_began, true},
                                         {"stages", "stages", &R::stages_began, true},
                                         {"reference", "reference", &R::reference_began, true},
                                         {"compare", "compare", &R::compare_began, false}};
  return all;
}

void begin_phase(io::Record& record, std::string_view step, double now) {
  for (const Phase& phase : phases()) {
    if (phase.step == step && std::isnan(record.*phase.began)) record.*phase.began = now;
  }
}

}  // namespace gaussweep::driver
