#include "studies/plan/evaluations.hpp"

#include <string>
#include <utility>

#include "studies/parallel.hpp"

namespace debubble {

PlanEvaluations::PlanEvaluations(PlanRequest request, PlanSpace space)
    : request_(std::move(request)), space_(std::move(space)) {}

void PlanEvaluations::evaluate_bases(int threads, Progress& progress) {
  if (!bases_.empty()) return;
  progress.phase("modelling " + std::to_string(space_.bases.size()) + " ways to split the job");
  bases_.resize(space_.bases.size());
  for_each_index(bases_.size(), threads_for(bases_.size(), threads), [&](std::size_t k) {
    bases_[k] = evaluate_base(request_, space_.bases[k], space_.zeros_of(space_.bases[k]).back());
  });
}

PlanChoice PlanEvaluations::choice_of(const VariantId& id) const {
  PlanChoice choice = space_.bases[id.base];
  const PlanVariant& variant = space_.variants_of(choice)[id.variant];
  choice.schedule = variant.schedule;
  choice.chunks = variant.chunks;
  choice.params = variant.params;
  choice.zero = id.zero;
  return choice;
}

Evaluation* PlanEvaluations::find(const VariantId& id) {
  const auto found = evaluations_.find(id);
  return found == evaluations_.end() ? nullptr : &found->second;
}

std::vector<VariantId> PlanEvaluations::simulated() const {
  std::vector<VariantId> ids;
  for (const auto& [id, one] : evaluations_) {
    if (was_simulated(one)) ids.push_back(id);
  }
  return ids;
}

void PlanEvaluations::bound(const std::vector<VariantId>& ids, int threads) {
  std::vector<std::vector<VariantId>> groups;  // of one base and ZeRO stage
  for (const VariantId& id : ids) {
    if (find(id) != nullptr) continue;
    const bool same = !groups.empty() && groups.back().front().base == id.base && groups.back().front().zero == id.zero;
    if (!same) groups.emplace_back();
    groups.back().push_back(id);
  }
  std::vector<std::vector<PlanChoice>> choices(groups.size());
  for (std::size_t k = 0; k < groups.size(); ++k) {
    for (const VariantId& id : groups[k]) choices[k].push_back(choice_of(id));
  }
  make_patterns(choices, threads);
  std::vector<std::vector<Evaluation>> found(groups.size());
  for_each_index(groups.size(), threads_for(groups.size(), threads),
                 [&](std::size_t k) { found[k] = bounded(request_, choices[k], patterns_); });
  for (std::size_t k = 0; k < groups.size(); ++k) {
    for (std::size_t i = 0; i < groups[k].size(); ++i) evaluations_[groups[k][i]] = std::move(found[k][i]);
  }
}

void PlanEvaluations::make_patterns(const std::vector<std::vector<PlanChoice>>& groups, int threads) {
  std::map<PatternKey, PlanChoice> fresh;
  for (const std::vector<PlanChoice>& group : groups) {
    for (const PlanChoice& choice : group) {
      if (!patterns_.contains(pattern_key(choice))) fresh.emplace(pattern_key(choice), choice);
    }
  }
  std::vector<std::pair<const PlanChoice*, Pattern*>> work;
  for (const auto& [key, choice] : fresh) work.emplace_back(&choice, &patterns_[key]);
  for_each_index(work.size(), threads_for(work.size(), threads),
                 [&](std::size_t k) { *work[k].second = make_pattern(request_, *work[k].first); });
}

void PlanEvaluations::refine_all(const std::vector<VariantId>& ids, int threads) {
  std::vector<std::pair<PlanChoice, Evaluation*>> fresh;
  for (const VariantId& id : ids) fresh.emplace_back(choice_of(id), find(id));
  for_each_index(fresh.size(), threads_for(fresh.size(), threads),
                 [&](std::size_t k) { refine(request_, fresh[k].first, *fresh[k].second); });
}

void PlanEvaluations::simulate_all(const std::vector<VariantId>& ids, int threads) {
  std::vector<std::pair<PlanChoice, Evaluation*>> fresh;
  for (const VariantId& id : ids) {
    Evaluation* one = find(id);
    if (one->kind == Evaluation::Kind::kRefined) fresh.emplace_back(choice_of(id), one);
  }
  for_each_index(fresh.size(), threads_for(fresh.size(), threads),
                 [&](std::size_t k) { simulate_choice(request_, fresh[k].first, *fresh[k].second); });
}

}  // namespace debubble
