# SPDX-License-Identifier: GPL-2.0-only
"""What `make install` leaves where, and takes away again."""
