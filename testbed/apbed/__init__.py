# SPDX-License-Identifier: GPL-2.0-only
"""apbed: the access-point test bed. Scenarios in; runs, metrics and reports out."""
