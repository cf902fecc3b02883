/// Tests the kind blur in plans and on command lines.

#include "driver/plan/blur_request.hpp"
#include "driver/command/blur_options.hpp"
#include "driver/plan/expand.hpp"
#include "driver/plan/plan_names.hpp"
#include "io/files/errors.hpp"
#include "tests/idle_method.hpp"
#include "tests/testing.hpp"

namespace gaussweep::driver {
namespace {

Registry example_registry() {
  return Registry(
      {idle_method(Problem::named("poinv"), "plain"), idle_method(Problem::named("gemm"), "plain")});
}

FileFacts example_files(const std::string& file, const std::string& dataset) {
  if (file == "w.mtx") return {"/data/w.mtx", 1, 3, "d1", {0.25, 0.5, 0.25}};
  if (file == "w.h5") return {"/data/w.h5", 3, 1, "d2", {1, 2, dataset == "/psf" ? 3.0 : 4.0}};
  if (file == "even.mtx") return {"/data/even.mtx", 2, 3, "d3", {1, 2, 3, 4, 5, 6}};
  if (file == "large.mtx") return {"/data/large.mtx", 33, 33, "d4"};
  throw io::InputError(file + ": there is no such file");
}

/// Returns the trial of a plan with this matrix, whose keys begin in line 2, column 14, and these axes.
Trial trial(const std::string& matrix, const std::string& axes, const std::string& problem = "poinv") {
  const std::string text = "sweep: [{problem: " + problem + ", method: plain" + axes +
                           "}]\nmatrix:     {kind: blur" + matrix + "}\n";
  const auto all = expand(io::parse_plan(text, "p.yaml", enum_names<Problem>()), example_registry(),
                          Backend::host, 0, example_files);
  return all.trials.at(0);
}

std::string failure(const std::string& matrix, const std::string& axes,
                    const std::string& problem = "poinv") {
  return message_of<io::InputError>([&] { trial(matrix, axes, problem); });
}

TEST(BlurRequest, TakesItsSizeFromTheImageOrFromN) {
  const auto sizes = [](const Trial& t) {
    EXPECT_EQ(t.matrix.spec.rows, t.shape.n);
    EXPECT_EQ(t.matrix.spec.cols, t.shape.n);
    return std::vector<std::int64_t>{t.shape.n, t.matrix.spec.blur.width, t.matrix.spec.blur.height};
  };
  EXPECT_THAT(sizes(trial("", ", n: 36")), ElementsAre(36, 6, 6));
  EXPECT_THAT(sizes(trial(", width: 9", ", n: 36")), ElementsAre(36, 9, 4));
  EXPECT_THAT(sizes(trial(", height: 9", ", n: 36")), ElementsAre(36, 4, 9));
  EXPECT_THAT(sizes(trial(", width: 5", "")), ElementsAre(25, 5, 5));
  EXPECT_THAT(sizes(trial(", width: 5, height: 3", "")), ElementsAre(15, 5, 3));
  EXPECT_THAT(sizes(trial(", width: 5, height: 3", ", n: 15")), ElementsAre(15, 5, 3));
  EXPECT_THAT(sizes(trial("", ", n: 4", "gemm")), ElementsAre(4, 2, 2));
}

TEST(BlurRequest, RefusesSizesThatAreNoImage) {
  EXPECT_THAT(failure("", ", n: 37"),
              HasSubstr("n = 37 pixels is no square image (6 x 6 has 36); give its width"));
  EXPECT_THAT(failure(", width: 9", ", n: 37"), HasSubstr("n = 37 is not width x height = 9 x 4"));
  EXPECT_THAT(failure(", width: 9", ", n: 4"), HasSubstr("n = 4 is not width x height = 9"));
  EXPECT_THAT(failure(", width: 9, height: 2", ", n: 36"), HasSubstr("n = 36 is not width x height = 9 x 2"));
  EXPECT_THAT(failure("", ""), HasSubstr("n is missing"));
  EXPECT_THAT(failure(", width: 0", ""), HasSubstr("width: '0'; allowed: a whole number from 1"));
  EXPECT_THAT(failure("", ", n: 4, m: 9", "gemm"), HasSubstr("a blur of 9 x 4 is not square: give"));
}

TEST(BlurRequest, AcceptsAnotherSeenSizeThanTheImages) {
  const Trial system = trial(", width: 5, height: 3, seen_width: 4, seen_height: 2", "");
  EXPECT_EQ(system.shape.n, 8);
  EXPECT_EQ(system.matrix.spec.blur.canonical(),
            "psf=gaussian sigma=1.5 radius=3 width=5 height=3 seen=4x2 what=system lambda=0.01");
  EXPECT_NE(system.key, trial(", width: 5, height: 3, seen_width: 2, seen_height: 4", "").key);
  EXPECT_EQ(trial(", width: 5, seen_width: 6", "").matrix.spec.rows, 36);
  const Trial product =
      trial(", width: 5, height: 3, seen_height: 2, what: h", ", n: 7, matrix_b: {kind: ones}", "gemm");
  EXPECT_EQ(std::tuple(product.shape.m, product.shape.k, product.shape.n), std::tuple(4, 15, 7));
  EXPECT_EQ(product.matrix.spec.cols, 15);
  EXPECT_EQ(nlohmann::json(nlohmann::json(product).get<Trial>()), nlohmann::json(product));

  EXPECT_THAT(failure(", seen_width: 4", ""), HasSubstr("need the width and height of the image too"));
  EXPECT_THAT(failure(", width: 5, seen_width: 4", ", n: 9"),
              HasSubstr("5 x 5 pixels of which 4 x 4 are seen makes a matrix of 16 x 16, not 9 x 9"));
  EXPECT_THAT(failure(", width: 5, seen_width: 4, what: h", ""),
              HasSubstr("makes a matrix of 16 x 25, not 16 x 16"));
}

TEST(BlurRequest, ReadsEveryKey) {
  const BlurSpec motion =
      trial(", psf: motion, length: 3.5, angle: -30, lambda: 0.5, width: 4", "").matrix.spec.blur;
  EXPECT_EQ(motion.canonical(), "psf=motion length=3.5 angle=-30 width=4 height=4 what=system lambda=0.5");
  const BlurSpec sharp = trial(", psf: sharpen, amount: 2, what: h, width: 4", "").matrix.spec.blur;
  EXPECT_EQ(sharp.canonical(), "psf=sharpen amount=2 width=4 height=4 what=h");
  EXPECT_EQ(trial(", sigma: 0.6, width: 4", "").matrix.spec.blur.radius, 2);  // 2 sigma, rounded up
  EXPECT_EQ(trial(", sigma: 0.6, radius: 4, width: 4", "").matrix.spec.blur.radius, 4);
  EXPECT_EQ(trial(", sigma: 50, width: 4", "").matrix.spec.blur.radius, 15);
}

TEST(BlurRequest, ReadsWeightsFromAFile) {
  EXPECT_THAT(trial(", psf: file, psf_file: w.mtx, width: 4", "").matrix.spec.blur.weights.data,
              ElementsAre(0.25, 0.5, 0.25));
  const BlurSpec blur = trial(", psf: file, psf_file: w.h5, dataset: /psf, width: 4", "").matrix.spec.blur;
  EXPECT_EQ(blur.weights.rows, 3);
  EXPECT_THAT(blur.weights.data, ElementsAre(1, 2, 3));
  EXPECT_THAT(failure(", psf: file, width: 4", ""), HasSubstr("psf file needs psf_file"));
  EXPECT_THAT(failure(", psf: file, psf_file: x.mtx, width: 4", ""),
              HasSubstr("x.mtx: there is no such file"));
  EXPECT_EQ(trial(", psf: file, psf_file: even.mtx, width: 4", "").matrix.spec.blur.weights.rows, 2);
  EXPECT_THAT(
      failure(", psf: file, psf_file: large.mtx, width: 4", ""),
      HasSubstr("/data/large.mtx: the weights of a point-spread function must have 1 to 31 rows and columns, "
                "not 33 x 33"));
}

TEST(BlurRequest, RefusesUnknownKeysAndInvalidValues) {
  EXPECT_THAT(failure(", psf: gausian", ", n: 4"),
              HasSubstr("'gausian' is no point-spread function; nearest: gaussian;"));
  EXPECT_THAT(failure(", psf: box, sigma: 1", ", n: 4"), HasSubstr("psf box has no 'sigma'; it has: radius"));
  EXPECT_THAT(failure(", lambda: -1", ", n: 4"),
              StartsWith("p.yaml:2:34: lambda: '-1'; allowed: a number from 0"));
  EXPECT_THAT(failure(", what: h, lambda: 1", ", n: 4"), HasSubstr("lambda is part of H H^T"));
  EXPECT_THAT(failure(", what: hht", ", n: 4"), HasSubstr("allowed: system, h"));
  EXPECT_THAT(failure(", radius: 16", ", n: 4"), HasSubstr("from 0 to 15"));
  EXPECT_THAT(failure(", low: 1", ", n: 4"), HasSubstr("a matrix of kind blur has no 'low'"));
}

TEST(BlurRequest, ParametersChangeDigestAndKey) {
  const Trial plain = trial(", width: 4", "");
  for (const char* other : {", width: 4, sigma: 1.6", ", width: 4, lambda: 0.02", ", width: 4, what: h",
                            ", width: 4, radius: 2", ", width: 2, height: 8", ", width: 4, psf: box"}) {
    EXPECT_NE(plain.matrix.digest, trial(other, "").matrix.digest) << other;
    EXPECT_NE(plain.key, trial(other, "").key) << other;
  }
  EXPECT_EQ(plain.key, trial(", height: 4, sigma: 1.5, radius: 3, lambda: 1e-2", ", n: 16").key);
}

TEST(BlurRequest, SurvivesJson) {
  for (const char* matrix :
       {", psf: file, psf_file: w.mtx, width: 4", ", psf: motion, angle: 33, width: 4"}) {
    const Trial before = trial(matrix, "");
    const Trial after = nlohmann::json::parse(nlohmann::json(before).dump()).get<Trial>();
    EXPECT_EQ(nlohmann::json(after), nlohmann::json(before));
    EXPECT_EQ(after.matrix.spec.canonical(Precision::float64),
              before.matrix.spec.canonical(Precision::float64));
  }
}

TEST(BlurOptions, NamesTheInvalidOption) {
  const auto failure_of = [](const BlurOptions& options) {
    return message_of<io::InputError>([&] { blur_of(options); });
  };
  EXPECT_EQ(blur_of({{{"psf", "box"}, {"radius", "1"}}}).radius, 1);
  EXPECT_THAT(failure_of({{{"lambda", "-1"}}}), StartsWith("--lambda: lambda: '-1'"));
  EXPECT_THAT(failure_of({{{"psf", "blob"}}}), StartsWith("--psf: 'blob' is no point-spread function"));
  EXPECT_THAT(failure_of({{{"psf", "file"}, {"psf_file", "/no/such.mtx"}}}), StartsWith("--psf-file: "));
}

}  // namespace
}  // namespace gaussweep::driver
