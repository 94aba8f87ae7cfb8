// Hugging Face's config.json: whatever the bytes, both readers throw InputError, or give sizes of which the parameters
// can be counted.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "formats/model/model_config.hpp"
#include "scenario/request/hf_config.hpp"
#include "sim/core/error.hpp"
#include "sim/core/transformer.hpp"

namespace {

using namespace debubble;

void demand_model(bool holds) {
  if (!holds) std::abort();
}

void check_sizes(const TransformerShape& shape) {
  demand_model(shape.layers > 0 && shape.hidden > 0 && shape.heads > 0 && shape.vocabulary > 0);
  demand_model(model_parameters(shape) > 0);
  demand_model(main_parameters(shape) > 0 && main_parameters(shape) <= model_parameters(shape));
}

template <typename Read>
void check_reader(const Read& read) {
  try {
    check_sizes(read());
  } catch (const InputError& error) {
    demand_model(!error.diagnostics().empty());
    for (const Diagnostic& one : error.diagnostics()) {
      demand_model(!one.code.empty() && !one.message.empty() && !one.help.empty());
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_reader([&] { return read_hf_config(text, "fuzz").shape; });
  check_reader([&] { return read_model_config(text, "fuzz"); });
  return 0;
}
