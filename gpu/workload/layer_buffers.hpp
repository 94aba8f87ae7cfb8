// LayerBuffers: the device memory of one layer, each piece with the purpose it is counted under.
//
//     F  x ------> y         kKept        from F to I            activation
//        |  kept             kKeptForW    from F to W            activation, held for W
//     I  dx <----- dy        kHeld        from I to W            held for W
//        |  held             kScratch     within one pass        workspace
//     W  weight gradients
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/workload/device.hpp"
#include "gpu/workload/transformer_model.hpp"

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
  bool lent = false;  // somebody else's: neither filled nor given back here
};

// Lends a layer buffers instead of its own: the parameters of another copy of the layer, the output of the layer
// before as its input, parts of an arena. With it several microbatches can be in flight in one layer.
class BufferLender {
 public:
  virtual ~BufferLender() = default;
  // Address of memory for this buffer (`wanted.data` is not set yet); nothing: the layer makes its own, and fills it.
  [[nodiscard]] virtual std::optional<DeviceAddress> lend(const LayerBuffer& wanted) = 0;
};

class LayerBuffers {
 public:
  // A lender must live as long as buffers are added.
  LayerBuffers(WorkDevice& device, DataType type, BufferLender* lender = nullptr)
      : device_(device), type_(type), lender_(lender) {}
  ~LayerBuffers();
  LayerBuffers(const LayerBuffers&) = delete;
  LayerBuffers& operator=(const LayerBuffers&) = delete;

  // The address of a new buffer; 0 when it has no elements. What WorkDevice throws passes through.
  DeviceAddress add(std::string name, Purpose purpose, std::int64_t elements, Element element = Element::kReal);

  [[nodiscard]] std::span<const LayerBuffer> all() const { return buffers_; }
  [[nodiscard]] const LayerBuffer& find(std::string_view name) const;  // throws std::logic_error
  [[nodiscard]] bool newest_is_lent() const { return !buffers_.empty() && buffers_.back().lent; }
  [[nodiscard]] Bytes bytes(const LayerBuffer& buffer) const;
  [[nodiscard]] LayerMemory memory() const;
  [[nodiscard]] DataType type() const { return type_; }

 private:
  WorkDevice& device_;
  DataType type_;
  BufferLender* lender_;
  std::vector<LayerBuffer> buffers_;
};

}  // namespace debubble
