#include "studies/planners/autoddl.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <utility>

#include "sim/core/at.hpp"
#include "sim/core/splitmix.hpp"
#include "studies/planners/params.hpp"

namespace debubble {

namespace {

constexpr std::array kSbpStrategies{SbpStrategy::kData, SbpStrategy::kColumn, SbpStrategy::kRow};
using ProductSignature = std::vector<SbpStrategy>;  // by dimension of the grid

enum class SbpState { kRows, kColumns, kWhole, kPartial };
using SbpStates = std::vector<SbpState>;

SbpState input_state(SbpStrategy strategy) {
  if (strategy == SbpStrategy::kData) return SbpState::kRows;
  return strategy == SbpStrategy::kColumn ? SbpState::kWhole : SbpState::kColumns;
}
SbpState output_state(SbpStrategy strategy) {
  if (strategy == SbpStrategy::kData) return SbpState::kRows;
  return strategy == SbpStrategy::kColumn ? SbpState::kColumns : SbpState::kPartial;
}
SbpState output_gradient_state(SbpStrategy strategy) {
  if (strategy == SbpStrategy::kData) return SbpState::kRows;
  return strategy == SbpStrategy::kColumn ? SbpState::kColumns : SbpState::kWhole;
}
SbpState input_gradient_state(SbpStrategy strategy) {
  if (strategy == SbpStrategy::kData) return SbpState::kRows;
  return strategy == SbpStrategy::kColumn ? SbpState::kPartial : SbpState::kColumns;
}

bool is_split(SbpState state) { return state == SbpState::kRows || state == SbpState::kColumns; }

// Elements per device, of a tensor of so many, on p devices.
double change_volume(SbpState from, SbpState to, int p, double elements) {
  if (from == to || from == SbpState::kWhole) return 0;
  const double share = static_cast<double>(p - 1) / p;
  if (from == SbpState::kPartial) return (to == SbpState::kWhole ? 2 : 1) * share * elements;
  return to == SbpState::kWhole ? share * elements : share / p * elements;
}

template <typename StateOf>
SbpStates states_of(const ProductSignature& signature, const StateOf& state_of) {
  SbpStates states;
  for (const SbpStrategy strategy : signature) states.push_back(state_of(strategy));
  return states;
}

class SbpModel {
 public:
  SbpModel(const std::vector<PlannerProduct>& products, const std::vector<int>& grid)
      : products_(products), grid_(grid) {
    signatures_ = {{}};
    for (std::size_t dimension = 0; dimension < grid.size(); ++dimension) {
      std::vector<ProductSignature> longer;
      for (const ProductSignature& signature : signatures_) {
        for (const SbpStrategy strategy : kSbpStrategies) {
          longer.push_back(signature);
          longer.back().push_back(strategy);
        }
      }
      signatures_ = std::move(longer);
    }
  }

  [[nodiscard]] const std::vector<ProductSignature>& signatures() const { return signatures_; }

  // Of the product alone: the sum of its weights' gradients.
  [[nodiscard]] double own(std::size_t product, const ProductSignature& signature) const {
    SbpStates weights = states_of(signature, [](SbpStrategy strategy) {
      if (strategy == SbpStrategy::kData) return SbpState::kPartial;
      return strategy == SbpStrategy::kColumn ? SbpState::kColumns : SbpState::kRows;
    });
    SbpStates after = weights;
    for (SbpState& state : after) {
      if (state == SbpState::kPartial) state = SbpState::kWhole;
    }
    const PlannerProduct& shape = products_[product];
    return change(std::move(weights), after, static_cast<double>(shape.in) * static_cast<double>(shape.out));
  }
  // Rows arrive split, and leave split; so does the gradient.
  [[nodiscard]] double entry(const ProductSignature& signature) const {
    return change(rows(), states_of(signature, input_state), elements_in(0));
  }
  [[nodiscard]] double exit(const ProductSignature& signature) const {
    const PlannerProduct& last = products_.back();
    const double elements = static_cast<double>(last.rows) * static_cast<double>(last.out);
    return change(states_of(signature, output_state), rows(), elements) +
           change(rows(), states_of(signature, output_gradient_state), elements);
  }
  // Between this product and the next.
  [[nodiscard]] double between(std::size_t product, const ProductSignature& here, const ProductSignature& next) const {
    const double elements = elements_in(product + 1);
    return change(states_of(here, output_state), states_of(next, input_state), elements) +
           change(states_of(next, input_gradient_state), states_of(here, output_gradient_state), elements);
  }

 private:
  [[nodiscard]] SbpStates rows() const { return SbpStates(grid_.size(), SbpState::kRows); }
  [[nodiscard]] double elements_in(std::size_t product) const {
    return static_cast<double>(products_[product].rows) * static_cast<double>(products_[product].in);
  }
  // A dimension moves what the other dimensions' splits leave on a device.
  [[nodiscard]] double change(SbpStates from, const SbpStates& to, double elements) const {
    double volume = 0;
    for (std::size_t dimension = 0; dimension < grid_.size(); ++dimension) {
      double local = elements;
      for (std::size_t other = 0; other < grid_.size(); ++other) {
        if (other != dimension && is_split(from[other])) local /= grid_[other];
      }
      volume += change_volume(from[dimension], to[dimension], grid_[dimension], local);
      from[dimension] = to[dimension];
    }
    return volume;
  }

  const std::vector<PlannerProduct>& products_;
  const std::vector<int>& grid_;
  std::vector<ProductSignature> signatures_;
};

double volume_of(const SbpModel& model, const SbpSignatures& signatures) {
  double volume = model.entry(signatures.front()) + model.exit(signatures.back());
  for (std::size_t product = 0; product < signatures.size(); ++product) {
    volume += model.own(product, signatures[product]);
    if (product + 1 < signatures.size()) volume += model.between(product, signatures[product], signatures[product + 1]);
  }
  return volume;
}

SbpPlan descend(const SbpModel& model, SbpSignatures signatures) {
  SbpPlan best{volume_of(model, signatures), std::move(signatures)};
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t product = 0; product < best.signatures.size(); ++product) {
      for (const ProductSignature& signature : model.signatures()) {
        SbpSignatures other = best.signatures;
        other[product] = signature;
        const double volume = volume_of(model, other);
        if (volume >= best.volume * (1 - 1e-12)) continue;
        best = {volume, std::move(other)};
        changed = true;
      }
    }
  }
  return best;
}

// One dimension, or two whose sizes multiply to the devices, the larger first.
std::vector<std::vector<int>> grids_of(int devices) {
  std::vector<std::vector<int>> grids{{devices}};
  for (int second = 2; second * second <= devices; ++second) {
    if (devices % second == 0) grids.push_back({devices / second, second});
  }
  return grids;
}

SbpPlan best_descent(const SbpModel& model, std::size_t products, int restarts, std::uint64_t seed) {
  SbpPlan best{std::numeric_limits<double>::infinity(), {}};
  const auto keep = [&](SbpPlan plan) {
    if (plan.volume < best.volume) best = std::move(plan);
  };
  // The best uniform signature, as published; mended: every uniform one, then draws.
  SbpPlan uniform{std::numeric_limits<double>::infinity(), {}};
  for (const ProductSignature& signature : model.signatures()) {
    SbpSignatures all(products, signature);
    if (restarts > 0) keep(descend(model, all));
    const double volume = volume_of(model, all);
    if (volume < uniform.volume) uniform = {volume, std::move(all)};
  }
  if (restarts == 0) keep(descend(model, uniform.signatures));  // the others have begun there, too
  for (int restart = 0; restart < restarts; ++restart) {
    SbpSignatures drawn;
    for (std::size_t product = 0; product < products; ++product) {
      seed = splitmix64(seed);
      drawn.push_back(model.signatures()[seed % model.signatures().size()]);
    }
    keep(descend(model, std::move(drawn)));
  }
  return best;
}

std::string signature_text(const ProductSignature& signature) {
  std::string text;
  for (const SbpStrategy strategy : signature) text += (text.empty() ? "" : " x ") + std::string(to_string(strategy));
  return text;
}

PlannerDecision decide_autoddl(const PlannerJob& job, const PlannerRequest& request) {
  if (job.products.empty()) {
    not_for_planner("autoddl", "it decides how matrix products are split, and the job tells of none",
                    "give a modelled transformer, or a profile that tells its transformer's sizes");
  }
  if (job.products.size() > 200) {
    not_for_planner("autoddl", "more than 200 products are too many for it", "give the products of one layer");
  }
  for (const PlannerProduct& product : job.products) {
    if (product.rows < 1 || product.in < 1 || product.out < 1) {
      not_for_planner("autoddl", "product \"" + product.name + "\" has no size", "give rows, in and out of 1 or more");
    }
  }
  const int restarts = planner_count(request, "restarts", request.as_published ? 0 : 20, 0, 10000);
  const int seed = planner_count(request, "seed", 1, 0, 1000000000);
  PlannerDecision decision;
  decision.predicted = std::numeric_limits<double>::infinity();
  for (const std::vector<int>& grid : grids_of(job.device_count())) {
    const SbpModel model(job.products, grid);
    const SbpPlan plan = best_descent(model, job.products.size(), restarts, static_cast<std::uint64_t>(seed));
    if (plan.volume >= decision.predicted) continue;
    decision.predicted = plan.volume;
    decision.choices = {
        {"grid", std::to_string(grid.front()) + (grid.size() > 1 ? " x " + std::to_string(grid[1]) : "")}};
    for (std::size_t i = 0; i < job.products.size(); ++i) {
      decision.choices.emplace_back(job.products[i].name, signature_text(plan.signatures[i]));
    }
  }
  decision.unit = "elements moved per device and step";
  decision.notes.emplace_back("it splits operators, not layers: its decision has no stages");
  return decision;
}

}  // namespace

const char* to_string(SbpStrategy strategy) { return at(std::array{"data", "column", "row"}, strategy); }

double sbp_volume(const std::vector<PlannerProduct>& products, const std::vector<int>& grid,
                  const SbpSignatures& signatures) {
  return volume_of(SbpModel(products, grid), signatures);
}

SbpPlan sbp_descent(const std::vector<PlannerProduct>& products, const std::vector<int>& grid, SbpSignatures from) {
  return descend(SbpModel(products, grid), std::move(from));
}

SbpPlan sbp_optimum(const std::vector<PlannerProduct>& products, const std::vector<int>& grid) {
  const SbpModel model(products, grid);
  const auto& all = model.signatures();
  std::vector<SbpPlan> best;  // by the last product's signature
  for (const ProductSignature& signature : all) {
    best.push_back({model.entry(signature) + model.own(0, signature), {signature}});
  }
  for (std::size_t product = 1; product < products.size(); ++product) {
    std::vector<SbpPlan> longer;
    for (const ProductSignature& signature : all) {
      SbpPlan least{std::numeric_limits<double>::infinity(), {}};
      for (std::size_t i = 0; i < all.size(); ++i) {
        const double volume =
            best[i].volume + model.between(product - 1, all[i], signature) + model.own(product, signature);
        if (volume < least.volume) least = {volume, best[i].signatures};
      }
      least.signatures.push_back(signature);
      longer.push_back(std::move(least));
    }
    best = std::move(longer);
  }
  for (std::size_t i = 0; i < all.size(); ++i) best[i].volume += model.exit(all[i]);
  return *std::min_element(best.begin(), best.end(),
                           [](const SbpPlan& one, const SbpPlan& other) { return one.volume < other.volume; });
}

const PlannerEntry& autoddl_planner() {
  static const PlannerEntry entry{
      .name = "autoddl",
      .summary = "how each matrix product is split over a grid of devices: by rows, columns or data",
      .objective = "least elements moved per device and step",
      .cost_model =
          "per tensor and dimension of the grid, on p devices of T elements: all-gather or reduce-scatter (p-1)/p T, "
          "all-reduce twice that, change of axis (p-1)/p^2 T; forward, backward and weights' gradients",
      .assumes = "a chain of products; rows arrive and leave split; compute divides evenly; all links are equal",
      .published =
          "none known to us as signatures: 31.1 % and 10 % for Transformer, 17.7 % and 71.5 % for VGG (abstract)",
      .faults =
          "coordinate descent from the best uniform signature can get stuck, as it does from all-data on a plain "
          "two-layer network; corrected, it descends from every uniform signature and from random ones",
      .certainty = PlannerCertainty::kDerived,
      .certainty_note =
          "from the abstracts and OneFlow's table of signatures; the model gives separately computed volumes, and "
          "descent with restarts finds the optimum of exact dynamic programming on random chains",
      .params = {{"restarts", "0..10000", "20 (as published 0)", "descents from drawn signatures"},
                 {"seed", "0..1000000000", "1", "of the draws"}},
      .advice =
          "Ask it how to split the products of one layer: it does not decide stages. Column then row is Megatron-LM's "
          "tensor parallelism.",
      .citation =
          "Chen et al., AutoDDL: Automatic Distributed Deep Learning with Near-Optimal Bandwidth Cost, arXiv "
          "2301.06813",
      .decide = decide_autoddl};
  return entry;
}

}  // namespace debubble
