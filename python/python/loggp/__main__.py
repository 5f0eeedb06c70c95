"""The command `loggp`, as `python -m loggp`."""

from ._command import main

main()
