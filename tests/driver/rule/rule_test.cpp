// A rule names the fastest measured method for given sizes on a given device. It is exported as rule.h,
// rule.py and rule.json. These tests check that the three files give the same answers as Rule::find.

#include "driver/rule/rule.hpp"
#include "driver/base/errors.hpp"
#include "io/files/errors.hpp"
#include "tests/driver/rule/rule_records.hpp"
#include "tests/testing.hpp"

namespace gaussweep::driver {
namespace {

/// A rule of two devices, several problems and names, with text that needs escapes in C and Python.
Rule example_rule() {
  io::Results results;
  // Seconds of two methods for order n, r right-hand sides and batches of b: the first one is faster for
  // small matrices in large batches, the second one for large matrices.
  const auto fast_if_small = [](double n, double r, double b) {
    return 1e-5 + 4e-9 * n * n * n * (1 + 0.01 * r) * (3 + b);
  };
  const auto fast_if_large = [](double n, double r, double b) {
    return (1e-3 + 1e-9 * n * n * n) * (1 + 0.1 * r) * b;
  };
  for (const char* precision : {"float", "double"}) {
    for (const char* matrix : {"uniform", "a \"b\"\\c?\?/\xf0\x9f\x98\x80.mtx"}) {
      for (const std::int64_t n : {10, 20, 40, 80, 160, 320, 640}) {
        for (const std::int64_t nrhs : {1, 4, 16}) {
          for (const std::int64_t batch : {1, 10, 100}) {
            for (const char* gpu : {"NVIDIA H200",
                                    "NVIDIA \xc2\xb5"
                                    "100"}) {
              io::Record batched =
                  formula_record("batched", fast_if_small, n, nrhs, batch, precision, matrix);
              batched.parameters = R"({"kernel":"rows","share":0.5,"is_wide":true})";
              io::Record vendor =
                  formula_record("cusolver", fast_if_large, n, nrhs, batch, precision, matrix);
              batched.gpu_name = vendor.gpu_name = gpu;
              for (const char* problem : {"gesv", "getrf"}) {
                batched.problem = vendor.problem = problem;
                results.records.push_back(batched);
                results.records.push_back(vendor);
              }
            }
          }
        }
      }
    }
  }
  return learn_rule(results);
}

int shell(const std::string& command) {
  return std::system(command.c_str());
}

/// Reads questions, one per line with tabs between the fields, and prints the answers of rule.h.
constexpr const char* c_program = R"(
#include <stdio.h>
#include <stdlib.h>
#include "rule.h"
int main(void) {
  static char line[4096];
  while (fgets(line, sizeof line, stdin)) {
    char *field[8];
    int i;
    gaussweep_choice choice;
    line[strcspn(line, "\n")] = 0;
    field[0] = line;
    for (i = 1; i < 8; ++i) {
      field[i] = strchr(field[i - 1], '\t');
      *field[i]++ = 0;
    }
    choice = (strcmp(field[0], "gesv") == 0 ? gaussweep_gesv : gaussweep_getrf)(
        field[1], field[2], field[3], field[4], atol(field[5]), atol(field[6]), atol(field[7]));
    if (choice.method) printf("%s %s\n", choice.method, choice.parameters);
    else printf("not measured\n");
  }
  return 0;
}
)";

constexpr const char* python_program = R"(
import json, sys
import rule
for line in open(sys.argv[1], encoding="utf-8"):
    problem, device, precision, uplo, matrix, n, nrhs, batch = line.rstrip("\n").split("\t")
    answer = rule.choose(problem, device, precision, int(n), int(nrhs), int(batch), uplo, matrix)
    if answer is None:
        print("not measured")
    else:
        print(answer[0], json.dumps(answer[1], separators=(",", ":")))
)";

/// Reads questions and evaluates rule.json as docs/rule.md describes it, without code of gaussweep.
constexpr const char* json_program = R"(
import json, sys
rule = json.load(open("rule.json", encoding="utf-8"))
def fits(pattern, name):
    return pattern in ("*", name)
def answer(problem, device, precision, uplo, matrix, n, nrhs, batch):
    for part in rule["parts"]:
        if part["problem"] != problem or part["device"] != device:
            continue
        if not any(fits(x["precision"], precision) and fits(x["uplo"], uplo) and fits(x["matrix"], matrix)
                   for x in part["names"]):
            continue
        for box in part["boxes"]:
            if all(box.get(k, [0, v])[0] <= v <= box.get(k, [v, v])[1]
                   for k, v in (("n", n), ("nrhs", nrhs), ("batch", batch))):
                return box["method"] + " " + json.dumps(box["parameters"], separators=(",", ":"))
    return "not measured"
for line in open(sys.argv[1], encoding="utf-8"):
    *names, n, nrhs, batch = line.rstrip("\n").split("\t")
    print(answer(*names, int(n), int(nrhs), int(batch)))
)";

TEST(Rule, FourEvaluatorsAgreeOnRandomQuestions) {
  const TestFolder scratch;
  const auto folder = scratch / "rule";
  const Rule rule = example_rule();
  write_rule(folder, rule);

  std::mt19937_64 random(62);
  const auto one_of = [&](const std::vector<std::string>& all) { return all[random() % all.size()]; };
  // Returns a size from 1 to `most` whose logarithm is uniform.
  const auto size_to = [&](double most) {
    const double u = std::uniform_real_distribution<>(0, 1)(random);
    return static_cast<std::int64_t>(std::exp(u * std::log(most)));
  };
  std::string questions, answers;
  std::set<std::string> distinct;
  constexpr int count = 10'000;
  for (int i = 0; i < count; ++i) {
    const Question q{one_of({"gesv", "getrf"}),
                     one_of({"NVIDIA H200",
                             "NVIDIA \xc2\xb5"
                             "100",
                             "NVIDIA H100"}),
                     one_of({"float", "double"}),
                     one_of({"lower", ""}),
                     one_of({"uniform", "a \"b\"\\c?\?/\xf0\x9f\x98\x80.mtx", "hilbert"}),
                     size_to(900),
                     size_to(20),
                     size_to(130)};
    questions += q.problem + '\t' + q.device + '\t' + q.precision + '\t' + q.uplo + '\t' + q.matrix + '\t' +
                 std::to_string(q.n) + '\t' + std::to_string(q.nrhs) + '\t' + std::to_string(q.batch) + '\n';
    const Box* box = rule.find(q);
    const std::string answer =
        box == nullptr ? "not measured" : box->choice.method + " " + box->choice.parameters;
    distinct.insert(answer);
    answers += answer + '\n';
  }
  EXPECT_EQ(distinct.size(), 3u);  // two methods and "not measured"

  set_file_text(scratch / "questions", questions);
  set_file_text(scratch / "ask.c", c_program);
  set_file_text(scratch / "ask.py", python_program);
  set_file_text(scratch / "ask_json.py", json_program);
  const std::string in = "cd " + scratch.folder().string() + " && ";
  ASSERT_EQ(shell(in + "gcc -std=c89 -pedantic -Wall -Wextra -Werror -I rule -o ask ask.c"), 0);
  ASSERT_EQ(shell(in + "gcc -std=c99 -Wall -Werror -x c -fsyntax-only rule/rule.h"), 0);
  ASSERT_EQ(shell(in + "g++ -Wall -Wextra -Werror -x c++ -fsyntax-only rule/rule.h"), 0);
  ASSERT_EQ(shell(in + "./ask < questions > c"), 0);
  ASSERT_EQ(shell(in + "PYTHONPATH=rule python3 -B ask.py questions > python"), 0);
  ASSERT_EQ(shell(in + "cd rule && python3 ../ask_json.py ../questions > ../json"), 0);
  EXPECT_EQ(file_text(scratch / "c"), answers);
  EXPECT_EQ(file_text(scratch / "python"), answers);
  EXPECT_EQ(file_text(scratch / "json"), answers);
}

TEST(Rule, IsTheSameAfterReading) {
  const TestFolder scratch;
  Rule rule = example_rule();
  Box& unmeasured = rule.parts.front().boxes.front();
  unmeasured.measured_tasks = 0;
  unmeasured.mean = unmeasured.worst = 0;
  write_rule(scratch / "rule", rule);
  const auto regret = to_json(rule).at("parts").at(0).at("boxes").at(0).at("regret");
  EXPECT_TRUE(regret.at("mean").is_null() && regret.at("worst").is_null()) << regret;
  EXPECT_EQ(to_json(read_rule(scratch / "rule")), to_json(rule));
  EXPECT_EQ(to_json(read_rule(scratch / "rule" / "rule.json")), to_json(rule));
}

TEST(Rule, ReplacesARuleButNoOtherFiles) {
  const TestFolder scratch;
  const auto folder = scratch / "rule";
  Rule rule = example_rule();
  write_rule(folder, rule);
  rule.parts.resize(1);
  write_rule(folder, rule);
  EXPECT_EQ(read_rule(folder).parts.size(), 1u);
  set_file_text(folder / "mine.txt", "mine");
  EXPECT_THAT(message_of<UsageError>([&] { write_rule(folder, rule); }), testing::HasSubstr("mine.txt"));
  EXPECT_EQ(file_text(folder / "mine.txt"), "mine");
  std::size_t entries = 0;
  for (const auto& entry : std::filesystem::directory_iterator(scratch.folder()))
    entries += entry.exists() ? 1 : 0;
  EXPECT_EQ(entries, 1u);  // no temporary is left
}

TEST(Rule, RefusesOtherFiles) {
  const TestFolder scratch;
  const auto file = scratch / "rule.json";
  for (const char* text : {"", "[1]", "{}", R"({"format":"gaussweep rule","version":2})",
                           R"({"format":"gaussweep rule","version":1})",
                           R"({"format":"gaussweep rule","version":1,"parts":[{"problem":3}]})"}) {
    set_file_text(file, text);
    EXPECT_THROW(read_rule(file), io::InputError) << text;
  }
  EXPECT_THROW(read_rule(scratch / "none"), io::InputError);
}

}  // namespace
}  // namespace gaussweep::driver
