// JsonDialect: the codes and words with which the JSON readers report what is wrong with one kind of file, so that a
// profile and a run file are read by the same code and complain under their own names.
#pragma once

namespace debubble {

struct JsonDialect {
  const char* not_json;   // "P001"
  const char* not_utf8;   // "P002"
  const char* key_twice;  // "P003"
  const char* too_small;  // "P004"
  const char* unknown_key;
  const char* missing_key;
  const char* wrong_type;
  const char* fraction;
  const char* too_large;
  const char* too_deep;
  const char* empty_text;
  const char* what;         // "profile": what the file is called in messages
  const char* description;  // "docs/profile.schema.json": what describes its keys
};

// Of `debubble.profile/1`, P001 ... P019.
[[nodiscard]] const JsonDialect& profile_dialect();

}  // namespace debubble
