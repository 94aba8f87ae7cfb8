#include "studies/plan/search.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <queue>
#include <set>
#include <tuple>
#include <utility>

#include "studies/parallel.hpp"
#include "studies/plan/cells.hpp"
#include "studies/plan/evaluations.hpp"

namespace debubble {
namespace {

using SearchClock = std::chrono::steady_clock;

constexpr std::size_t kBatch = 8;         // simulated together; independent of the number of threads
constexpr std::size_t kFirstBatch = 4;    // simulated before others are bounded closer, where time is limited
constexpr std::size_t kRefineBatch = 32;  // bounded closer together
constexpr std::size_t kBaseBatch = 32;    // expanded together

// One run of the search.
class SearchRun {
 public:
  SearchRun(PlanEvaluations& state, const SearchOptions& options, Progress& progress,
            const std::function<bool(const PlanChoice&)>& keep)
      : state_(state), options_(options), progress_(progress), keep_(keep), begin_(SearchClock::now()) {}

  SearchResult run() {
    state_.evaluate_bases(options_.threads, progress_);
    known_.resize(state_.space().bases.size());
    const std::vector<VariantId> before = simulated_before();
    for (const VariantId& id : before) {
      take(id, *state_.find(id));
      if (!state_.is_second_try(id)) ++known_[id.base];
      if (keep_ != nullptr || state_.is_second_try(id)) ++result_.space;
    }
    order_bases();
    add_second_tries(before);
    tell();
    while (!out_of_time() && step()) {
    }
    count_rest();
    finish();
    return std::move(result_);
  }

 private:
  static constexpr double kNoBound = std::numeric_limits<double>::infinity();

  // By bound, then what is simpler, then its place in the space.
  using Entry = std::tuple<double, int, VariantId>;

  // Variants of one base that do not fit, or are tight, and may with more blocks recomputed; the least of their bounds.
  struct Lacking {
    double bound = kNoBound;
    std::vector<VariantId> ids{};
    friend bool operator<(const Lacking& a, const Lacking& b) {  // the first out of a queue is the greatest
      return std::tie(a.bound, a.ids) > std::tie(b.bound, b.ids);
    }
  };

  [[nodiscard]] double base_bound(std::size_t k) const {
    const BaseEvaluation& base = state_.base(k);
    return static_cast<double>(options_.objective == PlanObjective::kStep ? base.compute : base.states);
  }
  [[nodiscard]] double bound_of(const Evaluation& one) const {
    return static_cast<double>(options_.objective == PlanObjective::kStep ? one.bound : one.memory_bound);
  }
  [[nodiscard]] double value_of(const PlannedRun& run) const {
    return static_cast<double>(options_.objective == PlanObjective::kStep ? run.step : run.peak);
  }
  // What is no better than this is not looked at.
  [[nodiscard]] double limit() const { return std::isinf(best_) ? best_ : best_ * (1 - options_.gap); }

  void tell() {
    constexpr std::int64_t kOften = 100;
    if (result_.simulated < told_) return;
    told_ = result_.simulated + kOften;
    progress_.phase("searching " + std::to_string(result_.space) +
                    " ways to run it: " + std::to_string(result_.simulated) + " simulated");
  }

  // Where the search is of a part of the space, what is in it shows when a base is expanded, and counts from then on.
  void order_bases() {
    for (std::size_t k = 0; k < state_.space().bases.size(); ++k) {
      const BaseEvaluation& base = state_.base(k);
      const std::int64_t variants = variants_in(k);
      result_.space += variants;
      if (!base.legal) {
        result_.illegal += variants;
        count_illegal(base.code, base.message, variants);
      } else {
        order_.push_back(k);
      }
    }
    std::stable_sort(order_.begin(), order_.end(),
                     [&](std::size_t a, std::size_t b) { return base_bound(a) < base_bound(b); });
  }

  [[nodiscard]] std::int64_t variants_in(std::size_t k) const {
    if (keep_ != nullptr) return 0;
    const PlanChoice& base = state_.space().bases[k];
    return static_cast<std::int64_t>(state_.space().variants_of(base).size() * state_.space().zeros_of(base).size());
  }

  // Expands bases, recomputes more blocks of variants that lack room, or simulates variants, whichever has the lowest
  // bound. False at the end.
  bool step() {
    const double base = next_ < order_.size() ? base_bound(order_[next_]) : kNoBound;
    const double lacking = lacking_.empty() ? kNoBound : lacking_.top().bound;
    const double variant = queue_.empty() ? kNoBound : std::get<0>(queue_.top());
    const double least = std::min({base, lacking, variant});
    if (least >= limit() || least == kNoBound) return false;
    if (base == least) {
      expand();
    } else if (lacking == least) {
      recompute_more();
    } else {
      look_closer();
    }
    return true;
  }

  void expand() {
    const std::size_t begin = next_;
    next_ = std::min(order_.size(), begin + kBaseBatch);
    std::vector<std::vector<VariantId>> kept(next_ - begin);  // by base
    const int threads = keep_ == nullptr ? 1 : threads_for(kept.size(), options_.threads);
    for_each_index(kept.size(), threads, [&](std::size_t k) {
      kept[k] = variants_of_base(state_.space(), order_[begin + k]);
      if (keep_ != nullptr) std::erase_if(kept[k], [&](const VariantId& id) { return !is_kept(id); });
    });
    std::vector<VariantId> ids;
    for (std::size_t k = 0; k < kept.size(); ++k) {
      if (keep_ != nullptr) result_.space += static_cast<std::int64_t>(kept[k].size()) - known_[order_[begin + k]];
      ids.insert(ids.end(), kept[k].begin(), kept[k].end());
    }
    state_.bound(ids, options_.threads);
    for (const VariantId& id : ids) enqueue(id);
    add_second_tries(ids);
  }

  // Of those that do not fit as they are: cut for the memory, and, when their bounds are the lowest, with more blocks
  // recomputed.
  void add_second_tries(const std::vector<VariantId>& ids) {
    add_new(state_.memory_cuts_of(ids, options_.threads));
    if (has_fewest_blocks()) add_lacking(ids);
  }

  // They have not the least memory: more of the blocks take less, and all of them the least.
  [[nodiscard]] bool has_fewest_blocks() const {
    return state_.space().fewest_blocks && options_.objective == PlanObjective::kStep;
  }

  // Those of one base together: they share what takes longest.
  void add_lacking(const std::vector<VariantId>& ids) {
    for (std::size_t begin = 0, end = 0; begin < ids.size(); begin = end) {
      Lacking of_base;
      for (; end < ids.size() && ids[end].base == ids[begin].base; ++end) {
        if (!state_.may_recompute_more(ids[end])) continue;
        of_base.bound = std::min(of_base.bound, bound_of(*state_.find(ids[end])));
        of_base.ids.push_back(ids[end]);
      }
      if (!of_base.ids.empty()) lacking_.push(std::move(of_base));
    }
  }

  // Bounds rise with the blocks: what has a bound that excludes it needs none of them.
  void recompute_more() {
    std::vector<VariantId> ids;
    for (std::size_t k = 0; k < kBaseBatch && !lacking_.empty() && lacking_.top().bound < limit(); ++k) {
      for (const VariantId& id : lacking_.top().ids) {
        const double bound = bound_of(*state_.find(id));
        bound < limit() ? ids.push_back(id) : void(least_excluded_ = std::min(least_excluded_, bound));
      }
      lacking_.pop();
    }
    std::vector<VariantId> more = state_.fewest_blocks_of(ids, options_.threads);
    std::erase_if(more, [&](const VariantId& id) { return !is_kept(id); });
    // By a closer bound of an earlier search they may still lack room.
    add_lacking(add_new(more));
  }

  [[nodiscard]] bool is_kept(const VariantId& id) const { return keep_ == nullptr || keep_(state_.choice_of(id)); }

  // Returns those that were not there.
  std::vector<VariantId> add_new(const std::vector<VariantId>& ids) {
    std::vector<VariantId> fresh;
    for (const VariantId& id : ids) {
      if (was_simulated(*state_.find(id)) || !added_.insert(id).second) continue;
      ++result_.space;
      enqueue(id);
      fresh.push_back(id);
    }
    return fresh;
  }

  // That are of this search.
  [[nodiscard]] std::vector<VariantId> simulated_before() const {
    std::vector<VariantId> ids = state_.simulated();
    std::erase_if(ids, [&](const VariantId& id) { return !is_kept(id) || (id.blocks > 0 && !has_fewest_blocks()); });
    return ids;
  }

  void enqueue(const VariantId& id) {
    const Evaluation& one = *state_.find(id);
    if (was_simulated(one)) return;  // by an earlier search, and counted
    if (one.kind == Evaluation::Kind::kIllegal) {
      ++result_.illegal;
      count_illegal(one.code, one.message, 1);
      return;
    }
    if (one.kind == Evaluation::Kind::kTooLarge) {
      ++result_.excluded_by_memory;
      note_near_miss(id, one.missing, false);
      return;
    }
    if (is_slow_and_tight(one)) {
      ++result_.excluded_by_memory;
      return;
    }
    if (bound_of(one) >= limit()) {  // which only falls: it would stay in the queue to the end
      ++result_.excluded_by_time;
      least_excluded_ = std::min(least_excluded_, bound_of(one));
      return;
    }
    queue_.emplace(bound_of(one), complexity(state_.choice_of(id)), id);
  }

  // It cannot be the best, nor by more than the gap the best of those that leave too little memory free.
  [[nodiscard]] bool is_slow_and_tight(const Evaluation& one) const {
    return one.only_tight && !std::isinf(tight_) && bound_of(one) >= tight_ * (1 - options_.gap);
  }

  // The first of the queue that could still be the best, at most so many, taken out of it.
  std::vector<VariantId> pop(std::size_t most) {
    std::vector<VariantId> ids;
    for (; ids.size() < most && !queue_.empty() && std::get<0>(queue_.top()) < limit(); queue_.pop()) {
      const VariantId& id = std::get<2>(queue_.top());
      is_slow_and_tight(*state_.find(id)) ? void(++result_.excluded_by_memory) : ids.push_back(id);
    }
    return ids;
  }

  // The first in the queue: simulated, once all of them are refined; so that no thread waits for a single one.
  void look_closer() {
    const auto is_refined = [&](const VariantId& id) { return state_.find(id)->kind != Evaluation::Kind::kBounded; };
    std::vector<VariantId> ids = pop(kBatch);
    if (std::all_of(ids.begin(), ids.end(), is_refined)) {
      tell();
      simulate(ids);
      return;
    }
    for (const VariantId& id : pop(kRefineBatch - kBatch)) ids.push_back(id);
    const auto fresh = std::stable_partition(ids.begin(), ids.end(), is_refined);
    state_.refine_all({fresh, ids.end()}, options_.threads);
    std::vector<VariantId> first;
    if (options_.budget) first = simulate_first({fresh, ids.end()});
    for (const VariantId& id : ids) {
      if (std::find(first.begin(), first.end(), id) == first.end()) enqueue(id);
    }
    add_second_tries({fresh, ids.end()});
  }

  // With a budget something must be found before all bounds are known: those of what was refined that are most likely
  // the best. Returns them.
  std::vector<VariantId> simulate_first(std::vector<VariantId> fresh) {
    const auto could_be_best = [&](const VariantId& id) {
      const Evaluation& one = *state_.find(id);
      return one.kind == Evaluation::Kind::kRefined && bound_of(one) < limit();
    };
    std::erase_if(fresh, [&](const VariantId& id) { return !could_be_best(id); });
    std::stable_sort(fresh.begin(), fresh.end(), [&](const VariantId& a, const VariantId& b) {
      return bound_of(*state_.find(a)) < bound_of(*state_.find(b));
    });
    fresh.resize(std::min(fresh.size(), kFirstBatch));
    simulate(fresh);
    return fresh;
  }

  // But for those of which a walk shows that they take too long: these go back, with the bound that they have now.
  void simulate(const std::vector<VariantId>& ids) {
    Interest interest;
    interest.missing = options_.nearest && std::isinf(best_);
    if (options_.objective == PlanObjective::kStep && !std::isinf(best_)) {
      interest.below = static_cast<Nanoseconds>(kWorthALine * best_);
    }
    state_.simulate_all(ids, interest, options_.threads);
    for (const VariantId& id : ids) {
      const Evaluation& one = *state_.find(id);
      one.kind == Evaluation::Kind::kRefined ? enqueue(id) : take(id, one);
    }
    add_second_tries(ids);
  }

  void take(const VariantId& id, const Evaluation& one) {
    if (one.kind == Evaluation::Kind::kIllegal) {
      ++result_.illegal;
      count_illegal(one.code, one.message, 1);
      return;
    }
    ++result_.simulated;
    if (one.kind == Evaluation::Kind::kDeadlock) ++result_.deadlocked;
    if (one.kind == Evaluation::Kind::kOutOfMemory) {
      ++result_.out_of_memory;
      note_near_miss(id, one.missing, true);
    }
    if (one.kind != Evaluation::Kind::kFits) return;
    if (one.run.is_tight()) {
      result_.tight.push_back(one.run);
      tight_ = std::min(tight_, value_of(one.run));
      return;
    }
    result_.runs.push_back(one.run);
    best_ = std::min(best_, value_of(one.run));
  }

  void note_near_miss(const VariantId& id, Bytes missing, bool simulated) {
    if (missing <= 0 || (result_.nearest && result_.nearest->missing <= missing)) return;
    result_.nearest = NearMiss{state_.choice_of(id), missing, simulated};
  }

  void count_illegal(const std::string& code, const std::string& message, std::int64_t count) {
    result_.illegal_by_code[code] += count;
    result_.illegal_messages.emplace(code, message);
  }

  void count_rest() {
    double least = least_excluded_;
    if (!queue_.empty()) least = std::min(least, std::get<0>(queue_.top()));
    result_.excluded_by_time += static_cast<std::int64_t>(queue_.size());
    if (next_ < order_.size()) least = std::min(least, base_bound(order_[next_]));
    if (!lacking_.empty()) least = std::min(least, lacking_.top().bound);
    for (; keep_ == nullptr && next_ < order_.size(); ++next_) {
      result_.excluded_by_time += variants_in(order_[next_]) - known_[order_[next_]];
    }
    if (least < best_ && best_ < std::numeric_limits<double>::infinity()) result_.remaining_gap = 1 - least / best_;
  }

  void finish() {
    const auto key = [&](const PlannedRun& run) {
      return std::tuple(value_of(run), run.step, run.peak, complexity(run.choice));
    };
    for (std::vector<PlannedRun>* const runs : {&result_.runs, &result_.tight}) {
      std::stable_sort(runs->begin(), runs->end(),
                       [&](const PlannedRun& a, const PlannedRun& b) { return key(a) < key(b); });
    }
    if (!result_.runs.empty()) result_.nearest.reset();
  }

  bool out_of_time() {
    if (!options_.budget) return false;
    const double seconds = std::chrono::duration<double>(SearchClock::now() - begin_).count();
    result_.interrupted = seconds > *options_.budget;
    return result_.interrupted;
  }

  struct Later {
    bool operator()(const Entry& a, const Entry& b) const { return a > b; }
  };

  PlanEvaluations& state_;
  const SearchOptions& options_;
  Progress& progress_;
  const std::function<bool(const PlanChoice&)>& keep_;
  SearchClock::time_point begin_;
  std::vector<std::size_t> order_;  // bases by their bound
  std::size_t next_ = 0;
  std::vector<std::int64_t> known_;  // by base: variants that an earlier search simulated
  std::set<VariantId> added_;        // which the space's bases do not have
  std::int64_t told_ = 0;
  std::priority_queue<Entry, std::vector<Entry>, Later> queue_;
  std::priority_queue<Lacking> lacking_;
  double least_excluded_ = std::numeric_limits<double>::infinity();  // of the bounds of those left out of the queue
  double best_ = std::numeric_limits<double>::infinity();
  double tight_ = std::numeric_limits<double>::infinity();  // the best of SearchResult::tight
  SearchResult result_;
};

}  // namespace

PlanSearch::PlanSearch(const PlanRequest& request, PlanSpace space, PlanRanks* ranks)
    : evaluations_(std::make_unique<PlanEvaluations>(request, std::move(space), ranks)) {}
PlanSearch::~PlanSearch() = default;

PlanCells PlanSearch::cells() const { return count_cells(*evaluations_); }
const PlanSpace& PlanSearch::space() const { return evaluations_->space(); }
void PlanSearch::take_bases(const PlanSearch& other) { evaluations_->take_bases(*other.evaluations_); }

SearchResult PlanSearch::run(const SearchOptions& options, Progress& progress,
                             const std::function<bool(const PlanChoice&)>& keep) {
  return SearchRun(*evaluations_, options, progress, keep).run();
}

}  // namespace debubble
