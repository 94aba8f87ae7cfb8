// Hugging Face's config.json: whatever the bytes, both readers throw InputError, or give sizes of which the parameters
// can be counted.
#include "formats/model/model_config.hpp"
#include "scenario/request/hf_config.hpp"
#include "sim/core/transformer.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace {

using namespace debubble;
using namespace debubble::fuzz;

void check_sizes(const TransformerShape& shape) {
  require(shape.layers > 0 && shape.hidden > 0 && shape.heads > 0 && shape.vocabulary > 0);
  require(model_parameters(shape) > 0);
  require(main_parameters(shape) > 0 && main_parameters(shape) <= model_parameters(shape));
}

template <typename Read>
void check_reader(const Read& read) {
  try {
    check_sizes(read());
  } catch (const InputError& error) {
    check_refusal(error);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_reader([&] { return read_hf_config(text, "fuzz").shape; });
  check_reader([&] { return read_model_config(text, "fuzz"); });
  return 0;
}
