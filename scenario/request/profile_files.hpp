// --profile: one file, several, or a folder of them; and which size of the model is meant.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cost_models/sizes/profile_at.hpp"
#include "scenario/request/transformer_flags.hpp"
#include "sim/core/assumption.hpp"
#include "sim/core/profile.hpp"

namespace debubble {

// One model, measured at several sizes.
struct ProfileFamily {
  std::vector<NamedProfile> profiles;
  LayerWaves waves;
};

struct ChosenProfile {
  Profile profile;
  std::vector<Assumption> size;                 // which one was asked for; empty: nothing was
  std::shared_ptr<const ProfileFamily> family;  // null: one size only
};

// One file without a size asked for is taken as it is. Several, or all .json files of a folder, must be of one model at
// different sizes; the sequence and the microbatch size of `flags` choose one, measured or not
// (cost_models/sizes/profile_at.hpp), and may be left out where all files agree.
// Throws InputError: C005 unreadable, P016 a folder without profiles, those of the files, L020 to L025 where they do
// not make the size that is asked for; all that is wrong at once.
[[nodiscard]] ChosenProfile read_profiles(const std::vector<std::string>& paths, const TransformerFlags& flags);

}  // namespace debubble
