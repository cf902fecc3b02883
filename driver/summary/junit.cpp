/// Writes records as a JUnit report, which CI servers show.

#include "driver/summary/junit.hpp"

#include <cmath>
#include <fmt/format.h>
#include <map>

#include "driver/base/lookup.hpp"
#include "driver/base/printable.hpp"
#include "driver/judge/judge.hpp"
#include "driver/summary/trial_columns.hpp"
#include "io/records/status.hpp"

namespace gaussweep::driver {
namespace {

using io::Record;
using io::Status;

std::string xml(const std::string& text) {
  static const std::map<char, const char*> entities{
      {'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}};
  std::string out;
  for (const char c : one_line_printable(text)) {
    const char* const* entity = find_in(entities, c);
    out += entity == nullptr ? std::string(1, c) : *entity;
  }
  return out;
}

/// Returns the JUnit element of a test's outcome; empty for a pass.
const char* outcome_of(const Record& r) {
  if (r.status == Status::skipped) return "skipped";
  if (!is_unexpected(r)) return r.status == Status::pass ? "" : "skipped";
  const bool has_answer = r.status == Status::pass || r.status == Status::suspect ||
                          r.status == Status::failed || r.status == Status::diverged;
  return has_answer ? "failure" : "error";
}

std::string message_of(const Record& r) {
  const std::string status(r.status);
  if (r.status == Status::pass) return "passed, although the plan expects another status";
  const std::string why = r.message.empty() ? "" : ": " + std::string(r.message);
  return (is_unexpected(r) || r.status == Status::skipped ? status : status + ", as the plan expects") + why;
}

}  // namespace

void write_junit(const std::vector<Record>& records, const std::function<void(const std::string&)>& write) {
  std::map<std::string, std::vector<const Record*>> suites;
  for (const Record& r : records) suites[fmt::format("{}/{}", r.problem, r.method)].push_back(&r);
  write("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
  for (const auto& [name, method_records] : suites) {
    const TrialColumns trial(method_records, Reader::person);
    const std::vector<Column> columns = trial.columns();
    std::map<std::string, std::size_t> outcomes;
    for (const Record* r : method_records) ++outcomes[outcome_of(*r)];
    write(fmt::format("<testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\">\n",
                      xml(name), method_records.size(), outcomes["failure"], outcomes["error"],
                      outcomes["skipped"]));
    for (const Record* r : method_records) {
      std::string test;
      const std::vector<Cell> cells = trial.cells(*r);
      for (std::size_t c = 0; c < cells.size(); ++c) {
        const std::string text = to_text(cells[c], columns[c].style);
        const bool is_name = std::holds_alternative<std::string>(cells[c]);
        if (!text.empty() && text != name)
          test += (test.empty() ? "" : " ") + (is_name ? text : columns[c].name + "=" + text);
      }
      write(fmt::format("<testcase classname=\"{}\" name=\"{}\" time=\"{}\"", xml(name), xml(test),
                        std::isfinite(r->seconds_median) ? fmt::to_string(r->seconds_median) : "0"));
      const std::string outcome = outcome_of(*r);
      write(outcome.empty()
                ? "/>\n"
                : fmt::format("><{} message=\"{}\"/></testcase>\n", outcome, xml(message_of(*r))));
    }
    write("</testsuite>\n");
  }
  write("</testsuites>\n");
}

}  // namespace gaussweep::driver
