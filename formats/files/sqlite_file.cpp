#include "formats/files/sqlite_file.hpp"

#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "formats/files/file_roles.hpp"
#include "formats/files/system_reason.hpp"
#include "sim/core/error.hpp"

namespace debubble {
namespace {

sqlite3* as_database(void* database) { return static_cast<sqlite3*>(database); }
sqlite3_stmt* as_statement(void* statement) { return static_cast<sqlite3_stmt*>(statement); }

[[noreturn]] void refuse_database(const std::string& name, int code, const char* reason) {
  if ((code & 0xFF) == SQLITE_NOTADB || (code & 0xFF) == SQLITE_CANTOPEN) {
    throw InputError(Diagnostic{"P010", name, std::string("not an SQLite database: ") + reason,
                                "make one of a report: nsys export --type sqlite report.nsys-rep"});
  }
  throw InputError(Diagnostic{"K001", name, std::string("the database cannot be read: ") + reason,
                              "export the report again: nsys export --type sqlite --force-overwrite true ..."});
}

// SQLite only says that it cannot open the file, and makes a journal of some others.
const std::string& readable_database(const std::string& path) {
  struct stat status {};
  const bool found = ::stat(path.c_str(), &status) == 0;
  const bool readable = found && S_ISREG(status.st_mode) && ::access(path.c_str(), R_OK) == 0;
  if (!readable) {
    const std::string reason = found && S_ISDIR(status.st_mode)    ? system_reason(EISDIR)
                               : found && !S_ISREG(status.st_mode) ? "it is a device or a pipe, not a file"
                                                                   : system_reason(errno);
    throw InputError(
        Diagnostic{"C005", path, "cannot read " + path + ": " + reason, "check the path and its permissions"});
  }
  claim_input_path(path, path);
  return path;
}

std::string sql_quoted(const std::string& text) {
  std::string result = "'";
  for (const char character : text) {
    result += character;
    if (character == '\'') result += character;
  }
  return result + "'";
}

}  // namespace

SqliteFile::SqliteFile(const std::string& path) : name_(path), database_(open(readable_database(path), path)) {
  run("SELECT 1 FROM sqlite_master LIMIT 1");  // the file is not looked at before
}

SqliteFile::SqliteFile(std::string_view image, std::string name)
    : name_(std::move(name)), image_(image), database_(open(":memory:", name_)) {
  auto* bytes = reinterpret_cast<unsigned char*>(image_.data());
  const auto size = static_cast<sqlite3_int64>(image_.size());
  sqlite3_deserialize(as_database(database_.get()), "main", bytes, size, size, SQLITE_DESERIALIZE_READONLY);
  run("SELECT 1 FROM sqlite_master LIMIT 1");
}

SqliteFile::Database SqliteFile::open(const std::string& path, const std::string& name) {
  const auto close = [](void* database) { return sqlite3_close(as_database(database)); };
  sqlite3* opened = nullptr;
  const bool in_memory = path == ":memory:";
  const int flags = in_memory ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY : SQLITE_OPEN_READONLY;
  const int code = sqlite3_open_v2(path.c_str(), &opened, flags, nullptr);
  Database database(opened, close);
  if (code != SQLITE_OK) refuse_database(name, code, opened == nullptr ? "no memory" : sqlite3_errmsg(opened));
  sqlite3_db_config(opened, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(opened, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  sqlite3_db_config(opened, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(opened, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  return database;
}

bool SqliteFile::has_table(const std::string& table) const {
  return query("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = " + sql_quoted(table)).next();
}

bool SqliteFile::has_column(const std::string& table, const std::string& column) const {
  return query("SELECT 1 FROM pragma_table_info(" + sql_quoted(table) + ") WHERE name = " + sql_quoted(column)).next();
}

void SqliteFile::run(const std::string& sql) const {
  SqliteQuery statement = query(sql);
  while (statement.next()) {
  }
}

SqliteQuery SqliteFile::query(const std::string& sql) const { return {database_.get(), name_, sql}; }

SqliteQuery::SqliteQuery(void* database, std::string name, const std::string& sql) : name_(std::move(name)) {
  sqlite3_stmt* statement = nullptr;
  const int code =
      sqlite3_prepare_v2(as_database(database), sql.data(), static_cast<int>(sql.size()), &statement, nullptr);
  if (code != SQLITE_OK) refuse_database(name_, code, sqlite3_errmsg(as_database(database)));
  statement_ = statement;
}

SqliteQuery::~SqliteQuery() { sqlite3_finalize(as_statement(statement_)); }

SqliteQuery::SqliteQuery(SqliteQuery&& other) noexcept
    : statement_(std::exchange(other.statement_, nullptr)), name_(std::move(other.name_)) {}

SqliteQuery& SqliteQuery::operator=(SqliteQuery&& other) noexcept {
  std::swap(statement_, other.statement_);
  std::swap(name_, other.name_);
  return *this;
}

bool SqliteQuery::next() {
  const int code = sqlite3_step(as_statement(statement_));
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  refuse_database(name_, code, sqlite3_errmsg(sqlite3_db_handle(as_statement(statement_))));
}

std::int64_t SqliteQuery::number(int column) const { return sqlite3_column_int64(as_statement(statement_), column); }

std::string_view SqliteQuery::text(int column) const {
  const unsigned char* text = sqlite3_column_text(as_statement(statement_), column);
  if (text == nullptr) return {};
  return {reinterpret_cast<const char*>(text),
          static_cast<std::size_t>(sqlite3_column_bytes(as_statement(statement_), column))};
}

bool SqliteQuery::is_null(int column) const {
  return sqlite3_column_type(as_statement(statement_), column) == SQLITE_NULL;
}

}  // namespace debubble
