#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# make lock: resolves pyproject.toml's dependencies to the newest versions and
# pins them by hash for every Python from 3.11 on. uv lives in an
# environment that is removed again; nothing but requirements.lock changes.
set -euo pipefail
cd "$(dirname "$0")/.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q uv
"$work/venv/bin/uv" pip compile pyproject.toml --extra cluster --extra dev --quiet \
	--universal --python-version 3.11 --generate-hashes --no-header \
	--no-emit-index-url --no-emit-find-links --output-file "$work/lock"
{
	sed '/^#/!q' requirements.lock | sed '$d'
	cat "$work/lock"
} >"$work/requirements.lock"
mv "$work/requirements.lock" requirements.lock
