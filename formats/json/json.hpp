// A JSON value to write: reports and catalogs put theirs together as {{"key", value}, ...}, and members keep their
// order.
//
//     Json list = Json::array();
//     list.push_back({{"name", "1f1b"}, {"devices", 4}});
//     Json{{"schema_version", 1}, {"schedules", list}}.text(2)
//
// What an optional does not hold is null. A braced list is an object where all of its elements are pairs that begin
// with a text, else an array. Files of people are read with json_reader.hpp, which complains with places; parse() is
// for text that we wrote ourselves. nlohmann/json prints and parses, inside json.cpp.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace debubble {

class Json {
 public:
  struct Item;

  Json() = default;
  Json(std::nullptr_t) {}
  Json(const char* text) : value_(std::string(text)) {}
  Json(std::string_view text) : value_(std::string(text)) {}
  Json(std::string text) : value_(std::move(text)) {}
  template <std::same_as<bool> Flag>
  Json(Flag flag) : value_(flag) {}
  template <std::signed_integral Number>
  Json(Number number) : value_(static_cast<std::int64_t>(number)) {}
  template <std::unsigned_integral Number>
  requires(!std::same_as<Number, bool>) Json(Number number) : value_(static_cast<std::uint64_t>(number)) {}
  template <std::floating_point Number>
  Json(Number number) : value_(static_cast<double>(number)) {}
  template <typename Element>
  Json(const std::vector<Element>& elements) : value_(Container{false}), children_(elements.begin(), elements.end()) {}
  template <typename Value>
  Json(const std::optional<Value>& value) {
    if (value) *this = Json(*value);
  }
  Json(std::initializer_list<Json> elements);

  [[nodiscard]] static Json array();
  [[nodiscard]] static Json object();

  // Nothing where the text is not JSON, or has more than a million values or a hundred levels: it may be anybody's.
  [[nodiscard]] static std::optional<Json> parse_if_valid(std::string_view text);
  // Throws std::invalid_argument instead.
  [[nodiscard]] static Json parse(std::string_view text);

  // On one line without an indent; bytes that are no UTF-8 become U+FFFD.
  [[nodiscard]] std::string text(int indent = -1) const;

  [[nodiscard]] bool is_null() const { return std::holds_alternative<std::nullptr_t>(value_); }
  [[nodiscard]] bool is_object() const;
  [[nodiscard]] bool is_array() const;
  [[nodiscard]] bool is_structured() const { return std::holds_alternative<Container>(value_); }
  [[nodiscard]] bool is_string() const { return std::holds_alternative<std::string>(value_); }
  [[nodiscard]] const std::string& string() const { return std::get<std::string>(value_); }

  // Of arrays and objects: the elements, or the members' values.
  [[nodiscard]] auto begin() const { return children_.begin(); }
  [[nodiscard]] auto end() const { return children_.end(); }
  [[nodiscard]] bool empty() const { return children_.empty(); }
  [[nodiscard]] Json& back() { return children_.back(); }
  // With their keys; an array's are "0", "1", ...
  [[nodiscard]] std::vector<Item> items() const;

  // Appends to an array; null becomes one. Throws std::logic_error for anything else.
  void push_back(Json element);
  // The member of an object, added where it is new; null becomes an object. Throws std::logic_error for anything else.
  Json& operator[](std::string_view key);
  // Throws std::out_of_range where there is none.
  const Json& operator[](std::string_view key) const;
  [[nodiscard]] bool contains(std::string_view key) const;
  void erase(std::string_view key);

  friend bool operator==(const Json& json, std::string_view text) { return json.is_string() && json.string() == text; }

 private:
  struct Container {
    bool is_object = false;
  };

  std::variant<std::nullptr_t, bool, std::int64_t, std::uint64_t, double, std::string, Container> value_ = nullptr;
  std::vector<Json> children_;
  std::vector<std::string> keys_;  // of an object, one per child

  friend class JsonConversion;
};

struct Json::Item {
  std::string key;
  const Json& value;
};

// The array of what `make` makes of each.
template <typename Range, typename Make>
[[nodiscard]] Json json_list(const Range& range, const Make& make) {
  Json list = Json::array();
  for (const auto& one : range) list.push_back(make(one));
  return list;
}

}  // namespace debubble
