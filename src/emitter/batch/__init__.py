"""Many emissions through the vendors' batch interfaces: cheaper, slower, and the same in every other way."""

from emitter.batch.board import Means as Means
from emitter.batch.engine import run as run
from emitter.batch.journal import Journal as Journal
from emitter.batch.journal import opened as opened
from emitter.batch.settings import Batch as Batch
from emitter.batch.standing import Standing as Standing
from emitter.batch.underway import Asked as Asked
from emitter.batch.underway import Ended as Ended
from emitter.batch.vendor import vendor_of as vendor_of
from emitter.batch.vendor.shapes import Channel as Channel
