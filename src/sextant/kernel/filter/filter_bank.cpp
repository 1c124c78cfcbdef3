// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/filter/filter_bank.hpp"

#include "sextant/core/error.hpp"
#include "sextant/core/text.hpp"
#include "sextant/kernel/filter/gaussian_weights.hpp"
#include "sextant/kernel/filter/line_vectors.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace sextant::kernel {

namespace {

using Derivatives = std::span<const float* const>;

void gradient_magnitude(Derivatives d, float* const* to, Elements count) {
    lengths(d[0], d[1], count, to[0]);
    if (d.size() > 2)
        lengths(to[0], d[2], count, to[0]);
}

void laplacian(Derivatives d, float* const* to, Elements count) {
    for (Elements i = 0; i < count; ++i)
        to[0][i] = d[0][i] + d[1][i];
    for (Elements i = 0; i < count && d.size() > 2; ++i)
        to[0][i] += d[2][i];
}

struct Row {
    std::string name;
    std::vector<Derivative> needs;
    void (*make)(Derivatives, float* const*, Elements) = nullptr;
    std::size_t part = 0;
};

std::vector<Row> rows_of(std::size_t axes) {
    std::vector<Derivative> first, squares, second;
    for (std::size_t a = 0; a < axes; ++a) {
        const auto along = [](std::size_t one, std::size_t other) {
            const auto order = [&](std::size_t axis) { return (one == axis) + (other == axis); };
            return Derivative{order(0), order(1), order(2)};
        };
        first.push_back(along(a, 3)); // once along one axis
        squares.push_back(along(a, a));
        for (std::size_t b = a; b < axes; ++b)
            second.push_back(along(a, b));
    }
    std::vector<Row> rows = {{"smooth", {Derivative{}}},
                             {"gradient-magnitude", first, gradient_magnitude},
                             {"laplacian", squares, laplacian}};
    for (std::size_t part = 0; part < axes; ++part)
        rows.push_back({fmt::format("hessian-{}", part + 1), second, eigenvalues, part});
    for (std::size_t part = 0; part < axes; ++part)
        rows.push_back({fmt::format("structure-{}@S", part + 1), {}, nullptr, part});
    return rows;
}

const std::vector<Row>& rows(Dimensions dimensions) {
    static const std::vector<Row> of_images = rows_of(2), of_volumes = rows_of(3);
    return dimensions == Dimensions::two ? of_images : of_volumes;
}

bool is_derivative(std::string_view name, Dimensions dimensions) {
    const std::string_view axes = dimensions == Dimensions::two ? "xy" : "xyz";
    return !name.empty() && name.find_first_not_of(axes) == std::string_view::npos;
}

/// The number after the @ of a name.
double integration_in(std::string_view name) {
    const std::size_t at = std::min(name.find('@'), name.size() - 1);
    const auto scale = parsed_number<double>(name.substr(at + 1));
    if (!scale || !(*scale >= smallest_sigma && *scale <= largest_sigma))
        throw InvalidTask(fmt::format("derivative {}: expected an integration scale from {} to {} "
                                      "after @, such as {}@3",
                                      name, smallest_sigma, largest_sigma,
                                      name.substr(0, name.find('@'))));
    return *scale;
}

} // namespace

Scales in_proportion(const Scales& sigma, double scale) {
    return {scale, scale * (sigma.y / sigma.x), scale * (sigma.z / sigma.x)};
}

std::string wrong_scale(const Scales& scales, Dimensions dimensions, double least) {
    const std::pair<char, double> axes[] = {{'x', scales.x}, {'y', scales.y}, {'z', scales.z}};
    for (const auto& [axis, scale] : std::span(axes).first(static_cast<std::size_t>(dimensions))) {
        if (!(scale >= least && scale <= largest_sigma))
            return fmt::format("the scale along {} is {:.6g} pixels, expected {} to {}", axis,
                               scale, least, largest_sigma);
    }
    return "";
}

Feature find_feature(std::string_view name, Dimensions dimensions) {
    if (is_derivative(name, dimensions)) {
        const auto order = [&](char axis) {
            const auto found = static_cast<int>(std::count(name.begin(), name.end(), axis));
            if (found > highest_order)
                throw InvalidTask(
                    fmt::format("derivative {}: expected an order of at most {} along each axis",
                                name, highest_order));
            return found;
        };
        return {std::string(name), {{order('x'), order('y'), order('z')}}, nullptr};
    }
    std::vector<std::string_view> names = {"x", "y", "xx", "xy", "yy"};
    if (dimensions == Dimensions::three)
        names.insert(names.end(), {"z", "xz", "yz", "zz"});
    for (const Row& row : rows(dimensions)) {
        if (row.needs.empty() && fmt::format("{}@S", name.substr(0, name.find('@'))) == row.name)
            return {std::string(name), {}, nullptr, row.part, integration_in(name)};
        if (row.name == name && !row.needs.empty())
            return {std::string(name), row.needs, row.make, row.part};
        names.push_back(row.name);
    }
    throw InvalidTask(unknown_name("derivative", name, names));
}

namespace {

std::vector<Feature> found(const std::vector<std::string>& names, Dimensions dimensions) {
    if (names.empty())
        throw InvalidTask("no Gaussian derivative: expected one or more");
    std::vector<Feature> features;
    for (const std::string& name : names) {
        const Feature feature = find_feature(name, dimensions);
        for (const Feature& other : features) {
            const auto same = [&](auto... members) {
                return ((feature.*members == other.*members) && ...);
            };
            if (same(&Feature::needs, &Feature::make, &Feature::part, &Feature::integration))
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
            if (std::find(all.begin(), all.end(), one) == all.end())
                all.push_back(one);
        }
    }
    return all;
}

/// Throws InvalidTask if the size of a pixel could make derivatives too large or too small for
/// floats.
void check_units(const std::vector<Derivative>& derivatives, const Scales& pixel) {
    for (const auto& [x, y, z] : derivatives) {
        constexpr double most = 1e30;
        const double unit = std::pow(pixel.x, x) * std::pow(pixel.y, y) * std::pow(pixel.z, z);
        if (!(unit >= 1 / most && unit <= most))
            throw InvalidTask(fmt::format("pixels of {:.3g} x {:.3g} x {:.3g} units: a derivative "
                                          "of orders {}, {}, {} along x, y, z has a factor of "
                                          "{:.3g}, expected {:g} to {:g}",
                                          pixel.x, pixel.y, pixel.z, x, y, z, 1 / unit, 1 / most,
                                          most));
    }
}

/// Throws InvalidTask if a feature is differentiated along an axis whose scale is too small.
void check_scales(const std::vector<Feature>& features, const Scales& sigma) {
    for (const Feature& feature : features) {
        for (const auto& [x, y, z] : feature.needs) {
            const Scales differentiated(x ? sigma.x : largest_sigma, y ? sigma.y : largest_sigma,
                                        z ? sigma.z : largest_sigma);
            const std::string wrong =
                wrong_scale(differentiated, Dimensions::three, smallest_sigma);
            if (!wrong.empty())
                throw InvalidTask(fmt::format("derivative {}: {}", feature.name, wrong));
        }
    }
}

constexpr std::size_t most_needed = 8; ///< maximum number of derivatives per feature
constexpr std::size_t most_made = 3;   ///< maximum number of features that are made together

/// The number of rows in a band if intermediate derivatives are stored: large enough that filtering
/// the rows around each band again costs little.
Elements rows_of_a_band(int reach) {
    return std::max<Elements>(256, 8 * Elements{reach});
}

} // namespace

FilterBank::FilterBank(const Scales& sigma, const std::vector<std::string>& names, BorderRule rule,
                       const GaussianKernel& kernel, Dimensions dimensions, const Scales& pixel)
    : features_(found(names, dimensions)),
      needed_(needed_by(features_)),
      feature_of_(needed_.size(), -1),
      takes_(features_.size()) {
    check_units(needed_, pixel);
    check_scales(features_, sigma);
    if (!needed_.empty() && dimensions == Dimensions::two)
        image_.emplace(sigma, needed_, rule, kernel, 0, pixel);
    else if (!needed_.empty())
        volume_.emplace(sigma, needed_, rule, kernel, pixel);
    add_structure(dimensions == Dimensions::two ? Scales(sigma.x, sigma.y) : sigma, rule, kernel,
                  dimensions, pixel);
    set_reach();
    for (std::size_t f = 0; f < features_.size(); ++f) {
        const auto same_make = [&](const Feature& other) {
            return other.make && other.make == features_[f].make;
        };
        leads_.push_back(features_[f].make &&
                         std::find_if(features_.begin(), features_.end(), same_make) ==
                             features_.begin() + static_cast<std::ptrdiff_t>(f));
        for (const Derivative& one : features_[f].needs) {
            const auto at = std::find(needed_.begin(), needed_.end(), one);
            const auto d = static_cast<std::size_t>(at - needed_.begin());
            if (features_[f].make)
                takes_[f].push_back(d);
            else
                feature_of_[d] = static_cast<int>(f);
        }
    }
}

void FilterBank::add_structure(const Scales& sigma, BorderRule rule, const GaussianKernel& kernel,
                               Dimensions dimensions, const Scales& pixel) {
    for (const Feature& feature : features_) {
        const double scale = feature.integration;
        const auto has = [&](const Structure& one) { return one.integration == scale; };
        if (scale == 0 || std::any_of(structures_.begin(), structures_.end(), has))
            continue;
        const Scales integration = in_proportion(sigma, scale);
        for (const Scales& scales : {sigma, integration}) {
            const std::string wrong = wrong_scale(scales, dimensions, smallest_sigma);
            if (!wrong.empty())
                throw InvalidTask(fmt::format("derivative {}: {}", feature.name, wrong));
        }
        structures_.push_back({scale, StructureTensor(sigma, integration, rule, kernel, pixel)});
    }
}

void FilterBank::set_reach() {
    if (image_)
        reach_ = {image_->reach_x(), image_->reach_y(), 0};
    if (volume_)
        reach_ = {volume_->reach_x(), volume_->reach_y(), volume_->reach_z()};
    for (const auto& [integration, tensor] : structures_)
        reach_ = {std::max(reach_[0], tensor.reach_x()), std::max(reach_[1], tensor.reach_y()),
                  std::max(reach_[2], tensor.reach_z())};
}

int FilterBank::multiply_adds() const {
    int all = image_ ? image_->multiply_adds() : 0;
    all += volume_ ? volume_->multiply_adds() : 0;
    for (const auto& [integration, tensor] : structures_)
        all += tensor.multiply_adds();
    const auto features = static_cast<int>(features_.size());
    return (all + features - 1) / features;
}

/// The number of derivatives that are kept in internal memory.
Elements FilterBank::kept() const {
    return std::count(feature_of_.begin(), feature_of_.end(), -1);
}

ImageShape FilterBank::block_of(const Tile& box) const {
    ImageShape block = volume_ ? volume_->block_shape() : ImageShape{};
    for (const auto& [integration, tensor] : structures_) {
        const ImageShape other = tensor.block_shape();
        block = {std::max(block.width, other.width), std::max(block.height, other.height)};
    }
    return {std::min(block.width, box.width), std::min(block.height, box.height)};
}

Bytes FilterBank::memory(const Tile& box, ImageShape image, Elements depth) const {
    const ImageShape block = block_of(box);
    Bytes bytes = kept() * block.elements() * static_cast<Bytes>(sizeof(float));
    bytes += volume_ ? volume_->memory(block, image, depth) : 0;
    for (const auto& [integration, tensor] : structures_)
        bytes += tensor.memory(block, image, depth);
    return bytes;
}

/// The destinations of the derivatives for a part of a tile.
std::vector<Plane> FilterBank::planes_of(const Tile& part, const Outputs& outputs) {
    std::vector<Plane> planes;
    auto* scratch = reinterpret_cast<float*>(scratch_.data());
    for (const int feature : feature_of_) {
        if (feature >= 0) {
            planes.push_back(outputs[static_cast<std::size_t>(feature)]);
        } else {
            planes.push_back({scratch, part.width});
            scratch += part.width * part.height;
        }
    }
    return planes;
}

/// Computes one row of a feature that has a `make` function, and of the features that are made
/// together with it.
void FilterBank::make_row(std::size_t feature, std::span<const Plane> planes, Elements row,
                          const Outputs& outputs, Elements width) const {
    std::array<const float*, most_needed> from{};
    const std::vector<std::size_t>& takes = takes_[feature];
    for (std::size_t i = 0; i < takes.size(); ++i)
        from[i] = planes[takes[i]].first + row * planes[takes[i]].stride;
    std::array<float*, most_made> to{};
    for (std::size_t f = feature; f < features_.size(); ++f) {
        if (features_[f].make == features_[feature].make)
            to[features_[f].part] = outputs[f].first + row * outputs[f].stride;
    }
    features_[feature].make({from.data(), takes.size()}, to.data(), width);
}

void FilterBank::make_rows(std::span<const Plane> planes, const Outputs& outputs,
                           const Tile& part) const {
    for (std::size_t f = 0; f < features_.size(); ++f) {
        for (Elements row = 0; leads_[f] && row < part.height; ++row)
            make_row(f, planes, row, outputs, part.width);
    }
}

void FilterBank::grow_scratch(Elements elements) {
    const Bytes bytes = elements * static_cast<Bytes>(sizeof(float));
    if (scratch_.size() < bytes)
        scratch_ = Memory(bytes);
}

void FilterBank::apply(const SampleView& input, const Tile& tile, std::span<const Plane> outputs,
                       const std::function<void()>& progress) {
    const auto planes = static_cast<std::size_t>(tile.depth);
    if (outputs.size() != features_.size() * planes)
        throw InvalidTask(fmt::format("{} planes for {} features, expected {} per feature",
                                      outputs.size(), features_.size(),
                                      planes == 1 ? "one" : fmt::to_string(planes)));
    if (image_)
        apply_image(input, tile, outputs, progress);
    if (volume_ || !structures_.empty())
        apply_blocks(input, tile, outputs, progress);
}

void FilterBank::apply_image(const SampleView& input, const Tile& tile,
                             std::span<const Plane> outputs,
                             const std::function<void()>& progress) {
    const bool makes = std::find(leads_.begin(), leads_.end(), true) != leads_.end();
    const Elements band = makes ? rows_of_a_band(reach_y()) : std::max<Elements>(1, tile.height);
    grow_scratch(kept() * std::min(band, tile.height) * tile.width);
    for (Elements y = 0; y < tile.height; y += band) {
        const Tile part{tile.x, tile.y + y, tile.width, std::min(band, tile.height - y)};
        Outputs of_part(outputs.begin(), outputs.end());
        for (Plane& output : of_part)
            output.first += y * output.stride;
        const std::vector<Plane> planes = planes_of(part, of_part);
        image_->apply(input, part, planes, progress);
        make_rows(planes, of_part, part);
    }
}

namespace {

/// Throws InvalidTask unless the samples contain all that are needed for a box of a volume.
void check_samples(const SampleView& input, const Tile& box, const Tile& needed) {
    const auto text = [](const Tile& t) {
        return fmt::format("{}x{}x{} voxels at ({}, {}, {})", t.width, t.height, t.depth, t.x, t.y,
                           t.z);
    };
    const Tile whole{0, 0, input.image.width, input.image.height, 0, input.depth};
    const SampleView all{input.first, 0, whole, input.image};
    if (!hold({&all, 1}, box))
        throw InvalidTask(fmt::format("features are requested for {}, expected a box within {}",
                                      text(box), text(whole)));
    if (!hold({&input, 1}, needed))
        throw InvalidTask(fmt::format("features for {} require {}, got {}", text(box), text(needed),
                                      text(input.tile)));
}

} // namespace

Tile FilterBank::reads(const Tile& box, const SampleView& input) const {
    Tile all = box;
    const auto add = [&](const auto& filter) {
        const Tile one = filter.reads(box, input.image, input.depth);
        const auto extend = [](Elements& first, Elements& size, Elements begin, Elements length) {
            const Elements end = std::max(first + size, begin + length);
            first = std::min(first, begin);
            size = end - first;
        };
        extend(all.x, all.width, one.x, one.width);
        extend(all.y, all.height, one.y, one.height);
        extend(all.z, all.depth, one.z, one.depth);
    };
    if (volume_)
        add(*volume_);
    for (const auto& [integration, tensor] : structures_)
        add(tensor);
    return all;
}

void FilterBank::apply_blocks(const SampleView& input, const Tile& box,
                              std::span<const Plane> outputs,
                              const std::function<void()>& progress) {
    if (box.elements() == 0)
        return;
    check_samples(input, box, reads(box, input));
    const VolumeDerivatives::Load load = [&](Elements z, const Tile& rectangle, float* to,
                                             Elements stride) {
        const Elements plane = (z - input.tile.z) * input.next_plane;
        std::visit(
            [&](const auto* first) {
                for (Elements y = 0; y < rectangle.height; ++y)
                    to_floats(first + plane + (rectangle.y + y - input.tile.y) * input.stride +
                                  rectangle.x - input.tile.x,
                              rectangle.width, to + y * stride);
            },
            input.first);
    };
    const ImageShape most = block_of(box);
    grow_scratch(kept() * most.elements());
    for (Elements y = 0; y < box.height; y += most.height) {
        for (Elements x = 0; x < box.width; x += most.width) {
            const Tile block{box.x + x, box.y + y, std::min(most.width, box.width - x),
                             std::min(most.height, box.height - y)};
            if (volume_)
                volume_->begin(block, input.image, input.depth);
            for (auto& [integration, tensor] : structures_)
                tensor.begin(block, input.image, input.depth);
            for (Elements z = 0; z < box.depth; ++z) {
                Outputs of_block;
                for (std::size_t f = 0; f < features_.size(); ++f) {
                    const Plane& output = outputs[f * static_cast<std::size_t>(box.depth) +
                                                  static_cast<std::size_t>(z)];
                    of_block.push_back({output.first + y * output.stride + x, output.stride});
                }
                if (volume_) {
                    const std::vector<Plane> planes = planes_of(block, of_block);
                    volume_->plane(box.z + z, load, planes);
                    make_rows(planes, of_block, block);
                }
                for (auto& [integration, tensor] : structures_) {
                    std::array<Plane, 3> eigenvalues{};
                    for (std::size_t f = 0; f < features_.size(); ++f) {
                        if (features_[f].integration == integration)
                            eigenvalues[features_[f].part] = of_block[f];
                    }
                    tensor.plane(box.z + z, load, eigenvalues);
                }
                if (progress)
                    progress();
            }
        }
    }
}

} // namespace sextant::kernel
