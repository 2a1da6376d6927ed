"""One round of one work at one server."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.load import Sample


@dataclass(frozen=True, slots=True)
class Measured:
    """The latency that clients saw, and its CPU cost."""

    sample: Sample
    cpu_seconds: float

    @property
    def per_cpu_second(self) -> float:
        """Requests for each second that the server computed."""
        return self.sample.requests / self.cpu_seconds
