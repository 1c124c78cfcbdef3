// SPDX-License-Identifier: BSD-3-Clause
// How long the rigid registration of a pair of frames takes, and how wrong it is, beside OpenCV's
// findTransformECC on a pyramid.
//
//   bench_registration [CASES.json [ROUNDS]]
//
// Why the measurement is right: both are given the same two noisy frames of floats, new ones each
// round, and give the same three parameters, whose error against the known motion stands beside the
// time. Ours includes everything from the frame on: filter, pyramids, search, uncertainty. ECC is
// given what it needs to be its best at this: three levels by pyrDown from an identity start, its
// usual filter of 5 pixels, at most 50 iterations a level or until the correlation rises by less
// than 1e-5; it searches no start, so no case moves farther than it can follow. Both use one
// thread. The clock is the thread's own, which stands still while another program has the
// processor. Within a round both run one after the other, ours first in every second round; a ratio
// is taken within its round, so that drift of the machine meets both; medians over the rounds and
// their bootstrap intervals, never a minimum. "warm" is ours from a start half a pixel off, with
// both pyramids made anew, beside the search. Built without OpenCV, ours is timed alone.
#include "sextant/core/statistics.hpp"
#include "sextant/registration/rigid.hpp"
#include "sextant/registration/synthetic.hpp"

#include <cmath>
#include <ctime>
#include <fstream>
#include <numbers>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#ifdef SEXTANT_WITH_OPENCV_VIDEO
#include <opencv2/imgproc.hpp>
#include <opencv2/video/tracking.hpp>
#endif

namespace {

using namespace sextant;
using registration::Point;
using registration::RigidMotion;

constexpr RigidMotion true_motion{.3 * std::numbers::pi / 180, 2.3, -1.7};

struct Case {
    std::string specimen;
    ImageShape shape;
    double dose = 10;
};

std::vector<Case> read_cases(std::istream& file) {
    std::vector<Case> cases;
    const nlohmann::json json = nlohmann::json::parse(file);
    for (const auto& row : json.at("cases"))
        cases.push_back({row.at("specimen"), {row.at("width"), row.at("height")}, row.at("dose")});
    return cases;
}

struct Frames {
    kernel::FloatPlane reference, moved;
    RigidMotion truth;
};

Frames make_frames(const Case& one, int seed) {
    registration::SeriesPlan plan;
    plan.shape = one.shape;
    plan.frames = 2;
    plan.dose = one.dose;
    plan.drift = true_motion;
    plan.seed = static_cast<std::uint64_t>(seed);
    registration::SpecimenPlan specimen;
    specimen.field = registration::field_for(plan);
    specimen.seed = plan.seed;
    const registration::SyntheticSeries series(
        plan, registration::find_specimen(one.specimen).make(specimen));
    return {series.counted(0), series.counted(1), series.between(0, 1)};
}

class Ours {
  public:
    explicit Ours(ImageShape shape) : reference_(shape), moved_(shape), registration_(shape) {}

    RigidMotion align(const Frames& frames) {
        fill(frames);
        return registration_.align(reference_, moved_).motion;
    }
    RigidMotion refine(const Frames& frames, const RigidMotion& start) {
        fill(frames);
        return registration_.refine(reference_, moved_, start).motion;
    }

  private:
    void fill(const Frames& frames) {
        reference_.fill(frames.reference.samples());
        moved_.fill(frames.moved.samples());
    }

    registration::Pyramid reference_, moved_;
    registration::RigidRegistration registration_;
};

#ifdef SEXTANT_WITH_OPENCV_VIDEO
/// The motion about the centre of a transform about the origin.
RigidMotion motion_of(const cv::Mat& transform, Point c) {
    const auto at = [&](int row, int column) {
        return static_cast<double>(transform.at<float>(row, column));
    };
    return {std::atan2(at(1, 0), at(0, 0)), at(0, 0) * c.x + at(0, 1) * c.y + at(0, 2) - c.x,
            at(1, 0) * c.x + at(1, 1) * c.y + at(1, 2) - c.y};
}

cv::Mat as_mat(const kernel::FloatPlane& plane) {
    const kernel::FloatImage image = plane.image();
    return cv::Mat(static_cast<int>(image.shape.height), static_cast<int>(image.shape.width),
                   CV_32F, const_cast<float*>(image.first),
                   static_cast<std::size_t>(image.stride) * sizeof(float));
}

RigidMotion theirs(const Frames& frames) {
    constexpr int levels = 3;
    std::vector<cv::Mat> references = {as_mat(frames.reference)}, moved = {as_mat(frames.moved)};
    for (int level = 1; level < levels; ++level) {
        cv::Mat half;
        cv::pyrDown(references.back(), half);
        references.push_back(half.clone());
        cv::pyrDown(moved.back(), half);
        moved.push_back(half.clone());
    }
    cv::Mat transform = cv::Mat::eye(2, 3, CV_32F);
    const cv::TermCriteria until(cv::TermCriteria::COUNT + cv::TermCriteria::EPS, 50, 1e-5);
    for (std::size_t level = levels; level-- > 0;) {
        cv::findTransformECC(references[level], moved[level], transform, cv::MOTION_EUCLIDEAN,
                             until, cv::noArray(), 5);
        if (level > 0) {
            transform.at<float>(0, 2) *= 2;
            transform.at<float>(1, 2) *= 2;
        }
    }
    return motion_of(transform, registration::centre(frames.reference.shape()));
}
#endif

template <class Body>
double milliseconds(Body&& body) {
    const auto now = [] {
        timespec time{};
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
        return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) * 1e-6;
    };
    const double begin = now();
    body();
    return now() - begin;
}

std::string with_interval(const std::vector<double>& values) {
    if (values.empty())
        return "-";
    const Interval interval = interval_of_median(values);
    return fmt::format("{:.2f} [{:.2f}, {:.2f}]", median(values), interval.low, interval.high);
}

/// What one way of registering took and missed by, round by round.
struct Record {
    std::vector<double> times;
    double squares = 0;

    template <class Register>
    RigidMotion run(const Frames& frames, Register&& method) {
        RigidMotion motion;
        times.push_back(milliseconds([&] { motion = method(); }));
        const double error =
            registration::rms_distance(motion, frames.truth, frames.reference.shape(), .88);
        squares += error * error;
        return motion;
    }
    std::string error() const {
        return times.empty()
                   ? "-"
                   : fmt::format("{:.4f}", std::sqrt(squares / static_cast<double>(times.size())));
    }
};

std::vector<double> ratios(const Record& record, const Record& to) {
    std::vector<double> all;
    for (std::size_t round = 0; round < to.times.size(); ++round)
        all.push_back(record.times[round] / to.times[round]);
    return all;
}

void measure(const Case& one, int rounds) {
    Ours ours(one.shape);
    Record cold, warm, other;
    ours.align(make_frames(one, 0)); // every page written once
    for (int round = 1; round <= rounds; ++round) {
        const Frames frames = make_frames(one, round);
        const auto run_ours = [&] {
            const RigidMotion found = cold.run(frames, [&] { return ours.align(frames); });
            const RigidMotion start = compose(found, {0, .3, -.4});
            warm.run(frames, [&] { return ours.refine(frames, start); });
        };
        if (round % 2 == 0)
            run_ours();
#ifdef SEXTANT_WITH_OPENCV_VIDEO
        other.run(frames, [&] { return theirs(frames); });
#endif
        if (round % 2 == 1)
            run_ours();
    }
    fmt::print("{:<10} {:>11} {:>5} {:>22} {:>20} {:>24} {:>20} {:>8} {:>8}\n", one.specimen,
               fmt::format("{}x{}", one.shape.width, one.shape.height), one.dose,
               with_interval(cold.times), with_interval(ratios(warm, cold)),
               with_interval(other.times), with_interval(ratios(cold, other)), cold.error(),
               other.error());
    std::fflush(stdout);
}

} // namespace

int main(int argc, char** argv) try {
    std::ifstream file(argc > 1 ? argv[1] : "bench/cases/registration.json");
    const int rounds = argc > 2 ? std::stoi(argv[2]) : 11;
    if (!file || rounds < 5 || argc > 3) {
        fmt::print(stderr, "usage: bench_registration [CASES.json [ROUNDS, at least 5]]\n");
        return 2;
    }
#ifdef SEXTANT_WITH_OPENCV_VIDEO
    cv::setNumThreads(1);
#else
    fmt::print("built without OpenCV (libopencv-video-dev): nothing to compare with\n");
#endif
    fmt::print("{:<10} {:>11} {:>5} {:>22} {:>20} {:>24} {:>20} {:>8} {:>8}   seeds 1 to {}\n",
               "specimen", "frames", "dose", "ours, CPU ms", "warm / ours", "ECC, CPU ms",
               "ours / ECC", "RMS px", "ECC's", rounds);
    for (const Case& one : read_cases(file))
        measure(one, rounds);
} catch (const std::exception& error) {
    fmt::print(stderr, "bench_registration: {}\n", error.what());
    return 1;
}
