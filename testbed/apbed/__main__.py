# SPDX-License-Identifier: GPL-2.0-only
"""`python -m apbed` is the same command as `apbed`."""

from apbed.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
