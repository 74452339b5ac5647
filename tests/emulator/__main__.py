"""`python -m tests.emulator` builds the emulator, once, and prints where; or says why it cannot."""

import sys

from tests.emulator.build import CannotBuild, built

try:
    print(built())
except CannotBuild as error:
    sys.exit(str(error))
