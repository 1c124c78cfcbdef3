// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace sextant::simulate {

/// Asks that what this process allocates next lie on large pages, up to 256 MiB: SimGrid searches a
/// list of all messages under way for each that ends, and its places are far apart. Changes nothing
/// but time; does nothing where the system has no such pages, or malloc is not glibc's.
void ask_for_large_pages();

} // namespace sextant::simulate
