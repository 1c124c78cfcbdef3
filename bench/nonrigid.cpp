// SPDX-License-Identifier: BSD-3-Clause
// The time and error of the non-rigid registration of a pair of frames, compared with OpenCV's
// DualTVL1 optical flow.
//
//   bench_nonrigid [CASES.json [ROUNDS]]
//
// Method: both get the same two noisy float frames, new ones in each round, and return a
// displacement for each pixel. The table shows their times, and their RMS errors against the known
// warp over the central 88 % of the frame. The time of ours includes everything: the search for a
// rigid start, filters, pyramids, fit and standard deviations. TV-L1 gets frames that were filtered
// by the same Gaussian and scaled to its range of values, which is not timed, and the data weight
// with the least error at this noise: .03, chosen from .15 (its default, with five times the
// error), .05, .03 and .02. It starts from zero displacement; the rigid part of the warps is less
// than a pixel. Both use one thread. In each round both run one after the other, ours first in
// every second round; ratios are taken within a round, so that drift of the machine affects both.
// Medians over the rounds with bootstrap intervals are reported, never minima. Built without
// OpenCV's optflow, ours is timed alone.
#include "sextant/registration/pair/nonrigid.hpp"

#include "sextant/registration/pair/rigid.hpp"
#include "sextant/registration/synthetic.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numbers>
#include <string>
#include <vector>

#include "bench/duel.hpp"
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#ifdef SEXTANT_WITH_OPENCV_OPTFLOW
#include <opencv2/optflow.hpp>
#endif

namespace {

using namespace sextant;
using bench::milliseconds;
using bench::root_mean_square;
using bench::with_interval;
using registration::DisplacementField;
using registration::Point;

struct Case {
    std::string specimen;
    ImageShape shape;
    double dose = 10, length = 400, amplitude = 1.6;
};

std::vector<Case> read_cases(std::istream& file) {
    std::vector<Case> cases;
    const nlohmann::json json = nlohmann::json::parse(file);
    for (const auto& row : json.at("cases"))
        cases.push_back({row.at("specimen"),
                         {row.at("width"), row.at("height")},
                         row.at("dose"),
                         row.at("length"),
                         row.at("amplitude")});
    return cases;
}

/// The known warp φ: a rigid motion plus one wave along each axis.
Point warped(const Case& one, Point x) {
    const Point moved =
        apply(registration::RigidMotion{.004, .7, -.5}, x, registration::centre(one.shape));
    const double k = 2 * std::numbers::pi / one.length;
    return {moved.x + one.amplitude * std::sin(k * x.y + .4) * std::cos(.7 * k * x.x),
            moved.y + one.amplitude * std::sin(k * x.x + 1.1) * std::cos(.6 * k * x.y)};
}

/// The template shows the specimen unwarped; the reference at x shows the specimen at φ(x).
struct Frames {
    kernel::FloatPlane reference, templ;
    DisplacementField truth;
};

template <class Body>
void for_each_pixel(ImageShape shape, Body body) {
    for (Elements y = 0; y < shape.height; ++y) {
        for (Elements x = 0; x < shape.width; ++x)
            body(x, y, Point{static_cast<double>(x), static_cast<double>(y)});
    }
}

Frames make_frames(const Case& one, std::uint64_t seed) {
    registration::SpecimenPlan plan;
    plan.field = {one.shape.width + 32, one.shape.height + 32};
    plan.seed = seed;
    const auto specimen = registration::find_specimen(one.specimen).make(plan);
    const Point c = registration::centre(one.shape);
    registration::NoiseSource noise(seed, 1);
    const auto counted = [&](Point at) {
        const double mean = std::max(specimen({at.x - c.x, at.y - c.y}), 0.);
        return static_cast<float>(noise.poisson(one.dose * mean));
    };
    Frames frames{kernel::FloatPlane(one.shape), kernel::FloatPlane(one.shape),
                  registration::no_displacement(one.shape, 1)};
    for_each_pixel(one.shape, [&](Elements x, Elements y, Point at) {
        const Point to = warped(one, at);
        const auto i = static_cast<std::size_t>(y * one.shape.width + x);
        frames.reference.row(y)[x] = counted(to);
        frames.templ.row(y)[x] = counted(at);
        frames.truth.x[i] = static_cast<float>(to.x - at.x);
        frames.truth.y[i] = static_cast<float>(to.y - at.y);
    });
    return frames;
}

class Ours {
  public:
    explicit Ours(ImageShape shape)
        : reference_(shape), templ_(shape), rigid_(shape), nonrigid_(shape) {}

    const DisplacementField& run(const Frames& frames) {
        reference_.fill(frames.reference.samples());
        templ_.fill(frames.templ.samples());
        start_ = rigid_.align(reference_, templ_).motion;
        return nonrigid_.run(frames.reference.samples(), frames.templ.samples(), start_).field;
    }
    const registration::RigidMotion& start() const { return start_; }

  private:
    registration::Pyramid reference_, templ_;
    registration::RigidRegistration rigid_;
    registration::NonrigidRegistration nonrigid_;
    registration::RigidMotion start_;
};

#ifdef SEXTANT_WITH_OPENCV_OPTFLOW
class Theirs {
  public:
    Theirs() : flow_(cv::optflow::DualTVL1OpticalFlow::create()) {
        cv::setNumThreads(1);
        flow_->setLambda(.03);
    }

    /// A frame in TV-L1's format: floats from 0 to 1, a range of four standard deviations.
    static cv::Mat prepared(const kernel::FloatPlane& frame) {
        registration::Pyramid pyramid(frame.shape(), 1);
        pyramid.fill(frame.samples());
        const auto [width, height] = frame.shape();
        cv::Mat made(static_cast<int>(height), static_cast<int>(width), CV_32F);
        for (int y = 0; y < made.rows; ++y) {
            const float* const from = pyramid.level(0).row(y);
            std::transform(from, from + width, made.ptr<float>(y),
                           [](float v) { return std::clamp(.5f + v / 8, 0.f, 1.f); });
        }
        return made;
    }
    void run(const cv::Mat& reference, const cv::Mat& templ) {
        flow_->calc(reference, templ, found_);
    }
    DisplacementField field() const {
        DisplacementField made = registration::no_displacement({found_.cols, found_.rows}, 1);
        for (int y = 0; y < found_.rows; ++y) {
            for (int x = 0; x < found_.cols; ++x) {
                const auto i = static_cast<std::size_t>(y * found_.cols + x);
                made.x[i] = found_.at<cv::Vec2f>(y, x)[0];
                made.y[i] = found_.at<cv::Vec2f>(y, x)[1];
            }
        }
        return made;
    }

  private:
    cv::Ptr<cv::optflow::DualTVL1OpticalFlow> flow_;
    cv::Mat found_;
};
#endif

/// The results of all rounds of a case.
struct Figures {
    std::vector<double> times, other_times, ratios;
    std::vector<double> errors, other_errors, errors_of_rigid;
};

void one_round(const Case& one, int number, Ours& ours, Figures& figures) {
    constexpr double central = .88;
    const Frames frames = make_frames(one, static_cast<std::uint64_t>(number) + 1);
    const DisplacementField* field = nullptr;
    const auto time_ours = [&] {
        figures.times.push_back(milliseconds([&] { field = &ours.run(frames); }));
    };
    if (number % 2 == 0)
        time_ours();
#ifdef SEXTANT_WITH_OPENCV_OPTFLOW
    Theirs theirs;
    const cv::Mat reference = Theirs::prepared(frames.reference);
    const cv::Mat templ = Theirs::prepared(frames.templ);
    figures.other_times.push_back(milliseconds([&] { theirs.run(reference, templ); }));
    figures.other_errors.push_back(rms_distance(theirs.field(), frames.truth, central));
#endif
    if (number % 2 == 1)
        time_ours();
    if (!figures.other_times.empty())
        figures.ratios.push_back(figures.times.back() / figures.other_times.back());
    figures.errors.push_back(rms_distance(*field, frames.truth, central));
    figures.errors_of_rigid.push_back(
        rms_distance(registration::as_field(ours.start(), one.shape, 8), frames.truth, central));
}

void measure(const Case& one, int rounds) {
    Ours ours(one.shape);
    ours.run(make_frames(one, 1)); // warm-up: touches pages, allocates workspaces
    Figures figures;
    for (int round = 0; round < rounds; ++round)
        one_round(one, round, ours, figures);
    const bool compared = !figures.ratios.empty();
    fmt::print("{:>8} {:>10} {:>6} {:>24} {:>26} {:>18} {:>6.3f} {:>6} {:>6.3f}\n", one.specimen,
               fmt::format("{}x{}", one.shape.width, one.shape.height), one.length,
               with_interval(figures.times), compared ? with_interval(figures.other_times) : "-",
               compared ? with_interval(figures.ratios) : "-", root_mean_square(figures.errors),
               compared ? fmt::format("{:.3f}", root_mean_square(figures.other_errors)) : "-",
               root_mean_square(figures.errors_of_rigid));
    std::fflush(stdout);
}

} // namespace

int main(int argc, char** argv) try {
    std::ifstream file(argc > 1 ? argv[1] : "bench/cases/nonrigid.json");
    const int rounds = argc > 2 ? std::stoi(argv[2]) : 7;
    if (!file || rounds < 5 || argc > 3) {
        fmt::print(stderr, "usage: bench_nonrigid [CASES.json [ROUNDS, at least 5]]\n");
        return 2;
    }
#ifndef SEXTANT_WITH_OPENCV_OPTFLOW
    fmt::print("built without OpenCV's optflow (libopencv-contrib-dev): nothing to compare with\n");
#endif
    fmt::print("seeds 1 to {}; dose as in the cases; errors in pixels, RMS\n", rounds);
    fmt::print("{:>8} {:>10} {:>6} {:>24} {:>26} {:>18} {:>6} {:>6} {:>6}\n", "specimen", "image",
               "wave", "ours, CPU ms", "TV-L1, CPU ms", "ratio", "ours", "TV-L1", "rigid");
    for (const Case& one : read_cases(file))
        measure(one, rounds);
} catch (const std::exception& error) {
    fmt::print(stderr, "bench_nonrigid: {}\n", error.what());
    return 1;
}
