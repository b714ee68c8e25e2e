"""Making a shape fit what a vendor takes: recursion, and limits of size, by degrading in a stated order."""

from emitter.schema.fit.measure import exceeded as exceeded
from emitter.schema.fit.measure import measure as measure
from emitter.schema.fit.recursion import unrolled as unrolled
