// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/one.hpp"

#include "sextant/registration/two.hpp"
