// SPDX-License-Identifier: BSD-3-Clause
// An include that the layer check must refuse.
#include "sextant/comm/communicator.hpp"
