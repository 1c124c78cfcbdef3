// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/direct_delivery.hpp"
#include "sextant/comm/kernel.hpp"
#include "sextant/comm/places.hpp"

#include <functional>
#include <vector>

namespace sextant {

/// The compute steps of a program: each by its kernel.
class Computing {
  public:
    /// `progress` is for kernels to call (Computation::progress). Keep what it is given alive.
    /// Requires  a kernel for each number (std::logic_error naming the rank).
    Computing(const Program& program, std::vector<Kernel> kernels, const Places& places,
              const DirectDelivery& delivery, int rank, const std::function<void()>& progress);

    /// Runs a step for which DirectDelivery::is_settled. Throws what its kernel throws.
    void run(const Step& step);

  private:
    const Program& program_;
    const std::vector<Kernel> kernels_;
    const Places& places_;
    const DirectDelivery& delivery_;
    const std::function<void()>& progress_;
    std::vector<Blocks> made_; // where the kernel at work makes what it makes
};

} // namespace sextant
