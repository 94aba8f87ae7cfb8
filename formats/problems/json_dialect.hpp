// JsonDialect: the words with which the JSON readers report what is wrong with one kind of file. The codes are the same
// for every kind (P001 to P022): the place names the file.
#pragma once

namespace debubble {

struct JsonDialect {
  const char* what;         // "profile": what the file is called in messages
  const char* description;  // "docs/profile.schema.json": what describes its keys
};

// Of `debubble.profile/1`.
[[nodiscard]] const JsonDialect& profile_dialect();

}  // namespace debubble
