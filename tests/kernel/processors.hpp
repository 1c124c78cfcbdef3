// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hwy/highway.h>

namespace sextant::test {

/// Makes kernels use one instruction set during the object's lifetime.
class AsOn {
  public:
    explicit AsOn(std::int64_t target) { choose(target); }
    ~AsOn() { choose(0); }

  private:
    static void choose(std::int64_t target) {
        hwy::SetSupportedTargetsForTest(target);
        hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    }
};

/// Calls `body` with the name of each instruction set that this machine supports.
template <class Body>
void on_every_processor(Body&& body) {
    for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
        const AsOn guard(target);
        body(hwy::TargetName(target));
    }
}

} // namespace sextant::test
