"""The version, read from here by the build too."""

VERSION = "0.1.0"
