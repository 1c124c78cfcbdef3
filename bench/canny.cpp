// SPDX-License-Identifier: BSD-3-Clause
// The time of Canny edge detection, from samples to a direction map, compared with OpenCV's
// derivatives and cv::Canny.
//
//   bench_canny [CASES.json [ROUNDS]]
//
// Method: both implementations get the same u8 samples and filter them with the same weights: ours
// to floats, OpenCV's to the 16-bit integers that cv::Canny takes, scaled to use their range. The
// thresholds are the same, and both run on one thread. Ours does more: it thins lines and gives
// them directions. The table shows the number of edge points of each (thinning removes the corners
// of staircases). Times are CPU times of the thread. In each round both run once, which gives one
// ratio; medians with bootstrap intervals are reported, never minima. With 0 ROUNDS only ours runs,
// once.
#include "sextant/contours/canny.hpp"

#include "sextant/comm/threads.hpp"
#include "sextant/kernel/filter/gaussian_weights.hpp"

#include <fstream>
#include <optional>

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
    int of = 0; ///< percentage of pixels set (random), or size in pixels (blobs)
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
/// The weights as a column vector, used for a correlation in both libraries.
cv::Mat weights(double sigma, int order) {
    std::vector<double> values = kernel::gaussian_weights(sigma, order);
    return cv::Mat(values, true);
}

/// OpenCV's chain from samples to edges; the integer gradients are multiplied by `scale`.
class TheirChain {
  public:
    TheirChain(const distributed::Image& image, double sigma, double scale,
               kernel::EdgeThresholds thresholds)
        : samples_(static_cast<int>(image.shape().height), static_cast<int>(image.shape().width),
                   CV_8U, const_cast<std::byte*>(image.bytes().data())),
          smooth_(weights(sigma, 0)),
          slope_(weights(sigma, 1) * scale),
          low_(thresholds.low * scale),
          high_(thresholds.high * scale) {}

    void run() {
        const cv::Point middle(-1, -1);
        cv::sepFilter2D(samples_, x_, CV_16S, slope_, smooth_, middle, 0, cv::BORDER_REPLICATE);
        cv::sepFilter2D(samples_, y_, CV_16S, smooth_, slope_, middle, 0, cv::BORDER_REPLICATE);
        cv::Canny(x_, y_, edges_, low_, high_, true);
    }
    Elements points() const { return cv::countNonZero(edges_); }

  private:
    cv::Mat samples_, smooth_, slope_, x_, y_, edges_;
    double low_, high_;
};
#endif

void measure(const Communicator& communicator, const Case& one, int rounds) {
    const contour::Pattern& pattern = contour::catalogue()[0];
    const distributed::Image image = image_of(communicator, one);
    const kernel::EdgeThresholds thresholds = quantiles_of(image, one.sigma, .8, .95);
    std::optional<distributed::Image> directions;
    const auto ours = [&] {
        directions = edge_directions(image, one.sigma, thresholds, always(pattern));
    };
    Elements their_points = 0;
    bench::Duel fought;
#ifdef SEXTANT_WITH_OPENCV
    if (rounds > 0) {
        cv::setNumThreads(1);
        const double scale = 30000 / quantiles_of(image, one.sigma, 1, 1).high;
        TheirChain theirs(image, one.sigma, scale, thresholds);
        fought = bench::duel(rounds, ours, [&] { theirs.run(); });
        their_points = theirs.points();
    }
#endif
    while (fought.ours.size() < static_cast<std::size_t>(std::max(rounds, 1)))
        fought.ours.push_back(bench::milliseconds(ours));
    const double megapixels = static_cast<double>(one.image.elements()) * 1e-6;
    fmt::print(
        "{:>8} {:>4} {:>6} {:>12} {:>10} {:>10} {:>22} {:>22} {:>20}\n", one.kind, one.of,
        one.sigma, fmt::format("{}x{}", one.image.width, one.image.height),
        edge_points(*directions), their_points, bench::with_interval(fought.ours, megapixels),
        bench::with_interval(fought.theirs, megapixels), bench::with_interval(fought.ratios));
    std::fflush(stdout);
}

} // namespace

int main(int argc, char** argv) try {
    std::ifstream file(argc > 1 ? argv[1] : "bench/cases/canny.json");
    const int rounds = argc > 2 ? std::stoi(argv[2]) : 11;
    if (!file || (rounds != 0 && rounds < 5) || argc > 3) {
        fmt::print(stderr, "usage: bench_canny [CASES.json [ROUNDS, 0 or at least 5]]\n");
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
