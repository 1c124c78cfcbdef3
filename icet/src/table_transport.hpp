// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"

#include <IceT.h>

namespace sextant::icet {

/// The communicator behind an IceTCommunicator whose functions this library has made.
using NativeCommunicator = Communicator (*)(IceTCommunicator);
/// Registers communicators with this function Destroy, so that contexts use the communicator behind
/// them instead of their functions.
void register_native(void (*destroy)(IceTCommunicator), NativeCommunicator native);

} // namespace sextant::icet
