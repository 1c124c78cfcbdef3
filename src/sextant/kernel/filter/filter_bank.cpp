// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/filter/filter_bank.hpp"

#include "sextant/core/error.hpp"
#include "sextant/core/text.hpp"
#include "sextant/kernel/filter/gaussian_weights.hpp"
#include "sextant/kernel/filter/line_vectors.hpp"

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
        {{"smooth", "the smoothed image"}, {{0, 0}}, nullptr},
        {{"gradient-magnitude", "the magnitude of the gradient: √(x² + y²)"},
         {{1, 0}, {0, 1}},
         gradient_magnitude},
        {{"laplacian", "xx + yy"}, {{2, 0}, {0, 2}}, laplacian},
        {{"hessian-larger", "the larger eigenvalue of the Hessian"},
         {{2, 0}, {1, 1}, {0, 2}},
         hessian_larger},
        {{"hessian-smaller", "the smaller eigenvalue of the Hessian"},
         {{2, 0}, {1, 1}, {0, 2}},
         hessian_smaller}};
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
            throw InvalidTask(
                fmt::format("derivative {}: expected an order of at most {} along each axis", name,
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

namespace {

bool same(const Derivative& a, const Derivative& b) {
    return a.x == b.x && a.y == b.y;
}

std::vector<Feature> found(const std::vector<std::string>& names) {
    std::vector<Feature> features;
    for (const std::string& name : names) {
        const Feature feature = find_feature(name);
        for (const Feature& other : features) {
            const bool twice = other.name == name || (!other.make && !feature.make &&
                                                      same(other.needs[0], feature.needs[0]));
            if (twice)
                throw InvalidTask(
                    fmt::format("{} is requested twice, first as {}", name, other.name));
        }
        features.push_back(feature);
    }
    return features;
}

std::vector<Derivative> needed_by(const std::vector<Feature>& features) {
    std::vector<Derivative> all;
    for (const Feature& feature : features) {
        for (const Derivative& one : feature.needs) {
            if (std::none_of(all.begin(), all.end(), [&](auto& d) { return same(d, one); }))
                all.push_back(one);
        }
    }
    return all;
}

constexpr std::size_t most_needed = 8; ///< maximum number of derivatives per feature

/// The number of rows in a band if intermediate derivatives are stored: large enough that filtering
/// the rows around each band again costs little.
Elements rows_of_a_band(int reach) {
    return std::max<Elements>(256, 8 * Elements{reach});
}

} // namespace

FilterBank::FilterBank(double sigma, const std::vector<std::string>& names, BorderRule rule,
                       const GaussianKernel& kernel)
    : features_(found(names)),
      needed_(needed_by(features_)),
      feature_of_(needed_.size(), -1),
      takes_(features_.size()),
      derivatives_(sigma, needed_, rule, kernel) {
    for (std::size_t f = 0; f < features_.size(); ++f) {
        for (const Derivative& one : features_[f].needs) {
            const auto at = std::find_if(needed_.begin(), needed_.end(),
                                         [&](const Derivative& d) { return same(d, one); });
            const auto d = static_cast<std::size_t>(at - needed_.begin());
            if (features_[f].make)
                takes_[f].push_back(d);
            else
                feature_of_[d] = static_cast<int>(f);
        }
    }
}

int FilterBank::multiply_adds() const {
    const auto features = static_cast<int>(features_.size());
    return (derivatives_.multiply_adds() + features - 1) / features;
}

/// The destinations of the derivatives for a part of a tile that begins `y` rows below its top.
std::vector<Plane> FilterBank::planes_of(const Tile& part, Elements y,
                                         std::span<const Plane> outputs) {
    std::vector<Plane> planes;
    auto* scratch = reinterpret_cast<float*>(scratch_.data());
    for (const int feature : feature_of_) {
        if (feature >= 0) {
            const Plane& output = outputs[static_cast<std::size_t>(feature)];
            planes.push_back({output.first + y * output.stride, output.stride});
        } else {
            planes.push_back({scratch, part.width});
            scratch += part.elements();
        }
    }
    return planes;
}

/// Computes one row of a feature that is not just a derivative.
void FilterBank::make_row(std::size_t feature, std::span<const Plane> planes, Elements row,
                          const Plane& output, Elements width) const {
    std::array<const float*, most_needed> from{};
    const std::vector<std::size_t>& takes = takes_[feature];
    for (std::size_t i = 0; i < takes.size(); ++i)
        from[i] = planes[takes[i]].first + row * planes[takes[i]].stride;
    features_[feature].make({from.data(), takes.size()}, output.first + row * output.stride, width);
}

void FilterBank::apply(const SampleView& input, const Tile& tile, std::span<const Plane> outputs,
                       const std::function<void()>& progress) {
    if (outputs.size() != features_.size())
        throw InvalidTask(fmt::format("{} planes for {} features, expected one per feature",
                                      outputs.size(), features_.size()));
    const bool makes = std::any_of(features_.begin(), features_.end(),
                                   [](const Feature& feature) { return feature.make; });
    const Elements band = makes ? rows_of_a_band(reach_y()) : std::max<Elements>(1, tile.height);
    const auto kept = static_cast<Elements>(std::count(feature_of_.begin(), feature_of_.end(), -1));
    const Bytes scratch = kept * std::min(band, tile.height) * tile.width;
    if (scratch_.size() < scratch * static_cast<Bytes>(sizeof(float)))
        scratch_ = Memory(scratch * static_cast<Bytes>(sizeof(float)));
    for (Elements y = 0; y < tile.height; y += band) {
        const Tile part{tile.x, tile.y + y, tile.width, std::min(band, tile.height - y)};
        const std::vector<Plane> planes = planes_of(part, y, outputs);
        derivatives_.apply(input, part, planes, progress);
        for (std::size_t f = 0; f < features_.size(); ++f) {
            const Plane output{outputs[f].first + y * outputs[f].stride, outputs[f].stride};
            for (Elements row = 0; features_[f].make && row < part.height; ++row)
                make_row(f, planes, row, output, part.width);
        }
    }
}

} // namespace sextant::kernel
