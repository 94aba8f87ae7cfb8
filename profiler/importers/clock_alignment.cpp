#include "profiler/importers/clock_alignment.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <utility>

namespace debubble {
namespace {

// What messages say about offset[high] - offset[low].
struct Bounds {
  std::optional<Nanoseconds> least;
  std::optional<Nanoseconds> most;

  [[nodiscard]] bool both() const { return least && most; }
  [[nodiscard]] Nanoseconds middle() const {
    if (both()) return *least + (*most - *least) / 2;
    return least ? std::max<Nanoseconds>(0, *least) : std::min<Nanoseconds>(0, most.value_or(0));
  }
  [[nodiscard]] Nanoseconds error() const { return ((*most < *least ? *least - *most : *most - *least) + 1) / 2; }
};

using BoundsByPair = std::map<std::pair<int, int>, Bounds>;  // low rank, high rank

BoundsByPair bounds_of(const std::vector<MessageTimes>& messages) {
  BoundsByPair all;
  for (const MessageTimes& message : messages) {
    if (message.from == message.to) continue;
    Bounds& bounds = all[std::minmax(message.from, message.to)];
    const Nanoseconds ahead = message.send_begin - message.receive_end;
    if (message.from < message.to) {
      bounds.least = std::max(bounds.least.value_or(ahead), ahead);
    } else {
      bounds.most = std::min(bounds.most.value_or(-ahead), -ahead);
    }
  }
  return all;
}

// The tree that joins the ranks with the least error, grown from rank 0 (Prim).
class Tree {
 public:
  Tree(int ranks, const BoundsByPair& bounds, std::vector<std::string>& notes)
      : ranks_(static_cast<std::size_t>(ranks)), bounds_(bounds), notes_(notes), offset_(ranks_, 0) {}

  ClockAlignment grow() {
    joined_.push_back(0);
    distance_.assign(ranks_, std::vector<Nanoseconds>(ranks_, 0));
    while (joined_.size() < ranks_) {
      if (!add_best(true) && !add_best(false)) add_alone();
    }
    ClockAlignment result;
    result.method = "send/recv pairs";
    for (const auto& row : distance_) {
      for (const Nanoseconds error : row) result.residual = std::max(result.residual, error);
    }
    result.offsets = offset_;
    return result;
  }

 private:
  [[nodiscard]] bool is_joined(int rank) const {
    return std::find(joined_.begin(), joined_.end(), static_cast<std::size_t>(rank)) != joined_.end();
  }

  // Joins the rank with the least error, or, without `both`, the first one that has messages at all.
  bool add_best(bool both) {
    const BoundsByPair::value_type* best = nullptr;
    for (const auto& entry : bounds_) {
      if (is_joined(entry.first.first) == is_joined(entry.first.second) || entry.second.both() != both) continue;
      if (best == nullptr || (both && entry.second.error() < best->second.error())) best = &entry;
    }
    if (best == nullptr) return false;
    const bool up = is_joined(best->first.first);
    const int known = up ? best->first.first : best->first.second;
    const int added = up ? best->first.second : best->first.first;
    if (!both) {
      notes_.push_back("messages between ranks " + std::to_string(best->first.first) + " and " +
                       std::to_string(best->first.second) +
                       " went one way only: how far their clocks differ is not bounded");
    } else if (*best->second.most < *best->second.least) {
      notes_.push_back("the clocks of ranks " + std::to_string(best->first.first) + " and " +
                       std::to_string(best->first.second) + " drift, or a transfer's ends are not both its own");
    }
    const Nanoseconds difference = best->second.middle();
    join(static_cast<std::size_t>(added), static_cast<std::size_t>(known), up ? difference : -difference,
         both ? best->second.error() : 0);
    return true;
  }

  void add_alone() {
    for (std::size_t rank = 0; rank < ranks_; ++rank) {
      if (is_joined(static_cast<int>(rank))) continue;
      notes_.push_back("no message joins rank " + std::to_string(rank) + " to the others: its clock is taken as it is");
      joined_.push_back(rank);
      return;
    }
  }

  void join(std::size_t added, std::size_t known, Nanoseconds difference, Nanoseconds error) {
    offset_[added] = offset_[known] + difference;
    for (const std::size_t other : joined_) {
      distance_[added][other] = distance_[other][added] = distance_[known][other] + error;
    }
    joined_.push_back(added);
  }

  std::size_t ranks_;
  const BoundsByPair& bounds_;
  std::vector<std::string>& notes_;
  std::vector<std::size_t> joined_;
  std::vector<Nanoseconds> offset_;
  std::vector<std::vector<Nanoseconds>> distance_;  // the error between two joined ranks
};

}  // namespace

ClockAlignment align_clocks(int ranks, const std::vector<MessageTimes>& messages, std::vector<std::string>& notes) {
  if (ranks <= 1) return {"one clock", 0, {}};
  return Tree(ranks, bounds_of(messages), notes).grow();
}

}  // namespace debubble
