// SPDX-License-Identifier: BSD-3-Clause
#include "bench/faulty_series.hpp"

#include "sextant/array/memory_frames.hpp"
#include "sextant/core/error.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include <Eigen/Dense>
#include <fmt/format.h>

namespace sextant::bench {

using namespace registration;

namespace {

constexpr double beam_off = .02; ///< fraction of the dose that is counted without beam

// Numbers of a seed's random streams. Frame i uses stream first_frame + i, as SyntheticSeries does.
constexpr std::uint64_t first_frame = 2, fixed = 1'000'000, scanning = 2'000'000,
                        of_faults = 3'000'000;

void check_frame(std::int64_t frame, int frames, const char* what) {
    if (frame < -1 || frame >= frames)
        throw InvalidTask(fmt::format("{}: frame {}, expected 0 to {}", what, frame, frames - 1));
}

void check(const Faults& faults, int frames) {
    Faults copy = faults;
    record_of(copy).check();
    check_frame(faults.dim_frame, frames, "dim_frame");
    check_frame(faults.spike_frame, frames, "spike_frame");
    check_frame(faults.upside_down_frame, frames, "upside_down_frame");
    check_frame(faults.half_blank_frame, frames, "half_blank_frame");
    check_frame(faults.blank_frame, frames, "blank_frame");
    if ((faults.dose_first > 0) != (faults.dose_last > 0))
        throw InvalidTask("dose_first and dose_last: expected both or neither");
}

} // namespace

Record record_of(Faults& faults) {
    constexpr double most = 1e6;
    Record record;
    record.add("dose_first", faults.dose_first, "DOSE", "dose of the first frame").between(0, most);
    record.add("dose_last", faults.dose_last, "DOSE", "dose of the last frame").between(0, most);
    record.add("dim_frame", faults.dim_frame, "N", "frame of another dose").between(-1, most);
    record.add("dim_factor", faults.dim_factor, "FACTOR", "its relative dose").between(0, most);
    record
        .add("contamination", faults.contamination, "MEANS",
             "peak of a smooth pattern that grows until the last frame")
        .between(0, most);
    record.add("contamination_patch", faults.contamination_patch, "the pattern covers one disc");
    record.add("spike_frame", faults.spike_frame, "N", "frame with one bright pixel")
        .between(-1, most);
    record.add("spike", faults.spike, "MEANS", "brightness of that pixel").between(0, most);
    record.add("hot_pixels", faults.hot_pixels, "N", "pixels that are bright in every frame")
        .between(0, most);
    record.add("hot", faults.hot, "MEANS", "brightness of these pixels").between(0, most);
    record.add("cosmic_rays", faults.cosmic_rays, "N", "bright streaks in every third frame")
        .between(0, most);
    record.add("upside_down_frame", faults.upside_down_frame, "N", "frame rotated by 180 degrees")
        .between(-1, most);
    record.add("half_blank_frame", faults.half_blank_frame, "N", "frame whose lower half is blank")
        .between(-1, most);
    record.add("blank_frame", faults.blank_frame, "N", "frame without beam").between(-1, most);
    record.add("inverts", faults.inverts, "contrast inverts for the second half of the series");
    record.add("jitter", faults.jitter, "PIXELS", "standard deviation of the shift of a row")
        .between(0, most);
    record
        .add("slow_scan", faults.slow_scan, "PIXELS",
             "standard deviation of the shift between the first and the last row")
        .between(0, most);
    record.add("flyback", faults.flyback, "N", "columns that the flyback of a scan disturbs")
        .between(0, most);
    record
        .add("magnification", faults.magnification, "FRACTION",
             "increase of the magnification up to the last frame")
        .between(-.5, .5);
    record.add("shear", faults.shear, "FRACTION", "shear of the last frame").between(-.5, .5);
    record.add("saturated", faults.saturated, "FRACTION", "fraction of the pixels that are clipped")
        .between(0, 1);
    record.add("gain", faults.gain, "FRACTION", "largest deviation of a pixel's gain from 1")
        .between(0, 1);
    record
        .add("gain_smooth", faults.gain_smooth, "FRACTION",
             "standard deviation of a smooth pattern of the gain")
        .between(0, 1);
    record.add("stop", faults.stop, "PIXELS", "radius of a disc that is always saturated")
        .between(0, most);
    record.add("spot", faults.spot, "MEANS", "peak of a static bright spot").between(0, most);
    record.add("vignette", faults.vignette, "FRACTION", "loss of light in the corners")
        .between(0, 1);
    record.add("dust", faults.dust, "N", "static specks that absorb light").between(0, most);
    record.add("background", faults.background, "MEANS", "static smooth light").between(0, most);
    record.add("columns", faults.columns, "N", "groups of dim or bright columns").between(0, most);
    record.add("removed", faults.removed, "only the noise of static light and gains remains");
    return record;
}

FaultySeries::FaultySeries(SeriesPlan plan, Faults faults, const Specimen& specimen)
    : faults_(faults),
      series_(std::move(plan), specimen),
      shape_(series_.plan().shape),
      centre_(centre(shape_)) {
    check(faults_, series_.plan().frames);
    make_scan();
    make_contamination();
    const auto pixels = static_cast<std::size_t>(shape_.elements());
    NoiseSource noise(this->plan().seed, fixed);
    for (std::int64_t i = 0; i < faults_.hot_pixels; ++i)
        hot_.push_back(static_cast<std::size_t>(noise.uniform() * static_cast<double>(pixels)));
    if (faults_.gain > 0) {
        NoiseSource gain(this->plan().seed, fixed + 1);
        gain_.resize(pixels);
        for (float& factor : gain_)
            factor = static_cast<float>(1 + faults_.gain * (2 * gain.uniform() - 1));
    }
    make_detector();
    samples_.resize(pixels * static_cast<std::size_t>(this->plan().frames));
    for (std::int64_t frame = 0; frame < this->plan().frames; ++frame) {
        expose(frame, specimen);
        damage(frame);
    }
    saturate();
}

std::unique_ptr<FrameSource> FaultySeries::open() const {
    FrameHeader header;
    header.frames = plan().frames;
    header.shape = shape_;
    return std::make_unique<MemoryFrames>(header, std::as_bytes(std::span(samples_)));
}

std::span<const float> FaultySeries::frame(std::int64_t frame) const {
    const auto pixels = static_cast<std::size_t>(shape_.elements());
    return std::span(samples_).subspan(static_cast<std::size_t>(frame) * pixels, pixels);
}

double FaultySeries::progress(std::int64_t frame) const {
    return plan().frames == 1 ? 0 : static_cast<double>(frame) / (plan().frames - 1);
}

double FaultySeries::dose(std::int64_t frame) const {
    const double usual =
        faults_.dose_first > 0
            ? faults_.dose_first + (faults_.dose_last - faults_.dose_first) * progress(frame)
            : plan().dose;
    return frame == faults_.dim_frame ? usual * faults_.dim_factor : usual;
}

FaultySeries::Matrix FaultySeries::enlargement(std::int64_t frame) const {
    const double factor = 1 + faults_.magnification * progress(frame);
    return {factor, factor * faults_.shear * progress(frame), 0, factor};
}

void FaultySeries::make_scan() {
    const auto frames = static_cast<std::size_t>(plan().frames);
    NoiseSource noise(plan().seed, scanning);
    if (faults_.jitter > 0) {
        row_shifts_.resize(frames * static_cast<std::size_t>(shape_.height));
        for (double& shift : row_shifts_)
            shift = faults_.jitter * noise.normal();
    }
    if (faults_.slow_scan > 0) {
        for (std::size_t frame = 0; frame < frames; ++frame) {
            const double x = noise.normal(), y = noise.normal();
            scan_drifts_.push_back({faults_.slow_scan * x, faults_.slow_scan * y});
        }
    }
}

double FaultySeries::shift_of_row(std::int64_t frame, double y) const {
    if (row_shifts_.empty())
        return 0;
    const auto row = std::clamp<std::int64_t>(std::llround(y), 0, shape_.height - 1);
    return row_shifts_[static_cast<std::size_t>(frame * shape_.height + row)];
}

FaultySeries::Point FaultySeries::position(std::int64_t frame, Point p, bool rows) const {
    if (rows)
        p.x -= shift_of_row(frame, p.y);
    if (!scan_drifts_.empty()) {
        const Point drift = scan_drifts_[static_cast<std::size_t>(frame)];
        const double along = (p.y - centre_.y) / static_cast<double>(shape_.height);
        p = {p.x - drift.x * along, p.y - drift.y * along};
    }
    if (frame == faults_.upside_down_frame)
        p = {2 * centre_.x - p.x, 2 * centre_.y - p.y};
    const Point x = series_.position(static_cast<int>(frame), p);
    const Matrix a = enlargement(frame);
    const double determinant = a.xx * a.yy - a.xy * a.yx;
    const double dx = x.x - centre_.x, dy = x.y - centre_.y;
    return {centre_.x + (a.yy * dx - a.xy * dy) / determinant,
            centre_.y + (a.xx * dy - a.yx * dx) / determinant};
}

std::optional<FaultySeries::Point> FaultySeries::truth(std::int64_t frame, Point x,
                                                       bool rows) const {
    if (!recoverable(frame))
        return std::nullopt;
    const Matrix a = enlargement(frame);
    const double dx = x.x - centre_.x, dy = x.y - centre_.y;
    const Point enlarged{centre_.x + a.xx * dx + a.xy * dy, centre_.y + a.yx * dx + a.yy * dy};
    Point p = apply(series_.motion(static_cast<int>(frame)), enlarged, centre_);
    if (plan().warp != 0) {
        // Solves position(p) = enlarged by a fixed-point iteration, which contracts because the
        // gradient of the distortion is small.
        constexpr double close = 1e-9;
        for (int step = 0; step < 100; ++step) {
            const Point there = series_.position(static_cast<int>(frame), p);
            const RigidMotion& motion = series_.motion(static_cast<int>(frame));
            const Point to = apply(motion, there, centre_),
                        wanted = apply(motion, enlarged, centre_);
            p = {p.x + wanted.x - to.x, p.y + wanted.y - to.y};
            if (std::hypot(wanted.x - to.x, wanted.y - to.y) < close)
                break;
        }
    }
    if (frame == faults_.upside_down_frame)
        p = {2 * centre_.x - p.x, 2 * centre_.y - p.y};
    if (!scan_drifts_.empty()) {
        const Point drift = scan_drifts_[static_cast<std::size_t>(frame)];
        const auto height = static_cast<double>(shape_.height);
        const double y = centre_.y + (p.y - centre_.y) / (1 - drift.y / height);
        p = {p.x + drift.x * (y - centre_.y) / height, y};
    }
    if (rows)
        p.x += shift_of_row(frame, p.y);
    return p;
}

void FaultySeries::make_contamination() {
    if (faults_.contamination == 0)
        return;
    const auto width = static_cast<double>(shape_.width),
               height = static_cast<double>(shape_.height);
    const double side = std::min(width, height);
    NoiseSource noise(plan().seed, fixed + 2);
    const auto somewhere = [&](double margin) {
        const double x = margin + noise.uniform() * (1 - 2 * margin),
                     y = margin + noise.uniform() * (1 - 2 * margin);
        return Point{x * width, y * height};
    };
    if (faults_.contamination_patch) {
        contamination_.push_back({somewhere(.3), side / 4, 1});
        return;
    }
    for (int bump = 0; bump < 5; ++bump) {
        const Point at = somewhere(0);
        contamination_.push_back({at, side / 4, .5 + .5 * noise.uniform()});
    }
    double peak = 0;
    for (double y = 0; y < height; y += 4) {
        for (double x = 0; x < width; x += 4)
            peak = std::max(peak, contamination({x, y}));
    }
    contamination_peak_ = peak;
}

/// Returns the pattern of contamination at a position in frame 0. Its maximum in frame 0 is 1.
double FaultySeries::contamination(Point x) const {
    double sum = 0;
    for (const Bump& bump : contamination_) {
        const double distance = std::hypot(x.x - bump.centre.x, x.y - bump.centre.y) / bump.width;
        if (faults_.contamination_patch)
            sum += distance < 1 ? std::pow(1 - distance * distance, 2) : 0;
        else
            sum += bump.height * std::exp(-distance * distance / 2);
    }
    return sum / contamination_peak_;
}

namespace {

/// Returns a random smooth pattern with mean 0 and standard deviation 1: the sum of 48 waves whose
/// wavelengths are a fifth of the side to twice the side.
std::vector<double> smooth_pattern(ImageShape shape, NoiseSource& noise) {
    constexpr int waves = 48;
    std::vector<double> pattern(static_cast<std::size_t>(shape.elements()));
    const auto side = static_cast<double>(std::min(shape.width, shape.height));
    for (int wave = 0; wave < waves; ++wave) {
        const double frequency = (.5 + 4.5 * noise.uniform()) * 2 * std::numbers::pi / side,
                     direction = 2 * std::numbers::pi * noise.uniform(),
                     phase = 2 * std::numbers::pi * noise.uniform();
        const double by_x = frequency * std::cos(direction), by_y = frequency * std::sin(direction);
        for (Elements y = 0; y < shape.height; ++y) {
            for (Elements x = 0; x < shape.width; ++x)
                pattern[static_cast<std::size_t>(y * shape.width + x)] +=
                    std::cos(by_x * static_cast<double>(x) + by_y * static_cast<double>(y) + phase);
        }
    }
    double sum = 0, squares = 0;
    for (const double value : pattern) {
        sum += value;
        squares += value * value;
    }
    const auto count = static_cast<double>(pattern.size());
    const double mean = sum / count, deviation = std::sqrt(squares / count - mean * mean);
    for (double& value : pattern)
        value = (value - mean) / deviation;
    return pattern;
}

} // namespace

/// Makes the faults that are fixed to the detector.
void FaultySeries::make_detector() {
    const auto width = static_cast<double>(shape_.width),
               height = static_cast<double>(shape_.height), side = std::min(width, height);
    const auto pixels = static_cast<std::size_t>(shape_.elements());
    NoiseSource noise(plan().seed, fixed + 3);
    const auto for_each_pixel = [&](const auto& body) {
        for (std::size_t pixel = 0; pixel < pixels; ++pixel)
            body(pixel, Point{static_cast<double>(static_cast<Elements>(pixel) % shape_.width),
                              static_cast<double>(static_cast<Elements>(pixel) / shape_.width)});
    };
    const auto somewhere = [&] {
        const double x = .2 + .6 * noise.uniform(), y = .2 + .6 * noise.uniform();
        return Point{x * width, y * height};
    };
    const auto distance = [](Point a, Point b) { return std::hypot(a.x - b.x, a.y - b.y); };
    const auto gain = [&]() -> std::vector<float>& {
        if (gain_.empty())
            gain_.assign(pixels, 1);
        return gain_;
    };
    if (faults_.gain_smooth > 0) {
        const std::vector<double> pattern = smooth_pattern(shape_, noise);
        for (std::size_t pixel = 0; pixel < pixels; ++pixel)
            gain()[pixel] *=
                static_cast<float>(std::max(.2, 1 + faults_.gain_smooth * pattern[pixel]));
    }
    if (faults_.stop > 0) {
        const Point at = somewhere();
        for_each_pixel([&](std::size_t pixel, Point p) {
            if (distance(p, at) < faults_.stop)
                stopped_.push_back(pixel);
        });
    }
    if (faults_.vignette > 0 || faults_.dust > 0) {
        transmission_.assign(pixels, 1);
        const double corner = std::hypot(width, height) / 2;
        for_each_pixel([&](std::size_t pixel, Point p) {
            const double out = distance(p, centre_) / corner;
            transmission_[pixel] = 1 - faults_.vignette * out * out;
        });
    }
    for (std::int64_t speck = 0; speck < faults_.dust; ++speck) {
        const Point at{noise.uniform() * width, noise.uniform() * height};
        const double size = 2 + 4 * noise.uniform();
        for_each_pixel([&](std::size_t pixel, Point p) {
            const double out = distance(p, at) / size;
            transmission_[pixel] *= 1 - .3 * std::exp(-out * out / 2);
        });
    }
    if (faults_.spot > 0 || faults_.background > 0)
        background_.assign(pixels, 0);
    if (faults_.spot > 0) {
        const Point at = somewhere();
        for_each_pixel([&](std::size_t pixel, Point p) {
            const double out = distance(p, at) / (side / 43);
            background_[pixel] += faults_.spot * std::exp(-out * out / 2);
        });
    }
    if (faults_.background > 0) {
        // Light from out of focus: bright in the middle, and uneven.
        const std::vector<double> uneven = smooth_pattern(shape_, noise);
        for_each_pixel([&](std::size_t pixel, Point p) {
            const double out = distance(p, centre_) / (.35 * side);
            background_[pixel] +=
                faults_.background * std::max(0., std::exp(-out * out) + .2 * (2 + uneven[pixel]));
        });
    }
    for (std::int64_t group = 0; group < faults_.columns; ++group) {
        constexpr double factors[] = {1.6, .3, 2};
        const auto wide = static_cast<Elements>(2 + 3 * noise.uniform());
        const auto first = static_cast<Elements>((.1 + .8 * noise.uniform()) * width);
        const double factor = factors[group % std::ssize(factors)];
        for (std::size_t pixel = 0; pixel < pixels; ++pixel) {
            const Elements x = static_cast<Elements>(pixel) % shape_.width;
            if (x >= first && x < first + wide)
                gain()[pixel] *= static_cast<float>(factor);
        }
    }
}

/// Returns the displacement of a disturbed column, of an average row.
double FaultySeries::flyback_shift(double x) const {
    const auto columns = static_cast<double>(faults_.flyback);
    if (x >= columns)
        return 0;
    return columns / 3 * std::pow(1 - x / columns, 2);
}

/// Returns the brightness at a position in frame 0, as a frame shows it. The mean is about 1.
double FaultySeries::brightness(std::int64_t frame, Point x, const Specimen& specimen) const {
    double seen = specimen({x.x - centre_.x, x.y - centre_.y});
    if (faults_.inverts && 2 * frame >= plan().frames)
        seen = std::max(beam_off, 2 - seen);
    const double added = faults_.contamination * progress(frame);
    return added > 0 ? seen + added * contamination(x) : seen;
}

/// True if the beam does not reach a row of a frame.
bool FaultySeries::is_dark(std::int64_t frame, Elements row) const {
    return series_.is_blank(static_cast<int>(frame)) || frame == faults_.blank_frame ||
           (frame == faults_.half_blank_frame && 2 * row >= shape_.height);
}

double FaultySeries::bound(std::int64_t frame, const Specimen& specimen, double share) const {
    constexpr double h = 1e-3;    // pixels
    constexpr Elements every = 2; // pixels along each axis
    Eigen::Matrix3d information = Eigen::Matrix3d::Zero();
    const auto width = static_cast<double>(shape_.width),
               height = static_cast<double>(shape_.height);
    for (Elements j = 0; j < shape_.height; j += every) {
        if (is_dark(frame, j))
            continue;
        for (Elements i = 0; i < shape_.width; i += every) {
            const Point p{static_cast<double>(i), static_cast<double>(j)};
            const Point x = position(frame, p, false);
            if (x.x < 0 || x.y < 0 || x.x > width - 1 || x.y > height - 1)
                continue;
            const auto at = [&](double right, double down) {
                return brightness(frame, position(frame, {p.x + right, p.y + down}, false),
                                  specimen);
            };
            const double by_x = (at(h, 0) - at(-h, 0)) / (2 * h);
            const double by_y = (at(0, h) - at(0, -h)) / (2 * h);
            const Eigen::Vector3d by_motion(by_y * (p.x - centre_.x) - by_x * (p.y - centre_.y),
                                            by_x, by_y);
            // The Fisher information of a Poisson variable about its mean is 1 / mean.
            information += by_motion * by_motion.transpose() / brightness(frame, x, specimen);
        }
    }
    const Eigen::LLT<Eigen::Matrix3d> factor(every * every * dose(frame) * information);
    if (factor.info() != Eigen::Success)
        return std::numeric_limits<double>::infinity();
    const Eigen::Matrix3d least = factor.solve(Eigen::Matrix3d::Identity());
    return std::sqrt(least(0, 0) * share * share * (width * width + height * height) / 12 +
                     least(1, 1) + least(2, 2));
}

/// Draws the counts of a frame.
void FaultySeries::expose(std::int64_t frame, const Specimen& specimen) {
    NoiseSource noise(plan().seed, first_frame + static_cast<std::uint64_t>(frame));
    NoiseSource flyback(plan().seed, scanning + 1 + static_cast<std::uint64_t>(frame));
    const double electrons = dose(frame);
    float* next = samples_.data() + frame * shape_.elements();
    for (Elements y = 0; y < shape_.height; ++y) {
        const bool dark = is_dark(frame, y);
        const double of_row = faults_.flyback > 0 ? 1 + .5 * flyback.normal() : 0;
        for (Elements x = 0; x < shape_.width; ++x) {
            double seen = beam_off;
            if (!dark) {
                const double shown =
                    static_cast<double>(x) - of_row * flyback_shift(static_cast<double>(x));
                seen =
                    brightness(frame, position(frame, {shown, static_cast<double>(y)}), specimen);
            }
            const auto pixel = static_cast<std::size_t>(y * shape_.width + x);
            if (!background_.empty())
                seen += background_[pixel];
            if (!transmission_.empty())
                seen *= transmission_[pixel];
            // The expected counts are rounded as SyntheticSeries rounds them, so that frames
            // without faults have the same bits.
            const auto expected = static_cast<float>(electrons * seen);
            *next++ = static_cast<float>(noise.poisson(static_cast<double>(expected)));
        }
    }
}

/// Adds the faults of the detector to a frame.
void FaultySeries::damage(std::int64_t frame) {
    const std::span<float> samples =
        std::span(samples_).subspan(static_cast<std::size_t>(frame * shape_.elements()),
                                    static_cast<std::size_t>(shape_.elements()));
    const double mean = dose(frame);
    NoiseSource noise(plan().seed, of_faults + static_cast<std::uint64_t>(frame));
    for (std::size_t pixel = 0; pixel < gain_.size() && !faults_.removed; ++pixel)
        samples[pixel] *= gain_[pixel];
    for (std::size_t pixel = 0; pixel < samples.size() && faults_.removed; ++pixel) {
        if (!transmission_.empty())
            samples[pixel] /= static_cast<float>(transmission_[pixel]);
        if (!background_.empty())
            samples[pixel] -= static_cast<float>(mean * background_[pixel]);
    }
    for (const std::size_t pixel : hot_)
        samples[pixel] += static_cast<float>(faults_.hot * mean);
    for (const std::size_t pixel : stopped_)
        samples[pixel] = static_cast<float>(8 * plan().dose);
    if (frame == faults_.spike_frame) {
        const auto middle = [&](Elements size) {
            return static_cast<Elements>((.25 + .5 * noise.uniform()) * static_cast<double>(size));
        };
        const Elements x = middle(shape_.width), y = middle(shape_.height);
        samples[static_cast<std::size_t>(y * shape_.width + x)] +=
            static_cast<float>(faults_.spike * mean);
    }
    constexpr std::int64_t every = 3;
    if (frame % every == 1) {
        for (std::int64_t streak = 0; streak < faults_.cosmic_rays; ++streak)
            add_streak(samples, mean, noise);
    }
}

/// Adds a streak one pixel wide of 5 to 25 pixels, 50 to 300 times `brightness` bright.
void FaultySeries::add_streak(std::span<float> samples, double brightness, NoiseSource& noise) {
    const double x = noise.uniform() * static_cast<double>(shape_.width),
                 y = noise.uniform() * static_cast<double>(shape_.height),
                 angle = 2 * std::numbers::pi * noise.uniform(), length = 5 + 20 * noise.uniform(),
                 factor = 50 + 250 * noise.uniform();
    for (double along = 0; along < length; ++along) {
        const auto column = static_cast<Elements>(std::floor(x + along * std::cos(angle))),
                   row = static_cast<Elements>(std::floor(y + along * std::sin(angle)));
        if (column >= 0 && column < shape_.width && row >= 0 && row < shape_.height)
            samples[static_cast<std::size_t>(row * shape_.width + column)] +=
                static_cast<float>(factor * brightness);
    }
}

/// Clips all frames at the quantile of the first frame that leaves the requested fraction above it.
void FaultySeries::saturate() {
    if (faults_.saturated == 0)
        return;
    const std::span<const float> first = frame(0);
    std::vector<float> sorted(first.begin(), first.end());
    std::sort(sorted.begin(), sorted.end());
    const auto last = static_cast<double>(sorted.size() - 1);
    const float level = sorted[static_cast<std::size_t>((1 - faults_.saturated) * last)];
    for (float& sample : samples_)
        sample = std::min(sample, level);
}

double cramer_rao(const registration::Specimen& specimen, ImageShape shape, double dose,
                  double share) {
    Eigen::Matrix3d information = Eigen::Matrix3d::Zero();
    const registration::Point c = registration::centre(shape);
    constexpr double h = 1e-3;
    for (Elements j = 0; j < shape.height; j += 2) {
        for (Elements i = 0; i < shape.width; i += 2) {
            const double x = static_cast<double>(i) - c.x, y = static_cast<double>(j) - c.y;
            const double by_x = (specimen({x + h, y}) - specimen({x - h, y})) / (2 * h);
            const double by_y = (specimen({x, y + h}) - specimen({x, y - h})) / (2 * h);
            const Eigen::Vector3d by_motion(by_y * x - by_x * y, by_x, by_y);
            information += 4 * dose * by_motion * by_motion.transpose() / (2 * specimen({x, y}));
        }
    }
    const Eigen::Matrix3d least = information.inverse();
    const double width = share * static_cast<double>(shape.width);
    const double height = share * static_cast<double>(shape.height);
    return std::sqrt(least(0, 0) * (width * width + height * height) / 12 + least(1, 1) +
                     least(2, 2));
}

} // namespace sextant::bench
