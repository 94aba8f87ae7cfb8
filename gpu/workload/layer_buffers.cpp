#include "gpu/workload/layer_buffers.hpp"

#include <stdexcept>
#include <utility>

namespace debubble {

LayerBuffers::~LayerBuffers() {
  for (const LayerBuffer& buffer : buffers_) {
    if (!buffer.lent) device_.release(buffer.data);
  }
}

DeviceAddress LayerBuffers::add(std::string name, Purpose purpose, std::int64_t elements, Element element) {
  if (elements == 0) return 0;
  LayerBuffer buffer{std::move(name), purpose, element, elements, 0, false};
  buffers_.reserve(buffers_.size() + 1);  // so that nothing is lost once it is allocated
  const std::optional<DeviceAddress> lent = lender_ == nullptr ? std::nullopt : lender_->lend(buffer);
  buffer.lent = lent.has_value();
  buffer.data = lent ? *lent : device_.allocate(bytes(buffer));
  return buffers_.emplace_back(std::move(buffer)).data;
}

const LayerBuffer& LayerBuffers::find(std::string_view name) const {
  for (const LayerBuffer& buffer : buffers_) {
    if (buffer.name == name) return buffer;
  }
  throw std::logic_error("no buffer " + std::string(name));
}

Bytes LayerBuffers::bytes(const LayerBuffer& buffer) const {
  return buffer.elements * (buffer.element == Element::kReal ? bytes_of(type_) : 4);
}

LayerMemory LayerBuffers::memory() const {
  LayerMemory memory;
  for (const LayerBuffer& buffer : buffers_) {
    const Bytes size = bytes(buffer);
    switch (buffer.purpose) {
      case Purpose::kParameter:
        memory.parameters += size;
        break;
      case Purpose::kGradient:
        memory.gradients += size;
        break;
      case Purpose::kKept:
        memory.activation += size;
        break;
      case Purpose::kKeptForW:
        memory.activation += size;
        memory.weight_grad_held += size;
        break;
      case Purpose::kHeld:
        memory.weight_grad_held += size;
        break;
      case Purpose::kOutput:
        memory.output += size;
        break;
      case Purpose::kInputGrad:
        break;
      case Purpose::kScratch:
        memory.workspace += size;
        break;
    }
  }
  return memory;
}

}  // namespace debubble
