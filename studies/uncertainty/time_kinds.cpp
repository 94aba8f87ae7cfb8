#include "studies/uncertainty/time_kinds.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <memory>
#include <utility>

#include "cost_models/collectives/measured.hpp"
#include "cost_models/transformer/layer_cost.hpp"
#include "cost_models/transformer/tabled_time.hpp"
#include "scenario/job/model_profile.hpp"

namespace debubble {
namespace {

// Of a normal distribution: one error in ten is larger than 1.645 standard deviations.
double deviation(double tenth) { return tenth / 1.6449; }

double in_squares(double a, double b) { return std::sqrt(a * a + b * b); }

constexpr const char* kExpertsProducts = "experts' products in ";

struct KindTime {
  double time = 0;
  double scatter = 0;
};

class TimeKinds {
 public:
  TimeKinds(const Scenario& scenario, const Report& report)
      : scenario_(scenario), report_(report), tables_(kernel_tables_of(scenario)) {}

  std::vector<TimeKind> all() {
    const CriticalPath& path = report_.critical_path;
    const Nanoseconds optimizer = std::min(optimizer_time(), path.compute);
    add("passes over memory", static_cast<double>(optimizer), passes_scatter());
    add_layers(static_cast<double>(path.compute - optimizer));
    const bool machine_measured = measured_machine(graph_name()).has_value();
    add("transfers", static_cast<double>(path.transfer),
        machine_measured ? scatter::kMeasuredTransfers : scatter::kModelledCollectives);
    add_collective(Dimension::kData, static_cast<double>(path.collective));
    std::vector<TimeKind> kinds;
    for (const auto& [name, one] : found_) {
      if (one.time <= 0) continue;
      kinds.push_back({name, one.time / static_cast<double>(report_.makespan), deviation(one.scatter)});
    }
    return kinds;
  }

 private:
  // The optimizer holds the compute lane and is on the critical path as far as it does.
  [[nodiscard]] Nanoseconds optimizer_time() const {
    if (!report_.step) return 0;
    for (const StepPart& part : report_.step->parts) {
      if (part.kind == StepTask::Kind::kOptimizer) return part.exposed;
    }
    return 0;
  }

  [[nodiscard]] std::string graph_name() const {
    return scenario_.cluster.graph == nullptr ? std::string() : scenario_.cluster.graph->name;
  }

  void add(const std::string& name, double time, double scatter) {
    KindTime& one = found_[name];
    one.time += time;
    one.scatter = scatter;
  }

  // What layers do on the critical path is as all layers together: forward and backward of one microbatch.
  void add_layers(double time) {
    const std::vector<LayerCost> layers = modelled_layer_costs(scenario_);
    double whole = 0;
    for (const LayerCost& layer : layers) whole += layer_time(layer);
    if (whole <= 0) return;
    for (const LayerCost& layer : layers) {
      const double weight = static_cast<double>(layer.layers) * time / whole;
      for (const OpCost& cost : layer.ops) add_op(cost.op, static_cast<double>(cost.whole) * weight);
      add("launches by the host", static_cast<double>(layer.forward.launches + layer.backward.launches) * weight,
          scatter::kHost);
    }
  }

  // Of layers that are there twice, recomputing and not, both count: which stages have which is not asked.
  static double layer_time(const LayerCost& layer) {
    return static_cast<double>(layer.layers) * static_cast<double>(layer.forward.total + layer.backward.total);
  }

  void add_op(const LayerOp& op, double time) {
    if (time <= 0) return;
    switch (op.kind) {
      case LayerOp::Kind::kMatmul:
        return add_product(op, time);
      case LayerOp::Kind::kAttention:
        return add("attention", time, attention_scatter());
      case LayerOp::Kind::kElementwise:
        return add("passes over memory", time, passes_scatter());
      case LayerOp::Kind::kCollective:
        return add_layer_collective(op, time);
    }
  }

  void add_product(const LayerOp& op, double time) {
    const ProductKind kind = product_kind(op.format, op.recipe);
    const auto index = static_cast<std::size_t>(kind);
    std::string name = op.format == NumberFormat::kFp32 ? "fp32" : kProductKinds.at(index);
    const bool tabled = tables_ != nullptr && op.format != NumberFormat::kFp32 && !tables_->product(kind).empty();
    double error = tabled ? tables_->product(kind).error.tenth : scatter::kFormulas;
    if (!op.experts) return add("products in " + name, time, error);
    // Their own table's rows, where it has any, were compared with times that have the products' errors in them.
    if (tabled && tables_->grouped_error.at(index).rows > 0) error = tables_->grouped_error.at(index).tenth;
    add(kExpertsProducts + name, time, error);
  }

  // What the formulas add where no table is of this GPU.
  [[nodiscard]] double attention_scatter() const {
    const bool tabled = tables_ != nullptr && !tables_->attention.empty();
    return tabled ? scatter::kAttention : in_squares(scatter::kAttention, scatter::kFormulas);
  }

  [[nodiscard]] static double passes_scatter() { return scatter::kPasses; }

  // Where a flag says how they overlap, that is known; `on`, the default, may be what nobody asked for.
  void add_layer_collective(const LayerOp& op, double time) {
    const TrainingSetup& setup = *scenario_.transformer.setup;
    const bool tensor = setup.user_buffers.gathers || setup.user_buffers.sums || !setup.tensor_overlap;
    const bool says =
        op.group == Dimension::kExpert ? setup.exchange_overlap : op.group != Dimension::kTensor || tensor;
    const double open = says ? 0 : scatter::kOpenOverlap;
    if (sends_tokens(op.exchange.dispatch)) {
      return add("exchanges of tokens", time, in_squares(scatter::kTokenExchange, open));
    }
    add_collective(op.group, time, open);
  }

  // Within machines that were measured, or as NCCL's figures say.
  void add_collective(Dimension group, double time, double open = 0) {
    const int machine = alike_machine(scenario_.cluster.topology);
    const bool measured = measured_machine(graph_name()).has_value() && machine > 0 && reach_of(group) <= machine;
    const std::string whose = group == Dimension::kTensor ? "tensor ranks' collectives" : "collectives";
    add(whose + (measured ? " within machines" : " between machines"), time,
        in_squares(measured ? scatter::kMeasuredCollectives : scatter::kModelledCollectives, open));
  }

  // GPUs from the first to the last rank of a group, where ranks are laid out as usual.
  [[nodiscard]] std::int64_t reach_of(Dimension group) const {
    const Parallelism& sizes = scenario_.transformer.setup->parallel;
    std::int64_t reach = sizes.tensor;
    if (group == Dimension::kTensor) return reach;
    reach *= sizes.context;
    return group == Dimension::kContext ? reach : reach * sizes.data;
  }

  const Scenario& scenario_;
  const Report& report_;
  const std::shared_ptr<const KernelTables> tables_;
  std::map<std::string, KindTime> found_;
};

}  // namespace

bool have_experts(const std::vector<TimeKind>& kinds) {
  return std::any_of(kinds.begin(), kinds.end(),
                     [](const TimeKind& kind) { return kind.name.starts_with(kExpertsProducts); });
}

std::vector<TimeKind> time_kinds(const Scenario& scenario, const Report& report) {
  if (!scenario.transformer.setup || report.makespan <= 0) return {};
  return TimeKinds(scenario, report).all();
}

}  // namespace debubble
