// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"

#include <cstddef>
#include <span>
#include <string>

namespace sextant {

/// What does not fit in memory: a file without a name in the folder of `beside`, the output that it
/// is kept for. Nothing of it stays behind, however the process ends. Moves, does not copy.
///
/// Requires  a folder that may be written; every function throws InvalidFile that names `beside`
///           with the system's reason otherwise, also where the disk is full.
class ScratchFile {
  public:
    explicit ScratchFile(std::string beside);
    ScratchFile(ScratchFile&& other) noexcept;
    ScratchFile& operator=(ScratchFile&& other) noexcept;
    ~ScratchFile();

    void write(Bytes position, std::span<const std::byte> bytes);
    /// Requires  bytes that were written.
    void read(Bytes position, std::span<std::byte> to) const;

  private:
    [[noreturn]] void fail(int error) const;

    std::string beside_;
    int descriptor_ = -1;
};

} // namespace sextant
