// SPDX-License-Identifier: BSD-3-Clause
// Register two frames, or a series of frames, rigidly or by displacement fields; average the
// registered frames.
#pragma once

#if __cplusplus <= 201703L
#error "sextant/registration.hpp needs C++20: compile with -std=c++20"
#else

#include "sextant/array/frame_source.hpp"
#include "sextant/array/memory_frames.hpp"
#include "sextant/communicator.hpp"
#include "sextant/core/image.hpp"
#include "sextant/registration/pair/nonrigid.hpp"
#include "sextant/registration/pair/rigid.hpp"
#include "sextant/registration/series/division.hpp"
#include "sextant/registration/series_registration.hpp"
#include "sextant/registration/transform/combined.hpp"

#endif
