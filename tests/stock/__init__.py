# SPDX-License-Identifier: GPL-2.0-only
"""The distribution's own kernel in QEMU: `apbed run --backend vng`."""
