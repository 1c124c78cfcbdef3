// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/synthetic.hpp"

#include "sextant/core/error.hpp"
#include "sextant/core/run_control.hpp"
#include "sextant/kernel/filter/gaussian.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <memory>
#include <numbers>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace sextant::registration {

namespace {

using SplineValues = std::array<double, 4>;

void check_detail(const SpecimenPlan& plan) {
    if (!(plan.detail >= smallest_detail && plan.detail <= largest_detail))
        throw InvalidTask(fmt::format("the detail size is {:g} pixels, expected {:g} to {:g}",
                                      plan.detail, smallest_detail, largest_detail));
}

/// Returns the values of the four nonzero cubic B-splines at distance `u` (0 to 1) after the centre
/// of the second one.
SplineValues b_splines(double u) {
    const double v = 1 - u;
    return {v * v * v / 6, (4 - 3 * u * u * (2 - u)) / 6, (4 - 3 * v * v * (2 - v)) / 6,
            u * u * u / 6};
}

/// The function Σ c β: a cubic spline with coefficients on a grid, centred at 0.
class Spline {
  public:
    explicit Spline(kernel::FloatPlane coefficients) : coefficients_(std::move(coefficients)) {}

    double operator()(Point at) const {
        const Point c = centre(coefficients_.shape());
        const double x = at.x + c.x, y = at.y + c.y;
        const auto left = static_cast<Elements>(std::floor(x));
        const auto top = static_cast<Elements>(std::floor(y));
        const SplineValues along_x = b_splines(x - static_cast<double>(left));
        const SplineValues along_y = b_splines(y - static_cast<double>(top));
        const ImageShape shape = coefficients_.shape();
        double sum = 0;
        for (Elements j = 0; j < 4; ++j) {
            const kernel::FloatImage image = coefficients_.image();
            const float* const row =
                image.row(std::clamp<Elements>(top + j - 1, 0, shape.height - 1));
            double line = 0;
            for (Elements i = 0; i < 4; ++i)
                line += along_x[static_cast<std::size_t>(i)] *
                        static_cast<double>(
                            row[std::clamp<Elements>(left + i - 1, 0, shape.width - 1)]);
            sum += along_y[static_cast<std::size_t>(j)] * line;
        }
        return sum;
    }

  private:
    kernel::FloatPlane coefficients_;
};

/// The cost of one random number or one specimen sample, in units of check_cancelled().
constexpr Elements work_per_pixel = 32;

struct Brightness {
    double mean = 0, deviation = 0;
};

Brightness brightness_of(const kernel::FloatImage& image) {
    double sum = 0, squares = 0;
    for (Elements y = 0; y < image.shape.height; ++y) {
        check_cancelled(image.shape.width);
        for (Elements x = 0; x < image.shape.width; ++x) {
            const auto sample = static_cast<double>(image.at(x, y));
            sum += sample;
            squares += sample * sample;
        }
    }
    const double mean = sum / static_cast<double>(image.shape.elements());
    return {mean, std::sqrt(squares / static_cast<double>(image.shape.elements()) - mean * mean)};
}

/// Returns (plane − offset) · scale.
kernel::FloatPlane rescaled(kernel::FloatPlane plane, double offset, double scale) {
    for (Elements y = 0; y < plane.shape().height; ++y) {
        float* const row = plane.row(y);
        std::transform(row, row + plane.shape().width, row, [=](float sample) {
            return static_cast<float>((static_cast<double>(sample) - offset) * scale);
        });
    }
    return plane;
}

kernel::FloatPlane smoothed(const kernel::FloatPlane& plane, double sigma) {
    const std::array<kernel::Derivative, 1> none = {{{0, 0}}};
    kernel::FloatPlane smooth(plane.shape());
    const kernel::Plane to = smooth.plane();
    kernel::GaussianDerivatives(sigma, none, {}, kernel::p3pc_kernel)
        .apply(plane.samples(), plane.samples().tile, {&to, 1});
    return smooth;
}

/// Band-limited noise of mean 0 and standard deviation 1: white noise smoothed with a small sigma
/// minus the same noise smoothed with a larger sigma. `size` is about half the wavelength.
Spline texture(const SpecimenPlan& plan, double size) {
    check_detail(plan);
    kernel::FloatPlane white(plan.field);
    NoiseSource noise(plan.seed, 0);
    for (Elements y = 0; y < plan.field.height; ++y) {
        check_cancelled(work_per_pixel * plan.field.width);
        std::generate_n(white.row(y), plan.field.width,
                        [&] { return static_cast<float>(noise.normal()); });
    }
    kernel::FloatPlane band = smoothed(white, size / 3);
    const kernel::FloatPlane coarse = smoothed(white, size);
    for (Elements y = 0; y < plan.field.height; ++y) {
        const float* const less = coarse.image().row(y);
        std::transform(band.row(y), band.row(y) + plan.field.width, less, band.row(y),
                       std::minus<>());
    }
    const auto [mean, deviation] = brightness_of(band.image());
    return Spline(rescaled(std::move(band), mean, 1 / deviation));
}

/// The sum of three waves at 60 degrees, with mean 0 and standard deviation 1. The waves are
/// rotated slightly relative to the pixel grid, so that rows do not repeat.
double hexagonal_waves(Point at, double period) {
    constexpr double turned = .12;
    double sum = 0;
    for (int wave = 0; wave < 3; ++wave) {
        const double angle = turned + wave * std::numbers::pi / 3;
        sum += std::cos(2 * std::numbers::pi / period *
                        (at.x * std::cos(angle) + at.y * std::sin(angle)));
    }
    return sum / std::sqrt(1.5);
}

/// Converts a relative brightness to an absolute brightness and clamps it to a positive minimum.
double brightness(double relative) {
    return std::max(.02, 1 + relative);
}

Specimen make_lattice(const SpecimenPlan& plan) {
    constexpr double shortest = 2; // the shortest period that pixels can resolve
    if (!(plan.period >= shortest))
        throw InvalidTask(
            fmt::format("the period of the lattice is {:g} pixels, expected {:g} or more",
                        plan.period, shortest));
    if (!(plan.amorphous >= 0 && plan.amorphous <= 1))
        throw InvalidTask(
            fmt::format("the amorphous fraction is {:g}, expected 0 to 1", plan.amorphous));
    return [plan, amorphous = std::make_shared<Spline>(texture(plan, plan.detail))](Point at) {
        const double relative = (1 - plan.amorphous) * hexagonal_waves(at, plan.period) +
                                plan.amorphous * (*amorphous)(at);
        return brightness(plan.contrast * relative);
    };
}

Specimen make_carbon(const SpecimenPlan& plan) {
    return [plan, amorphous = std::make_shared<Spline>(texture(plan, plan.detail))](Point at) {
        return brightness(plan.contrast * (*amorphous)(at));
    };
}

/// Discs with soft edges, dark on bright, scattered over the field.
kernel::FloatPlane scattered(const SpecimenPlan& plan) {
    check_detail(plan);
    kernel::FloatPlane plane(plan.field);
    NoiseSource noise(plan.seed, 1);
    const double smallest = plan.detail, largest = 4 * plan.detail;
    const double cell = 4 * largest * largest;
    const auto count = static_cast<int>(static_cast<double>(plan.field.elements()) / cell) + 1;
    for (int particle = 0; particle < count; ++particle) {
        const Point middle{noise.uniform() * static_cast<double>(plan.field.width),
                           noise.uniform() * static_cast<double>(plan.field.height)};
        const double radius = smallest + noise.uniform() * (largest - smallest);
        const double reach = radius + 8;
        const auto from = [&](double at) {
            return static_cast<Elements>(std::max(0., at - reach));
        };
        const auto to = [&](double at, Elements size) {
            return std::min(size, static_cast<Elements>(at + reach));
        };
        for (Elements y = from(middle.y); y < to(middle.y, plan.field.height); ++y) {
            check_cancelled(work_per_pixel * static_cast<Elements>(2 * reach));
            for (Elements x = from(middle.x); x < to(middle.x, plan.field.width); ++x) {
                const double distance = std::hypot(static_cast<double>(x) - middle.x,
                                                   static_cast<double>(y) - middle.y);
                plane.row(y)[x] -= static_cast<float>(1 / (1 + std::exp(distance - radius)));
            }
        }
    }
    return plane;
}

Specimen make_particles(const SpecimenPlan& plan) {
    kernel::FloatPlane plane = scattered(plan);
    const auto [mean, deviation] = brightness_of(plane.image());
    const auto spline = std::make_shared<Spline>(rescaled(std::move(plane), mean, 1 / deviation));
    return [plan, spline](Point at) { return brightness(plan.contrast * (*spline)(at)); };
}

constexpr SpecimenKind kinds[] = {
    {"lattice", "three plane waves 60 degrees apart, plus a part that is not periodic",
     make_lattice},
    {"carbon", "amorphous: band-limited noise", make_carbon},
    {"particles", "discs of many sizes with soft edges", make_particles},
};

} // namespace

std::span<const SpecimenKind> specimens() {
    return kinds;
}

const SpecimenKind& find_specimen(std::string_view name) {
    std::string names;
    for (const SpecimenKind& kind : kinds) {
        if (kind.name == name)
            return kind;
        names += fmt::format("{}{}", names.empty() ? "" : ", ", kind.name);
    }
    throw InvalidTask(fmt::format("unknown specimen '{}', expected one of {}", name, names));
}

Specimen specimen_of(const kernel::FloatImage& image) {
    const auto [mean, deviation] = brightness_of(image);
    if (!(mean > 0))
        throw InvalidData(
            fmt::format("the mean brightness of the specimen is {:g}, expected more than 0", mean));
    kernel::FloatPlane copy(image.shape);
    for (Elements y = 0; y < image.shape.height; ++y)
        std::copy_n(image.row(y), image.shape.width, copy.row(y));
    const auto spline = std::make_shared<Spline>(rescaled(std::move(copy), 0, 1 / mean));
    return [spline](Point at) { return std::max(0., (*spline)(at)); };
}

namespace {

constexpr double beam_off = .02; ///< fraction of the dose
constexpr double farthest_position = 1
                                     << 30; ///< coordinates beyond this limit are not exact enough
// Numbers of the random streams of a seed; frame i uses stream first_frame + i.
constexpr std::uint64_t wandering = 0, warping = 1, first_frame = 2;

void check_frame(int frame, int frames, const char* what) {
    if (frame < 0 || frame >= frames)
        throw InvalidTask(
            fmt::format("{} at frame {}: expected a frame from 0 to {}", what, frame, frames - 1));
}

void check(const SeriesPlan& plan) {
    if (plan.shape.width < 1 || plan.shape.height < 1)
        throw InvalidTask(fmt::format("frames of {}x{} pixels: expected at least one pixel",
                                      plan.shape.width, plan.shape.height));
    if (plan.frames < 1)
        throw InvalidTask(fmt::format("{} frames: expected at least one", plan.frames));
    if (!(plan.dose > 0) || !std::isfinite(plan.dose))
        throw InvalidTask(
            fmt::format("the dose is {} electrons per pixel, expected more than 0", plan.dose));
    if (!(std::abs(plan.warp) < farthest_position))
        throw InvalidTask(fmt::format("the warp is {:.3g} pixels, expected less than {:.3g}",
                                      plan.warp, farthest_position));
    if (!(plan.warp_length > 0))
        throw InvalidTask(fmt::format("the wavelength of the warp is {}, expected more than 0",
                                      plan.warp_length));
    for (const int blank : plan.blanks)
        check_frame(blank, plan.frames, "blank");
    std::vector<int> blanks = plan.blanks;
    std::ranges::sort(blanks);
    if (const auto again = std::ranges::adjacent_find(blanks); again != blanks.end())
        throw InvalidTask(fmt::format("blank at frame {}: listed twice", *again));
    for (const Jump& jump : plan.jumps) {
        check_frame(jump.frame, plan.frames, "jump");
        if (jump.frame == 0)
            throw InvalidTask(
                "jump before frame 0: motions are relative to frame 0, expected a later frame");
    }
}

std::vector<RigidMotion> make_motions(const SeriesPlan& plan) {
    NoiseSource noise(plan.seed, wandering);
    std::vector<RigidMotion> motions(1);
    for (int frame = 1; frame < plan.frames; ++frame) {
        RigidMotion motion = motions.back();
        motion.alpha += plan.drift.alpha - plan.rotation_wander * noise.normal();
        motion.tx += plan.drift.tx - plan.wander * noise.normal();
        motion.ty += plan.drift.ty - plan.wander * noise.normal();
        for (const Jump& jump : plan.jumps) {
            if (jump.frame == frame) {
                motion.tx += jump.tx;
                motion.ty += jump.ty;
            }
        }
        if (!(std::hypot(motion.tx, motion.ty) < farthest_position) || !std::isfinite(motion.alpha))
            throw InvalidTask(
                fmt::format("frame {} is {:.3g} pixels from the first, expected less than {:.3g}",
                            frame, std::hypot(motion.tx, motion.ty), farthest_position));
        motions.push_back(motion);
    }
    return motions;
}

} // namespace

SyntheticSeries::SyntheticSeries(SeriesPlan plan, Specimen specimen)
    : plan_(std::move(plan)), specimen_(std::move(specimen)) {
    check(plan_);
    motions_ = make_motions(plan_);
    std::transform(motions_.begin(), motions_.end(), std::back_inserter(lookups_),
                   [](const RigidMotion& motion) { return inverse(motion); });
    NoiseSource noise(plan_.seed, warping);
    for (double& phase : phases_)
        phase = 2 * std::numbers::pi * noise.uniform();
}

RigidMotion SyntheticSeries::between(int reference, int moved) const {
    return compose(motion(moved), inverse(motion(reference)));
}

/// Returns the displacement that the distortion causes: two waves that shear and compress the
/// frame. The displacement along each axis varies mainly along the other axis.
Point SyntheticSeries::distortion(int frame, Point x) const {
    if (plan_.warp == 0 || plan_.frames == 1)
        return {};
    const double amplitude = plan_.warp * frame / (plan_.frames - 1);
    const double wave = 2 * std::numbers::pi / plan_.warp_length;
    return {amplitude * std::sin(wave * (x.y + x.x / 2) + phases_[0]),
            amplitude * std::sin(wave * (x.x - x.y / 2) + phases_[1])};
}

Point SyntheticSeries::position(int frame, Point x) const {
    return apply(lookups_[static_cast<std::size_t>(frame)], x + distortion(frame, x),
                 centre(plan_.shape));
}

bool SyntheticSeries::is_blank(int frame) const {
    return std::find(plan_.blanks.begin(), plan_.blanks.end(), frame) != plan_.blanks.end();
}

kernel::FloatPlane SyntheticSeries::expected(int frame) const {
    kernel::FloatPlane image(plan_.shape);
    const Point c = centre(plan_.shape);
    for (Elements y = 0; y < plan_.shape.height; ++y) {
        float* const row = image.row(y);
        check_cancelled(work_per_pixel * plan_.shape.width);
        for (Elements x = 0; x < plan_.shape.width; ++x) {
            const Point at = position(frame, {static_cast<double>(x), static_cast<double>(y)});
            const double seen = is_blank(frame) ? beam_off : specimen_(at - c);
            row[x] = static_cast<float>(plan_.dose * seen);
        }
    }
    return image;
}

kernel::FloatPlane SyntheticSeries::counted(int frame) const {
    kernel::FloatPlane image = expected(frame);
    NoiseSource noise(plan_.seed, first_frame + static_cast<std::uint64_t>(frame));
    for (Elements y = 0; y < plan_.shape.height; ++y) {
        float* const row = image.row(y);
        check_cancelled(work_per_pixel * plan_.shape.width);
        std::transform(row, row + plan_.shape.width, row, [&](float mean) {
            return static_cast<float>(noise.poisson(static_cast<double>(mean)));
        });
    }
    return image;
}

ImageShape field_for(const SeriesPlan& plan) {
    check(plan);
    double farthest = std::abs(plan.warp);
    const Point c = centre(plan.shape);
    for (const RigidMotion& motion : make_motions(plan)) {
        for (const Point corner : {Point{0, 0}, {2 * c.x, 0}, {0, 2 * c.y}, {2 * c.x, 2 * c.y}}) {
            const Point to = apply(inverse(motion), corner, c);
            farthest = std::max({farthest, std::abs(to.x - corner.x) + std::abs(plan.warp),
                                 std::abs(to.y - corner.y) + std::abs(plan.warp)});
        }
    }
    const auto margin = static_cast<Elements>(std::ceil(farthest)) + 4;
    return {plan.shape.width + 2 * margin, plan.shape.height + 2 * margin};
}

} // namespace sextant::registration
