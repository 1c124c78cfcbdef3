// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/correct/layers.hpp"

#include "sextant/registration/pair/spectrum_products.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>

#include <Eigen/Dense>

namespace sextant::registration {

namespace {

/// The fraction of the window that is tapered. Less taper keeps more of the frame; more taper lets
/// less of the specimen enter and leave at the border.
constexpr double tapered = .3;
/// Frequencies up to this one are used, in radians per pixel, with the weights exp(−(q s)²).
constexpr double highest = 2.4, decay = .5;
/// Minimum of 1 − |a|² at which the layers count as separable.
constexpr float least_determined = .2F;
/// Lower bound of 1 − |a|² in divisions. A larger one would bias displacements.
constexpr float smallest_determined = 1e-3F;
/// The variance of sums over frequencies, relative to that of independent ones; because of the
/// window, neighbouring frequencies correlate.
constexpr double correlated = 1.4;
constexpr int most_steps = 10;
constexpr double stop = .01; ///< pixels

/// Returns the coordinate of the maximum of a parabola through values at −1, 0 and 1.
double vertex(double before, double at, double after) {
    const double curvature = before - 2 * at + after;
    return curvature < 0 ? .5 * (before - after) / curvature : 0;
}

/// A displacement between two frames.
struct Link {
    std::size_t from, to;
    Point shift;
};

/// Returns the displacements of all frames that agree best with the links, in the L1 norm, by
/// reweighted least squares.
std::vector<Point> displacements(std::size_t frames, std::span<const Link> links) {
    constexpr int rounds = 20;
    constexpr double least = .05; // pixels; smaller disagreements weigh equally
    std::vector<Point> shifts(frames);
    std::vector<double> weights(links.size(), 1);
    const auto unknowns = static_cast<Eigen::Index>(frames - 1);
    for (int round = 0; round < rounds; ++round) {
        Eigen::MatrixXd normal = Eigen::MatrixXd::Zero(unknowns, unknowns);
        Eigen::MatrixX2d right = Eigen::MatrixX2d::Zero(unknowns, 2);
        for (std::size_t i = 0; i < links.size(); ++i) {
            const Link& link = links[i];
            const Eigen::RowVector2d shift(link.shift.x, link.shift.y);
            const auto from = static_cast<Eigen::Index>(link.from) - 1,
                       to = static_cast<Eigen::Index>(link.to) - 1;
            normal(to, to) += weights[i];
            right.row(to) += weights[i] * shift;
            if (from < 0)
                continue;
            normal(from, from) += weights[i];
            normal(from, to) -= weights[i];
            normal(to, from) -= weights[i];
            right.row(from) -= weights[i] * shift;
        }
        const Eigen::MatrixX2d solved = normal.ldlt().solve(right);
        for (std::size_t frame = 1; frame < frames; ++frame) {
            const auto row = static_cast<Eigen::Index>(frame) - 1;
            shifts[frame] = {solved(row, 0), solved(row, 1)};
        }
        for (std::size_t i = 0; i < links.size(); ++i) {
            const Point from = shifts[links[i].from], to = shifts[links[i].to];
            weights[i] = 1 / std::max(least, distance(to - from, links[i].shift));
        }
    }
    return shifts;
}

/// Returns a window that is 0 in areas that no image shows, and rises to 1 around them; empty if
/// there are none. The edges of such areas would be a static pattern.
std::vector<float> window_around_gaps(ImageShape shape,
                                      std::span<const std::vector<float>> images) {
    // Next to a gap, filtered pixels are extrapolated.
    constexpr int extrapolated = 8, taper = 16; // pixels
    std::vector<int> from_gap(static_cast<std::size_t>(shape.elements()), extrapolated + taper);
    const auto index = [&](Elements x, Elements y) {
        return static_cast<std::size_t>(y * shape.width + x);
    };
    const auto is_gap = [&](std::size_t pixel) {
        return std::ranges::none_of(
            images, [&](const std::vector<float>& image) { return std::isfinite(image[pixel]); });
    };
    for (Elements y = 1; y + 1 < shape.height; ++y) {
        for (Elements x = 1; x + 1 < shape.width; ++x) {
            if (is_gap(index(x, y)) && is_gap(index(x - 1, y)) && is_gap(index(x + 1, y)) &&
                is_gap(index(x, y - 1)) && is_gap(index(x, y + 1)))
                from_gap[index(x, y)] = 0;
        }
    }
    if (std::ranges::count(from_gap, 0) == 0)
        return {};
    const auto approach = [&](std::size_t pixel, std::size_t other) {
        from_gap[pixel] = std::min(from_gap[pixel], from_gap[other] + 1);
    };
    for (Elements y = 0; y < shape.height; ++y) {
        for (Elements x = 1; x < shape.width; ++x)
            approach(index(x, y), index(x - 1, y));
        for (Elements x = shape.width - 2; x >= 0; --x)
            approach(index(x, y), index(x + 1, y));
    }
    for (Elements x = 0; x < shape.width; ++x) {
        for (Elements y = 1; y < shape.height; ++y)
            approach(index(x, y), index(x, y - 1));
        for (Elements y = shape.height - 2; y >= 0; --y)
            approach(index(x, y), index(x, y + 1));
    }
    std::vector<float> window;
    for (const int distance : from_gap) {
        const double risen = std::max(0, distance - extrapolated);
        window.push_back(static_cast<float>((1 - std::cos(std::numbers::pi * risen / taper)) / 2));
    }
    return window;
}

/// Returns an image whose gaps are filled with the solution of Laplace's equation.
std::vector<float> without_gaps(std::span<const float> image, ImageShape shape) {
    std::vector<float> filled(image.begin(), image.end());
    std::vector<Elements> gaps;
    double sum = 0;
    for (Elements i = 0; i < shape.elements(); ++i) {
        if (std::isfinite(image[static_cast<std::size_t>(i)]))
            sum += static_cast<double>(image[static_cast<std::size_t>(i)]);
        else
            gaps.push_back(i);
    }
    if (gaps.empty())
        return filled;
    const double known = static_cast<double>(shape.elements() - std::ssize(gaps));
    for (const Elements gap : gaps)
        filled[static_cast<std::size_t>(gap)] = static_cast<float>(known > 0 ? sum / known : 0);
    constexpr int rounds = 200;
    for (int round = 0; round < rounds; ++round) {
        for (const Elements gap : gaps) {
            const Elements x = gap % shape.width, y = gap / shape.width;
            const auto at = [&](Elements column, Elements row) {
                return filled[static_cast<std::size_t>(
                    std::clamp<Elements>(row, 0, shape.height - 1) * shape.width +
                    std::clamp<Elements>(column, 0, shape.width - 1))];
            };
            filled[static_cast<std::size_t>(gap)] =
                (at(x - 1, y) + at(x + 1, y) + at(x, y - 1) + at(x, y + 1)) / 4;
        }
    }
    return filled;
}

/// Sums over the products of two series of numbers, and over the squares of each.
struct Products {
    double product = 0, one = 0, other = 0;

    void add(std::complex<float> a, std::complex<float> b, double weight = 1) {
        product += weight * static_cast<double>(conj_times(a, b).real());
        one += weight * static_cast<double>(std::norm(a));
        other += weight * static_cast<double>(std::norm(b));
    }
    double correlation() const {
        return one > 0 && other > 0 ? product / std::sqrt(one * other) : 0;
    }
};

constexpr std::size_t rings_of_layers = 16; // two per octave

/// Returns the number of the ring of a frequency, for transforms of this size.
std::size_t ring_of(double radians_per_pixel, ImageShape transform) {
    const auto side = static_cast<double>(std::max(transform.width, transform.height));
    const double periods = std::max(1., radians_per_pixel * side / (2 * std::numbers::pi));
    return std::min(rings_of_layers - 1, static_cast<std::size_t>(2 * std::log2(periods)));
}

} // namespace

bool Layers::has_still_layer() const {
    // Without a static layer, `still` is below .12 for all specimens, including rotating ones. No
    // ring exceeds a strength of .1, although a specimen that crosses the border of the window
    // leaves a part of itself in the static layer. If the specimen moves far, this part is larger:
    // the strength of a ring reaches .5, and is not used.
    // Noise that looks like a moving layer is much weaker than the static layer.
    constexpr double least_moving = .4, least_still = .3, least_strength = .1, least_share = .05,
                     least_ring = .5, least_still_if_far = .6, much = 10;
    const bool is_far = moves_far();
    if (is_far && shifts.size() < LayerFit::many_frames)
        return false; // two frames each do not show which layer is which
    return moving > (strength > much ? moving_above_noise : least_moving) &&
           determined > least_share &&
           ((still > (is_far ? least_still_if_far : least_still) && strength > least_strength) ||
            (ring > least_ring && !is_far));
}

double spread_of(std::span<const Point> shifts) {
    Point sum;
    double squares = 0;
    for (const Point shift : shifts) {
        sum = sum + shift;
        squares += shift.x * shift.x + shift.y * shift.y;
    }
    const auto count = static_cast<double>(shifts.size());
    return std::sqrt(squares / count - (sum.x * sum.x + sum.y * sum.y) / (count * count));
}

namespace {

/// Returns Layers::moving_above_noise. The displacements at which the noise of the frames is most
/// alike make the halves of the frames alike too, the more the fewer frequencies there are.
double moving_above_noise(std::size_t frequencies) {
    constexpr double least = .4, above_noise = .2, alike = 400;
    const auto count = static_cast<double>(frequencies);
    const double of_noise = alike / (alike + count);
    return std::max(least, of_noise + above_noise * (1 - of_noise));
}

} // namespace

LayerFit::LayerFit(ImageShape shape, std::span<const std::vector<float>> images)
    : shape_(shape),
      padded_{fast_fourier_size(shape.width), fast_fourier_size(shape.height)},
      forward_(padded_, false),
      backward_(padded_, true),
      window_x_(tukey(shape.width, tapered)),
      window_y_(tukey(shape.height, tapered)),
      around_gaps_(window_around_gaps(shape, images)) {
    const auto signed_index = [](Elements at, Elements size) {
        return at <= size / 2 ? at : at - size;
    };
    for (Elements row = 0; row < padded_.height; ++row) {
        const double y = 2 * std::numbers::pi *
                         static_cast<double>(signed_index(row, padded_.height)) /
                         static_cast<double>(padded_.height);
        for (Elements column = 0; column <= padded_.width / 2; ++column) {
            const double x = 2 * std::numbers::pi * static_cast<double>(column) /
                             static_cast<double>(padded_.width);
            const bool one_of_pair = column > 0 || y > 0;
            const double square = x * x + y * y;
            if (one_of_pair && square <= highest * highest)
                frequencies_.push_back({column, row, static_cast<float>(x), static_cast<float>(y),
                                        static_cast<float>(std::exp(-square * decay * decay))});
        }
    }
    for (std::size_t i = 0; i < images.size(); i += 2) {
        const bool alone = i + 1 == images.size();
        auto [one, other] = spectra_of(images[i], images[alone ? i : i + 1]);
        spectra_.push_back(std::move(one));
        if (!alone)
            spectra_.push_back(std::move(other));
    }
}

/// Returns the spectra of two images without their means, at the used frequencies. The images are
/// transformed as the real and the imaginary part of a complex image.
std::array<LayerFit::Values, 2> LayerFit::spectra_of(std::span<const float> one,
                                                     std::span<const float> other) const {
    Values samples(static_cast<std::size_t>(padded_.elements())), scratch;
    const auto fill = [&](std::span<const float> image, const auto& put) {
        const std::vector<float> filled = without_gaps(image, shape_);
        double sum = 0;
        for (const float sample : filled)
            sum += static_cast<double>(sample);
        const auto mean = static_cast<float>(sum / static_cast<double>(filled.size()));
        for (Elements y = 0; y < shape_.height; ++y) {
            for (Elements x = 0; x < shape_.width; ++x) {
                const auto pixel = static_cast<std::size_t>(y * shape_.width + x);
                put(samples[static_cast<std::size_t>(y * padded_.width + x)],
                    (filled[pixel] - mean) * window_x_[static_cast<std::size_t>(x)] *
                        window_y_[static_cast<std::size_t>(y)] *
                        (around_gaps_.empty() ? 1 : around_gaps_[pixel]));
            }
        }
    };
    fill(one, [](std::complex<float>& to, float sample) { to.real(sample); });
    fill(other, [](std::complex<float>& to, float sample) { to.imag(sample); });
    forward_.transform(samples, scratch);
    std::array<Values, 2> spectra;
    for (Values& of_image : spectra)
        of_image.reserve(frequencies_.size());
    for (const Frequency& q : frequencies_) {
        const TwoSpectra both =
            separated(samples[index(q.column, q.row)], samples[index(-q.column, -q.row)]);
        spectra[0].push_back(both.f);
        spectra[1].push_back(both.g);
    }
    return spectra;
}

/// Returns the index of a frequency in a transform. Negative numbers are counted from the end.
std::size_t LayerFit::index(Elements column, Elements row) const {
    return static_cast<std::size_t>((row < 0 ? row + padded_.height : row) * padded_.width +
                                    (column < 0 ? column + padded_.width : column));
}

/// Calls visit(i, q, exp(−i q·t)) for each frequency q that is used; i is its number.
template <class Visit>
void LayerFit::for_each_phase(Point shift, const Visit& visit) const {
    const Values by_column = factors_of_displacement(padded_.width, shift.x),
                 by_row = factors_of_displacement(padded_.height, shift.y);
    for (std::size_t i = 0; i < frequencies_.size(); ++i) {
        const Frequency& q = frequencies_[i];
        visit(i, q,
              times(by_column[static_cast<std::size_t>(q.column)],
                    by_row[static_cast<std::size_t>(q.row)]));
    }
}

/// Returns the displacements at which two pairs of images correlate best. Both correlations are
/// real, and computed as the real and the imaginary part of one transform.
std::array<LayerFit::Peak, 2> LayerFit::peaks(const Pair& first, const Pair& second) const {
    Values values(static_cast<std::size_t>(padded_.elements())), scratch;
    const auto value = [&](Elements column, Elements row) -> std::complex<float>& {
        return values[index(column, row)];
    };
    for (std::size_t i = 0; i < frequencies_.size(); ++i) {
        const Frequency& q = frequencies_[i];
        const std::complex<float> one = whitened((*first.from)[i], (*first.to)[i]),
                                  other = whitened((*second.from)[i], (*second.to)[i]);
        value(q.column, q.row) = {one.real() - other.imag(), one.imag() + other.real()};
        value(-q.column, -q.row) = {one.real() + other.imag(), other.real() - one.imag()};
    }
    backward_.transform(values, scratch);
    const auto highest_of = [&](const auto& part) {
        const auto at = [&](Elements x, Elements y) {
            return static_cast<double>(part(value(x, y)));
        };
        const Elements most_x = shape_.width / 2, most_y = shape_.height / 2;
        Elements best_x = 0, best_y = 0;
        double best = at(0, 0), deepest = 0;
        for (Elements y = -most_y; y <= most_y; ++y) {
            const auto search = [&](Elements left, Elements right) {
                // The columns of negative displacements are the last ones.
                const std::complex<float>* const row =
                    &value(0, y) + (left < 0 ? padded_.width : 0);
                for (Elements x = left; x <= right; ++x) {
                    const auto here = static_cast<double>(part(row[x]));
                    deepest = std::min(deepest, here);
                    if (here > best) {
                        best = here;
                        best_x = x;
                        best_y = y;
                    }
                }
            };
            search(-most_x, -1);
            search(0, most_x);
        }
        return Peak{{static_cast<double>(best_x) +
                         vertex(at(best_x - 1, best_y), best, at(best_x + 1, best_y)),
                     static_cast<double>(best_y) +
                         vertex(at(best_x, best_y - 1), best, at(best_x, best_y + 1))},
                    -deepest > best};
    };
    return {highest_of([](std::complex<float> both) { return both.real(); }),
            highest_of([](std::complex<float> both) { return both.imag(); })};
}

/// Returns the displacements that agree best with the correlations of each frame with up to
/// `farthest` later frames.
LayerFit::Chain LayerFit::chained(std::span<const Values> spectra, std::size_t farthest) const {
    std::vector<Link> links;
    for (std::size_t from = 0; from < spectra.size(); ++from) {
        for (std::size_t to = from + 1; to < std::min(spectra.size(), from + farthest + 1); ++to)
            links.push_back({from, to, {}});
    }
    bool inverted = false;
    for (std::size_t i = 0; i < links.size(); i += 2) {
        Link &one = links[i], &other = links[std::min(i + 1, links.size() - 1)];
        const auto found = peaks({&spectra[one.from], &spectra[one.to]},
                                 {&spectra[other.from], &spectra[other.to]});
        other.shift = found[1].shift;
        one.shift = found[0].shift;
        inverted = inverted || (one.to == one.from + 1 && found[0].inverted) ||
                   (other.to == other.from + 1 && found[1].inverted);
    }
    return {displacements(spectra.size(), links), inverted};
}

/// Solves for both layers, given the displacements.
LayerFit::Split LayerFit::split(std::span<const Values> spectra,
                                std::span<const Point> shifts) const {
    const std::size_t count = frequencies_.size();
    Values phases(count), means(count), aligned(count);
    for (std::size_t k = 0; k < spectra.size(); ++k) {
        for_each_phase(shifts[k], [&](std::size_t i, const Frequency&, std::complex<float> phase) {
            phases[i] += phase;
            means[i] += spectra[k][i];
            aligned[i] += conj_times(phase, spectra[k][i]);
        });
    }
    const float each = 1 / static_cast<float>(spectra.size());
    Split layers{Values(count), Values(count), std::vector<float>(count)};
    for (std::size_t i = 0; i < count; ++i) {
        const std::complex<float> a = each * phases[i], mean = each * means[i];
        const float determined = 1 - std::norm(a);
        layers.moving[i] =
            (each * aligned[i] - conj_times(a, mean)) / std::max(determined, smallest_determined);
        layers.still[i] = mean - times(a, layers.moving[i]);
        layers.determined[i] = determined;
    }
    return layers;
}

/// Returns the Gauss-Newton step of one displacement, at most one pixel long; nothing if the
/// frequencies at which the layers are separable do not determine it. The moving layer is used
/// without the frame itself, which is one of `others` + 1 frames that contribute; none of them if
/// `others` is 0.
std::optional<Point> LayerFit::step(const Values& spectrum, Point shift, const Split& layers,
                                    std::size_t others) const {
    double xx = 0, xy = 0, yy = 0, right_x = 0, right_y = 0;
    for_each_phase(shift, [&](std::size_t i, const Frequency& q, std::complex<float> phase) {
        const float determined = layers.determined[i];
        if (determined <= least_determined)
            return;
        const std::complex<float> shown = times(phase, layers.moving[i]);
        const std::complex<float> residual = spectrum[i] - layers.still[i] - shown;
        const float own = others > 0 ? 1 / (static_cast<float>(others) * determined) : 0;
        const std::complex<float> model = shown - own * residual;
        const std::complex<float> error = (1 + own) * residual;
        const float weight = q.weight * determined;
        const auto information = static_cast<double>(weight * std::norm(model));
        // The derivative of the model by t is −i q model.
        const auto along = static_cast<double>(
            weight * (model.imag() * error.real() - model.real() * error.imag()));
        const auto x = static_cast<double>(q.x), y = static_cast<double>(q.y);
        xx += information * x * x;
        xy += information * x * y;
        yy += information * y * y;
        right_x += along * x;
        right_y += along * y;
    });
    const double determinant = xx * yy - xy * xy;
    constexpr double least = 1e-6; // relative to the product of both variances
    if (!(determinant > least * (xx + yy) * (xx + yy)))
        return std::nullopt;
    const Point step{(yy * right_x - xy * right_y) / determinant,
                     (xx * right_y - xy * right_x) / determinant};
    const double length = std::hypot(step.x, step.y);
    const double factor = length > 1 ? 1 / length : 1;
    return Point{factor * step.x, factor * step.y};
}

/// Refines the displacements of all frames by Gauss-Newton steps.
std::vector<Point> LayerFit::refined(std::vector<Point> shifts) const {
    for (int round = 0; round < most_steps; ++round) {
        const Split layers = split(spectra_, shifts);
        std::vector<Point> next = shifts;
        for (std::size_t k = 0; k < shifts.size(); ++k) {
            const std::optional<Point> by = step(spectra_[k], shifts[k], layers, shifts.size() - 1);
            if (!by)
                return shifts;
            next[k] = shifts[k] + *by;
        }
        double moved = 0;
        const Point first = next.front();
        for (std::size_t k = 0; k < shifts.size(); ++k) {
            next[k] = next[k] - first;
            moved = std::max(moved, distance(next[k], shifts[k]));
        }
        shifts = std::move(next);
        if (moved < stop)
            break;
    }
    return shifts;
}

/// Returns Σ |F_k − S − A exp(−i q·t_k)|², weighted.
double LayerFit::residual(std::span<const Point> shifts) const {
    const Split layers = split(spectra_, shifts);
    double sum = 0;
    for (std::size_t k = 0; k < shifts.size(); ++k) {
        for_each_phase(
            shifts[k], [&](std::size_t i, const Frequency& q, std::complex<float> phase) {
                sum += static_cast<double>(q.weight * std::norm(spectra_[k][i] - layers.still[i] -
                                                                times(phase, layers.moving[i])));
            });
    }
    return sum;
}

/// Returns the power of the static layer relative to that of the moving layer in the ring of
/// frequencies in which it is largest. The powers are the products of the layers of even and odd
/// frames, which have hardly any noise in common. Rings in which the static layers do not correlate
/// are ignored.
double LayerFit::strongest_ring(std::span<const Point> shifts) const {
    std::array<std::vector<Values>, 2> spectra;
    std::array<std::vector<Point>, 2> where;
    for (std::size_t k = 0; k < shifts.size(); ++k) {
        spectra[k % 2].push_back(spectra_[k]);
        where[k % 2].push_back(shifts[k]);
    }
    const Split even = split(spectra[0], where[0]), odd = split(spectra[1], where[1]);
    struct Ring {
        Products still, moving;
        double count = 0;
    };
    std::array<Ring, rings_of_layers> rings;
    for (std::size_t i = 0; i < frequencies_.size(); ++i) {
        const Frequency& q = frequencies_[i];
        if (std::min(even.determined[i], odd.determined[i]) <= least_determined)
            continue;
        Ring& ring = rings[ring_of(static_cast<double>(std::hypot(q.x, q.y)), padded_)];
        ring.still.add(even.still[i], odd.still[i]);
        ring.moving.add(even.moving[i], odd.moving[i]);
        ++ring.count;
    }
    double strongest = 0;
    for (const Ring& ring : rings) {
        constexpr double least_count = 4, least_correlation = .8;
        if (ring.count >= least_count && ring.moving.product > 0 &&
            ring.still.product > least_correlation * std::sqrt(ring.still.one * ring.still.other))
            strongest = std::max(strongest, ring.still.product / ring.moving.product);
    }
    return strongest;
}

/// Compares the layers of the first half of the frames with those of the second half.
Layers LayerFit::judged(std::vector<Point> shifts) const {
    const std::size_t half = shifts.size() / 2;
    const std::span<const Values> all(spectra_);
    const std::span<const Point> where(shifts);
    const Split first = split(all.first(half), where.first(half)),
                second = split(all.subspan(half), where.subspan(half));
    Products moving, still;
    double determined = 0, weights = 0;
    for (std::size_t i = 0; i < frequencies_.size(); ++i) {
        const float least = std::min(first.determined[i], second.determined[i]);
        weights += static_cast<double>(frequencies_[i].weight);
        if (least <= least_determined)
            continue;
        determined += static_cast<double>(frequencies_[i].weight);
        const auto weight = static_cast<double>(frequencies_[i].weight * least);
        moving.add(first.moving[i], second.moving[i], weight);
        still.add(first.still[i], second.still[i], weight);
    }
    Layers layers;
    layers.strength = moving.product > 0 ? std::max(0., still.product) / moving.product : 0;
    layers.moving = moving.correlation();
    layers.still = still.correlation();
    layers.moving_above_noise = moving_above_noise(frequencies_.size());
    layers.ring = strongest_ring(where);
    layers.determined = weights > 0 ? determined / weights : 0;
    const auto [left, right] = std::ranges::minmax(shifts, {}, &Point::x);
    const auto [top, bottom] = std::ranges::minmax(shifts, {}, &Point::y);
    layers.travel = std::max(right.x - left.x, bottom.y - top.y) /
                    static_cast<double>(std::min(shape_.width, shape_.height));
    layers.shifts = std::move(shifts);
    return layers;
}

std::optional<Layers> LayerFit::fit(bool quick) {
    constexpr std::size_t farthest = 3;
    Chain pairs = chained(spectra_, 1);
    if (pairs.inverted)
        return std::nullopt;
    if (spectra_.size() < least_frames) {
        Layers layers;
        layers.apparent = std::move(pairs.shifts);
        layers.biased = is_biased(layers.apparent);
        return layers;
    }
    if (quick && spectra_.size() >= many_frames) {
        constexpr double clear = .5, travel = 4, none = .1;
        const Layers plain = judged(std::move(pairs.shifts));
        double most = 0;
        for (const Point shift : plain.shifts)
            most = std::max(most, distance(shift, {}));
        if (most > travel && plain.moving > clear && plain.still < none && plain.ring < none)
            return std::nullopt;
    }
    std::vector<Values> changes = spectra_;
    for (std::size_t i = 0; i < frequencies_.size(); ++i) {
        std::complex<float> mean;
        for (const Values& spectrum : spectra_)
            mean += spectrum[i] / static_cast<float>(spectra_.size());
        for (Values& spectrum : changes)
            spectrum[i] -= mean;
    }
    std::vector<Point> best, apparent;
    double least = 0;
    for (const std::vector<Values>* start : {&spectra_, &changes}) {
        std::vector<Point> shifts = chained(*start, farthest).shifts;
        if (start == &spectra_)
            apparent = shifts;
        shifts = refined(std::move(shifts));
        const double left = residual(shifts);
        if (best.empty() || left < least) {
            best = std::move(shifts);
            least = left;
        }
    }
    found_ = split(spectra_, best);
    Layers layers = judged(std::move(best));
    layers.apparent = std::move(apparent);
    layers.biased = is_biased(layers.apparent);
    return layers;
}

/// Returns the highest value of the odd part of the whitened correlation of two images about a
/// displacement, in standard deviations of its noise.
double LayerFit::odd_peak(const Pair& pair, Point shift) const {
    Values values(static_cast<std::size_t>(padded_.elements())), scratch;
    double variance = 0;
    for_each_phase(shift, [&](std::size_t i, const Frequency& q, std::complex<float> phase) {
        const float odd = conj_times(phase, whitened((*pair.from)[i], (*pair.to)[i])).imag();
        values[index(q.column, q.row)] = {0, odd};
        values[index(-q.column, -q.row)] = {0, -odd};
        variance += 2 * correlated * static_cast<double>(odd * odd);
    });
    backward_.transform(values, scratch);
    float highest = 0;
    for (const std::complex<float> one : values)
        highest = std::max(highest, one.real());
    return variance > 0 ? static_cast<double>(highest) / std::sqrt(variance) : 0;
}

bool LayerFit::is_biased(std::span<const Point> shifts) const {
    const std::size_t frames = shifts.size(), count = frequencies_.size();
    const double each = 1 / static_cast<double>(frames);
    Eigen::MatrixX2d moved(static_cast<Eigen::Index>(frames), 2);
    for (std::size_t k = 0; k < frames; ++k)
        moved.row(static_cast<Eigen::Index>(k)) << shifts[k].x, shifts[k].y;
    moved.rowwise() -= moved.colwise().mean().eval();
    // The direction along which frames seem to move most.
    const Eigen::SelfAdjointEigenSolver<Eigen::Matrix2d> principal(moved.transpose() * moved);
    const Eigen::Vector2d direction = principal.eigenvectors().col(1);
    const Eigen::VectorXd along = (moved * direction).normalized();
    Values change(count), sum(count);
    std::vector<float> power(count);
    for (std::size_t k = 0; k < frames; ++k) {
        const auto amount = static_cast<float>(along[static_cast<Eigen::Index>(k)]);
        for_each_phase(shifts[k], [&](std::size_t i, const Frequency&, std::complex<float> phase) {
            const std::complex<float> aligned = conj_times(phase, spectra_[k][i]);
            change[i] += amount * aligned;
            sum[i] += aligned;
            power[i] += std::norm(aligned);
        });
    }
    struct Bin {
        double information = 0, score = 0, variance = 0, count = 0;
    };
    // The filter of frames leaves hardly anything of shorter waves, less than the edges of gaps.
    const double shortest = around_gaps_.empty() ? highest : 1.8;
    constexpr std::size_t of_columns = rings_of_layers, of_rows = rings_of_layers + 1;
    std::array<Bin, rings_of_layers + 2> bins;
    for (std::size_t i = 0; i < count; ++i) {
        const Frequency& q = frequencies_[i];
        const auto x = static_cast<double>(q.x), y = static_cast<double>(q.y);
        const double length = std::hypot(x, y);
        if (length > shortest)
            continue;
        const bool is_of_columns = std::min(q.row, padded_.height - q.row) <= 1;
        Bin& bin = bins[is_of_columns   ? of_columns
                        : q.column <= 1 ? of_rows
                                        : ring_of(length, padded_)];
        const double slope = x * direction.x() + y * direction.y();
        const double score =
            -each * slope * static_cast<double>(conj_times(sum[i], change[i]).imag());
        // Products of different frames, because their noise is independent.
        bin.information += slope * slope * each / static_cast<double>(frames - 1) *
                           static_cast<double>(std::norm(sum[i]) - power[i]);
        bin.score += score;
        bin.variance += correlated * score * score;
        ++bin.count;
    }
    // What crosses the border of the window changes displacements by a part of the motion.
    constexpr double border = 26; // pixels
    const double by_border =
        moved.norm() *
        std::pow(border / static_cast<double>(std::min(shape_.width, shape_.height)), 3);
    double degrees = -1, information = 0, score = 0;
    Bin all;
    for (Bin& bin : bins) {
        all.information += bin.information;
        all.score += bin.score;
        all.variance += bin.variance;
        constexpr double least_count = 24;
        if (bin.count < least_count || !(bin.variance > 0)) {
            bin.count = 0;
            continue;
        }
        bin.variance += std::pow(by_border * bin.information, 2);
        ++degrees;
        information += bin.information * bin.information / bin.variance;
        score += bin.information * bin.score / bin.variance;
    }
    constexpr double least_known = .1; // pixels
    if (!(information * least_known * least_known > 1))
        return false;
    const double shift = score / information;
    double squares = 0;
    for (const Bin& bin : bins) {
        const double left = bin.score - shift * bin.information;
        if (bin.count > 0)
            squares += left * left / bin.variance;
    }
    // Without a static layer, `squares` has a chi-squared distribution.
    constexpr double significant = 6;
    if (squares > degrees + significant * std::sqrt(2 * degrees))
        return true;
    // A few strong waves at rest vary too much among themselves for this test, but they hold back
    // the registration, in which waves are not weighted.
    constexpr double least_pull = .1, deviations = 3; // pixels, RMS of the frames
    const double pull = std::abs(all.score - shift * all.information);
    if (pull > least_pull * std::sqrt(static_cast<double>(frames)) * std::abs(all.information) &&
        pull > deviations * std::sqrt(all.variance))
        return true;
    if (frames >= many_frames)
        return false;
    for (std::size_t k = 1; k < frames; ++k) {
        constexpr double rest = 1, least_peak = 6;
        const Point between = shifts[k] - shifts[k - 1];
        if (distance(between, {}) < rest &&
            odd_peak({&spectra_[k - 1], &spectra_[k]}, between) > least_peak)
            return true;
    }
    return false;
}

Point LayerFit::locate(std::span<const float> image) const {
    const Values spectrum = spectra_of(image, image).front();
    Values less_still = spectrum, moving = found_.moving;
    for (std::size_t i = 0; i < frequencies_.size(); ++i) {
        less_still[i] -= found_.still[i];
        if (found_.determined[i] <= least_determined)
            less_still[i] = moving[i] = {};
    }
    const Pair pair{&moving, &less_still};
    Point shift = peaks(pair, pair).front().shift;
    for (int round = 0; round < most_steps; ++round) {
        const std::optional<Point> by = step(spectrum, shift, found_, 0);
        if (!by)
            break;
        shift = shift + *by;
        if (distance(*by, {}) < stop)
            break;
    }
    return shift;
}

} // namespace sextant::registration
