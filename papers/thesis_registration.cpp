// SPDX-License-Identifier: BSD-3-Clause
#include "papers/thesis_registration.hpp"

#include "sextant/core/error.hpp"
#include "sextant/kernel/filter/gaussian.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>

#include <fmt/format.h>

namespace sextant::papers {

namespace {

/// Calls `body` with the index of each node and its coordinates in units of node spacings.
template <class Body>
void for_each_node(ImageShape nodes, Body body) {
    std::size_t i = 0;
    for (std::int64_t y = 0; y < nodes.height; ++y) {
        for (std::int64_t x = 0; x < nodes.width; ++x)
            body(i++, registration::Point{static_cast<double>(x), static_cast<double>(y)});
    }
}

/// x − c for a node, in units of the domain.
registration::Point arm(registration::Point node, double spacing, registration::Point c) {
    return {node.x * spacing - c.x, node.y * spacing - c.y};
}

NodalVectors moved_rigidly(const BilinearElements& elements, registration::Point c,
                           const Parameters& p) {
    NodalVectors phi{Nodal(elements.count()), Nodal(elements.count())};
    const double h = elements.spacing();
    const registration::RigidMotion motion{p[0], p[1], p[2]};
    for_each_node(elements.nodes(), [&](std::size_t i, registration::Point node) {
        const registration::Point to = apply(motion, {node.x * h, node.y * h}, c);
        phi.x[i] = to.x / h;
        phi.y[i] = to.y / h;
    });
    return phi;
}

double mean_square_arm(const BilinearElements& elements, registration::Point c) {
    double sum = 0;
    for_each_node(elements.nodes(), [&](std::size_t, registration::Point node) {
        const registration::Point v = arm(node, elements.spacing(), c);
        sum += v.x * v.x + v.y * v.y;
    });
    return sum / static_cast<double>(elements.count());
}

Parameters rigid_derivative(const CrossCorrelation& images, registration::Point c,
                            const Parameters& p) {
    const BilinearElements& elements = images.elements();
    const NodalVectors force = images.derivative(moved_rigidly(elements, c, p));
    const double cosine = std::cos(p[0]), sine = std::sin(p[0]);
    double alpha = 0, x = 0, y = 0;
    for_each_node(elements.nodes(), [&](std::size_t i, registration::Point node) {
        const registration::Point v = arm(node, elements.spacing(), c);
        alpha += force.x[i] * (-sine * v.x - cosine * v.y) +
                 force.y[i] * (cosine * v.x - sine * v.y); // R′(α)(x − c)
        x += force.x[i];
        y += force.y[i];
    });
    const double unit = -1 / elements.spacing();
    return {unit * alpha, unit * x, unit * y};
}

/// The two halves of a displacement field's parameters: all x, then all y.
struct Halves {
    std::span<const double> x, y;
};

Halves halves(const Parameters& u) {
    const std::span<const double> all(u);
    return {all.first(u.size() / 2), all.subspan(u.size() / 2)};
}

NodalVectors displaced(const BilinearElements& elements, const Parameters& u) {
    NodalVectors phi{Nodal(elements.count()), Nodal(elements.count())};
    const auto [ux, uy] = halves(u);
    for_each_node(elements.nodes(), [&, ux = ux, uy = uy](std::size_t i, registration::Point node) {
        phi.x[i] = node.x + ux[i] / elements.spacing();
        phi.y[i] = node.y + uy[i] / elements.spacing();
    });
    return phi;
}

Parameters joined(Nodal x, const Nodal& y) {
    x.insert(x.end(), y.begin(), y.end());
    return x;
}

Parameters stiffness(const BilinearElements& elements, const Parameters& u) {
    const auto [x, y] = halves(u);
    return joined(elements.stiffness(x), elements.stiffness(y));
}

double dirichlet(const BilinearElements& elements, const Parameters& u) {
    const Parameters lu = stiffness(elements, u);
    return std::inner_product(u.begin(), u.end(), lu.begin(), 0.) / 2;
}

Parameters nonrigid_derivative(const CrossCorrelation& images, double lambda, const Parameters& u) {
    const BilinearElements& elements = images.elements();
    NodalVectors force = images.derivative(displaced(elements, u));
    Parameters derivative = joined(std::move(force.x), force.y);
    const Parameters lu = stiffness(elements, u);
    for (std::size_t i = 0; i < derivative.size(); ++i)
        derivative[i] = lambda * lu[i] - derivative[i] / elements.spacing();
    return derivative;
}

} // namespace

Functional rigid_energy(const CrossCorrelation& images, registration::Point c) {
    const double weight = mean_square_arm(images.elements(), c);
    return {[&images, c](const Parameters& p) {
                return -images.value(moved_rigidly(images.elements(), c, p));
            },
            [&images, c](const Parameters& p) { return rigid_derivative(images, c, p); },
            [weight](const Parameters& e, double) {
                return Parameters{e[0] / weight, e[1], e[2]};
            }};
}

Functional nonrigid_energy(const CrossCorrelation& images, double lambda) {
    return {
        [&images, lambda](const Parameters& u) {
            return lambda * dirichlet(images.elements(), u) -
                   images.value(displaced(images.elements(), u));
        },
        [&images, lambda](const Parameters& u) { return nonrigid_derivative(images, lambda, u); },
        [&images](const Parameters& e, double s) {
            const auto [x, y] = halves(e);
            return joined(images.elements().smoothed(x, s), images.elements().smoothed(y, s));
        }};
}

namespace {

constexpr std::int64_t fewest_nodes = 8;

/// An image on a grid of nodes.
struct Frame {
    ImageShape nodes;
    Nodal values;

    double at(std::int64_t x, std::int64_t y) const {
        return values[static_cast<std::size_t>(y * nodes.width + x)];
    }
};

Nodal plain(const kernel::SampleView& view) {
    Nodal values;
    values.reserve(static_cast<std::size_t>(view.image.elements()));
    std::visit(
        [&](const auto* first) {
            for (std::int64_t y = 0; y < view.image.height; ++y) {
                const auto* const row = first + y * view.stride;
                values.insert(values.end(), row, row + view.image.width);
            }
        },
        view.first);
    return values;
}

Nodal filtered(const kernel::SampleView& view, double sigma) {
    std::vector<float> samples(static_cast<std::size_t>(view.image.elements()));
    const std::array<kernel::Derivative, 1> none{};
    const std::array<kernel::Plane, 1> plane{{{samples.data(), view.image.width}}};
    kernel::GaussianDerivatives(sigma, none, {}, kernel::p3pc_kernel).apply(view, view.tile, plane);
    return {samples.begin(), samples.end()};
}

Frame read(const kernel::SampleView& view, double sigma, const char* which) {
    if (view.tile.elements() != view.image.elements() || view.image.width < fewest_nodes ||
        view.image.height < fewest_nodes)
        throw InvalidTask(fmt::format(
            "the {} is a tile of {}x{} from {}x{} pixels, expected a whole image of at least {}x{}",
            which, view.tile.width, view.tile.height, view.image.width, view.image.height,
            fewest_nodes, fewest_nodes));
    Frame frame{view.image, plain(view)};
    for (std::size_t i = 0; i < frame.values.size(); ++i) {
        if (!std::isfinite(frame.values[i]))
            throw InvalidTask(fmt::format("the {} has {} at ({}, {}), expected a number", which,
                                          frame.values[i],
                                          static_cast<std::int64_t>(i) % view.image.width,
                                          static_cast<std::int64_t>(i) / view.image.width));
    }
    if (sigma > 0)
        frame.values = filtered(view, sigma);
    return frame;
}

std::int64_t halved(std::int64_t nodes) {
    return (nodes + 1) / 2;
}

/// Mirrors an index about the first and the last node.
std::int64_t mirrored(std::int64_t at, std::int64_t nodes) {
    return at < 0 ? -at : at < nodes ? at : 2 * (nodes - 1) - at;
}

Frame restricted(const Frame& fine) {
    constexpr std::array<double, 3> weights{1, 2, 1};
    Frame coarse{{halved(fine.nodes.width), halved(fine.nodes.height)}, {}};
    for (std::int64_t y = 0; y < coarse.nodes.height; ++y) {
        for (std::int64_t x = 0; x < coarse.nodes.width; ++x) {
            double sum = 0;
            for (int j = -1; j <= 1; ++j) {
                for (int i = -1; i <= 1; ++i)
                    sum += weights[static_cast<std::size_t>(i + 1)] *
                           weights[static_cast<std::size_t>(j + 1)] *
                           fine.at(mirrored(2 * x + i, fine.nodes.width),
                                   mirrored(2 * y + j, fine.nodes.height));
            }
            coarse.values.push_back(sum / 16);
        }
    }
    return coarse;
}

/// Two images on the same grid, with nodes `step` pixels apart.
struct Level {
    Frame reference, templ;
    Elements step = 1;

    CrossCorrelation images() const {
        const auto longest = static_cast<double>(std::max(original.width, original.height));
        return {BilinearElements(reference.nodes, static_cast<double>(step) / longest),
                reference.values, templ.values};
    }
    ImageShape original;
};

/// The levels, coarsest first.
std::vector<Level> levels(const kernel::SampleView& reference, const kernel::SampleView& templ,
                          const ThesisOptions& options) {
    if (reference.image != templ.image)
        throw InvalidTask(fmt::format("the template is {}x{}, expected {}x{} like the reference",
                                      templ.image.width, templ.image.height, reference.image.width,
                                      reference.image.height));
    if (options.finest < 0 || options.coarsest < options.finest)
        throw InvalidTask(
            fmt::format("the levels range from {} to {} halvings, expected coarsest >= finest >= 0",
                        options.coarsest, options.finest));
    Level now{read(reference, options.sigma, "reference"), read(templ, options.sigma, "template"),
              1, reference.image};
    std::vector<Level> all;
    for (int halvings = 0;; ++halvings) {
        const ImageShape nodes = now.reference.nodes;
        const bool last = halvings == options.coarsest ||
                          halved(std::min(nodes.width, nodes.height)) < fewest_nodes;
        if (halvings >= options.finest || last)
            all.push_back(now);
        if (last)
            break;
        now = {restricted(now.reference), restricted(now.templ), 2 * now.step, reference.image};
    }
    std::reverse(all.begin(), all.end());
    return all;
}

double unit_of(ImageShape image) {
    return static_cast<double>(std::max(image.width, image.height));
}

FlowOptions flow_options(const ThesisOptions& options, ImageShape image) {
    FlowOptions flow;
    flow.iterations = options.iterations;
    flow.stop = options.stop;
    flow.scale = static_cast<double>(image.width) / unit_of(image);
    return flow;
}

registration::Point rotation_centre(ImageShape image) {
    const registration::Point middle = registration::centre(image);
    return {middle.x / unit_of(image), middle.y / unit_of(image)};
}

/// A rigid motion in units of the domain.
Parameters parameters(const registration::RigidMotion& motion, ImageShape image) {
    return {motion.alpha, motion.tx / unit_of(image), motion.ty / unit_of(image)};
}

/// A displacement field at the nodes of a level, in units of the domain.
Parameters parameters(const registration::DisplacementField& field, const Level& level) {
    const std::size_t count = level.reference.values.size();
    const double unit = unit_of(field.image);
    Parameters u(2 * count);
    std::size_t i = 0;
    for (std::int64_t y = 0; y < level.reference.nodes.height; ++y) {
        for (std::int64_t x = 0; x < level.reference.nodes.width; ++x, ++i) {
            const registration::Point at = displacement(
                field, {static_cast<double>(x * level.step), static_cast<double>(y * level.step)});
            u[i] = at.x / unit;
            u[count + i] = at.y / unit;
        }
    }
    return u;
}

registration::DisplacementField field_of(const Parameters& u, const Level& level) {
    const double unit = unit_of(level.original);
    registration::DisplacementField field{
        level.original, level.step, level.reference.nodes, {}, {}, {}, {}};
    const std::size_t count = field.count();
    for (std::size_t i = 0; i < count; ++i) {
        field.x.push_back(static_cast<float>(u[i] * unit));
        field.y.push_back(static_cast<float>(u[count + i] * unit));
    }
    return field;
}

} // namespace

ThesisMotion GradientFlowRegistration::rigid(const kernel::SampleView& reference,
                                             const kernel::SampleView& templ,
                                             const registration::RigidMotion& start) const {
    const double unit = unit_of(reference.image);
    const registration::Point c = rotation_centre(reference.image);
    ThesisMotion result;
    Parameters p = parameters(start, reference.image);
    for (const Level& level : levels(reference, templ, options_)) {
        const CrossCorrelation images = level.images();
        Flow flow = gradient_flow(rigid_energy(images, c), std::move(p),
                                  flow_options(options_, reference.image));
        p = std::move(flow.parameters);
        result.energies.push_back(std::move(flow.energies));
    }
    result.motion = {p[0], p[1] * unit, p[2] * unit};
    return result;
}

ThesisField GradientFlowRegistration::nonrigid(const kernel::SampleView& reference,
                                               const kernel::SampleView& templ,
                                               const registration::DisplacementField& start) const {
    if (start.image != reference.image)
        throw InvalidTask(fmt::format(
            "the initial field is for frames of {}x{} pixels, but the frames have {}x{}",
            start.image.width, start.image.height, reference.image.width, reference.image.height));
    ThesisField result{start, {}};
    for (const Level& level : levels(reference, templ, options_)) {
        const CrossCorrelation images = level.images();
        Flow flow =
            gradient_flow(nonrigid_energy(images, options_.lambda), parameters(result.field, level),
                          flow_options(options_, reference.image));
        result.field = field_of(flow.parameters, level);
        result.energies.push_back(std::move(flow.energies));
    }
    return result;
}

ThesisMotion GradientFlowRegistration::joined(const kernel::SampleView& frame_i,
                                              const kernel::SampleView& frame_k,
                                              const registration::RigidMotion& i_to_j,
                                              const registration::RigidMotion& j_to_k) const {
    return rigid(frame_i, frame_k, registration::compose(j_to_k, i_to_j));
}

std::vector<double>
GradientFlowRegistration::energies(const kernel::SampleView& reference,
                                   const kernel::SampleView& templ,
                                   std::span<const registration::RigidMotion> motions) const {
    const CrossCorrelation images = levels(reference, templ, options_).back().images();
    const Functional functional = rigid_energy(images, rotation_centre(reference.image));
    std::vector<double> all;
    for (const registration::RigidMotion& motion : motions)
        all.push_back(functional.energy(parameters(motion, reference.image)));
    return all;
}

} // namespace sextant::papers
