// SPDX-License-Identifier: BSD-3-Clause
// Read and write images, series of frames, and manifests of partial images.
#pragma once

#include "sextant/core/frame_source.hpp"
#include "sextant/core/image.hpp"
#include "sextant/format/catalogue.hpp"
#include "sextant/format/frame_catalogue.hpp"
#include "sextant/format/line_formats.hpp"
#include "sextant/format/manifest.hpp"
