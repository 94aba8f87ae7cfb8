// A SQLite database, read only: tables and columns that may be missing, queries that stream.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace debubble {

class SqliteQuery;

// Views and extensions of the file are not run. Throws InputError P010 when the file cannot be opened or is no
// database, K001 when it is damaged; the latter from every function.
class SqliteFile {
 public:
  explicit SqliteFile(const std::string& path);
  // A database in memory; `name` is for messages.
  SqliteFile(std::string_view image, std::string name);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] bool has_table(const std::string& table) const;
  [[nodiscard]] bool has_column(const std::string& table, const std::string& column) const;
  void run(const std::string& sql) const;
  [[nodiscard]] SqliteQuery query(const std::string& sql) const;

 private:
  using Database = std::unique_ptr<void, int (*)(void*)>;  // of type sqlite3

  [[nodiscard]] static Database open(const std::string& path, const std::string& name);

  std::string name_;
  std::string image_;  // outlives the database
  Database database_;
};

class SqliteQuery {
 public:
  SqliteQuery(void* database, std::string name, const std::string& sql);
  ~SqliteQuery();
  SqliteQuery(SqliteQuery&& other) noexcept;
  SqliteQuery& operator=(SqliteQuery&& other) noexcept;
  SqliteQuery(const SqliteQuery&) = delete;
  SqliteQuery& operator=(const SqliteQuery&) = delete;

  // Moves on to the next row; false when there is none.
  bool next();
  // Of the row, columns counted from 0. Null is 0, or empty; views are valid until `next`.
  [[nodiscard]] std::int64_t number(int column) const;
  [[nodiscard]] std::string_view text(int column) const;
  [[nodiscard]] bool is_null(int column) const;

 private:
  void* statement_ = nullptr;
  std::string name_;
};

}  // namespace debubble
