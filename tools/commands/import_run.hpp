// debubble import --from run: a measured run of several ranks as a run file.
#pragma once

#include <string>
#include <vector>

#include "tools/output/output.hpp"

namespace debubble {

struct RunImportFlags {
  int replica = 0;
  std::string iterations;  // "1,2,5-8"; empty: all
};

// Writes debubble.run/1; what was found out, and the notes, go to stderr. Throws InputError (C003 for iterations that
// are none) and what open_run throws.
int import_run(const std::vector<std::string>& files, const RunImportFlags& flags, const OutputFlags& output);

}  // namespace debubble
