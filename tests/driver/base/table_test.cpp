// Tests tables in every output format: text, CSV, JSON, Markdown, LaTeX.

#include "driver/base/table.hpp"
#include "driver/base/errors.hpp"
#include "tests/testing.hpp"

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

std::string text_of(const Table& table, std::size_t width = any_width) {
  return render_text(table, width);
}

TEST(Table, AlignsTextAndOmitsEmptyColumns) {
  EXPECT_EQ(text_of(example()),
            "METHOD         N  TIME ms\n"
            "gesv/lapack  512     1.23\n"
            "é              8\n");
}

TEST(Table, AlignsDecimalPointsAndUsesOneUnitPerColumn) {
  Table table;
  table.columns = {{"time", "TIME", Style::seconds},
                   {"rate", "RATE"},
                   {"memory", "MEMORY", Style::bytes},
                   {"ratio", "RATIO", Style::scientific}};
  table.rows = {{20.4e-6, 0.02981, std::int64_t{3} << 29, 1.2e-16},
                {1.23e-3, 1234.0, std::int64_t{1} << 20, 0.5},
                {4.61e-1, inf, std::int64_t{5} << 30, nan},
                {5.012, nan, {}, 31.0}};
  EXPECT_EQ(text_of(table),
            "  TIME ms        RATE  MEMORY GiB    RATIO\n"
            "   0.0204     0.02981         1.5  1.2e-16\n"
            "   1.23    1234               0.0      0.5\n"
            " 461        inf               5.0\n"
            "5012                                    31\n");
}

TEST(Table, ColumnsShareOneUnit) {
  Table table;
  table.columns = {{"n", "N"}, {"base", "BASE", Style::seconds}, {"now", "NEW", Style::seconds}};
  table.rows = {{std::int64_t{5}, 47.5e-6, 43.1e-3}};
  EXPECT_EQ(text_of(table), "N  BASE us  NEW ms\n5     47.5    43.1\n");
  table.droppable = {"base now"};
  EXPECT_EQ(text_of(table), "N  BASE ms  NEW ms\n5   0.0475    43.1\n");
}

TEST(Table, RendersMarkdownWithEscapedMarkup) {
  Table table = example();
  table.rows.push_back({"gesv/gauss_pivot|x", std::int64_t{4}, 1.0, {}});
  EXPECT_EQ(render_markdown(table),
            "\n| METHOD | N | TIME s |\n|---|---:|---:|\n"
            "| gesv/lapack | 512 | 0.00123 |\n| é | 8 |  |\n| gesv/gauss\\_pivot\\|x | 4 | 1.00    |\n");
  table.rows.clear();
  EXPECT_EQ(render_markdown(table), "");
}

TEST(Table, RendersLatexWithEscapedTextAndAlignedPoints) {
  Table table = example();
  table.rows.push_back({"gesv/gauss_pivot 50%", std::int64_t{4}, 1.0, {}});
  EXPECT_EQ(render_latex(table),
            "\\begin{tabular}{lrr}\n\\toprule\nMETHOD & N & TIME s \\\\\n\\midrule\n"
            "gesv/lapack & 512 & 0.00123 \\\\\né & 8 &  \\\\\n"
            "gesv/gauss\\_pivot 50\\% & 4 & 1.00\\phantom{000} \\\\\n\\bottomrule\n\\end{tabular}\n");
  EXPECT_EQ(latex_cell("a<b\\c"), "a\\textless{}b\\textbackslash{}c");
  EXPECT_EQ(latex_cell("[1].mtx"), "{[}1].mtx");  // \\ before it would take [1] as its argument
  EXPECT_EQ(latex_cell("R²_é 漢α𝄞þ"), "R²\\_é {[}6F22]{[}3B1]{[}1D11E]{[}FE]");
  EXPECT_EQ(latex_cell("a---\"b"), "a-{}-{}-{\\ttfamily\\char34}b");
  EXPECT_EQ(latex_cell("Čźů"), "\\v{C}\\'{z}\\r{u}");  // as in the report's captions
  EXPECT_EQ(comment_lines_if_latex("All rows:\n\nn 8\n", Format::latex), "% All rows:\n\n% n 8\n");
  EXPECT_EQ(comment_lines_if_latex("n 8\n", Format::markdown), "n 8\n");
  table.rows.clear();
  EXPECT_EQ(render_latex(table), "");
}

TEST(Table, StatesCommonValuesOnce) {
  Table table;
  table.columns = {{"n", "N"},
                   {"gpu", "GPU"},
                   {"none", "NONE"},
                   {"limit", "LIMIT", Style::seconds},
                   {"status", "STATUS"},
                   {"kind", "KIND"},
                   {"time", "TIME", Style::seconds}};
  table.rows = {{std::int64_t{8}, "H200", {}, 600.0, "pass", "spd", 1.2341},
                {std::int64_t{8}, "H200", {}, 600.0, "pass", "ones", 1.2344}};
  EXPECT_EQ(text_of(table),
            "All rows: N 8, GPU H200, LIMIT 600 s, STATUS pass\n"
            "KIND  TIME s\n"
            "spd     1.23\n"
            "ones    1.23\n")
      << "different times with equal text";
  EXPECT_EQ(render_csv(table),
            "n,gpu,none,limit,status,kind,time\n8,H200,,600,pass,spd,1.2341\n8,H200,,600,pass,ones,1.2344\n");
  table.rows[1] = table.rows[0];
  EXPECT_EQ(text_of(table),
            "All rows: N 8, GPU H200, LIMIT 600 s, STATUS pass, KIND spd\n"
            "TIME s\n"
            "  1.23\n"
            "  1.23\n")
      << "at least one column is kept";
  table.kept = {"status"};
  EXPECT_EQ(text_of(table),
            "All rows: N 8, GPU H200, LIMIT 600 s, KIND spd, TIME 1.234 s\n"
            "STATUS\n"
            "pass\n"
            "pass\n");
  table.rows.pop_back();
  EXPECT_EQ(text_of(table),
            "N  GPU   LIMIT s  STATUS  KIND  TIME s\n"
            "8  H200      600  pass    spd     1.23\n")
      << "one row keeps all columns";
}

TEST(Table, WrapsLongTextsThenDropsOptionalColumns) {
  Table table;
  table.columns = {{"method", "METHOD"}, {"n", "N"}, {"key", "KEY"}, {"cause", "CAUSE"}};
  table.rows = {{"gesv/gauss_cyclic_decrement", std::int64_t{64}, "0123456789", "the residual is too large"},
                {"gesv/lapack", std::int64_t{1024}, "abcdefghij", "no memory"}};
  table.droppable = {"cause_of_all", "key"};
  EXPECT_EQ(text_of(table, 74), text_of(table)) << "just fits";
  EXPECT_EQ(text_of(table, 62),
            "METHOD                          N  CAUSE\n"
            "gesv/gauss_cyclic_decrement    64  the residual is too large\n"
            "gesv/lapack                  1024  no memory\n"
            "Not shown in 62 columns: KEY\n")
      << "names are never wrapped";
  EXPECT_EQ(text_of(table, 50),
            "METHOD                          N  CAUSE\n"
            "gesv/gauss_cyclic_decrement    64  the residual is\n"
            "                                   too large\n"
            "gesv/lapack                  1024  no memory\n"
            "Not shown in 50 columns: KEY\n");
  for (const std::size_t width : {30, 40, 80, 120, 200}) {
    std::istringstream lines(text_of(table, width));
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), width) << line;
  }
  EXPECT_EQ(text_of(table, 3).substr(0, 6), "METHOD") << "narrower than possible";
}

TEST(Table, JoinsIdentifyingColumnsBeforeItDropsAny) {
  Table table;
  table.columns = {{"method", "METHOD"},          {"n", "N"},
                   {"parameters", "PARAMETERS"},  {"low", "FROM", Style::factor},
                   {"high", "TO", Style::factor}, {"time", "TIME", Style::seconds}};
  table.rows = {{"gesv/gauss_cyclic_decrement", std::int64_t{64}, "back_substitution=pipelined blocks=4", 1.0,
                 2.0, 1e-3},
                {"gesv/gauss_cyclic_halving", std::int64_t{128}, {}, 1.5, 2.5, 2e-3}};
  table.key_columns = 3;
  table.droppable = {"low high"};
  table.common = "threads=0";
  EXPECT_EQ(text_of(table, 50),
            "Parameters with one value: threads=0\n"
            "METHOD N PARAMETERS                        TIME ms\n"
            "gesv/gauss_cyclic_decrement n=64              1.00\n"
            "  back_substitution=pipelined blocks=4\n"
            "gesv/gauss_cyclic_halving n=128               2.00\n"
            "Not shown in 50 columns: FROM, TO\n");
}

TEST(Table, WithoutRowsHasOnlyTheHeader) {
  Table table = example();
  table.rows.clear();
  EXPECT_EQ(text_of(table), "");
  EXPECT_EQ(render_csv(table), "method,n,seconds,note\n");
  EXPECT_EQ(render_json(table).dump(), "[]");
}

TEST(Table, CsvQuotesTextAndKeepsNumbersExact) {
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

TEST(Table, JsonKeepsTheColumnOrder) {
  EXPECT_EQ(render_json(example()).dump(),
            R"([{"method":"gesv/lapack","n":512,"seconds":0.00123,"note":null},)"
            R"({"method":"é","n":8,"seconds":null,"note":null}])");
  EXPECT_EQ(number_json(inf).dump(), "\"inf\"");
  EXPECT_EQ(number_json(-inf).dump(), "\"-inf\"");
}

TEST(Table, FormatsEveryStyle) {
  EXPECT_EQ(to_text(0.5, Style::percent), "50.0%");
  EXPECT_EQ(to_text(2.5, Style::factor), "2.50x");
  EXPECT_EQ(to_text(1234.0, Style::factor), "1234x");
  EXPECT_EQ(to_text(0.00114, Style::factor), "0.0011x");
  EXPECT_EQ(to_text(1.23e-16, Style::scientific), "1.2e-16");
  EXPECT_EQ(to_text(std::numeric_limits<double>::max(), Style::scientific), "inf");
  EXPECT_EQ(to_text(std::int64_t{3} << 29, Style::bytes), "1.5 GiB");
  EXPECT_EQ(to_text(512.0, Style::bytes), "512 B");
}

TEST(Table, ParsesFormatNames) {
  EXPECT_EQ(parse_format("csv"), Format::csv);
  const std::string message = message_of<UsageError>([&] { parse_format("xml"); });
  EXPECT_EQ(message, "--format xml: unknown format; allowed are table, csv, json, markdown, latex");
}

}  // namespace
}  // namespace gaussweep::driver
