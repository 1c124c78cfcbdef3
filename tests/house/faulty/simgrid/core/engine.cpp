// SPDX-License-Identifier: BSD-3-Clause
// A deliberate error: SimGrid is used outside the simulate layer.
#include <simgrid/s4u.hpp>
