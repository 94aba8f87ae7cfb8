#include "sim/core/keyed_list.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "sim/core/error.hpp"
#include "sim/core/split.hpp"
#include "sim/core/suggest.hpp"

namespace debubble {
namespace {

std::string within_blanks(std::string_view text) {
  const std::size_t first = std::min(text.find_first_not_of(' '), text.size());
  return std::string(text.substr(first, text.find_last_not_of(' ') + 1 - first));
}

class KeyedReader {
 public:
  explicit KeyedReader(const KeyedForm& form) : form_(form) {}

  // The key and value of one item; throws InputError where it is refused.
  std::pair<std::string, std::string> read(std::string_view text) {
    const std::string item = within_blanks(text);
    const std::size_t equals = std::min(item.find('='), item.size());
    std::string key = within_blanks(item.substr(0, equals));
    std::string value = equals < item.size() ? within_blanks(item.substr(equals + 1)) : "";
    if (std::exchange(first_, false) && form_.bare_first && equals == item.size()) return {"", item};
    if (equals == item.size() || key.empty() || (form_.values_needed && value.empty())) {
      refuse("C006", form_.unkeyed, item, form_.example);
    }
    if (!form_.keys.empty() && std::find(form_.keys.begin(), form_.keys.end(), key) == form_.keys.end()) {
      const std::string guess = form_.known.empty() ? "" : closest_name(key, form_.keys);
      refuse("C017", form_.unknown, key, guess.empty() ? known() : "did you mean " + guess + "?");
    }
    if (!seen_.insert(key).second) refuse("C007", form_.twice, key, form_.once);
    return {std::move(key), std::move(value)};
  }

 private:
  [[nodiscard]] std::string known() const {
    if (form_.known.empty()) return form_.example;
    std::string help = form_.known;
    if (!help.ends_with(": ")) return help;
    for (const std::string& key : form_.keys) help += (key == form_.keys.front() ? "" : ", ") + key;
    return help;
  }

  [[noreturn]] void refuse(const char* code, std::string message, const std::string& what, std::string help) const {
    message.replace(message.find("{}"), 2, what);
    fail(code, form_.place, std::move(message), std::move(help));
  }

  const KeyedForm& form_;
  bool first_ = true;
  std::set<std::string> seen_;
};

}  // namespace

void read_keyed_list(const std::vector<std::string>& items, const KeyedForm& form, KeyedTake take) {
  KeyedReader reader(form);
  std::vector<Diagnostic> problems;
  for (const std::string& item : items) {
    try {
      const auto [key, value] = reader.read(item);
      take(key, value);
    } catch (const InputError& error) {
      problems.insert(problems.end(), error.diagnostics().begin(), error.diagnostics().end());
    }
  }
  if (!problems.empty()) throw InputError(std::move(problems));
}

void read_keyed_list(std::string_view text, const KeyedForm& form, KeyedTake take) {
  read_keyed_list(split(text), form, take);
}

}  // namespace debubble
