#include "driver/system/origin.hpp"

#include <nlohmann/json.hpp>

#include "version.hpp"

#include "driver/system/clock.hpp"

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

nlohmann::json to_json(const Origin& origin) {
  return {{"host", origin.host},        {"run_id", origin.run_id}, {"commit", origin.commit},
          {"job", to_json(origin.job)}, {"rank", origin.rank},     {"device_index", origin.device_index}};
}

Origin origin_from_json(const nlohmann::json& json) {
  Origin origin;
  origin.host = json.at("host");
  origin.run_id = json.at("run_id");
  origin.commit = json.at("commit");
  origin.job = batch_job_from_json(json.at("job"));
  origin.rank = json.at("rank");
  origin.device_index = json.at("device_index");
  return origin;
}

}  // namespace gaussweep::driver
