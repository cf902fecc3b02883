#include "driver/site.hpp"

#include <nlohmann/json.hpp>

#include "driver/process.hpp"
#include "version.hpp"

namespace gaussweep::driver {

Site this_site(const std::string& run_id, int rank) {
  Site site;
  site.host = host_name();
  site.run_id = run_id;
  site.commit = version_commit;
  site.job = batch_job();
  site.rank = rank;
  return site;
}

nlohmann::json to_json(const Site& site) {
  return {{"host", site.host},        {"run_id", site.run_id}, {"commit", site.commit},
          {"job", to_json(site.job)}, {"rank", site.rank},     {"device_index", site.device_index}};
}

Site site_from_json(const nlohmann::json& json) {
  Site site;
  site.host = json.at("host");
  site.run_id = json.at("run_id");
  site.commit = json.at("commit");
  site.job = batch_job_from_json(json.at("job"));
  site.rank = json.at("rank");
  site.device_index = json.at("device_index");
  return site;
}

}  // namespace gaussweep::driver
