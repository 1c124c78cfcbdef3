// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/kernel/filter/samples.hpp"
#include "sextant/registration/pair/motion.hpp"

#include <cmath>
#include <functional>
#include <numbers>
#include <vector>

#include "tests/support/random.hpp"

// Specimens defined by formulas, so that they can be moved exactly by fractions of a pixel.
namespace sextant::test {

using kernel::SampleView;
using registration::DisplacementField;
using registration::Point;
using registration::RigidMotion;

/// Maps a point of the reference to the position of the same feature in the template.
using Motion = std::function<Point(Point)>;

/// A number in [0, 1).
inline double uniform(Random& random) {
    return static_cast<double>(random.between(0, (std::int64_t{1} << 53) - 1)) * 0x1p-53;
}

/// A sum of waves around 1.
class Specimen {
  public:
    /// Waves in random directions with wavelengths between `shortest` and `longest` pixels: texture
    /// like that of amorphous carbon. `contrast` is the standard deviation.
    static Specimen amorphous(unsigned seed, int waves = 60, double shortest = 7,
                              double longest = 20, double contrast = .3) {
        Random random(seed);
        Specimen made;
        for (int i = 0; i < waves; ++i) {
            const double length = shortest * std::pow(longest / shortest, uniform(random));
            const double direction = 2 * std::numbers::pi * uniform(random);
            made.add(length, direction, 2 * std::numbers::pi * uniform(random),
                     contrast * std::sqrt(2. / waves));
        }
        return made;
    }
    /// A hexagonal lattice with this period, mixed with a fraction of amorphous texture.
    static Specimen lattice(unsigned seed, double period = 12, double share = .38) {
        Specimen made = amorphous(seed, 60, 7, 24, .3 * std::sqrt(share));
        for (int i = 0; i < 3; ++i)
            made.add(period, .3 + i * std::numbers::pi / 3, 0, .3 * std::sqrt(2 * (1 - share) / 3));
        return made;
    }
    /// This specimen with the constant 1 at all coordinates from x on.
    Specimen with_vacuum_from(double x) const {
        Specimen made = *this;
        made.vacuum_ = x;
        return made;
    }

    double operator()(Point at) const {
        if (at.x >= vacuum_)
            return 1;
        double sum = 1;
        for (const Wave& wave : waves_)
            sum += wave.amplitude * std::cos(wave.x * at.x + wave.y * at.y + wave.phase);
        return sum;
    }

  private:
    struct Wave {
        double x, y, phase, amplitude;
    };
    void add(double length, double direction, double phase, double amplitude) {
        const double k = 2 * std::numbers::pi / length;
        waves_.push_back({k * std::cos(direction), k * std::sin(direction), phase, amplitude});
    }

    std::vector<Wave> waves_;
    double vacuum_ = 1e9;
};

/// Samples of a whole frame.
struct WarpedFrame {
    ImageShape shape;
    std::vector<float> samples;

    SampleView view() const {
        return {samples.data(), shape.width, {0, 0, shape.width, shape.height}, shape};
    }
};

template <class Value>
WarpedFrame frame_of(ImageShape shape, Value value) {
    WarpedFrame frame{shape, {}};
    for (std::int64_t y = 0; y < shape.height; ++y) {
        for (std::int64_t x = 0; x < shape.width; ++x)
            frame.samples.push_back(
                static_cast<float>(value(Point{static_cast<double>(x), static_cast<double>(y)})));
    }
    return frame;
}

/// A Poisson number: the number of uniform numbers that are multiplied until the product falls
/// below e^−mean.
inline double counted(Random& random, double mean) {
    double product = uniform(random);
    int count = 0;
    for (const double limit = std::exp(-mean); product > limit; ++count)
        product *= uniform(random);
    return count;
}

/// Two frames of one specimen with T∘φ = R.
struct WarpedPair {
    WarpedFrame reference, templ;
};

/// The reference is the specimen composed with φ, the template is the specimen itself; so the
/// inverse of φ is not needed.
inline WarpedPair exposed_pair(const std::function<double(Point)>& specimen, ImageShape shape,
                               const Motion& phi, double dose, unsigned seed) {
    Random noise_of_reference(2 * seed), noise_of_template(2 * seed + 1);
    const auto seen = [dose](Random& random, double value) {
        const double mean = std::max(value, 0.);
        return dose > 0 ? counted(random, dose * mean) : mean;
    };
    return {frame_of(shape, [&](Point x) { return seen(noise_of_reference, specimen(phi(x))); }),
            frame_of(shape, [&](Point x) { return seen(noise_of_template, specimen(x)); })};
}

inline Motion rigid(const RigidMotion& motion, ImageShape shape) {
    return [=](Point x) { return registration::apply(motion, x, registration::centre(shape)); };
}

/// A smooth distortion, one wave of `length` pixels along each axis, after a rigid motion.
inline Motion warp(ImageShape shape, double length, double amplitude, RigidMotion motion = {}) {
    return [=](Point x) {
        const Point moved = registration::apply(motion, x, registration::centre(shape));
        const double k = 2 * std::numbers::pi / length;
        return Point{moved.x + amplitude * std::sin(k * x.y + .4) * std::cos(.7 * k * x.x),
                     moved.y + amplitude * std::sin(k * x.x + 1.1) * std::cos(.6 * k * x.y)};
    };
}

/// A motion as a field with a vector for each pixel.
inline DisplacementField dense(const Motion& phi, ImageShape shape) {
    DisplacementField field = registration::no_displacement(shape, 1);
    for (std::size_t i = 0; i < field.count(); ++i) {
        const Point x{static_cast<double>(static_cast<std::int64_t>(i) % shape.width),
                      static_cast<double>(static_cast<std::int64_t>(i) / shape.width)};
        const Point to = phi(x);
        field.x[i] = static_cast<float>(to.x - x.x);
        field.y[i] = static_cast<float>(to.y - x.y);
    }
    return field;
}

} // namespace sextant::test
