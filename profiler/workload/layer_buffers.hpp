// LayerBuffers: the device memory of one layer, each piece with the purpose it is counted under.
//
//     F  x ------> y         kKept        from F to I            activation
//        |  kept             kKeptForW    from F to W            activation, held for W
//     I  dx <----- dy        kHeld        from I to W            held for W
//        |  held             kScratch     within one pass        workspace
//     W  weight gradients
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/workload/device.hpp"
#include "profiler/workload/transformer_model.hpp"

namespace debubble {

enum class Purpose {
  kParameter,
  kGradient,  // of a parameter; fp32, added up over the microbatches
  kKept,
  kKeptForW,
  kHeld,
  kOutput,
  kInputGrad,  // goes to the layer before, which counts it where it needs it
  kScratch,
};

enum class Element { kReal, kFloat, kInt };  // kReal: the layer's data type

struct LayerBuffer {
  std::string name;
  Purpose purpose = Purpose::kScratch;
  Element element = Element::kReal;
  std::int64_t elements = 0;
  DeviceAddress data = 0;
};

class LayerBuffers {
 public:
  LayerBuffers(WorkDevice& device, DataType type) : device_(device), type_(type) {}
  ~LayerBuffers();
  LayerBuffers(const LayerBuffers&) = delete;
  LayerBuffers& operator=(const LayerBuffers&) = delete;

  // The address of a new buffer; 0 when it has no elements. What WorkDevice throws passes through.
  DeviceAddress add(std::string name, Purpose purpose, std::int64_t elements, Element element = Element::kReal);

  [[nodiscard]] std::span<const LayerBuffer> all() const { return buffers_; }
  [[nodiscard]] const LayerBuffer& find(std::string_view name) const;  // throws std::logic_error
  [[nodiscard]] Bytes bytes(const LayerBuffer& buffer) const;
  [[nodiscard]] LayerMemory memory() const;
  [[nodiscard]] DataType type() const { return type_; }

 private:
  WorkDevice& device_;
  DataType type_;
  std::vector<LayerBuffer> buffers_;
};

}  // namespace debubble
