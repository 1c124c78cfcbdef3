// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/thread_team.hpp"
#include "sextant/core/image.hpp"

#include <complex>
#include <memory>
#include <vector>

namespace sextant::registration {

/// The discrete Fourier transform of the lines of an image, without scaling. Four lines are
/// transformed at a time, one in each lane of a vector.
class FourierLines {
  public:
    /// Requires  a length of at least 2 that is a product of 2, 3 and 5; otherwise
    ///           std::logic_error.
    FourierLines(Elements length, bool inverse);
    FourierLines(FourierLines&&) noexcept;
    FourierLines& operator=(FourierLines&&) noexcept;
    ~FourierLines();

    /// Transforms the lines [first, last) of `count` lines, and transposes them: sample i of line l
    /// is from[i * count + l], and sample i of its transform is to[l * length + i]. Two such calls
    /// transform the columns and the rows of an image.
    /// Cost      O(n log n). Allocates nothing up to a length of 512. Thread-safe.
    void transform(const std::complex<float>* from, std::complex<float>* to, Elements count,
                   Elements first, Elements last) const;

  private:
    struct Plan;

    Elements length_;
    std::unique_ptr<Plan> plan_;
};

/// The discrete Fourier transform of images of one shape, without scaling.
class FourierImage {
  public:
    /// Requires  sides as FourierLines requires them.
    FourierImage(ImageShape shape, bool inverse);

    /// Transforms an image in place, by rows. `scratch` is resized to the size of the image.
    /// Deterministic  the bits do not depend on the number of threads.
    void transform(std::vector<std::complex<float>>& values,
                   std::vector<std::complex<float>>& scratch, Team* team = nullptr) const;

  private:
    ImageShape shape_;
    FourierLines of_column_, of_row_;
};

/// Returns the smallest multiple of four that is at least `size` and a product of 2, 3 and 5. Such
/// sizes are fast for both axes of an image.
Elements fast_fourier_size(Elements size);

} // namespace sextant::registration
