#include "live/ledger.hpp"

#include <algorithm>
#include <cstddef>

namespace debubble::live {

void Ledger::start(Bytes resident) {
  resident_ = resident;
  steps_.clear();
  arrivals_.clear();
}

Ledger::Peaks Ledger::peaks() const {
  std::vector<Arrival> arrivals = arrivals_;
  std::sort(arrivals.begin(), arrivals.end(), [](const Arrival& a, const Arrival& b) { return a.at < b.at; });
  Peaks peaks{0, resident_};
  Bytes activation = 0;
  Bytes all = resident_;
  std::size_t next = 0;
  for (const Step& step : steps_) {
    for (; next < arrivals.size(); ++next) {
      if (arrivals[next].at > step.at || (arrivals[next].at == step.at && step.is_end)) break;
      all += arrivals[next].bytes;
      peaks.memory = std::max(peaks.memory, all);
    }
    activation += step.activation;
    all += step.activation + step.other;
    peaks.activation = std::max(peaks.activation, activation);
    peaks.memory = std::max(peaks.memory, all);
  }
  return peaks;
}

}  // namespace debubble::live
