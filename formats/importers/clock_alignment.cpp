#include "formats/importers/clock_alignment.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <utility>

namespace debubble {
namespace {

// Clocks of machines drift: by this much, bounds may cross. It is 20 ppm over 2.5 s.
constexpr Nanoseconds kDrift = 50'000;

// What messages say about offset[high] - offset[low].
struct Bounds {
  std::optional<Nanoseconds> least;
  std::optional<Nanoseconds> most;
  bool late = false;  // of messages whose arrival nobody saw

  [[nodiscard]] bool both() const { return least && most; }
  [[nodiscard]] bool contradict() const { return both() && *least - *most > kDrift; }
  [[nodiscard]] bool one_way() const { return !both(); }
  [[nodiscard]] bool joins() const { return both() && !contradict(); }
  [[nodiscard]] Nanoseconds difference() const {
    if (contradict() || (joins() && stays())) return 0;
    if (both()) return *least + (*most - *least) / 2;
    return least ? std::max<Nanoseconds>(0, *least) : std::min<Nanoseconds>(0, most.value_or(0));
  }
  [[nodiscard]] Nanoseconds error() const {
    return stays() ? std::max(*most, -*least) : ((*most < *least ? *least - *most : *most - *least) + 1) / 2;
  }

 private:
  [[nodiscard]] bool stays() const { return late && *least <= 0 && *most >= 0; }
};

using BoundsByPair = std::map<std::pair<int, int>, Bounds>;  // low rank, high rank

BoundsByPair bounds_of(const std::vector<MessageTimes>& messages) {
  BoundsByPair all;
  for (const MessageTimes& message : messages) {
    if (message.from == message.to) continue;
    Bounds& bounds = all[std::minmax(message.from, message.to)];
    bounds.late = bounds.late || message.late;
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
class ClockTree {
 public:
  ClockTree(int ranks, const BoundsByPair& bounds, std::vector<std::string>& notes)
      : ranks_(static_cast<std::size_t>(ranks)), bounds_(bounds), notes_(notes), offset_(ranks_, 0) {}

  ClockAlignment grow() {
    joined_.push_back(0);
    distance_.assign(ranks_, std::vector<Nanoseconds>(ranks_, 0));
    while (joined_.size() < ranks_) {
      if (!add_best(&Bounds::joins) && !add_best(&Bounds::one_way) && !add_best(&Bounds::contradict)) add_alone();
    }
    ClockAlignment result;
    result.bounded = bounded_;
    result.method = bounded_ ? "send/recv pairs" : "not aligned";
    for (const auto& row : distance_) {
      for (const Nanoseconds error : row) result.residual = bounded_ ? std::max(result.residual, error) : 0;
    }
    result.offsets = offset_;
    return result;
  }

 private:
  [[nodiscard]] bool is_joined(int rank) const {
    return std::find(joined_.begin(), joined_.end(), static_cast<std::size_t>(rank)) != joined_.end();
  }

  // Joins the rank with the least error of those whose bounds are of the kind, or the first where there is no error.
  bool add_best(bool (Bounds::*kind)() const) {
    const BoundsByPair::value_type* best = nullptr;
    for (const auto& entry : bounds_) {
      const Bounds& bounds = entry.second;
      if (is_joined(entry.first.first) == is_joined(entry.first.second) || !(bounds.*kind)()) continue;
      if (best == nullptr || (bounds.joins() && bounds.error() < best->second.error())) best = &entry;
    }
    if (best == nullptr) return false;
    const bool up = is_joined(best->first.first);
    const int known = up ? best->first.first : best->first.second;
    const int added = up ? best->first.second : best->first.first;
    say(best->first, best->second);
    const Nanoseconds difference = best->second.difference();
    join(static_cast<std::size_t>(added), static_cast<std::size_t>(known), up ? difference : -difference,
         best->second.joins() ? best->second.error() : 0);
    return true;
  }

  void say(const std::pair<int, int>& ranks, const Bounds& bounds) {
    const std::string both = "ranks " + std::to_string(ranks.first) + " and " + std::to_string(ranks.second);
    bounded_ = bounded_ && bounds.joins();
    if (bounds.one_way()) {
      notes_.push_back("messages between " + both +
                       " were sent in one direction only: how far their clocks differ is not bounded");
    } else if (bounds.contradict()) {
      notes_.push_back("messages between " + both + " contradict each other by " +
                       std::to_string((*bounds.least - *bounds.most) / 1000) +
                       " us: their clocks are left as they are, and nothing can be concluded from how they differ");
    } else if (*bounds.most < *bounds.least) {
      notes_.push_back("the clocks of " + both + " drift, or a transfer's ends are not both its own");
    }
  }

  void add_alone() {
    for (std::size_t rank = 0; rank < ranks_; ++rank) {
      if (is_joined(static_cast<int>(rank))) continue;
      notes_.push_back("no message joins rank " + std::to_string(rank) + " to the others: its clock is taken as it is");
      joined_.push_back(rank);
      bounded_ = false;
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
  bool bounded_ = true;
  std::vector<std::vector<Nanoseconds>> distance_;  // the error between two joined ranks
};

}  // namespace

ClockAlignment align_clocks(int ranks, const std::vector<MessageTimes>& messages, std::vector<std::string>& notes) {
  if (ranks <= 1) return {"one clock", 0, {}};
  return ClockTree(ranks, bounds_of(messages), notes).grow();
}

}  // namespace debubble
