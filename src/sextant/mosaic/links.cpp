// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/mosaic/links.hpp"

#include "sextant/registration/pair/family_fit.hpp"
#include "sextant/registration/pair/pyramid.hpp"
#include "sextant/registration/pair/rigid.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sextant::mosaic {

namespace {

using registration::FamilyResult;
using registration::Pyramid;

/// The least side of an overlap that can be registered, in pixels.
constexpr Elements least_side = 16;

/// The part of two tiles that overlaps, along an axis.
struct Part {
    Elements a = 0, b = 0, length = 0; ///< first position in each tile, and length
};

/// Returns the overlap of two tiles of length `tile`, the second of which is `offset` pixels after
/// the first. If the overlap is shorter than `least`, returns parts of that length at the edges.
Part part_of(Elements tile, Elements offset, Elements least) {
    const Elements shared = tile - std::abs(offset);
    const Elements length = std::clamp(shared, std::min(least, tile), tile);
    const Elements last = tile - length;
    return {offset > 0 ? last : 0, offset > 0 ? 0 : last, length};
}

} // namespace

std::vector<Neighbours> neighbours_of(std::span<const Point> positions, ImageShape tile,
                                      Elements least) {
    const auto width = static_cast<double>(tile.width - least);
    const auto height = static_cast<double>(tile.height - least);
    std::vector<int> order(positions.size());
    std::iota(order.begin(), order.end(), 0);
    const auto x = [&](int i) { return positions[static_cast<std::size_t>(i)].x; };
    std::stable_sort(order.begin(), order.end(), [&](int i, int j) { return x(i) < x(j); });
    std::vector<Neighbours> pairs;
    for (std::size_t i = 0; i < order.size(); ++i) {
        for (std::size_t j = i + 1; j < order.size() && x(order[j]) - x(order[i]) <= width; ++j) {
            const int a = std::min(order[i], order[j]), b = std::max(order[i], order[j]);
            const Point expected =
                positions[static_cast<std::size_t>(b)] - positions[static_cast<std::size_t>(a)];
            if (std::abs(expected.y) <= height)
                pairs.push_back({a, b, expected});
        }
    }
    std::sort(pairs.begin(), pairs.end(), [](const Neighbours& p, const Neighbours& q) {
        return std::pair(p.b, p.a) < std::pair(q.b, q.a);
    });
    return pairs;
}

/// The overlapping parts of two tiles.
struct PairLinker::Strips {
    ImageShape shape;
    Point between; ///< the offset of the tiles if the strips coincide
};

struct PairLinker::Search {
    explicit Search(ImageShape shape, double prefilter)
        : a(shape, 0, prefilter),
          b(shape, 0, prefilter),
          registration(shape, a.levels(), {.most_rotation = 0}),
          fit(shape) {}

    Pyramid a, b;
    registration::RigidRegistration registration;
    registration::FamilyFit fit;
};

PairLinker::PairLinker(ImageShape tile, double prefilter) : tile_(tile), prefilter_(prefilter) {}
PairLinker::PairLinker(PairLinker&&) noexcept = default;
PairLinker::~PairLinker() = default;

PairLinker::Strips PairLinker::cut(const Neighbours& pair, ImageShape least,
                                   std::span<const float> a, std::span<const float> b) {
    const Part x = part_of(tile_.width, std::llround(pair.expected.x), least.width);
    const Part y = part_of(tile_.height, std::llround(pair.expected.y), least.height);
    const ImageShape shape{x.length, y.length};
    const auto copy = [&](std::span<const float> from, Elements left, Elements top,
                          std::vector<float>& to) {
        to.resize(static_cast<std::size_t>(shape.elements()));
        for (Elements row = 0; row < shape.height; ++row) {
            const float* const begin = from.data() + (top + row) * tile_.width + left;
            std::copy_n(begin, shape.width, to.data() + row * shape.width);
        }
    };
    copy(a, x.a, y.a, samples_[0]);
    copy(b, x.b, y.b, samples_[1]);
    if (!search_ || search_->a.shape() != shape)
        search_ = std::make_unique<Search>(shape, prefilter_);
    search_->a.fill(registration::view_of(samples_[0], shape));
    search_->b.fill(registration::view_of(samples_[1], shape));
    return {shape, {static_cast<double>(x.a - x.b), static_cast<double>(y.a - y.b)}};
}

Link PairLinker::search(const Neighbours& pair, std::span<const float> a,
                        std::span<const float> b) {
    Link link{.offset = {pair.a, pair.b, pair.expected, {}}};
    try {
        const Strips strips = cut(pair, {least_side, least_side}, a, b);
        const registration::RigidResult found =
            search_->registration.locate(search_->a, search_->b);
        link.lead = found.lead.value_or(0);
        link.ncc = found.ncc_after;
        link.pixels = strips.shape.elements();
        link.state = found.unrelated   ? LinkState::unrelated
                     : found.ambiguous ? LinkState::ambiguous
                                       : LinkState::found;
        if (found.unrelated)
            return link;
        link.offset.offset = strips.between - Point{found.motion.tx, found.motion.ty};
    } catch (const registration::UnusableFrame&) {
        return link;
    }
    const Link fitted = refine({pair.a, pair.b, link.offset.offset}, a, b);
    if (fitted.state != LinkState::found) {
        link.state = fitted.state;
        return link;
    }
    const LinkState state = link.state;
    const double lead = link.lead;
    link = fitted;
    link.state = state;
    link.lead = lead;
    return link;
}

Link PairLinker::refine(const Neighbours& pair, std::span<const float> a,
                        std::span<const float> b) {
    Link link{.offset = {pair.a, pair.b, pair.expected, {}}};
    const auto shared = [](Elements tile, double offset) {
        return tile - std::abs(std::llround(offset));
    };
    if (std::min(shared(tile_.width, pair.expected.x), shared(tile_.height, pair.expected.y)) <
        least_side) {
        link.state = LinkState::thin;
        return link;
    }
    try {
        const Strips strips = cut(pair, {}, a, b);
        return fit(link, strips, strips.between - pair.expected);
    } catch (const registration::UnusableFrame&) {
        return link;
    }
}

Link PairLinker::fit(Link link, const Strips& strips, Point start) {
    registration::AffineMotion motion;
    motion.tx = start.x, motion.ty = start.y;
    const FamilyResult result =
        search_->fit.fit(search_->a, search_->b, motion, registration::MotionFamily::translation);
    link.ncc = result.ncc;
    link.pixels =
        static_cast<Elements>(result.overlap * static_cast<double>(strips.shape.elements()));
    if (search_->a.mean() > 0 && search_->b.mean() > 0)
        link.level = search_->b.mean() / search_->a.mean();
    const Symmetric covariance{result.covariance[0], result.covariance[1],
                               result.covariance[registration::affine_parameters + 1]};
    const bool known = std::isfinite(covariance.xx) && std::isfinite(covariance.yy) &&
                       covariance.xx > 0 && covariance.determinant() > 0;
    const double least = registration::ncc_of_noise(static_cast<double>(link.pixels), prefilter_);
    link.state =
        known && result.converged && result.ncc > least ? LinkState::found : LinkState::unrelated;
    if (link.state == LinkState::found) {
        link.offset.offset = strips.between - Point{result.motion.tx, result.motion.ty};
        link.offset.covariance = covariance;
        link.model = {result.model_covariance[0], result.model_covariance[1],
                      result.model_covariance[3]};
    }
    return link;
}

} // namespace sextant::mosaic
