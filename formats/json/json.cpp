#include "formats/json/json.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "sim/core/at.hpp"

namespace debubble {

// To nlohmann's values and back.
class JsonConversion {
 public:
  using Other = nlohmann::ordered_json;

  static Other to_other(const Json& json) {
    if (json.is_array()) {
      Other array = Other::array();
      for (const Json& child : json.children_) array.push_back(to_other(child));
      return array;
    }
    if (json.is_object()) {
      Other object = Other::object();
      // Keys are unique here, and ordered_json would look each one up.
      auto& members = object.get_ref<Other::object_t&>();
      for (std::size_t k = 0; k < json.keys_.size(); ++k) {
        static_cast<std::vector<Other::object_t::value_type>&>(members).emplace_back(json.keys_[k],
                                                                                     to_other(json.children_[k]));
      }
      return object;
    }
    return std::visit([](const auto& value) { return scalar(value); }, json.value_);
  }

  static std::optional<Json> parsed(std::string_view text) {
    const Other other = Other::parse(text, nullptr, false);
    if (other.is_discarded()) return std::nullopt;
    return from_other(other);
  }

  static Json from_other(const Other& other) {
    Json json;
    if (other.is_structured()) json = other.is_object() ? Json::object() : Json::array();
    for (const auto& [key, value] : other.items()) {
      if (!other.is_structured()) break;
      if (other.is_object()) json.keys_.push_back(key);
      json.children_.push_back(from_other(value));
    }
    if (other.is_boolean()) json.value_ = other.get<bool>();
    if (other.is_number_integer()) json.value_ = other.get<std::int64_t>();
    if (other.is_number_unsigned()) json.value_ = other.get<std::uint64_t>();
    if (other.is_number_float()) json.value_ = other.get<double>();
    if (other.is_string()) json.value_ = other.get<std::string>();
    return json;
  }

 private:
  template <typename Value>
  static Other scalar(const Value& value) {
    if constexpr (std::is_same_v<Value, Json::Container>) {
      return nullptr;
    } else {
      return value;
    }
  }
};

namespace {

// Whether a tree of the text is shallow enough to be walked by recursion, and of a size that fits memory. Counts what
// is between quotes, too, so that nothing escapes it.
bool is_small_json(std::string_view text) {
  constexpr std::int64_t kDeepestParsed = 100;
  constexpr std::int64_t kMostParsed = 1'000'000;
  std::int64_t depth = 0;
  std::int64_t deepest = 0;
  std::int64_t values = 0;
  bool quoted = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (quoted) {
      if (c == '\\') ++at;
      quoted = c != '"';
    } else {
      quoted = c == '"';
      if (c == '[' || c == '{') deepest = std::max(deepest, ++depth);
      if (c == ']' || c == '}') --depth;
      if (c == ',' || c == ':' || c == '[') ++values;
    }
  }
  return deepest <= kDeepestParsed && values <= kMostParsed;
}

}  // namespace

Json::Json(std::initializer_list<Json> elements) : value_(Container{false}) {
  const bool object = std::all_of(elements.begin(), elements.end(), [](const Json& element) {
    return element.is_array() && element.children_.size() == 2 && element.children_[0].is_string();
  });
  if (!object) {
    children_.assign(elements.begin(), elements.end());
    return;
  }
  value_ = Container{true};
  for (const Json& element : elements) {
    if (!contains(element.children_[0].string())) (*this)[element.children_[0].string()] = element.children_[1];
  }
}

Json Json::array() {
  Json json;
  json.value_ = Container{false};
  return json;
}

Json Json::object() {
  Json json;
  json.value_ = Container{true};
  return json;
}

std::optional<Json> Json::parse_if_valid(std::string_view text) {
  if (!is_small_json(text)) return std::nullopt;
  return JsonConversion::parsed(text);
}

Json Json::parse(std::string_view text) {
  if (std::optional<Json> json = JsonConversion::parsed(text)) return std::move(*json);
  throw std::invalid_argument("text of ours that is not JSON");
}

std::string Json::text(int indent) const {
  return JsonConversion::to_other(*this).dump(indent, ' ', false, JsonConversion::Other::error_handler_t::replace);
}

bool Json::is_object() const {
  const Container* container = std::get_if<Container>(&value_);
  return container != nullptr && container->is_object;
}

bool Json::is_array() const { return is_structured() && !is_object(); }

std::vector<Json::Item> Json::items() const {
  std::vector<Item> items;
  items.reserve(children_.size());
  for (std::size_t k = 0; k < children_.size(); ++k) {
    items.push_back({is_object() ? keys_[k] : std::to_string(k), children_[k]});
  }
  return items;
}

void Json::push_back(Json element) {
  if (is_null()) value_ = Container{false};
  if (!is_array()) throw std::logic_error("an element for JSON that is no array");
  children_.push_back(std::move(element));
}

Json& Json::operator[](std::string_view key) {
  if (is_null()) value_ = Container{true};
  if (!is_object()) throw std::logic_error("the member " + std::string(key) + " of JSON that is no object");
  const auto found = std::find(keys_.begin(), keys_.end(), key);
  if (found != keys_.end()) return at(children_, found - keys_.begin());
  keys_.emplace_back(key);
  return children_.emplace_back();
}

const Json& Json::operator[](std::string_view key) const {
  const auto found = std::find(keys_.begin(), keys_.end(), key);
  if (found == keys_.end()) throw std::out_of_range("JSON without a member " + std::string(key));
  return at(children_, found - keys_.begin());
}

bool Json::contains(std::string_view key) const { return std::find(keys_.begin(), keys_.end(), key) != keys_.end(); }

void Json::erase(std::string_view key) {
  const auto found = std::find(keys_.begin(), keys_.end(), key);
  if (found == keys_.end()) return;
  children_.erase(children_.begin() + (found - keys_.begin()));
  keys_.erase(found);
}

}  // namespace debubble
