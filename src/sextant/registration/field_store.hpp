// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/registration/ledger.hpp"
#include "sextant/registration/nonrigid.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace sextant::registration {

/// A field as it was found, with what its fit says of itself and how long it took.
struct StoredField {
    DisplacementField field;
    SplineFitReport fit;
    Seconds seconds = 0;
};

/// As a ledger keeps it: for this kind of machine, and this run.
std::vector<std::byte> bytes_of(const StoredField& stored);
/// Throws std::logic_error for bytes that are of no field.
StoredField field_from(std::span<const std::byte> bytes);

} // namespace sextant::registration
