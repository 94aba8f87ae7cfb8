// Which libcupti is taken, and why.
//
// Many may be on a machine: the toolkit's, those of Python packages, one that the process has loaded with its
// framework. In this order: what is named (it must load), a copy that the process has loaded already, then the sonames
// that suit the driver, each first by the system's loader and then in the places of Python environments and toolkits.
#pragma once

#include <string>
#include <vector>

namespace debubble {

struct FoundCupti {
  void* handle = nullptr;           // never closed: CUPTI has threads and exit handlers of its own
  std::string why;                  // "named by DEBUBBLE_CUPTI", "loaded by this process already", ...
  std::vector<std::string> others;  // copies that the process has loaded besides
};

// `configured`: a path, or empty. Throws UnavailableError U001 with the places that were looked at.
[[nodiscard]] FoundCupti find_cupti(const std::string& configured);

// Whether functions of this libcupti may be called here. From CUDA 13.2 on all of them need the driver, cuptiGetVersion
// included: 13.2 does not survive a call without one, later ones answer UNKNOWN.
[[nodiscard]] bool may_be_called(void* library);

// CUDA's version that the driver supports, 12040 for 12.4, without starting it; 0: there is none.
[[nodiscard]] int cuda_of_driver();

// The sonames of CUDA 11.6 to 13 and the name without a number: first those of releases that the driver supports, the
// newest first, then the newer ones. `driver` as cuda_of_driver().
[[nodiscard]] std::vector<std::string> cupti_names(int driver);

// Folders that may hold a libcupti: Python environments (those of loaded libraries, $VIRTUAL_ENV, $CONDA_PREFIX, of the
// python3 in PATH, of the user, of the system), then toolkits ($CUDA_HOME, $CUDA_PATH, /usr/local/cuda). Each once.
[[nodiscard]] std::vector<std::string> cupti_folders();

// Paths of the shared objects that this process has loaded, in the order of loading.
[[nodiscard]] std::vector<std::string> loaded_objects();

}  // namespace debubble
