// SPDX-License-Identifier: BSD-3-Clause
// The time to label connected components, compared with OpenCV's Spaghetti labelling.
//
//   bench_labels [CASES.json [ROUNDS]]
//
// Method: both read the same bytes and write a 32-bit label per pixel on one thread, into memory
// whose pages were touched before. Before anything is timed, both are checked to find the same
// components (OpenCV numbers some of them in another order). Spaghetti is OpenCV's fastest
// algorithm. Times are CPU times of the thread. In each round both run once, which gives one ratio;
// medians over the rounds with bootstrap intervals are reported, never minima.
#include "sextant/kernel/label/labels.hpp"

#include <fstream>
#include <map>

#include "bench/duel.hpp"
#include "tests/support/shapes.hpp"
#include <nlohmann/json.hpp>
#ifdef SEXTANT_WITH_OPENCV
#include <opencv2/imgproc.hpp>
#endif

namespace {

using namespace sextant;
using kernel::Label;
using test::Shape;

struct Case {
    std::string kind;
    /// Percentage of pixels set (random), or size (blobs) or distance (lines) in pixels.
    int of = 0;
    ImageShape image;
    int neighbours = 8;
};

std::vector<Case> read_cases(std::istream& file) {
    std::vector<Case> cases;
    const nlohmann::json json = nlohmann::json::parse(file);
    for (const auto& row : json.at("cases")) {
        for (const int neighbours : {4, 8})
            cases.push_back(
                {row.at("kind"), row.at("of"), {row.at("width"), row.at("height")}, neighbours});
    }
    return cases;
}

Shape make(const Case& one) {
    if (one.kind == "random")
        return test::random_shape(one.image, one.of);
    if (one.kind == "blobs")
        return test::blobs(one.image, one.of);
    if (one.kind == "vertical")
        return test::vertical_lines(one.image, one.of);
    if (one.kind == "diagonal")
        return test::diagonal_lines(one.image, one.of);
    throw std::invalid_argument(one.kind + ": kinds are random, blobs, vertical, diagonal");
}

kernel::Connection connection(const Case& one) {
    return {one.neighbours == 4 ? kernel::Neighbours::four : kernel::Neighbours::eight,
            kernel::Sameness::foreground};
}

/// A plane of labels, with every page touched.
Memory make_plane(ImageShape image) {
    Memory plane(image.elements() * static_cast<Bytes>(sizeof(Label)));
    plane.touch();
    return plane;
}

Label* labels_in(Memory& plane) {
    return reinterpret_cast<Label*>(plane.data());
}

#ifdef SEXTANT_WITH_OPENCV
int label_by_opencv(const Case& one, const Shape& shape, Memory& plane) {
    const auto height = static_cast<int>(one.image.height);
    const auto width = static_cast<int>(one.image.width);
    const cv::Mat from(height, width, CV_8U, const_cast<std::uint8_t*>(shape.samples.data()));
    cv::Mat to(height, width, CV_32S, plane.data());
    return cv::connectedComponents(from, to, one.neighbours, CV_32S, cv::CCL_SPAGHETTI) - 1;
}

/// True if there is a one-to-one mapping between the labels of both planes.
bool same_components(const Case& one, const Label* a, const Label* b) {
    std::map<Label, Label> to_b, to_a;
    for (Elements i = 0; i < one.image.elements(); ++i) {
        if (to_b.emplace(a[i], b[i]).first->second != b[i] ||
            to_a.emplace(b[i], a[i]).first->second != a[i])
            return false;
    }
    return true;
}
#endif

void measure(const Case& one, int rounds) {
    const Shape shape = make(one);
    const kernel::SampleView view{shape.samples.data(),
                                  one.image.width,
                                  {0, 0, one.image.width, one.image.height},
                                  one.image};
    kernel::Labeller labeller(connection(one));
    Memory own = make_plane(one.image);
    const auto ours = [&] { return labeller.apply(view, {labels_in(own), one.image.width}); };
    const Label count = ours();
    bench::Duel fought;
#ifdef SEXTANT_WITH_OPENCV
    cv::setNumThreads(1);
    Memory other = make_plane(one.image);
    const auto theirs = [&] { return label_by_opencv(one, shape, other); };
    if (theirs() != count || !same_components(one, labels_in(own), labels_in(other)))
        throw std::runtime_error(shape.name + ": the results differ");
    fought = bench::duel(rounds, ours, theirs);
#else
    for (int round = 0; round < rounds; ++round)
        fought.ours.push_back(bench::milliseconds(ours));
#endif
    const double megapixels = static_cast<double>(one.image.elements()) * 1e-6;
    fmt::print("{:>10} {:>4} {:>10} {:>12} {:>10} {:>22} {:>22} {:>20}\n", one.kind, one.of,
               one.neighbours, fmt::format("{}x{}", one.image.width, one.image.height), count,
               bench::with_interval(fought.ours, megapixels),
               bench::with_interval(fought.theirs, megapixels),
               bench::with_interval(fought.ratios));
    std::fflush(stdout);
}

} // namespace

int main(int argc, char** argv) try {
    std::ifstream file(argc > 1 ? argv[1] : "bench/cases/labels.json");
    const int rounds = argc > 2 ? std::stoi(argv[2]) : 11;
    if (!file || rounds < 5 || argc > 3) {
        fmt::print(stderr, "usage: bench_labels [CASES.json [ROUNDS, at least 5]]\n");
        return 2;
    }
#ifndef SEXTANT_WITH_OPENCV
    fmt::print("built without OpenCV (libopencv-imgproc-dev): nothing to compare with\n");
#endif
    fmt::print("{:>10} {:>4} {:>10} {:>12} {:>10} {:>22} {:>22} {:>20}\n", "kind", "of",
               "neighbours", "image", "components", "ours, CPU ms/Mpixel", "OpenCV, CPU ms/Mpixel",
               "ratio");
    for (const Case& one : read_cases(file))
        measure(one, rounds);
} catch (const std::exception& error) {
    fmt::print(stderr, "bench_labels: {}\n", error.what());
    return 1;
}
