// debubble import --from profiles: profiles of single ranks as one model.
#pragma once

#include <string>
#include <vector>

#include "tools/output/output.hpp"

namespace debubble {

// One file per pipeline stage. Throws InputError (C061 for fewer than two, L020 for files that do not belong together).
int import_profiles(const std::vector<std::string>& files, const OutputFlags& output);

}  // namespace debubble
