// Megatron's layout strings: no text breaks the parser, and what it accepts comes back from its own writing.
#include "cost_models/partition/layout.hpp"
#include "sim/core/layout_letters.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace {

using namespace debubble;
using namespace debubble::fuzz;

Profile profile_of(int decoders, int mtp) {
  Profile profile;
  profile.model = "tiny";
  profile.layers.emplace_back().kind = "embedding";
  for (int k = 0; k < decoders; ++k) profile.layers.emplace_back().kind = "transformer";
  for (int k = 0; k < mtp; ++k) profile.layers.emplace_back().kind = "mtp";
  profile.layers.emplace_back().kind = "head";
  return profile;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)is_layout(text);
  for (const int stages : {1, 2, 4}) {
    for (const int decoders : {1, 4, 8}) {
      const Profile profile = profile_of(decoders, stages % 2);
      std::vector<int> sizes;
      try {
        sizes = parse_layout(text, stages, profile);
      } catch (const InputError& error) {
        require(!error.diagnostics().empty() && error.diagnostics().front().place.starts_with("--partition"));
        continue;
      }
      require(parse_layout(write_layout(sizes, profile), stages, profile) == sizes);
    }
  }
  return 0;
}
