// Assumption: one fact that a result rests on, and who says so.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace debubble {

// Where a number came from. Printed with every report: a default must never pass for a measurement.
enum class Source : std::uint8_t { kMeasured, kPublished, kModelled, kDefault, kGiven };
[[nodiscard]] const char* to_string(Source source);

// Code chooses by key, subject, source and `changes_result`; the other texts are only printed.
struct Assumption {
  std::string key;     // "forward time": the same words for the same fact in every job
  std::string amount;  // "1 ms per device share and microbatch"
  Source source = Source::kDefault;
  std::string subject = {};    // what the fact belongs to, if not to the job: "dgx-h100" for that topology's bandwidth
  std::string meaning = {};    // of a key that is short: "NVLink of a GPU, one way"
  std::string citation = {};   // who published or measured the amount
  bool changes_result = true;  // false: an amount without effect, such as a latency of 0
};

// Keys by which code looks for a fact.
namespace assumption_key {
inline constexpr std::string_view kTopology = "topology";
inline constexpr std::string_view kMicrobatch = "microbatch";
inline constexpr std::string_view kPartition = "partition";
inline constexpr std::string_view kStagesPerDevice = "stages per device";
}  // namespace assumption_key

// As lists, JSON and traces print it: "bandwidth: NVLink of a GPU, one way", "370.8 GB/s (18 links of 20.6 GB/s)".
[[nodiscard]] std::string label(const Assumption& one);
[[nodiscard]] std::string full_text(const Assumption& one);

}  // namespace debubble
