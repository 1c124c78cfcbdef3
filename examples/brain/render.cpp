// SPDX-License-Identifier: BSD-3-Clause
#include "render.hpp"

#include "sextant/core/error.hpp"
#include "sextant/kernel/fold/catalogue.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numbers>
#include <numeric>

#include <fmt/format.h>

namespace brain {

namespace {

using Imath::V3d;
using Imath::V3i;
using sextant::RgbaF32;

constexpr double step = 0.5;             // sample k of a ray is (k + 1/2) steps from the eye
constexpr float opaque = 1.0F - 1.0e-6F; // a ray ends at this opacity

double radians(double degrees) {
    return degrees * std::numbers::pi / 180;
}

/// Samples [first, last); doubles, so that `last` can be infinite (unlimited).
struct Samples {
    double first = 0, last = std::numeric_limits<double>::infinity();
};

/// The samples of a ray within a box. The first sample beyond a plane depends only on the ray and
/// the plane, so two bricks at the plane agree on which of them a sample is in.
Samples samples_within(const Box& box, const V3d& eye, const V3d& direction) {
    Samples samples;
    for (int axis = 0; axis < 3; ++axis) {
        const auto first_beyond = [&](double plane) {
            return std::ceil((plane - eye[axis]) / (direction[axis] * step) - 0.5);
        };
        if (direction[axis] == 0) {
            if (eye[axis] < box.first[axis] || eye[axis] >= box.last[axis])
                return {0, 0};
            continue;
        }
        const auto [in, out] =
            std::minmax({first_beyond(box.first[axis]), first_beyond(box.last[axis])});
        samples = {std::max(samples.first, in), std::min(samples.last, out)};
    }
    return samples;
}

/// A view in this direction, with the light above the viewer's left shoulder.
View view_along(const V3d& direction) {
    const V3d up(0, 0, 1);
    return {direction, (up * 0.9 - direction - direction.cross(up) * 0.7).normalized()};
}

RgbaF32 cast_ray(const Scene& scene, const Box& box, const V3d& eye, const V3d& direction) {
    const View view = view_along(direction);
    const Samples samples = samples_within(box, eye, direction);
    RgbaF32 sum;
    for (double k = samples.first; k < samples.last && sum.a < opaque; ++k) {
        const V3d position = (eye + direction * ((k + 0.5) * step)) / scene.head().spacing;
        sum = sextant::kernel::over(sum, scene.emit(position, view, step));
    }
    return sum;
}

} // namespace

Camera look_at(const Volume& volume, double azimuth, double elevation) {
    if (!std::isfinite(azimuth) || !(std::abs(elevation) < 90)) {
        throw sextant::InvalidTask(fmt::format(
            "azimuth {} and elevation {} degrees, expected an elevation between -90 and 90",
            azimuth, elevation));
    }
    const V3d extent = V3d(volume.size - V3i(1)) * volume.spacing;
    const double a = radians(azimuth), b = radians(elevation);
    const V3d towards(std::cos(b) * std::sin(a), std::cos(b) * std::cos(a), std::sin(b));
    return {extent / 2 + towards * (2.2 * extent.length()), extent / 2};
}

Bricks::Bricks(const Volume& volume, const V3i& parts) : parts_(parts) {
    for (int axis = 0; axis < 3; ++axis) {
        const int voxels = volume.size[axis] - 1; // distance from the first to the last voxel
        if (parts[axis] < 1 || parts[axis] > voxels) {
            throw sextant::InvalidTask(fmt::format("{} bricks along axis {}, expected 1 to {}",
                                                   parts[axis], axis + 1, voxels));
        }
        for (int i = 0; i <= parts[axis]; ++i) {
            const auto voxel = static_cast<std::int64_t>(i) * voxels / parts[axis];
            planes_[static_cast<std::size_t>(axis)].push_back(static_cast<double>(voxel) *
                                                              volume.spacing[axis]);
        }
    }
}

V3i Bricks::slabs_of(int number) const {
    return {number % parts_.x, number / parts_.x % parts_.y, number / parts_.x / parts_.y};
}

Box Bricks::brick(int number) const {
    const V3i slabs = slabs_of(number);
    Box box;
    for (int axis = 0; axis < 3; ++axis) {
        const double* const planes = planes_[static_cast<std::size_t>(axis)].data() + slabs[axis];
        box.first[axis] = planes[0];
        box.last[axis] = planes[1];
    }
    return box;
}

Box Bricks::whole() const {
    return {brick(0).first, brick(count() - 1).last};
}

std::vector<int> Bricks::front_to_back(const V3d& eye) const {
    V3i nearest;
    for (int axis = 0; axis < 3; ++axis) {
        const auto& planes = planes_[static_cast<std::size_t>(axis)];
        const auto inner = planes.begin() + 1;
        nearest[axis] =
            static_cast<int>(std::upper_bound(inner, planes.end() - 1, eye[axis]) - inner);
    }
    const auto slabs_away = [&](int number) {
        const V3i away = slabs_of(number) - nearest;
        return std::abs(away.x) + std::abs(away.y) + std::abs(away.z);
    };
    std::vector<int> order(static_cast<std::size_t>(count()));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return slabs_away(a) < slabs_away(b); });
    return order;
}

sextant::Image render(const Scene& scene, const Camera& camera, sextant::ImageShape shape,
                      const Box& box) {
    const V3d forward = (camera.focus - camera.eye).normalized();
    const V3d right = forward.cross({0, 0, 1}).normalized(), down = forward.cross(right);
    const auto width = static_cast<double>(shape.width), height = static_cast<double>(shape.height);
    const double pixel = 2 * std::tan(radians(camera.view_angle) / 2) / height;
    sextant::Image image(shape, sextant::rgba_f32);
    RgbaF32* to = image.pixels<RgbaF32>().data();
    for (std::int64_t row = 0; row < shape.height; ++row) {
        for (std::int64_t column = 0; column < shape.width; ++column) {
            const double x = (static_cast<double>(column) + 0.5 - width / 2) * pixel;
            const double y = (static_cast<double>(row) + 0.5 - height / 2) * pixel;
            const V3d direction = (forward + right * x + down * y).normalized();
            *to++ = cast_ray(scene, box, camera.eye, direction);
        }
    }
    return image;
}

} // namespace brain
