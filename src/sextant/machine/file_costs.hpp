// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/machine/profile.hpp"

#include <optional>

namespace sextant::machine {

/// Predicts the time to read and write files on a machine. Covers only the file access itself, for
/// files in the page cache: decoding and waiting for a disk are extra.
class FileCosts {
  public:
    /// Keeps a reference to `machine`, which must outlive this object.
    explicit FileCosts(const Profile& machine);

    /// Time for one rank to read or write `bytes`; empty if the profile lacks the measurement.
    /// `alone`: true if the other ranks of the node are idle meanwhile.
    std::optional<Seconds> reading(Bytes bytes, bool alone) const;
    std::optional<Seconds> writing(Bytes bytes, bool alone) const;

  private:
    const Work* const read_;
    const Work* const write_;
};

} // namespace sextant::machine
