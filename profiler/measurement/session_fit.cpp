#include "profiler/measurement/session_fit.hpp"

#include <optional>

#include "gpu/counting_device.hpp"
#include "sim/core/error.hpp"
#include "sim/core/words.hpp"

namespace debubble {
namespace {

constexpr std::int64_t kShortestSequence = 64;

Bytes sum(const LayerMemory& memory) {
  return memory.parameters + memory.activation + memory.output + memory.workspace;
}

// Some sizes on the way down may not be possible at all.
std::optional<Bytes> needed_if_possible(const TransformerShape& shape, const WorkloadSize& size) {
  try {
    return needed_memory(shape, size);
  } catch (const InputError&) {
    return std::nullopt;
  }
}

bool fits_in_memory(const TransformerShape& shape, const WorkloadSize& size, Bytes free) {
  const std::optional<Bytes> needed = needed_if_possible(shape, size);
  return needed && *needed <= free - free / 50;  // the driver rounds allocations up
}

}  // namespace

Bytes needed_memory(const TransformerShape& shape, const WorkloadSize& size) {
  CountingDevice device;
  const TransformerModel model(device, shape, size);
  return device.peak();
}

std::string memory_by_layer(const TransformerShape& shape, const WorkloadSize& size) {
  CountingDevice device;
  TransformerModel model(device, shape, size);
  std::string text;
  for (WorkLayer* layer : {&model.embedding(), &model.block(), &model.head()}) {
    text += (text.empty() ? "" : ", ") + layer->name() + " " + mebibytes(sum(layer->memory()));
  }
  return text;
}

std::string fitting_size(const TransformerShape& shape, const WorkloadSize& size, Bytes free) {
  WorkloadSize smaller = size;
  while (smaller.microbatch > 1) {
    smaller.microbatch /= 2;
    if (fits_in_memory(shape, smaller, free))
      return "--microbatch-size " + std::to_string(smaller.microbatch) + " would fit";
  }
  while (smaller.sequence / 2 >= kShortestSequence) {
    smaller.sequence /= 2;
    if (!fits_in_memory(shape, smaller, free)) continue;
    return "--microbatch-size " + std::to_string(smaller.microbatch) + " --sequence " +
           std::to_string(smaller.sequence) + " would fit";
  }
  return "not even --microbatch-size " + std::to_string(smaller.microbatch) + " --sequence " +
         std::to_string(smaller.sequence) +
         " would fit: use a GPU with more memory, free this one, or measure a share of the model with a larger --tp";
}

}  // namespace debubble
