// No text may break the reader of compute_comms tables: it throws InputError or gives a schedule whose own lowering is
// read back as the same schedule, without a note.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "schedules/exchange/comms_lowering.hpp"
#include "schedules/exchange/comms_table.hpp"
#include "sim/core/error.hpp"
#include "sim/rows/check.hpp"

namespace {

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "broken promise: %s\n", what);
  std::abort();
}

std::optional<debubble::Schedule> read(std::string_view text) {
  try {
    return debubble::read_comms_table(text, "input");
  } catch (const debubble::InputError& error) {
    require(!error.diagnostics().empty() && error.diagnostics().size() <= 51, "1 to 51 diagnostics");
    for (const debubble::Diagnostic& diagnostic : error.diagnostics()) {
      require(diagnostic.place.starts_with("input") && !diagnostic.message.empty(), "each with its place");
    }
    return std::nullopt;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace debubble;
  const std::optional<Schedule> schedule = read({reinterpret_cast<const char*>(data), size});
  if (!schedule) return 0;
  require(find_problems(*schedule).empty(), "what parses is complete");
  require(!find_deadlock(*schedule).has_value(), "what parses cannot deadlock");
  const std::string text = write_action_table(lower_as_pytorch(*schedule, "input"));
  const std::optional<Schedule> again = read(text);
  require(again.has_value(), "the lowering can be read");
  require(again->rows == schedule->rows && again->placement == schedule->placement, "it is of the same schedule");
  require(again->notes.empty(), "it is its own lowering");
  return 0;
}
