// The profile reader: whatever the bytes, it throws InputError or returns a profile that survives the round trip, can
// be cut into stages in balance, and costs something that adds up.
#include <numeric>

#include "cost_models/partition/partition.hpp"
#include "cost_models/profiled.hpp"
#include "formats/profile/profile_json.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace {

using namespace debubble;
using namespace debubble::fuzz;

// Every diagnostic names its place and can be printed.
void use(const Profile& profile) {
  const auto layers = static_cast<int>(profile.layers.size());
  if (layers > 2000) return;  // the slow part; the reader was the point
  try {
    const std::vector<int> partition = cut_layers({}, {&profile, std::min(layers, 7)}).layers;
    require(std::accumulate(partition.begin(), partition.end(), 0) == layers);
    std::vector<Assumption> assumptions;
    const StageCosts costs = profiled_costs(profile, partition, {}, 0.5, assumptions);
    require(costs.stages.size() == partition.size());
  } catch (const InputError&) {
    // Sums that overflow are input errors.
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Profile profile;
  try {
    profile = read_profile(std::string_view(reinterpret_cast<const char*>(data), size), "fuzz");
  } catch (const InputError& error) {
    check_refusal(error, "fuzz");
    return 0;
  }
  require(read_profile(write_profile(profile), "fuzz") == profile);
  use(profile);
  return 0;
}
