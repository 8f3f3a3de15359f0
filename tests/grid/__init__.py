# SPDX-License-Identifier: GPL-2.0-only
"""`apbed run --backend ssh` against real sshd: nodes are namespaces of a lab kernel."""
