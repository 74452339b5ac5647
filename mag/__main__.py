"""``python -m mag`` is the command `mag`."""

import sys

from mag.commands.cli import main

if __name__ == "__main__":
    sys.exit(main())
