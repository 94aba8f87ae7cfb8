// The importer of dnn-partitioning's and Piper's graphs: whatever the bytes, it throws InputError or returns a profile
// that our own reader accepts.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "formats/importers/partitioning.hpp"
#include "formats/profile/profile_json.hpp"
#include "sim/core/error.hpp"

namespace {

void require_partitioning(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace debubble;
  PipedreamImport import;
  try {
    import = import_partitioning(std::string_view(reinterpret_cast<const char*>(data), size), "fuzz/graph.json");
  } catch (const InputError& error) {
    require_partitioning(!error.diagnostics().empty());
    return 0;
  }
  require_partitioning(!import.profile.layers.empty());
  require_partitioning(import.profile.layers.back().output == 0);
  require_partitioning(read_profile(write_profile(import.profile), "fuzz") == import.profile);
  return 0;
}
