// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/filter/feature.hpp"

#include "sextant/core/error.hpp"
#include "sextant/core/names.hpp"
#include "sextant/kernel/filter/gaussian_weights.hpp"
#include "sextant/kernel/filter/lengths.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace sextant::kernel {

namespace {

using Derivatives = std::span<const float* const>;

void gradient_magnitude(Derivatives d, float* to, Elements count) {
    lengths(d[0], d[1], count, to);
}

void laplacian(Derivatives d, float* to, Elements count) {
    for (Elements i = 0; i < count; ++i)
        to[i] = d[0][i] + d[1][i];
}

void hessian_larger(Derivatives d, float* to, Elements count) {
    eigenvalues({d[0], d[1], d[2]}, 1, count, to);
}

void hessian_smaller(Derivatives d, float* to, Elements count) {
    eigenvalues({d[0], d[1], d[2]}, -1, count, to);
}

struct Row {
    NamedFeature feature;
    std::vector<Derivative> needs;
    void (*make)(Derivatives, float*, Elements);
};

const std::vector<Row>& rows() {
    static const std::vector<Row> all = {
        {{"smooth", "the image, smoothed"}, {{0, 0}}, nullptr},
        {{"gradient-magnitude", "the length of the gradient: √(x² + y²)"},
         {{1, 0}, {0, 1}},
         gradient_magnitude},
        {{"laplacian", "xx + yy"}, {{2, 0}, {0, 2}}, laplacian},
        {{"hessian-larger", "the larger eigenvalue of the second derivatives"},
         {{2, 0}, {1, 1}, {0, 2}},
         hessian_larger},
        {{"hessian-smaller", "the smaller one"}, {{2, 0}, {1, 1}, {0, 2}}, hessian_smaller}};
    return all;
}

bool is_derivative(std::string_view name) {
    return !name.empty() &&
           std::all_of(name.begin(), name.end(), [](char c) { return c == 'x' || c == 'y'; });
}

} // namespace

std::span<const NamedFeature> named_features() {
    static const std::vector<NamedFeature> all = [] {
        std::vector<NamedFeature> features;
        for (const Row& row : rows())
            features.push_back(row.feature);
        return features;
    }();
    return all;
}

Feature find_feature(std::string_view name) {
    if (is_derivative(name)) {
        const auto x = static_cast<int>(std::count(name.begin(), name.end(), 'x'));
        const auto y = static_cast<int>(name.size()) - x;
        if (x > highest_order || y > highest_order)
            throw InvalidTask(fmt::format("the derivative {}: orders along an axis go to {}", name,
                                          highest_order));
        return {std::string(name), {{x, y}}, nullptr};
    }
    std::vector<std::string_view> names = {"x", "y", "xx", "xy", "yy"};
    for (const Row& row : rows()) {
        if (row.feature.name == name)
            return {std::string(name), row.needs, row.make};
        names.push_back(row.feature.name);
    }
    throw InvalidTask(unknown_name("derivative", name, names));
}

} // namespace sextant::kernel
