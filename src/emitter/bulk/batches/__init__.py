"""Run emissions through the vendors' batch interfaces: cheaper and slower, with the same verdicts and events."""

from emitter.bulk.batches.emissions import Batch as Batch
from emitter.bulk.batches.emissions import BatchEmissionRequest as BatchEmissionRequest
from emitter.bulk.batches.emissions import BatchStatus as BatchStatus
from emitter.bulk.batches.emissions import FinishedBatchEmission as FinishedBatchEmission
from emitter.bulk.batches.journal import BatchJournal as BatchJournal
from emitter.bulk.batches.journal import open_batch_journal as open_batch_journal
from emitter.bulk.batches.scheduler import BatchContext as BatchContext
from emitter.bulk.batches.scheduler import run_batches as run_batches
from emitter.bulk.batches.vendor_api import BatchConnection as BatchConnection
from emitter.bulk.batches.vendors import get_batch_vendor as get_batch_vendor
