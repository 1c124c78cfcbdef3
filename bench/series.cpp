// SPDX-License-Identifier: BSD-3-Clause
// The errors, flags, deviations and costs of the registration of series with faults.
//
//   bench_series CASES.json FIRST LAST [NAME,...] [--json] [--bound] [--peer NAME]
//                [--write FOLDER] [OPTION=VALUE ...]
//
// Runs all cases, or those whose name is or begins with one of the given names, with the seeds
// FIRST to LAST, and prints a JSON object per series and a table. With --json there is no table,
// but the objects list every frame. OPTION=VALUE overrides an option of registration in all cases.
// With --bound, the Cramér-Rao bound of each series is computed too (FaultySeries::bound).
// With --write, the frames of each series are also written to FOLDER/CASE-SEED.mrc.
// With --peer, another program registers the series (bench/series_peers.hpp).
//
// Method: a series with seeded faults (faulty_series.hpp) is registered on one thread. The
// error of a frame is the RMS distance, over a grid in the central 88 % of the frame, between the
// position of a pixel in the reference according to the registration and the true one. Only errors
// of frames relative to one another matter: the common motion (rigid, or affine if the case says
// so) that fits the errors of all frames best is removed. Grossly wrong frames do not influence it.
// With displacement fields, the reference is an average with a distortion of its own, so the mean
// error of all frames at each position is removed too.
// A frame is right if its error is at most half a pixel. A flag is any of: ambiguous, in doubt,
// unrelated, not averaged. The table's columns:
//   error     RMS over the frames that are used, pixels
//   median    of these frames
//   /clean    error relative to that of the clean case with the same seeds
//   /bound    error relative to the Cramér-Rao bound of the same frames
//   ok %      recoverable frames that are right and used without a flag
//   flag %    recoverable frames that are right and used, but flagged
//   silent %  frames that are wrong or unrecoverable, but used without a flag
//   wrong %   frames that are wrong or unrecoverable, but used
//   out %     recoverable frames that are left out
//   z         RMS of the errors of the translations over their predicted standard deviations, of
//             right frames; of displacement fields, that of the errors at known nodes; of
//             scanned rows, that of the displacements of rows
//   z ref     the same relative to the reference frame instead of to the mean of all frames; the
//             variances of both frames are added
//   regs      registrations per frame
//   CPU s     time of the processor for a series; generation of the frames is excluded
// Of a pair, the error is that of one frame relative to the other, flags of either count, and a
// failure counts as left out.
#include "sextant/comm/threads.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/json.hpp"
#include "sextant/core/statistics.hpp"
#include "sextant/lab/bench_cases.hpp"
#include "sextant/registration/series_registration.hpp"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/duel.hpp"
#include "bench/faulty_series.hpp"
#include "bench/series_peers.hpp"
#include <Eigen/Dense>
#include <fmt/format.h>

namespace {

using namespace sextant;
using registration::Point;
using registration::Transform;

constexpr double central = .88;
constexpr double largest_right = .5; ///< pixels

struct SeriesCase {
    std::string name, kind = "series", specimen = "lattice", clean, gauge = "rigid";
    int frames = 24;
    std::int64_t side = 512;
    double dose = 10;
    double dose_most = 0;            ///< of pairs: doses are between `dose` and this
    double amorphous = .38;          ///< registration::SpecimenPlan::amorphous
    double contrast = .25;           ///< registration::SpecimenPlan::contrast
    double drift_x = 0, drift_y = 0; ///< per frame, pixels
    double step = 0, turn = 0;       ///< random step (pixels) and rotation (degrees) per frame
    double rotation = 0;             ///< steady rotation per frame, degrees
    double warp = 0;                 ///< registration::SeriesPlan::warp
    double reach = 40;               ///< of pairs: largest translation along each axis, pixels
    bench::Faults faults;
    RegistrationOptions options;

    bool is_pair() const { return kind == "pair"; }
};

Record record_of(SeriesCase& one) {
    constexpr double most = 1e6;
    Record record;
    record.add("name", one.name, "NAME", "name of the case");
    record.add("kind", one.kind, "KIND", "series or pair").one_of({"series", "pair"});
    record.add("specimen", one.specimen, "NAME", "specimen")
        .one_of({"lattice", "carbon", "particles"});
    record.add("clean", one.clean, "NAME", "case without the fault");
    record.add("gauge", one.gauge, "KIND", "common motion that is removed from the errors")
        .one_of({"rigid", "affine"});
    record.add("frames", one.frames, "N", "number of frames").between(2, most);
    record.add("side", one.side, "PIXELS", "width and height of a frame").between(16, 1 << 14);
    record.add("dose", one.dose, "DOSE", "electrons per pixel").between(0, most);
    record.add("dose_most", one.dose_most, "DOSE", "largest dose of pairs").between(0, most);
    record.add("amorphous", one.amorphous, "FRACTION", "aperiodic contrast of a lattice")
        .between(0, 1);
    record.add("contrast", one.contrast, "FRACTION", "contrast of the specimen").between(0, 1);
    record.add("drift_x", one.drift_x, "PIXELS", "drift per frame").between(-most, most);
    record.add("drift_y", one.drift_y, "PIXELS", "drift per frame").between(-most, most);
    record.add("step", one.step, "PIXELS", "random step per frame").between(0, most);
    record.add("turn", one.turn, "DEGREES", "random rotation per frame").between(0, 180);
    record.add("rotation", one.rotation, "DEGREES", "steady rotation per frame").between(-180, 180);
    record.add("warp", one.warp, "PIXELS", "distortion of the last frame").between(0, most);
    record.add("reach", one.reach, "PIXELS", "largest translation of pairs").between(0, most);
    record.add("faults", bench::record_of(one.faults));
    record.add("options", sextant::record_of(one.options));
    return record;
}

std::vector<SeriesCase> read_cases(const std::string& path) {
    const JsonField file = JsonField::read(path);
    const auto defaults = file.find("defaults");
    std::vector<SeriesCase> cases;
    lab::for_each_case(path, [&](const JsonField& entry) {
        SeriesCase& one = cases.emplace_back();
        if (defaults)
            read(record_of(one), *defaults);
        read(record_of(one), entry);
        if (one.name.empty())
            entry.fail("has no name");
    });
    return cases;
}

/// A series and the specimen that it shows.
struct Made {
    registration::Specimen specimen;
    bench::FaultySeries series;
};

Made make(const SeriesCase& one, int seed) {
    constexpr double degree = std::numbers::pi / 180;
    registration::SeriesPlan plan;
    plan.shape = {one.side, one.side};
    plan.frames = one.frames;
    plan.dose = one.dose;
    plan.drift = {one.rotation * degree, one.drift_x, one.drift_y};
    plan.wander = one.step;
    plan.rotation_wander = one.turn * degree;
    plan.warp = one.warp;
    plan.seed = static_cast<std::uint64_t>(seed);
    if (one.is_pair()) {
        registration::NoiseSource noise(plan.seed, 77);
        const auto within = [&](double most) { return (2 * noise.uniform() - 1) * most; };
        const double alpha = within(one.turn * degree), tx = within(one.reach),
                     ty = within(one.reach);
        plan.frames = 2;
        plan.drift = {alpha, tx, ty};
        plan.wander = plan.rotation_wander = 0;
        plan.dose *= std::pow(std::max(1., one.dose_most / one.dose), noise.uniform());
    }
    registration::SpecimenPlan specimen;
    // A margin for faults that move the content further than the plan says.
    constexpr Elements margin = 32;
    const ImageShape field = registration::field_for(plan);
    specimen.field = {field.width + 2 * margin, field.height + 2 * margin};
    specimen.amorphous = one.amorphous;
    specimen.contrast = one.contrast;
    specimen.seed = plan.seed;
    const registration::Specimen shown = registration::find_specimen(one.specimen).make(specimen);
    return {shown, {plan, one.faults, shown}};
}

/// Returns the RMS of the Cramér-Rao bounds of the frames that are recoverable.
double bound_of(const Made& made) {
    std::vector<double> bounds;
    for (std::int64_t frame = 0; frame < made.series.plan().frames; ++frame) {
        if (made.series.recoverable(frame))
            bounds.push_back(made.series.bound(frame, made.specimen, central));
    }
    return bench::root_mean_square(bounds);
}

/// The registration of a series by the library.
struct Registered {
    RegistrationResult result;
    std::map<std::int64_t, Transform> transforms;
    std::int64_t registrations = 0;
    double seconds = 0; ///< CPU time
    std::string failure;
};

double processor_seconds() {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

Registered registered(const bench::FaultySeries& series, const RegistrationOptions& options) {
    Registered made;
    RegistrationHooks hooks;
    double spent = 0; // by the bench itself
    hooks.write = [&](const RegistrationResult&, RegisteredFrames& frames) {
        const double begin = processor_seconds();
        for (const std::int64_t frame : frames.numbers())
            made.transforms[frame] = frames.transform(frame);
        spent = processor_seconds() - begin;
    };
    hooks.worked = [&](registration::Work, Seconds, Seconds) { ++made.registrations; };
    const double begin = processor_seconds();
    try {
        run_threads(1, [&](const Communicator& communicator) {
            made.result = SeriesRegistration(communicator, options).run(series.open(), hooks);
        });
    } catch (const std::exception& error) {
        made.failure = error.what();
    }
    made.seconds = processor_seconds() - begin - spent;
    return made;
}

Registered registered_by(const std::string& peer, const bench::FaultySeries& series) {
    const bench::PeerResult found = bench::run_peer(peer, series);
    Registered made;
    made.transforms = found.transforms;
    made.seconds = found.seconds;
    made.result.frames.resize(static_cast<std::size_t>(series.plan().frames));
    return made;
}

/// An error at a position, both in the coordinates of the reference, and the row of the frame.
struct ErrorAt {
    Point at, error;
    double row = 0;
};

/// A small motion that is common to errors of many frames: error ≈ shift + (linear)(at − centre).
struct Gauge {
    Point centre;
    Eigen::Matrix<double, 6, 1> p = Eigen::Matrix<double, 6, 1>::Zero(); ///< x: 0–2, y: 3–5

    Point operator()(Point at) const {
        const double x = at.x - centre.x, y = at.y - centre.y;
        return {p[0] + p[1] * x + p[2] * y, p[3] + p[4] * x + p[5] * y};
    }
    Point left(const ErrorAt& one) const {
        const Point common = (*this)(one.at);
        return {one.error.x - common.x, one.error.y - common.y};
    }
};

/// The mean of the errors of several frames at each position.
class MeanErrors {
  public:
    void add(const std::vector<ErrorAt>& errors, const Gauge& gauge) {
        for (const ErrorAt& one : errors) {
            const Point left = gauge.left(one);
            Sum& sum = sums_[{one.at.x, one.at.y}];
            sum = {sum.count + 1, {sum.total.x + left.x, sum.total.y + left.y}};
        }
    }

    /// Returns the errors at positions that several frames cover, without their mean.
    std::vector<ErrorAt> removed_from(const std::vector<ErrorAt>& errors) const {
        std::vector<ErrorAt> left;
        for (const ErrorAt& one : errors) {
            const auto sum = sums_.find({one.at.x, one.at.y});
            if (sum == sums_.end() || sum->second.count < 2)
                continue;
            const auto& [count, total] = sum->second;
            left.push_back(
                {one.at, {one.error.x - total.x / count, one.error.y - total.y / count}});
        }
        return left;
    }

  private:
    struct Sum {
        double count = 0;
        Point total;
    };

    std::map<std::pair<double, double>, Sum> sums_;
};

/// Fits a gauge to errors by least squares.
class GaugeFit {
  public:
    GaugeFit(Point centre, bool affine) : centre_(centre), affine_(affine) {}

    void add(const std::vector<ErrorAt>& errors) {
        for (const ErrorAt& one : errors) {
            const double x = one.at.x - centre_.x, y = one.at.y - centre_.y;
            Eigen::Matrix<double, 6, 1> along_x, along_y;
            if (affine_) {
                along_x << 1, x, y, 0, 0, 0;
                along_y << 0, 0, 0, 1, x, y;
            } else {
                along_x << 1, 0, -y, 0, 0, 0;
                along_y << 0, 1, x, 0, 0, 0;
            }
            matrix_ += along_x * along_x.transpose() + along_y * along_y.transpose();
            right_ += along_x * one.error.x + along_y * one.error.y;
        }
    }
    Gauge gauge() const {
        const Eigen::Matrix<double, 6, 1> p =
            matrix_.completeOrthogonalDecomposition().solve(right_);
        Gauge gauge{centre_, p};
        if (!affine_)
            gauge.p << p[0], 0, -p[2], p[1], p[2], 0;
        return gauge;
    }

  private:
    Point centre_;
    bool affine_;
    Eigen::Matrix<double, 6, 6> matrix_ = Eigen::Matrix<double, 6, 6>::Zero();
    Eigen::Matrix<double, 6, 1> right_ = Eigen::Matrix<double, 6, 1>::Zero();
};

struct FrameOutcome {
    std::int64_t frame = 0;
    bool recoverable = true, used = false, flagged = false;
    double error = std::numeric_limits<double>::infinity();
    double error_without_rows = error; ///< the same if rows were not shifted
    std::vector<double> z, z_reference;
    std::string flags;

    bool right() const { return recoverable && used && error <= largest_right; }
};

struct SeriesOutcome {
    std::vector<FrameOutcome> frames;
    double registrations = 0, seconds = 0;
    registration::SeriesMisfit misfit;
    std::string failure;
    std::optional<double> bound; ///< RMS of the Cramér-Rao bounds of the frames, if computed
};

class Judge {
  public:
    Judge(const SeriesCase& one, const bench::FaultySeries& series, const Registered& registered)
        : case_(one),
          series_(series),
          registered_(registered),
          shape_(series.plan().shape),
          centre_(registration::centre(shape_)) {}

    SeriesOutcome judge() {
        SeriesOutcome outcome;
        const auto frames = static_cast<std::size_t>(series_.plan().frames);
        outcome.registrations =
            static_cast<double>(registered_.registrations) / static_cast<double>(frames);
        outcome.seconds = registered_.seconds;
        outcome.failure = registered_.failure;
        outcome.misfit = registered_.result.misfit;
        outcome.frames.resize(frames);
        errors_.resize(frames);
        plain_errors_.resize(frames);
        for (std::size_t i = 0; i < frames; ++i)
            look_at(outcome.frames[i], i);
        const bool affine = case_.gauge == "affine";
        const auto reference = static_cast<std::size_t>(registered_.result.reference);
        GaugeFit of_reference(centre_, affine);
        of_reference.add(errors_[reference]);
        const Gauge relative = of_reference.gauge();
        const Gauge common = case_.is_pair() ? relative : robust_gauge(outcome.frames, affine);
        if (case_.options.model == MotionModel::nonrigid && !case_.is_pair())
            remove_mean_field(outcome.frames, common);
        for (FrameOutcome& frame : outcome.frames)
            measure(frame, common, relative);
        if (case_.is_pair())
            outcome.frames = {pair_of(outcome.frames, reference)};
        return outcome;
    }

  private:
    /// Records a frame's flags, and its errors before any common motion is removed.
    void look_at(FrameOutcome& frame, std::size_t i) {
        frame.frame = static_cast<std::int64_t>(i);
        frame.recoverable = series_.recoverable(frame.frame);
        const auto transform = registered_.transforms.find(frame.frame);
        if (!registered_.failure.empty() || transform == registered_.transforms.end()) {
            frame.flags = "left out";
            return;
        }
        const FrameRegistration& found = registered_.result.frames[i];
        const auto flag = [&](bool set, const char* name) {
            if (set)
                frame.flags += fmt::format("{}{}", frame.flags.empty() ? "" : ", ", name);
        };
        flag(found.result.ambiguous, "ambiguous");
        flag(found.in_doubt, "in doubt");
        flag(found.static_bias, "static");
        flag(found.result.unrelated, "unrelated");
        flag(!found.not_averaged.empty(), "not averaged");
        frame.used = true;
        frame.flagged = !frame.flags.empty();
        errors_[i] = errors_of(frame.frame, transform->second, true);
        plain_errors_[i] = errors_of(frame.frame, transform->second, false);
    }

    /// Returns the true position, in the coordinates of the reference, of a pixel of a frame.
    Point true_place(std::int64_t frame, Point p, bool rows) const {
        const Point x = series_.position(frame, p, rows);
        return series_.truth(registered_.result.reference, x, false).value_or(x);
    }

    /// Returns the errors at a grid of pixels; none if a field folds.
    std::vector<ErrorAt> errors_of(std::int64_t frame, const Transform& transform,
                                   bool rows) const {
        std::vector<ErrorAt> errors;
        const auto side = static_cast<double>(shape_.width);
        const double margin = std::ceil(side * (1 - central) / 2);
        const double step_x = std::ceil(side / 16), step_y = std::ceil(side / 64);
        const auto* const field = std::get_if<registration::DisplacementField>(&transform);
        try {
            for (double y = margin; y < side - margin; y += step_y) {
                for (double x = margin; x < side - margin; x += step_x) {
                    // The positions of fields are the same in all frames, for MeanErrors.
                    const Point pixel = field ? apply(*field, {x, y}) : Point{x, y};
                    if (pixel.x < 0 || pixel.y < 0 || pixel.x > side - 1 || pixel.y > side - 1)
                        continue;
                    const Point found =
                        field ? Point{x, y} : apply_inverse(transform, pixel, shape_);
                    const Point truth = true_place(frame, pixel, rows);
                    errors.push_back({found, {found.x - truth.x, found.y - truth.y}, y});
                }
            }
        } catch (const InvalidTask&) {
            errors.clear();
        }
        return errors;
    }

    static double rms(const std::vector<ErrorAt>& errors, const Gauge& gauge) {
        if (errors.empty())
            return std::numeric_limits<double>::infinity();
        double sum = 0;
        for (const ErrorAt& one : errors) {
            const Point left = gauge.left(one);
            sum += left.x * left.x + left.y * left.y;
        }
        return std::sqrt(sum / static_cast<double>(errors.size()));
    }

    /// Fits the common motion to the better half of the frames and to all that are right.
    Gauge robust_gauge(const std::vector<FrameOutcome>& frames, bool affine) const {
        std::vector<std::size_t> used;
        for (std::size_t i = 0; i < frames.size(); ++i) {
            if (!errors_[i].empty() && frames[i].recoverable)
                used.push_back(i);
        }
        Gauge gauge{centre_};
        if (used.empty())
            return gauge;
        // Starts at the median translation, so that frames that are far off have no influence.
        std::vector<double> x, y;
        for (const std::size_t i : used) {
            const ErrorAt& middle = errors_[i][errors_[i].size() / 2];
            x.push_back(middle.error.x);
            y.push_back(middle.error.y);
        }
        gauge.p[0] = median(x);
        gauge.p[3] = median(y);
        for (int round = 0; round < 5; ++round) {
            std::vector<double> errors;
            for (const std::size_t i : used)
                errors.push_back(rms(errors_[i], gauge));
            const double most = std::max(largest_right, median(errors));
            GaugeFit fit(centre_, affine);
            for (std::size_t k = 0; k < used.size(); ++k) {
                if (errors[k] <= most)
                    fit.add(errors_[used[k]]);
            }
            gauge = fit.gauge();
        }
        return gauge;
    }

    /// Removes the distortion of the reference, from the frames that are recoverable.
    void remove_mean_field(const std::vector<FrameOutcome>& frames, const Gauge& common) {
        MeanErrors mean;
        for (std::size_t i = 0; i < frames.size(); ++i) {
            if (frames[i].used && frames[i].recoverable && !frames[i].flagged)
                mean.add(errors_[i], common);
        }
        for (std::vector<ErrorAt>& errors : errors_)
            errors = mean.removed_from(errors);
    }

    void measure(FrameOutcome& frame, const Gauge& common, const Gauge& relative) const {
        const auto i = static_cast<std::size_t>(frame.frame);
        if (!frame.used || !frame.recoverable)
            return;
        frame.error = rms(errors_[i], common);
        frame.error_without_rows = rms(plain_errors_[i], common);
        if (!frame.right())
            return;
        const FrameRegistration& found = registered_.result.frames[i];
        if (const auto* const field = std::get_if<registration::DisplacementField>(
                &registered_.transforms.at(frame.frame))) {
            frame.z = deviations_of_field(*field, errors_[i], common);
            return;
        }
        if (found.rows) {
            for (const ErrorAt& one : errors_[i]) {
                const auto sigma =
                    static_cast<double>(found.rows->sigma[static_cast<std::size_t>(one.row)]);
                if (sigma > 0)
                    frame.z.push_back(common.left(one).x / sigma);
            }
            return;
        }
        const auto& sigma = found.result.uncertainty;
        const auto& other =
            registered_.result.frames[static_cast<std::size_t>(registered_.result.reference)]
                .result.uncertainty;
        frame.z = deviations(frame.frame, common, sigma.tx, sigma.ty);
        if (frame.frame != registered_.result.reference)
            frame.z_reference = deviations(frame.frame, relative, std::hypot(sigma.tx, other.tx),
                                           std::hypot(sigma.ty, other.ty));
    }

    /// Returns the RMS of the errors over their standard deviations, at the known nodes nearest to
    /// the positions of the errors.
    static std::vector<double> deviations_of_field(const registration::DisplacementField& field,
                                                   const std::vector<ErrorAt>& errors,
                                                   const Gauge& gauge) {
        std::vector<double> z;
        if (field.sigma.empty())
            return z; // that of a peer
        const auto nearest = [&](double at, Elements nodes) {
            return std::clamp<Elements>(std::llround(at / static_cast<double>(field.spacing)), 0,
                                        nodes - 1);
        };
        for (const ErrorAt& one : errors) {
            const auto node =
                static_cast<std::size_t>(nearest(one.at.y, field.nodes.height) * field.nodes.width +
                                         nearest(one.at.x, field.nodes.width));
            const auto sigma = static_cast<double>(field.sigma[node]);
            if (field.known[node] == 0 || !(sigma > 0) || !std::isfinite(sigma))
                continue;
            const Point left = gauge.left(one);
            z.push_back(left.x / sigma);
            z.push_back(left.y / sigma);
        }
        return z.empty() ? z : std::vector<double>{bench::root_mean_square(z)};
    }

    /// Returns the errors of a frame's translation over these standard deviations.
    std::vector<double> deviations(std::int64_t frame, const Gauge& gauge, double sigma_x,
                                   double sigma_y) const {
        const Point shift = gauge(centre_);
        const Point x = series_.position(registered_.result.reference,
                                         {centre_.x - shift.x, centre_.y - shift.y}, false);
        const Point truth = *series_.truth(frame, x, false);
        const Point found = apply(registered_.transforms.at(frame), centre_, shape_);
        std::vector<double> z;
        for (const auto& [error, sigma] :
             {std::pair(found.x - truth.x, sigma_x), std::pair(found.y - truth.y, sigma_y)}) {
            if (sigma > 0 && std::isfinite(sigma))
                z.push_back(error / sigma);
        }
        return z;
    }

    /// Returns the outcome of a pair: that of the frame that is not the reference, with the flags
    /// of both.
    static FrameOutcome pair_of(const std::vector<FrameOutcome>& frames, std::size_t reference) {
        FrameOutcome pair = frames[1 - reference];
        pair.used = frames[0].used && frames[1].used;
        pair.flagged = frames[0].flagged || frames[1].flagged;
        if (pair.flags.empty())
            pair.flags = frames[reference].flags;
        return pair;
    }

    const SeriesCase& case_;
    const bench::FaultySeries& series_;
    const Registered& registered_;
    ImageShape shape_;
    Point centre_;
    std::vector<std::vector<ErrorAt>> errors_, plain_errors_; ///< per frame
};

/// Sums over frames of one or several series.
struct Summary {
    std::int64_t series = 0, frames = 0, recoverable = 0, ok = 0, flagged_right = 0, silent = 0,
                 wrong = 0, out = 0, failed = 0;
    std::vector<double> errors, errors_without_rows, z, z_reference, registrations, seconds, bounds;

    void add(const SeriesOutcome& outcome) {
        ++series;
        if (outcome.bound)
            bounds.push_back(*outcome.bound);
        failed += outcome.failure.empty() ? 0 : 1;
        registrations.push_back(outcome.registrations);
        seconds.push_back(outcome.seconds);
        for (const FrameOutcome& frame : outcome.frames) {
            ++frames;
            recoverable += frame.recoverable;
            ok += frame.right() && !frame.flagged;
            flagged_right += frame.right() && frame.flagged;
            wrong += frame.used && !frame.right();
            silent += frame.used && !frame.right() && !frame.flagged;
            out += frame.recoverable && !frame.used;
            if (frame.used && frame.recoverable) {
                errors.push_back(frame.error);
                errors_without_rows.push_back(frame.error_without_rows);
            }
            z.insert(z.end(), frame.z.begin(), frame.z.end());
            z_reference.insert(z_reference.end(), frame.z_reference.begin(),
                               frame.z_reference.end());
        }
    }
};

double percent(std::int64_t part, std::int64_t all) {
    return all == 0 ? 0 : 100. * static_cast<double>(part) / static_cast<double>(all);
}

double mean(const std::vector<double>& values) {
    double sum = 0;
    for (const double value : values)
        sum += value;
    return sum / static_cast<double>(values.size());
}

void print_json(const SeriesCase& one, int seed, const SeriesOutcome& outcome, bool frames) {
    Summary sums;
    sums.add(outcome);
    Json line = {
        {"case", one.name},
        {"seed", seed},
        {"error", bench::root_mean_square(sums.errors)},
        {"median", sums.errors.empty() ? std::nullopt : std::optional(median(sums.errors))},
        {"error_without_rows", bench::root_mean_square(sums.errors_without_rows)},
        {"ok", percent(sums.ok, sums.recoverable)},
        {"flagged", percent(sums.flagged_right, sums.recoverable)},
        {"silent", percent(sums.silent, sums.frames)},
        {"wrong", percent(sums.wrong, sums.frames)},
        {"left_out", percent(sums.out, sums.recoverable)},
        {"z", bench::root_mean_square(sums.z)},
        {"z_reference", bench::root_mean_square(sums.z_reference)},
        {"registrations", outcome.registrations},
        {"seconds", outcome.seconds},
        {"misfit",
         {{"significant", outcome.misfit.significant},
          {"of_rows", outcome.misfit.of_rows},
          {"pixels", outcome.misfit.pixels},
          {"deviations", outcome.misfit.deviations}}}};
    if (!outcome.failure.empty())
        line.set("failure", outcome.failure);
    if (outcome.bound)
        line.set("bound", *outcome.bound);
    if (frames) {
        Json list = Json::array();
        for (const FrameOutcome& frame : outcome.frames)
            list.add(Json{{"frame", frame.frame}, {"error", frame.error}, {"flags", frame.flags}});
        line.set("frames", std::move(list));
    }
    fmt::print("{}\n", line.text(-1));
    std::fflush(stdout);
}

std::string number(const std::vector<double>& values, int digits) {
    return values.empty() ? "-" : fmt::format("{:.{}f}", bench::root_mean_square(values), digits);
}

void print_table(const std::vector<SeriesCase>& cases, const std::map<std::string, Summary>& all) {
    fmt::print(
        "\n{:<30} {:>5} {:>8} {:>8} {:>7} {:>7} {:>6} {:>6} {:>8} {:>7} {:>6} {:>5} {:>5} {:>5} "
        "{:>7}\n",
        "case", "seeds", "error", "median", "/clean", "/bound", "ok %", "flag %", "silent %",
        "wrong %", "out %", "z", "z ref", "regs", "CPU s");
    for (const SeriesCase& one : cases) {
        const Summary& sums = all.at(one.name);
        const auto clean = all.find(one.clean);
        const bool compared = clean != all.end() && !sums.errors.empty();
        fmt::print(
            "{:<30} {:>5} {:>8} {:>8} {:>7} {:>7} {:>6.1f} {:>6.1f} {:>8.1f} {:>7.1f} {:>6.1f} "
            "{:>5} "
            "{:>5} {:>5.1f} {:>7.2f}{}\n",
            one.name, sums.series, number(sums.errors, 4),
            sums.errors.empty() ? "-" : fmt::format("{:.4f}", median(sums.errors)),
            compared ? fmt::format("{:.2f}", bench::root_mean_square(sums.errors) /
                                                 bench::root_mean_square(clean->second.errors))
                     : "-",
            sums.bounds.empty() || sums.errors.empty()
                ? "-"
                : fmt::format("{:.2f}", bench::root_mean_square(sums.errors) /
                                            bench::root_mean_square(sums.bounds)),
            percent(sums.ok, sums.recoverable), percent(sums.flagged_right, sums.recoverable),
            percent(sums.silent, sums.frames), percent(sums.wrong, sums.frames),
            percent(sums.out, sums.recoverable), number(sums.z, 2), number(sums.z_reference, 2),
            mean(sums.registrations), mean(sums.seconds),
            sums.failed > 0 ? fmt::format("  {} failed", sums.failed) : "");
    }
}

struct Arguments {
    std::vector<std::string> positional;
    std::vector<std::pair<std::string, std::string>> settings;
    bool json = false, bound = false;
    std::string peer, folder;
};

Arguments parse(int argc, char** argv) {
    Arguments arguments;
    for (int i = 1; i < argc; ++i) {
        const std::string argument = argv[i];
        const std::size_t equals = argument.find('=');
        if (argument == "--json")
            arguments.json = true;
        else if (argument == "--bound")
            arguments.bound = true;
        else if (argument == "--peer" && i + 1 < argc)
            arguments.peer = argv[++i];
        else if (argument == "--write" && i + 1 < argc)
            arguments.folder = argv[++i];
        else if (equals != std::string::npos)
            arguments.settings.emplace_back(argument.substr(0, equals),
                                            argument.substr(equals + 1));
        else
            arguments.positional.push_back(argument);
    }
    return arguments;
}

/// Returns true if a case's name is or begins with one of the names, which commas separate.
bool selected(const std::string& name, const std::string& names) {
    for (std::size_t from = 0; from <= names.size();) {
        const std::size_t to = std::min(names.find(',', from), names.size());
        if (name.starts_with(names.substr(from, to - from)))
            return true;
        from = to + 1;
    }
    return false;
}

} // namespace

int main(int argc, char** argv) try {
    const Arguments arguments = parse(argc, argv);
    if (arguments.positional.size() < 3 || arguments.positional.size() > 4) {
        fmt::print(stderr,
                   "usage: bench_series CASES.json FIRST LAST [NAME,...] [--json] [--bound] "
                   "[--peer NAME] [--write FOLDER] [OPTION=VALUE ...]\n");
        return 2;
    }
    const int first = std::stoi(arguments.positional[1]), last = std::stoi(arguments.positional[2]);
    const std::string names = arguments.positional.size() > 3 ? arguments.positional[3] : "";
    std::vector<SeriesCase> cases = read_cases(arguments.positional[0]);
    std::erase_if(cases, [&](const SeriesCase& one) { return !selected(one.name, names); });
    if (cases.empty() || first < 0 || last < first)
        throw InvalidTask("no case has such a name, or the seeds are not a range");
    std::map<std::string, Summary> sums;
    for (SeriesCase& one : cases) {
        Record options = sextant::record_of(one.options);
        for (const auto& [name, value] : arguments.settings)
            options[name].set(value);
        for (int seed = first; seed <= last; ++seed) {
            const Made made = make(one, seed);
            if (!arguments.folder.empty())
                bench::write_series(made.series,
                                    fmt::format("{}/{}-{}.mrc", arguments.folder, one.name, seed));
            const Registered result = arguments.peer.empty()
                                          ? registered(made.series, one.options)
                                          : registered_by(arguments.peer, made.series);
            SeriesOutcome outcome = Judge(one, made.series, result).judge();
            if (arguments.bound)
                outcome.bound = bound_of(made);
            sums[one.name].add(outcome);
            print_json(one, seed, outcome, arguments.json);
        }
    }
    if (!arguments.json)
        print_table(cases, sums);
} catch (const std::exception& error) {
    fmt::print(stderr, "bench_series: {}\n", error.what());
    return 1;
}
