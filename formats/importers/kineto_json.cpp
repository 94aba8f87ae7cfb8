#include "formats/importers/kineto_json.hpp"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "formats/json/json_fault.hpp"
#include "formats/text/text.hpp"
#include "sim/core/error.hpp"
#include "sim/core/words.hpp"

namespace debubble {
namespace {

namespace od = simdjson::ondemand;

struct TraceKey {
  std::string_view name;  // in lower case
  std::string_view KinetoFields::*field;
};

constexpr std::array kArgs{
    TraceKey{"external id", &KinetoFields::external},
    TraceKey{"correlation", &KinetoFields::correlation},
    TraceKey{"device", &KinetoFields::device},
    TraceKey{"context", &KinetoFields::context},
    TraceKey{"stream", &KinetoFields::stream},
    TraceKey{"bytes", &KinetoFields::bytes},
    TraceKey{"graph node id", &KinetoFields::graph_node},
    TraceKey{"sequence number", &KinetoFields::sequence},
    TraceKey{"fwd thread id", &KinetoFields::forward},
    TraceKey{"input dims", &KinetoFields::sizes},
    TraceKey{"addr", &KinetoFields::address},
    TraceKey{"device type", &KinetoFields::device_type},
    TraceKey{"device id", &KinetoFields::device_id},
    TraceKey{"latency_us", &KinetoFields::latency},
};
constexpr std::array kTop{
    TraceKey{"ph", &KinetoFields::ph},   TraceKey{"cat", &KinetoFields::cat}, TraceKey{"name", &KinetoFields::name},
    TraceKey{"pid", &KinetoFields::pid}, TraceKey{"tid", &KinetoFields::tid}, TraceKey{"ts", &KinetoFields::ts},
    TraceKey{"dur", &KinetoFields::dur}, TraceKey{"id", &KinetoFields::id},
};

bool same_word(std::string_view text, std::string_view in_lower_case) {
  return text.size() == in_lower_case.size() &&
         std::equal(text.begin(), text.end(), in_lower_case.begin(), [](char a, char b) { return lower_case(a) == b; });
}

std::string_view raw_key(od::field& field) {
  const char* begin = field.key().raw();
  const char* end = begin;
  while (*end != '"') ++end;
  return {begin, static_cast<std::size_t>(end - begin)};
}

std::string_view trimmed_token(std::string_view token) {
  while (!token.empty() && static_cast<unsigned char>(token.back()) <= ' ') token.remove_suffix(1);
  return token;
}

// A scalar as in the file, an array whole. Objects are of no use to anybody here.
std::string_view raw(od::value& value) {
  const std::string_view token = trimmed_token(value.raw_json_token());
  if (token.empty() || token.front() != '[') return token;
  od::array array = value.get_array().value();
  return trimmed_token(array.raw_json().value());
}

bool begins(od::value& value, char bracket) {
  const std::string_view token = value.raw_json_token();
  return !token.empty() && token.front() == bracket;
}

void read_args(od::value& value, KinetoFields& fields) {
  if (!begins(value, '{')) return;
  od::object args = value.get_object().value();
  for (od::field field : args) {
    const std::string_view key = raw_key(field);
    for (const TraceKey& known : kArgs) {
      if (!same_word(key, known.name)) continue;
      fields.*known.field = raw(field.value());
      break;
    }
  }
}

void read_field(od::field& field, KinetoFields& fields) {
  const std::string_view key = raw_key(field);
  if (key == "args") {
    read_args(field.value(), fields);
    return;
  }
  for (const TraceKey& known : kTop) {
    if (!same_word(key, known.name)) continue;
    const bool is_text = known.field == &KinetoFields::name || known.field == &KinetoFields::cat;
    if (is_text && begins(field.value(), '"')) {
      fields.*known.field = field.value().get_string().value();
    } else if (!is_text) {
      fields.*known.field = raw(field.value());
    }
    return;
  }
}

class TraceWalk {
 public:
  TraceWalk(ProblemList& problems, KinetoVisitor& visitor) : problems_(problems), visitor_(visitor) {}

  // Whether there were events.
  bool document(od::document& document) {
    if (document.type().value() == od::json_type::array) {
      found_ = true;
      std::size_t index = 0;
      od::array events = document.get_array().value();
      for (od::value value : events) event(index++, value, "/");
    } else if (document.type().value() == od::json_type::object) {
      od::object members = document.get_object().value();
      for (od::field field : members) member(field);
    }
    return found_;
  }

 private:
  void event(std::size_t index, od::value& value, const char* path) {
    if (!begins(value, '{')) {
      problems_.add_at_pointer("P007", path + std::to_string(index), "an event must be an object", "");
      return;
    }
    KinetoFields fields;
    od::object members = value.get_object().value();
    for (od::field field : members) read_field(field, fields);
    visitor_.event(index, fields);
  }

  void member(od::field& field) {
    const std::string key(raw_key(field));
    if (key == "traceEvents") {
      if (!begins(field.value(), '[')) return;
      found_ = true;
      std::size_t index = 0;
      od::array events = field.value().get_array().value();
      for (od::value value : events) event(index++, value, "/traceEvents/");
    } else if (key == "deviceProperties" && begins(field.value(), '[')) {
      std::size_t index = 0;
      od::array devices = field.value().get_array().value();
      for (od::value value : devices) {
        members(value, key + "/" + std::to_string(index++) + "/");
      }
    } else if (key == "distributedInfo" || key == "metadata") {
      members(field.value(), key + "/");
    } else if (!begins(field.value(), '{') && !begins(field.value(), '[')) {
      visitor_.fact(key, raw(field.value()));
    }
  }

  void members(od::value& value, const std::string& prefix) {
    if (!begins(value, '{')) return;
    od::object object = value.get_object().value();
    for (od::field field : object) {
      const std::string key = prefix + std::string(raw_key(field));
      if (begins(field.value(), '{') || begins(field.value(), '[')) continue;
      visitor_.fact(key, raw(field.value()));
    }
  }

  ProblemList& problems_;
  KinetoVisitor& visitor_;
  bool found_ = false;
};

// Finds where a text stops being JSON; the fast parser does not say.
class TraceFinder : public nlohmann::json_sax<nlohmann::json> {
 public:
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(std::int64_t) override { return true; }
  bool number_unsigned(std::uint64_t) override { return true; }
  bool number_float(double, const std::string&) override { return true; }
  bool string(std::string&) override { return true; }
  bool binary(nlohmann::json::binary_t&) override { return true; }
  bool start_object(std::size_t) override { return true; }
  bool key(std::string&) override { return true; }
  bool end_object() override { return true; }
  bool start_array(std::size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception&) override {
    byte = position;
    return false;
  }

  std::size_t byte = 0;  // counted from 1; 0: nothing found
};

}  // namespace

void require_json(std::string_view text, const std::string& name) {
  if (const auto offset = first_bad_utf8(text)) {
    throw InputError(Diagnostic{"P002", place_of(name, text, *offset),
                                "not UTF-8 at byte " + std::to_string(*offset + 1), "is this a Chrome trace in JSON?"});
  }
  TraceFinder finder;
  nlohmann::json::sax_parse(text, &finder);
  if (finder.byte == 0) return;
  const std::size_t offset = std::min(finder.byte - 1, text.size());
  const bool cut_off = offset >= text.size();
  constexpr std::size_t kTarMagic = 257;  // where "ustar" is in an archive
  const bool is_tar = text.size() > kTarMagic + 5 && text.substr(kTarMagic, 5) == "ustar";
  const JsonFault fault = json_fault(text, offset);
  throw InputError(Diagnostic{"P001", place_of(name, text, offset),
                              cut_off ? "the file ends in the middle, after byte " + std::to_string(text.size())
                              : !fault.what.empty() && !is_tar
                                  ? "not JSON: " + fault.what
                                  : "not JSON from byte " + std::to_string(offset + 1) + " on",
                              is_tar    ? "this is a tar archive: unpack it and import the files in it"
                              : cut_off ? "was the program killed while it wrote?"
                                        : fault.help});
}

namespace {

[[noreturn]] void refuse_trace(std::string_view text, const std::string& name, const char* reason) {
  require_json(text, name);
  throw InputError(Diagnostic{"P001", name, std::string("not JSON: ") + reason, ""});
}

[[noreturn]] void refuse_without_events(std::string_view text, const std::string& name) {
  require_json(text, name);
  throw InputError(Diagnostic{"P010", name, "there is no array \"traceEvents\"",
                              "is this what torch.profiler's export_chrome_trace wrote?"});
}

struct Storage {
  std::string text;  // with simdjson's padding after it
  od::parser parser;
};

}  // namespace

std::shared_ptr<const void> walk_kineto(std::string text, ProblemList& problems, KinetoVisitor& visitor) {
  const auto storage = std::make_shared<Storage>();
  const std::size_t size = text.size();
  storage->text = std::move(text);
  storage->text.append(simdjson::SIMDJSON_PADDING, ' ');
  const std::string_view whole(storage->text.data(), size);
  try {
    od::document document =
        storage->parser.iterate(simdjson::padded_string_view(whole.data(), size, storage->text.size()));
    if (!TraceWalk(problems, visitor).document(document)) refuse_without_events(whole, problems.name());
    const bool more = document.current_location().error() != simdjson::OUT_OF_BOUNDS;  // at_end() came with 3.2
    if (more) refuse_trace(whole, problems.name(), "more follows after its end");
  } catch (const simdjson::simdjson_error& error) {
    refuse_trace(whole, problems.name(), simdjson::error_message(error.error()));
  }
  return storage;
}

}  // namespace debubble
