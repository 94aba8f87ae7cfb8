// Makes SQLite databases for tests.
#pragma once

#include <string>

namespace debubble::testing {

// Runs these statements on a new database.
class Database {
 public:
  explicit Database(const std::string& sql);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // The bytes of its file.
  [[nodiscard]] std::string image() const;

 private:
  void* database_ = nullptr;
};

}  // namespace debubble::testing
