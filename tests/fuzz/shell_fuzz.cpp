// Launch scripts: whatever the bytes, they are refused with InputError, or their arguments hold no mark of ours.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "formats/megatron/launch.hpp"
#include "sim/core/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace debubble;
  if (size > 20'000) return 0;
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    const MegatronLaunch launch = read_launch(text, "x.sh", LaunchGiven{});
    for (const std::string& word : launch.arguments) {
      if (word.find('\x01') != std::string::npos) std::abort();
    }
  } catch (const InputError& error) {
    if (error.diagnostics().empty()) std::abort();
  }
  return 0;
}
