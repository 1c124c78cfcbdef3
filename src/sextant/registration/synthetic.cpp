// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/synthetic.hpp"

#include "sextant/core/error.hpp"
#include "sextant/registration/noise.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numbers>
#include <utility>

#include <fmt/format.h>

namespace sextant::registration {

namespace {

constexpr double beam_off = .02;           ///< of the dose
constexpr double farthest_place = 1 << 30; ///< beyond, coordinates are no longer exact enough
// Streams of the seed: frames have the others, from 2 on.
constexpr std::uint64_t wandering = 0, warping = 1, first_frame = 2;

void check_frame(int frame, int frames, const char* what) {
    if (frame < 0 || frame >= frames)
        throw InvalidTask(
            fmt::format("a {} at frame {}, expected 0 to {}", what, frame, frames - 1));
}

void check(const SeriesPlan& plan) {
    if (plan.shape.width < 1 || plan.shape.height < 1)
        throw InvalidTask(fmt::format("frames of {}x{} pixels, expected at least one",
                                      plan.shape.width, plan.shape.height));
    if (plan.frames < 1)
        throw InvalidTask(fmt::format("{} frames, expected at least one", plan.frames));
    if (!(plan.dose > 0) || !std::isfinite(plan.dose))
        throw InvalidTask(
            fmt::format("a dose of {} electrons a pixel, expected more than 0", plan.dose));
    if (!(std::abs(plan.warp) < farthest_place))
        throw InvalidTask(fmt::format("a warp of {:.3g} pixels, expected less than {:.3g}",
                                      plan.warp, farthest_place));
    if (!(plan.warp_length > 0))
        throw InvalidTask(
            fmt::format("a warp of length {}, expected more than 0", plan.warp_length));
    for (const int blank : plan.blanks)
        check_frame(blank, plan.frames, "blank");
    for (const Jump& jump : plan.jumps)
        check_frame(jump.frame, plan.frames, "jump");
}

std::vector<RigidMotion> make_motions(const SeriesPlan& plan) {
    NoiseSource noise(plan.seed, wandering);
    std::vector<RigidMotion> motions(1);
    for (int frame = 1; frame < plan.frames; ++frame) {
        RigidMotion motion = motions.back();
        motion.alpha += plan.drift.alpha - plan.turn_wander * noise.normal();
        motion.tx += plan.drift.tx - plan.wander * noise.normal();
        motion.ty += plan.drift.ty - plan.wander * noise.normal();
        for (const Jump& jump : plan.jumps) {
            if (jump.frame == frame) {
                motion.tx += jump.tx;
                motion.ty += jump.ty;
            }
        }
        if (!(std::hypot(motion.tx, motion.ty) < farthest_place) || !std::isfinite(motion.alpha))
            throw InvalidTask(fmt::format("frame {} lies {:.3g} pixels from the first, expected "
                                          "less than {:.3g}",
                                          frame, std::hypot(motion.tx, motion.ty), farthest_place));
        motions.push_back(motion);
    }
    return motions;
}

} // namespace

SyntheticSeries::SyntheticSeries(SeriesPlan plan, Specimen specimen)
    : plan_(std::move(plan)), specimen_(std::move(specimen)) {
    check(plan_);
    motions_ = make_motions(plan_);
    std::transform(motions_.begin(), motions_.end(), std::back_inserter(lookups_), inverse);
    NoiseSource noise(plan_.seed, warping);
    for (double& phase : phases_)
        phase = 2 * std::numbers::pi * noise.uniform();
}

RigidMotion SyntheticSeries::between(int reference, int moved) const {
    return compose(motion(moved), inverse(motion(reference)));
}

/// Two waves that shear and squeeze: each coordinate moves with the other, and a little with
/// itself.
Point SyntheticSeries::distortion(int frame, Point x) const {
    if (plan_.warp == 0 || plan_.frames == 1)
        return {};
    const double amplitude = plan_.warp * frame / (plan_.frames - 1);
    const double wave = 2 * std::numbers::pi / plan_.warp_length;
    return {amplitude * std::sin(wave * (x.y + x.x / 2) + phases_[0]),
            amplitude * std::sin(wave * (x.x - x.y / 2) + phases_[1])};
}

Point SyntheticSeries::place(int frame, Point x) const {
    const Point u = distortion(frame, x);
    return apply(lookups_[static_cast<std::size_t>(frame)], {x.x + u.x, x.y + u.y},
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
        for (Elements x = 0; x < plan_.shape.width; ++x) {
            const Point at = place(frame, {static_cast<double>(x), static_cast<double>(y)});
            const double seen = is_blank(frame) ? beam_off : specimen_({at.x - c.x, at.y - c.y});
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
