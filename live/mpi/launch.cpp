// How this process was started, as far as its environment tells.
#include <array>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "live/backends.hpp"
#include "sim/core/numbers.hpp"

namespace debubble::live {

std::optional<int> mpi_rank_of_environment() {
  // Open MPI's mpirun, any launcher with PMIx (srun, prun), MPICH's and Intel's mpiexec.
  for (const char* const name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"}) {
    const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): read before any thread of ours
    if (value == nullptr) continue;
    if (const auto rank = read_whole<int>(value); rank && *rank >= 0) return rank;
  }
  return std::nullopt;
}

}  // namespace debubble::live
