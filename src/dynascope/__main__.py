"""`python -m dynascope` is the command `dynascope`."""

import sys

from dynascope.cli import main

if __name__ == "__main__":
    sys.exit(main())
