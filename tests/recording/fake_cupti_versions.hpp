// How releases of CUPTI differ, as far as we know it: the fake libcupti behaves like the row of its version, and the
// recording tests run over all rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace debubble::testing {

struct FakeCuptiVersion {
  std::uint32_t version;
  std::string_view cuda;    // the release, "11.6"
  std::string_view soname;  // of the library
  // Bytes of a record.
  std::size_t kernel;
  std::size_t copy;
  std::size_t peer_copy;
  std::size_t set;
  std::size_t memory;
  std::size_t overhead;
  std::size_t device;
  bool knows_zeroed_buffers;    // CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER; else setting it fails with result 1
  bool crashes_without_buffer;  // when a request for one is refused
  std::string_view source;      // of what is in this row
};

[[nodiscard]] const std::vector<FakeCuptiVersion>& fake_cupti_versions();

// The row of this version; the nearest older one where there is none, the first where nothing is older.
[[nodiscard]] const FakeCuptiVersion& fake_cupti_version(std::uint32_t version);

// Bytes of a record of this kind; 0: not a kind that the fake makes.
[[nodiscard]] std::size_t record_size(const FakeCuptiVersion& version, std::uint32_t kind);

}  // namespace debubble::testing
