// What a run with transforms has to say for itself: time that its step leaves out, memory that its plan did not
// foresee.
#pragma once

#include "scenario/job/run.hpp"

namespace debubble {

// Adds the notes and warnings (S020, M030) to a simulated run's findings.
void add_transform_findings(Run& run);

}  // namespace debubble
