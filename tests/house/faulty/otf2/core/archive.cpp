// SPDX-License-Identifier: BSD-3-Clause
// A deliberate error: OTF2 outside report.
#include <otf2/otf2.h>
