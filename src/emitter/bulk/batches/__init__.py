"""Run emissions through the vendors' batch interfaces: cheaper and slower, with the same verdicts and events."""

from emitter.bulk.batches.emissions import Batch as Batch
