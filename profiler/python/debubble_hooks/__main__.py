import sys

from debubble_hooks.command import main

sys.exit(main(sys.argv[1:]))
