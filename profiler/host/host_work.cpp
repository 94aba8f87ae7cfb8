#include "profiler/host/host_work.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace debubble {
namespace {

constexpr std::string_view kLayerText = "debubble.layer:";
constexpr std::array<std::string_view, 6> kHostProducts{"aten::mm",      "aten::addmm",  "aten::bmm",
                                                        "aten::baddbmm", "aten::linear", "aten::matmul"};

bool is_host_product(const HostRange& range) {
  return range.sequence < 0 && std::find(kHostProducts.begin(), kHostProducts.end(), range.name) != kHostProducts.end();
}

// Of a node's operators: what is counted by itself. A sum in a node with products is of the bias.
struct NodeParts {
  std::vector<std::size_t> products;  // outermost ones, in order of time
  bool any_product = false;           // not only sums
};

class HostWorkers {
 public:
  explicit HostWorkers(const HostTree& tree) : tree_(tree) {}

  std::vector<HostWork> run() {
    for (const std::size_t root : tree_.roots) walk(root, nullptr);
    return std::move(work_);
  }

 private:
  // What forward work inside of a node is (a layer's range, an operator that records a node of its own) and other nodes
  // are not this node's parts.
  [[nodiscard]] static bool is_another(const HostRange& range) {
    return is_engine_range(range.name) || range.name.starts_with(kLayerText) ||
           (range.sequence >= 0 && range.name.starts_with("aten::"));
  }

  void collect(std::size_t index, NodeParts& parts) const {
    for (const std::size_t child : tree_.nodes[index].children) {
      const HostRange& range = tree_.nodes[child].range;
      if (is_another(range)) continue;
      const bool product = is_host_product(range);
      if (product || range.name == "aten::sum") {
        parts.products.push_back(child);
        parts.any_product = parts.any_product || product;
      } else {
        collect(child, parts);
      }
    }
  }

  // The range that a piece at this time is counted with.
  [[nodiscard]] std::size_t counted_with(std::size_t own, const NodeParts* parts, Nanoseconds time) const {
    if (parts == nullptr || !parts->any_product) return own;
    const auto next = std::find_if(parts->products.begin(), parts->products.end(),
                                   [&](std::size_t product) { return tree_.nodes[product].range.begin >= time; });
    return next == parts->products.end() ? parts->products.back() : *next;
  }

  void add(std::size_t node, std::string_view name, Nanoseconds begin, Nanoseconds end) {
    if (begin < end) work_.push_back({node, name, begin, end});
  }

  static std::string_view work_name(const HostRange& range) {
    return range.name.starts_with("debubble.") ? std::string_view("between operators") : std::string_view(range.name);
  }

  // `parts`: of the backward node that this range is in, outside of its products; null elsewhere.
  void walk(std::size_t index, const NodeParts* parts) {
    const HostNode& node = tree_.nodes[index];
    NodeParts own;
    if (is_engine_range(node.range.name)) {
      collect(index, own);
      parts = &own;
    } else if (is_another(node.range) || is_part(parts, index)) {
      parts = nullptr;
    }
    Nanoseconds time = node.range.begin;
    bool after_node = false;
    for (const std::size_t child : node.children) {
      const HostRange& inside = tree_.nodes[child].range;
      const bool is_node = is_engine_range(inside.name);
      if (after_node && is_node) {
        add(beginning_of(child), "between nodes", time, inside.begin);
      } else {
        add(counted_with(index, parts, time), work_name(node.range), time, inside.begin);
      }
      walk(child, parts);
      time = inside.end;
      after_node = is_node;
    }
    add(counted_with(index, parts, time), work_name(node.range), time, node.range.end);
  }

  static bool is_part(const NodeParts* parts, std::size_t index) {
    return parts != nullptr &&
           std::find(parts->products.begin(), parts->products.end(), index) != parts->products.end();
  }

  // The range that the beginning of a node is counted with.
  [[nodiscard]] std::size_t beginning_of(std::size_t node) const {
    NodeParts parts;
    collect(node, parts);
    return counted_with(node, &parts, tree_.nodes[node].range.begin);
  }

  const HostTree& tree_;
  std::vector<HostWork> work_;
};

}  // namespace

std::vector<HostWork> host_work_of(const HostTree& tree) { return HostWorkers(tree).run(); }

}  // namespace debubble
