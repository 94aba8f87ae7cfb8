#include "tools/flags/given_files.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "formats/files/file_kind.hpp"
#include "formats/text/shell.hpp"
#include "sim/core/split.hpp"

namespace debubble {
namespace {

// Where a file stands in the command line.
struct Given {
  std::string file;
  std::string to;  // "--profile", "diff", "import --from kineto"
};

// "import --from kineto", "explain hardware", "diff"
std::string positional_taker(std::span<const std::string> arguments, const std::string& file) {
  std::string to = arguments.front();
  if (to == "import") {
    for (std::size_t k = 1; k < arguments.size(); ++k) {
      if (arguments[k] == "--from" && k + 1 < arguments.size()) to += " --from " + arguments[k + 1];
      if (arguments[k].starts_with("--from=")) to += " --from " + arguments[k].substr(sizeof("--from=") - 1);
    }
    return to;
  }
  constexpr std::array<std::string_view, 2> kWithTopic{"explain", "list"};
  const bool topic = std::find(kWithTopic.begin(), kWithTopic.end(), to) != kWithTopic.end() && arguments.size() > 1;
  return topic && arguments[1] != file && !arguments[1].starts_with("-") ? to + " " + arguments[1] : to;
}

// The flag that the argument before is, where it takes files; of one that takes none what follows is no file.
std::optional<std::string> taker_of(std::span<const std::string> arguments, std::size_t k, const std::string& file,
                                    std::span<const Flag> rows) {
  const std::string& before = arguments[k - 1];
  if (k == 1 || !before.starts_with("-")) return positional_taker(arguments, file);
  const Flag* const flag = find_flag(rows, before);
  if (flag != nullptr && is_switch(*flag)) return positional_taker(arguments, file);
  return takes_files(before) ? std::optional(before) : std::nullopt;
}

std::optional<Given> given_file(std::span<const std::string> arguments, const std::string& file,
                                std::span<const Flag> rows) {
  for (std::size_t k = 1; k < arguments.size(); ++k) {
    const std::string& argument = arguments[k];
    const std::size_t equals = argument.starts_with("--") ? argument.find('=') : std::string::npos;
    const std::string value = equals == std::string::npos ? argument : argument.substr(equals + 1);
    const std::vector<std::string> parts = split(value);
    if (value != file && std::find(parts.begin(), parts.end(), file) == parts.end()) continue;
    if (equals != std::string::npos) {
      const std::string flag = argument.substr(0, equals);
      return takes_files(flag) ? std::optional(Given{file, flag}) : std::nullopt;
    }
    if (const auto to = taker_of(arguments, k, file, rows)) return Given{file, *to};
    return std::nullopt;
  }
  return std::nullopt;
}

// What the place of an error says of files: "run.json" of "run.json#/format" and of "run.json:1:2".
std::string file_of_place(const std::string& place) { return place.substr(0, place.find_first_of("#:")); }

// The file that a message quotes: no schedule is called "run.json".
std::string quoted_file(const std::string& message) {
  const std::size_t begin = message.find('"');
  const std::size_t end = begin == std::string::npos ? begin : message.find('"', begin + 1);
  return end == std::string::npos ? "" : message.substr(begin + 1, end - begin - 1);
}

std::string with_file(std::string_view taker, const std::string& file, std::span<const Flag> rows) {
  const std::string name = shell_file(file);
  if (!taker.starts_with("--")) return "`debubble " + std::string(taker) + " " + name + "` reads it";
  if (taker != "--config" && find_flag(rows, taker) != nullptr) return "give it as " + std::string(taker) + " " + name;
  if (taker == "--config" && find_flag(rows, "--schedule") != nullptr) return "give it as --config " + name;
  const char* const verb = taker == "--log" ? "diff" : taker == "--script" ? "plan" : "simulate";
  return std::string("`debubble ") + verb + " " + std::string(taker) + " " + name + "` reads it";
}

std::string remedy_for(const FileKind& kind, const Given& given, std::span<const Flag> rows) {
  if (kind.takers.empty()) return "nothing reads it: give what it was made from";
  // The verb that was typed first: "import --from kineto" for what "import --from nsys" does not take.
  const std::string verb = given.to.substr(0, given.to.find(' ')) + " ";
  for (const std::string_view taker : kind.takers) {
    if (taker.starts_with(verb)) return with_file(taker, given.file, rows);
  }
  const auto own = std::find_if(kind.takers.begin(), kind.takers.end(), [&](std::string_view taker) {
    // A run tells --slow how fast devices were, which is not what most runs are for.
    return taker.starts_with("--") && taker != "--slow" && find_flag(rows, taker) != nullptr;
  });
  return with_file(own == kind.takers.end() ? kind.takers.front() : *own, given.file, rows);
}

// "suites to check, JSON; see docs/ci.md"
std::string wanted_here(const std::string& to, std::span<const Flag> rows) {
  const Flag* flag = find_flag(rows, to);
  if (flag == nullptr && !to.starts_with("--")) {
    const auto last = std::find_if(rows.rbegin(), rows.rend(), is_positional);
    if (last != rows.rend()) flag = &*last;
  }
  return flag == nullptr ? "" : std::string(flag->help);
}

Diagnostic told(Diagnostic problem, const Given& given, const FileKind& kind, std::span<const Flag> rows) {
  const std::string what(kind.what);
  const std::string remedy = remedy_for(kind, given, rows);
  if (problem.code == "C061") {
    problem.help = "it is " + what + ": " + remedy;
    return problem;
  }
  const std::string here = given.to.starts_with("--") ? given.to : "debubble " + given.to;
  const std::string wanted = wanted_here(given.to, rows);
  return {"P010", given.file, "this is " + what + ", which " + here + " does not take",
          remedy + (wanted.empty() ? "" : "; " + here + " takes: " + wanted)};
}

}  // namespace

InputError told_by_kind(const InputError& error, std::span<const Flag> rows, std::span<const std::string> arguments) {
  if (error.diagnostics().empty()) return error;
  const Diagnostic& first = error.diagnostics().front();
  std::vector<std::string> files{file_of_place(first.place), quoted_file(first.message)};
  // What a framework's reader misses in a file, flags could say: it asks for these.
  if (arguments.front() == "import" && first.code == "F001")
    files.insert(files.end(), arguments.begin() + 1, arguments.end());
  for (const std::string& file : files) {
    if (file.empty()) continue;
    const std::optional<Given> given = given_file(arguments, file, rows);
    const FileKind* const kind = given ? kind_of_file(file) : nullptr;
    if (kind == nullptr) continue;
    if (std::find(kind->takers.begin(), kind->takers.end(), given->to) != kind->takers.end()) continue;
    return InputError(told(first, *given, *kind, rows));
  }
  return error;
}

}  // namespace debubble
