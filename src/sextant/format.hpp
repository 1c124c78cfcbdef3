// SPDX-License-Identifier: BSD-3-Clause
// Read and write images, series of frames, and manifests of partial images.
#pragma once

#if __cplusplus <= 201703L
#error "sextant/format.hpp needs C++20: compile with -std=c++20"
#else

#include "sextant/array/frame_source.hpp"
#include "sextant/core/image.hpp"
#include "sextant/format/catalogue.hpp"
#include "sextant/format/line_formats.hpp"
#include "sextant/format/manifest.hpp"
#include "sextant/format/sequence.hpp"

#endif
