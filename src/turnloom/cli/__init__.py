"""The command line: one file a command, each a thin wire to the library."""
