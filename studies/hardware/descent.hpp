// Coordinate descent on a fixed lattice, whose steps are halved where none helps: the same on every machine.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <utility>

namespace debubble {

template <std::size_t kCount>
struct DescentLattice {
  std::array<double, kCount> start, step;
  std::array<std::pair<double, double>, kCount> bounds;
  int rounds;
};

// The point of the least error(point) that was found.
template <std::size_t kCount, typename Error>
std::array<double, kCount> least_on(DescentLattice<kCount> lattice, const Error& error) {
  std::array<double, kCount> best = lattice.start;
  double least = error(best);
  for (int round = 0; round < lattice.rounds; ++round) {
    bool moved = false;
    for (std::size_t which = 0; which < kCount; ++which) {
      for (const double sign : {1.0, -1.0}) {
        std::array<double, kCount> trial = best;
        trial.at(which) = std::clamp(trial.at(which) + sign * lattice.step.at(which), lattice.bounds.at(which).first,
                                     lattice.bounds.at(which).second);
        const double now = error(trial);
        if (now >= least - 1e-9) continue;
        best = trial;
        least = now;
        moved = true;
      }
    }
    if (!moved) {
      for (double& one : lattice.step) one /= 2;
    }
  }
  return best;
}

}  // namespace debubble
