// What a call of Python asks for, as the flags of a verb: keyword arguments, or a scenario file, text or dict with the
// keyword arguments in place of its own.
//
//     simulate(schedule="zb-h1", p=4, m=8, times={"f": 1, "b": 2})
//     debubble simulate --schedule zb-h1 --devices 4 --microbatches 8 --times f=1,b=2 --format json
//
// Values become the text that the flag takes; the flag's row says which, and every rule of it holds.
#pragma once

#include <pybind11/pybind11.h>

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scenario/request/flag.hpp"

namespace debubble::python {

// One flag and its value; a switch has none, and a positional argument no name.
struct GivenFlag {
  std::string name;  // "--devices"
  std::string value;
  bool has_value = true;
};

struct CallRequest {
  pybind11::object config;            // None, or a path
  std::string config_text;            // empty: none
  std::vector<std::string> files;     // positional arguments
  pybind11::dict given;               // keyword arguments
  std::vector<std::string> end = {};  // what the command has in addition: "--format", "json"
};

// Throws InputError C061 for a value that no flag can have.
[[nodiscard]] std::vector<GivenFlag> given_flags(std::span<const Flag> rows, const CallRequest& request);

// Writes the values to the targets of the rows; false where one does not fit.
[[nodiscard]] bool set_given(std::span<const Flag> rows, const std::vector<GivenFlag>& flags);

// The command that asks the same: the verb, --config, the flags, the end.
[[nodiscard]] std::string command_of(const std::string& verb, const CallRequest& request,
                                     const std::vector<GivenFlag>& flags);

// What the command itself does with the same flags: reads the file, parses, complains. Returns the command.
[[nodiscard]] std::string parse_like_command(const std::string& verb, const FlagRows& rows, const CallRequest& request,
                                             const std::vector<GivenFlag>& flags);

// The flags of a verb and the command that asks the same. `rows_of` makes the rows of a `Flags`.
template <typename Flags, typename RowsOf>
[[nodiscard]] std::pair<Flags, std::string> read_flags(const std::string& verb, const CallRequest& request,
                                                       const RowsOf& rows_of) {
  std::pair<Flags, std::string> read;
  const FlagRows rows = rows_of(read.first);
  const std::vector<GivenFlag> flags = given_flags(rows, request);
  const bool plain = request.config.is_none() && request.config_text.empty();
  if (plain && set_given(rows, flags)) {
    read.second = command_of(verb, request, flags);
    return read;
  }
  std::pair<Flags, std::string> parsed;  // the flags above may hold a part of the values
  parsed.second = parse_like_command(verb, rows_of(parsed.first), request, flags);
  return parsed;
}

}  // namespace debubble::python
