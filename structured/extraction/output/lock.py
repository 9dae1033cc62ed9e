"""The lock of a file: one process writes to it at a time, and the lock ends with the process.

It lies on the file itself, so that nothing is left behind, and links to the file have the same lock. The package
`filelock` was rejected: its lock files stay beside the file, and its lock of a descriptor takes the first byte, which
nobody, not even this process, could then read on Windows.
"""

import errno
import sys

if sys.platform == "win32":
    import msvcrt
    import os

    _FAR = 1 << 62
    """A byte that no file has: others may still read what is there."""

    def lock(descriptor: int) -> None:
        """Lock a file. Raises BlockingIOError if it is locked, and OSError where there are no locks."""
        os.lseek(descriptor, _FAR, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError as error:
            if error.errno in {errno.EACCES, errno.EDEADLK}:
                raise BlockingIOError(error.errno, "locked") from error
            raise
        finally:
            os.lseek(descriptor, 0, os.SEEK_SET)

else:
    import fcntl

    def lock(descriptor: int) -> None:
        """Lock a file. Raises BlockingIOError if it is locked, and OSError where there are no locks."""
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
