#include "tests/importers/database.hpp"

#include <sqlite3.h>

#include <stdexcept>

namespace debubble::testing {

Database::Database(const std::string& sql) {
  sqlite3* database = nullptr;
  sqlite3_open(":memory:", &database);
  database_ = database;
  char* problem = nullptr;
  if (sqlite3_exec(database, sql.c_str(), nullptr, nullptr, &problem) == SQLITE_OK) return;
  const std::string text = problem;
  sqlite3_free(problem);
  sqlite3_close(database);
  throw std::logic_error(text);
}

Database::~Database() { sqlite3_close(static_cast<sqlite3*>(database_)); }

std::string Database::image() const {
  sqlite3_int64 size = 0;
  unsigned char* bytes = sqlite3_serialize(static_cast<sqlite3*>(database_), "main", &size, 0);
  std::string result(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
  sqlite3_free(bytes);
  return result;
}

}  // namespace debubble::testing
