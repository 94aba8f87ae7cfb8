#include "tests/plan/random_plan.hpp"

#include <array>
#include <fstream>
#include <initializer_list>
#include <string>

#include "formats/profile/profile_json.hpp"
#include "schedules/catalog.hpp"

namespace debubble::testing {
namespace {

using Words = std::initializer_list<const char*>;

std::string one_of(Dice& dice, Words words) {
  return *(words.begin() + dice.from(0, static_cast<int>(words.size()) - 1));
}

int one_of(Dice& dice, std::initializer_list<int> numbers) {
  return *(numbers.begin() + dice.from(0, static_cast<int>(numbers.size()) - 1));
}

std::string number(int value) { return std::to_string(value); }

void choose_model(Dice& dice, TransformerFlags& flags) {
  const int heads = one_of(dice, {2, 3, 4, 6, 8, 12, 16});
  const int head_size = one_of(dice, {16, 32, 64, 128});
  const bool llama = dice.once_in(2);
  flags.model = llama ? "llama" : "gpt";
  flags.model_size =
      "layers=" + number(dice.from(1, 20)) + ",heads=" + number(heads) + ",hidden=" + number(heads * head_size) +
      ",feed_forward=" + number(heads * head_size * dice.from(1, 4)) + ",vocabulary=" + number(dice.from(1, 60) * 1024);
  flags.sequence = one_of(dice, {128, 256, 512, 1024, 2048, 4096});
  if (!llama) flags.model_size += ",positions=4096";
  if (llama) flags.model_size += ",kv_heads=" + number(dice.once_in(2) ? heads : 1);
  if (llama && dice.once_in(3)) {
    flags.model_size +=
        ",experts=" + number(one_of(dice, {4, 8, 16})) + ",experts_per_token=" + number(dice.from(1, 4));
  }
  flags.hardware = one_of(dice, {"v100", "a100-40", "a100-80", "h100", "h200", "b200"});
  flags.dtype = one_of(dice, {"", "bf16", "fp16", "fp32", "fp8"});
  flags.grad_dtype = one_of(dice, {"", "bf16", "fp16"});
  flags.attention = one_of(dice, {"", "unfused"});
  flags.loss = one_of(dice, {"", "fused"});
  flags.grad_accumulation = one_of(dice, {"", "separate"});
  flags.tensor_overlap = one_of(dice, {"", "off"});
  flags.context_exchange = one_of(dice, {"", "all-to-all"});
  flags.dropout = dice.once_in(3);
  if (dice.once_in(4))
    flags.calibrate = "compute=0." + number(dice.from(5, 9)) + ",network=0." + number(dice.from(5, 9));
}

std::string topology_for(Dice& dice, int gpus) {
  const std::string machines = number((gpus + 7) / 8);
  const std::string devices = number(gpus);
  switch (dice.from(0, 11)) {
    case 0:
      return "dgx-a100:" + machines;
    case 1:
      return "dgx-h100:" + machines + ",nic=" + number(dice.from(1, 50)) + "GB/s";
    case 2:
      return "gb200-nvl72:1";
    case 3:
      return "v100-mesh:" + machines;
    case 4:
      return "pcie:" + number(2 * ((gpus + 1) / 2));
    case 5:
      return "ring:" + number(std::max(2, gpus));
    case 6:
      return "fully-connected:" + number(std::max(2, gpus)) + ",bandwidth=" + number(dice.from(1, 100)) + "GB/s";
    case 7:
      return "switch:" + devices;
    case 8:
      return "fat-tree:" + devices + ",oversubscription=" + number(dice.from(1, 4));
    default:
      return "ideal";
  }
}

void choose_links(Dice& dice, ScenarioFlags& job, int gpus) {
  job.p2p = one_of(dice, {"overlapped", "overlapped", "coupled", "blocking"});
  job.cluster.topology = topology_for(dice, gpus);
  if (job.cluster.topology == "ideal") {
    if (dice.once_in(2)) job.comm = number(dice.from(1, 500)) + "us";
    if (dice.once_in(2)) job.bandwidth = number(dice.from(1, 200)) + "GB/s";
    return;
  }
  job.cluster.network = one_of(dice, {"", "", "fifo", "uncontended"});
  job.cluster.rank_order = one_of(dice, {"", "", "pp,tp,cp,dp", "tp,pp,dp,cp", "dp,cp,tp,pp"});
  if (dice.once_in(4)) job.cluster.transfer_latency = number(dice.from(1, 100)) + "us";
}

void choose_step(Dice& dice, StepFlags& step) {
  step.step = one_of(dice, {"", "on", "on", "off"});
  if (step.step != "on") return;
  step.grad_reduce = one_of(dice, {"", "at-end"});
  step.norm = one_of(dice, {"", "none"});
  step.gather = one_of(dice, {"", "before-forward"});
  step.collective = one_of(dice, {"", "", "ring", "tree"});
  if (dice.once_in(4)) step.slow_down = "0.2";
}

void choose_memory(Dice& dice, MemoryFlags& memory) {
  switch (dice.from(0, 4)) {
    case 0:
      memory.memory = "off";
      return;
    case 1:
      memory.memory = number(dice.from(1, 64)) + "GiB";
      break;
    case 2:
    case 3:
      memory.memory = number(dice.from(1, 64) * 64) + "MiB";
      memory.outside = number(dice.from(0, 32)) + "MiB";
      break;
    default:
      break;
  }
  memory.allocator = one_of(dice, {"", "", "exact"});
}

// A part of the space: all of it has too many choices to build for a few of them.
std::string some_schedules(Dice& dice, int count) {
  const auto catalog = schedule_catalog();
  std::string schedules = "schedule=";
  for (int k = 0; k < count; ++k) {
    const auto row = static_cast<std::size_t>(dice.from(0, static_cast<int>(catalog.size()) - 1));
    schedules += (k == 0 ? "" : ",") + catalog[row].name;
  }
  return schedules;
}

void choose_job(Dice& dice, int gpus, const std::string& file, ScenarioFlags& job, PlanFlags& flags) {
  flags.gpus = gpus;
  if (dice.once_in(4)) {
    write_uneven_profile(dice, file);
    job.profile = {file};
    flags.global_batch = gpus * 4 * dice.from(1, 4);
  } else {
    choose_model(dice, job.transformer);
    flags.global_batch = gpus * dice.from(1, 8);
  }
  choose_links(dice, job, gpus);
  choose_step(dice, job.step);
  choose_memory(dice, job.memory);
}

}  // namespace

void write_uneven_profile(Dice& dice, const std::string& file) {
  Profile profile;
  profile.model = "random";
  profile.dtype = "fp32";
  profile.microbatch_size = dice.from(1, 4);
  const int layers = dice.from(2, 16);
  const bool split = dice.once_in(2);
  const auto time = [&] {
    TimeStatistics statistics;
    statistics.median = dice.from(1, 5'000) * 1'000;
    return statistics;
  };
  for (int k = 0; k < layers; ++k) {
    ProfileLayer layer;
    layer.name = "layer." + number(k);
    layer.kind = "layer";
    layer.forward = time();
    if (split) {
      layer.input_grad = time();
      layer.weight_grad = time();
    } else {
      layer.backward = time();
    }
    layer.activation = Bytes{dice.from(0, 64)} << 20;
    if (split) layer.weight_grad_held = layer.activation / 2;
    layer.output = Bytes{dice.from(1, 64)} << 16;
    layer.parameters = Bytes{dice.from(0, 64)} << 20;
    layer.workspace = Bytes{dice.from(0, 16)} << 20;
    profile.layers.push_back(layer);
  }
  profile.origin.device = "none: random numbers";
  profile.origin.method = "dice";
  std::ofstream(file, std::ios::binary) << write_profile(profile);
}

PlanJob random_plan(Dice& dice, const std::string& file) {
  ScenarioFlags job;
  PlanFlags flags;
  choose_job(dice, one_of(dice, {1, 2, 3, 4, 6, 8, 8, 12, 16, 16, 24, 32, 48, 64}), file, job, flags);
  flags.only = {some_schedules(dice, 4)};
  return read_plan(job, flags);
}

PlanJob random_small_plan(Dice& dice, const std::string& file) {
  ScenarioFlags job;
  PlanFlags flags;
  choose_job(dice, one_of(dice, {2, 4, 4, 6, 8}), file, job, flags);
  flags.only = {some_schedules(dice, 3), "chunks=1,2,3", "zero=0," + number(dice.from(1, 3))};
  if (job.profile.empty()) {
    flags.only.push_back(std::string("recompute=none,") + (dice.once_in(2) ? "full" : "selective"));
    flags.only.push_back("microbatch=1," + number(dice.from(2, 4)));
    if (dice.once_in(2)) flags.only.emplace_back("cp=1");
  }
  return read_plan(job, flags);
}

}  // namespace debubble::testing
