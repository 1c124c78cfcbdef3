// SPDX-License-Identifier: BSD-3-Clause

#include "tests/support/label_references.hpp"

#include "sextant/core/error.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numbers>

#include <fmt/format.h>

namespace sextant::kernel {

namespace {

using Bytes8 = std::vector<std::uint8_t>;

class Detector {
  public:
    Detector(const GradientView& gradient, EdgeThresholds thresholds)
        : gradient_(gradient), image_(gradient.image), thresholds_(thresholds) {}

    Edges run() {
        Edges edges;
        edges.maxima = each([this](Elements x, Elements y) { return class_of(x, y); });
        edges.kept = kept(edges.maxima);
        edges.thinned = thinned(edges.kept);
        for (Elements y = 0; y < image_.height; ++y) {
            for (Elements x = 0; x < image_.width; ++x)
                edges.directions.push_back(direction(edges.thinned, x, y));
        }
        return edges;
    }

  private:
    std::size_t at(Elements x, Elements y) const {
        return static_cast<std::size_t>(y * image_.width + x);
    }
    bool inside(Elements x, Elements y) const {
        return x >= 0 && x < image_.width && y >= 0 && y < image_.height;
    }
    template <class Make>
    Bytes8 each(Make&& make) const {
        Bytes8 made;
        for (Elements y = 0; y < image_.height; ++y) {
            for (Elements x = 0; x < image_.width; ++x)
                made.push_back(make(x, y));
        }
        return made;
    }

    float gradient_x(Elements x, Elements y) const { return gradient_.x[y * gradient_.stride + x]; }
    float gradient_y(Elements x, Elements y) const { return gradient_.y[y * gradient_.stride + x]; }
    /// Gradient magnitude; zero outside the image.
    float length(Elements x, Elements y) const {
        if (!inside(x, y))
            return 0;
        int exponent = 0; // scaled, so that squares neither overflow nor underflow
        std::frexp(std::max(std::abs(gradient_x(x, y)), std::abs(gradient_y(x, y))), &exponent);
        const float a = std::ldexp(gradient_x(x, y), -exponent);
        const float b = std::ldexp(gradient_y(x, y), -exponent);
        return std::ldexp(std::sqrt(a * a + b * b), exponent);
    }

    std::uint8_t heading(Elements x, Elements y) const {
        const float a = gradient_x(x, y), b = gradient_y(x, y);
        const bool beside = std::abs(b) <= tangent_of_near * std::abs(a);
        const bool upright = std::abs(a) <= tangent_of_near * std::abs(b);
        return static_cast<std::uint8_t>((a < 0 ? heading_left : 0) | (b < 0 ? heading_up : 0) |
                                         (std::abs(b) <= std::abs(a) ? heading_flat : 0) |
                                         (beside || upright ? heading_near : 0));
    }

    /// The step from a pixel to one of its two neighbours along the gradient.
    static Step along(std::uint8_t heading) {
        if ((heading & heading_near) != 0)
            return (heading & heading_flat) != 0 ? Step{1, 0} : Step{0, 1};
        const bool left = (heading & heading_left) != 0, up = (heading & heading_up) != 0;
        return {left == up ? 1 : -1, 1};
    }

    std::uint8_t class_of(Elements x, Elements y) const {
        const std::uint8_t towards = heading(x, y);
        const Step step = along(towards);
        const float here = length(x, y);
        const bool peak =
            here > length(x - step.x, y - step.y) && here >= length(x + step.x, y + step.y);
        const auto exceeds = [here](double threshold) {
            return here >= static_cast<float>(threshold);
        };
        if (!peak || !exceeds(thresholds_.low))
            return not_edge;
        return towards | (exceeds(thresholds_.high) ? strong_edge : weak_edge);
    }

    template <class Body>
    void each_neighbour(Elements x, Elements y, Body&& body) const {
        for (const Step step : steps) {
            if (inside(x + step.x, y + step.y))
                body(x + step.x, y + step.y);
        }
    }

    /// The points connected to a strong point, found by flood fill.
    Bytes8 kept(const Bytes8& maxima) const {
        Bytes8 found(maxima.size(), 0);
        std::vector<Elements> waiting;
        const auto take = [&](Elements x, Elements y) {
            found[at(x, y)] = (maxima[at(x, y)] & ~edge_class_bits) | weak_edge;
            waiting.push_back(y * image_.width + x);
        };
        for (Elements pixel = 0; pixel < image_.elements(); ++pixel) {
            if (edge_class(maxima[static_cast<std::size_t>(pixel)]) == strong_edge)
                take(pixel % image_.width, pixel / image_.width);
        }
        while (!waiting.empty()) {
            const Elements pixel = waiting.back();
            waiting.pop_back();
            each_neighbour(pixel % image_.width, pixel / image_.width, [&](Elements x, Elements y) {
                if (maxima[at(x, y)] != not_edge && found[at(x, y)] == 0)
                    take(x, y);
            });
        }
        return found;
    }

    /// True if an edge point can be removed: it has several neighbours, and these are connected
    /// around it. A corner pixel connects the adjacent sides, but does not separate them.
    bool can_be_missed(const Bytes8& edges, Elements x, Elements y) const {
        const auto edge = [&](int code) {
            const Step step = steps[code % 8];
            return inside(x + step.x, y + step.y) && edges[at(x + step.x, y + step.y)] != 0;
        };
        int count = 0, begins = 0;
        for (int code = 0; code < 8; ++code)
            count += edge(code) ? 1 : 0;
        for (int side = 0; side < 8; side += 2)
            begins += !edge(side) && (edge(side + 1) || edge(side + 2)) ? 1 : 0;
        return count > 1 && begins == 1;
    }

    Bytes8 thinned(Bytes8 edges) const {
        bool changed = true;
        while (changed) {
            changed = false;
            for (int pass = 0; pass < 4; ++pass) {
                const Bytes8 before = edges;
                for (Elements y = pass / 2; y < image_.height; y += 2) {
                    for (Elements x = pass % 2; x < image_.width; x += 2) {
                        if (before[at(x, y)] == 0 || !can_be_missed(before, x, y))
                            continue;
                        edges[at(x, y)] = 0;
                        changed = true;
                    }
                }
            }
        }
        return edges;
    }

    Direction direction(const Bytes8& edges, Elements x, Elements y) const {
        if (edges[at(x, y)] == 0)
            return no_edge;
        // The edge is perpendicular to the gradient, which is rounded to the centre of its
        // sixteenth of a circle.
        const std::uint8_t towards = edges[at(x, y)];
        const double off = std::numbers::pi / ((towards & heading_near) != 0 ? 16 : 16. / 3);
        const bool flat = (towards & heading_flat) != 0;
        const double width = flat ? std::cos(off) : std::sin(off);
        const double height = flat ? std::sin(off) : std::cos(off);
        const double to_x = (towards & heading_up) != 0 ? height : -height;
        const double to_y = (towards & heading_left) != 0 ? -width : width;
        Direction nearest = edge_end;
        double best = 0;
        for (Direction code = 0; code < 8; ++code) {
            const Step step = steps[code];
            if (!inside(x + step.x, y + step.y) || edges[at(x + step.x, y + step.y)] == 0)
                continue;
            const double along = to_x * step.x + to_y * step.y;
            const double cosine = along * (code % 2 == 0 ? 1 : .70710678);
            if (cosine > best) {
                best = cosine;
                nearest = code;
            }
        }
        return nearest;
    }

    const GradientView& gradient_;
    const ImageShape image_;
    const EdgeThresholds thresholds_;
};

} // namespace

Edges canny_reference(const GradientView& gradient, EdgeThresholds thresholds) {
    require_thresholds(thresholds);
    return Detector(gradient, thresholds).run();
}

namespace {

struct Pixel {
    Elements x, y; ///< in the tile
};

/// Flood fill of the components of a tile, one by one.
class Flood {
  public:
    Flood(const ValueView& input, Connection connection)
        : input_(input),
          connection_(connection),
          made_{std::vector<Label>(static_cast<std::size_t>(input.tile.elements())), {}} {}

    Labelling run() {
        for (Elements y = 0; y < input_.tile.height; ++y) {
            for (Elements x = 0; x < input_.tile.width; ++x) {
                if (!is_background({x, y}) && label({x, y}) == 0)
                    flood_from({x, y});
            }
        }
        return std::move(made_);
    }

  private:
    void flood_from(Pixel first) {
        made_.components.emplace_back();
        std::vector<Pixel> waiting;
        const auto take = [&](Pixel pixel) {
            label(pixel) = static_cast<Label>(made_.components.size());
            waiting.push_back(pixel);
        };
        take(first);
        while (!waiting.empty()) {
            const Pixel pixel = waiting.back();
            waiting.pop_back();
            count(pixel);
            for (Elements dy = -1; dy <= 1; ++dy) {
                for (Elements dx = -1; dx <= 1; ++dx) {
                    const Pixel next{pixel.x + dx, pixel.y + dy};
                    if (touch(dx, dy) && inside(next) && label(next) == 0 && belong(pixel, next))
                        take(next);
                }
            }
        }
    }

    void count(Pixel pixel) {
        const Elements x = input_.tile.x + pixel.x, y = input_.tile.y + pixel.y;
        RegionSize& component = made_.components.back();
        if (component.voxels++ == 0) {
            component.first = y * input_.image.width + x;
            component.low = component.high = {0, y, x};
        }
        component.low = {0, std::min(component.low[1], y), std::min(component.low[2], x)};
        component.high = {0, std::max(component.high[1], y), std::max(component.high[2], x)};
        component.sums[1] += y;
        component.sums[2] += x;
    }

    bool touch(Elements dx, Elements dy) const {
        const Elements steps = std::abs(dx) + std::abs(dy);
        return steps == 1 || (steps == 2 && connection_.neighbours == Neighbours::eight);
    }
    bool inside(Pixel p) const {
        return p.x >= 0 && p.x < input_.tile.width && p.y >= 0 && p.y < input_.tile.height;
    }
    bool belong(Pixel a, Pixel b) const {
        return !is_background(b) && (connection_.sameness == Sameness::foreground || equal(a, b));
    }
    bool is_background(Pixel p) const {
        return std::visit([&](const auto* first) { return first[at(p)] == 0; }, input_.first);
    }
    bool equal(Pixel a, Pixel b) const {
        return std::visit([&](const auto* first) { return first[at(a)] == first[at(b)]; },
                          input_.first);
    }
    Elements at(Pixel p) const { return p.y * input_.stride + p.x; }
    Label& label(Pixel p) {
        return made_.labels[static_cast<std::size_t>(p.y * input_.tile.width + p.x)];
    }

    const ValueView input_;
    const Connection connection_;
    Labelling made_;
};

} // namespace

Labelling labels_reference(const ValueView& input, Connection connection) {
    return Flood(input, connection).run();
}

namespace {

class Walk {
  public:
    explicit Walk(const DirectionView& input)
        : input_(input),
          before_(static_cast<std::size_t>(input.image.elements()), none),
          links_(before_),
          ranked_(before_.size()) {}

    std::vector<Ranked> run() {
        each_point([&](Elements pixel) { choose_predecessor(pixel); });
        each_point([&](Elements pixel) {
            if (before_[at(pixel)] != none)
                links_[at(before_[at(pixel)])] = pixel;
        });
        each_point([&](Elements pixel) {
            if (links_[at(pixel)] == none)
                walk_from(pixel);
        });
        each_point([&](Elements pixel) { // the remaining points are on closed contours
            if (ranked_[at(pixel)].rank < 0)
                walk_from(pixel);
        });
        return std::move(ranked_);
    }

  private:
    static constexpr Elements none = -1;

    static std::size_t at(Elements pixel) { return static_cast<std::size_t>(pixel); }

    template <class Body>
    void each_point(Body&& body) {
        for (Elements pixel = 0; pixel < input_.image.elements(); ++pixel) {
            if (direction(pixel) != no_edge)
                body(pixel);
        }
    }

    Direction direction(Elements pixel) const {
        const Elements width = input_.image.width;
        return input_.first[pixel / width * input_.stride + pixel % width];
    }

    /// The pixel to which the direction of `pixel` leads, or `none`.
    Elements next(Elements pixel) const {
        const Direction code = direction(pixel);
        if (code < 0)
            return none;
        const auto [width, height] = input_.image;
        const Elements x = pixel % width + steps[code].x, y = pixel / width + steps[code].y;
        if (x < 0 || x >= width || y < 0 || y >= height || direction(y * width + x) == no_edge)
            throw InvalidTask(fmt::format("direction {} at ({}, {}) leads to no edge point", code,
                                          pixel % width, pixel / width));
        return y * width + x;
    }

    /// Makes a point the predecessor of its successor unless another one has a lower direction.
    void choose_predecessor(Elements pixel) {
        const Elements follower = next(pixel);
        if (follower == none)
            return;
        Elements& before = before_[at(follower)];
        if (before == none || direction(pixel) < direction(before))
            before = pixel;
    }

    void walk_from(Elements head) {
        Elements rank = 0;
        for (Elements pixel = head; pixel != none && ranked_[at(pixel)].rank < 0;
             pixel = before_[at(pixel)])
            ranked_[at(pixel)] = {head, rank++};
    }

    const DirectionView& input_;
    std::vector<Elements> before_, links_;
    std::vector<Ranked> ranked_;
};

} // namespace

std::vector<Ranked> contours_reference(const DirectionView& input) {
    return Walk(input).run();
}

} // namespace sextant::kernel
