#include "tests/attribution/reference_attribution.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>

namespace debubble::test {
namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

struct Place {
  std::string layer;  // or the category of the rest
  std::string phase;  // empty: rest
  std::string rule = "rest";
  int execution = -1;  // the range of the layer, or of its explicit phase
  std::string norm;    // not empty: a kernel for gamma and beta is W
};

class Reference {
 public:
  explicit Reference(const RandomProgram& program) : program_(program) {}

  ReferenceAttribution run() {
    find_executions();
    for (const ProgramCall& call : program_.calls) {
      for (const ProgramKernel& kernel : call.kernels) account(call, kernel);
    }
    for (const auto& [execution, time] : forward_) result_.forward[layer_of(execution)].push_back(time);
    for (const auto& [execution, time] : weight_) result_.weight_grad[layer_of(execution)].push_back(time);
    return result_;
  }

 private:
  const ProgramRange& range(int index) const { return program_.ranges[static_cast<std::size_t>(index)]; }

  std::vector<int> ancestors(int index) const {  // outermost first, the range itself last
    std::vector<int> chain;
    for (; index >= 0; index = range(index).parent) chain.insert(chain.begin(), index);
    return chain;
  }

  std::string layer_of(int index) const {
    for (; index >= 0; index = range(index).parent) {
      if (range(index).name.rfind("debubble.layer:", 0) == 0) return range(index).name.substr(15);
    }
    return "";
  }

  static bool is_layer(const ProgramRange& range) { return range.name.rfind("debubble.layer:", 0) == 0; }
  static bool is_node(const ProgramRange& range) {
    return range.name.rfind("autograd::engine", 0) == 0 || has(range.name, "Backward0") ||
           range.name == "torch::autograd::AccumulateGrad";
  }

  // The op on that thread with that number and the latest start before the node.
  std::optional<int> maker(const ProgramRange& node) const {
    std::optional<int> best;
    for (int k = 0; k < static_cast<int>(program_.ranges.size()); ++k) {
      const ProgramRange& op = range(k);
      const bool thread = node.forward_thread != 0 ? op.thread == node.forward_thread : op.thread == 1;
      if (thread && !is_node(op) && op.sequence == node.sequence && op.begin < node.begin) best = k;
    }
    return best;
  }

  // The numbered range of the node that the engine's range at `index` holds, or that stands there itself.
  const ProgramRange* numbered(int index) const {
    if (range(index).sequence >= 0) return &range(index);
    for (int k = index + 1; k < static_cast<int>(program_.ranges.size()); ++k) {
      if (range(k).parent == index && is_node(range(k)) && range(k).sequence >= 0) return &range(k);
    }
    return nullptr;
  }

  Place node_place(int index) const {
    const std::string& name = range(index).name;
    if (has(name, "AccumulateGrad")) {
      for (int k = index - 1; k >= 0; --k) {
        const bool numbered_node =
            range(k).thread == range(index).thread && is_node(range(k)) && range(k).sequence >= 0;
        if (!numbered_node) continue;
        Place place = node_place(k);
        if (place.phase.empty()) return {place.layer, "", "rest", -1, ""};
        return {place.layer, "W", "name", place.execution, ""};
      }
      return {"unlinked backward", "", "rest", -1, ""};
    }
    const ProgramRange* node = numbered(index);
    const std::optional<int> op = node == nullptr ? std::nullopt : maker(*node);
    if (!op) return {"unlinked backward", "", "rest", -1, ""};
    const int layer = layer_range(*op);
    if (layer < 0) return {"outside layers", "", "rest", -1, ""};
    Place place{layer_of(layer), "I", "name", layer, ""};
    if (has(name, "Embedding")) place.phase = "W";
    if (has(name, "LayerNorm")) place.norm = "W";
    if (has(name, "Convolution")) {
      place.phase = "B";
      place.rule = "unsplit";
    }
    return place;
  }

  int layer_range(int index) const {
    while (index >= 0 && !is_layer(range(index))) index = range(index).parent;
    return index;
  }

  Place place_of(int index) const {
    const std::vector<int> chain = ancestors(index);
    Place place{"outside layers", "", "rest", -1, ""};
    bool backward = false;
    bool recompute = false;
    bool told_apart = false;
    for (const int at : chain) {
      const ProgramRange& here = range(at);
      if (is_layer(here) && !backward) {
        place = {layer_of(at), "F", "forward", at, ""};
      } else if (is_layer(here)) {
        place = {layer_of(at), "R", "recompute", place.execution, ""};
        recompute = true;
      } else if (here.name.rfind("debubble.phase:", 0) == 0) {
        place = {layer_of(at), here.name.substr(15), "explicit", at, ""};
      } else if (has(here.name, "Optimizer")) {
        place = {"optimizer", "", "rest", -1, ""};
      } else if (has(here.name, "nccl")) {
        place = {"communication", "", "rest", -1, ""};
      } else if (is_node(here)) {
        place = node_place(at);
        backward = true;
      } else if (backward && here.sequence >= 0 && !recompute) {
        recompute = true;
        if (place.execution >= 0) place = {place.layer, "R", "recompute", place.execution, ""};
      } else if (backward && !recompute && !told_apart && !here.phase.empty() && place.execution >= 0 &&
                 place.rule != "unsplit" && !in_embedding(chain)) {
        place = {place.layer, here.phase, here.rule, place.execution, ""};
        told_apart = true;
      }
    }
    return place;
  }

  bool in_embedding(const std::vector<int>& chain) const {
    return std::any_of(chain.begin(), chain.end(), [&](int at) { return has(range(at).name, "EmbeddingBackward"); });
  }

  // Executions run whether or not they launch anything.
  void find_executions() {
    for (int k = 0; k < static_cast<int>(program_.ranges.size()); ++k) {
      const ProgramRange& here = range(k);
      const std::vector<int> chain = ancestors(k);
      const bool backward = std::any_of(chain.begin(), chain.end(), [&](int at) { return is_node(range(at)); });
      if (is_layer(here) && !backward && !has_phases(k)) forward_[k] += 0;
      if (here.name == "debubble.phase:F") forward_[k] += 0;
      if (here.name == "debubble.phase:W") weight_[k] += 0;
      if (is_node(here)) {
        const Place place = node_place(k);
        if (place.execution >= 0) weight_[place.execution] += 0;
      }
    }
  }

  bool has_phases(int index) const {
    return std::any_of(program_.ranges.begin(), program_.ranges.end(), [&](const ProgramRange& other) {
      return other.parent == index && other.name.rfind("debubble.phase:", 0) == 0;
    });
  }

  void account(const ProgramCall& call, const ProgramKernel& kernel) {
    const KernelRecord& record = kernel.record;
    if (record.begin == 0 && record.end == 0) {
      ++result_.losses["kernels without times"];
      return;
    }
    if (record.end < record.begin) {
      ++result_.losses["kernels that end before they begin"];
      return;
    }
    if (call.launched && call.time - record.begin > 1'000'000) {
      ++result_.losses["kernels before their launch"];
      return;
    }
    Place place = final_place(call, kernel);
    if (!place.norm.empty() && has(kernel.name, "GammaBeta")) place.phase = place.norm;
    ReferenceSum& sum = result_.sums[{place.layer, place.phase, place.rule, kernel.name}];
    const Nanoseconds duration = record.end - record.begin;
    ++sum.count;
    sum.total += duration;
    ++result_.accepted;
    result_.total += duration;
    if (place.phase == "F") forward_[place.execution] += duration;
    if (place.phase == "W") weight_[place.execution] += duration;
  }

  [[nodiscard]] Nanoseconds first_range() const {
    Nanoseconds first = std::numeric_limits<Nanoseconds>::max();
    for (const ProgramRange& range : program_.ranges) first = std::min(first, range.begin);
    return first;
  }

  Place final_place(const ProgramCall& call, const ProgramKernel& kernel) const {
    if (has(kernel.name, "nccl")) return {"communication", "", "rest", -1, ""};
    if (!call.linked && !call.launched) return {"unlinked", "", "rest", -1, ""};
    if (call.range < 0 && call.launched && call.time < first_range())
      return {"before the first range", "", "rest", -1, ""};
    Place place{"outside ranges", "", "rest", -1, ""};
    if (call.range >= 0) place = place_of(call.range);
    const bool outside = place.layer == "outside layers" || place.layer == "outside ranges";
    if (outside && place.phase.empty() && kernel.record.work == GpuWork::kCopy) place.layer = "copies";
    return place;
  }

  const RandomProgram& program_;
  ReferenceAttribution result_;
  std::map<int, Nanoseconds> forward_;  // by execution
  std::map<int, Nanoseconds> weight_;
};

}  // namespace

ReferenceAttribution reference_attribution(const RandomProgram& program) { return Reference(program).run(); }

}  // namespace debubble::test
