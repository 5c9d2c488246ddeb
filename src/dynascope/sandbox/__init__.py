"""The visual sandbox: runs in the browser. Its server is started by `dynascope show` (see API.md).

Nothing is imported here: whoever does not serve does not wait for Starlette.
"""
