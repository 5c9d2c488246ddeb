"""The version, which files and messages name: below all that writes them."""

__version__ = "0.1.0"
