// SPDX-License-Identifier: BSD-3-Clause
#include "scene.hpp"

#include "sextant/core/error.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace brain {

namespace {

using Imath::V3d;
using sextant::RgbaF32;

constexpr double air = 0.06; // lower densities are air

const V3d ridge_colour(0.93, 0.60, 0.50), furrow_colour(0.45, 0.10, 0.08);
const V3d glass_colour(0.62, 0.76, 0.95), haze_colour(0.95, 0.55, 0.40);

/// A smooth step: 0 up to `from`, 1 from `to` on.
double ramp(double from, double to, double value) {
    const double t = std::clamp((value - from) / (to - from), 0.0, 1.0);
    return t * t * (3 - 2 * t);
}

/// The premultiplied colour of a step of `length` through `density`. Opacity is exponential in the
/// length, so the image does not depend on the step size. Highlights saturate, so that no channel
/// exceeds the opacity.
RgbaF32 covering(const V3d& colour, double density, double length) {
    const double opacity = 1 - std::exp(-density * length);
    const auto channel = [&](double value) {
        return static_cast<float>(std::min(value, 1.0) * opacity);
    };
    return {channel(colour.x), channel(colour.y), channel(colour.z), static_cast<float>(opacity)};
}

/// Blinn-Phong reflection of a surface; the diffuse part extends slightly beyond the terminator.
struct Reflection {
    double diffuse = 0, highlight = 0;
};

Reflection reflection(const V3d& normal, const View& view, double shininess) {
    const V3d halfway = (view.light - view.direction).normalized();
    return {std::max(0.0, (normal.dot(view.light) + 0.15) / 1.15),
            std::pow(std::max(0.0, normal.dot(halfway)), shininess)};
}

RgbaF32 brain_light(const V3d& slope, double crowding, double density, const View& view,
                    double length) {
    const V3d normal = slope.length() > 0 ? -slope.normalized() : -view.direction;
    const auto [diffuse, highlight] = reflection(normal, view, 25);
    const double open = 1 - 0.75 * ramp(0.25, 0.60, crowding); // visible fraction of the sky
    const V3d tint = ridge_colour * open + furrow_colour * (1 - open);
    const V3d colour = tint * ((0.22 + 0.85 * diffuse) * (0.35 + 0.65 * open));
    return covering(colour + V3d(0.22 * highlight * open), density, length);
}

/// The light of skin and skull, which are opaque where the density changes, above all where they
/// are seen edge-on.
RgbaF32 glass_light(const V3d& slope, const View& view, double length) {
    const double edge = ramp(0.01, 0.10, slope.length());
    if (edge <= 0)
        return {};
    const V3d normal = -slope.normalized();
    const double grazing = 1 - std::abs(normal.dot(view.direction));
    const auto [diffuse, highlight] = reflection(normal, view, 40);
    const V3d colour = glass_colour * (0.4 + 0.6 * diffuse) + V3d(0.6 * highlight);
    return covering(colour, edge * (0.0025 + 0.11 * grazing * grazing * grazing * grazing), length);
}

} // namespace

Scene::Scene(const Volume& head, const std::optional<Volume>& brain) : head_(blurred(head, 1)) {
    if (!brain)
        return;
    if (brain->size != head.size) {
        const auto& [is, expected] = std::pair(brain->size, head.size);
        throw sextant::InvalidTask(
            fmt::format("the brain has {}x{}x{} voxels, expected {}x{}x{} like the head", is.x,
                        is.y, is.z, expected.x, expected.y, expected.z));
    }
    crowd_ = blurred(blurred(*brain, 3), 3);
    brain_ = blurred(*brain, 1);
}

RgbaF32 Scene::emit(const V3d& position, const View& view, double length) const {
    if (brain_) {
        const double density = ramp(0.28, 0.50, brain_->at(position));
        if (density > 0.001) {
            return brain_light(brain_->gradient(position), crowd_.at(position), density, view,
                               length);
        }
    }
    const double density = head_.at(position);
    if (density < air)
        return {};
    RgbaF32 sum = glass_light(head_.gradient(position), view, length);
    if (!brain_) {
        const auto haze = covering(haze_colour, 0.02 * ramp(0.25, 0.55, density), length);
        sum = {sum.r + haze.r, sum.g + haze.g, sum.b + haze.b, sum.a + haze.a};
    }
    return sum;
}

} // namespace brain
