#include "formats/megatron/signature.hpp"

#include <algorithm>

#include "formats/megatron/argument_table.hpp"
#include "formats/shell/unknowns.hpp"

namespace debubble {
namespace {

bool matters(const std::string& name) {
  const auto row = megatron_argument(name);
  return !row || row->effect != ArgumentEffect::kNothing;
}

}  // namespace

std::string option_name(const std::string& word) {
  if (word.size() < 3 || !word.starts_with("--")) return "";
  const char c = word[2];
  if ((c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && c != '1') return "";
  std::string name = word.substr(2);
  name = name.substr(0, name.find('='));
  std::replace(name.begin(), name.end(), '_', '-');
  return todays_name(name);
}

Signature signature_of(const std::vector<std::string>& words) {
  Signature signature;
  std::string name;
  ArgumentValues room = ArgumentValues::kNone;
  bool relevant = false;
  std::size_t filled = 0;  // values that the option has so far
  bool weight = false;     // the last one is a number, as before each path of --data-path
  for (const std::string& word : words) {
    const std::string option = shell::has_mark(word.substr(0, word.find('='))) ? "" : option_name(word);
    if (!option.empty()) {
      name = option;
      relevant = matters(option);
      filled = 0;
      const auto row = megatron_argument(option);
      room = row ? row->values : ArgumentValues::kMany;
      const std::size_t equals = word.find('=');
      if (relevant) signature.values[name] = {};
      if (equals != std::string::npos) {
        if (relevant) signature.values[name].push_back(word.substr(equals + 1));
        room = ArgumentValues::kNone;
      }
    } else if (word.starts_with("\x01") &&
               (room == ArgumentValues::kNone ||
                (room == ArgumentValues::kMany && filled > 0 && !weight && shell::is_mark(word)))) {
      for (const int number : shell::marks(word)) signature.open.insert(number);
      continue;
    } else {
      if (relevant) signature.values[name].push_back(word);
      ++filled;
      weight = word.find_first_not_of("0123456789.") == std::string::npos;
      if (room == ArgumentValues::kOne) room = ArgumentValues::kNone;
    }
    // A file's name matters by what is in it, which is looked up by that very name.
    if (!relevant || name == "deepspeed-config") continue;
    for (const int number : shell::marks(word)) signature.unknown.insert(number);
  }
  return signature;
}

}  // namespace debubble
