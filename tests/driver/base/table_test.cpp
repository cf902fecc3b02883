#include "driver/base/table.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "driver/base/errors.hpp"

namespace gaussweep::driver {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

Table example() {
  Table table;
  table.columns = {{"method", "METHOD"}, {"n", "N"}, {"seconds", "TIME", Style::seconds}, {"note", "NOTE"}};
  table.rows = {{"gesv/lapack", std::int64_t{512}, 0.00123, {}}, {"é", std::int64_t{8}, nan, {}}};
  return table;
}

TEST(Table, TextIsAlignedAndLeavesEmptyColumnsOut) {
  EXPECT_EQ(render_text(example()),
            "METHOD         N     TIME\n"
            "gesv/lapack  512  1.23 ms\n"
            "é              8\n");
}

TEST(Table, WhatAllRowsAgreeInIsSaidOnceWhereItMay) {
  Table table;
  table.columns = {{"n", "N", Style::plain, true},
                   {"gpu", "GPU", Style::plain, true},
                   {"none", "NONE", Style::plain, true},
                   {"status", "STATUS"},
                   {"kind", "KIND", Style::plain, true}};
  table.rows = {{std::int64_t{8}, "H200", {}, "pass", "spd"}, {std::int64_t{8}, "H200", {}, "pass", "ones"}};
  EXPECT_EQ(render_text(table),
            "All rows: N 8, GPU H200\n"
            "STATUS  KIND\n"
            "pass    spd\n"
            "pass    ones\n");
  EXPECT_EQ(render_csv(table), "n,gpu,none,status,kind\n8,H200,,pass,spd\n8,H200,,pass,ones\n");
  table.rows.pop_back();
  EXPECT_EQ(render_text(table),
            "N  GPU   STATUS  KIND\n"
            "8  H200  pass    spd\n")
      << "of one row nothing is taken out";
}

TEST(Table, WithoutRowsIsEmpty) {
  Table table = example();
  table.rows.clear();
  EXPECT_EQ(render_text(table), "");
  EXPECT_EQ(render_csv(table), "method,n,seconds,note\n");
  EXPECT_EQ(render_json(table).dump(), "[]");
}

TEST(Table, CsvQuotesAndKeepsNumbersExact) {
  Table table;
  table.columns = {{"text", "T"}, {"number", "N"}};
  table.rows = {{"a,b", 0.1}, {"say \"x\"\nthen", 1.0 / 3}, {"plain", nan}, {"", inf}};
  EXPECT_EQ(render_csv(table),
            "text,number\n"
            "\"a,b\",0.1\n"
            "\"say \"\"x\"\"\nthen\",0.3333333333333333\n"
            "plain,\n"
            ",inf\n");
}

TEST(Table, JsonKeepsTheOrderOfColumns) {
  EXPECT_EQ(render_json(example()).dump(),
            R"([{"method":"gesv/lapack","n":512,"seconds":0.00123,"note":null},)"
            R"({"method":"é","n":8,"seconds":null,"note":null}])");
  EXPECT_EQ(number_json(inf).dump(), "\"inf\"");
  EXPECT_EQ(number_json(-inf).dump(), "\"-inf\"");
}

TEST(Table, Styles) {
  EXPECT_EQ(to_text(0.5, Style::percent), "50.0%");
  EXPECT_EQ(to_text(2.5, Style::factor), "2.50x");
  EXPECT_EQ(to_text(1234.0, Style::factor), "1234x");
  EXPECT_EQ(to_text(1.23e-16, Style::scientific), "1.2e-16");
  EXPECT_EQ(to_text(std::int64_t{3} << 29, Style::bytes), "1.5 GiB");
  EXPECT_EQ(to_text(512.0, Style::bytes), "512 B");
}

TEST(Table, FormatsByName) {
  EXPECT_EQ(parse_format("csv"), Format::csv);
  try {
    parse_format("xml");
    FAIL() << "xml is no format";
  } catch (const UsageError& e) {
    EXPECT_STREQ(e.what(), "--format xml: unknown format; allowed are table, csv, json");
  }
}

}  // namespace
}  // namespace gaussweep::driver
