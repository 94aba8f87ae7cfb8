#include "formats/megatron/pipeline_cut.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "sim/core/error.hpp"
#include "sim/core/layout_letters.hpp"

namespace debubble {
namespace {

constexpr std::int64_t kMostWrittenOut = 100'000;  // layers and stages

// How many layers each rank has, and which of the ends count as layers.
struct LayersOfRanks {
  std::vector<std::int64_t> ranks;
  bool embedding = false;
  bool loss = false;
};

// Nothing: that does not divide.
std::optional<std::string> letters_of(const LayersOfRanks& layers, std::int64_t chunks, std::int64_t predicted) {
  std::vector<std::string> stages;
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
    for (std::size_t rank = 0; rank < layers.ranks.size(); ++rank) {
      std::int64_t size = layers.ranks[rank] / chunks;
      const bool first = chunk == 0 && rank == 0;
      const bool last = chunk + 1 == chunks && rank + 1 == layers.ranks.size();
      size -= (first && layers.embedding ? 1 : 0) + (last && layers.loss ? 1 : 0);
      if (layers.ranks[rank] % chunks != 0 || size < 0) return std::nullopt;
      stages.emplace_back(static_cast<std::size_t>(size), 't');
    }
  }
  stages.front().insert(0, "E");
  stages.back() += std::string(static_cast<std::size_t>(predicted), 'm') + "L";
  return layout_text(std::move(stages));
}

}  // namespace

std::int64_t megatron_chunks(const MegatronChunkArguments& given) {
  if (given.stages_of_rank) return *given.stages_of_rank;
  const std::int64_t each = given.layers_of_stage.value_or(0);
  return each > 0 && given.ranks > 0 ? given.layers / given.ranks / each : 1;
}

MegatronCut megatron_cut(MegatronArguments& in, std::int64_t layers, std::int64_t ranks, const std::string& own) {
  MegatronCut cut;
  const auto first = in.number("decoder-first-pipeline-num-layers");
  const auto last = in.number("decoder-last-pipeline-num-layers");
  LayersOfRanks of{
      {}, in.flag("account-for-embedding-in-pipeline-split"), in.flag("account-for-loss-in-pipeline-split")};
  const std::int64_t counted = layers + (of.embedding ? 1 : 0) + (of.loss ? 1 : 0);
  cut.chunks =
      std::max<std::int64_t>(1, megatron_chunks({counted, ranks, in.number("num-layers-per-virtual-pipeline-stage"),
                                                 in.count("num-virtual-stages-per-pipeline-rank")}));
  if (const auto layout = in.word("pipeline-model-parallel-layout")) {
    cut.partition = *layout;
    try {
      cut.chunks = std::max<std::int64_t>(1, static_cast<std::int64_t>(layout_letters(*layout).size()) / ranks);
    } catch (const InputError& error) {
      in.find("--pipeline-model-parallel-layout " + *layout + ": " + error.diagnostics().front().message);
    }
    return cut;
  }
  if (ranks < 2) return {};
  const bool uneven = first || last;
  const auto deepspeed = in.word("pp-partition-method");
  if (!uneven && !of.embedding && !of.loss) {
    const bool engine = (in.flag("deepspeed") || deepspeed) && !in.flag("no-pipeline-parallel");
    // Megatron-DeepSpeed hands its layers to PipelineModule.
    if (!own.empty()) {
      cut.partition = own;
    } else if (engine) {
      cut.partition = "deepspeed:" + deepspeed.value_or("type:transformer");
    } else if (counted % (ranks * cut.chunks) == 0) {
      cut.partition = "even";
    } else {
      in.find(std::to_string(counted) + " layers do not fall evenly on " + std::to_string(ranks * cut.chunks) +
              " stages: the partition is chosen by cost; write --partition a,b,c to set it");
    }
    return cut;
  }
  const std::int64_t middle = uneven ? layers - first.value_or(0) - last.value_or(0) : counted;
  const std::int64_t sharing = ranks - (first ? 1 : 0) - (last ? 1 : 0);
  const std::int64_t predicted = in.number_or_default("mtp-num-layers");
  const bool few =
      std::max({ranks * cut.chunks, layers, first.value_or(0), last.value_or(0), predicted}) <= kMostWrittenOut;
  std::optional<std::string> letters;
  if (few && middle >= 0 && (sharing == 0 ? middle == 0 : middle % sharing == 0)) {
    of.ranks.assign(static_cast<std::size_t>(ranks), sharing == 0 ? 0 : middle / sharing);
    if (first) of.ranks.front() = *first;
    if (last) of.ranks.back() = *last;
    letters = letters_of(of, cut.chunks, predicted);
  }
  if (!letters) {
    in.find(
        "the layers of the first and last stages leave no even rest: the partition is chosen by cost; write "
        "--partition a,b,c to set it");
    return cut;
  }
  cut.partition = *letters;
  return cut;
}

}  // namespace debubble
