// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/operator.hpp"
#include "sextant/operation/bench/bench_cases.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace sextant::operation {

/// The picture of a case as one process folds it, image after image: what contestants' pictures are
/// held against.
class SerialPicture {
  public:
    /// Keep what it is given alive.
    SerialPicture(const CompositeCase& what, const Operator& op, int ranks);

    /// Whether `shown` are these pixels of the picture: up to what bracketing in another way does.
    /// Throws    std::logic_error naming who shows them, and the case, where they are not.
    void check(const std::string& who, std::span<const Elements> pixels,
               std::span<const std::byte> shown) const;

  private:
    std::vector<float> as_floats(std::span<const std::byte> pixels) const;
    float tolerance() const;

    const CompositeCase& what_;
    const Operator& operator_;
    const int ranks_;
    const std::vector<float> channels_;
};

} // namespace sextant::operation
