// SPDX-License-Identifier: BSD-3-Clause
// A deliberate error: OTF2 is used outside the report layer.
#include <otf2/otf2.h>
