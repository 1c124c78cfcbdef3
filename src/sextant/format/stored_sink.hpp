// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/frame_source.hpp"

#include <memory>
#include <span>
#include <string>

namespace sextant::format {

/// A sink that writes `start`, such as a header, and then every sample behind the other in this
/// machine's byte order.
std::unique_ptr<FrameSink> stored_sink(const std::string& path, const FrameHeader& header,
                                       std::span<const std::byte> start);

} // namespace sextant::format
