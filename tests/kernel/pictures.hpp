// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/kernel/filter/gaussian.hpp"

#include <cmath>
#include <cstring>
#include <vector>

#include "tests/support/random.hpp"
#include <gtest/gtest.h>

// Images of one channel and their Gaussian derivatives, for tests.
namespace sextant::test {

using kernel::Border;
using kernel::BorderRule;
using kernel::Derivative;
using kernel::GaussianDerivatives;
using kernel::Plane;
using kernel::SampleView;

inline const std::vector<Derivative> five = {{1, 0}, {0, 1}, {2, 0}, {1, 1}, {0, 2}};

inline std::vector<Derivative> every_derivative() {
    std::vector<Derivative> all;
    for (int x = 0; x <= 4; ++x) {
        for (int y = 0; y <= 4; ++y)
            all.push_back({x, y});
    }
    return all;
}

inline const std::vector<BorderRule> border_rules = {{Border::replicate, 0},
                                                     {Border::mirror, 0},
                                                     {Border::reflect, 0},
                                                     {Border::constant, 0},
                                                     {Border::constant, .75f}};

inline Tile whole(ImageShape image) {
    return {0, 0, image.width, image.height};
}

/// A rectangle of an image in its own memory, with rows `padding` samples apart.
template <class Sample>
class Picture {
  public:
    Picture(ImageShape image, Tile tile, Elements padding = 0)
        : image_(image),
          tile_(tile),
          stride_(tile.width + padding),
          samples_(static_cast<std::size_t>(stride_ * tile.height)) {}
    explicit Picture(ImageShape image, Elements padding = 0)
        : Picture(image, whole(image), padding) {}

    /// Sets all samples by a function of x and y.
    template <class Value>
    Picture& fill(Value value) {
        for (Elements y = tile_.y; y < tile_.y + tile_.height; ++y) {
            for (Elements x = tile_.x; x < tile_.x + tile_.width; ++x)
                at(x, y) = static_cast<Sample>(value(x, y));
        }
        return *this;
    }
    Picture& fill_random(unsigned seed, int largest) {
        Random random(seed);
        const double unit = std::is_floating_point_v<Sample> ? 1. / largest : 1;
        return fill([&](Elements, Elements) { return random.number(0, largest) * unit; });
    }

    Sample& at(Elements x, Elements y) { return samples_[index(x, y)]; }
    const Sample& at(Elements x, Elements y) const { return samples_[index(x, y)]; }
    ImageShape image() const { return image_; }
    SampleView view() const { return {samples_.data(), stride_, tile_, image_}; }

    /// A copy of exactly the samples of `part`.
    Picture cut(const Tile& part) const {
        Picture made(image_, part);
        made.fill([&](Elements x, Elements y) { return at(x, y); });
        return made;
    }

  private:
    std::size_t index(Elements x, Elements y) const {
        return static_cast<std::size_t>((y - tile_.y) * stride_ + x - tile_.x);
    }

    ImageShape image_;
    Tile tile_;
    Elements stride_;
    std::vector<Sample> samples_;
};

inline Picture<float> random_picture(ImageShape image, unsigned seed) {
    return std::move(Picture<float>(image).fill_random(seed, 100000));
}

/// A plane for each derivative of an image, surrounded by a margin that must not change.
class Planes {
  public:
    static constexpr Elements frame = 3;
    static constexpr float untouched = -12345;

    Planes(std::size_t count, ImageShape image)
        : image_(image),
          stride_(image.width + 2 * frame),
          planes_(count,
                  std::vector<float>(static_cast<std::size_t>(stride_ * (image.height + 2 * frame)),
                                     untouched)) {}

    /// Planes that begin at the first sample of a tile.
    std::vector<Plane> of(const Tile& tile) {
        std::vector<Plane> made;
        for (auto& plane : planes_)
            made.push_back({&plane[index(tile.x, tile.y)], stride_});
        return made;
    }

    float at(std::size_t k, Elements x, Elements y) const { return planes_[k][index(x, y)]; }
    std::size_t count() const { return planes_.size(); }
    ImageShape image() const { return image_; }

    /// Compares bits, including the margins.
    bool operator==(const Planes& other) const {
        for (std::size_t k = 0; k < count(); ++k) {
            const std::vector<float>&a = planes_[k], &b = other.planes_[k];
            if (a.size() != b.size() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)))
                return false;
        }
        return true;
    }

    bool frames_are_untouched() const {
        for (std::size_t k = 0; k < count(); ++k) {
            for (Elements y = -frame; y < image_.height + frame; ++y) {
                for (Elements x = -frame; x < image_.width + frame; ++x) {
                    const bool within = x >= 0 && x < image_.width && y >= 0 && y < image_.height;
                    if (!within && at(k, x, y) != untouched)
                        return false;
                }
            }
        }
        return true;
    }

  private:
    std::size_t index(Elements x, Elements y) const {
        return static_cast<std::size_t>((y + frame) * stride_ + x + frame);
    }

    ImageShape image_;
    Elements stride_;
    std::vector<std::vector<float>> planes_;
};

/// Derivatives of the whole image, computed at once.
inline Planes derivatives_of(const SampleView& input, double sigma,
                             const std::vector<Derivative>& wanted, BorderRule rule = {},
                             const kernel::GaussianKernel& kernel = {}) {
    GaussianDerivatives derivatives(sigma, wanted, rule, kernel);
    Planes planes(wanted.size(), input.image);
    const Tile tile = whole(input.image);
    derivatives.apply(input, tile, planes.of(tile));
    return planes;
}

} // namespace sextant::test
