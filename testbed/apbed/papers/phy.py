# SPDX-License-Identifier: GPL-2.0-only
"""The times of a frame exchange under DCF, reckoned from the standard's tables.

Source: IEEE Std 802.11-2012, clauses 17 (HR/DSSS) and 18 (OFDM), 9.3.2.8 and 9.3.7. It is
written down here a second time, apart from dcfmedium's table, so that each checks the other.
Times are microseconds, lengths bytes, rates Mb/s (= bits per microsecond).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

MAC_OVERHEAD_BYTES = 24 + 8 + 4  # MAC header, LLC/SNAP, FCS
ACK_BYTES = CTS_BYTES = 14
RTS_BYTES = 20


@dataclass(frozen=True)
class Phy:
    """The constants of one PHY that the models need; windows count their values."""

    slot_us: int
    sifs_us: int
    plcp_us: int  # preamble and PLCP header
    rx_start_us: int  # aPHY-RX-START-Delay
    ofdm: bool
    data_mbps: float
    control_mbps: float  # of ACK, CTS and RTS
    lowest_mbps: float  # lowest mandatory rate: EIFS is reckoned with it
    cw_min: int
    cw_max: int

    def airtime_us(self, mpdu_bytes: int, mbps: float) -> float:
        """TXTIME: 17.3.4; with OFDM 18.4.3, symbols of 4 us and 22 bits around the MPDU."""
        if self.ofdm:
            return self.plcp_us + 4 * ceil((22 + 8 * mpdu_bytes) / (4 * mbps))
        return self.plcp_us + ceil(8 * mpdu_bytes / mbps)

    def control_us(self, mpdu_bytes: int) -> float:
        """Airtime of a control frame."""
        return self.airtime_us(mpdu_bytes, self.control_mbps)

    @property
    def difs_us(self) -> int:
        """DIFS = SIFS + 2 slots (9.3.7)."""
        return self.sifs_us + 2 * self.slot_us

    @property
    def eifs_us(self) -> float:
        """EIFS = SIFS + ACK at the lowest mandatory rate + DIFS (9.3.7)."""
        return self.sifs_us + self.airtime_us(ACK_BYTES, self.lowest_mbps) + self.difs_us

    @property
    def ack_timeout_us(self) -> int:
        """SIFS + slot + aPHY-RX-START-Delay (9.3.2.8); the CTS timeout too."""
        return self.sifs_us + self.slot_us + self.rx_start_us

    def windows(self, attempts: int) -> tuple[int, ...]:
        """The contention window of each of `attempts` transmissions of a frame."""
        return tuple(min(self.cw_min << i, self.cw_max) for i in range(attempts))

    def success_us(self, payload_bytes: int, rts: bool) -> float:
        """A delivered frame, from its (or its RTS's) beginning to the end of the ACK."""
        data = self.airtime_us(payload_bytes + MAC_OVERHEAD_BYTES, self.data_mbps)
        exchange = data + self.sifs_us + self.control_us(ACK_BYTES)
        if rts:
            announced = self.control_us(RTS_BYTES) + self.control_us(CTS_BYTES)
            exchange += announced + 2 * self.sifs_us
        return exchange

    def collision_us(self, payload_bytes: int, rts: bool) -> float:
        """What a collision occupies: the longest frame, or the RTS."""
        if rts:
            return self.control_us(RTS_BYTES)
        return self.airtime_us(payload_bytes + MAC_OVERHEAD_BYTES, self.data_mbps)


# http-queueing, Table 1, which is 802.11-2012 clause 17 with the long preamble.
HRDSSS_11 = Phy(
    slot_us=20,
    sifs_us=10,
    plcp_us=144 + 48,
    rx_start_us=192,
    ofdm=False,
    data_mbps=11,
    control_mbps=2,
    lowest_mbps=1,
    cw_min=32,
    cw_max=1024,
)

# 802.11-2012, Tables 18-4 and 18-17.
OFDM_54 = Phy(
    slot_us=9,
    sifs_us=16,
    plcp_us=16 + 4,
    rx_start_us=25,
    ofdm=True,
    data_mbps=54,
    control_mbps=24,
    lowest_mbps=6,
    cw_min=16,
    cw_max=1024,
)
