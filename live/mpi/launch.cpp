// How this process was started, as far as its environment tells.
#include <array>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "live/backends.hpp"

namespace debubble::live {

std::optional<int> mpi_rank_of_environment() {
  // Open MPI's mpirun, any launcher with PMIx (srun, prun), MPICH's and Intel's mpiexec.
  for (const char* const name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"}) {
    const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): read before any thread of ours
    if (value == nullptr) continue;
    const std::string_view text = value;
    int rank = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rank);
    if (error == std::errc{} && end == text.data() + text.size() && rank >= 0) return rank;
  }
  return std::nullopt;
}

}  // namespace debubble::live
