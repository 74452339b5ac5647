"""Where numbers are crunched.  One backend, one file, one line in the table."""

from mag.backends import cpu

BACKENDS = {"cpu": cpu}


def automatic() -> str:
    """The backend of "auto"."""
    return "cpu"
