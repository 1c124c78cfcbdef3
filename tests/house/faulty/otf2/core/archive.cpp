// SPDX-License-Identifier: BSD-3-Clause
// Wrong on purpose: OTF2 outside report.
#include <otf2/otf2.h>
