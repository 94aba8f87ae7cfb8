#include <string>

#include "studies/sweep/space.hpp"
#include "studies/sweep/study_hash.hpp"

namespace debubble {

std::uint64_t fingerprint_of(const SweepFlags& flags, const SweepSpace& space, const std::string& version) {
  StudyHash hash;
  hash.add_text(version);
  for (const SweepAxis& axis : space.axes()) {
    const Flag& flag = flags.simulate_rows()[axis.row];
    hash.add_text(flag.name);
    hash.add_text(std::to_string(axis.values.size()));
    for (const std::string& value : axis.values) add_value(flag, value, hash);
  }
  return hash.value();
}

}  // namespace debubble
