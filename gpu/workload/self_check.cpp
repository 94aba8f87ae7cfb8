#include "gpu/workload/self_check.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "gpu/workload/layers.hpp"
#include "gpu/workload/real_numbers.hpp"
#include "gpu/workload/reference.hpp"
#include "sim/core/model_presets.hpp"

namespace debubble {
namespace {

// Roundings to the data type pile up along the chain of a block, and more so along several; sums in fp32 add theirs.
double tolerance_of(DataType type) {
  constexpr double kRoundings = 64;
  constexpr double kSums = 200;
  return kRoundings * unit_roundoff(type) + kSums * unit_roundoff(DataType::kFp32);
}

struct Case {
  std::string name;  // "gpt, tp 2"
  TransformerShape shape;
  Shard shard;
  bool whole;  // a half alone makes sums that no model has, such as rows of zeros where another device has the token
};

std::vector<Case> cases(DataType type) {
  std::vector<Case> result;
  for (const std::int64_t parts : {1, 2}) {
    for (const char* preset : {"tiny-gpt", "tiny-llama"}) {
      const TransformerShape shape = model_preset(preset);
      const WorkloadSize size{2, 20, parts, type};
      result.push_back(
          {std::string(preset).substr(5) + ", tp " + std::to_string(parts), shape, shard_of(shape, size), parts == 1});
    }
  }
  return result;
}

NumberMap downloaded_numbers(WorkDevice& device, const LayerBuffers& buffers) {
  NumberMap numbers;
  for (const LayerBuffer& buffer : buffers.all()) {
    if (buffer.purpose != Purpose::kScratch) numbers[buffer.name] = download_buffer(device, buffers, buffer);
  }
  return numbers;
}

// What a layer computes; the rest of its buffers is given or only used within.
bool is_result(const LayerBuffer& buffer) {
  return buffer.purpose == Purpose::kOutput || buffer.purpose == Purpose::kInputGrad ||
         buffer.purpose == Purpose::kGradient;
}

class KernelChecker {
 public:
  KernelChecker(WorkDevice& device, DataType type, std::vector<NumberCheck>& checks)
      : device_(device), tolerance_(tolerance_of(type)), checks_(checks) {}

  // Weight gradients have been added up `times`.
  void compare(const std::string& what, const LayerBuffers& buffers, const NumberMap& right, double times) {
    for (const LayerBuffer& buffer : buffers.all()) {
      if (!is_result(buffer)) continue;
      Numbers expected = right.at(buffer.name);
      if (buffer.purpose == Purpose::kGradient) {
        for (double& number : expected) number *= times;
      }
      NumberCheck check;
      check.what = what + ": " + buffer.name;
      check.error = largest_error(download_buffer(device_, buffers, buffer), expected);
      check.tolerance = tolerance_;
      check.ok = check.error <= check.tolerance;
      checks_.push_back(std::move(check));
    }
  }

  // Two microbatches, so that gradients are seen to add up.
  void check_layer(const std::string& what, BufferedLayer& layer, const std::function<void(NumberMap&)>& reference) {
    NumberMap numbers = downloaded_numbers(device_, layer.buffers());
    for (int microbatch = 0; microbatch < 2; ++microbatch) {
      for (const Pass pass : {Pass::kForward, Pass::kInputGrad, Pass::kWeightGrad}) layer.run(pass);
    }
    reference(numbers);
    compare(what, layer.buffers(), numbers, 2);
  }

 private:
  WorkDevice& device_;
  double tolerance_;
  std::vector<NumberCheck>& checks_;
};

void check_embedding(WorkDevice& device, const Case& item, KernelChecker& checker) {
  checker.check_layer(item.name + " embedding", *make_embedding(device, item.shard, 1),
                      [&](NumberMap& numbers) { reference_embedding(item.shard, numbers); });
}

void check_block(WorkDevice& device, const Case& item, KernelChecker& checker) {
  const double base = item.shape.rotary_base;
  const RotaryTable rotary(device, item.shard, base);
  checker.check_layer(item.name + " block", *make_block(device, item.shard, rotary, 2),
                      [&](NumberMap& numbers) { reference_block(item.shard, base, numbers); });
}

void check_head(WorkDevice& device, const Case& item, KernelChecker& checker) {
  checker.check_layer(item.name + " head", *make_head(device, item.shard, 3),
                      [&](NumberMap& numbers) { reference_head(item.shard, numbers); });
}

// Embedding, two blocks and head, each with its own numbers, linked by copies.
//
//     F: y -> x of the next     I: dx -> dy of the one before
class Stack {
 public:
  Stack(WorkDevice& device, const Case& item)
      : device_(device), item_(item), rotary_(device, item.shard, item.shape.rotary_base) {
    layers_.push_back(make_embedding(device, item.shard, 11));
    layers_.push_back(make_block(device, item.shard, rotary_, 12'000));
    layers_.push_back(make_block(device, item.shard, rotary_, 13'000));
    layers_.push_back(make_head(device, item.shard, 14));
  }

  void check(KernelChecker& checker) {
    std::vector<NumberMap> numbers;
    for (const auto& layer : layers_) numbers.push_back(downloaded_numbers(device_, layer->buffers()));
    run();
    compute(numbers);
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      checker.compare(item_.name + " model, layer " + std::to_string(i), layers_[i]->buffers(), numbers[i], 1);
    }
  }

 private:
  void copy(std::size_t from, const char* source, std::size_t to, const char* target) {
    const LayerBuffer& buffer = layers_[from]->buffers().find(source);
    std::vector<char> bytes(static_cast<std::size_t>(layers_[from]->buffers().bytes(buffer)));
    device_.download(bytes.data(), buffer.data, static_cast<Bytes>(bytes.size()));
    device_.upload(layers_[to]->buffers().find(target).data, bytes.data(), static_cast<Bytes>(bytes.size()));
  }

  void run() {
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      if (i > 0) copy(i - 1, "y", i, "x");
      layers_[i]->run(Pass::kForward);
    }
    for (std::size_t i = layers_.size(); i-- > 0;) {
      layers_[i]->run(Pass::kInputGrad);
      if (i > 0) copy(i, "dx", i - 1, "dy");
    }
    for (const auto& layer : layers_) layer->run(Pass::kWeightGrad);
  }

  void compute_layer(std::size_t index, std::vector<NumberMap>& numbers) const {
    if (index == 0) return reference_embedding(item_.shard, numbers[index]);
    if (index + 1 == numbers.size()) return reference_head(item_.shard, numbers[index]);
    reference_block(item_.shard, item_.shape.rotary_base, numbers[index]);
  }

  // Forward through all layers (with gradients that mean nothing yet), then backward.
  void compute(std::vector<NumberMap>& numbers) const {
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if (i > 0) numbers[i]["x"] = numbers[i - 1]["y"];
      compute_layer(i, numbers);
    }
    for (std::size_t i = numbers.size() - 1; i-- > 0;) {
      numbers[i]["dy"] = numbers[i + 1]["dx"];
      compute_layer(i, numbers);
    }
  }

  WorkDevice& device_;
  const Case& item_;
  RotaryTable rotary_;
  std::vector<std::unique_ptr<BufferedLayer>> layers_;
};

void check_stack(WorkDevice& device, const Case& item, KernelChecker& checker) {
  if (item.whole) Stack(device, item).check(checker);
}

}  // namespace

double largest_error(const std::vector<double>& found, const std::vector<double>& right) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  if (found.size() != right.size()) return kInfinite;
  double squares = 0;
  double largest = 0;
  for (std::size_t i = 0; i < right.size(); ++i) {
    if (!std::isfinite(found[i]) || !std::isfinite(right[i])) return kInfinite;
    squares += right[i] * right[i];
    largest = std::max(largest, std::abs(found[i] - right[i]));
  }
  return squares == 0 ? largest : largest / std::sqrt(squares / static_cast<double>(right.size()));
}

std::vector<NumberCheck> check_workload(WorkDevice& device, DataType type, bool stop_at_failure) {
  std::vector<NumberCheck> checks;
  KernelChecker checker(device, type, checks);
  for (const Case& item : cases(type)) {
    for (const auto step : {check_embedding, check_block, check_head, check_stack}) {
      if (!stop_at_failure || all_ok(checks)) step(device, item, checker);
    }
  }
  return checks;
}

bool all_ok(std::span<const NumberCheck> checks) {
  return std::all_of(checks.begin(), checks.end(), [](const NumberCheck& check) { return check.ok; });
}

}  // namespace debubble
