#include "live/torch/plan_text.hpp"

#include <sstream>
#include <vector>

#include "sim/core/at.hpp"

namespace debubble::live {

namespace {

template <typename Range, typename Text>
std::string joined_words(const Range& range, const char* between, Text text) {
  std::string result;
  for (const auto& each : range) result += (result.empty() ? "" : between) + text(each);
  return result;
}

std::string hops_text(const std::vector<Hop>& hops) {
  if (hops.empty()) return "-";
  return joined_words(hops, ",", [](const Hop& hop) {
    return (hop.tensor.gradient ? "g" : "a") + std::to_string(hop.tensor.stage) + "." +
           std::to_string(hop.tensor.piece) + ":" + std::to_string(hop.peer);
  });
}

void write_fault(const Fault& fault, std::ostream& out) {
  switch (fault.kind) {
    case Fault::Kind::kSlow:
      out << "fault slow " << fault.factor << " " << fault.device << "\n";
      break;
    case Fault::Kind::kDrop:
      out << "fault drop " << to_string(fault.op) << "\n";
      break;
    case Fault::Kind::kCorrupt:
      out << "fault corrupt " << to_string(fault.op) << "\n";
      break;
    case Fault::Kind::kKill:
      out << "fault kill " << to_string(fault.op) << "\n";
      break;
    case Fault::Kind::kSwap:  // the rows have it already
      break;
  }
}

void write_placement(const Schedule& schedule, std::ostream& out) {
  out << "replica " << joined_words(schedule.replica_of, " ", [](std::int32_t each) { return std::to_string(each); })
      << "\n";
  for (int replica = 0; replica < schedule.placement.replicas(); ++replica) {
    out << "place " << replica;
    for (int stage = 0; stage < schedule.stages; ++stage) out << " " << schedule.placement.device_of(replica, stage);
    out << "\n";
  }
}

void write_cells(const Job& job, std::ostream& out) {
  for (std::int32_t device = 0; device < job.schedule().devices; ++device) {
    for (const Action& action : at(job.plan().devices, device)) {
      out << "cell " << device << " " << action.position << " "
          << joined_words(job.cell(device, action.position), ",", [](const Op& op) { return to_string(op); }) << " "
          << hops_text(action.sends) << " " << hops_text(action.receives) << "\n";
    }
  }
}

}  // namespace

std::string torch_plan(const Job& job, const TorchOptions& options, int iterations) {
  const Schedule& schedule = job.schedule();
  std::ostringstream out;
  out << "debubble.torch-plan/1\n"
      << "sizes " << schedule.devices << " " << schedule.stages << " " << schedule.total_pieces() << " " << iterations
      << "\n"
      << "dtype " << options.precision << "\n"
      << "device " << (options.gpus ? "cuda" : "cpu") << "\n"
      << "seed 0\n"
      << "costs " << options.timings << "\n";
  if (!options.stages.empty()) out << "stages " << options.stages << "\nfolder " << options.folder << "\n";
  if (!options.partition.empty()) {
    out << "partition " << joined_words(options.partition, ",", [](int each) { return std::to_string(each); }) << "\n";
  }
  for (const Fault& fault : job.request().faults) write_fault(fault, out);
  write_placement(schedule, out);
  write_cells(job, out);
  out << "end\n";
  return out.str();
}

}  // namespace debubble::live
