#include "studies/plan/cells.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "studies/plan/choice.hpp"

namespace debubble {
namespace {

struct ChoiceDimension {
  const char* name;
  std::string (*of)(const PlanChoice&);
};

constexpr std::array<ChoiceDimension, 10> kChoiceDimensions{{
    {"tp", [](const PlanChoice& one) { return std::to_string(one.tensor); }},
    {"pp", [](const PlanChoice& one) { return std::to_string(one.pipeline); }},
    {"dp", [](const PlanChoice& one) { return std::to_string(one.data); }},
    {"microbatch", [](const PlanChoice& one) { return std::to_string(one.microbatch); }},
    {"chunks", [](const PlanChoice& one) { return std::to_string(one.chunks); }},
    {"schedule", [](const PlanChoice& one) { return one.schedule; }},
    {"recompute", [](const PlanChoice& one) { return std::string(kRecomputeWords[one.recompute]); }},
    {"zero", [](const PlanChoice& one) { return std::to_string(one.zero); }},
    {"cp", [](const PlanChoice& one) { return std::to_string(one.context); }},
    {"ep", [](const PlanChoice& one) { return std::to_string(one.expert); }},
}};

using PlaceInCells = std::array<std::size_t, kChoiceDimensions.size()>;

std::int64_t PlanCellCount::*standing(const Evaluation* one, bool legal_base) {
  if (!legal_base) return &PlanCellCount::illegal;
  if (one == nullptr) return &PlanCellCount::open;
  switch (one->kind) {
    case Evaluation::Kind::kIllegal:
    case Evaluation::Kind::kDeadlock:
      return &PlanCellCount::illegal;
    case Evaluation::Kind::kTooLarge:
    case Evaluation::Kind::kOutOfMemory:
      return &PlanCellCount::too_large;
    case Evaluation::Kind::kFits:
      return &PlanCellCount::fits;
    case Evaluation::Kind::kBounded:
    case Evaluation::Kind::kRefined:
      break;
  }
  return &PlanCellCount::open;
}

class CellCounter {
 public:
  explicit CellCounter(PlanEvaluations& evaluations) : evaluations_(evaluations) {}

  PlanCells count() {
    const PlanSpace& space = evaluations_.space();
    for (std::size_t base = 0; base < space.bases.size(); ++base) {
      const bool legal = evaluations_.base(base).legal;
      for (const VariantId& id : variants_of_base(space, base)) {
        add(id, legal);
        const VariantId cut = with_memory_cut(space, id);
        if (evaluations_.find(cut) != nullptr) add(cut, legal);
      }
    }
    keep_several();
    for (std::size_t down = 0; down < cells_.dimensions.size(); ++down) {
      for (std::size_t across = 0; across < down; ++across) cells_.pairs.push_back(pair_of(across, down));
    }
    return std::move(cells_);
  }

 private:
  void add(const VariantId& id, bool legal) {
    const PlanChoice choice = evaluations_.choice_of(id);
    PlaceInCells& place = places_.emplace_back();
    for (std::size_t k = 0; k < place.size(); ++k) {
      const auto [known, fresh] = numbers_[k].try_emplace(kChoiceDimensions[k].of(choice), numbers_[k].size());
      place[k] = known->second;
      if (fresh) values_[k].push_back(known->first);
    }
    standings_.push_back(standing(evaluations_.find(id), legal));
  }

  void keep_several() {
    for (std::size_t k = 0; k < kChoiceDimensions.size(); ++k) {
      if (values_[k].size() < 2) continue;
      kept_.push_back(k);
      cells_.dimensions.push_back({kChoiceDimensions[k].name, values_[k]});
    }
  }

  [[nodiscard]] CellPair pair_of(std::size_t across, std::size_t down) const {
    const std::size_t columns = values_[kept_[across]].size();
    CellPair pair{across, down, std::vector<PlanCellCount>(columns * values_[kept_[down]].size())};
    for (std::size_t k = 0; k < places_.size(); ++k) {
      ++(pair.cells[places_[k][kept_[down]] * columns + places_[k][kept_[across]]].*standings_[k]);
    }
    return pair;
  }

  PlanEvaluations& evaluations_;
  std::array<std::map<std::string, std::size_t>, kChoiceDimensions.size()> numbers_;
  std::array<std::vector<std::string>, kChoiceDimensions.size()> values_;
  std::vector<PlaceInCells> places_;
  std::vector<std::int64_t PlanCellCount::*> standings_;
  std::vector<std::size_t> kept_;
  PlanCells cells_;
};

}  // namespace

PlanCells count_cells(PlanEvaluations& evaluations) { return CellCounter(evaluations).count(); }

}  // namespace debubble
