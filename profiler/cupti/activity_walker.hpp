// Walks the records of one activity buffer.
//
// CUPTI's own cuptiActivityGetNextRecord is asked where there is one: it knows the sizes of all kinds. Without it a
// table of the sizes of CUDA 13.0 serves; both agree on buffers of that release (a test holds them together).
#pragma once

#include <cstddef>
#include <cstdint>

#include "profiler/cupti/abi.hpp"

namespace debubble {

using NextRecord = cupti_abi::Result (*)(std::uint8_t*, std::size_t, cupti_abi::Activity**);

// The same contract as cuptiActivityGetNextRecord: *record null: the first one; the result says whether there is one.
// Ends with kInvalidKind at a kind that is not in the table and with kOutOfRecords at the end or at a cut-off record.
cupti_abi::Result walk_cuda_13_0(std::uint8_t* buffer, std::size_t valid, cupti_abi::Activity** record);

// Whether we read records of this kind.
[[nodiscard]] bool is_known(std::uint32_t kind);

// Whether what we read of this record lies inside the buffer, behind the record `before` (null: none).
[[nodiscard]] bool is_inside(const cupti_abi::Activity* record, const cupti_abi::Activity* before,
                             const std::uint8_t* buffer, std::size_t valid);

}  // namespace debubble
