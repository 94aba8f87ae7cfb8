#include "studies/explain/cost_trials.hpp"

#include <functional>
#include <utility>

#include "formats/exporters/report_json.hpp"
#include "scenario/check_scenario.hpp"
#include "scenario/job/model_profile.hpp"
#include "sim/core/error.hpp"
#include "studies/simulate/simulate.hpp"

namespace debubble {
namespace {

CostTrial cost_trial(std::string name, std::string what, std::string flags = "") {
  CostTrial trial;
  trial.name = std::move(name);
  trial.what = std::move(what);
  trial.flags = std::move(flags);
  return trial;
}

class CostTrials {
 public:
  CostTrials(const ScenarioFlags& flags, const Scenario& scenario, const std::string& schedule, const Report& base)
      : flags_(flags), scenario_(scenario), setup_(*scenario.transformer.setup), schedule_(schedule), base_(base) {}

  std::vector<CostTrial> all() {
    add_fusion();
    add_formats();
    add_host();
    add_collectives();
    add_sparsity();
    return std::move(trials_);
  }

 private:
  // A row of its own in the table, whatever comes of it.
  void add(CostTrial trial, const std::function<Scenario()>& make) {
    try {
      NoProgress silent;
      const Report report = simulate(make(), schedule_, silent).result.report;
      if (has_result(report)) {
        trial.step = report.makespan;
        trial.change = static_cast<double>(report.makespan) / static_cast<double>(base_.makespan) - 1;
        trial.fits = !report.memory_fit || report.memory_fit->spare >= 0;
      } else {
        trial.refusal = "the schedule does not run to its end then";
      }
    } catch (const InputError& error) {
      trial.refusal = error.diagnostics().front().message;
    }
    trials_.push_back(std::move(trial));
  }

  // The same job with other costs, which no flag asks for.
  void add_changed(CostTrial trial, const std::function<void(TrainingSetup&)>& change) {
    trial.upper_bound = true;
    add(std::move(trial), [&] {
      Scenario changed = scenario_;
      change(*changed.transformer.setup);
      set_modelled_profile(changed);
      return changed;
    });
  }

  void add_asked(CostTrial trial, const std::function<void(TransformerFlags&)>& change) {
    add(std::move(trial), [&] {
      ScenarioFlags flags = flags_;
      change(flags.transformer);
      return check_scenario(flags);
    });
  }

  void add_fusion() {
    add_changed(cost_trial("fused-passes", "passes over memory inside the kernels before them"),
                [](TrainingSetup& setup) {
                  setup.change.fused_passes = true;
                  setup.fused_loss = true;
                  setup.fused_accumulation = true;
                });
    if (setup_.flash_attention) return;
    add_asked(cost_trial("flash-attention", "attention in one kernel: no scores in memory", "--attention flash"),
              [](TransformerFlags& flags) { flags.attention = "flash"; });
  }

  void add_formats() {
    const auto add_format = [&](NumberFormat format, const std::string& what) {
      const std::string word = to_string(format);
      add_asked(cost_trial("dtype-" + word, what, "--dtype " + word), [&](TransformerFlags& flags) {
        flags.dtype = word;
        if (format != NumberFormat::kFp8) {
          flags.fp8_recipe.clear();
          flags.fp8_weights.clear();
        }
      });
    };
    if (setup_.compute == NumberFormat::kFp32) add_format(NumberFormat::kBf16, "products in 16 bits");
    if (setup_.compute != NumberFormat::kFp8) {
      add_format(NumberFormat::kFp8, "products in 8 bits");
    } else {
      add_format(NumberFormat::kBf16, "products in 16 bits, a wider format");
    }
  }

  void add_host() {
    if (scenario_.transformer.cuda_graphs) return;
    add_asked(cost_trial("cuda-graphs", "kernels from CUDA graphs: the host is never late", "--cuda-graphs on"),
              [](TransformerFlags& flags) {
                flags.cuda_graphs = "on";
                flags.host_launch.clear();
              });
  }

  void add_collectives() {
    if (base_.inside_collectives == 0) return;
    add_changed(cost_trial("free-collectives", "collectives inside layers all hidden"),
                [](TrainingSetup& setup) { setup.change.free_collectives = true; });
  }

  void add_sparsity() {
    const char* const what = "2:4 sparse weights: F and I products with them at twice the rate";
    if (modelled_hardware(scenario_).structured_sparsity) {
      add_changed(cost_trial("sparse-weights", what), [](TrainingSetup& setup) { setup.change.sparse_weights = true; });
      return;
    }
    trials_.push_back(cost_trial("sparse-weights", what));
    trials_.back().upper_bound = true;
    trials_.back().refusal = modelled_hardware(scenario_).name + " has no units for 2:4 sparsity";
  }

  const ScenarioFlags& flags_;
  const Scenario& scenario_;
  const TrainingSetup& setup_;
  const std::string& schedule_;
  const Report& base_;
  std::vector<CostTrial> trials_;
};

}  // namespace

std::vector<CostTrial> cost_trials(const ScenarioFlags& flags, const Scenario& scenario, const std::string& schedule,
                                   const Report& base) {
  return CostTrials(flags, scenario, schedule, base).all();
}

}  // namespace debubble
