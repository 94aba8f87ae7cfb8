// Stands in for libdebubble_inject.so in the tests of debubble_hooks: writes every call to the file $PUSH_LOG. Without
// a sanitizer even in a build with one, for Python could not load it.
#include <cstdio>
#include <cstdlib>

namespace {

int write_line(const char* first, const char* second) {
  const char* const path = std::getenv("PUSH_LOG");
  std::FILE* const file = path == nullptr ? nullptr : std::fopen(path, "a");
  if (file == nullptr) return -1;
  std::fprintf(file, "%s%s\n", first, second);
  std::fclose(file);
  return 0;
}

}  // namespace

extern "C" {
int debubble_push(const char* text) { return write_line("", text); }
int debubble_pop() { return write_line("pop", ""); }
int debubble_fact(const char* key, const char* value) {
  write_line("fact ", key);
  return write_line("fact ", value);
}
int debubble_active() { return std::getenv("PUSH_LOG") == nullptr ? 0 : 1; }
}
