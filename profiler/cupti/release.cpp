#include "profiler/cupti/release.hpp"

#include <array>
#include <utility>

#include "profiler/cupti/abi.hpp"

namespace debubble {

int cuda_of_cupti(std::uint32_t cupti_version) {
  if (cupti_version >= cupti_abi::kFirstLongVersion) {
    // "xxyyzz": major, minor, CUPTI's own update (cupti_version.h of 13.0).
    return static_cast<int>(cupti_version / 10000 * 1000 + cupti_version / 100 % 100 * 10);
  }
  // The list in cupti_version.h of 13.0.
  constexpr std::array<std::pair<std::uint32_t, int>, 11> kReleases = {{{17, 11060},
                                                                        {18, 11080},
                                                                        {19, 12000},
                                                                        {20, 12020},
                                                                        {21, 12030},
                                                                        {22, 12040},
                                                                        {23, 12050},
                                                                        {24, 12060},
                                                                        {26, 12080},
                                                                        {27, 12090},
                                                                        {28, 12090}}};
  for (const auto& [version, release] : kReleases) {
    if (version == cupti_version) return release;
  }
  return 0;
}

bool is_tested(std::uint32_t cupti_version) {
  constexpr std::uint32_t kPastShortVersions = 100;
  if (cupti_version >= cupti_abi::kFirstLongVersion) return cupti_version <= cupti_abi::kNewestVersion;
  return cupti_version >= cupti_abi::kOldestVersion && cupti_version < kPastShortVersions;
}

std::string release_text(int cuda_version) {
  if (cuda_version == 0) return "";
  return std::to_string(cuda_version / 1000) + "." + std::to_string(cuda_version % 1000 / 10);
}

}  // namespace debubble
