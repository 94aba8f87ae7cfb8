#include "schedules/optimal/program/program_copies.hpp"

#include <algorithm>
#include <cmath>

namespace debubble {

ProgramCopies::ProgramCopies(OrderProgram& order)
    : order_(order), program_(order.program()), of_device_(to_index(order.problem().devices)) {
  add_items();
  for (int d = 0; d < order.problem().devices; ++d) {
    add_lane(at(of_device_, d));
    add_memory_at_forwards(d);
    add_memory_at_backs(d);
    add_prompt_ops(d);
    add_prompt_copies(d);
  }
}

MixedSum ProgramCopies::column_sum(int column, double factor, double constant) {
  MixedSum sum;
  sum.constant = constant;
  sum.add(factor, column);
  return sum;
}

void ProgramCopies::follows(int first, int then, double gap, const Conditions& conditions) {
  const double most = gap + program_.upper(first) - program_.lower(then);
  if (most <= 0) return;
  MixedSum sum;
  sum.add(1, then);
  sum.add(-1, first);
  for (const MixedSum& condition : conditions) {
    sum.constant += most;
    sum.add(-most, condition);
  }
  program_.at_least(sum, gap);
}

void ProgramCopies::below(int column, const MixedSum& most) {
  MixedSum sum = most;
  sum.add(-1, column);
  program_.at_least(sum, 0);
}

int ProgramCopies::binary_below(const MixedSum& most) {
  const int column = program_.add_binary();
  below(column, most);
  return column;
}

void ProgramCopies::add_items() {
  const OrderProblem& problem = order_.problem();
  for (int s = 0; s < problem.stages; ++s) {
    const std::int32_t forward = problem.queue(OpKind::kForward, s);
    const OrderQueue& queue = at(problem.queues, forward);
    for (int k = 0; k < problem.microbatches; ++k) {
      Item item;
      item.forward = problem.id(forward, k);
      item.gradient = problem.id(queue.follower, k);
      item.device = queue.device;
      item.copy = order_.scaled(queue.copy);
      item.bytes = queue.at_begin;
      const double ready = order_.earliest(item.forward) + order_.duration(item.forward);
      const double due = order_.latest(item.gradient);
      if (item.bytes <= 0 || ready + 2 * item.copy > due) continue;
      item.leaves = program_.add_binary();
      item.out = program_.add_column(ready, due - 2 * item.copy, false);
      item.back = program_.add_column(ready + item.copy, due - item.copy, false);
      const Conditions gone{column_sum(item.leaves)};
      follows(order_.begin(item.forward), item.out, order_.duration(item.forward), gone);
      follows(item.back, order_.begin(item.gradient), item.copy, gone);
      at(of_device_, item.device).push_back(items_.size());
      items_.push_back(item);
    }
  }
}

bool ProgramCopies::always_before(Way one, Way other) const {
  if (one == other) return false;
  const std::size_t a = item_of(one).forward;
  const std::size_t b = item_of(other).forward;
  const auto m = to_index(order_.problem().microbatches);
  if (a / m != b / m) return false;
  if (a == b) return one < other;
  return a < b && !(one % 2 == 1 && other % 2 == 0);
}

MixedSum ProgramCopies::lane_before(Way one, Way other) const {
  MixedSum sum;
  if (always_before(one, other)) {
    sum.constant = 1;
  } else if (!always_before(other, one)) {
    const int column = lane_.at({std::min(one, other), std::max(one, other)});
    sum.constant = one < other ? 0 : 1;
    sum.add(one < other ? 1 : -1, column);
  }
  return sum;
}

void ProgramCopies::add_lane(const std::vector<std::size_t>& items) {
  std::vector<Way> ways;
  for (const std::size_t item : items) {
    ways.push_back(2 * item);
    ways.push_back(2 * item + 1);
  }
  for (std::size_t a = 0; a < ways.size(); ++a) {
    for (std::size_t b = a + 1; b < ways.size(); ++b) {
      const Way one = ways[a];
      const Way other = ways[b];
      if (!always_before(one, other) && !always_before(other, one)) lane_[{one, other}] = program_.add_binary();
      for (const auto& [first, then] : {std::pair{one, other}, std::pair{other, one}}) {
        if (always_before(then, first)) continue;
        follows(begin_of(first), begin_of(then), item_of(first).copy,
                {leaves(first / 2), leaves(then / 2), lane_before(first, then)});
      }
    }
  }
}

const MixedSum& ProgramCopies::back_first(std::size_t item, std::size_t op) {
  const auto [found, fresh] = back_first_.try_emplace({item, op});
  if (!fresh) return found->second;
  const Item& of = items_[item];
  if (op == of.forward || order_.always_before(op, of.forward)) return found->second;
  if (order_.always_before(of.gradient, op)) return found->second = leaves(item);
  const int column = binary_below(leaves(item));
  follows(of.back, order_.begin(op), 0, {column_sum(column)});
  follows(order_.begin(op), of.back, 0, {leaves(item), column_sum(column, -1, 1)});
  return found->second = column_sum(column);
}

void ProgramCopies::add_memory_at_forwards(int device) {
  const auto limit = static_cast<double>(std::max<Bytes>(at(order_.problem().limits, device), 1));
  for (const std::size_t op : order_.ops_of(device)) {
    const OrderQueue& queue = order_.queue_of(op);
    if (queue.at_begin <= 0) continue;
    MixedSum held;
    held.constant = static_cast<double>(queue.at_begin) / limit;
    for (const std::size_t other : order_.ops_of(device)) {
      const OrderQueue& kept = order_.queue_of(other);
      if (other != op) held.add(static_cast<double>(kept.at_begin + kept.at_end) / limit, order_.before(other, op));
    }
    for (const std::size_t i : at(of_device_, device)) {
      const Item& item = items_[i];
      if (op == item.forward || order_.always_before(op, item.forward)) continue;
      const double bytes = static_cast<double>(item.bytes) / limit;
      held.add(bytes, back_first(i, op));
      if (order_.always_before(item.gradient, op)) {
        held.add(-bytes, leaves(i));
        continue;
      }
      const int gone = binary_below(leaves(i));
      follows(item.out, order_.begin(op), item.copy, {column_sum(gone)});
      held.add(-bytes, gone);
    }
    program_.at_most(held, 1);
  }
}

void ProgramCopies::add_memory_at_backs(int device) {
  const auto limit = static_cast<double>(std::max<Bytes>(at(order_.problem().limits, device), 1));
  for (const std::size_t j : at(of_device_, device)) {
    const Item& item = items_[j];
    MixedSum held;
    double most = 0;
    for (const std::size_t op : order_.ops_of(device)) {
      const OrderQueue& queue = order_.queue_of(op);
      const double takes = static_cast<double>(queue.at_begin) / limit;
      const double gives = static_cast<double>(queue.at_end) / limit;
      most += takes;
      if (takes > 0) {
        held.constant += takes;
        held.add(-takes, back_first(j, op));
      }
      if (gives == 0 || op == item.gradient || order_.always_before(item.gradient, op)) continue;
      if (order_.always_before(op, item.forward)) {
        held.constant += gives;
        continue;
      }
      const int ended = program_.add_binary();
      follows(order_.begin(op), item.back, order_.duration(op), {column_sum(ended)});
      held.add(gives, ended);
    }
    for (const std::size_t i : at(of_device_, device)) {
      if (i == j) continue;  // out and back again: no more and no less
      const double bytes = static_cast<double>(items_[i].bytes) / limit;
      most += bytes;
      const MixedSum out_before = lane_before(2 * i, 2 * j + 1);
      if (out_before.terms.empty()) {
        held.add(-bytes * out_before.constant, leaves(i));
      } else {
        const int gone = binary_below(leaves(i));
        below(gone, out_before);
        held.add(-bytes, gone);
      }
      const MixedSum back_before = lane_before(2 * i + 1, 2 * j + 1);
      if (back_before.terms.empty()) {
        held.add(bytes * back_before.constant, leaves(i));
      } else {
        MixedSum both = column_sum(program_.add_column(0, 1, false));
        const int column = both.terms.front().first;
        both.add(-1, leaves(i));
        both.add(-1, back_before);
        program_.at_least(both, -1);
        held.add(bytes, column);
      }
    }
    held.constant -= most;
    held.add(most, leaves(j));
    program_.at_most(held, 1);
  }
}

// Every op begins with the end of the one before it, with its input's arrival or its activation's return.
void ProgramCopies::add_prompt_ops(int device) {
  const OrderProblem& problem = order_.problem();
  const auto m = to_index(problem.microbatches);
  for (const std::size_t op : order_.ops_of(device)) {
    const OrderQueue& queue = order_.queue_of(op);
    if (op % m == 0 && queue.feeder < 0 && queue.needs < 0) {  // the first of all
      program_.at_most(column_sum(order_.begin(op)), 0);
      continue;
    }
    MixedSum causes;
    if (queue.feeder >= 0) {
      const std::size_t feeder = problem.id(queue.feeder, static_cast<std::int32_t>(op % m));
      const int cause = program_.add_binary();
      follows(order_.begin(op), order_.begin(feeder), -order_.duration(feeder) - order_.scaled(queue.lag),
              {column_sum(cause)});
      causes.add(1, cause);
    }
    for (const std::size_t other : order_.ops_of(device)) {
      if (other == op || order_.always_before(op, other)) continue;
      bool between = false;  // another op always is: then `other` is not the last one before
      for (const std::size_t third : order_.ops_of(device)) {
        between = between || (order_.always_before(other, third) && order_.always_before(third, op));
      }
      if (between) continue;
      const int cause = binary_below(order_.before(other, op));
      follows(order_.begin(op), order_.begin(other), -order_.duration(other), {column_sum(cause)});
      causes.add(1, cause);
    }
    for (const std::size_t i : at(of_device_, device)) {
      if (items_[i].gradient != op) continue;
      const int cause = binary_below(leaves(i));
      follows(order_.begin(op), items_[i].back, -items_[i].copy, {column_sum(cause)});
      causes.add(1, cause);
    }
    program_.at_least(causes, 1);
  }
}

// A way out begins with its F's end or the end of the copy before it; a way back with the latter or with an op's begin.
void ProgramCopies::add_prompt_copies(int device) {
  for (const std::size_t i : at(of_device_, device)) {
    const Item& item = items_[i];
    for (const Way way : {2 * i, 2 * i + 1}) {
      MixedSum causes;
      for (const std::size_t other : at(of_device_, device)) {
        for (const Way before : {2 * other, 2 * other + 1}) {
          if (before == way || always_before(way, before)) continue;
          const int cause = binary_below(leaves(other));
          below(cause, lane_before(before, way));
          follows(begin_of(way), begin_of(before), -items_[other].copy, {column_sum(cause)});
          causes.add(1, cause);
        }
      }
      if (way % 2 == 0) {
        const int cause = program_.add_binary();
        follows(item.out, order_.begin(item.forward), -order_.duration(item.forward), {column_sum(cause)});
        causes.add(1, cause);
      }
      for (const std::size_t op : order_.ops_of(device)) {
        if (way % 2 == 0 || op == item.forward || op == item.gradient || order_.always_before(op, item.forward) ||
            order_.always_before(item.gradient, op)) {
          continue;
        }
        const int cause = binary_below(order_.before(op, item.gradient));
        follows(item.back, order_.begin(op), 0, {column_sum(cause)});
        follows(order_.begin(op), item.back, 0, {column_sum(cause)});
        causes.add(1, cause);
      }
      causes.add(-1, item.leaves);
      program_.at_least(causes, 0);
    }
  }
}

OrderCopies ProgramCopies::copies(const std::vector<double>& values, const Orders& orders) const {
  constexpr double kSameTime = 1e-2;
  const OrderProblem& problem = order_.problem();
  const auto m = to_index(problem.microbatches);
  OrderCopies copies(orders.size());
  for (std::size_t d = 0; d < orders.size(); ++d) {
    std::vector<Way> ways;
    for (const std::size_t i : of_device_[d]) {
      if (std::lround(at(values, items_[i].leaves)) == 1) ways.insert(ways.end(), {2 * i, 2 * i + 1});
    }
    std::vector<std::pair<long, Way>> placed;
    for (const Way way : ways) {
      long place = 0;
      for (const Way other : ways) {
        if (other != way) place += std::lround(OrderProgram::value(lane_before(other, way), values));
      }
      placed.emplace_back(place, way);
    }
    std::sort(placed.begin(), placed.end());
    for (const auto& [place, way] : placed) {
      const Item& item = item_of(way);
      OrderCopy copy{way % 2 == 1, static_cast<std::int32_t>(item.forward / m),
                     static_cast<std::int32_t>(item.forward % m), -1};
      std::vector<std::int32_t> counts(problem.queues.size(), 0);
      for (std::size_t k = 0; copy.back && k < orders[d].size(); ++k) {
        const std::size_t op = problem.id(orders[d][k], at(counts, orders[d][k])++);
        if (op == item.gradient) break;
        if (at(values, order_.begin(op)) <= at(values, item.back) + kSameTime) {
          copy.after = static_cast<std::int32_t>(k);
        }
      }
      copies[d].push_back(copy);
    }
  }
  return copies;
}

}  // namespace debubble
