/// Refuses HDF5 datasets whose data are outside the opened file. With such a dataset, the author of a file
/// could make this program read any other file.

#include "io/files/hdf5_inside.hpp"

namespace gaussweep::io::h5 {
namespace {

/// The file that an external link names; empty if no external link was found.
struct ExternalLink {
  std::string file;
};

/// Refuses an external link. HDF5 calls this before it opens the link's file.
herr_t refuse_external(const char*, const char*, const char* child_file, const char*, unsigned*, hid_t,
                       void* data) {
  static_cast<ExternalLink*>(data)->file = child_file;
  return -1;
}

/// Calls `open` with link access properties that forbid external links.
template <class Owner, class Open>
Owner open_without_external_links(const std::string& name, hid_t access_class, const Open& open) {
  ExternalLink external_link;
  const Properties access(H5Pcreate(access_class), "make link access properties");
  check(H5Pset_elink_cb(access, refuse_external, &external_link), "refuse external links");
  const hid_t id = open(access);
  if (id < 0 && !external_link.file.empty()) {
    H5Eclear2(H5E_DEFAULT);
    throw Error(name + " is an external link, into the file '" + external_link.file +
                "'; allowed: data that are in the file itself");
  }
  return Owner(id, "open " + name);
}

}  // namespace

std::string outside_data_reason(hid_t dataset, const std::string& name) {
  const Properties creation(H5Dget_create_plist(dataset), "read the layout of " + name);
  if (H5Pget_layout(creation) == H5D_VIRTUAL)
    return name +
           " is a virtual dataset, composed of other datasets; allowed: a dataset that contains its data";
  if (check(H5Pget_external_count(creation), "look for external storage of " + name) > 0)
    return name + " keeps its data in another file (external storage); allowed: in the file itself";
  const int filters = check(H5Pget_nfilters(creation), "read the filters of " + name);
  for (int i = 0; i < filters; ++i) {
    unsigned flags = 0, config = 0;
    std::size_t values = 0;
    char filter_name[64] = "";
    const H5Z_filter_t filter = check(H5Pget_filter2(creation, static_cast<unsigned>(i), &flags, &values,
                                                     nullptr, sizeof filter_name - 1, filter_name, &config),
                                      "read a filter of " + name);
    if (H5Zfilter_avail(filter) > 0) continue;
    H5Eclear2(H5E_DEFAULT);
    return name + " is packed with the filter " + std::to_string(filter) +
           (filter_name[0] == '\0' ? "" : " (" + std::string(filter_name) + ")") +
           ", which is not installed here; on a machine that has it, h5repack -f NONE unpacks the file";
  }
  return {};
}

Dataset open_dataset(hid_t file, const std::string& name) {
  Dataset dataset = open_without_external_links<Dataset>(
      name, H5P_DATASET_ACCESS, [&](hid_t access) { return H5Dopen2(file, name.c_str(), access); });
  const std::string why = outside_data_reason(dataset, name);
  if (!why.empty()) throw Error(why);
  return dataset;
}

Object open_object(hid_t file, const std::string& name) {
  return open_without_external_links<Object>(
      name, H5P_LINK_ACCESS, [&](hid_t access) { return H5Oopen(file, name.c_str(), access); });
}

bool has_object(hid_t file, const std::string& name) {
  ExternalLink external_link;
  const Properties access(H5Pcreate(H5P_LINK_ACCESS), "make link access properties");
  check(H5Pset_elink_cb(access, refuse_external, &external_link), "refuse external links");
  const htri_t found = H5Lexists(file, name.c_str(), access);
  H5Eclear2(H5E_DEFAULT);
  return found > 0 || !external_link.file.empty();
}

}  // namespace gaussweep::io::h5
