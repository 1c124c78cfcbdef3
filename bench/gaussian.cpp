// SPDX-License-Identifier: BSD-3-Clause
// The time of five Gaussian derivatives of an image, compared with OpenCV's sepFilter2D.
//
//   bench_gaussian [CASES.json [ROUNDS]]
//
// Method: both compute five images of floats, the derivatives x, y, xx, xy and yy, from the same
// samples with the same weights and border rule; the results are compared before anything is timed.
// OpenCV is called once per image, as its interface requires. Both use one thread. Ours is timed
// twice: the kernel alone, and gaussian_derivatives() as a program calls it, for an image on one
// rank and with reused output planes. All pages are touched first. Times are CPU times of the
// thread, which other programs hardly affect. In each round both run one after the other, ours
// first in every second round; ratios are taken within a round, so that drift of the machine
// affects both. Medians over the rounds with bootstrap intervals are reported, never minima. Built
// without OpenCV, ours is timed alone.
#include "sextant/kernel/filter/gaussian.hpp"

#include "sextant/comm/threads.hpp"
#include "sextant/core/memory.hpp"
#include "sextant/filter/window_filter.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "bench/duel.hpp"
#include <nlohmann/json.hpp>
#ifdef SEXTANT_WITH_OPENCV
#include <opencv2/imgproc.hpp>
#endif

namespace {

using namespace sextant;
using bench::milliseconds;
using bench::with_interval;
using kernel::Derivative;

const std::vector<Derivative> five = {{1, 0}, {0, 1}, {2, 0}, {1, 1}, {0, 2}};

struct Case {
    double sigma = 1;
    kernel::GaussianKernel kernel;
    std::string samples;
    ImageShape image;
};

kernel::GaussianKernel kernel_named(const std::string& name) {
    if (name != "gaussian" && name != "p3pc")
        throw std::invalid_argument(name + ": kernels are gaussian and p3pc");
    return name == "p3pc" ? kernel::p3pc_kernel : kernel::GaussianKernel{};
}

std::vector<Case> read_cases(std::istream& file) {
    std::vector<Case> cases;
    const nlohmann::json json = nlohmann::json::parse(file);
    for (const auto& row : json.at("cases"))
        cases.push_back({row.at("sigma"),
                         kernel_named(row.at("kernel")),
                         row.at("samples"),
                         {row.at("width"), row.at("height")}});
    return cases;
}

/// Random samples that use the whole range of their format.
struct Input {
    Memory memory;
    kernel::SampleView view;
};

template <class Sample>
Input make_input(ImageShape image, double largest) {
    Input made{Memory(image.elements() * static_cast<Bytes>(sizeof(Sample))), {}};
    auto* const samples = reinterpret_cast<Sample*>(made.memory.data());
    std::mt19937 random(7);
    std::uniform_real_distribution<double> number(0, largest);
    std::generate_n(samples, image.elements(), [&] { return static_cast<Sample>(number(random)); });
    made.view = {samples, image.width, {0, 0, image.width, image.height}, image};
    return made;
}

Input make_input(const Case& one) {
    if (one.samples == "f32")
        return make_input<float>(one.image, 1);
    if (one.samples == "u8")
        return make_input<std::uint8_t>(one.image, 256);
    if (one.samples == "u16")
        return make_input<std::uint16_t>(one.image, 65536);
    throw std::invalid_argument(one.samples + ": samples are f32, u8 or u16");
}

/// Five images of floats, with every page touched.
std::vector<Memory> make_outputs(ImageShape image) {
    std::vector<Memory> outputs;
    for (std::size_t k = 0; k < five.size(); ++k) {
        outputs.emplace_back(image.elements() * static_cast<Bytes>(sizeof(float)));
        outputs.back().touch();
    }
    return outputs;
}

class Ours {
  public:
    explicit Ours(const Case& one)
        : derivatives_(one.sigma, five, {}, one.kernel), image_(one.image) {}
    void run(const Input& input, std::vector<Memory>& outputs) {
        std::vector<kernel::Plane> planes;
        for (Memory& output : outputs)
            planes.push_back({reinterpret_cast<float*>(output.data()), image_.width});
        derivatives_.apply(input.view, input.view.tile, planes);
    }

  private:
    kernel::GaussianDerivatives derivatives_;
    ImageShape image_;
};

/// Calls gaussian_derivatives() as a program does: for an image of one tile, with reused planes.
class Called {
  public:
    Called(const Communicator& communicator, const Case& one, const Input& input)
        : filter_{one.sigma, {"x", "y", "xx", "xy", "yy"}, {}, one.kernel},
          image_(communicator, {one.image.width, one.image.height, 1, 1}, element_of(one)) {
        std::ranges::copy(input.memory.bytes(), image_.bytes().begin());
        run();
    }
    void run() { gaussian_derivatives(image_, filter_, planes_); }
    bool made(const std::vector<Memory>& expected) const {
        for (std::size_t k = 0; k < planes_.size(); ++k) {
            if (!std::ranges::equal(planes_[k].bytes(), expected[k].bytes()))
                return false;
        }
        return true;
    }

  private:
    static ElementFormat element_of(const Case& one) {
        return one.samples == "f32" ? gray_f32 : one.samples == "u8" ? gray_u8 : gray_u16;
    }
    distributed::Filter filter_;
    distributed::Image image_;
    std::vector<distributed::Image> planes_;
};

#ifdef SEXTANT_WITH_OPENCV
class Theirs {
  public:
    explicit Theirs(const Case& one) : image_(one.image) {
        cv::setNumThreads(1);
        for (int order = 0; order <= 2; ++order)
            weights_.push_back(
                cv::Mat(kernel::gaussian_weights(one.sigma, order, one.kernel), true));
    }
    void run(const Input& input, std::vector<Memory>& outputs) const {
        const auto height = static_cast<int>(image_.height);
        const auto width = static_cast<int>(image_.width);
        auto* const samples = const_cast<std::byte*>(input.memory.data());
        const int types[] = {CV_32F, CV_8U, CV_16U};
        const cv::Mat from(height, width, types[input.view.first.index()], samples);
        for (std::size_t k = 0; k < five.size(); ++k) {
            cv::Mat to(height, width, CV_32F, outputs[k].data());
            cv::sepFilter2D(from, to, CV_32F, weights_[static_cast<std::size_t>(five[k].x)],
                            weights_[static_cast<std::size_t>(five[k].y)], {-1, -1}, 0,
                            cv::BORDER_REPLICATE);
        }
    }

  private:
    ImageShape image_;
    std::vector<cv::Mat> weights_;
};

/// The largest difference of two results, relative to the largest value of the same image.
double difference(const std::vector<Memory>& a, const std::vector<Memory>& b) {
    double worst = 0;
    for (std::size_t k = 0; k < a.size(); ++k) {
        const auto* const own = reinterpret_cast<const float*>(a[k].data());
        const auto* const other = reinterpret_cast<const float*>(b[k].data());
        float largest = 0, apart = 0;
        for (Bytes i = 0; i < a[k].size() / 4; ++i) {
            largest = std::max(largest, std::abs(own[i]));
            apart = std::max(apart, std::abs(own[i] - other[i]));
        }
        worst = std::max(worst, static_cast<double>(apart / largest));
    }
    return worst;
}
#endif

void measure(const Communicator& communicator, const Case& one, int rounds) {
    const Input input = make_input(one);
    std::vector<Memory> outputs = make_outputs(one.image);
    Ours ours(one);
    const auto own = [&] { ours.run(input, outputs); };
    std::string agreement = "-";
    own();
    Called called(communicator, one, input);
    if (!called.made(outputs))
        throw std::runtime_error("gaussian_derivatives() and its kernel differ");
    const auto call = [&] { called.run(); };
    bench::Duel fought, called_fought;
#ifdef SEXTANT_WITH_OPENCV
    std::vector<Memory> others = make_outputs(one.image);
    const Theirs theirs(one);
    theirs.run(input, others);
    const double apart = difference(outputs, others);
    if (!(apart < 1e-5))
        throw std::runtime_error(fmt::format("results differ by {:.1e}", apart));
    agreement = fmt::format("{:.0e}", apart);
    const auto other = [&] { theirs.run(input, others); };
    fought = bench::duel(rounds, own, other);
    called_fought = bench::duel(rounds, call, other);
#else
    for (int round = 0; round < rounds; ++round) {
        fought.ours.push_back(bench::milliseconds(own));
        called_fought.ours.push_back(bench::milliseconds(call));
    }
#endif
    const double megapixels = static_cast<double>(one.image.elements()) * 1e-6;
    fmt::print("{:>5} {:>8} {:>7} {:>12} {:>22} {:>22} {:>22} {:>18} {:>18} {:>6}\n", one.sigma,
               one.kernel == kernel::p3pc_kernel ? "p3pc" : "gaussian", one.samples,
               fmt::format("{}x{}", one.image.width, one.image.height),
               bench::with_interval(fought.ours, megapixels),
               bench::with_interval(called_fought.ours, megapixels),
               bench::with_interval(fought.theirs, megapixels), bench::with_interval(fought.ratios),
               bench::with_interval(called_fought.ratios), agreement);
    std::fflush(stdout);
}

} // namespace

int main(int argc, char** argv) try {
    std::ifstream file(argc > 1 ? argv[1] : "bench/cases/gaussian.json");
    const int rounds = argc > 2 ? std::stoi(argv[2]) : 11;
    if (!file || rounds < 5 || argc > 3) {
        fmt::print(stderr, "usage: bench_gaussian [CASES.json [ROUNDS, at least 5]]\n");
        return 2;
    }
#ifndef SEXTANT_WITH_OPENCV
    fmt::print("built without OpenCV (libopencv-imgproc-dev): nothing to compare with\n");
#endif
    fmt::print("{:>5} {:>8} {:>7} {:>12} {:>22} {:>22} {:>22} {:>18} {:>18} {:>6}\n", "sigma",
               "kernel", "samples", "image", "ours, CPU ms/Mpixel", "called", "OpenCV",
               "ours / OpenCV", "called / OpenCV", "diff.");
    const std::vector<Case> cases = read_cases(file);
    run_threads(1, [&](const Communicator& communicator) {
        for (const Case& one : cases)
            measure(communicator, one, rounds);
    });
} catch (const std::exception& error) {
    fmt::print(stderr, "bench_gaussian: {}\n", error.what());
    return 1;
}
