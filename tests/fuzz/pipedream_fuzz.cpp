// The PipeDream importer: whatever the bytes, it throws InputError or returns a profile that our own reader accepts and
// that holds every node once.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "formats/importers/pipedream.hpp"
#include "formats/profile/profile_json.hpp"
#include "sim/core/error.hpp"

namespace {

using namespace debubble;

void require(bool holds) {
  if (!holds) std::abort();
}

bool is_printable(const std::string& text) {
  return std::none_of(text.begin(), text.end(),
                      [](char c) { return static_cast<unsigned char>(c) < 0x20 && c != '\n'; });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  PipedreamImport import;
  try {
    import = import_pipedream(std::string_view(reinterpret_cast<const char*>(data), size), "fuzz/graph.txt");
  } catch (const InputError& error) {
    require(!error.diagnostics().empty());
    require(is_printable(error.what()));
    return 0;
  }
  require(import.nodes_placed < import.nodes_in_file);
  require(!import.profile.layers.empty());
  require(import.profile.layers.size() <= static_cast<std::size_t>(import.nodes_placed));
  require(import.profile.layers.back().output == 0);
  for (const std::string& note : import.notes) require(is_printable(note));
  require(read_profile(write_profile(import.profile), "fuzz") == import.profile);
  return 0;
}
