// Takes NVTX's calls in one shared object of the program.
#pragma once

#include "profiler/injection/nvtx_abi.hpp"

namespace debubble {

// Puts our handlers into the tables of the shared object that calls; slots we leave alone stay without effect. False
// when it offers no tables.
bool install_nvtx_handlers(nvtx_abi::GetExportTable get_table);

}  // namespace debubble
