// SPDX-License-Identifier: BSD-3-Clause
// A deliberate error: cpp-httplib is used outside the serve layer.
#include <httplib.h>
