#include "live/cpu/time_limits.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "sim/core/at.hpp"

namespace debubble::live {

namespace {

constexpr double kMost = 0x1p60;
constexpr double kLoadedMachine = 20;  // times as long as on a quiet one
constexpr double kSecond = 1e9;

Nanoseconds longest_transfer(const Job& job) {
  Nanoseconds longest = 0;
  for (const auto& actions : job.plan().devices) {
    for (const Action& action : actions) {
      for (const Hop& hop : action.sends) longest = std::max(longest, job.transfer(hop.tensor).total());
    }
  }
  return longest;
}

}  // namespace

Nanoseconds watchdog_timeout(const Job& job, bool token) {
  if (token) return job.request().patience;
  double longest = 0;
  for (std::int32_t device = 0; device < job.schedule().devices; ++device) {
    for (const Op& op : at(job.schedule().rows, device)) {
      longest = std::max(longest, static_cast<double>(job.duration(device, op)));
    }
  }
  const double link = job.request().clock == Clock::kWall ? static_cast<double>(longest_transfer(job)) : 0;
  const auto patience = static_cast<double>(job.request().patience);
  return static_cast<Nanoseconds>(std::min(std::max(patience, longest * kLoadedMachine) + link, kMost));
}

Nanoseconds least_time(const Job& job, int cores) {
  double longest = 0;
  double all = 0;
  for (std::int32_t device = 0; device < job.schedule().devices; ++device) {
    double busy = 0;
    for (const Op& op : at(job.schedule().rows, device)) {
      busy += static_cast<double>(job.duration(device, op));
    }
    longest = std::max(longest, busy);
    all += busy;
  }
  const int iterations = job.request().warm_up + job.request().repetitions;
  return static_cast<Nanoseconds>(std::min(std::max(longest, all / std::max(1, cores)) * iterations, kMost));
}

std::string calibration_text(const Job& job, int cores) {
  const double minutes = static_cast<double>(least_time(job, cores)) / kSecond / 60;
  if (minutes < 1) return "calibrating";
  const auto whole = [](double number) { return std::to_string(std::llround(number)); };
  std::string text = "calibrating, then at least " +
                     (minutes < 120 ? whole(minutes) + " min" : whole(minutes / 60) + " h") + " of work";
  return minutes < 10 ? text : text + "; --clock logical is quick";
}

}  // namespace debubble::live
