#include "tests/recording/nsys_rows.hpp"

#include <sqlite3.h>

#include <functional>
#include <memory>
#include <stdexcept>

namespace debubble::testing {

namespace {

using Statement = sqlite3_stmt;

template <class Number>
Number number(Statement* row, int column) {
  return static_cast<Number>(sqlite3_column_int64(row, column));
}

std::string text(Statement* row, int column) {
  const auto* const bytes = reinterpret_cast<const char*>(sqlite3_column_text(row, column));
  return bytes == nullptr ? std::string() : std::string(bytes);
}

class Export {
 public:
  explicit Export(const std::string& path) {
    sqlite3* opened = nullptr;
    const int result = sqlite3_open_v2(path.c_str(), &opened, SQLITE_OPEN_READONLY, nullptr);
    database_.reset(opened);
    if (result != SQLITE_OK) fail();
  }

  void each(const std::string& query, const std::function<void(Statement*)>& take) const {
    Statement* prepared = nullptr;
    if (sqlite3_prepare_v2(database_.get(), query.c_str(), -1, &prepared, nullptr) != SQLITE_OK) fail();
    const std::unique_ptr<Statement, int (*)(Statement*)> statement(prepared, sqlite3_finalize);
    int result = SQLITE_OK;
    while ((result = sqlite3_step(prepared)) == SQLITE_ROW) take(prepared);
    if (result != SQLITE_DONE) fail();
  }

  [[nodiscard]] bool has(const std::string& table) const {
    bool found = false;
    each("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = '" + table + "'",
         [&](Statement*) { found = true; });
    return found;
  }

 private:
  [[noreturn]] void fail() const { throw std::runtime_error(sqlite3_errmsg(database_.get())); }

  std::unique_ptr<sqlite3, int (*)(sqlite3*)> database_{nullptr, sqlite3_close};
};

void read_ranges(const Export& file, NsysRows& rows) {
  file.each(
      "SELECT n.start, n.end, n.globalTid, n.domainId, coalesce(n.text, s.value) FROM NVTX_EVENTS n "
      "LEFT JOIN StringIds s ON s.id = n.textId WHERE n.eventType = 59 ORDER BY n.start, n.end DESC, n.rowid",
      [&](Statement* row) {
        rows.ranges.push_back({number<std::int64_t>(row, 0), number<std::int64_t>(row, 1), number<std::int64_t>(row, 2),
                               number<std::int64_t>(row, 3), text(row, 4)});
      });
  file.each("SELECT domainId, text FROM NVTX_EVENTS WHERE eventType = 75",
            [&](Statement* row) { rows.domains[number<std::int64_t>(row, 0)] = text(row, 1); });
}

void read_calls(const Export& file, NsysRows& rows) {
  file.each(
      "SELECT r.start, r.end, r.globalTid, r.correlationId, s.value FROM CUPTI_ACTIVITY_KIND_RUNTIME r "
      "JOIN StringIds s ON s.id = r.nameId ORDER BY r.start",
      [&](Statement* row) {
        rows.calls.push_back({number<std::int64_t>(row, 0), number<std::int64_t>(row, 1), number<std::int64_t>(row, 2),
                              number<std::uint32_t>(row, 3), text(row, 4)});
      });
}

void read_work(const Export& file, NsysWork::Table kind, const std::string& table, const std::string& special,
               NsysRows& rows) {
  if (!file.has(table)) return;
  file.each("SELECT start, end, deviceId, contextId, streamId, correlationId, graphNodeId, " + special + " FROM " +
                table + " w ORDER BY start",
            [&](Statement* row) {
              NsysWork work;
              work.table = kind;
              work.begin = number<std::uint64_t>(row, 0);
              work.end = number<std::uint64_t>(row, 1);
              work.device = number<std::uint32_t>(row, 2);
              work.context = number<std::uint32_t>(row, 3);
              work.stream = number<std::uint32_t>(row, 4);
              work.correlation = number<std::uint32_t>(row, 5);
              work.graph_node = number<std::uint64_t>(row, 6);
              work.bytes = number<std::uint64_t>(row, 7);
              work.copy_kind = number<std::uint8_t>(row, 8);
              work.name = text(row, 9);
              rows.work.push_back(work);
            });
}

void read_memory(const Export& file, NsysRows& rows) {
  if (!file.has("CUDA_GPU_MEMORY_USAGE_EVENTS")) return;
  file.each(
      "SELECT start, deviceId, address, bytes, memKind, memoryOperationType FROM CUDA_GPU_MEMORY_USAGE_EVENTS "
      "ORDER BY start",
      [&](Statement* row) {
        rows.memory.push_back({number<std::int64_t>(row, 0), number<std::uint32_t>(row, 1),
                               number<std::uint64_t>(row, 2), number<std::uint64_t>(row, 3),
                               number<std::int64_t>(row, 4), number<std::int64_t>(row, 5)});
      });
}

}  // namespace

NsysRows read_nsys_rows(const std::string& path) {
  const Export file(path);
  NsysRows rows;
  read_ranges(file, rows);
  read_calls(file, rows);
  using Table = NsysWork::Table;
  read_work(file, Table::kKernel, "CUPTI_ACTIVITY_KIND_KERNEL",
            "0, 0, (SELECT value FROM StringIds WHERE id = w.demangledName)", rows);
  read_work(file, Table::kMemcpy, "CUPTI_ACTIVITY_KIND_MEMCPY", "bytes, copyKind, NULL", rows);
  read_work(file, Table::kMemset, "CUPTI_ACTIVITY_KIND_MEMSET", "bytes, 0, NULL", rows);
  read_memory(file, rows);
  return rows;
}

}  // namespace debubble::testing
