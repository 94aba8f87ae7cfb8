// The parts of a run file, each read by one function; formats/run/run_file.cpp puts them together.
//
// None throws: each adds what is wrong to the list, with its JSON pointer, and returns something harmless.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "formats/json/json_reader.hpp"
#include "sim/core/run_record.hpp"

namespace debubble {

// /schedule. Codes of cells and of the whole are those of schedule tables (T...), for it is one.
[[nodiscard]] Schedule read_run_schedule(const JsonValue& value, ProblemList& problems);

// The members of a schedule that most do without: "sliced", "piece_shares", "copies", "asynchrony", ...
void read_schedule_features(JsonObjectReader& reader, Schedule& schedule, ProblemList& problems);

// /iterations, of a record whose schedule, links and the rest are read and sound.
[[nodiscard]] std::vector<RunIteration> read_run_iterations(const std::vector<JsonValue>& list, const RunRecord& record,
                                                            bool measured, ProblemList& problems);

// The integers of a required array that holds nothing else. `count` is how many it must have; what does not fit
// its rule is reported with its index. Empty when anything is wrong.
[[nodiscard]] std::vector<std::int64_t> read_integers(JsonObjectReader& reader, std::string_view key,
                                                      const IntegerRule& rule, std::size_t count,
                                                      ProblemList& problems);
// The same for a value whose key was read already: an item of an array of arrays. `what` is its pointer.
[[nodiscard]] std::vector<std::int64_t> integers_of(const JsonValue& value, const std::string& pointer,
                                                    const IntegerRule& rule, std::size_t count, ProblemList& problems);
// Texts of an optional array.
[[nodiscard]] std::vector<std::string> read_texts(JsonObjectReader& reader, std::string_view key,
                                                  ProblemList& problems);
// Items of an array that should hold objects, arrays or texts, never bare integers (which are kept packed): reports
// them when it does. Null when the array is missing.
[[nodiscard]] const std::vector<JsonValue>* read_items(JsonObjectReader& reader, std::string_view key, bool required,
                                                       ProblemList& problems);

// "P012": a list has another length than what it goes with.
void report_count(ProblemList& problems, std::string_view pointer, std::size_t found, std::size_t wanted,
                  const std::string& wanted_for);

// What a 64-bit count must have room for several times over, as in the engine: what adds up to more is refused.
inline constexpr std::int64_t kRoom = std::int64_t{1} << 61;
// "P004": the numbers of a list add up to more than kRoom.
void report_too_much(ProblemList& problems, std::string_view pointer);

inline constexpr IntegerRule kRunTime{"nanoseconds", 0, kLongestDuration,
                                      "times are integers in nanoseconds: 1.5 ms is 1500000"};
inline constexpr IntegerRule kRunSize{"bytes", 0, kLargestSize, "sizes are integers in bytes: 1.5 MiB is 1572864"};

}  // namespace debubble
