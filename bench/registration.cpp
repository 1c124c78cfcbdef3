// SPDX-License-Identifier: BSD-3-Clause
// The error of the rigid registration of a pair of frames, compared with the Cramér-Rao bound, and
// its time, compared with OpenCV's findTransformECC on a pyramid and with the thesis's method.
//
//   bench_registration [CASES.json [ROUNDS]]
//
// Method: all methods get the same two noisy float frames, new ones in each round, and return the
// same three parameters; errors against the known motion are taken over the central 88 % of the
// frame. The bound is the Cramér-Rao bound for the specimen and the dose; z is the RMS, over all
// parameters, of our errors over our predicted standard deviations. The time of ours includes
// everything: filter, pyramids, search and uncertainty. ECC runs with the settings that suit it
// best: three levels by pyrDown from an identity start, its default filter of 5 pixels, and at most
// 50 iterations per level or until the correlation rises by less than 1e-5. It does not search for
// a start, so no case has a motion beyond its range. The thesis's method, with frames filtered by 2
// pixels, runs in the first three rounds of cases that request it. All use one thread. Times are
// CPU times of the thread, which other programs hardly affect. In each round all run one after the
// other, ours first in every second round; ratios are taken within a round, so that drift of the
// machine affects both. Medians over the rounds with bootstrap intervals are reported, never
// minima. The number of rounds in which ECC gave up is in parentheses. "warm" is one operator
// application of a scan: a refinement from a start half a pixel off, with one frame's pyramid
// available and the other's computed; its time is relative to that of the search with both pyramids
// computed. Built without OpenCV, the benchmark runs without ECC.
#include "sextant/core/statistics.hpp"
#include "sextant/registration/pair/rigid.hpp"
#include "sextant/registration/synthetic.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numbers>
#include <optional>
#include <string>
#include <vector>

#include "bench/duel.hpp"
#include "bench/faulty_series.hpp"
#include "papers/thesis_registration.hpp"
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#ifdef SEXTANT_WITH_OPENCV_VIDEO
#include <opencv2/imgproc.hpp>
#include <opencv2/video/tracking.hpp>
#endif

namespace {

using namespace sextant;
using bench::milliseconds;
using bench::with_interval;
using registration::Point;
using registration::RigidMotion;

constexpr RigidMotion true_motion{.3 * std::numbers::pi / 180, 2.3, -1.7};
constexpr double central = .88;

struct Case {
    std::string specimen;
    ImageShape shape;
    double dose = 10;
    bool thesis = false; ///< also compare with the thesis's method
};

std::vector<Case> read_cases(std::istream& file) {
    std::vector<Case> cases;
    const nlohmann::json json = nlohmann::json::parse(file);
    for (const auto& row : json.at("cases"))
        cases.push_back({row.at("specimen"),
                         {row.at("width"), row.at("height")},
                         row.at("dose"),
                         row.value("thesis", false)});
    return cases;
}

struct Frames {
    kernel::FloatPlane reference, moved;
    RigidMotion truth;
    double bound = 0; ///< Cramér-Rao bound of the RMS error over the central part, pixels
};

Frames make_frames(const Case& one, int seed) {
    registration::SeriesPlan plan;
    plan.shape = one.shape;
    plan.frames = 2;
    plan.dose = one.dose;
    plan.drift = inverse(true_motion);
    plan.seed = static_cast<std::uint64_t>(seed);
    registration::SpecimenPlan specimen;
    specimen.field = registration::field_for(plan);
    specimen.seed = plan.seed;
    const registration::Specimen shown = registration::find_specimen(one.specimen).make(specimen);
    const registration::SyntheticSeries series(plan, shown);
    return {series.counted(0), series.counted(1), series.between(0, 1),
            bench::cramer_rao(shown, one.shape, one.dose, central)};
}

class Ours {
  public:
    explicit Ours(ImageShape shape) : reference_(shape), moved_(shape), registration_(shape) {}

    registration::RigidResult align(const Frames& frames) {
        reference_.fill(frames.reference.samples());
        moved_.fill(frames.moved.samples());
        return registration_.align(reference_, moved_);
    }
    /// Refines from `start`, with the reference pyramid of the last align().
    registration::RigidResult refine(const Frames& frames, const RigidMotion& start) {
        moved_.fill(frames.moved.samples());
        return registration_.refine(reference_, moved_, start);
    }

  private:
    registration::Pyramid reference_, moved_;
    registration::RigidRegistration registration_;
};

#ifdef SEXTANT_WITH_OPENCV_VIDEO
/// Converts OpenCV's transform about the origin to a motion about the centre `c`.
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

/// Registers by ECC; returns nothing if ECC gives up.
std::optional<RigidMotion> theirs(const Frames& frames) try {
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
} catch (const cv::Exception&) {
    return std::nullopt;
}
#endif

std::optional<RigidMotion> by_thesis(const Frames& frames) {
    papers::ThesisOptions options;
    options.sigma = 2;
    return papers::GradientFlowRegistration(options)
        .rigid(frames.reference.samples(), frames.moved.samples())
        .motion;
}

/// The times and errors of one method, one per round.
struct Record {
    std::vector<double> times, errors;

    void run(const Frames& frames, std::optional<RigidMotion> (*method)(const Frames&)) {
        std::optional<RigidMotion> motion;
        times.push_back(milliseconds([&] { motion = method(frames); }));
        if (motion)
            add_error(frames, *motion);
    }
    void add_error(const Frames& frames, const RigidMotion& motion) {
        errors.push_back(
            registration::rms_distance(motion, frames.truth, frames.reference.shape(), central));
    }
    /// The RMS error, with the number of rounds without a result.
    std::string rms() const {
        if (errors.empty())
            return "-";
        const std::size_t failed = times.size() - errors.size();
        return fmt::format("{:.4f}", bench::root_mean_square(errors)) +
               (failed > 0 ? fmt::format(" ({})", failed) : "");
    }
};

/// The times and errors of our method, and those results that only our method gives.
struct OurRecord : Record {
    std::vector<double> warm, of_bound, z, bounds;

    void run(const Frames& frames, Ours& ours) {
        registration::RigidResult found;
        times.push_back(milliseconds([&] { found = ours.align(frames); }));
        const RigidMotion start = compose(found.motion, {0, .3, -.4});
        warm.push_back(milliseconds([&] { ours.refine(frames, start); }) / times.back());
        add_error(frames, found.motion);
        bounds.push_back(frames.bound);
        of_bound.push_back(errors.back() / frames.bound);
        const auto& [motion, sigma] = std::pair(found.motion, found.uncertainty);
        z.push_back((motion.alpha - frames.truth.alpha) / sigma.alpha);
        z.push_back((motion.tx - frames.truth.tx) / sigma.tx);
        z.push_back((motion.ty - frames.truth.ty) / sigma.ty);
    }
};

/// The median ratio of our times to theirs, over the rounds in which both ran.
std::string ratios(const Record& ours, const Record& theirs) {
    std::vector<double> all;
    for (std::size_t round = 0; round < theirs.times.size(); ++round)
        all.push_back(ours.times[round] / theirs.times[round]);
    return with_interval(all);
}

void measure(const Case& one, int rounds) {
    constexpr int thesis_rounds = 3;
    Ours workspace(one.shape);
    OurRecord ours;
    Record ecc, thesis;
    workspace.align(make_frames(one, 0)); // touches every page
    for (int round = 1; round <= rounds; ++round) {
        const Frames frames = make_frames(one, round);
        if (round % 2 == 0)
            ours.run(frames, workspace);
#ifdef SEXTANT_WITH_OPENCV_VIDEO
        ecc.run(frames, theirs);
#endif
        if (one.thesis && round <= thesis_rounds)
            thesis.run(frames, by_thesis);
        if (round % 2 == 1)
            ours.run(frames, workspace);
    }
    fmt::print(
        "{:<10} {:>5} {:>4} {:>7} {:>5.2f} {:>5.2f} {:>5.2f} {:>11} {:>7} {:>19} {:>17} {:>17} "
        "{:>8}\n",
        one.specimen, one.shape.width, one.dose, ours.rms(),
        bench::root_mean_square(ours.errors) / bench::root_mean_square(ours.bounds),
        *std::max_element(ours.of_bound.begin(), ours.of_bound.end()),
        bench::root_mean_square(ours.z), ecc.rms(), thesis.rms(), with_interval(ours.times),
        with_interval(ours.warm), ratios(ours, ecc),
        thesis.times.empty() ? "-"
                             : fmt::format("{:.4f}", median(ours.times) / median(thesis.times)));
    std::fflush(stdout);
}

} // namespace

int main(int argc, char** argv) try {
    std::ifstream file(argc > 1 ? argv[1] : "bench/cases/registration.json");
    const int rounds = argc > 2 ? std::stoi(argv[2]) : 20;
    if (!file || rounds < 5 || argc > 3) {
        fmt::print(stderr, "usage: bench_registration [CASES.json [ROUNDS, at least 5]]\n");
        return 2;
    }
#ifdef SEXTANT_WITH_OPENCV_VIDEO
    cv::setNumThreads(1);
#else
    fmt::print("built without OpenCV (libopencv-video-dev): no ECC to compare with\n");
#endif
    fmt::print("seeds 1 to {}; errors RMS, pixels; CPU milliseconds and their ratios\n", rounds);
    fmt::print(
        "{:<10} {:>5} {:>4} {:>7} {:>5} {:>5} {:>5} {:>11} {:>7} {:>19} {:>17} {:>17} {:>8}\n",
        "specimen", "side", "dose", "ours", "bound", "worst", "z", "ECC", "thesis", "ours, ms",
        "warm/cold", "/ECC", "/thesis");
    for (const Case& one : read_cases(file))
        measure(one, rounds);
} catch (const std::exception& error) {
    fmt::print(stderr, "bench_registration: {}\n", error.what());
    return 1;
}
