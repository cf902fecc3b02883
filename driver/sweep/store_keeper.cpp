/// Limits the size of the matrix store, the folder matrices/ of the run directory. Decides which matrices are
/// stored, and removes matrices that no open trial (a trial without a record) needs.

#include "driver/sweep/store_keeper.hpp"

#include <spdlog/spdlog.h>

#include "driver/base/text_format.hpp"
#include "driver/plan/trial.hpp"

namespace gaussweep::driver {

StoreKeeper::StoreKeeper(io::MatrixStore store, double limit, const std::vector<Trial>& open)
    : store_(std::move(store)), limit_(limit) {
  // Removes the partial files of killed writers.
  store_.tidy();
  for (const Trial& trial : open)
    for_each_stored_matrix(trial,
                           [&](const MatrixRequest& request) { ++files_[request.digest].open_trials; });
  for (const auto& [digest, bytes] : store_.inventory()) {
    StoredFile& file = files_[digest];
    set_bytes(file, static_cast<double>(bytes));
    list_if_unneeded(digest, file);
  }
  make_room(0);
}

void StoreKeeper::set_bytes(StoredFile& file, double bytes) {
  used_ += bytes - file.bytes;
  file.bytes = bytes;
}

void StoreKeeper::list_if_unneeded(const std::string& digest, const StoredFile& file) {
  if (file.open_trials > 0 || file.bytes <= 0) return;
  unneeded_.push_back(digest);
  unneeded_bytes_ += file.bytes;
}

bool StoreKeeper::make_room(double bytes) {
  // Nothing is removed if even the removal of all unneeded files would not make enough room. The
  // constructor's call with 0 bytes removes what it can.
  if (used_ - unneeded_bytes_ + bytes > limit_ && bytes > 0) return false;
  while (used_ + bytes > limit_ && !unneeded_.empty()) {
    const std::string digest = unneeded_.front();
    unneeded_.pop_front();
    StoredFile& file = files_.at(digest);
    store_.remove(digest);
    unneeded_bytes_ -= file.bytes;
    set_bytes(file, 0);
    files_.erase(digest);
    ++removed_;
  }
  return used_ + bytes <= limit_;
}

void StoreKeeper::admit(MatrixRequest& request, const Trial& trial) {
  StoredFile& file = files_.at(request.digest);
  ++file.users;
  if (file.bytes > 0) return;
  const double bytes = stored_bytes(request, trial);
  if (make_room(bytes)) {
    set_bytes(file, bytes);
    return;
  }
  request.store = false;
  if (refused_++ > 0) return;
  spdlog::warn(
      "the matrix of {} ({}) does not fit into the store of {}: other trials still need {} of it. Such "
      "matrices are made again for every trial; a larger store_limit in the plan (or --store-limit) gives "
      "more room",
      describe(trial), bytes_text(bytes), bytes_text(limit_), bytes_text(used_ - unneeded_bytes_));
}

void StoreKeeper::admit(Trial& trial) {
  const Trial original = trial;
  for_each_stored_matrix(trial, [&](MatrixRequest& request) { admit(request, original); });
  if (trial.matrix_b && trial.matrix_b->digest == trial.matrix.digest)
    trial.matrix_b->store = trial.matrix.store;  // for_each_stored_matrix visits equal matrices once
}

void StoreKeeper::settle(const std::string& digest, StoredFile& file) {
  if (file.users > 0) return;
  if (file.bytes > 0)  // no worker is writing the file, so its final size is known
    set_bytes(file, static_cast<double>(store_.bytes_of(digest)));
  if (file.open_trials > 0) return;
  if (file.bytes > 0) {
    list_if_unneeded(digest, file);
  } else {
    files_.erase(digest);
  }
}

void StoreKeeper::note_writing(int rank, const std::vector<std::string>& digests) {
  const auto known = [&](const std::string& digest) { return files_.count(digest) > 0; };
  std::vector<std::string> before;
  std::swap(before, writing_[rank]);
  for (const std::string& digest : digests) {
    if (!known(digest)) continue;
    ++files_.at(digest).users;
    writing_[rank].push_back(digest);
  }
  for (const std::string& digest : before) {
    StoredFile& file = files_.at(digest);
    --file.users;
    settle(digest, file);
  }
}

void StoreKeeper::release(const MatrixRequest& request, bool done) {
  StoredFile& file = files_.at(request.digest);
  --file.users;
  if (done) --file.open_trials;
  settle(request.digest, file);
}

void StoreKeeper::release(const Trial& trial, bool done) {
  for_each_stored_matrix(trial, [&](const MatrixRequest& request) { release(request, done); });
}

double store_limit_of(const std::string& option, const io::Plan& plan, const std::filesystem::path& matrices,
                      std::int64_t shards) {
  if (!option.empty()) return io::parse_bytes({option, {"--store-limit", 1, 1}}, "--store-limit");
  if (plan.store_limit) return *plan.store_limit;
  std::error_code error;
  const std::filesystem::space_info disk = std::filesystem::space(matrices, error);
  if (error) return std::numeric_limits<double>::infinity();  // the file system does not report its size
  double bytes = static_cast<double>(disk.available);
  for (const auto& [digest, size] : io::MatrixStore(matrices).inventory()) bytes += static_cast<double>(size);
  return bytes / 2 / static_cast<double>(shards);
}

}  // namespace gaussweep::driver
