// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace sextant::simulate {

/// Requests large pages for the next allocations of this process, up to 256 MiB: for each message
/// that ends, SimGrid searches a list of all messages in progress, whose entries are far apart in
/// memory. Affects only speed; does nothing without such pages, or if malloc is not glibc's.
void ask_for_large_pages();

} // namespace sextant::simulate
