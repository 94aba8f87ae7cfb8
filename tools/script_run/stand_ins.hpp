// What a guarded run of a launch script has in place of programs: harmless tools, and stand-ins that record how they
// are started and do nothing else.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace debubble {

// Tools of the machine that only read and write what they are given.
[[nodiscard]] std::span<const std::string_view> harmless_tools();
// Launchers and interpreters that are recorded instead.
[[nodiscard]] std::vector<std::string_view> recorded_programs();
// Programs that only wait or draw: they do nothing and succeed.
[[nodiscard]] std::span<const std::string_view> idle_programs();

// Where the guard keeps these, and what they write.
constexpr std::string_view kGuardFolder = "/run/debubble";
constexpr std::string_view kRecordFolder = "/run/debubble/records";

// bash scripts. The last one runs `bash script arguments` of its own arguments, sets limits, and hands on over
// descriptor 9 what was recorded. `turn`: 0 or 1; what a script cannot count on (date, process ids) differs between
// two.
[[nodiscard]] std::string recording_program();
[[nodiscard]] std::string missing_handler();  // bash's function for what PATH does not have
[[nodiscard]] std::string idle_program();
[[nodiscard]] std::string date_program(int turn);
[[nodiscard]] std::string starting_program(int turn);

}  // namespace debubble
