// SPDX-License-Identifier: BSD-3-Clause
// A deliberate error: SimGrid outside simulate.
#include <simgrid/s4u.hpp>
