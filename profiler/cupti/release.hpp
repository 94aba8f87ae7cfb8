// CUPTI's version numbers and the releases of CUDA they belong to.
#pragma once

#include <cstdint>
#include <string>

namespace debubble {

// CUDA's own form, 12080 for 12.8, of a CUPTI_API_VERSION; 0 where the number says nothing. Where it belongs to several
// releases, the first.
[[nodiscard]] int cuda_of_cupti(std::uint32_t cupti_version);

// Whether it is believed without a look at its records: CUDA 11.6 to 13.0, any update.
[[nodiscard]] bool is_tested(std::uint32_t cupti_version);

// "12.8" of 12080; empty for 0.
[[nodiscard]] std::string release_text(int cuda_version);

}  // namespace debubble
