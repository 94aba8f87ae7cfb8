#include "studies/plan/evaluations.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "schedules/catalog.hpp"
#include "studies/parallel.hpp"
#include "studies/plan/evaluation_codec.hpp"
#include "studies/plan/open_cuts.hpp"
#include "studies/plan/over_mpi.hpp"
#include "studies/plan/stage_bounds.hpp"

namespace debubble {

namespace {

void ask_for(PlanTask task, live::MessageWriter& message) { message.number(static_cast<std::int64_t>(task)); }

}  // namespace

PlanEvaluations::PlanEvaluations(PlanRequest request, PlanSpace space, PlanRanks* ranks)
    : request_(std::move(request)), space_(std::move(space)), ranks_(ranks), evaluations_(2 * space_.bases.size()) {}

void PlanEvaluations::evaluate_bases(int threads, Progress& progress) {
  if (!bases_.empty()) return;
  progress.phase("modelling " + std::to_string(space_.bases.size()) + " ways to split the job");
  bases_.resize(space_.bases.size());
  PlanWork work;
  work.here = [&](std::size_t k) {
    bases_[k] = evaluate_base(request_, space_.bases[k], space_.zeros_of(space_.bases[k]).back());
  };
  work.ask = [&](std::size_t k, live::MessageWriter& task) {
    ask_for(PlanTask::kBase, task);
    task.number(static_cast<std::int64_t>(k));
  };
  work.take = [&](std::size_t k, live::MessageReader& done) { bases_[k] = live::read<BaseEvaluation>(done); };
  do_pieces(ranks_, bases_.size(), threads, work);
}

void PlanEvaluations::take_bases(const PlanEvaluations& others) {
  if (others.space_.bases == space_.bases) bases_ = others.bases_;
}

Evaluation* PlanEvaluations::find(const VariantId& id) {
  std::map<VariantId, Evaluation>& of_base = evaluations_[id.base];
  const auto found = of_base.find(id);
  return found == of_base.end() ? nullptr : &found->second;
}

std::vector<VariantId> PlanEvaluations::simulated() const {
  std::vector<VariantId> ids;
  for (const std::map<VariantId, Evaluation>& of_base : evaluations_) {
    for (const auto& [id, one] : of_base) {
      if (was_simulated(one)) ids.push_back(id);
    }
  }
  return ids;
}

void PlanEvaluations::bound(const std::vector<VariantId>& ids, int threads) {
  std::vector<std::vector<VariantId>> groups;  // of one base
  for (const VariantId& id : ids) {
    if (find(id) != nullptr) continue;
    if (groups.empty() || groups.back().front().base != id.base) groups.emplace_back();
    groups.back().push_back(id);
  }
  std::vector<std::vector<PlanChoice>> choices(groups.size());
  PlanWork here_alone;
  here_alone.here = [&](std::size_t k) {
    for (const VariantId& id : groups[k]) choices[k].push_back(choice_of(id));
  };
  do_pieces(nullptr, groups.size(), threads, here_alone);
  make_patterns(choices, threads);
  std::vector<std::vector<Evaluation>> found(groups.size());
  checked_.clear();
  std::vector<CheckedScenarios*> of_large;
  for (const auto& group : groups) of_large.push_back(space_.memory_cuts ? &checked_[group.front().base] : nullptr);
  PlanWork work;
  work.here = [&](std::size_t k) { found[k] = bounded(request_, choices[k], patterns_, of_large[k]); };
  work.ask = [&](std::size_t k, live::MessageWriter& task) {
    ask_for(PlanTask::kBounds, task);
    task.number(static_cast<std::int64_t>(groups[k].size()));
    for (const VariantId& id : groups[k]) write(task, id);
  };
  work.take = [&](std::size_t k, live::MessageReader& done) {
    for (std::size_t i = 0; i < groups[k].size(); ++i) found[k].push_back(live::read<Evaluation>(done));
  };
  do_pieces(ranks_, groups.size(), threads, work);
  PlanWork keep;
  keep.here = [&](std::size_t k) {
    std::map<VariantId, Evaluation>& of_base = evaluations_[groups[k].front().base];
    for (std::size_t i = 0; i < groups[k].size(); ++i) of_base[groups[k][i]] = std::move(found[k][i]);
  };
  do_pieces(nullptr, groups.size(), threads, keep);
}

void PlanEvaluations::make_patterns(const std::vector<std::vector<PlanChoice>>& groups, int threads) {
  std::vector<std::map<PatternKey, PlanChoice>> missing(groups.size());
  PlanWork look;
  look.here = [&](std::size_t k) {
    for (const PlanChoice& choice : groups[k]) {
      PatternKey key = pattern_key(choice);
      if (!patterns_.contains(key)) missing[k].try_emplace(std::move(key), choice);
    }
  };
  do_pieces(nullptr, groups.size(), threads, look);
  std::map<PatternKey, PlanChoice> fresh;
  for (std::map<PatternKey, PlanChoice>& some : missing) fresh.merge(some);
  std::vector<std::pair<const PlanChoice*, Pattern*>> work;
  for (const auto& [key, choice] : fresh) work.emplace_back(&choice, &patterns_[key]);
  PlanWork here_alone;
  here_alone.here = [&](std::size_t k) { *work[k].second = make_pattern(request_, *work[k].first); };
  do_pieces(ranks_, work.size(), threads, here_alone);
  for (const auto& [choice, pattern] : work) {
    std::vector<const Pattern*>& firsts = firsts_[pattern->shape.stages];
    const auto same = std::find_if(firsts.begin(), firsts.end(),
                                   [&made = *pattern](const Pattern* first) { return same_shape(*first, made); });
    shapes_[pattern] = same == firsts.end() ? firsts.emplace_back(pattern) : *same;
  }
}

PlanEvaluations::StepKey PlanEvaluations::step_key(const VariantId& id) const {
  return {id.base, id.zero, id.blocks, shapes_.at(&patterns_.at(pattern_key(choice_of(id))))};
}

void PlanEvaluations::make_all_step_costs(const std::vector<VariantId>& ids, int threads) {
  std::vector<std::pair<VariantId, StepCosts*>> fresh;
  std::vector<const Schedule*> shapes;
  for (const VariantId& id : ids) {
    const StepKey key = step_key(id);
    const auto [place, is_new] = steps_.try_emplace(key);
    if (!is_new) continue;
    fresh.emplace_back(id, &place->second);
    shapes.push_back(&std::get<const Pattern*>(key)->shape);
  }
  PlanWork work;
  work.here = [&](std::size_t k) {
    *fresh[k].second = make_step_costs(request_, choice_of(fresh[k].first), *shapes[k]);
  };
  work.ask = [&](std::size_t k, live::MessageWriter& task) {
    ask_for(PlanTask::kStep, task);
    write(task, fresh[k].first);
  };
  work.take = [&](std::size_t k, live::MessageReader& done) { *fresh[k].second = live::read<StepCosts>(done); };
  do_pieces(ranks_, fresh.size(), threads, work);
}

void PlanEvaluations::refine_all(const std::vector<VariantId>& ids, int threads) {
  std::vector<VariantId> usual;
  std::vector<std::pair<PlanChoice, Evaluation*>> planned;
  for (const VariantId& id : ids) {
    PlanChoice choice = choice_of(id);
    if (has_open_cut(request_, choice)) {  // its bounds hold for any cut that fits: only a simulation knows more
      find(id)->kind = Evaluation::Kind::kRefined;
    } else if (find_schedule(choice.schedule)->uses_costs) {
      planned.emplace_back(std::move(choice), find(id));
    } else {
      usual.push_back(id);
    }
  }
  make_all_step_costs(usual, threads);
  PlanWork closer;
  closer.here = [&](std::size_t k) {
    const PlanChoice choice = choice_of(usual[k]);
    refine(choice, patterns_.at(pattern_key(choice)), steps_.at(step_key(usual[k])), *find(usual[k]));
  };
  do_pieces(nullptr, usual.size(), threads, closer);
  PlanWork here_alone;
  here_alone.here = [&](std::size_t k) { refine_planned(request_, planned[k].first, *planned[k].second); };
  do_pieces(ranks_, planned.size(), threads, here_alone);
}

std::shared_ptr<const Scenario> PlanEvaluations::checked_of(const VariantId& id) const {
  const auto of_base = checked_.find(id.base);
  if (of_base == checked_.end()) return nullptr;
  const auto found = of_base->second.find(id.zero);
  return found == of_base->second.end() ? nullptr : found->second;
}

std::vector<VariantId> PlanEvaluations::memory_cuts_of(const std::vector<VariantId>& ids, int threads) {
  if (!space_.memory_cuts) return {};
  std::vector<VariantId> asked;                // whose cut may help
  std::vector<std::vector<VariantId>> groups;  // of one base and ZeRO stage: those not bounded before
  for (const VariantId& id : ids) {
    if (is_second_try(id)) continue;
    const Evaluation& one = *find(id);
    const bool too_large = one.kind == Evaluation::Kind::kTooLarge && one.memory_bound > 0;  // not the states alone
    if (!too_large && one.kind != Evaluation::Kind::kOutOfMemory) continue;
    if (!has_single_stages(patterns_.at(pattern_key(choice_of(id))))) continue;
    asked.push_back(id);
    if (!cut_may_fit_.try_emplace(id, false).second) continue;
    const bool same = !groups.empty() && groups.back().front().base == id.base && groups.back().front().zero == id.zero;
    if (!same) groups.emplace_back();
    groups.back().push_back(id);
  }
  std::vector<std::vector<std::optional<CutBound>>> found(groups.size());
  PlanWork here_alone;
  here_alone.here = [&](std::size_t k) {
    const VariantId& first = groups[k].front();
    const CutBounds bounds(request_, choice_of(first), checked_of(first));
    for (const VariantId& id : groups[k]) {
      const Pattern& pattern = patterns_.at(pattern_key(choice_of(id)));
      found[k].push_back(bounds.may_fit(pattern) ? std::optional(bounds.of(pattern)) : std::nullopt);
    }
  };
  do_pieces(ranks_, groups.size(), threads, here_alone);
  for (std::size_t k = 0; k < groups.size(); ++k) {
    for (std::size_t i = 0; i < groups[k].size(); ++i) {
      if (!found[k][i]) continue;
      cut_may_fit_[groups[k][i]] = true;
      const VariantId cut = with_memory_cut(space_, groups[k][i]);
      Evaluation& one = evaluations_[cut.base][cut];
      one.bound = found[k][i]->step;
      one.memory_bound = found[k][i]->memory;
    }
  }
  std::vector<VariantId> cuts;
  for (const VariantId& id : asked) {
    if (cut_may_fit_.at(id)) cuts.push_back(with_memory_cut(space_, id));
  }
  return cuts;
}

bool PlanEvaluations::may_recompute_more(const VariantId& id) {
  const PlanChoice choice = choice_of(id);
  if (id.base >= space_.bases.size() || (choice.recompute > 0 && id.blocks == 0)) return false;
  const Pattern& pattern = patterns_.at(pattern_key(choice));
  return lacks_room(*find(id)) && pattern.order && !pattern.order->planned;
}

std::vector<VariantId> PlanEvaluations::fewest_blocks_of(const std::vector<VariantId>& ids, int threads) {
  if (!space_.fewest_blocks) return {};
  std::vector<VariantId> asked;
  std::vector<std::vector<VariantId>> groups;  // of one base: those not bounded before
  for (const VariantId& id : ids) {
    if (!may_recompute_more(id)) continue;
    asked.push_back(id);
    if (!more_blocks_.try_emplace(id, 0).second) continue;
    if (groups.empty() || groups.back().front().base != id.base) groups.emplace_back();
    groups.back().push_back(id);
  }
  std::vector<std::vector<FewestBlocks>> found(groups.size());
  PlanWork here_alone;
  here_alone.here = [&](std::size_t k) {
    std::vector<PlanChoice> choices;
    for (const VariantId& id : groups[k]) choices.push_back(choice_of(id));
    found[k] = fewest_blocks(request_, std::move(choices), patterns_);
  };
  do_pieces(ranks_, groups.size(), threads, here_alone);
  for (std::size_t k = 0; k < groups.size(); ++k) {
    for (std::size_t i = 0; i < groups[k].size(); ++i) {
      VariantId id = groups[k][i];
      id.blocks = more_blocks_[id] = static_cast<std::uint16_t>(found[k][i].blocks);
      if (id.blocks > 0) evaluations_[id.base].try_emplace(id, std::move(found[k][i].bounds));
    }
  }
  std::vector<VariantId> more;
  for (VariantId id : asked) {
    id.blocks = more_blocks_.at(id);
    if (id.blocks > 0) more.push_back(id);
  }
  return more;
}

void PlanEvaluations::simulate_all(const std::vector<VariantId>& ids, const Interest& interest, int threads) {
  std::vector<std::pair<VariantId, Evaluation*>> fresh;
  for (const VariantId& id : ids) {
    Evaluation* one = find(id);
    if (one->kind == Evaluation::Kind::kRefined) fresh.emplace_back(id, one);
  }
  // The longest first, so that at the end no thread waits for one of them.
  const auto ops = [&](const VariantId& id) {
    const PlanChoice choice = choice_of(id);
    return std::int64_t{choice.pipeline} * choice.chunks * choice.microbatches;
  };
  std::stable_sort(fresh.begin(), fresh.end(),
                   [&](const auto& one, const auto& other) { return ops(one.first) > ops(other.first); });
  PlanWork work;
  work.here = [&](std::size_t k) { simulate_choice(request_, choice_of(fresh[k].first), *fresh[k].second, interest); };
  work.ask = [&](std::size_t k, live::MessageWriter& task) {
    ask_for(PlanTask::kSimulation, task);
    write(task, fresh[k].first);
    write(task, *fresh[k].second);
    write(task, interest);
  };
  work.take = [&](std::size_t k, live::MessageReader& done) {
    *fresh[k].second = live::read<Evaluation>(done);
    PlanChoice& choice = fresh[k].second->run.choice;
    std::string cut = std::move(choice.partition);  // a memory cut's layers, which the id does not have
    choice = choice_of(fresh[k].first);
    choice.partition = std::move(cut);
  };
  do_pieces(ranks_, fresh.size(), threads, work);
}

}  // namespace debubble
