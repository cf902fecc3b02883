/// Writes results as a SQLite database; declared in io/records/data_tables.hpp.

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <set>

#ifdef GAUSSWEEP_HAS_SQLITE
#include <sqlite3.h>
#endif

#include "io/files/atomic_file.hpp"
#include "io/records/data_tables.hpp"

namespace gaussweep::io {

std::vector<std::string> sqlite_companions(const std::filesystem::path& path) {
  return {path.string() + "-wal", path.string() + "-journal", path.string() + "-shm"};
}

#ifndef GAUSSWEEP_HAS_SQLITE

void write_sqlite(const std::filesystem::path& path, const Results&, const std::vector<std::string>&) {
  throw StorageError(path.string() + ": this build has no libsqlite3; write CSV or JSON");
}

#else

namespace {

/// Views for the most frequent questions (docs/formats.md). In `best`, methods compete if their records agree
/// in all columns after PARTITION BY. For gemm these include matrix_parameters, because matrix_digest
/// identifies A only. {conditions} is replaced by further such columns, e.g. `cache`.
///
/// In `failures`, expected = 0 means that the plan did not expect the status.
constexpr const char* view_template = R"(
CREATE INDEX samples_of_trial ON samples(trial);
CREATE INDEX stages_of_trial ON stages(trial);
CREATE VIEW best AS SELECT * FROM (
  SELECT *, row_number() OVER (PARTITION BY problem, precision, m, n, k, nrhs, batch, uplo, matrix_digest, matrix_seed,
    CASE problem WHEN 'gemm' THEN matrix_parameters ELSE '' END{conditions}, gpu_name ORDER BY backend = 'emulated', seconds_median) AS place
  FROM records WHERE status = 'pass' AND seconds_median > 0) WHERE place = 1;
CREATE VIEW speedups AS SELECT trial, problem, method, backend, precision, n, nrhs, batch, matrix, gpu_name, parameters,
  seconds_median, reference_method, reference_seconds, reference_seconds / seconds_median AS speedup
  FROM records WHERE status = 'pass' AND seconds_median > 0 AND reference_seconds > 0 AND backend <> 'emulated';
CREATE VIEW failures AS SELECT trial, problem, method, backend, precision, n, nrhs, batch, matrix, gpu_name, parameters,
  status, expected, residual_ratio, tolerance, message
  FROM records WHERE status NOT IN ('pass', 'skipped') OR expected = 0;
CREATE VIEW sample_times AS SELECT problem, method, backend, precision, n, nrhs, batch, matrix, gpu_name, parameters,
  samples.* FROM samples JOIN records USING (trial);
CREATE VIEW stage_times AS SELECT problem, method, backend, precision, n, nrhs, batch, matrix, gpu_name, parameters,
  stages.* FROM stages JOIN records USING (trial);
)";

/// Returns the SQL that creates the views, with the conditions in the view `best`.
std::string views(const std::vector<std::string>& conditions) {
  std::string text = view_template, columns;
  for (const std::string& condition : conditions) columns += ", " + condition;
  const std::string place = "{conditions}";
  return text.replace(text.find(place), place.size(), columns);
}

struct DatabaseCloser {
  void operator()(sqlite3* database) const { sqlite3_close(database); }
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};

std::string quoted_name(const std::string& name) {
  std::string quoted = "\"";
  for (const char c : name) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

/// Makes column names unique. SQLite ignores the case of ASCII letters, so the later of two such names gets a
/// number: "NB", then "nb_2".
class ColumnNames {
 public:
  std::string make_unique_name(const std::string& name) {
    std::string unique = name;
    for (int number = 2; !taken_.insert(lower(unique)).second; ++number)
      unique = name + "_" + std::to_string(number);
    return unique;
  }

 private:
  static std::string lower(std::string name) {
    for (char& letter : name) {
      if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
    }
    return name;
  }
  std::set<std::string> taken_;
};

/// A database under construction.
class Database {
 public:
  Database(const std::filesystem::path& path, const std::filesystem::path& temporary) : path_(path) {
    sqlite3* opened = nullptr;
    const int code = sqlite3_open(temporary.c_str(), &opened);
    database_.reset(opened);
    require(code == SQLITE_OK);
    // The database is a temporary file that is renamed when complete, so SQLite needs no journal.
    run("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN");
  }
  void run(const std::string& sql) {
    require(sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK);
  }
  /// Creates a table with all rows. @param key the name of the column that is the primary key; empty: none
  void put(const DataTable& table, const std::string& key) {
    std::string columns, placeholders;
    ColumnNames unique_names;
    std::vector<std::string> names;
    for (const DataColumn& column : table.columns) {
      const char* separator = columns.empty() ? "" : ", ";
      names.push_back(unique_names.make_unique_name(column.name));
      // A record has the number of GPUs as text; SQLite converts a text to the type of its column.
      const char* type = column.name == key           ? " INTEGER PRIMARY KEY"
                         : column.name == "gpu_count" ? " INTEGER"
                                                      : "";
      columns += separator + quoted_name(names.back()) + type;
      placeholders += std::string(separator) + "?";
    }
    run("CREATE TABLE " + table.name + "(" + columns + ")");
    const Statement insert = prepare("INSERT INTO " + table.name + " VALUES (" + placeholders + ")");
    const Statement unit = prepare("INSERT INTO units VALUES (?, ?, ?)");
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (!table.columns[i].unit.empty()) step(unit.get(), {table.name, names[i], table.columns[i].unit});
    }
    table.each_row([&](const std::vector<DataCell>& cells) { step(insert.get(), cells); });
  }
  void close() {
    run("COMMIT");
    require(sqlite3_close(database_.get()) == SQLITE_OK);
    database_.release();  // it is closed already
  }

 private:
  using Statement = std::unique_ptr<sqlite3_stmt, DatabaseCloser>;
  void require(bool succeeded) const {
    if (!succeeded) throw StorageError(path_.string() + ": " + sqlite3_errmsg(database_.get()));
  }
  Statement prepare(const std::string& sql) const {
    sqlite3_stmt* statement = nullptr;
    require(sqlite3_prepare_v2(database_.get(), sql.c_str(), -1, &statement, nullptr) == SQLITE_OK);
    return Statement(statement);
  }
  /// Runs a statement with these cells as parameters. SQLite stores NaN as NULL.
  void step(sqlite3_stmt* statement, const std::vector<DataCell>& cells) const {
    int position = 1;
    for (const DataCell& cell : cells) {
      int code = SQLITE_OK;
      if (const auto* text = std::get_if<std::string>(&cell)) {
        code =
            sqlite3_bind_text64(statement, position, text->data(), text->size(), SQLITE_STATIC, SQLITE_UTF8);
      } else if (const auto* whole = std::get_if<std::int64_t>(&cell)) {
        code = sqlite3_bind_int64(statement, position, *whole);
      } else if (const auto* number = std::get_if<double>(&cell)) {
        code = sqlite3_bind_double(statement, position, *number);
      } else {
        code = sqlite3_bind_null(statement, position);
      }
      require(code == SQLITE_OK);
      ++position;
    }
    require(sqlite3_step(statement) == SQLITE_DONE);
    require(sqlite3_reset(statement) == SQLITE_OK);
  }

  const std::filesystem::path& path_;
  std::unique_ptr<sqlite3, DatabaseCloser> database_;
};

}  // namespace

void write_sqlite(const std::filesystem::path& path, const Results& results,
                  const std::vector<std::string>& conditions) {
  AtomicFile file(path);
  Database database(path, file.temporary());
  database.run("CREATE TABLE units(table_name, column_name, unit)");
  for (const std::string& name : data_table_names())
    database.put(data_table(results, name), name == "records" ? "trial" : "");
  database.run(views(conditions));
  database.close();
  // SQLite would apply the auxiliary files of an older database of this name to the new one, so they are
  // removed first. If this process is killed before the new database replaces the old one, the old one lacks
  // its last changes. It is never a mixture of both.
  for (const std::string& name : sqlite_companions(path)) {
    if (::unlink(name.c_str()) != 0 && errno != ENOENT)
      throw StorageError(name +
                         ": belongs to an older database and cannot be removed: " + std::strerror(errno));
  }
  file.commit();
}

#endif

}  // namespace gaussweep::io
