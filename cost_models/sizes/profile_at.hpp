// profile_at: a profile for a microbatch and a sequence that were not measured, from profiles of one model at several
// sizes.
//
//     microbatch   1    2         4        measured (x), wanted (o): first along the microbatch at 2048 and at 4096
//     seq 2048     x    x    .    x        tokens, then along the sequence between the two
//     seq 3072               o
//     seq 4096     x    x    .    x
//
// A measured size is taken exactly as measured. Everything else follows the rules of between.hpp, layer by layer and by
// one rule for forward, input gradient, weight gradient and whole backward. Parameters do not depend on the size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sim/core/profile.hpp"

namespace debubble {

struct RunSize {
  std::int64_t microbatch = 0;  // samples
  std::int64_t sequence = 0;    // tokens of a sample; 0: the model has none

  friend bool operator==(const RunSize&, const RunSize&) = default;
};

struct NamedProfile {
  std::string name;  // of its file, for messages
  Profile profile;
};

enum class CostPhase : std::uint8_t { kForward, kInputGrad, kWeightGrad, kBackward };

// The waves of a layer's work in one phase at one size, in any unit that is the same for all sizes; 0: not known.
// profile_waves (transformer/profile_waves.hpp) counts them for transformers.
using LayerWaves = std::function<double(std::size_t layer, CostPhase phase, const RunSize& size)>;

// Throws InputError, all reasons at once: L020 the profiles are of different models, devices, number formats or
// sources, or name different hops; their layers differ in name, kind, parameters or in what they know; a microbatch or
// sequence is unknown; two are of one size. One profile alone is never refused.
void check_one_model(const std::vector<NamedProfile>& measured);

// `measured` must have passed check_one_model. The result's `derived` says from which sizes it is made; times have no
// percentiles, and there is no measurement, no kernels, and of what modelled layers know nothing but times and
// sizes. Throws InputError L025 where too few sizes were measured to get to the wanted one.
[[nodiscard]] Profile profile_at(const std::vector<NamedProfile>& measured, const RunSize& wanted,
                                 const LayerWaves& waves);

// "3 x 3072", "3 samples" without sequences, "? x 3072" where the microbatch is not known.
[[nodiscard]] std::string to_string(const RunSize& size);

}  // namespace debubble
