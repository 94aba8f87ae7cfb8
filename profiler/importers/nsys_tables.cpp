#include "profiler/importers/nsys_tables.hpp"

#include <vector>

namespace debubble {
namespace {

const std::string kRuntime = "CUPTI_ACTIVITY_KIND_RUNTIME";
const std::string kKernel = "CUPTI_ACTIVITY_KIND_KERNEL";
const std::string kMemoryTable = "CUDA_GPU_MEMORY_USAGE_EVENTS";

}  // namespace

std::string NsysTables::column(const std::string& table, const std::string& name, const std::string& otherwise) const {
  return file_.has_column(table, name) ? name : otherwise;
}

// A condition on a globalTid or globalPid.
std::string NsysTables::of_process(const std::string& column) const {
  if (process_ == 0) return "1";
  return "(" + column + " & ~" + std::to_string(kThreadBits) + ") = " + std::to_string(process_);
}

SqliteQuery NsysTables::ranges() const {
  const std::string table = "NVTX_EVENTS";
  const bool by_id = file_.has_column(table, "textId") && file_.has_table("StringIds");
  const std::string text = column(table, "text", "NULL");
  // 59: push/pop, 60: start/end. A start/end range that ends on another thread nests nowhere.
  std::string which = "eventType IN (59, 60)";
  if (file_.has_column(table, "endGlobalTid")) which += " AND (endGlobalTid IS NULL OR endGlobalTid IN (0, globalTid))";
  // NCCL's ranges are not always popped. 75: a domain is created; its number means another one in every process.
  if (file_.has_column(table, "domainId")) {
    which +=
        " AND (domainId IS NULL OR domainId NOT IN (SELECT domainId FROM NVTX_EVENTS WHERE eventType = 75 AND "
        "domainId IS NOT NULL AND text LIKE 'NCCL%' AND (globalTid IS NULL OR " +
        of_process("globalTid") + ")))";
  }
  return file_.query("SELECT start, COALESCE(end, 9223372036854775807) AS last, " +
                     (by_id ? "COALESCE(" + text + ", (SELECT value FROM StringIds WHERE id = textId))" : text) +
                     ", globalTid FROM NVTX_EVENTS WHERE " + which + " AND " + of_process("globalTid") +
                     " AND start IS NOT NULL ORDER BY start, last DESC, eventType");
}

// By correlation, for the join; the first call wins should an id come twice.
void NsysTables::collect_launches() const {
  file_.run("DROP TABLE IF EXISTS temp.debubble_launch");
  file_.run(
      "CREATE TEMP TABLE debubble_launch(correlation INTEGER PRIMARY KEY, start INTEGER, end INTEGER, tid INTEGER)");
  file_.run("INSERT OR IGNORE INTO debubble_launch SELECT correlationId, start, end, globalTid FROM " + kRuntime +
            " WHERE correlationId > 0 AND " + of_process("globalTid"));
}

std::string NsysTables::work_of(const std::string& table, int kind) const {
  const bool kernel = table == kKernel;
  const std::string name = column(table, "demangledName", column(table, "shortName", "NULL"));
  return "SELECT " + std::to_string(kind) + " AS kind, start, end, " + column(table, "deviceId", "0") + " AS device, " +
         column(table, "contextId", "0") + " AS context, " + column(table, "streamId", "0") + " AS stream, " +
         column(table, "correlationId", "0") + " AS correlation, " + column(table, "graphNodeId", "0") +
         " AS graphNode, " + column(table, "bytes", "0") + " AS bytes, " + column(table, "copyKind", "0") +
         " AS copyKind, " + (kernel ? name : "NULL") + " AS nameId FROM " + table + " WHERE start IS NOT NULL AND " +
         (file_.has_column(table, "globalPid") ? of_process("globalPid") : "1");
}

SqliteQuery NsysTables::work() const {
  collect_launches();
  std::string all;
  int kind = 0;
  for (const char* table : {"CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_MEMSET"}) {
    if (file_.has_table(table)) all += (all.empty() ? "" : " UNION ALL ") + work_of(table, kind);
    ++kind;
  }
  const bool names = file_.has_table("StringIds");
  return file_.query(
      "SELECT l.start, l.end, l.tid, w.correlation, w.kind, w.start, w.end, w.device, w.context, "
      "w.stream, w.graphNode, w.bytes, w.copyKind, " +
      std::string(names ? "(SELECT value FROM StringIds WHERE id = w.nameId)" : "NULL") + " FROM (" + all +
      ") AS w LEFT JOIN debubble_launch AS l ON l.correlation = w.correlation "
      "ORDER BY COALESCE(l.start, w.start), w.correlation, w.start, w.stream");
}

std::optional<SqliteQuery> NsysTables::memory() const {
  for (const char* needed : {"start", "bytes", "address", "memoryOperationType"}) {
    if (!file_.has_column(kMemoryTable, needed)) return std::nullopt;
  }
  // Which numbers mean what, is said by tables of their own where the export has them.
  std::string released = "(1)";
  if (file_.has_column("ENUM_CUDA_DEV_MEM_EVENT_OPER", "label")) {
    released =
        "(SELECT id FROM ENUM_CUDA_DEV_MEM_EVENT_OPER WHERE label LIKE '%dealloc%' OR label LIKE '%free%' OR "
        "label LIKE '%release%')";
  }
  std::string device = "1";
  if (file_.has_column(kMemoryTable, "memKind")) {
    device = file_.has_column("ENUM_CUDA_MEM_KIND", "label")
                 ? "memKind IN (SELECT id FROM ENUM_CUDA_MEM_KIND WHERE label LIKE 'device')"
                 : "memKind = 2";
  }
  return file_.query("SELECT start, " + column(kMemoryTable, "deviceId", "0") +
                     ", address, CASE WHEN memoryOperationType IN " + released + " THEN -bytes ELSE bytes END FROM " +
                     kMemoryTable + " WHERE start IS NOT NULL AND " + device + " AND " +
                     (file_.has_column(kMemoryTable, "globalPid") ? of_process("globalPid") : "1") + " ORDER BY start");
}

}  // namespace debubble
