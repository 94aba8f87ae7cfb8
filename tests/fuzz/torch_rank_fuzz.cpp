// What a process of debubble_torch wrote: whatever the bytes, the reader refuses them with their place or returns
// records.
#include "live/torch/rank_records.hpp"
#include "tests/fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto rank =
        debubble::live::read_torch_rank(std::string_view(reinterpret_cast<const char*>(data), size), "fuzz");
    for (const auto& cost : rank.costs) {
      if (cost.stage < 0 || cost.forward < 0 || cost.weights < 0) std::abort();
    }
    for (const auto& iteration : rank.iterations) {
      for (const auto& cell : iteration.cells) {
        if (cell.position < 0 || cell.begin < 0 || cell.end < 0) std::abort();
      }
    }
  } catch (const debubble::InputError& error) {
    if (error.diagnostics().empty() || !error.diagnostics().front().place.starts_with("fuzz")) std::abort();
  }
  return 0;
}
