// What kernels reach of the peak, by hardware, and where that is known from.
//
// A100: 183 matmuls, 24 attentions and the memory kernels that SimuMax measured on an A100-PCIe
// (MooreThreads/SimuMax, commit 4dcaae5, configs/system/a100_pcie.json, Apache-2.0). Our formula with these shares is
// 3.9 % off their matmuls on the average, `sustained` apart: the SXM card's power allows more than PCIe's 300 W.
// Their memory kernels reach 0.91 of 1600 GB/s, which is 0.75 of the card's nominal 1935.
// B200: 514 matmuls of the same source, b200_bf16_ceperm.json; 9.5 % on the average. Their table itself is used where
// a shape fits exactly (--efficiency).
#include "cost_models/transformer/hardware_sources.hpp"
#include "cost_models/transformer/kernel_time.hpp"

namespace debubble {
namespace {

struct KnownShares {
  const char* prefix;  // of the hardware's name
  const char* source;
  Efficiency shares;
};

Efficiency shares(double matrix, double sustained, double half_k, double attention, double memory) {
  Efficiency efficiency;
  efficiency.matrix = matrix;
  efficiency.sustained = sustained;
  efficiency.half_k = half_k;
  efficiency.attention = attention;
  efficiency.memory = memory;
  // Between two kernels of one stream the device rests for a few microseconds at most: the queue is never empty.
  efficiency.per_kernel = 2'500;
  return efficiency;
}

const std::vector<KnownShares>& known_shares() {
  static const std::vector<KnownShares> list{
      {"a100", "fitted to SimuMax's measured A100 matmuls and attention", shares(0.80, 1.0, 145, 0.60, 0.75)},
      {"b200", "fitted to SimuMax's measured B200 matmuls and attention", shares(0.66, 0.483, 387, 0.35, 0.666)},
      {"a800", "the A100's shares, whose processor it has", shares(0.80, 1.0, 145, 0.60, 0.75)},
      {"b300", "the B200's shares", shares(0.66, 0.483, 387, 0.35, 0.666)},
      {"gb300", "the B200's shares", shares(0.66, 0.483, 387, 0.35, 0.666)},
      {"gb200", "the B200's shares", shares(0.66, 0.483, 387, 0.35, 0.666)},
  };
  return list;
}

const KnownShares* find_shares(const Hardware& hardware) {
  for (const KnownShares& known : known_shares()) {
    if (hardware.name.rfind(known.prefix, 0) == 0) return &known;
  }
  return nullptr;
}

}  // namespace

Efficiency usual_efficiency(const Hardware& hardware) {
  if (hardware.own != nullptr) return hardware.own->shares;
  const KnownShares* known = find_shares(hardware);
  return known != nullptr ? known->shares : known_shares().front().shares;
}

bool has_known_shares(const Hardware& preset) { return find_shares(preset) != nullptr; }

std::string efficiency_source(const Hardware& hardware) {
  if (hardware.own != nullptr) return source_of(hardware.own->sources, "shares/matrix").text;
  const KnownShares* known = find_shares(hardware);
  return known != nullptr ? known->source : "the A100's shares, for want of measurements";
}

}  // namespace debubble
