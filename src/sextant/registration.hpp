// SPDX-License-Identifier: BSD-3-Clause
// Register two frames, or a series of frames, rigidly or by displacement fields; average the
// registered frames.
#pragma once

#include "sextant/communicator.hpp"
#include "sextant/registration/combined.hpp"
#include "sextant/registration/consensus.hpp"
#include "sextant/registration/field_series.hpp"
#include "sextant/registration/frame_series.hpp"
#include "sextant/registration/nonrigid.hpp"
#include "sextant/registration/refinement.hpp"
#include "sextant/registration/rigid.hpp"
