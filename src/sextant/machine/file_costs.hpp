// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/machine/profile.hpp"

#include <optional>

namespace sextant::machine {

/// What reading and writing takes on a machine, of files that the system keeps in memory and as
/// they are: decoding, and a disk that must be waited for, come on top. Nothing where the profile
/// does not know.
class FileCosts {
  public:
    /// The machine must outlive this.
    explicit FileCosts(const Profile& machine);

    /// By one rank; `alone` while the others of its node wait.
    std::optional<Seconds> reading(Bytes bytes, bool alone) const;
    std::optional<Seconds> writing(Bytes bytes, bool alone) const;

  private:
    const Work* const read_;
    const Work* const write_;
};

} // namespace sextant::machine
