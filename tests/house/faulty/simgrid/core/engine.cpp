// SPDX-License-Identifier: BSD-3-Clause
// Wrong on purpose: SimGrid outside simulate.
#include <simgrid/s4u.hpp>
