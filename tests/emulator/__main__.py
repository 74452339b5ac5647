"""`python -m tests.emulator` builds the emulator, once, and prints where; or says what is missing, with exit code 3."""

import sys

from tests.emulator.build import IS_MISSING, CannotBuild, built

try:
    print(built())
except CannotBuild as error:
    print(error, file=sys.stderr)
    sys.exit(IS_MISSING)
