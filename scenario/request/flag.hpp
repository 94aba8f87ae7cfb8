// A flag of the command line as one row: its names, where it appears in the help, what it takes, where its value goes,
// and what it needs or excludes. Whoever parses, checks, documents or repeats flags reads rows; a flag is written once.
//
//     const FlagGroup row("Run");  // flag_row.hpp
//     row("-p,--devices,--pp", "P", "devices in the pipeline", &flags.devices, Default{"4"})
//
// The keys of scenario files, suites and results files are the long names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sim/core/error.hpp"

namespace debubble {

// Where the value goes; a bool is set by the flag's name alone.
using FlagTarget = std::variant<std::string*, int*, std::optional<int>*, std::optional<std::int64_t>*, bool*,
                                std::vector<std::string>*>;

// What a value is a quantity of, and so how it may be written. A plain number has none: its help says what it counts.
enum class FlagUnit : std::uint8_t { kNone, kDuration, kSize, kBandwidth, kSeconds, kShare, kFactor };

// What happens to a flag that is given several times.
enum class FlagCount : std::uint8_t {
  kLast,    // the last one counts
  kAll,     // all count
  kPairs,   // all count, and one occurrence may have two values: --fail link 3-4
  kSingly,  // all count, and one occurrence has one value: what follows it is something else
  kList,    // all count, and one may be a list joined by commas
  kMaybe,   // all count, and one occurrence has one value or none, which is "true"
};

// How a list of values is told from one value, where a flag takes several to try one after the other (`sweep`).
enum class FlagForm : std::uint8_t {
  kPlain,   // a value has no comma: 1,2,4
  kCommas,  // a value may have commas of its own: "f=1,b=2; f=1,b=3"
  kKeyed,   // KEY=VALUE, and VALUE may have commas of its own; the other values may leave KEY= out: "group=4; 8"
};

// Other flags that must be given (one of them), or must not be (any of them). The place of the message is the flag.
struct FlagRule {
  std::vector<std::string_view> others;  // none: no rule
  const char* code = "";
  const char* message = "";  // of `excludes`: what follows "--this and --other"
  const char* help = "";
};

// The names of a catalog.
using FlagNames = std::vector<std::string> (*)();

struct Flag {
  std::string_view name;             // "--devices"; a positional argument has no dashes: "FILE"
  std::string_view short_name = {};  // "-p"
  std::string_view alias = {};       // other long names, joined by commas: "--mbs,--microbatch"
  std::string_view group = {};       // the heading in the help; empty: the first
  std::string_view type = {};        // "N", "FILE"; where it is empty type_of() tells it from the unit or the words
  FlagUnit unit = FlagUnit::kNone;
  std::string_view words = {};  // "fluid|fifo|uncontended": the only values; read with word_index()
  FlagNames names = nullptr;    // of what a value may name: for completions
  std::string_view help = {};
  std::string_view default_text = {};  // as the help says it; empty where the help's own words say it
  std::string_view preset = {};        // what a text or number holds while the flag is not given
  FlagTarget target;
  FlagCount count = FlagCount::kLast;
  FlagForm form = FlagForm::kPlain;
  bool required = false;
  bool of_schedule = false;  // says how the ops are ordered: only check_schedule_flags() looks at it
  bool repeated = true;      // whether a command that is suggested repeats it
  bool* given = nullptr;     // set where the command line has it, whatever its value
  FlagRule needs = {};
  FlagRule excludes = {};
};

using FlagRows = std::vector<Flag>;

[[nodiscard]] bool is_positional(const Flag& flag);
[[nodiscard]] bool is_switch(const Flag& flag);
// Whether JSON may give it as a list.
[[nodiscard]] bool takes_list(const Flag& flag);
// What the help shows for its value: "N", "TIME", "cpu|cuda|mpi"; empty for a switch and a positional argument.
[[nodiscard]] std::string_view type_of(const Flag& flag);
// How its quantity may be written: "ns|us|ms|s|min|h"; empty without a unit.
[[nodiscard]] std::string_view unit_of(const Flag& flag);
// What a shell can complete its value with: its words, or the names of its catalog.
[[nodiscard]] std::vector<std::string> completions_of(const Flag& flag);
// All its names: "-p", "--devices", "--pp".
[[nodiscard]] std::vector<std::string_view> names_of(const Flag& flag);
// Its other long names: "--pp".
[[nodiscard]] std::vector<std::string_view> aliases_of(const Flag& flag);
// "devices" of "--devices".
[[nodiscard]] std::string_view key_of(const Flag& flag);
// The help with its default.
[[nodiscard]] std::string help_of(const Flag& flag);

// Appends the rows of one part to those of a verb.
void add_rows(FlagRows& rows, FlagRows more);

// The row of that name ("--devices"); null where there is none.
[[nodiscard]] const Flag* find_flag(std::span<const Flag> rows, std::string_view name);

// The keys of all flags, aliases among them, in the order of the rows.
[[nodiscard]] std::vector<std::string> flag_keys(std::span<const Flag> rows);

// Its values as typed; none where it is not given or holds its preset.
[[nodiscard]] std::vector<std::string> values_of(const Flag& flag);
[[nodiscard]] bool is_given(const Flag& flag);

// The index of the word that it holds; 0 where it holds none. Throws InputError C002 for what is not one of its words.
[[nodiscard]] std::size_t word_index(const Flag& flag);
[[nodiscard]] std::size_t word_index(std::span<const Flag> rows, std::string_view name);
// Of every flag that holds none of its words, and of no other (C002).
[[nodiscard]] std::vector<Diagnostic> unknown_words(std::span<const Flag> rows);

// Writes the value to the target; of a flag whose occurrences all count, in addition to those before. False, and
// nothing is written, where a whole number was expected. A switch takes any text as "on".
[[nodiscard]] bool set_flag(const Flag& flag, const std::string& value);

// Words and names as the rows have them, where they were written in other letters: "H100", "dgx_h100:8", "BF16".
void settle_spelling(std::span<const Flag> rows);

// "--devices=4", "--dropout": written to the targets. For arguments that were read by the same rows before; throws
// std::invalid_argument for any other.
void set_flags(std::span<const Flag> rows, std::span<const std::string> arguments);

// The flags that were given, quoted for a shell, to be repeated in a command that is suggested.
[[nodiscard]] std::string flag_line(std::span<const Flag> rows);

// Throws InputError for the first flag that is given together with one it excludes.
void refuse_excluded(std::span<const Flag> rows);
// Of every flag that is given without any of those it needs.
[[nodiscard]] std::vector<Diagnostic> unmet_needs(std::span<const Flag> rows);

}  // namespace debubble
