// What a run with transforms has to say for itself: time that its step leaves out, memory that its plan did not
// foresee.
#pragma once

#include "scenario/job/job.hpp"

namespace debubble {

// Adds the notes and warnings (S020, M030) to the findings of a simulated job's report.
void add_transform_findings(const Job& job, Report& report);

}  // namespace debubble
