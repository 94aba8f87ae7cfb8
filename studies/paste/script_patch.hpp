// The change of a person's launch script by which it starts another run, as a unified diff for patch(1).
#pragma once

#include <string>

#include "studies/paste/paste.hpp"

namespace debubble {

struct ScriptToPatch {
  const std::string& text;
  const std::string& name;  // as patch is to find it
  const Paste& own;         // Megatron-LM's, of the run that it starts
};

// Only what `wanted` has otherwise is changed, so that the script keeps its own way to say the rest. The patched script
// is read again: throws InputError P036 where it does not start what is wanted, as where an argument is set in another
// file.
[[nodiscard]] std::string script_patch(const ScriptToPatch& script, const Paste& wanted);

// Of two texts; empty where they are the same.
[[nodiscard]] std::string unified_diff(const std::string& before, const std::string& after, const std::string& name);

}  // namespace debubble
