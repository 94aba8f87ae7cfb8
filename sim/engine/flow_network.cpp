#include "sim/engine/flow_network.hpp"

namespace debubble {

std::unique_ptr<FlowNetwork> make_network(const LinkGraph& graph, NetworkModel model, EventQueue& queue) {
  switch (model) {
    case NetworkModel::kFluid:
      return fluid_network(graph, queue);
    case NetworkModel::kFifo:
      return fifo_network(graph, queue);
    case NetworkModel::kUncontended:
      break;
  }
  return nullptr;
}

}  // namespace debubble
