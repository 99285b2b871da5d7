# SPDX-License-Identifier: Apache-2.0
"""What tests, targets and daemons inherit, the same on every machine and from every shell."""
import atexit
import os
import shutil
import signal
import tempfile

# They change how interpreters, allocators and libraries of a target behave, or what they print.
FOREIGN = ("PYTHON", "MALLOC_", "LD_PRELOAD", "LD_AUDIT", "GLIBC_TUNABLES", "OMP_", "OPENBLAS_", "MKL_",
           "DEBUGINFOD_", "SUDO_", "NOTIFY_SOCKET", "WATCHDOG_", "COLUMNS", "LINES", "NO_COLOR")

# A shell, nohup or a CI's runner may have them ignored, and whatever we start would ignore them, too.
DEFAULT = (signal.SIGHUP, signal.SIGQUIT, signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2, signal.SIGCHLD,
           signal.SIGURG, signal.SIGALRM)


def settle_home():
    """A home that can be written to: caches are there, ours and those of the programs that we run."""
    home = os.path.expanduser("~")
    if not os.access(home, os.W_OK | os.X_OK):
        home, runner = tempfile.mkdtemp(prefix="pieprofd-home-"), os.getpid()
        atexit.register(lambda: os.getpid() == runner and shutil.rmtree(home, ignore_errors=True))
    os.environ["HOME"] = home


def settle_folder():
    """Programs are copied to where temporary files are, and run there."""
    if os.statvfs(tempfile.gettempdir()).f_flag & os.ST_NOEXEC:
        os.environ["TMPDIR"] = "/var/tmp"
        tempfile.tempdir = None


def settle():
    """Before anything is started."""
    for name in list(os.environ):
        if name.startswith(FOREIGN):
            del os.environ[name]
    # As many threads as processors, otherwise.
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    settle_folder()
    settle_home()
    os.umask(0o022)
    for number in DEFAULT:
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    # Otherwise the next files that are opened become a child's standard streams.
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
            os.set_inheritable(number, True)
