// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/image.hpp"
#include "sextant/mosaic/flat_field.hpp"
#include "sextant/mosaic/positions.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>
#include <span>
#include <vector>

namespace sextant::test {

/// A scan of a specimen of particles in tiles on a grid, with the errors of the stage, vignetting
/// and the noise of counted electrons.
struct ScanOptions {
    int columns = 4, rows = 3;
    Elements side = 128;
    double overlap = .25, stage_error = 4, dose = 1000;
    double vignetting = 0; ///< the loss of brightness in the middle of each edge, twice in corners
    unsigned seed = 1;
    bool lattice = false; ///< most particles are on a lattice
};

struct Scan {
    ImageShape tile;
    std::vector<mosaic::Point> truth, stage;
    std::vector<std::vector<float>> samples;

    explicit Scan(const ScanOptions& options = {}) : tile{options.side, options.side} {
        std::mt19937_64 random(options.seed);
        std::normal_distribution<double> normal;
        const auto side = static_cast<double>(options.side);
        const double pitch = side * (1 - options.overlap);
        for (int row = 0; row < options.rows; ++row) {
            for (int column = 0; column < options.columns; ++column) {
                stage.push_back({column * pitch, row * pitch});
                const double x = options.stage_error * normal(random);
                const double y = options.stage_error * normal(random);
                truth.push_back(stage.back() + mosaic::Point{x, y});
            }
        }
        const double width = options.columns * pitch + side, height = options.rows * pitch + side;
        std::uniform_real_distribution<double> uniform;
        struct Particle {
            double x, y, sigma, height;
        };
        std::vector<Particle> particles;
        for (double y = -side / 2; options.lattice && y < height; y += 11) {
            for (double x = -side / 2; x < width; x += 12.3)
                particles.push_back({x, y, 2.2, .5});
        }
        const double area_of_one = options.lattice ? 2500 : 120;
        for (int i = 0; i < static_cast<int>(width * height / area_of_one); ++i) {
            const double x = uniform(random) * width - side / 2,
                         y = uniform(random) * height - side / 2, sigma = 1.5 + 3 * uniform(random);
            particles.push_back({x, y, sigma, uniform(random) < .5 ? .15 : -.15});
        }
        for (const mosaic::Point& at : truth) {
            std::vector<double> clean(static_cast<std::size_t>(tile.elements()), 1);
            for (const Particle& p : particles)
                add(clean, p.x - at.x, p.y - at.y, p.sigma, p.height);
            std::vector<float> counted;
            for (Elements y = 0; y < options.side; ++y) {
                for (Elements x = 0; x < options.side; ++x) {
                    const double mean =
                        std::max(.02, clean[static_cast<std::size_t>(y * options.side + x)]);
                    std::poisson_distribution<int> counts(options.dose * mean *
                                                          brightness(options, x, y));
                    counted.push_back(static_cast<float>(counts(random)));
                }
            }
            samples.push_back(std::move(counted));
        }
    }

    /// 1 in the middle of a tile.
    static double brightness(const ScanOptions& options, Elements x, Elements y) {
        const double half = static_cast<double>(options.side - 1) / 2;
        const double u = static_cast<double>(x) / half - 1, v = static_cast<double>(y) / half - 1;
        return 1 - options.vignetting * (u * u + v * v);
    }

    mosaic::ReadTile reading() const {
        return [this](int number, std::span<float> to, int) {
            std::ranges::copy(samples[static_cast<std::size_t>(number)], to.begin());
        };
    }

    /// The distances of some tiles from their true positions, after the median shift of all.
    std::vector<double> errors(std::span<const mosaic::Point> found) const {
        std::vector<double> x, y, errors;
        for (std::size_t i = 0; i < truth.size(); ++i) {
            x.push_back(found[i].x - truth[i].x);
            y.push_back(found[i].y - truth[i].y);
        }
        const auto median = [](std::vector<double> values) {
            std::ranges::sort(values);
            return values[values.size() / 2];
        };
        const double of_x = median(x), of_y = median(y);
        for (std::size_t i = 0; i < x.size(); ++i)
            errors.push_back(std::hypot(x[i] - of_x, y[i] - of_y));
        return errors;
    }

  private:
    void add(std::vector<double>& to, double x, double y, double sigma, double height) const {
        const double reach = 4 * sigma;
        const auto first = [&](double at) {
            return std::max<Elements>(0, static_cast<Elements>(std::ceil(at - reach)));
        };
        const auto last = [&](double at) {
            return std::min(tile.width, static_cast<Elements>(std::floor(at + reach)) + 1);
        };
        for (Elements row = first(y); row < last(y); ++row) {
            for (Elements column = first(x); column < last(x); ++column) {
                const double u = static_cast<double>(column) - x, v = static_cast<double>(row) - y;
                to[static_cast<std::size_t>(row * tile.width + column)] +=
                    height * std::exp(-(u * u + v * v) / (2 * sigma * sigma));
            }
        }
    }
};

} // namespace sextant::test
