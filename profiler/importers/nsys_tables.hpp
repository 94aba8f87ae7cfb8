// The queries over an Nsight Systems export, fitted to the tables and columns that it has.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "formats/files/sqlite_file.hpp"

namespace debubble {

// A globalTid holds the process in its upper bits; a globalPid is the same with a thread of 0.
inline constexpr std::int64_t kThreadBits = 0xFFFFFF;

class NsysTables {
 public:
  // `process` as NsysExport has it.
  NsysTables(const SqliteFile& file, std::int64_t process) : file_(file), process_(process) {}

  // start, end, text, globalTid; outer ranges before those that begin with them. A range that was never closed ends at
  // the largest number.
  [[nodiscard]] SqliteQuery ranges() const;
  // launch start or null, launch end, launch globalTid, correlation, kind (0 kernel, 1 copy, 2 set), start, end,
  // device, context, stream, graph node, bytes, copy kind, name; what one call launched is adjacent.
  [[nodiscard]] SqliteQuery work() const;
  // start, device, address, bytes (negative: released); nothing when the export has no such table.
  [[nodiscard]] std::optional<SqliteQuery> memory() const;

 private:
  [[nodiscard]] std::string column(const std::string& table, const std::string& name,
                                   const std::string& otherwise) const;
  [[nodiscard]] std::string of_process(const std::string& column) const;
  [[nodiscard]] std::string work_of(const std::string& table, int kind) const;
  void collect_launches() const;

  const SqliteFile& file_;
  std::int64_t process_;
};

}  // namespace debubble
