// The profiles that we ship reproduce the costs their paper printed: file, partition, costs and engine together.
#include <fstream>

#include "cost_models/profiled.hpp"
#include "formats/profile/profile_json.hpp"
#include "tests/support/places.hpp"
#include "tests/support/test.hpp"
#include "tests/support/toy.hpp"

using namespace debubble;
using namespace debubble::testing;

namespace {

struct PublishedProfilesRow {
  std::string file;
  int devices, microbatches, layers_per_device;
  Nanoseconds cost_1f1b, cost_zb_h1;  // microseconds
};

const std::vector<PublishedProfilesRow> kPublishedProfilesRows{
    {"zb-a100-1.5b-m24", 8, 24, 3, 1456749, 1310405},     {"zb-a100-1.5b-m32", 8, 32, 3, 1833838, 1678164},
    {"zb-a100-1.5b-m64", 8, 64, 3, 3357932, 3154286},     {"zb-a100-6.2b-m24", 8, 24, 4, 2480217, 2187537},
    {"zb-a100-6.2b-m32", 8, 32, 4, 3110876, 2814376},     {"zb-a100-6.2b-m64", 8, 64, 4, 5671364, 5348572},
    {"zb-a100-14.6b-m48", 16, 48, 3, 1980287, 1714461},   {"zb-a100-14.6b-m64", 16, 64, 3, 2478390, 2202008},
    {"zb-a100-14.6b-m128", 16, 128, 3, 4497410, 4175516}, {"zb-a100-28.3b-m96", 32, 96, 2, 3699675, 3171569},
    {"zb-a100-28.3b-m128", 32, 128, 2, 4627749, 4075091}, {"zb-a100-28.3b-m256", 32, 256, 2, 8391636, 7715640},
};

Profile read(const std::string& name) {
  const std::string path = debubble::testing::source_directory() + "/traces/published/" + name + ".json";
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return read_profile(text.str(), path);
}

}  // namespace

TEST_CASE("golden: the twelve published A100 profiles give the paper's costs to the microsecond") {
  for (const PublishedProfilesRow& row : kPublishedProfilesRows) {
    CAPTURE(row.file);
    const Profile profile = read(row.file);
    REQUIRE(profile.hop_latency.has_value());
    std::vector<Assumption> assumptions;
    const std::vector<int> partition(static_cast<std::size_t>(row.devices), row.layers_per_device);
    const StageCosts costs = profiled_costs(profile, partition, {}, 1.0, assumptions);
    const HopFigures link{*profile.hop_latency, 0};
    CHECK(totals_of(build("1f1b", row.devices, row.microbatches), costs, link).span == row.cost_1f1b * 1'000);
    CHECK(totals_of(build("zb-h1", row.devices, row.microbatches), costs, link).span == row.cost_zb_h1 * 1'000);
  }
}
