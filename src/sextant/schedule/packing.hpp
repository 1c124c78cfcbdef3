// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/schedule/program.hpp"

namespace sextant {

/// The same program with contiguous messages only: what lies in pieces is copied together before it
/// is sent, and taken apart when it has come. Whether that is faster than a datatype of pieces
/// depends on the MPI and on how long they are.
///
/// Output    the program, with a scratch buffer for each side of a message that lies in pieces.
/// Cost      two copies of what lies in pieces.
Program with_packed_messages(const Program& program);

} // namespace sextant
