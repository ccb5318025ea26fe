"""`python -m bulkedge`."""

import sys

from bulkedge.cli import main

sys.exit(main())
