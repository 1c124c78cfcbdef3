// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/registration/one.hpp"
