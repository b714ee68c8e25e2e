"""What can be told of an answer while it is being written."""

from emitter.progress.told import Progress as Progress
from emitter.progress.told import Restart as Restart
from emitter.progress.told import Slot as Slot
from emitter.progress.told import TextDelta as TextDelta
