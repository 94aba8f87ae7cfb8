// Makes SQLite databases for tests.
#pragma once

#include <sqlite3.h>

#include <stdexcept>
#include <string>

namespace debubble::testing {

// Runs these statements on a new database.
class Database {
 public:
  explicit Database(const std::string& sql) {
    sqlite3_open(":memory:", &database_);
    char* problem = nullptr;
    if (sqlite3_exec(database_, sql.c_str(), nullptr, nullptr, &problem) != SQLITE_OK) {
      const std::string text = problem;
      sqlite3_free(problem);
      sqlite3_close(database_);
      throw std::logic_error(text);
    }
  }
  ~Database() { sqlite3_close(database_); }
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // The bytes of its file.
  [[nodiscard]] std::string image() const {
    sqlite3_int64 size = 0;
    unsigned char* bytes = sqlite3_serialize(database_, "main", &size, 0);
    const std::string result(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
    sqlite3_free(bytes);
    return result;
  }

 private:
  sqlite3* database_ = nullptr;
};

}  // namespace debubble::testing
