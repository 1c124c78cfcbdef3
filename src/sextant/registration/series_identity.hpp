// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/registration/checkpoint.hpp"
#include "sextant/registration/series_registration.hpp"

#include <span>
#include <string_view>

namespace sextant::registration {

/// Names and values of all options, as the record declares them, except those in `without`. The
/// members that the record leaves out (`rigid`, `nonrigid`, `limits`) have names such as
/// "rigid.stop".
///
/// Requires  names of fields of the record (std::logic_error).
Checkpoint::Identity identity_of(const RegistrationOptions& options,
                                 std::span<const std::string_view> without);

/// The record of the options with a field for each of the members that it leaves out, so that ranks
/// can compare all of them. The record refers to `options`, which must outlive it.
Record compared_options(RegistrationOptions& options);

/// The options that a run may change when it continues a checkpoint, because the results in it do
/// not depend on them. An option that is not listed here must be the same.
std::span<const std::string_view> options_without_effect_on_checkpoints();

/// The same for links that were made while a series was recorded (live_links.hpp).
std::span<const std::string_view> options_without_effect_on_links();

} // namespace sextant::registration
