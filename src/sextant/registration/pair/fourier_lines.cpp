// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/pair/fourier_lines.hpp"

#include "sextant/core/memory.hpp"
#include "sextant/registration/pair/partition.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <vector>

#include <unsupported/Eigen/FFT>

namespace sextant::registration {

namespace {

constexpr Elements lines_together = 4;

/// Four floats that behave as one number. Eigen's transform is instantiated for this type.
struct Four {
    using Vector = float __attribute__((vector_size(lines_together * sizeof(float))));

    Vector values;

    Four() = default;
    Four(Vector all) : values(all) {}
    explicit Four(double all) : Four(static_cast<float>(all)) {}
    explicit Four(int all) : Four(static_cast<float>(all)) {}
    explicit Four(float all) : values{all, all, all, all} {}

    Four& operator+=(Four other) { return *this = values + other.values; }
    Four& operator-=(Four other) { return *this = values - other.values; }
    Four& operator*=(Four other) { return *this = values * other.values; }
    friend Four operator+(Four one, Four other) { return one.values + other.values; }
    friend Four operator-(Four one, Four other) { return one.values - other.values; }
    friend Four operator*(Four one, Four other) { return one.values * other.values; }
    friend Four operator*(Four one, int factor) { return one * Four(factor); }
    friend Four operator-(Four one) { return -one.values; }
};

using Line = std::complex<Four>; ///< one sample from each of four lines

/// Memory layout of one sample from each of four adjacent lines.
struct Stored {
    std::complex<float> of_line[lines_together];

    operator Line() const {
        Four real, imaginary;
        for (Elements k = 0; k < lines_together; ++k) {
            real.values[k] = of_line[k].real();
            imaginary.values[k] = of_line[k].imag();
        }
        return {real, imaginary};
    }
};

bool has_only_small_factors(Elements size) {
    for (const Elements factor : {2, 3, 5}) {
        while (size > 1 && size % factor == 0)
            size /= factor;
    }
    return size == 1;
}

} // namespace

struct FourierLines::Plan {
    /// The transform modifies this object only for prime factors above 5, which FourierLines
    /// excludes.
    Eigen::internal::kiss_cpx_fft<Four> of_four;
};

FourierLines::FourierLines(Elements length, bool inverse)
    : length_(length), plan_(std::make_unique<Plan>()) {
    if (length < 2 || !has_only_small_factors(length))
        throw std::logic_error("the length of a transform is not a product of 2, 3 and 5");
    plan_->of_four.make_twiddles(static_cast<int>(length), inverse);
    plan_->of_four.factorize(static_cast<int>(length));
}

FourierLines::FourierLines(FourierLines&&) noexcept = default;
FourierLines& FourierLines::operator=(FourierLines&&) noexcept = default;
FourierLines::~FourierLines() = default;

void FourierLines::transform(const std::complex<float>* from, std::complex<float>* to,
                             Elements count, Elements first, Elements last) const {
    constexpr std::size_t usual_length = 512;
    std::array<Line, usual_length> usual;
    const auto length = static_cast<std::size_t>(length_);
    std::vector<Line> longer(length > usual_length ? length : 0);
    std::vector<Stored> padded;
    Line* const found = longer.empty() ? usual.data() : longer.data();
    for (Elements line = first; line < last; line += lines_together) {
        const Elements some = std::min(lines_together, last - line);
        if (some == lines_together && count % lines_together == 0) {
            plan_->of_four.work(0, found, reinterpret_cast<const Stored*>(from + line), 1,
                                static_cast<std::size_t>(count / lines_together));
        } else {
            padded.assign(length, {});
            for (std::size_t i = 0; i < length; ++i)
                std::copy_n(from + static_cast<Elements>(i) * count + line, some,
                            padded[i].of_line);
            plan_->of_four.work(0, found, padded.data(), 1, 1);
        }
        for (Elements k = 0; k < some; ++k) {
            std::complex<float>* const of_line = to + (line + k) * length_;
            for (std::size_t i = 0; i < length; ++i)
                of_line[i] = {found[i].real().values[k], found[i].imag().values[k]};
        }
    }
}

FourierImage::FourierImage(ImageShape shape, bool inverse)
    : shape_(shape), of_column_(shape.height, inverse), of_row_(shape.width, inverse) {}

void FourierImage::transform(std::vector<std::complex<float>>& values,
                             std::vector<std::complex<float>>& scratch, Team* team) const {
    resize_buffer(scratch, values.size());
    const auto lines = [&](Elements count, const FourierLines& of_lines,
                           const std::vector<std::complex<float>>& from,
                           std::vector<std::complex<float>>& to) {
        const Bands bands(count);
        run_parts(team, bands.count(), [&](int band, int) {
            of_lines.transform(from.data(), to.data(), count, bands.first(band),
                               bands.first(band + 1));
        });
    };
    lines(shape_.width, of_column_, values, scratch);
    lines(shape_.height, of_row_, scratch, values);
}

Elements fast_fourier_size(Elements size) {
    Elements fast = (size + lines_together - 1) / lines_together * lines_together;
    while (!has_only_small_factors(fast))
        fast += lines_together;
    return fast;
}

} // namespace sextant::registration
