#include "studies/plan/front.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <queue>
#include <set>
#include <tuple>
#include <utility>

#include "studies/plan/evaluations.hpp"
#include "studies/plan/rank_orders.hpp"
#include "studies/plan/search.hpp"

namespace debubble {
namespace {

using FrontClock = std::chrono::steady_clock;

constexpr std::size_t kFrontBatch = 8;         // simulated together; independent of the number of threads
constexpr std::size_t kFrontRefineBatch = 32;  // bounded closer together
constexpr std::size_t kFrontBaseBatch = 32;    // expanded together

class FrontSearch {
 public:
  FrontSearch(PlanEvaluations& state, const SearchOptions& options, Progress& progress)
      : state_(state), options_(options), progress_(progress), begin_(FrontClock::now()) {}

  PlanFront run() {
    state_.evaluate_bases(options_.threads, progress_);
    for (const VariantId& id : state_.simulated()) add_point(*state_.find(id));
    order_bases();
    add_memory_cuts(state_.simulated());
    bool interrupted = false;
    while (!(interrupted = out_of_time()) && step()) {
    }
    if (interrupted) result_.proven_to = least_left();
    result_.points = points_;
    result_.gap = options_.gap;
    return std::move(result_);
  }

 private:
  // By bound, then what is simpler, then its place in the space.
  using Entry = std::tuple<Nanoseconds, int, VariantId>;
  struct LaterEntry {
    bool operator()(const Entry& a, const Entry& b) const { return a > b; }
  };

  // Whether a point is at least as good as anything with these bounds, but for the gap.
  [[nodiscard]] bool beaten(Nanoseconds step, Bytes memory) const {
    const double share = 1 - options_.gap;
    const auto slower = std::partition_point(points_.begin(), points_.end(), [&](const PlannedRun& point) {
      return static_cast<double>(point.step) * share <= static_cast<double>(step);
    });
    return slower != points_.begin() &&
           static_cast<double>(std::prev(slower)->peak) * share <= static_cast<double>(memory);
  }
  [[nodiscard]] bool beaten(const Entry& entry) {
    const Evaluation& one = *state_.find(std::get<2>(entry));
    return beaten(one.bound, one.memory_bound);
  }

  void order_bases() {
    for (std::size_t k = 0; k < state_.space().bases.size(); ++k) {
      if (state_.base(k).legal) order_.push_back(k);
    }
    std::stable_sort(order_.begin(), order_.end(),
                     [&](std::size_t a, std::size_t b) { return state_.base(a).compute < state_.base(b).compute; });
  }

  // Expands bases, or looks closer at variants, whichever has the lower bound. False at the end.
  bool step() {
    while (next_ < order_.size() && base_beaten(order_[next_])) ++next_;
    while (!queue_.empty() && beaten(queue_.top())) queue_.pop();
    const bool bases_left = next_ < order_.size();
    if (!bases_left && queue_.empty()) return false;
    if (bases_left && (queue_.empty() || state_.base(order_[next_]).compute <= std::get<0>(queue_.top()))) {
      expand();
    } else {
      look_closer();
    }
    return true;
  }

  [[nodiscard]] bool base_beaten(std::size_t k) const { return beaten(state_.base(k).compute, state_.base(k).states); }

  void expand() {
    std::vector<VariantId> ids;
    const std::size_t end = std::min(order_.size(), next_ + kFrontBaseBatch);
    for (; next_ < end; ++next_) {
      if (base_beaten(order_[next_])) continue;
      for (const VariantId& id : variants_of_base(state_.space(), order_[next_])) ids.push_back(id);
    }
    state_.bound(ids, options_.threads);
    for (const VariantId& id : ids) enqueue(id);
    add_memory_cuts(ids);
  }

  void add_memory_cuts(const std::vector<VariantId>& ids) {
    for (const VariantId& id : state_.memory_cuts_of(ids, options_.threads)) {
      if (added_.insert(id).second) enqueue(id);
    }
  }

  void enqueue(const VariantId& id) {
    const Evaluation& one = *state_.find(id);
    const bool open = one.kind == Evaluation::Kind::kBounded || one.kind == Evaluation::Kind::kRefined;
    if (open && !beaten(one.bound, one.memory_bound)) queue_.emplace(one.bound, complexity(state_.choice_of(id)), id);
  }

  [[nodiscard]] bool is_refined(const Entry& entry) {
    return state_.find(std::get<2>(entry))->kind == Evaluation::Kind::kRefined;
  }

  // The next in the queue: bounded closer, and back into the queue, or simulated.
  void look_closer() {
    const bool refined = is_refined(queue_.top());
    const std::size_t most = refined ? kFrontBatch : kFrontRefineBatch;
    std::vector<VariantId> ids;
    while (ids.size() < most && !queue_.empty() && is_refined(queue_.top()) == refined) {
      if (!beaten(queue_.top())) ids.push_back(std::get<2>(queue_.top()));
      queue_.pop();
    }
    if (!refined) {
      state_.refine_all(ids, options_.threads);
      for (const VariantId& id : ids) enqueue(id);
      add_memory_cuts(ids);
      return;
    }
    tell();
    state_.simulate_all(ids, {std::numeric_limits<Nanoseconds>::max(), false}, options_.threads);
    for (const VariantId& id : ids) count(*state_.find(id));
    add_memory_cuts(ids);
  }

  void count(const Evaluation& one) {
    if (!was_simulated(one)) return;
    ++result_.simulated;
    if (one.kind == Evaluation::Kind::kOutOfMemory) ++result_.out_of_memory;
    if (one.kind == Evaluation::Kind::kDeadlock) ++result_.deadlocked;
    add_point(one);
  }

  void add_point(const Evaluation& one) {
    if (one.kind != Evaluation::Kind::kFits || one.run.is_tight()) return;
    points_.push_back(one.run);
    points_ = front_of(std::move(points_));
  }

  void tell() {
    constexpr std::int64_t kEvery = 100;
    if (result_.simulated < told_) return;
    told_ = result_.simulated + kEvery;
    progress_.phase("the front of time against memory: " + std::to_string(result_.simulated) + " simulated");
  }

  // The least step bound of what is left; nothing where all of it is beaten.
  [[nodiscard]] std::optional<Nanoseconds> least_left() {
    while (next_ < order_.size() && base_beaten(order_[next_])) ++next_;
    while (!queue_.empty() && beaten(queue_.top())) queue_.pop();
    std::optional<Nanoseconds> least;
    if (next_ < order_.size()) least = state_.base(order_[next_]).compute;
    if (!queue_.empty()) least = std::min(least.value_or(std::get<0>(queue_.top())), std::get<0>(queue_.top()));
    return least;
  }

  [[nodiscard]] bool out_of_time() const {
    return options_.budget && std::chrono::duration<double>(FrontClock::now() - begin_).count() > *options_.budget;
  }

  PlanEvaluations& state_;
  const SearchOptions& options_;
  Progress& progress_;
  FrontClock::time_point begin_;
  std::vector<std::size_t> order_;  // bases by their bound
  std::size_t next_ = 0;
  std::set<VariantId> added_;  // with --partition memory, which the space's bases do not have
  std::priority_queue<Entry, std::vector<Entry>, LaterEntry> queue_;
  std::vector<PlannedRun> points_;
  std::int64_t told_ = 0;
  PlanFront result_;
};

}  // namespace

std::vector<PlannedRun> front_of(std::vector<PlannedRun> runs) {
  std::stable_sort(runs.begin(), runs.end(), [](const PlannedRun& a, const PlannedRun& b) {
    return std::tuple(a.step, a.peak, complexity(a.choice)) < std::tuple(b.step, b.peak, complexity(b.choice));
  });
  std::vector<PlannedRun> front;
  for (PlannedRun& run : runs) {
    if (front.empty() || run.peak < front.back().peak) front.push_back(std::move(run));
  }
  return front;
}

std::vector<std::string> changed_words(const PlanChoice& from, const PlanChoice& to) {
  std::vector<std::string> words;
  const auto number = [&](const char* name, std::int64_t before, std::int64_t after) {
    if (before == after) return;
    words.push_back(std::string(name) + " " + std::to_string(before) + " -> " + std::to_string(after));
  };
  number("tp", from.tensor, to.tensor);
  number("cp", from.context, to.context);
  number("ep", from.expert, to.expert);
  number("pp", from.pipeline, to.pipeline);
  number("dp", from.data, to.data);
  number("ZeRO", from.zero, to.zero);
  const bool both_ordered = from.pipeline > 1 && to.pipeline > 1;
  if (both_ordered) {
    if (from.schedule != to.schedule) words.push_back(from.schedule + " -> " + to.schedule);
    number("stages per device", from.chunks, to.chunks);
  } else if (to.pipeline > 1) {
    words.push_back(to.schedule);
    if (to.chunks > 1) words.push_back(std::to_string(to.chunks) + " stages per device");
  }
  if (to.pipeline > 1 && from.params != to.params) {
    if (to.params.empty()) words.push_back("without " + from.params.front());
    words.insert(words.end(), to.params.begin(), to.params.end());
  }
  number("microbatch", from.microbatch, to.microbatch);
  if (from.recompute != to.recompute || what_recomputes(from) != what_recomputes(to)) {
    words.push_back("recompute " + std::string(kRecomputeWords[to.recompute]) + what_recomputes(to));
  }
  if (from.tensor > 1 && to.tensor > 1 && from.sequence != to.sequence) {
    words.emplace_back(to.sequence ? "sequence parallelism" : "no sequence parallelism");
  }
  if (from.partition != to.partition) words.push_back("partition " + (to.partition.empty() ? "auto" : to.partition));
  if (from.rank_order != to.rank_order) {
    words.push_back("ranks in the order " + (to.rank_order.empty() ? std::string(kUsualRankOrder) : to.rank_order));
  }
  return words;
}

PlanFront PlanSearch::front(const SearchOptions& options, Progress& progress) {
  return FrontSearch(*evaluations_, options, progress).run();
}

}  // namespace debubble
