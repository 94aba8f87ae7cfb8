// Selective recomputation of whole blocks by what ops cost: torchtitan's per-op policy (SelectiveAC: attention,
// all-to-alls and reduce-scatters are saved, and of linear layers the first, third, ... of a block; the router's and
// grouped products of experts run again), and the memory budget of PyTorch's compiler, whose solver keeps what would
// take most FLOPs.
#include <algorithm>
#include <cmath>

#include "cost_models/transformer/op_list.hpp"

namespace debubble {
namespace {

using Outputs = RecomputeModules::Outputs;

// The set within the budget that spares most FLOPs: there are few outputs in a block, so all sets are looked at.
template <typename Output>
void keep_within(double budget, std::vector<Output>& outputs) {
  constexpr std::size_t kMostTried = 16;
  const std::size_t count = std::min(outputs.size(), kMostTried);
  double all = 0;
  for (const Output& one : outputs) all += static_cast<double>(one.bytes);
  std::uint32_t best = 0;
  double most = -1;
  for (std::uint32_t set = 0; set < (std::uint32_t{1} << count); ++set) {
    double bytes = 0;
    double flops = 0;
    for (std::size_t k = 0; k < count; ++k) {
      if ((set >> k & 1) == 0) continue;
      bytes += static_cast<double>(outputs[k].bytes);
      flops += outputs[k].flops;
    }
    if (bytes > budget * all || flops <= most) continue;
    most = flops;
    best = set;
  }
  for (std::size_t k = 0; k < outputs.size(); ++k) outputs[k].kept = k < count && (best >> k & 1) == 1;
}

}  // namespace

void OpList::add_outputs(std::size_t part, std::size_t number, std::vector<Output>& list) const {
  const LayerOp& op = parts_[part].forward[number];
  const auto product = std::find_if(products_.begin(), products_.end(),
                                    [&](const Product& one) { return one.part == part && one.op == number; });
  if (product != products_.end()) {
    for (const std::int64_t columns : product->columns) {
      list.push_back({part, number, columns, op.batch * op.m * columns * sizes_.element,
                      op.flops * static_cast<double>(columns) / static_cast<double>(op.n), true});
    }
    return;
  }
  if (op.kind == LayerOp::Kind::kMatmul) {
    list.push_back({part, number, op.n, op.batch * op.m * op.n * sizes_.element, op.flops});
  }
  if (op.kind == LayerOp::Kind::kAttention) {
    constexpr Bytes kRowSum = 4;  // the logarithm of each row's
    const std::int64_t value = op.value > 0 ? op.value : op.k;
    list.push_back({part, number, op.n, op.batch * op.m * (value * sizes_.element + kRowSum), op.flops});
  }
  const bool sums = op.collective == CollectiveKind::kReduceScatter;
  if (op.kind == LayerOp::Kind::kCollective && (sums || op.collective == CollectiveKind::kAllToAll)) {
    const int ranks = sums ? std::max(1, group_size(setup_.parallel, op.group)) : 1;
    list.push_back({part, number, 0, op.collective_bytes / ranks, op.flops});
  }
}

std::vector<OpList::Output> OpList::outputs() const {
  std::vector<Output> list;
  for (std::size_t part = 0; part < parts_.size(); ++part) {
    for (std::size_t op = 0; op < parts_[part].forward.size(); ++op) add_outputs(part, op, list);
  }
  if (setup_.modules.outputs == Outputs::kBudget) {
    keep_within(setup_.modules.budget, list);
    return list;
  }
  std::int64_t products = 0;
  for (Output& one : list) one.kept = !one.counted || ++products % 2 == 1;
  return list;
}

OpList::Kept OpList::kept() const {
  Kept kept;
  for (const Output& one : outputs()) {
    if (!one.kept) continue;
    kept.bytes += one.bytes;
    ++kept.tensors;
  }
  return kept;
}

// With so many columns of its product less.
LayerOp OpList::without(LayerOp op, std::int64_t columns) const {
  if (columns == 0) return op;
  op.flops *= static_cast<double>(op.n - columns) / static_cast<double>(op.n);
  op.bytes -= op.batch * columns * (op.k * Bytes{bytes_of(op.format)} + op.m * sizes_.element);
  op.n -= columns;
  return op;
}

void OpList::recompute_unkept() {
  const std::vector<Output> all = outputs();
  auto next = all.begin();
  for (std::size_t part = 0; part < parts_.size(); ++part) {
    for (std::size_t number = 0; number < parts_[part].forward.size(); ++number) {
      const LayerOp& op = parts_[part].forward[number];
      std::int64_t kept = 0;
      std::size_t makes = 0;
      std::size_t keeps = 0;
      for (; next != all.end() && next->part == part && next->op == number; ++next) {
        ++makes;
        if (!next->kept) continue;
        ++keeps;
        kept += next->columns;
      }
      if (makes > 0 && keeps == makes) continue;
      LayerOp again = without(op, kept);
      again.phase = LayerOp::Phase::kInputGrad;
      again.recompute = true;
      again.host_waits = false;  // what it waited for is kept, too
      unkept_.push_back(std::move(again));
    }
  }
}

}  // namespace debubble
