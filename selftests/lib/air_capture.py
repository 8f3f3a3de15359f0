# SPDX-License-Identifier: GPL-2.0-only
"""What dcfmedium recorded (--pcap): pcapng with radiotap headers, and which data is encrypted."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

PACKET_BLOCK, PACKET_HEADER, CAPTURED = 6, 28, 20  # pcapng's enhanced packet block
# Of the frame control field (IEEE 802.11-2020, 9.2.4.1).
TYPE, DATA, QOS, NO_PAYLOAD, PROTECTED = 0x0C, 0x08, 0x80, 0x40, 0x40
HEADER, QOS_HEADER = 24, 26
EAPOL = bytes.fromhex("aaaa03000000888e")  # LLC, and the protocol that agrees on keys


def frames(capture: Path) -> Iterator[bytes]:
    """The 802.11 frames of a file, each attempt."""
    said, at = capture.read_bytes(), 0
    while at < len(said):
        kind, length = struct.unpack_from("<II", said, at)
        if kind == PACKET_BLOCK:
            (captured,) = struct.unpack_from("<I", said, at + CAPTURED)
            packet = said[at + PACKET_HEADER : at + PACKET_HEADER + captured]
            (radiotap,) = struct.unpack_from("<H", packet, 2)
            yield packet[radiotap:]
        at += length


def data_by_kind(capture: Path) -> Counter[str]:
    """How many data frames are `encrypted`, `keys` (which cannot be yet) and `open`."""
    found: Counter[str] = Counter()
    for frame in frames(capture):
        if frame[0] & TYPE != DATA or frame[0] & NO_PAYLOAD:
            continue
        header = QOS_HEADER if frame[0] & QOS else HEADER
        if frame[1] & PROTECTED:
            found["encrypted"] += 1
        else:
            found["keys" if frame[header:].startswith(EAPOL) else "open"] += 1
    return found
