"""Where credentials are kept: in memory, in files of ours alone, in the system's keyring."""
