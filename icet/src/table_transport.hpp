// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"

#include <IceT.h>

namespace sextant::icet {

/// Returns the communicator that this library wrapped in an IceTCommunicator.
using NativeCommunicator = Communicator (*)(IceTCommunicator);
/// Registers communicators by their Destroy function, so that contexts use the wrapped communicator
/// instead of the functions.
void register_native(void (*destroy)(IceTCommunicator), NativeCommunicator native);

} // namespace sextant::icet
