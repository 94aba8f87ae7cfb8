// The parameters of a preset, and the values given for them: "16,bandwidth=50GB/s" -> numbers.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sim/core/assumption.hpp"
#include "sim/core/error.hpp"
#include "sim/core/units.hpp"
#include "sim/topologies/graph_builder.hpp"

namespace debubble {

struct TopologyEntry;

struct TopologyParam {
  enum class Kind : std::uint8_t {
    kRate,   // bytes per second: 50GB/s, 400Gbit/s
    kTime,   // nanoseconds: 500ns, 1.8us
    kCount,  // a whole number
    kRatio,  // in thousandths: 1.5
  };
  std::string name;
  Kind kind = Kind::kCount;
  std::int64_t value = 0;  // unless given
  std::int64_t least = 0;
  std::int64_t most = 0;
  std::string help;    // "NVLink of a GPU"
  std::string origin;  // of the default: "18 links of 20.6 GB/s in NCCL's tables; nominal 450 GB/s"
  Source source = Source::kDefault;
};

// The four kinds, with the bounds that are always the same.
[[nodiscard]] TopologyParam rate_param(std::string name, std::int64_t value, std::string help, Source source,
                                       std::string origin);
[[nodiscard]] TopologyParam time_param(std::string name, Nanoseconds value, std::string help, Source source,
                                       std::string origin);
[[nodiscard]] TopologyParam count_param(std::string name, std::int64_t value, std::int64_t least, std::int64_t most,
                                        std::string help);
[[nodiscard]] TopologyParam ratio_param(std::string name, std::int64_t thousandths, std::string help);

// One preset's numbers, all of them.
struct PresetValues {
  std::string text;        // as typed: the graph's name
  std::int64_t units = 0;  // N
  std::map<std::string, std::int64_t, std::less<>> values;
  std::map<std::string, bool, std::less<>> given;

  [[nodiscard]] std::int64_t operator[](std::string_view name) const { return values.find(name)->second; }
  [[nodiscard]] std::int32_t count(std::string_view name) const { return static_cast<std::int32_t>((*this)[name]); }
  [[nodiscard]] LinkSpeed speed(std::string_view rate, std::string_view latency) const {
    return {(*this)[rate], (*this)[latency]};
  }
};

// What follows the colon. Throws InputError with all that is wrong: B001 no or a bad N, C006 no KEY=VALUE, C017 an
// unknown key, B001 a bad value, C007 a key given twice.
[[nodiscard]] PresetValues read_preset_values(const TopologyEntry& entry, std::string_view text, std::string_view rest,
                                              const std::string& place);

// "370.8 GB/s", "936 ns", "32", "1.5".
[[nodiscard]] std::string preset_value_text(TopologyParam::Kind kind, std::int64_t value);

// Throws X005 where a graph would have more devices or links than memory can hold.
void check_devices(const PresetValues& values, std::int64_t devices);
void check_links(const PresetValues& values, std::int64_t links);
inline constexpr std::int64_t kMostGraphDevices = 262'144;
inline constexpr std::int64_t kMostGraphLinks = 4'194'304;

}  // namespace debubble
