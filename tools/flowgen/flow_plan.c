// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "flow_plan.h"

bool flow_id_valid(const char *id)
{
	size_t length = strlen(id);

	return length > 0 && length <= ID_MAX &&
	       strspn(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._:") == length;
}
