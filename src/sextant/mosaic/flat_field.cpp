// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/mosaic/flat_field.hpp"

#include "sextant/comm/thread_team.hpp"
#include "sextant/core/statistics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

#include <Eigen/Dense>

namespace sextant::mosaic {

namespace {

constexpr Elements cells = 16; ///< along each axis

std::vector<double> positions(Elements length) {
    std::vector<double> all;
    for (Elements i = 0; i < length; ++i)
        all.push_back(length > 1 ? 2. * static_cast<double>(i) / static_cast<double>(length - 1) - 1
                                 : 0);
    return all;
}

/// The median of the finite values; NaN if there are none.
double finite_median(std::vector<double> values) {
    std::erase_if(values, [](double value) { return !std::isfinite(value); });
    return values.empty() ? std::numeric_limits<double>::quiet_NaN() : sextant::median(values);
}

/// The range of a cell along an axis.
Elements border(Elements cell, Elements length) {
    return cell * length / cells;
}

/// The logarithm of the mean of the finite samples of each cell; NaN if it is not positive.
std::vector<double> logarithms_of(std::span<const float> samples, ImageShape tile) {
    std::vector<double> logarithms;
    for (Elements row = 0; row < cells; ++row) {
        for (Elements column = 0; column < cells; ++column) {
            double sum = 0, count = 0;
            for (Elements y = border(row, tile.height); y < border(row + 1, tile.height); ++y) {
                for (Elements x = border(column, tile.width); x < border(column + 1, tile.width);
                     ++x) {
                    const double sample = samples[static_cast<std::size_t>(y * tile.width + x)];
                    if (std::isfinite(sample))
                        sum += sample, count += 1;
                }
            }
            logarithms.push_back(sum > 0 ? std::log(sum / count)
                                         : std::numeric_limits<double>::quiet_NaN());
        }
    }
    return logarithms;
}

/// Calls body(power of x, power of y) for each term of a polynomial of two variables.
template <class Body>
void for_each_term(int degree, const Body& body) {
    for (int total = 0; total <= degree; ++total) {
        for (int of_y = 0; of_y <= total; ++of_y)
            body(total - of_y, of_y);
    }
}

} // namespace

FlatField::FlatField(ImageShape tile) : x_(positions(tile.width)), y_(positions(tile.height)) {}

double FlatField::at(Elements x, Elements y) const {
    if (is_even())
        return 1;
    double sum = 0;
    std::size_t term = 0;
    for_each_term(degree, [&](int of_x, int of_y) {
        sum += coefficients_[term++] * std::pow(x_[static_cast<std::size_t>(x)], of_x) *
               std::pow(y_[static_cast<std::size_t>(y)], of_y);
    });
    return std::exp(sum);
}

void FlatField::row(Elements y, std::span<float> to) const {
    std::array<double, degree + 1> of_x{};
    std::size_t term = 0;
    for_each_term(degree, [&](int power, int of_y) {
        of_x[static_cast<std::size_t>(power)] +=
            coefficients_[term++] * std::pow(y_[static_cast<std::size_t>(y)], of_y);
    });
    for (std::size_t x = 0; x < x_.size(); ++x) {
        double sum = 0;
        for (std::size_t power = of_x.size(); power-- > 0;)
            sum = sum * x_[x] + of_x[power];
        to[x] = static_cast<float>(std::exp(sum));
    }
}

double FlatField::range() const {
    if (is_even())
        return 1;
    double least = std::numeric_limits<double>::infinity(), most = 0;
    std::vector<float> values(x_.size());
    for (std::size_t y = 0; y < y_.size(); ++y) {
        row(static_cast<Elements>(y), values);
        const auto [low, high] = std::minmax_element(values.begin(), values.end());
        least = std::min(least, static_cast<double>(*low));
        most = std::max(most, static_cast<double>(*high));
    }
    return most / least;
}

void FlatField::correct(std::span<float> samples) const {
    if (is_even())
        return;
    std::vector<float> values(x_.size());
    for (std::size_t y = 0; y < y_.size(); ++y) {
        row(static_cast<Elements>(y), values);
        for (std::size_t x = 0; x < x_.size(); ++x)
            samples[y * x_.size() + x] /= values[x];
    }
}

FlatField estimate_flat_field(ImageShape tile, int tiles, const ReadTile& read, Team& team) {
    constexpr int least = 9, most = 100;
    FlatField field(tile);
    if (tiles < least || tile.width < cells || tile.height < cells)
        return field;
    const int used = std::min(tiles, most);
    std::vector<std::vector<double>> all(static_cast<std::size_t>(used));
    std::vector<std::vector<float>> samples(static_cast<std::size_t>(team.size()));
    team.run(used, [&](int part, int member) {
        std::vector<float>& own = samples[static_cast<std::size_t>(member)];
        own.resize(static_cast<std::size_t>(tile.elements()));
        read(static_cast<int>(std::int64_t{part} * tiles / used), own, member);
        all[static_cast<std::size_t>(part)] = logarithms_of(own, tile);
    });
    // log(cell) = level of the tile + field of the cell, by medians in turn.
    std::vector<double> of_cell(cells * cells, 0), level(all.size(), 0);
    constexpr int rounds = 10;
    for (int round = 0; round < rounds; ++round) {
        for (std::size_t t = 0; t < all.size(); ++t) {
            std::vector<double> rest;
            for (std::size_t c = 0; c < of_cell.size(); ++c)
                rest.push_back(all[t][c] - of_cell[c]);
            level[t] = finite_median(std::move(rest));
        }
        for (std::size_t c = 0; c < of_cell.size(); ++c) {
            std::vector<double> rest;
            for (std::size_t t = 0; t < all.size(); ++t)
                rest.push_back(all[t][c] - level[t]);
            of_cell[c] = finite_median(std::move(rest));
        }
    }
    std::vector<std::array<int, 2>> terms;
    for_each_term(FlatField::degree, [&](int of_x, int of_y) { terms.push_back({of_x, of_y}); });
    Eigen::MatrixXd powers(cells * cells, static_cast<Eigen::Index>(terms.size()));
    Eigen::VectorXd values(cells * cells);
    Eigen::Index known = 0;
    for (Elements row = 0; row < cells; ++row) {
        for (Elements column = 0; column < cells; ++column) {
            const double value = of_cell[static_cast<std::size_t>(row * cells + column)];
            if (!std::isfinite(value))
                continue;
            const auto middle = [](Elements cell, Elements length) {
                return static_cast<double>(border(cell, length) + border(cell + 1, length) - 1) /
                           static_cast<double>(length - 1) -
                       1;
            };
            const double x = middle(column, tile.width), y = middle(row, tile.height);
            for (std::size_t k = 0; k < terms.size(); ++k)
                powers(known, static_cast<Eigen::Index>(k)) =
                    std::pow(x, terms[k][0]) * std::pow(y, terms[k][1]);
            values[known++] = value;
        }
    }
    if (known < cells * cells / 2)
        return field;
    const Eigen::VectorXd fitted =
        powers.topRows(known).colPivHouseholderQr().solve(values.head(known));
    field.coefficients_.assign(fitted.begin(), fitted.end());
    // The mean of the field is 1.
    double mean = 0;
    for (Elements row = 0; row < cells; ++row) {
        for (Elements column = 0; column < cells; ++column)
            mean += field.at(border(column, tile.width), border(row, tile.height));
    }
    field.coefficients_[0] -= std::log(mean / (cells * cells));
    return field;
}

} // namespace sextant::mosaic
