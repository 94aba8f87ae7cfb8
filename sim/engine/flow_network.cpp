#include "sim/engine/flow_network.hpp"

#include "sim/engine/fifo.hpp"
#include "sim/engine/fluid.hpp"

namespace debubble {

std::unique_ptr<FlowNetwork> make_network(const LinkGraph& graph, NetworkModel model, EventQueue& queue) {
  switch (model) {
    case NetworkModel::kFluid:
      return std::make_unique<FluidNetwork>(graph, queue);
    case NetworkModel::kFifo:
      return std::make_unique<FifoNetwork>(graph, queue);
    case NetworkModel::kUncontended:
      break;
  }
  return nullptr;
}

}  // namespace debubble
