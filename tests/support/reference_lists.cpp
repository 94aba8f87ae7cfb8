#include "tests/support/reference_lists.hpp"

#include <algorithm>
#include <map>

#include "sim/rows/joined_exchanges.hpp"
#include "sim/rows/posted_receives.hpp"

namespace debubble::reference {
namespace {

bool placed(const std::vector<Entry>& list, bool is_hop, std::size_t index) {
  return std::any_of(list.begin(), list.end(), [&](const Entry& e) { return e.is_hop == is_hop && e.index == index; });
}

// The hop that carries the output of `op`, or null.
const Hop* hop_of(const Op& op, const Outcome& outcome) {
  for (const Hop& hop : outcome.hops) {
    if (key_of(hop.op) == key_of(op)) return &hop;
  }
  return nullptr;
}

bool may_be_placed(const std::vector<Input>& inputs, const std::vector<Entry>& list) {
  return std::all_of(inputs.begin(), inputs.end(), [&](const Input& input) {
    return input.hop >= 0 ? placed(list, true, static_cast<std::size_t>(input.hop))
                          : placed(list, false, input.producer.cell);
  });
}

// Which member of the cell made what travels.
std::size_t order_in_cell(const Hop& hop, const Outcome& outcome) {
  const auto& members = outcome.cells[hop.from_device][hop.from_cell].members;
  return !members.empty() && key_of(members.front()) == key_of(hop.op) ? 0 : 1;
}

// Whether the receiver of `gradient` takes it before it sends `activation` to the same device, which makes the one
// before it uses the other.
bool received_first(const Hop& gradient, const Hop& activation) {
  return activation.op.kind == OpKind::kForward && gradient.op.kind != OpKind::kForward &&
         gradient.from_device == activation.to_device && gradient.from_cell < activation.to_cell;
}

}  // namespace

Lists place_transfers(const Plan& plan, const Outcome& outcome) {
  Lists lists(outcome.cells.size());
  std::vector<std::size_t> head(outcome.cells.size(), 0);
  for (bool progress = true; progress;) {
    progress = false;
    for (std::size_t d = 0; d < outcome.cells.size(); ++d) {
      if (head[d] == outcome.cells[d].size() || !may_be_placed(plan.inputs[d][head[d]], lists[d])) continue;
      lists[d].push_back({false, head[d]});
      for (const Op& op : outcome.cells[d][head[d]].members) {
        const Hop* hop = hop_of(op, outcome);
        if (hop == nullptr) continue;
        const Entry entry{true, static_cast<std::size_t>(hop - outcome.hops.data())};
        lists[d].push_back(entry);
        lists[hop->to_device].push_back(entry);
      }
      ++head[d];
      progress = true;
    }
  }
  return lists;
}

Lists list_meetings(const Outcome& outcome) {
  Lists lists(outcome.cells.size());
  for (std::size_t d = 0; d < outcome.cells.size(); ++d) {
    for (std::size_t c = 0; c <= outcome.cells[d].size(); ++c) {
      Lists::value_type early;
      Lists::value_type sends;
      Lists::value_type late;
      for (std::size_t h = 0; h < outcome.hops.size(); ++h) {
        const Hop& hop = outcome.hops[h];
        if (hop.from_device == d && hop.from_cell + 1 == c) sends.push_back({true, h});
        if (hop.to_device != d || hop.to_cell != c) continue;
        const bool first = std::any_of(outcome.hops.begin(), outcome.hops.end(), [&](const Hop& sent) {
          return sent.from_device == d && sent.from_cell + 1 == c && received_first(hop, sent);
        });
        (first ? early : late).push_back({true, h});
      }
      std::sort(sends.begin(), sends.end(), [&](const Entry& a, const Entry& b) {
        return order_in_cell(outcome.hops[a.index], outcome) < order_in_cell(outcome.hops[b.index], outcome);
      });
      for (const auto* part : {&early, &sends, &late}) lists[d].insert(lists[d].end(), part->begin(), part->end());
      if (c < outcome.cells[d].size()) lists[d].push_back({false, c});
    }
  }
  return lists;
}

PostedHops posted_hops(const Schedule& schedule, P2p p2p, const Outcome& outcome) {
  const OpIndex ops(schedule);
  const Posting posting = posting_of(ops, p2p);
  // The number of the cell that begins at that op.
  const auto cell_of = [&](std::int32_t op, std::size_t device) {
    auto left = static_cast<std::size_t>(op - ops.row_begin(static_cast<std::int32_t>(device)));
    std::size_t cell = 0;
    for (; left > 0; ++cell) left -= outcome.cells[device][cell].members.size();
    return cell;
  };
  PostedHops hops;
  std::map<Key, std::size_t> hop_of_output;
  for (const Hop& hop : outcome.hops) {
    hop_of_output[key_of(hop.op)] = hops.before.size();
    hops.before.push_back(cell_of(posting.posted.at(static_cast<std::size_t>(ops.user(hop.op))), hop.to_device));
  }
  if (posting.awaited.empty()) return hops;
  for (const auto& cells : outcome.cells) hops.awaited.emplace_back(cells.size());
  for (std::int32_t id = 0; id < ops.size(); ++id) {
    for (const std::int32_t maker : posting.awaited.at(static_cast<std::size_t>(id))) {
      const auto device = static_cast<std::size_t>(ops.device(id));
      hops.awaited[device][cell_of(id, device)].push_back(hop_of_output.at(key_of(ops.op(maker))));
    }
  }
  return hops;
}

CoupledHops coupled_hops(const Schedule& schedule, const Outcome& outcome) {
  const OpIndex ops(schedule);
  const CoupledReceives received = coupled_receives(ops, ExchangeSlots(schedule));
  const auto cell_of = [&](std::int32_t op, std::size_t device) {
    auto left = static_cast<std::size_t>(op - ops.row_begin(static_cast<std::int32_t>(device)));
    std::size_t cell = 0;
    for (; left > 0; ++cell) left -= outcome.cells[device][cell].members.size();
    return cell;
  };
  std::map<std::int32_t, std::int32_t> early;  // by op: the first op of the slot before which its input is received
  for (const auto& [begin, users] : received.early) {
    for (const std::int32_t user : users) early[user] = begin;
  }
  CoupledHops hops;
  for (const Hop& hop : outcome.hops) {
    const std::int32_t user = ops.user(hop.op);
    const auto moved = early.find(user);
    hops.before.push_back(moved == early.end() ? hop.to_cell : cell_of(moved->second, hop.to_device));
    hops.behind.push_back(outcome.hops.size());
    if (received.apart.at(hop.to_device) != user) continue;
    for (std::size_t k = 0; k < outcome.hops.size(); ++k) {  // the last activation that the device sends
      const Hop& sent = outcome.hops[k];
      const bool later =
          hops.behind.back() == outcome.hops.size() || sent.from_cell > outcome.hops[hops.behind.back()].from_cell;
      if (sent.from_device == hop.to_device && sent.op.kind == OpKind::kForward && later) hops.behind.back() = k;
    }
  }
  return hops;
}

}  // namespace debubble::reference
