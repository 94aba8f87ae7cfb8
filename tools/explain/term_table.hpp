// The rows of terms.hpp, by what they are about.
#pragma once

#include <vector>

#include "tools/explain/terms.hpp"

namespace debubble {

// Each appends its rows.
void add_pipeline_terms(std::vector<Term>& rows);
void add_time_terms(std::vector<Term>& rows);
void add_memory_terms(std::vector<Term>& rows);
void add_study_terms(std::vector<Term>& rows);

}  // namespace debubble
