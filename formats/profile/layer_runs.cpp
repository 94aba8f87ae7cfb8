#include "formats/profile/layer_runs.hpp"

#include "sim/core/numbers.hpp"

namespace debubble {
namespace {

constexpr std::size_t kMostDigits = 9;

// Where the digits at the end of the name begin.
std::size_t number_begin(std::string_view name) {
  const std::size_t last_other = name.find_last_not_of("0123456789");
  return last_other == std::string_view::npos ? 0 : last_other + 1;
}

bool equal_but_for_name(const ProfileLayer& left, const ProfileLayer& right) {
  return left.kind == right.kind && left.forward == right.forward && left.backward == right.backward &&
         left.input_grad == right.input_grad && left.weight_grad == right.weight_grad &&
         left.activation == right.activation && left.weight_grad_held == right.weight_grad_held &&
         left.output == right.output && left.parameters == right.parameters && left.workspace == right.workspace &&
         left.grad_split == right.grad_split && left.kernels == right.kernels;
}

}  // namespace

std::optional<std::int64_t> trailing_number(std::string_view name) {
  const std::string_view digits = name.substr(number_begin(name));
  if (digits.empty() || digits.size() > kMostDigits || (digits.size() > 1 && digits.front() == '0')) return {};
  return read_whole<std::int64_t>(digits);
}

std::string numbered_on(std::string_view name, std::size_t steps) {
  if (steps == 0) return std::string(name);
  const std::int64_t number = trailing_number(name).value_or(0) + static_cast<std::int64_t>(steps);
  return std::string(name.substr(0, number_begin(name))) + std::to_string(number);
}

void append_run(const LayerRun& run, std::vector<ProfileLayer>& layers) {
  for (std::size_t step = 0; step < run.count; ++step) {
    layers.push_back(run.first);
    layers.back().name = numbered_on(run.first.name, step);
  }
}

LayerRun run_at(const std::vector<ProfileLayer>& layers, std::size_t begin) {
  LayerRun run{layers[begin], 1};
  if (!trailing_number(run.first.name)) return run;
  for (std::size_t next = begin + 1; next < layers.size(); ++next) {
    const bool follows = layers[next].name == numbered_on(run.first.name, run.count);
    if (!follows || !equal_but_for_name(layers[next], run.first)) break;
    ++run.count;
  }
  return run;
}

}  // namespace debubble
