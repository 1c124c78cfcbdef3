// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/edge/canny_reference.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

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
    /// Nothing beyond the image.
    float length(Elements x, Elements y) const {
        if (!inside(x, y))
            return 0;
        int exponent = 0; // squares of what is scaled neither overflow nor vanish
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

    /// The step to the neighbour behind a pixel, row by row, along its gradient.
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

    /// Floods from every strong point.
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

    /// Whether an edge point can be missed: it has several neighbours, and going around it one
    /// meets them in one piece. A corner joins the sides next to it, but does not part them.
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
        // The edge goes at right angles to the middle of its gradient's sixteenth of a turn.
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

} // namespace sextant::kernel
