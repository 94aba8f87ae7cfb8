#include "formats/importers/kineto_times.hpp"

#include <optional>
#include <utility>

#include "formats/json/json_tree.hpp"
#include "formats/text/text.hpp"
#include "sim/core/quantities.hpp"

namespace debubble {
namespace {

constexpr Nanoseconds kLatest = Nanoseconds{1} << 61;  // in 2043, in ns since 1970

void wrong_time(ProblemList& problems, const char* code, std::size_t index, const char* field, std::string message,
                const char* help) {
  problems.add_at_pointer(code, "/traceEvents/" + std::to_string(index) + "/" + field, std::move(message), help);
}

std::optional<Nanoseconds> event_time(std::size_t index, std::string_view token, const char* field,
                                      ProblemList& problems) {
  if (token.empty()) {
    wrong_time(problems, "P006", index, field, std::string("an event of this kind needs \"") + field + "\"", "");
    return std::nullopt;
  }
  const auto value = nanoseconds_of_micros(token);
  if (!value) {
    wrong_time(problems, "P007", index, field,
               std::string("\"") + field + "\" must be a number of microseconds; got " + in_quotes(token),
               "times are decimal microseconds, such as 12.345");
  }
  return value;
}

}  // namespace

std::string plain_value(std::string_view value) {
  if (value.size() < 2 || value.front() != '"') return std::string(value);
  if (value.find('\\') == std::string_view::npos) return std::string(value.substr(1, value.size() - 2));
  ProblemList ignored("");
  const auto parsed = parse_json(value, ignored);
  return parsed ? parsed->text : std::string(value.substr(1, value.size() - 2));
}

std::uint32_t KinetoLanes::of(const KinetoFields& fields) {
  if (!known_.empty() && fields.tid == last_.second && fields.pid == last_.first) return last_lane_;
  last_ = {std::string(fields.pid), std::string(fields.tid)};
  last_lane_ = known_.try_emplace(last_, static_cast<std::uint32_t>(known_.size())).first->second;
  return last_lane_;
}

bool read_event_times(std::size_t index, const KinetoFields& fields, ProblemList& problems,
                      std::map<std::string, std::int64_t>& losses, Nanoseconds& begin, Nanoseconds& end) {
  const auto from = event_time(index, fields.ts, "ts", problems);
  const auto duration = event_time(index, fields.dur, "dur", problems);
  if (!from || !duration) return false;
  if (*duration > kLongestDuration || *from > kLatest || *from < -kLongestDuration) {
    wrong_time(problems, "P004", index, *duration > kLongestDuration ? "dur" : "ts", "this time is too large",
               "no event takes longer than 52 days");
    return false;
  }
  if (*duration < 0) {
    ++losses["ranges that end before they begin"];
    return false;
  }
  begin = *from;
  end = *from + *duration;
  return true;
}

}  // namespace debubble
