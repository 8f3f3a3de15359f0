# SPDX-License-Identifier: GPL-2.0-only
"""What runs inside a kernel under test: the lab's, a stock one or a node's. No other packages."""
