// Rows of an Nsight Systems export as the activity records that CUPTI of a release makes of them, by NVIDIA's own
// structs and numbers (cupti_activity.h and cupti_activity_deprecated.h of the newest release): nothing of our
// declarations. Fields that the export does not have are noise.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/recording/nsys_rows.hpp"

namespace debubble::testing {

using RecordBytes = std::vector<std::uint8_t>;

// `version` as cuptiGetVersion says it. Names must outlive the records.
[[nodiscard]] RecordBytes nvidia_work(const NsysWork& work, std::uint32_t version);
[[nodiscard]] RecordBytes nvidia_memory(const NsysMemory& row, std::uint32_t version);
// Of the calling thread. Throws std::runtime_error for a call that is not in the table of names.
[[nodiscard]] RecordBytes nvidia_call(const NsysCall& call);

}  // namespace debubble::testing
