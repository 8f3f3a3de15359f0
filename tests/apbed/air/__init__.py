# SPDX-License-Identifier: GPL-2.0-only
"""`apbed air`: the plan of a campaign, and what its page makes of the runs."""
