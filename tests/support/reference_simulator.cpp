#include "tests/support/reference_simulator.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <tuple>

#include "tests/support/reference_copies.hpp"
#include "tests/support/reference_costs.hpp"
#include "tests/support/reference_lists.hpp"
#include "tests/support/reference_slots.hpp"

namespace debubble::reference {
namespace {

std::vector<std::vector<Cell>> cut_rows_into_cells(const Schedule& schedule) {
  std::vector<std::vector<Cell>> cells;
  for (const auto& row : schedule.rows) {
    auto& of_device = cells.emplace_back();
    for (std::size_t i = 0; i < row.size(); ++i) {
      Cell cell;
      cell.members.push_back(row[i]);
      if (row[i].paired_with_next) cell.members.push_back(row.at(++i));
      of_device.push_back(cell);
    }
  }
  return cells;
}

std::map<Key, Address> find_everything(const std::vector<std::vector<Cell>>& cells) {
  std::map<Key, Address> where;
  for (std::size_t d = 0; d < cells.size(); ++d) {
    for (std::size_t c = 0; c < cells[d].size(); ++c) {
      for (const Op& op : cells[d][c].members) where[key_of(op)] = {d, c};
    }
  }
  return where;
}

Op make_op_of(OpKind kind, int stage, int piece) {
  Op op;
  op.kind = kind;
  op.stage = stage;
  op.microbatch = piece;
  return op;
}

// The ops whose results `op` uses: F(s,i) uses F(s-1,i); R(s,i) uses F(s,i); B and I(s,i) use F(s,i), R(s,i) where
// there is one, and the gradient of stage s+1; W(s,i) uses I(s,i); a shard's S(d,i) uses the last stage's F.
std::vector<Op> inputs_of(const Op& op, int stages, const std::map<Key, Address>& where) {
  const auto make = [&](OpKind kind, int stage) { return make_op_of(kind, stage, op.microbatch); };
  switch (op.kind) {
    case OpKind::kForward:
      return op.stage == 0 ? std::vector<Op>{} : std::vector<Op>{make(OpKind::kForward, op.stage - 1)};
    case OpKind::kWeightGrad:
      return {make(OpKind::kInputGrad, op.stage)};
    case OpKind::kRecompute:
      return {make(OpKind::kForward, op.stage)};
    case OpKind::kVocabularyLogits:
      return {make(OpKind::kForward, stages - 1)};
    case OpKind::kVocabularyGradient:
      return {};
    case OpKind::kBackward:
    case OpKind::kInputGrad:
      break;
  }
  std::vector<Op> inputs{make(OpKind::kForward, op.stage)};
  const Op again = make(OpKind::kRecompute, op.stage);
  if (where.contains(key_of(again))) inputs.push_back(again);
  if (op.stage + 1 < stages) {
    const Op whole = make(OpKind::kBackward, op.stage + 1);
    inputs.push_back(where.contains(key_of(whole)) ? whole : make(OpKind::kInputGrad, op.stage + 1));
  }
  return inputs;
}

// The ops behind whose ends a barrier stands before `op`: T needs every device's S; the gradient of the last stage
// needs every S where there is one barrier, every T where there are two.
std::vector<Op> gathered_for(const Op& op, const Schedule& schedule) {
  OpKind kind = OpKind::kVocabularyLogits;
  const bool of_last = op.stage == schedule.stages - 1;
  const bool gradient = op.kind == OpKind::kBackward || op.kind == OpKind::kInputGrad;
  if (gradient) {
    if (!of_last || schedule.vocabulary_barriers == 0) return {};
    if (schedule.vocabulary_barriers == 2) kind = OpKind::kVocabularyGradient;
  } else if (op.kind != OpKind::kVocabularyGradient) {
    return {};
  }
  std::vector<Op> all;
  for (int d = 0; d < schedule.devices; ++d) all.push_back(make_op_of(kind, d, op.microbatch));
  return all;
}

Plan make_plan(const Schedule& schedule, const StageCosts& costs, Nanoseconds latency, std::int64_t bandwidth,
               Outcome& outcome) {
  const auto where = find_everything(outcome.cells);
  Plan plan;
  for (std::size_t d = 0; d < outcome.cells.size(); ++d) {
    auto& inputs_on_device = plan.inputs.emplace_back();
    auto& durations = plan.duration.emplace_back();
    for (std::size_t c = 0; c < outcome.cells[d].size(); ++c) {
      const Cell& cell = outcome.cells[d][c];
      durations.push_back(duration_of(cell, costs, schedule));
      auto& inputs = inputs_on_device.emplace_back();
      for (const Op& op : cell.members) {
        for (const Op& input : inputs_of(op, schedule.stages, where)) {
          const Address producer = where.at(key_of(input));
          if (producer.device == d && producer.cell == c) continue;  // made by the partner
          if (producer.device == d) {
            inputs.push_back({producer, -1});
            continue;
          }
          Hop hop{input, producer.device, producer.cell, d, c, size_of_output(input, costs, schedule)};
          hop.duration = serialisation(hop.bytes, bandwidth) + latency;
          inputs.push_back({producer, static_cast<int>(outcome.hops.size())});
          outcome.hops.push_back(hop);
        }
        for (const Op& shard : gathered_for(op, schedule)) {
          inputs.push_back({where.at(key_of(shard)), -1, costs.vocabulary.value().barrier});
        }
      }
    }
  }
  return plan;
}

bool finished(const Cell& cell) { return cell.end >= 0; }
bool finished(const Hop& hop) { return hop.end >= 0; }

// Every input that is there already; false when one is missing. `ready` becomes the latest arrival.
bool inputs_arrived(const std::vector<Input>& inputs, const Outcome& outcome, Nanoseconds& ready) {
  ready = 0;
  for (const Input& input : inputs) {
    const Cell& producer = outcome.cells[input.producer.device][input.producer.cell];
    if (!finished(producer)) return false;
    if (input.hop >= 0 && !finished(outcome.hops[static_cast<std::size_t>(input.hop)])) return false;
    ready = std::max(
        ready, input.hop >= 0 ? outcome.hops[static_cast<std::size_t>(input.hop)].end : producer.end + input.later);
  }
  return true;
}

void run_cell(Cell& cell, Nanoseconds begin, Nanoseconds duration) {
  cell.begin = begin;
  cell.end = begin + duration;
}

// Every hop whose ends are known: after its maker and, where receives have places, after the cell in front of its own.
bool start_hops(const PostedHops& posting, Outcome& outcome) {
  bool progress = false;
  for (std::size_t h = 0; h < outcome.hops.size(); ++h) {
    Hop& hop = outcome.hops[h];
    const Cell& producer = outcome.cells[hop.from_device][hop.from_cell];
    if (finished(hop) || !finished(producer)) continue;
    hop.begin = producer.end;
    if (!posting.before.empty() && posting.before[h] > 0) {
      const Cell& in_front = outcome.cells[hop.to_device][posting.before[h] - 1];
      if (!finished(in_front)) continue;
      hop.begin = std::max(hop.begin, in_front.end);
    }
    hop.end = hop.begin + hop.duration;
    progress = true;
  }
  return progress;
}

// Transfers start with the end of what they carry, late ones when the receiver has come to their receive, too; a cell
// waits for a send only where exchanges are joined.
void time_overlapped(const Schedule& schedule, const Plan& plan, const PostedHops& posting, Outcome& outcome) {
  std::vector<std::size_t> head(outcome.cells.size(), 0);
  std::vector<Nanoseconds> lane(outcome.cells.size(), 0);
  for (bool progress = true; progress;) {
    progress = run_copies(schedule, outcome);
    progress = start_hops(posting, outcome) || progress;
    for (std::size_t d = 0; d < outcome.cells.size(); ++d) {
      if (head[d] == outcome.cells[d].size()) continue;
      Cell& cell = outcome.cells[d][head[d]];
      if (!inputs_arrived(plan.inputs[d][head[d]], outcome, cell.ready)) continue;
      if (!copies_are_back(cell, d, outcome)) continue;
      bool joined = true;
      Nanoseconds begin = std::max(lane[d], cell.ready);
      for (const std::size_t hop : posting.awaited_by(d, head[d])) {
        joined = joined && finished(outcome.hops[hop]);
        begin = std::max(begin, outcome.hops[hop].end);
      }
      if (!joined) continue;
      run_cell(cell, begin, plan.duration[d][head[d]]);
      lane[d] = cell.end;
      ++head[d];
      progress = true;
    }
  }
}

void time_in_lists(const Lists& lists, const Plan& plan, Outcome& outcome) {
  std::vector<std::size_t> head(lists.size(), 0);
  std::vector<Nanoseconds> lane(lists.size(), 0);
  const auto at_head = [&](std::size_t d, std::size_t hop) {
    return head[d] < lists[d].size() && lists[d][head[d]].is_hop && lists[d][head[d]].index == hop;
  };
  for (bool progress = true; progress;) {
    progress = false;
    for (std::size_t d = 0; d < lists.size(); ++d) {
      if (head[d] == lists[d].size()) continue;
      const Entry entry = lists[d][head[d]];
      if (!entry.is_hop) {
        Cell& cell = outcome.cells[d][entry.index];
        if (!inputs_arrived(plan.inputs[d][entry.index], outcome, cell.ready)) continue;
        run_cell(cell, lane[d], plan.duration[d][entry.index]);
        lane[d] = cell.end;
        ++head[d];
      } else {
        Hop& hop = outcome.hops[entry.index];
        const std::size_t from = hop.from_device;
        const std::size_t to = hop.to_device;
        if (!at_head(from, entry.index) || !at_head(to, entry.index)) continue;
        hop.begin = std::max(lane[from], lane[to]);
        hop.end = hop.begin + hop.duration;
        lane[from] = lane[to] = hop.end;
        ++head[from];
        ++head[to];
      }
      progress = true;
    }
  }
}

// Batch k of a device stands before its slot k and behind slot k-1: posted when slot k-1 has ended, or at time 0.
bool batch_posted(const std::vector<Cell>& cells, const DeviceSlots& slots, std::size_t batch, Nanoseconds& when) {
  when = batch == 0 ? 0 : cells[slots.last[batch - 1]].end;
  return batch == 0 || finished(cells[slots.last[batch - 1]]);
}

std::size_t sending_batch(const Hop& hop, const std::vector<DeviceSlots>& slots) {
  return slots[hop.from_device].slot_of[hop.from_cell] + 1;
}
std::size_t receiving_batch(std::size_t h, const CoupledHops& hops, const std::vector<DeviceSlots>& slots,
                            const Outcome& outcome) {
  return slots[outcome.hops[h].to_device].slot_of[hops.before[h]];
}

bool start_posted_hops(const std::vector<DeviceSlots>& slots, const CoupledHops& hops, Outcome& outcome) {
  bool progress = false;
  for (std::size_t h = 0; h < outcome.hops.size(); ++h) {
    Hop& hop = outcome.hops[h];
    const std::size_t from = hop.from_device;
    const std::size_t to = hop.to_device;
    Nanoseconds sent = 0;
    Nanoseconds received = 0;
    if (finished(hop) || !batch_posted(outcome.cells[from], slots[from], sending_batch(hop, slots), sent) ||
        !batch_posted(outcome.cells[to], slots[to], receiving_batch(h, hops, slots, outcome), received)) {
      continue;
    }
    if (hops.behind[h] < outcome.hops.size()) {
      if (!finished(outcome.hops[hops.behind[h]])) continue;
      received = std::max(received, outcome.hops[hops.behind[h]].end);
    }
    hop.begin = std::max(sent, received);
    hop.end = hop.begin + hop.duration;
    progress = true;
  }
  return progress;
}

// When the device's next cell may begin: behind the whole batch before its slot, or behind the cell before it in the
// slot. False as long as that is not known.
bool may_begin(std::size_t d, std::size_t head, const std::vector<DeviceSlots>& slots, const CoupledHops& hops,
               const Outcome& outcome, Nanoseconds& begin) {
  const std::size_t slot = slots[d].slot_of[head];
  if (head > 0 && slots[d].slot_of[head - 1] == slot) {
    begin = outcome.cells[d][head - 1].end;
    return true;
  }
  bool batch_done = batch_posted(outcome.cells[d], slots[d], slot, begin);
  for (std::size_t h = 0; h < outcome.hops.size(); ++h) {
    const Hop& hop = outcome.hops[h];
    const bool sends = hop.from_device == d && sending_batch(hop, slots) == slot;
    const bool receives = hop.to_device == d && receiving_batch(h, hops, slots, outcome) == slot;
    if (!sends && !receives) continue;
    batch_done = batch_done && finished(hop);
    begin = std::max(begin, hop.end);
  }
  return batch_done;
}

void time_coupled(const std::vector<DeviceSlots>& slots, const CoupledHops& hops, const Plan& plan, Outcome& outcome) {
  std::vector<std::size_t> head(outcome.cells.size(), 0);
  for (bool progress = true; progress;) {
    progress = start_posted_hops(slots, hops, outcome);
    for (std::size_t d = 0; d < outcome.cells.size(); ++d) {
      if (head[d] == outcome.cells[d].size()) continue;
      Nanoseconds begin = 0;
      const bool batch_done = may_begin(d, head[d], slots, hops, outcome, begin);
      Cell& cell = outcome.cells[d][head[d]];
      if (!batch_done || !inputs_arrived(plan.inputs[d][head[d]], outcome, cell.ready)) continue;
      run_cell(cell, begin, plan.duration[d][head[d]]);
      ++head[d];
      progress = true;
    }
  }
}

void conclude(Outcome& outcome) {
  for (const auto& of_device : outcome.cells) {
    for (const Cell& cell : of_device) {
      outcome.deadlock = outcome.deadlock || !finished(cell);
      outcome.makespan = std::max(outcome.makespan, cell.end);
    }
  }
  for (const auto& lane : outcome.copies) {
    for (const CopyRun& run : lane) outcome.deadlock = outcome.deadlock || run.end < 0;
  }
  for (const Hop& hop : outcome.hops) {
    outcome.deadlock = outcome.deadlock || !finished(hop);
    outcome.makespan = std::max(outcome.makespan, hop.end);
  }
}

}  // namespace

Outcome simulate(const Schedule& schedule, const StageCosts& costs, Nanoseconds latency, std::int64_t bandwidth,
                 Mode mode) {
  Outcome outcome;
  outcome.cells = cut_rows_into_cells(schedule);
  const Plan plan = make_plan(schedule, costs, latency, bandwidth, outcome);
  for (const auto& lane : schedule.copies) {
    auto& runs = outcome.copies.emplace_back();
    for (const Copy& copy : lane) runs.push_back(make_copy(copy, costs, schedule));
  }
  if (mode == Mode::kOverlapped) time_overlapped(schedule, plan, {}, outcome);
  if (mode == Mode::kLate) time_overlapped(schedule, plan, posted_hops(schedule, P2p::kLate, outcome), outcome);
  if (mode == Mode::kJoined) time_overlapped(schedule, plan, posted_hops(schedule, P2p::kJoined, outcome), outcome);
  if (mode == Mode::kBlocking) time_in_lists(place_transfers(plan, outcome), plan, outcome);
  if (mode == Mode::kRendezvous) time_in_lists(list_meetings(outcome), plan, outcome);
  if (mode == Mode::kCoupled) {
    time_coupled(slots_of(schedule, outcome.cells), coupled_hops(schedule, outcome), plan, outcome);
  }
  conclude(outcome);
  if (!outcome.deadlock) measure_memory(schedule, costs, outcome);
  return outcome;
}

Nanoseconds span_of(const Outcome& outcome) {
  Nanoseconds span = 0;
  for (const auto& of_device : outcome.cells) {
    if (!of_device.empty()) span = std::max(span, of_device.back().end - of_device.front().begin);
  }
  return span;
}

}  // namespace debubble::reference
