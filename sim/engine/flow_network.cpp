#include "sim/engine/flow_network.hpp"

#include "sim/engine/fifo.hpp"
#include "sim/engine/fluid.hpp"

namespace debubble {

std::unique_ptr<FlowNetwork> make_network(const LinkGraph& graph, NetworkModel model, EventQueue& queue,
                                          std::uint64_t first_event) {
  switch (model) {
    case NetworkModel::kFluid:
      return std::make_unique<FluidNetwork>(graph, queue, first_event);
    case NetworkModel::kFifo:
      return std::make_unique<FifoNetwork>(graph, queue, first_event);
    case NetworkModel::kUncontended:
      break;
  }
  return nullptr;
}

}  // namespace debubble
