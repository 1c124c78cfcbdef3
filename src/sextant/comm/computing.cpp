// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/computing.hpp"

#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace sextant {

Computing::Computing(const Program& program, std::vector<Kernel> kernels, const Places& places,
                     const DirectDelivery& delivery, int rank,
                     const std::function<void()>& progress)
    : program_(program),
      kernels_(std::move(kernels)),
      places_(places),
      delivery_(delivery),
      progress_(progress) {
    for (const Step& step : program.steps) {
        if (step.kernel >= static_cast<int>(kernels_.size()))
            throw std::logic_error(
                fmt::format("rank {} has {} kernels, its program wants number {}", rank,
                            kernels_.size(), step.kernel));
        made_.reserve(step.made); // so that runs allocate nothing
    }
}

void Computing::run(const Step& step) {
    made_.clear();
    for (std::uint32_t m = 0; m < step.made; ++m)
        made_.push_back(delivery_.place_of_made(step.first + step.count + m));
    kernels_[static_cast<std::size_t>(step.kernel)]({step, program_.regions_of(step),
                                                     program_.made_by(step), places_.bases(), made_,
                                                     progress_});
}

} // namespace sextant
