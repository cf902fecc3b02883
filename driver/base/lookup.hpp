#pragma once
/// A lookup of keys in maps that returns a pointer.

namespace gaussweep::driver {

/// Returns a pointer to the value of a key; null if the map lacks the key.
template <class Map>
const typename Map::mapped_type* find_in(const Map& map, const typename Map::key_type& key) {
  const auto found = map.find(key);
  return found == map.end() ? nullptr : &found->second;
}

}  // namespace gaussweep::driver
