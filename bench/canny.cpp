// SPDX-License-Identifier: BSD-3-Clause
// How long Canny's edges take, from gradients to a map of directions, beside OpenCV's cv::Canny.
//
//   bench_canny [CASES.json [ROUNDS]]
//
// Why the measurement is right: both are given the same gradients, ours as floats, OpenCV's as the
// integers of 16 bits that it takes, scaled to use their range, and the same thresholds; both run
// on one thread. Ours does more: it thins lines and directs them. How many points both keep is
// shown (thinning takes off the corners of stairs). The clock is the thread's own. Both run in
// turn, ratios are taken within a round; medians and their bootstrap intervals, never a minimum.
#include "sextant/distributed/canny.hpp"

#include "sextant/comm/threads.hpp"

#include <cmath>
#include <fstream>

#include "bench/duel.hpp"
#include "tests/support/shapes.hpp"
#include <nlohmann/json.hpp>
#ifdef SEXTANT_WITH_OPENCV
#include <opencv2/imgproc.hpp>
#endif

namespace {

using namespace sextant;

struct Case {
    std::string kind;
    int of = 0; ///< per cent, or pixels across
    double sigma = 1;
    ImageShape image;
};

test::Shape make(const Case& one) {
    return one.kind == "blobs" ? test::blobs(one.image, one.of)
                               : test::random_shape(one.image, one.of);
}

distributed::Image image_of(const Communicator& communicator, const Case& one) {
    const test::Shape shape = make(one);
    distributed::Image image(communicator, {one.image.width, one.image.height, 1, 1}, gray_u8);
    std::ranges::copy(std::as_bytes(std::span(shape.samples)), image.bytes().begin());
    return image;
}

Elements edge_points(const distributed::Image& directions) {
    return std::ranges::count_if(directions.bytes(), [](std::byte code) {
        return code != static_cast<std::byte>(kernel::no_edge);
    });
}

#ifdef SEXTANT_WITH_OPENCV
/// A part of the gradient, times `scale`, rounded.
cv::Mat integers_of(const distributed::Image& part, double scale) {
    const auto width = static_cast<int>(part.shape().width);
    const auto height = static_cast<int>(part.shape().height);
    const cv::Mat floats(height, width, CV_32F, const_cast<std::byte*>(part.bytes().data()));
    cv::Mat made;
    floats.convertTo(made, CV_16S, scale);
    return made;
}
#endif

void measure(const Communicator& communicator, const Case& one, int rounds) {
    const contour::Pattern& pattern = contour::catalogue()[0];
    const Gradient gradient = gradient_of(image_of(communicator, one), one.sigma);
    const kernel::EdgeThresholds thresholds = quantiles_of(gradient, .8, .95);
    Elements points = 0, their_points = 0;
    const auto ours = [&] { points = edge_points(edge_directions(gradient, thresholds, pattern)); };
    bench::Duel fought;
#ifdef SEXTANT_WITH_OPENCV
    cv::setNumThreads(1);
    const double scale = 30000 / static_cast<double>(quantiles_of(gradient, 1, 1).high);
    const cv::Mat x = integers_of(gradient.x, scale), y = integers_of(gradient.y, scale);
    cv::Mat edges;
    fought = bench::duel(rounds, ours, [&] {
        cv::Canny(x, y, edges, thresholds.low * scale, thresholds.high * scale, true);
        their_points = cv::countNonZero(edges);
    });
#else
    for (int round = 0; round < rounds; ++round)
        fought.ours.push_back(bench::milliseconds(ours));
#endif
    const double megapixels = static_cast<double>(one.image.elements()) * 1e-6;
    fmt::print("{:>8} {:>4} {:>6} {:>12} {:>10} {:>10} {:>22} {:>22} {:>20}\n", one.kind, one.of,
               one.sigma, fmt::format("{}x{}", one.image.width, one.image.height), points,
               their_points, bench::with_interval(fought.ours, megapixels),
               bench::with_interval(fought.theirs, megapixels),
               bench::with_interval(fought.ratios));
    std::fflush(stdout);
}

} // namespace

int main(int argc, char** argv) try {
    std::ifstream file(argc > 1 ? argv[1] : "bench/cases/canny.json");
    const int rounds = argc > 2 ? std::stoi(argv[2]) : 11;
    if (!file || rounds < 5 || argc > 3) {
        fmt::print(stderr, "usage: bench_canny [CASES.json [ROUNDS, at least 5]]\n");
        return 2;
    }
    fmt::print("{:>8} {:>4} {:>6} {:>12} {:>10} {:>10} {:>22} {:>22} {:>20}\n", "kind", "of",
               "sigma", "image", "our points", "OpenCV's", "ours, CPU ms/Mpixel",
               "OpenCV, CPU ms/Mpixel", "ratio");
    const nlohmann::json json = nlohmann::json::parse(file);
    run_threads(1, [&](Communicator communicator) {
        for (const auto& row : json.at("cases"))
            measure(communicator,
                    {row.at("kind"),
                     row.at("of"),
                     row.at("sigma"),
                     {row.at("width"), row.at("height")}},
                    rounds);
    });
} catch (const std::exception& error) {
    fmt::print(stderr, "bench_canny: {}\n", error.what());
    return 1;
}
