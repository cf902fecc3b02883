// Tests parameters, workspace, registry rules and operation counts.

#include "kernels/registry/method.hpp"
#include "tests/kernels/method_run.hpp"
#include "tests/testing.hpp"

namespace gaussweep {
namespace {

template <class T>
void nothing(Context&, Operands<T>&, const Parameters&) {}

/// Returns a row that the registry accepts.
Method good_row(const std::string& variant = "some") {
  Method method;
  method.problem = Problem::named("gesv");
  method.variant = variant;
  method.backends = {Backend::host};
  method.host = {nothing<float>, nothing<double>};
  return method;
}

std::string rejection(const std::function<void(Method&)>& spoil) {
  Method method = good_row();
  spoil(method);
  return message_of<std::logic_error>([&] { Registry registry({method}); });
}

TEST(Parameters, ReadBack) {
  Parameters parameters;
  parameters.set("blocks", std::int64_t{8});
  parameters.set("omega", 1.5);
  parameters.set("mode", std::string("fast"));
  EXPECT_EQ(parameters.integer("blocks"), 8);
  EXPECT_EQ(parameters.real("omega"), 1.5);
  EXPECT_EQ(parameters.choice("mode"), "fast");
}

TEST(Parameters, MayDifferFromTheDefaults) {
  const std::vector<Parameter> declared = {
      integer_parameter("block", 32, 1, 1024, ""), real_parameter("omega", 1, 0, 2, ""),
      choice_parameter("kernel", {"panels", "rows"}, ""), choice_parameter("tile", {"16", "32"}, "")};
  const Parameters changed =
      parameters_with(declared, {{"kernel", std::string("rows")}, {"block", 64.0}, {"tile", 32.0}});
  EXPECT_EQ(changed.choice("tile"), "32");
  EXPECT_EQ(changed.integer("block"), 64);
  EXPECT_EQ(changed.real("omega"), 1);
  EXPECT_EQ(changed.choice("kernel"), "rows");
  EXPECT_EQ(parameters_with(declared, {{"omega", std::int64_t{2}}}).real("omega"), 2);
  struct Wrong {
    std::string name;
    ParameterValue value;
    std::string allowed;
  };
  const Wrong cases[] = {
      {"block", std::int64_t{2000}, "integers from 1 to 1024"}, {"block", 1.5, "integers from 1 to 1024"},
      {"block", std::string("64"), "integers from 1 to 1024"},  {"omega", 3.0, "numbers from 0 to 2"},
      {"kernel", std::string("row"), "panels, rows"},           {"kernel", 1.0, "panels, rows"},
      {"blocks", 1.0, "it has block, omega, kernel, tile"}};
  for (const Wrong& wrong : cases) {
    const std::string message = message_of<std::invalid_argument>([&] {
      parameters_with(declared, {{wrong.name, wrong.value}});
    });
    EXPECT_NE(message.find(wrong.allowed), std::string::npos) << wrong.name << ": " << message;
  }
}

TEST(UsableBackend, IsTheFirstOnWhichTheMethodRuns) {
  Method method = good_row();
  EXPECT_EQ(usable_backend(method, std::nullopt, 90), Backend::host);
  method.cuda = method.host;
  method.capability = 90;
  EXPECT_EQ(usable_backend(method, std::nullopt, 90), Backend::cuda);
  EXPECT_EQ(usable_backend(method, std::nullopt, 80), Backend::host);
  EXPECT_EQ(usable_backend(method, Backend::host, 90), Backend::host);
  method.host = {};
  const auto rejection_of = [&](std::optional<Backend> wanted, int capability) {
    return message_of<std::invalid_argument>([&] { usable_backend(method, wanted, capability); });
  };
  EXPECT_EQ(rejection_of(std::nullopt, 80), "gesv/some needs compute capability 9.0, the GPU has 8.0");
  EXPECT_EQ(rejection_of(std::nullopt, 0), "gesv/some needs a GPU");
  EXPECT_EQ(rejection_of(Backend::emulated, 90),
            "gesv/some does not run on the backend emulated of this build");
}

TEST(Parameters, RejectUndeclaredNamesAndOtherTypes) {
  Parameters parameters;
  parameters.set("blocks", std::int64_t{8});
  EXPECT_THROW(parameters.integer("block"), std::logic_error);
  EXPECT_THROW(parameters.real("blocks"), std::logic_error);
  EXPECT_EQ(message_of<std::logic_error>([&] { parameters.choice("blocks"); }),
            "parameter 'blocks' was read as a choice, but it is the integer 8");
  parameters.set("blocks", std::string("8"));
  EXPECT_EQ(message_of<std::logic_error>([&] { parameters.integer("blocks"); }),
            "parameter 'blocks' was read as an integer, but it is the choice '8'");
}

TEST(Workspace, PiecesAreAlignedAndStayWithinTheSize) {
  std::vector<std::byte> memory(1024);
  Workspace workspace(memory.data(), aligned_workspace_bytes(3, 4) + aligned_workspace_bytes(33, 8));
  EXPECT_EQ(static_cast<void*>(workspace.take<float>(3)), memory.data());
  EXPECT_EQ(static_cast<void*>(workspace.take<double>(33)), memory.data() + 256);
  EXPECT_NE(workspace.take<char>(0), nullptr);
  EXPECT_THROW(workspace.take<char>(1), std::logic_error);
  EXPECT_THROW(Workspace().take<int>(1), std::logic_error);
}

TEST(Registry, FindsRowsAndReferences) {
  Method vendor = good_row("vendor");
  vendor.vendor = true;
  Registry registry({good_row(), vendor});
  ASSERT_NE(registry.find(Problem::named("gesv"), "some"), nullptr);
  EXPECT_EQ(registry.find(Problem::named("gesv"), "some")->id(), "gesv/some");
  EXPECT_EQ(registry.find(Problem::named("trsv"), "some"), nullptr);
  EXPECT_EQ(registry.reference(Problem::named("gesv"), Backend::host)->variant, "vendor");
  // The reference of an emulated method is the CPU's library.
  EXPECT_EQ(registry.reference(Problem::named("gesv"), Backend::emulated)->variant, "vendor");
  EXPECT_EQ(registry.reference(Problem::named("gesv"), Backend::cuda), nullptr);
  EXPECT_EQ(registry.reference(Problem::named("gemm"), Backend::host), nullptr);
}

TEST(Registry, IdsAreUnique) {
  EXPECT_THROW(Registry({good_row(), good_row()}), std::logic_error);
  Registry registry({good_row()});
  EXPECT_THROW(registry.add(good_row()), std::logic_error);
  Method other = good_row();
  other.problem = Problem::named("getrf");
  other.answer = AnswerIn::a;
  registry.add(other);
  EXPECT_EQ(registry.all().size(), 2u);
}

TEST(Registry, RejectsInvalidRows) {
  using testing::HasSubstr;
  EXPECT_EQ(rejection([](Method&) {}), "");
  EXPECT_THAT(rejection([](Method& m) { m.variant = ""; }), HasSubstr("variant"));
  EXPECT_THAT(rejection([](Method& m) { m.variant = "a/b"; }), HasSubstr("variant"));
  EXPECT_THAT(rejection([](Method& m) { m.backends = {}; }), HasSubstr("no backend"));
  EXPECT_THAT(rejection([](Method& m) { m.backends = {Backend::host, Backend::host}; }), HasSubstr("twice"));
  EXPECT_THAT(rejection([](Method& m) { m.host = {}; }), HasSubstr("no entry point"));
  EXPECT_THAT(rejection([](Method& m) { m.emulated = m.host; }), HasSubstr("not listed"));
  EXPECT_THAT(rejection([](Method& m) { m.max_nrhs = 0; }), HasSubstr("max_nrhs"));
  EXPECT_THAT(rejection([](Method& m) { m.answer = AnswerIn::a; }), HasSubstr("augmented"));
  EXPECT_THAT(rejection([](Method& m) {
                m.problem = Problem::named("potrf");
                m.layout = Layout::augmented;
              }),
              HasSubstr("right-hand sides"));
  EXPECT_THAT(rejection([](Method& m) {
                m.problem = Problem::named("potrf");
                m.answer = AnswerIn::b;
              }),
              HasSubstr("answer in b"));
  EXPECT_THAT(rejection([](Method& m) {
                m.problem = Problem::named("gemm");
                m.answer = AnswerIn::a;
              }),
              HasSubstr("gemm"));
}

TEST(Registry, RejectsInvalidParameters) {
  using testing::HasSubstr;
  const auto with = [](Parameter parameter) {
    return rejection([&](Method& m) { m.parameters.push_back(parameter); });
  };
  EXPECT_EQ(with(integer_parameter("blocks", 8, 1, 16, "")), "");
  EXPECT_EQ(with(choice_parameter("mode", {"a", "b"}, "")), "");
  EXPECT_THAT(with(integer_parameter("blocks", 0, 1, 16, "")), HasSubstr("range"));
  EXPECT_THAT(with(real_parameter("omega", 2.5, 0, 2, "")), HasSubstr("range"));
  EXPECT_THAT(with({"mode", std::string("a"), 0, 0, {}, ""}), HasSubstr("no choices"));
  EXPECT_THAT(with({"mode", std::string("c"), 0, 0, {"a", "b"}, ""}), HasSubstr("none of its choices"));
  EXPECT_THAT(with(integer_parameter("n", 1, 1, 16, "")), HasSubstr("axis"));
  EXPECT_THAT(with(integer_parameter("my blocks", 1, 1, 16, "")), HasSubstr("name"));
  EXPECT_THAT(
      rejection([](Method& m) {
        m.parameters = {integer_parameter("blocks", 1, 1, 2, ""), integer_parameter("blocks", 1, 1, 2, "")};
      }),
      HasSubstr("twice"));
}

TEST(Registry, BuiltinRowsAreConsistent) {
  std::set<std::string> ids;
  for (const Method& method : registry().all()) {
    EXPECT_TRUE(ids.insert(method.id()).second) << method.id();
    EXPECT_FALSE(method.summary.empty()) << method.id();
    EXPECT_FALSE(method.source.empty()) << method.id();
    for (const Parameter& parameter : method.parameters) EXPECT_FALSE(parameter.help.empty()) << method.id();
    // A row without code in this build has unknown precisions.
    const bool has_code = method.cuda || method.emulated || method.host;
    EXPECT_EQ(method.has(Precision::float64), !has_code || method.variant != "halves") << method.id();
  }
  for (const char* id : {"gesv/gauss_serial", "gesv/gauss_block", "gesv/gauss_cyclic_halving",
                         "gesv/gauss_cyclic_decrement", "gesv/lapack", "gesv/cusolver"}) {
    EXPECT_EQ(ids.count(id), 1u) << id;
  }
}

TEST(Flops, CountedByHand) {
  const Shape one{1, 1, 1, 1, Uplo::lower};
  const Shape two{2, 2, 2, 1, Uplo::lower};
  // LU for n = 2: one reciprocal per pivot, one multiplication by it, one product subtracted. Each right-hand
  // side needs one product forward, one backward, and two multiplications by reciprocals.
  EXPECT_DOUBLE_EQ(problem_flops(Problem::named("getrf"), two), 5);
  EXPECT_DOUBLE_EQ(problem_flops(Problem::named("gesv"), two), 11);
  EXPECT_DOUBLE_EQ(problem_flops(Problem::named("trsv"), two), 4);
  // Cholesky: a root, a division, a multiplication, a subtraction, a root.
  EXPECT_DOUBLE_EQ(problem_flops(Problem::named("potrf"), two), 5);
  // Inverse of a triangle: two divisions, and two multiplications off the diagonal.
  EXPECT_DOUBLE_EQ(problem_flops(Problem::named("trtri"), two), 4);
  for (const Problem p : {Problem::named("trsv"), Problem::named("potrf"), Problem::named("trtri")})
    EXPECT_DOUBLE_EQ(problem_flops(p, one), 1);
  EXPECT_DOUBLE_EQ(problem_flops(Problem::named("gemm"), {2, 3, 4, 1, Uplo::lower}), 48);
}

TEST(Flops, LeadingTerms) {
  const double n = 1e5;
  const Shape shape{100000, 100000, 100000, 1, Uplo::lower};
  const auto leading = [&](Problem problem) { return problem_flops(problem, shape) / (n * n * n); };
  EXPECT_NEAR(leading(Problem::named("gesv")), 2.0 / 3, 1e-4);
  EXPECT_NEAR(leading(Problem::named("potrf")), 1.0 / 3, 1e-4);
  EXPECT_NEAR(leading(Problem::named("trtri")), 1.0 / 3, 1e-4);
  EXPECT_NEAR(leading(Problem::named("geinv")), 2, 1e-4);
  EXPECT_NEAR(leading(Problem::named("poinv")), 1, 1e-4);
  EXPECT_NEAR(leading(Problem::named("gemm")), 2, 1e-12);
}

TEST(Bytes, CountEveryOperandOnce) {
  EXPECT_EQ(problem_bytes(Problem::named("gemm"), {2, 3, 4, 1, Uplo::lower}, 8), 8 * (8 + 12 + 6));
  const Shape shape{10, 10, 10, 3, Uplo::lower};
  EXPECT_EQ(problem_bytes(Problem::named("gesv"), shape, 4), 4 * (100 + 60));
  EXPECT_EQ(problem_bytes(Problem::named("trsv"), shape, 4), 4 * (55 + 60));
  EXPECT_EQ(problem_bytes(Problem::named("potrf"), shape, 4), 4 * 110);
  EXPECT_EQ(problem_bytes(Problem::named("geinv"), shape, 4), 4 * 200);
}

}  // namespace
}  // namespace gaussweep
