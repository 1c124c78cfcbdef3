// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/bilinear_elements.hpp"

#include "sextant/core/error.hpp"

#include <cmath>
#include <complex>
#include <numbers>

#include <fmt/format.h>
#include <unsupported/Eigen/FFT>

namespace sextant::registration {

namespace {

/// Every `stride`-th of `count` values.
struct Line {
    double* first;
    std::size_t count, stride;
    double& operator[](std::size_t i) const { return first[i * stride]; }
};

template <class Body>
void for_each_row(Nodal& f, ImageShape nodes, Body body) {
    const auto width = static_cast<std::size_t>(nodes.width);
    for (std::size_t y = 0; y < static_cast<std::size_t>(nodes.height); ++y)
        body(Line{f.data() + y * width, width, 1});
}

template <class Body>
void for_each_column(Nodal& f, ImageShape nodes, Body body) {
    const auto width = static_cast<std::size_t>(nodes.width);
    for (std::size_t x = 0; x < width; ++x)
        body(Line{f.data() + x, static_cast<std::size_t>(nodes.height), width});
}

/// A tridiagonal matrix with `middle` on the diagonal, half of it at both ends, and `beside` next
/// to it: what linear elements assemble.
struct Tridiagonal {
    double middle, beside;

    void apply(const Line& f) const {
        double before = 0, now = f[0];
        for (std::size_t i = 0; i < f.count; ++i) {
            const bool last = i + 1 == f.count;
            const double after = last ? 0 : f[i + 1];
            const double diagonal = i == 0 || last ? middle / 2 : middle;
            f[i] = beside * (before + after) + diagonal * now;
            before = now;
            now = after;
        }
    }
    /// Of the cosine with the angle θ from node to node, at inner nodes.
    double eigenvalue(double theta) const { return middle + 2 * beside * std::cos(theta); }
};

Tridiagonal mass_1d(double h) {
    return {4 * h / 6, h / 6};
}

Tridiagonal stiffness_1d(double h) {
    return {2 / h, -1 / h};
}

/// Σ_i f_i cos(π k i / (n − 1)) for every k < n, as the Fourier transform of the even extension.
class CosineSums {
  public:
    void apply(const Line& f) {
        const std::size_t last = f.count - 1;
        even_.resize(2 * last);
        for (std::size_t i = 0; i < f.count; ++i)
            even_[i] = f[i];
        even_[0] *= 2;
        even_[last] *= 2;
        for (std::size_t i = 1; i < last; ++i)
            even_[2 * last - i] = f[i];
        transform_.fwd(spectrum_, even_);
        for (std::size_t k = 0; k < f.count; ++k)
            f[k] = spectrum_[k].real() / 2;
    }

  private:
    Eigen::FFT<double> transform_;
    std::vector<double> even_;
    std::vector<std::complex<double>> spectrum_;
};

void cosine_sums(Nodal& f, ImageShape nodes) {
    CosineSums sums;
    for_each_row(f, nodes, [&](const Line& line) { sums.apply(line); });
    for_each_column(f, nodes, [&](const Line& line) { sums.apply(line); });
}

/// What a cosine's coefficient is of its sum Σ_i b_i cos(π k i / (n − 1)).
double share(std::size_t k, std::size_t count) {
    const auto last = static_cast<double>(count - 1);
    return (k == 0 || k + 1 == count ? 1 : 2) / last;
}

Nodal copied(std::span<const double> f) {
    return {f.begin(), f.end()};
}

} // namespace

BilinearElements::BilinearElements(ImageShape nodes, double spacing)
    : nodes_(nodes), spacing_(spacing) {
    if (nodes.width < 2 || nodes.height < 2 || !(spacing > 0))
        throw InvalidTask(fmt::format("finite elements on {}x{} nodes {} apart, expected at least "
                                      "2x2 nodes and a positive spacing",
                                      nodes.width, nodes.height, spacing));
}

double BilinearElements::area() const {
    return static_cast<double>((nodes_.width - 1) * (nodes_.height - 1)) * spacing_ * spacing_;
}

Nodal BilinearElements::mass(std::span<const double> f) const {
    Nodal result = copied(f);
    const Tridiagonal m = mass_1d(spacing_);
    for_each_row(result, nodes_, [&](const Line& line) { m.apply(line); });
    for_each_column(result, nodes_, [&](const Line& line) { m.apply(line); });
    return result;
}

Nodal BilinearElements::stiffness(std::span<const double> f) const {
    const Tridiagonal m = mass_1d(spacing_), l = stiffness_1d(spacing_);
    Nodal along_x = copied(f), along_y = copied(f);
    for_each_row(along_x, nodes_, [&](const Line& line) { l.apply(line); });
    for_each_column(along_x, nodes_, [&](const Line& line) { m.apply(line); });
    for_each_row(along_y, nodes_, [&](const Line& line) { m.apply(line); });
    for_each_column(along_y, nodes_, [&](const Line& line) { l.apply(line); });
    for (std::size_t i = 0; i < along_x.size(); ++i)
        along_x[i] += along_y[i];
    return along_x;
}

Nodal BilinearElements::smoothed(std::span<const double> load, double s) const {
    const Tridiagonal m = mass_1d(spacing_), l = stiffness_1d(spacing_);
    const auto width = static_cast<std::size_t>(nodes_.width);
    const auto height = static_cast<std::size_t>(nodes_.height);
    Nodal f = copied(load);
    cosine_sums(f, nodes_);
    for (std::size_t j = 0; j < height; ++j) {
        const double y =
            std::numbers::pi * static_cast<double>(j) / static_cast<double>(height - 1);
        for (std::size_t i = 0; i < width; ++i) {
            const double x =
                std::numbers::pi * static_cast<double>(i) / static_cast<double>(width - 1);
            const double mass = m.eigenvalue(x) * m.eigenvalue(y);
            const double stiffness =
                l.eigenvalue(x) * m.eigenvalue(y) + m.eigenvalue(x) * l.eigenvalue(y);
            f[j * width + i] *= share(i, width) * share(j, height) / (mass + s * s / 2 * stiffness);
        }
    }
    cosine_sums(f, nodes_);
    return f;
}

} // namespace sextant::registration
